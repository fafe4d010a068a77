"""The gate of a debate: each reason by its name, and what is read from a synthesis."""

import itertools

import pytest

from agentforge.catalog.debates import debate_rules
from agentforge.gates.debates.documents import (
    ActionItem,
    KillSwitch,
    read_kill_switches,
    read_level,
    read_options,
    read_synthesis,
    spell_kill_switches,
)
from agentforge.gates.debates.files import judge_debate
from agentforge.gates.debates.trigger import DebateSettings, Flag, Stakes, triggered
from tests.documents.seed_examples import KILL_SWITCH
from tests.gates.debates import FILES, PLAN, SYNTHESIS
from tests.gates.decision_texts import DECIDED
from tests.rows import every

SAID = "JWT with refresh tokens. It is stateless, and the skeptic's fear is met by rotation."


def test_five_whole_files_pass_without_a_warning() -> None:
    verdict = judge_debate(FILES)
    assert verdict.complete
    assert verdict.status == "complete"
    assert verdict.warnings == ()
    assert verdict.synthesis.option == "JWT with refresh tokens"


def test_each_missing_or_short_file_is_named() -> None:
    for name in FILES:
        without = {other: text for other, text in FILES.items() if other != name}
        for texts in (without, {**FILES, name: ""}, {**FILES, name: "short"}):
            assert judge_debate(texts).missing == (name,), name
            assert judge_debate(texts).reasons[0] == f"missing: {name}"


def test_front_matter_and_comments_do_not_make_a_file_long_enough() -> None:
    padded = f"---\nnote: {'x' * 200}\n---\n<!-- {'y' * 200} -->\nshort\n"
    assert judge_debate({**FILES, "skeptic.md": padded}).missing == ("skeptic.md",)


def test_each_blocking_section_is_named_whether_it_is_gone_empty_or_only_in_a_fence() -> None:
    for name in debate_rules().synthesis.blocking - {"Final Decision"}:
        gone = SYNTHESIS.replace(f"## {name}", "## Something else")
        start = SYNTHESIS.index(f"## {name}")
        end = SYNTHESIS.find("\n## ", start + 1)
        section = SYNTHESIS[start : end if end > 0 else None]
        empty = SYNTHESIS.replace(section, f"## {name}\n\n<!-- later -->\n")
        fenced = SYNTHESIS.replace(section, f"```\n{section}\n```\n")
        for text in (gone, empty, fenced):
            verdict = judge_debate({**FILES, "synthesis.md": text})
            assert verdict.incomplete_section == (name,), text
            assert verdict.status == "pending"
            assert not verdict.complete


def test_a_final_decision_without_its_heading_is_a_section_that_is_missing() -> None:
    text = SYNTHESIS.replace("## Final Decision\n", "The Final Decision is JWT with refresh tokens.\n")
    assert judge_debate({**FILES, "synthesis.md": text}).incomplete_section == ("Final Decision",)


@every(
    ("decision", "why"),
    [
        ("", "empty"),
        ("[Clear choice with rationale]", "empty"),
        ("Should we take JWT with refresh tokens?", "question"),
        ("JWT with refresh tokens? Or server sessions?", "question"),
        ("We will use carrier pigeons.", "none of the options"),
        ("TBD", "leaves it open"),
        ("We reject JWT with refresh tokens.", "none of the options"),
        ("A decision is needed.", "none of the options"),
        ("No decision yet: JWT with refresh tokens or server sessions.", "leaves it open"),
    ],
)
def test_an_unclear_decision_says_why(decision: str, why: str) -> None:
    verdict = judge_debate({**FILES, "synthesis.md": SYNTHESIS.replace(SAID, decision)})
    assert why in verdict.decision_unclear
    assert not verdict.complete


STORES = "## Options\n\n### Redis\n\n### Redis Cluster\n\n### No Redis\n\n### Postgres\n"


