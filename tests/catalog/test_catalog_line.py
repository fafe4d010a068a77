"""Claims about the whole line: its roles, stages and panels, the lanes that rise, and the modes."""

import json
from collections.abc import Iterator

import pytest

from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.catalog.modes import MODE_NAMES, mode_named, modes, modes_from
from agentforge.catalog.prompts import flow_of, system_prompt
from agentforge.catalog.rule_words import predicate_named
from agentforge.context.tokens import count_tokens, with_margin
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import ARBITER, Product, Reviewer, Rise, Stage, reviewer_name
from tests.rows import every

CATALOG = Catalog.packaged()

LINES: list[tuple[str, str | None]] = [
    ("implement", "hotfix"),
    ("implement", "small"),
    ("implement", "full"),
    ("design", None),
    ("review", None),
    ("document", None),
    ("test", None),
    ("fix", None),
    ("debate", None),
    ("research", "small"),
    ("research", "full"),
    ("curate", "small"),
]
FULL = ["intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver"]

READS = {"list_files", "outline", "read_file", "read_symbol", "search_codebase"}
NEVER = {"deploy", "commit"}
NO_HANDS = {"edit_file", "create_file", "delete_file", "run_tests"} | NEVER
RUNS = {"run_command"}
WRITES = {"edit_file", "create_file", "delete_file", "run_tests", "move_file"} | RUNS

TOOLS: dict[str, tuple[set[str], set[str]]] = {
    "requirements_analyst": ({"read_documentation"}, NO_HANDS),
    "business_analyst": ({"read_documentation", "escalate_question"}, NO_HANDS),
    "software_architect": (
        {"analyze_dependencies", "view_architecture_diagram", "read_documentation"},
        NO_HANDS,
    ),
    "security_architect": ({"run_security_scan", "analyze_dependencies"}, NO_HANDS),
    "test_engineer": (
        {"create_file", "edit_file", "delete_file", "run_tests", "analyze_coverage"} | RUNS,
        NEVER,
    ),
    "software_developer": (WRITES | {"run_conformance_check", "run_type_check"}, NEVER),
    "senior_developer": (WRITES | {"run_conformance_check", "run_type_check", "analyze_complexity"}, NEVER),
    "devops_engineer": (
        {"create_file", "generate_changelog", "verify_deployment_ready", "create_release_notes"},
        {"edit_file", "delete_file", "run_tests"} | NEVER,
    ),
    "technical_writer": (
        {"create_file", "edit_file", "read_documentation"},
        {"delete_file", "run_tests"} | NEVER,
    ),
    "reviewer": (set(), NO_HANDS),
    "advocate": ({"analyze_dependencies", "read_documentation"}, NO_HANDS),
    "skeptic": ({"analyze_dependencies", "read_documentation"}, NO_HANDS),
    "operator": ({"analyze_dependencies", "read_documentation"}, NO_HANDS),
    "synthesizer": (set(), NO_HANDS),
    "maintainer": (WRITES, NEVER),
    "editor": ({"read_documentation"}, NO_HANDS),
    "fact_checker": ({"create_file", "edit_file", "delete_file", "run_tests"} | RUNS, NEVER),
    **dict.fromkeys(
        ("researcher", "writer", "analyst", "data_curator"),
        (WRITES | {"run_conformance_check", "read_documentation"}, NEVER),
    ),
}

WORK: dict[str, tuple[str, str, set[str]]] = {
    "requirements_analyst": (
        "intake",
        "intake_record",
        {"intent_extracted", "scope_defined", "ambiguities_listed"},
    ),
    "business_analyst": (
        "clarify",
        "clarification",
        {"all_questions_addressed", "confidence_scores_provided"},
    ),
    "software_architect": (
        "spec",
        "specification",
        {"requirements_addressed", "interfaces_defined", "constraints_documented"},
    ),
    "test_engineer": ("red", "test_suite", {"all_tests_fail", "every_requirement_has_test"}),
    "software_developer": (
        "green",
        "implementation",
        {"all_tests_pass", "conformance_pass", "type_check_pass", "no_regressions"},
    ),
    "senior_developer": (
        "refactor",
        "implementation",
        {"all_tests_pass", "conformance_pass", "complexity_acceptable", "no_code_smells"},
    ),
    "devops_engineer": (
        "deliver",
        "delivery_report",
        {"documentation_complete", "changelog_generated", "deployment_ready"},
    ),
}


