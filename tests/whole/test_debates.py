"""Debates through the installed command: by themselves, before a specification, and when a model will not
decide.
"""

from collections import Counter
from pathlib import Path

import pytest

from agentforge.store.task.journal import read_lines
from tests.surfaces.shapes import conform
from tests.whole.checkouts import Done, Person, git, make_repository
from tests.whole.debates import OPTIONS, QUESTION, argued, decided, planned
from tests.whole.full_plays import (
    SECURITY,
    analyze,
    approves,
    events,
    evidence,
    final,
    intake,
    spec,
    start,
    waits,
)
from tests.whole.plays import FRAMED, Entry, Play, finished, say

pytestmark = pytest.mark.slow

FILES = {"debate-plan.md", "advocate.md", "skeptic.md", "operator.md", "synthesis.md"}
SECRET = "Nothing new to run"
"""Words of the advocate."""
NAMED = {
    ".agentforge/pipelines/implement.yaml": """\
extends: "agentforge:implement"
pipeline:
  lanes:
    full:
      replace:
        spec: {name: spec, required: true, gates: [debate, contracts, review]}
"""
}


@pytest.fixture
def garden(tmp_path: Path, agentforge_home: Path) -> Person:
    """A repository in which nothing is ours: a page, a script, and no test."""
    files = {"index.html": "<p>roses</p>\n", "build.sh": "cat index.html\n"}
    return Person(make_repository(tmp_path / "garden", files), tmp_path / "script.yaml")


def ask(person: Person, *entries: Entry, words: tuple[str, ...] = ()) -> Done:
    person.scripted(*entries)
    named = [word for option in OPTIONS for word in ("--options", option)]
    return person.run("debate", QUESTION, *named, "--model", f"scripted:{person.script}", *words)


def asked_once(top: Path) -> Counter[str]:
    """How often each run was answered."""
    return Counter(event["run"] for event in events(top) if event["type"] == "ask_answered")


def test_a_question_is_argued_by_three_who_see_nothing_of_each_other_and_decided_by_a_fourth(
    garden: Person,
) -> None:
    head = git(garden.checkout, "rev-parse", "HEAD")
    alone = ("Old clients go on", "Ten thousand roses", *OPTIONS, {"not": SECRET}, {"not": "vacuum stalls"})
    done = ask(
        garden,
        *argued(alone),
        decided((SECRET, "vacuum stalls", "A migration comes first", "Ten thousand roses")),
        words=("--context", "Ten thousand roses", "--constraint", "Old clients go on", "--json"),
    )
    found = finished(done)
    conform("debate", done.out)
    assert found["cost"]["calls"] == 4
    assert set(found["files"]) == FILES
    assert found["files"]["synthesis.md"].startswith("# Synthesis\n")
    assert found["debates"]["debate"]["option"] == "Postgres"
    assert set(found["debates"]["debate"]["positions"]) == {"advocate", "skeptic", "operator"}
    assert found["summary"] == "Decided: Sessions live in a table of the database that is there."
    assert (found["branch"], git(garden.checkout, "rev-parse", "HEAD")) == (None, head)
    assert garden.run("verify", found["task_id"]).code == 0
    told = garden.run("continue", found["task_id"]).out
    assert "## Kill-Switch Criteria" in told
    assert "debate    Postgres, not Redis, signed cookies" in told
    audit = garden.run("audit", found["task_id"], "--output", "-").out
    assert "What was argued, and decided" in audit


def test_killed_while_they_argue_it_goes_on_and_nobody_is_asked_twice(garden: Person) -> None:
    garden.scripted(*argued(), decided())
    named = [word for option in OPTIONS for word in ("--options", option)]
    command = ("debate", QUESTION, *named, "--model", f"scripted:{garden.script}", "--json")
    garden.run_and_kill_at("was heard", *command)
    before = asked_once(garden.checkout)
    assert before
    found = finished(garden.run("continue", "--json"))
    assert asked_once(garden.checkout) == Counter(
        ["worker", "worker/advocate", "worker/skeptic", "worker/operator"]
    )
    keys = [
        line.key
        for line in read_lines(garden.checkout / ".agentforge/tasks" / found["task_id"] / "actions.yaml")
    ]
    assert max(Counter(keys).values()) == 1


def test_one_that_decides_nothing_is_told_so_and_then_decides(garden: Person) -> None:
    undecided = {"option": "Mongo", "decision": "We take it.", "rationale": ""}
    done = ask(
        garden,
        *argued(),
        decided(final_decision=undecided),
        decided(("`Mongo` is no option of the plan",), kill_switch_criteria=[]),
        decided(("Gate debate failed", "incomplete_section: Kill-Switch Criteria")),
        words=("--json",),
    )
    assert finished(done)["cost"]["calls"] == 6
    judged = [
        (event["gate"], event["status"])
        for event in events(garden.checkout)
        if event["type"] == "gate_judged"
    ]
    assert judged[1:] == [("debate", "failed"), ("debate", "passed"), ("contracts", "passed")]