@every(
    ("said", "option"),
    [
        ("Redis", "Redis"),
        ("Redis Cluster", "Redis Cluster"),
        ("We go with No Redis", "No Redis"),
        ("We will not use Redis Cluster; Redis", "Redis"),
        ("Use Redis. Do not use Redis Cluster.", "Redis"),
        ("Neither Redis nor Redis Cluster: No Redis", "No Redis"),
        ("Neither Redis, Redis Cluster nor No Redis: Postgres", "Postgres"),
        ("We will not use Redis; Postgres.", "Postgres"),
        ("Reject Redis. Postgres it is.", "Postgres"),
        ("We won't use Redis; Postgres.", "Postgres"),
        ("Redis was considered and rejected. Postgres.", "Postgres"),
        ("We decided not to go with the managed hosted Redis, but Postgres.", "Postgres"),
        ("Instead of Redis Cluster, Postgres", "Postgres"),
        ("Instead, we use Redis", "Redis"),
        ("Without Redis: Postgres", "Postgres"),
        ("We drop Redis and use Postgres", "Postgres"),
        ("Because Postgres does not scale we choose Redis", "Redis"),
        ("We compared Redis and Postgres. We choose Postgres.", "Postgres"),
        ("**Redis:** We use Redis, not Redis Cluster.", "Redis"),
        (
            "**Redis:** It is quick.\n\n**Rationale:** not Postgres, because we use Postgres elsewhere.",
            "Redis",
        ),
        ("**Redis:** We will not use Redis; we use Postgres.", ""),
        ("We will not use Redis", ""),
        ("We use neither Redis nor Postgres", ""),
    ],
)
def test_what_a_decision_turns_down_or_only_compares_is_not_chosen(said: str, option: str) -> None:
    assert read_synthesis(f"## Final Decision\n\n{said}\n", read_options(STORES)).option == option


@every(("plan", "said", "option"), DECIDED)
def test_the_option_that_a_reader_would_name_is_the_one_that_is_taken(
    plan: str, said: str, option: str
) -> None:
    text = SYNTHESIS.replace(SAID, said)
    verdict = judge_debate(
        {**FILES, "debate-plan.md": f"{PLAN.partition('## Options')[0]}{plan}", "synthesis.md": text}
    )
    assert (verdict.synthesis.option if verdict.complete else "") == option


def test_an_option_of_one_letter_is_not_named_by_an_article() -> None:
    plan = PLAN.replace("**JWT with refresh tokens**", "**A**").replace("**Server sessions**", "**B**")
    said = "JWT with refresh tokens. It is stateless"
    for words, clear in (("A table is nice. It is stateless", False), ("Option A. It is stateless", True)):
        texts = {**FILES, "debate-plan.md": plan, "synthesis.md": SYNTHESIS.replace(said, words)}
        assert judge_debate(texts).complete is clear, words