def ours(files: dict[str, str]) -> Catalog:
    return CATALOG.with_overrides({f".agentforge/{path}.yaml": text for path, text in files.items()})


def seats_of(stage: Stage) -> Iterator[tuple[str, Stage]]:
    for reader in (*stage.reviewers, *((stage.arbiter,) if stage.arbiter else ()), *stage.debaters):
        name = reviewer_name(reader, stage)
        yield name, stage.read_by(name)


def everybody(resolved: ResolvedPipeline) -> Iterator[tuple[Stage, str]]:
    """Each stage as each role that is asked sees it, with what it is told."""
    for stage in resolved.pipeline().stages:
        if stage.role is not None:
            yield stage, resolved.prompt(stage.name)
        for name, seated in seats_of(stage):
            yield seated, resolved.review_prompt(stage.name, name)


@every("name", sorted(CATALOG.names("agents") - {"examiner"}))  # who has no tool at all
def test_a_role_has_the_tools_of_its_trade_and_no_others(name: str) -> None:
    role = CATALOG.role(name)
    more, forbidden = TOOLS[name]
    assert set(role.allowed) == READS | more
    assert set(role.forbidden) == forbidden


@every("name", sorted(WORK))
def test_a_role_of_the_line_works_in_its_stage_and_is_verified(name: str) -> None:
    stage, contract, verified = WORK[name]
    role = CATALOG.role(name)
    assert role.stage == stage
    assert contract in role.outputs
    assert {predicate_named(key) for key in verified} <= set(role.must_verify)
    assert (
        next(
            item for item in CATALOG.resolve("implement", "full").pipeline().stages if item.name == stage
        ).role
        == name
    )


def test_writers_stay_out_of_the_tests_and_the_one_who_delivers_writes_documents() -> None:
    for name in ("software_developer", "senior_developer"):
        assert CATALOG.role(name).path_constraints == dict.fromkeys(
            ("edit_file", "create_file", "delete_file"), "!{tests}"
        )
    assert CATALOG.role("devops_engineer").path_constraints == {
        "create_file": "{docs},docs/**/*,deploy/**/*,*.md,!{tests},!**/*.py,!**/*.pyi"
    }


def test_the_full_lane_has_the_eight_stages_and_each_gets_what_it_needs() -> None:
    stages = CATALOG.resolve("implement", "full").pipeline().stages
    assert [stage.name for stage in stages] == FULL
    assert [stage.products for stage in stages] == [
        (Product(contract, phase),)
        for phase, contract in zip(
            FULL,
            (
                "intake_record",
                "clarification",
                "analysis",
                "specification",
                "test_suite",
                "implementation",
                "implementation",
                "delivery_report",
            ),
            strict=True,
        )
    ]
    by_name = {stage.name: stage for stage in stages}
    assert by_name["spec"].gates == ("contracts", "review")
    assert by_name["refactor"].gates == ("green", "quality", "contracts", "review")
    assert by_name["deliver"].gates == ("delivery", "contracts")
    assert {name: stage.skip_if for name, stage in by_name.items() if stage.skip_if} == {
        "clarify": "no_ambiguities",
        "red": "no_test_owed",
        "green": "only_tests",
        "refactor": "nothing_worse OR trivial_change OR only_tests",
        "deliver": "no_changelog",
    }
    assert [name for name, stage in by_name.items() if stage.reverts] == ["refactor"]
    assert [name for name, stage in by_name.items() if stage.context_tokens == 16_000] == [
        "red",
        "green",
        "refactor",
        "deliver",
    ]
    assert by_name["spec"].requires == ("intake_record", "clarification", "analysis")


def test_the_panels_read_side_by_side_and_the_arbiter_has_the_highest_tier() -> None:
    stages = {stage.name: stage for stage in CATALOG.resolve("implement", "full").pipeline().stages}
    security = Reviewer("security_architect", "security_review", "1.0", "generation")
    assert stages["spec"].reviewers == (security,)
    assert stages["spec"].arbiter is None
    assert stages["refactor"].reviewers == (security, Reviewer("reviewer", "review", "1.0", "generation"))
    assert stages["refactor"].arbiter == Reviewer("reviewer", "review", "1.0", "reasoning")
    assert {stage.review_mode for stage in stages.values()} == {"blocking"}
    assert {stage.max_revisions for stage in stages.values()} == {3}
    assert stages["spec"].tier == "reasoning"
    assert stages["deliver"].tier == "summarization"