def test_one_that_never_decides_is_a_question_and_the_answer_reaches_who_decides(garden: Person) -> None:
    empty = {"option": "Postgres", "decision": "Sessions stay.", "rationale": ""}
    rounds = [
        decided(action_items=[], debate_summary={"advocate": f"{at}", "skeptic": "", "operator": ""})
        for at in range(6)
    ]
    done = ask(
        garden,
        *argued(),
        *rounds,
        decided(("A person answered: take Postgres",), final_decision=empty),
        words=("--json",),
    )
    question = waits(done, "exhausted")
    assert "incomplete_section: Action Items" in question["question"]["text"]
    task = done.data["task_id"]
    garden.run("resolve", question["id"], "--task", task, "--answer", "take Postgres")
    assert finished(garden.run("continue", "--json"))["debates"]["debate"]["decision"] == "Sessions stay."
    assert asked_once(garden.checkout)["worker/advocate"] == 1


def test_one_who_argues_rubbish_is_told_what_is_wrong_and_the_others_are_not_asked_again(
    garden: Person,
) -> None:
    lazy, *others = argued(skeptic={"critical_questions": ["Why?"]})[1:2], *argued()
    done = ask(
        garden,
        {**lazy[0]},
        *[each for each in others if each["role"] != "skeptic"],
        {**argued(("critical_questions: .*at least 5",))[1]},
        decided(),
        words=("--json",),
    )
    assert finished(done)["cost"]["calls"] == 5
    assert asked_once(garden.checkout) == Counter(
        {"worker/skeptic": 2, "worker": 1, "worker/advocate": 1, "worker/operator": 1}
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("debate", "A or B?", "--options", "A", "--options", "B"),
            "A debate has 3 options or more, and this one 2.",
        ),
        (("debate", "Which?", "--context", "all of it"), "--context and --constraint go with --options."),
        (
            ("debate", "Which?", "--options", "A", "--options", "A b", "--options", "c"),
            "`A b` contains the name of the option `A`",
        ),
        (("debate", " ", "--options", "A"), "The request is empty; say what you want"),
        (("debate", "Which?", "--no-debate"), "is a debate itself"),
        (("review", "build.sh", "--debate"), "nobody writes a specification"),
    ],
)
def test_what_cannot_be_debated_is_said_before_anything_is_paid(
    garden: Person, words: tuple[str, ...], says: str
) -> None:
    garden.scripted()
    done = garden.run(*words, "--model", f"scripted:{garden.script}")
    assert (done.code, says in done.err) == (2, True), done.said


def before_spec(probability: str = "high", impact: str = "medium") -> list[Entry]:
    found = {**FRAMED["analysis"], "worst_risk": {"probability": probability, "impact": impact}}
    return [intake(), say("analyze", artifacts={"analysis": found}, signal="success")]


WORDS = ("--lane", "full", "--through", "spec")


def test_a_decision_made_first_is_shown_to_who_specifies_and_locked_in_the_specification(play: Play) -> None:
    done = start(
        play,
        intake(),
        analyze(),
        planned(("net is there",)),
        *argued(("net is there", *OPTIONS)),
        decided(),
        spec(expects=("Sessions live in a table of the database",)),
        approves("spec", SECURITY, expects=("Locked by debate: Postgres",)),
        words=(*WORDS, "--debate", "--no-debate"),  # who says both wants it
    )
    assert "a debate was asked for with --debate" in finished(done)["why"]
    locked = final(play.top, "spec", "specification")["constraints"][0]
    assert locked["id"] == "D1"
    assert locked["description"].startswith("Locked by debate: Postgres. Sessions live in a table")
    told = evidence(play.top)["debates"]["debate"]
    assert (told["held"], told["options"]) == (True, [*OPTIONS])


def test_where_the_project_wants_it_a_grave_risk_is_debated_and_a_minor_one_is_not(play: Play) -> None:
    play.person.write(NAMED)
    play.person.commit_all()
    rest = (spec(expects=({"not": "No debate was held"},)), approves("spec", SECURITY))
    minor = finished(start(play, *before_spec("high", "low"), *rest, words=WORDS))
    assert minor["cost"]["calls"] == 4
    told = evidence(play.top)["debates"]["debate"]
    assert told == {
        "held": False,
        "why": "the analysis names 1 component, not more than 3, and its worst risk scores 3, less than 6",
    }
    assert "constraints" not in final(play.top, "spec", "specification")
    held = start(play, *before_spec(), planned(), *argued(), decided(), *rest, words=WORDS)
    assert finished(held)["debates"]["debate"]["held"] is True
    left = start(play, *before_spec(), *rest, words=(*WORDS, "--no-debate"))
    assert "the debate before spec was left out with --no-debate" in finished(left)["why"]
    assert evidence(play.top)["not_checked"][-1] == (
        "spec was not debated first: it was left out with --no-debate"
    )