@pytest.mark.slow
def test_long_lines_of_nothing_are_judged_at_once() -> None:
    for piece in (" ", "\n", "[", "|", "- ", "**", "#", "a.", "`", "<!--", "> "):
        filler = piece * (30_000 // len(piece))
        texts = {**FILES, "synthesis.md": f"{SYNTHESIS}\n{filler}", "debate-plan.md": f"{PLAN}\n{filler}"}
        assert judge_debate(texts).missing == ()


def test_a_plan_without_options_leaves_nothing_to_decide() -> None:
    plan = PLAN.replace("## Options Under Consideration", "## Thoughts")
    assert "no options" in judge_debate({**FILES, "debate-plan.md": plan}).decision_unclear


def test_a_template_that_was_never_filled_in_is_no_criterion() -> None:
    start = SYNTHESIS.index("## Kill-Switch Criteria")
    end = SYNTHESIS.index("## Fallback Plan")
    text = SYNTHESIS[:start] + KILL_SWITCH + "\n" + SYNTHESIS[end:]
    assert judge_debate({**FILES, "synthesis.md": text}).incomplete_section == ("Kill-Switch Criteria",)


def test_sections_of_a_role_and_those_three_of_the_synthesis_only_warn() -> None:
    texts = {
        **FILES,
        "skeptic.md": FILES["skeptic.md"].replace("## Hidden Assumptions", "## Beliefs"),
        "synthesis.md": SYNTHESIS.replace("## Key Tradeoffs", "## Trade"),
    }
    verdict = judge_debate(texts)
    assert verdict.complete
    assert verdict.warnings == (
        "skeptic.md has no section `Hidden Assumptions` that says something",
        "synthesis.md has no section `Key Tradeoffs` that says something",
    )


def test_files_may_appear_in_any_order_and_half_written_and_the_gate_opens_only_at_the_end() -> None:
    roles = [name for name in FILES if name != "debate-plan.md"]
    for order in itertools.permutations(roles):
        texts = {"debate-plan.md": PLAN}
        assert judge_debate(texts).status == "pending"
        for name in order[:-1]:
            texts[name] = FILES[name][: len(FILES[name]) // 3]
            assert judge_debate(texts).status == "running"
            texts[name] = FILES[name]
            assert judge_debate(texts).status == "running"
        texts[order[-1]] = FILES[order[-1]]
        assert judge_debate(texts).status == "complete"
    assert judge_debate({}).status == "none"


def test_what_is_taken_over_from_a_synthesis() -> None:
    found = read_synthesis(SYNTHESIS, read_options(PLAN))
    assert [each.title for each in found.decisions] == ["JWT with refresh tokens"]
    assert found.decisions[0].rationale.startswith("It is stateless")
    assert found.kill_switches[0] == KillSwitch(
        "Login latency", "p95 over 200 ms", "dashboard", "weekly", "Server sessions"
    )
    assert [(risk.risk, risk.score, risk.owner) for risk in found.risks] == [
        ("A stolen token stays valid", 6, "Ada"),
        ("Clocks differ", 1, "Bob"),
    ]
    assert found.actions == (ActionItem("Set up the key store", "Ada", "2026-02-01"),)
    assert found.fallback == "Server sessions behind the same interface."


def test_the_kill_switch_block_of_the_seed_is_written_back_as_it_was() -> None:
    found = read_kill_switches(KILL_SWITCH)
    assert found == (
        KillSwitch(
            "[Condition]",
            "[Specific, measurable threshold]",
            "[How we'll monitor]",
            "[When to check]",
            "[What to do instead]",
        ),
    )
    assert spell_kill_switches(found) in KILL_SWITCH


@every(
    ("options", "names"),
    [
        ("- JWT\n- Sessions\n", ["JWT", "Sessions"]),
        ("### Option A: JWT\n\nFast.\n\n### Option B: Sessions\n", ["JWT", "Sessions"]),
        (
            "### Option A \u2014 JWT\n\n### Option B) Sessions\n\n### **Option C** - Keys\n",
            ["JWT", "Sessions", "Keys"],
        ),
        ("| Option | About |\n|---|---|\n| JWT | fast |\n| Sessions | slow |\n", ["JWT", "Sessions"]),
    ],
)
def test_options_are_read_in_the_forms_that_people_write(options: str, names: list[str]) -> None:
    plan = f"## Options Under Consideration\n\n{options}"
    assert [option.name for option in read_options(plan)] == names


@every(
    ("text", "level"),
    [("High", 3), ("m", 2), ("LOW - training", 1), ("75 %", 3), ("30%", 2), ("5 %", 1), ("3", 3), ("?", 0)],
)
def test_a_level_is_a_word_a_letter_a_number_or_a_percentage(text: str, level: int) -> None:
    assert read_level(text) == level


def _settings(trigger: str, *, enabled: bool = True) -> DebateSettings:
    return DebateSettings(enabled, trigger, 6, 3)  # type: ignore[arg-type]  # a row of the table


@every(
    ("trigger", "enabled", "stakes", "flags", "debate", "override"),
    [
        ("always", True, Stakes(), set(), True, False),
        ("always", False, Stakes(), set(), False, False),
        ("never", True, Stakes(9, 9, ("D1",)), set(), False, False),
        ("explicit_only", True, Stakes(9, 9), set(), False, False),
        ("major_decision", True, Stakes(3), set(), False, False),
        ("major_decision", True, Stakes(4), set(), True, False),
        ("major_decision", True, Stakes(0, 0, ("D1",)), set(), True, False),
        ("risk_threshold", True, Stakes(0, 5), set(), False, False),
        ("risk_threshold", True, Stakes(0, 6), set(), True, False),
        ("never", False, Stakes(), {"debate"}, True, False),
        ("always", True, Stakes(), {"no_debate"}, False, True),
        ("never", True, Stakes(), {"no_debate"}, False, False),
        ("always", True, Stakes(), {"debate", "no_debate"}, True, False),
    ],
)
def test_a_debate_is_held_by_the_order_of_precedence(
    trigger: str,
    enabled: bool,
    stakes: Stakes,
    flags: set[Flag],
    debate: bool,
    override: bool,
) -> None:
    found = triggered(frozenset(flags), _settings(trigger, enabled=enabled), stakes)
    assert (found.debate, found.override) == (debate, override)