@every(("pipeline", "lane"), LINES)
def test_everybody_who_is_asked_is_in_the_resolved_line(pipeline: str, lane: str | None) -> None:
    kept = ResolvedPipeline.from_json(json.loads(json.dumps(CATALOG.resolve(pipeline, lane).to_json())))
    for stage, told in everybody(kept):
        assert stage.role is not None
        assert kept.role(stage.role).name == stage.role
        assert told
        assert all(
            kept.contract(name).name == name
            for name in (*stage.requires, *(item.contract for item in stage.products))
        )


@every(("pipeline", "lane"), LINES)
def test_a_system_prompt_tells_things_in_order_and_fits_its_slot(pipeline: str, lane: str | None) -> None:
    resolved = CATALOG.resolve(pipeline, lane)
    for stage, told in everybody(resolved):
        assert stage.role is not None
        role = resolved.role(stage.role)
        reads = resolved.pipeline().stage(stage.name).role != stage.role
        whole = resolved.pipeline().stage(stage.name)
        heard = stage.role in [debater.role for debater in whole.debaters]
        flow = flow_of(resolved.pipeline(), stage, "debater" if heard else "reviewer" if reads else "worker")
        text = system_prompt(role, stage, resolved.contracts_of(stage), told, flow=flow)
        assert with_margin(count_tokens(text)) <= 1200, (stage.name, role.name)
        parts = [
            f"# Role: {role.display_name}",
            role.description.splitlines()[0],
            role.expertise[0],
            role.thinking_style.splitlines()[0],
            role.constraints[0],
            "## How a step works",
            *(["## Judged before it counts"] if role.must_verify else []),
            f"## This stage: {stage.name}",
            *flow.splitlines(),
            told.splitlines()[0],
            "Stay in this role.",
        ]
        places = [text.find(part) for part in parts]
        assert -1 not in places, parts[places.index(-1)]
        assert places == sorted(places)


def test_a_role_is_told_who_really_works_before_and_after_it_in_this_pipeline() -> None:
    def told(pipeline: str, lane: str | None, name: str) -> str:
        line = CATALOG.resolve(pipeline, lane).pipeline()
        return flow_of(line, line.stage(name))

    assert told("implement", "full", "spec") == (
        "You build on the work of: requirements_analyst, business_analyst.\n"
        "It is read by: security_architect.\n"
        "Your work goes to: test_engineer, software_developer, senior_developer, devops_engineer.\n"
    )
    assert told("design", None, "spec").endswith("Your work ends this task: a person reads it.\n")
    assert told("review", None, "analyze") == "Your work ends this task: a person reads it.\n"
    assert told("test", None, "analyze") == "Your work goes to: test_engineer.\n"
    assert "goes to: technical_writer" in told("document", None, "analyze")
    assert told("implement", "hotfix", "review").endswith("the engine checks it and hands it over.\n")
    assert told("implement", "small", "green").endswith("goes to: reviewer.\n")
    line = CATALOG.resolve("implement", "full").pipeline()
    reads = line.stage("spec").read_by("security_architect")
    assert flow_of(line, reads, "reviewer") == "You read the work of: software_architect.\n"


def test_what_a_role_found_out_is_shown_to_whoever_works_next_if_no_stage_asks_for_it() -> None:
    def given(pipeline: str, lane: str | None, name: str) -> tuple[str, ...]:
        return CATALOG.resolve(pipeline, lane).pipeline().stage(name).requires

    assert given("test", None, "red") == ("intake_record", "specification", "analysis")
    assert "analysis" in given("fix", None, "green")
    assert given("implement", "full", "red") == ("intake_record", "specification")
    assert given("implement", "small", "red") == ("intake_record", "specification")
    assert {"specification", "test_suite"} <= {*given("fix", None, "analyze")}  # what it cannot begin without


def test_a_purpose_is_told_to_who_works_and_to_who_reads() -> None:
    resolved = CATALOG.resolve("document")
    for told in (resolved.prompt("deliver"), resolved.review_prompt("deliver", "reviewer")):
        assert "In this task: documents are all that changes" in told


def test_a_role_of_several_artifacts_is_told_what_is_judged_here() -> None:
    resolved = CATALOG.resolve("implement", "full")
    stages = {stage.name: stage for stage in resolved.pipeline().stages}
    texts = [
        system_prompt(resolved.role("software_architect"), stages[name], resolved.contracts_of(stages[name]))
        for name in FULL[2:4]
    ]
    assert "Judged before it counts\nfiles to modify exist." in texts[0]
    assert "each requirement says what it asks for, an interface that is named says" in texts[1]
    assert "blocking ambiguities answered" not in texts[1]


def test_each_seat_is_told_what_to_hand_in_and_the_arbiter_that_it_decides() -> None:
    resolved = CATALOG.resolve("implement", "full")
    security, general, arbiter = (
        resolved.review_prompt("refactor", seat) for seat in ("security_architect", "reviewer", ARBITER)
    )
    assert "In `security_review`" in security
    assert "In `review`" in general
    assert arbiter.endswith(general)
    assert "disagree" in arbiter
    assert "Their findings are in your context" in arbiter
    assert "Your verdict decides" in arbiter
    assert resolved.review_prompt("green", "reviewer") == ""


def test_a_small_lane_holds_the_one_it_can_rise_to() -> None:
    small, full = CATALOG.resolve("implement", "small"), CATALOG.resolve("implement", "full")
    assert small.pipeline().rises == Rise("full", files=3, lines=200, blocks=2)
    assert CATALOG.resolve("implement", "hotfix").pipeline().rises == Rise(
        "full", files=2, lines=120, blocks=2
    )
    assert small.higher() == (full.pipeline(),)
    assert full.higher() == ()
    assert set(small.value["roles"]) >= set(full.value["roles"])
    assert set(small.value["contracts"]) == {*full.value["contracts"], "review"}
    assert (
        small.review_prompt("spec", "security_architect")
        == full.review_prompt("spec", "security_architect")
        != ""
    )


def test_the_small_lanes_end_in_a_computed_report_that_names_the_review() -> None:
    for lane in ("hotfix", "small"):
        deliver = CATALOG.resolve("implement", lane).pipeline().stages[-1]
        assert deliver.role is None
        assert "review" in deliver.requires


def test_a_task_of_an_older_release_rises_nowhere() -> None:
    value = {
        key: part
        for key, part in CATALOG.resolve("implement", "small").to_json().items()
        if key not in {"higher", "review_prompts"}
    }
    kept = ResolvedPipeline.from_json(value)
    assert kept.higher() == ()
    assert kept.review_prompt("spec", "security_architect") == ""


def test_design_ends_at_a_read_specification_and_review_at_an_analysis() -> None:
    design, review = (CATALOG.resolve(name).pipeline() for name in ("design", "review"))
    assert [stage.name for stage in design.stages] == FULL[:4]
    assert [reader.role for reader in design.stages[-1].reviewers] == ["security_architect"]
    assert [(stage.name, stage.role) for stage in review.stages] == [
        ("entry", None),
        ("analyze", "software_architect"),
    ]
    assert review.entry_stage == "analyze"
    assert [product.contract for product in review.stages[0].products] == ["intake_record", "clarification"]
    assert {design.lane, review.lane} == {"full"}
    with pytest.raises(UsageError, match="design has no lane small; it has none"):
        CATALOG.resolve("design", "small")


def test_a_pipeline_of_several_lanes_is_whole_when_nobody_names_one() -> None:
    assert CATALOG.resolve("implement").pipeline().lane == "full"


def test_the_nine_modes_have_their_numbers() -> None:
    assert {name: mode.steps for name, mode in modes().items()} == {
        "fast": 2,
        "balanced": 4,
        "execute": 4,
        "heavy": 8,
        "debug": 6,
        "architect": 3,
        "offline-safe": 3,
        "plan": 1,
        "audit": 3,
    }
    assert [name for name, mode in modes().items() if not mode.writes] == ["plan", "audit"]
    assert [name for name, mode in modes().items() if mode.local_only] == ["offline-safe"]
    assert (modes()["plan"].pipeline, modes()["audit"].pipeline) == ("design", "review")
    assert CATALOG.document("contracts", "settings")["schema"]["mode"]["enum"] == list(MODE_NAMES)


@every(
    ("name", "steps", "scaled"),
    [
        ("fast", 5, 3),
        ("balanced", 5, 5),
        ("heavy", 12, 24),
        ("heavy", 90, 100),
        ("plan", 1, 1),
        ("audit", 8, 6),
    ],
)
def test_a_mode_scales_the_steps_of_a_stage_within_bounds(name: str, steps: int, scaled: int) -> None:
    assert mode_named(name).scaled(steps) == scaled


def test_the_mode_is_part_of_the_line_and_of_those_above_it() -> None:
    usual, heavy = (CATALOG.resolve("implement", "small", mode) for mode in ("balanced", "heavy"))
    for one, other in zip(
        (usual.pipeline(), *usual.higher()), (heavy.pipeline(), *heavy.higher()), strict=True
    ):
        assert (one.mode, other.mode) == ("balanced", "heavy")
        assert [2 * stage.max_steps for stage in one.stages if stage.role] == [
            stage.max_steps for stage in other.stages if stage.role and stage.name != "examine"
        ]


@every("mode", MODE_NAMES)
@every(("pipeline", "lane"), LINES)
def test_a_mode_that_changes_nothing_refuses_a_pipeline_that_does(
    pipeline: str, lane: str | None, mode: str
) -> None:
    instead = {"plan": "design", "audit": "review"}.get(mode)
    writes = pipeline not in (
        "design",
        "review",
        "debate",
    )  # nobody can change anything in a line that ends in words
    if instead is None or not writes:
        assert CATALOG.resolve(pipeline, lane, mode).pipeline().writes == writes
        return
    with pytest.raises(
        UsageError, match=f"The mode {mode} changes nothing, and the stage .+ of the pipeline {pipeline} does"
    ) as caught:
        CATALOG.resolve(pipeline, lane, mode)
    assert f"Use the pipeline {instead}" in caught.value.next_step


def test_an_unknown_mode_lists_the_known_ones_and_a_wrong_key_is_refused() -> None:
    with pytest.raises(UsageError, match="There is no mode 'loud'") as caught:
        CATALOG.resolve("implement", "small", "loud")
    assert "fast, balanced, execute" in caught.value.next_step
    entry = {"description": "d", "steps": 1}
    with pytest.raises(UsageError, match="plan: unknown key `speed`"):
        modes_from(
            {"modes": {name: {**entry, "speed": 1} if name == "plan" else entry for name in MODE_NAMES}}
        )
    with pytest.raises(UsageError, match="the modes are fast, balanced"):
        modes_from({"modes": {"fast": entry}})


ROLE = """\
agent: {{role: tidy, version: "{version}", display_name: Tidy, tier: {tier}}}
identity:
  description: {description}
  expertise: {expertise}
  thinking_style: {style}
capabilities:
  tools: {{allowed: {allowed}, forbidden: [deploy, commit]}}
  output: {{contract: {contract}, must_verify: {verify}}}
constraints: {rules}
orchestration: {{stage: {stage}, reviewed_by: {by}}}
"""
GOOD = {
    "version": "1.0",
    "tier": "generation",
    "description": "d" * 100,
    "expertise": "[a, b, c]",
    "style": "s" * 50,
    "allowed": "[read_file]",
    "contract": "review",
    "verify": "[findings_block_or_approve]",
    "rules": "[r]",
    "stage": "null",
    "by": "[]",
}


def test_a_role_of_the_project_needs_just_the_minima() -> None:
    assert ours({"agents/tidy": ROLE.format(**GOOD)}).role("tidy").outputs == ("review",)


@every(
    ("key", "value", "said"),
    [
        ("version", "one", "agent.version: 'one' does not fit"),
        ("tier", "huge", "agent.tier: 'huge' does not fit"),
        ("description", "d" * 99, "of at least 100 characters"),
        ("expertise", "[a, b]", "with at least 3 entries"),
        ("style", "s" * 49, "of at least 50 characters"),
        ("allowed", "[read_file, deploy]", "deploy is both allowed and forbidden"),
        ("contract", "poem", "there is no contracts/poem.yaml"),
        ("verify", "[looks_nice]", "must_verify names looks_nice"),
        ("verify", "{all_tests_pass: false}", "must_verify.all_tests_pass is False"),
        ("rules", "[]", "with at least 1 entries"),
        ("stage", "dance", "there is no stages/dance.yaml"),
        ("by", "[nobody]", "there is no agents/nobody.yaml"),
    ],
)
def test_a_role_that_breaks_its_contract_is_refused(key: str, value: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        ours({"agents/tidy": ROLE.format(**{**GOOD, key: value})}).role("tidy")
    assert said in str(caught.value)


STAGE = """\
name: polish
description: One more look
role: senior_developer
produces: [{contract: deliverable, phase: refactor}]
requires: [specification, deliverable]
gates: [green, contracts]
entry_point: false
exit_point: false
prompt: Look.
"""


@every(
    ("more", "said"),
    [
        ("skip_if: moonlight", "skip_if: `moonlight` is not a known condition; use one of no_ambiguities"),
        (
            "skippable_if: no_ambiguities AND",
            "skippable_if: the condition `no_ambiguities AND` ends too early",
        ),
        (
            "skip_if: trivial_change",
            "skips polish when trivial_change holds; it may be skipped only if `never`",
        ),
        (
            "skip_if: always\nskippable_if: trivial_change",
            "skips polish always; it may be skipped only if `trivial_change`",
        ),
        ("reviewers: [nobody]", "there is no agents/nobody.yaml"),
        ("reviewers: [reviewer]\narbiter: nobody", "there is no agents/nobody.yaml"),
        ("review_mode: loud", "review_mode: 'loud' does not fit; it is one of blocking, advisory"),
        ("max_iterations: 0", "max_iterations: 0 does not fit"),
        ("speed: 1", "speed: unknown key"),
    ],
)
def test_a_stage_that_breaks_its_contract_is_refused(more: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        ours({"stages/polish": f"{STAGE}{more}\n"}).document("stages", "polish")
    assert said in str(caught.value)


def test_a_condition_may_be_narrower_than_its_stage_allows_in_any_words() -> None:
    more = (
        "skippable_if: trivial_change OR external_spec_provided\nskip_if: NOT no_ambiguities AND "
        "trivial_change\n"
    )
    assert ours({"stages/polish": STAGE + more}).document("stages", "polish")["skip_if"]


PIPELINE = """\
pipeline:
  name: ours
  description: Ours
  goal_type: implement
  stages:
    - {{name: frame}}
    - {{name: red}}
    - {{name: green}}
{more}
  exit: {{stage: {end}, deliverable: {deliverable}}}
"""


def line_of(more: str, end: str, deliverable: str = "deliverable", stage: str = STAGE) -> ResolvedPipeline:
    text = PIPELINE.format(
        more="".join(f"    - {{{entry}}}\n" for entry in more.split("; ") if entry),
        end=end,
        deliverable=deliverable,
    )
    return ours({"stages/polish": stage, "pipelines/ours": text}).resolve("ours")


def test_deliverable_is_another_name_of_implementation() -> None:
    end = line_of("name: polish; name: refactor, default_exit: true", "refactor").pipeline()
    assert end.stages[3].products == (Product("implementation", "refactor"),)
    assert end.stages[3].requires == ("specification", "implementation")


def test_a_panel_brings_its_gate_and_an_arbiter_once_two_can_disagree() -> None:
    one, two = (
        line_of(f"name: polish, reviewers: [{readers}]; name: refactor, default_exit: true", "refactor")
        .pipeline()
        .stages[3]
        for readers in ("reviewer", "reviewer, security_architect")
    )
    assert one.gates == two.gates == ("green", "contracts", "review")
    assert one.arbiter is None
    assert two.arbiter == Reviewer("reviewer", "review", "1.0", "reasoning")


@every(
    ("more", "end", "deliverable", "said"),
    [
        (
            "name: polish, default_exit: true",
            "polish",
            "implementation",
            "cannot end at polish; it may end at red, green",
        ),
        ("name: refactor", "refactor", "implementation", "is the `default_exit`"),
        (
            "name: refactor, default_exit: true",
            "refactor",
            "analysis",
            "does not produce the deliverable analysis",
        ),
        ("name: refactor, default_exit: true", "refactor", "poem", "there is no contracts/poem.yaml"),
        ("name: dance", "dance", "implementation", "there is no stages/dance.yaml"),
        ("name: refactor, role: nobody", "refactor", "implementation", "there is no agents/nobody.yaml"),
        ("name: refactor, reviewers: [ghost]", "refactor", "implementation", "there is no agents/ghost.yaml"),
        (
            "name: refactor, skip_if: moonlight",
            "refactor",
            "implementation",
            "`moonlight` is not a known condition",
        ),
        (
            "name: refactor, skip_if: no_ambiguities",
            "refactor",
            "implementation",
            "may be skipped only if `nothing_worse OR trivial_change OR only_tests`",
        ),
        (
            "name: refactor, review_mode: loud",
            "refactor",
            "implementation",
            "it is one of blocking, advisory",
        ),
        (
            "name: polish, reviewers: [test_engineer]",
            "polish",
            "implementation",
            "test_engineer cannot be a reviewer: it hands in test_suite",
        ),
        (
            "name: polish, reviewers: [reviewer, reviewer]",
            "polish",
            "implementation",
            "names a reviewer twice",
        ),
        ("name: polish, reviewers: [reviewer], role: null", "polish", "implementation", "polish is computed"),
        (
            "name: polish, reviewers: [reviewer], returns_to: red",
            "polish",
            "implementation",
            "one of them, not both",
        ),
    ],
)
def test_a_line_that_cannot_work_says_why(more: str, end: str, deliverable: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        line_of(more, end, deliverable)
    assert said in str(caught.value)


@every(
    ("stage", "said"),
    [
        (
            STAGE.replace("[green, contracts]", "[review, contracts]"),
            "has the gate review, and neither `reviewers` nor a stage",
        ),
        (
            STAGE.replace("[green, contracts]", "[review, contracts]\nreviewers: [reviewer]"),
            "review is the last of its gates",
        ),
        (STAGE.replace("prompt: Look.", ""), "polish has a role and no prompt"),
    ],
)
def test_a_stage_that_cannot_work_in_its_line_says_why(stage: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        line_of("name: polish; name: refactor, default_exit: true", "refactor", stage=stage)
    assert said in str(caught.value)


def test_nobody_reviews_their_own_work() -> None:
    own = GOOD | {"contract": "[implementation, review]", "allowed": "[read_file, edit_file]"}
    catalog = ours(
        {
            "agents/tidy": ROLE.format(**own),
            "stages/polish": STAGE.replace("senior_developer", "tidy") + "reviewers: [tidy]\n",
            "pipelines/ours": PIPELINE.format(
                more="    - {name: polish, default_exit: true}", end="polish", deliverable="implementation"
            ),
        }
    )
    with pytest.raises(UsageError, match="polish is reviewed by its own author, tidy"):
        catalog.resolve("ours")


def test_a_line_starts_at_an_entry_point() -> None:
    text = (
        "pipeline:\n  name: ours\n  description: o\n  goal_type: design\n  stages: [{name: spec, "
        "requires: [], default_exit: true}]\n"
    )
    catalog = ours({"pipelines/ours": f"{text}  exit: {{stage: spec, deliverable: specification}}\n"})
    with pytest.raises(UsageError, match="cannot start at spec, which is no entry point"):
        catalog.resolve("ours")


LANES = """\
pipeline:
  name: ours
  description: Ours
  goal_type: review
  lanes:
    low: {{rises: {{to: {low}, files: 1}}, stages: {stages}}}
    high: {{rises: {{to: {high}, {limit}}}, stages: {stages}}}
    top: {{stages: {stages}}}
  exit: {{stage: analyze, deliverable: analysis}}
"""
STAGES = "[{name: intake, role: null}, {name: analyze, requires: [intake_record], default_exit: true}]"


def test_a_lane_holds_every_lane_above_it() -> None:
    catalog = ours({"pipelines/ours": LANES.format(low="high", high="top", limit="lines: 5", stages=STAGES)})
    assert [line.lane for line in catalog.resolve("ours", "low").higher()] == ["high", "top"]
    assert catalog.resolve("ours").pipeline().lane == "top"


@every(
    ("low", "high", "limit", "said"),
    [
        ("sky", "top", "files: 1", "rises to sky, which it does not have"),
        ("high", "low", "files: 1", "rise in a circle: low -> high -> low"),
        ("high", "top", "files: -1", "rises.files: -1 does not fit; it is a whole number from 0"),
        ("high", "top", "speed: 1", "rises.speed: unknown key"),
    ],
)
def test_a_lane_that_rises_wrongly_is_refused(low: str, high: str, limit: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        ours({"pipelines/ours": LANES.format(low=low, high=high, limit=limit, stages=STAGES)}).resolve(
            "ours", "low"
        )
    assert said in str(caught.value)


def test_a_template_has_either_stages_or_lanes() -> None:
    both = LANES.format(low="high", high="top", limit="files: 1", stages=STAGES) + f"  stages: {STAGES}\n"
    neither = (
        "pipeline: {name: ours, description: o, goal_type: review, exit: {stage: analyze, "
        "deliverable: analysis}}\n"
    )
    for text, said in ((both, "both"), (neither, "neither")):
        with pytest.raises(UsageError, match=f"has {said} `stages` and `lanes`"):
            ours({"pipelines/ours": text}).resolve("ours")


def test_what_nothing_acts_on_yet_is_still_checked() -> None:
    text = f"pipeline:\n  name: ours\n  description: o\n  goal_type: review\n  stages: {STAGES}\n"
    end = "  exit: {stage: analyze, deliverable: analysis}\n"
    for more, said in (
        (
            "  accepts_external: {specification: {contract: specification, skips_to: dance}}\n",
            "stages/dance.yaml",
        ),
        ("  accepts_external: {specification: {contract: poem, skips_to: red}}\n", "contracts/poem.yaml"),
        ("  continuation: {next_pipeline: waltz}\n", "pipelines/waltz.yaml"),
        ("  continuation: {next_pipeline: implement, provides: [poem]}\n", "contracts/poem.yaml"),
    ):
        with pytest.raises(UsageError) as caught:
            ours({"pipelines/ours": text + more + end}).document("pipelines", "ours")
        assert f"there is no {said}" in str(caught.value)


def test_a_lane_rises_only_to_one_that_it_has_made_everything_for() -> None:
    poor = (
        'extends: "agentforge:implement"\npipeline:\n  lanes:\n    poor:\n      rises: {to: full, '
        "blocks: 2}\n"
    )
    poor += "      stages:\n"
    poor += (
        "        - {name: intake, required: true}\n        - {name: clarify, required: true}\n       "
        " - {name: analyze, required: true}\n"
    )
    poor += "        - {name: spec, required: true}\n        - {name: red, required: true}\n"
    poor += (
        "        - {name: deliver, required: true, default_exit: true, role: null, requires: [test_suite]}\n"
    )
    catalogue = Catalog.packaged().with_overrides({".agentforge/pipelines/implement.yaml": poor})
    with pytest.raises(UsageError, match="the lane full needs implementation, which poor does not make"):
        catalogue.resolve("implement", "poor")


# ------------------------------------------------------------------ a stage that a mode adds


@every(
    ("lane", "before", "after"),
    [("hotfix", "patch", "review"), ("small", "green", "review"), ("full", "refactor", "deliver")],
)
def test_heavy_puts_an_examiner_behind_the_change_in_every_lane(lane: str, before: str, after: str) -> None:
    names = [stage.name for stage in CATALOG.resolve("implement", lane, "heavy").pipeline().stages]
    at = names.index("examine")
    assert (names[at - 1], names[at + 1]) == (before, after)
    assert "examine" not in [stage.name for stage in CATALOG.resolve("implement", lane).pipeline().stages]


def test_where_nothing_is_changed_nothing_is_examined() -> None:
    assert CATALOG.resolve("design", None, "heavy").pipeline().index("spec") >= 0
    names = [stage.name for stage in CATALOG.resolve("design", None, "heavy").pipeline().stages]
    assert "examine" not in names


def test_the_examiner_has_no_tool() -> None:
    assert CATALOG.role("examiner").allowed == ()
