"""The way back to RED, and revisions that must change something."""

import pytest

from agentforge.core.digests import ActionResults, StageResult, VerdictDigest
from agentforge.core.errors import StateInvalid
from agentforge.core.events import GateJudged, RedReopened, RevisionAsked, StageEntered
from agentforge.core.inputs import Acted, CommitMade, Judged, Prepared, Resolution, Resume
from agentforge.core.pipeline import Pipeline
from agentforge.core.returns import NOTHING_CHANGED, standing
from agentforge.core.values import Question, Reopening
from tests.core.panels import full_until, hand_in, read_all
from tests.core.scenes import (
    HOTFIX,
    PASSED,
    SMALL,
    Played,
    accept,
    answered,
    begun,
    handed_in,
    judge,
    reach,
    step,
    submit,
)

WRONG = Reopening("it rounds the other way", ("tests/test_a.py::test_a",))


def asks(task: Played, why: Reopening = WRONG) -> None:
    """One step whose role says that a test is wrong."""
    step(task, answered(), Acted(ActionResults("results", task.state.tree, ()), reopens=why))


def block(task: Played, *findings: str, tests_wrong: bool = False) -> None:
    gate = task.stage.gates[task.run.gate]
    task.end(
        "Judge", Judged(VerdictDigest(gate, "blocked", findings, "verdict-review"), tests_wrong=tests_wrong)
    )


def stages(task: Played) -> list[str]:
    return [event.stage for event in task.told(StageEntered)]


def test_green_can_send_a_wrong_test_back_and_the_task_goes_on_through_red() -> None:
    task = reach(begun(), "green")
    first = task.state.artifact("test_suite")
    tree = task.state.tree + "+code"
    step(task, answered(), Acted(ActionResults("results", tree, ())), PASSED)
    asks(task)
    assert (task.run.stage, task.state.tree) == ("red", tree), "what was built stays"
    assert "it rounds the other way" in task.run.feedback[0]
    assert "tests/test_a.py::test_a" in task.run.feedback[0]
    assert task.run.drafts == (first,), "only what changes is handed in again"
    submit(task)
    accept(task)
    assert task.run.stage == "green"
    assert "proved and locked again: it rounds the other way" in task.run.feedback[0]
    submit(task)
    accept(task)
    assert (task.run.stage, task.state.reopening, task.state.reopenings) == ("review", None, (WRONG,))


def test_a_role_is_believed_so_often_and_then_a_person_is_asked() -> None:
    task = reach(begun(), "green")
    for _ in range(task.state.pipeline.stage("red").max_revisions):
        asks(task)
        submit(task)
        accept(task)
    asks(task)
    question = task.state.escalations[-1].question
    assert (task.state.status, question.options[0]) == ("blocked", "back to red")
    assert "after 3 times: it rounds the other way" in question.text
    task.say(Resolution("ESC-001", "back to red", "ada"))
    assert (task.run.stage, task.state.reopening) == ("red", Reopening(question.text, by="person"))


@pytest.mark.parametrize(("pipeline", "stage"), [(SMALL, "red"), (HOTFIX, "patch"), (SMALL, "frame")])
def test_where_no_test_is_locked_there_is_nothing_to_open(pipeline: Pipeline, stage: str) -> None:
    task = reach(begun(pipeline), stage)
    asks(task)
    assert (task.run.stage, task.run.mistakes, task.told(RedReopened)) == (stage, 1, [])
    assert task.run.feedback == ("No test is locked here.",)


@pytest.mark.parametrize(
    ("tests_wrong", "pipeline", "back"),
    [
        (True, SMALL, ["red", "green", "review"]),
        (False, SMALL, ["green", "review"]),
        (True, HOTFIX, ["patch", "review"]),
    ],
)
def test_a_finding_about_a_test_goes_to_who_proves_tests(
    tests_wrong: bool,
    pipeline: Pipeline,
    back: list[str],
) -> None:
    task = reach(begun(pipeline), "review")
    submit(task)
    before = len(stages(task))
    block(task, "REV-001: the test asserts nothing", tests_wrong=tests_wrong)
    for stage in back[:-1]:
        assert task.run.stage == stage
        assert "REV-001: the test asserts nothing" in task.run.feedback
        assert "REV-001: the test asserts nothing" in standing(task.state, task.run, task.stage)
        submit(task)
        accept(task)
    assert stages(task)[before:] == back
    assert "REV-001: the test asserts nothing" in standing(task.state, task.run, task.stage), (
        "to the reviewer"
    )
    assert len(task.told(RevisionAsked)) == 1
    submit(task)
    accept(task)
    assert task.state.settled == ("REV-001: the test asserts nothing",)


def test_a_panel_sends_tests_back_too_and_the_revisions_are_counted_together() -> None:
    task = full_until("refactor")
    for number in range(task.stage.max_revisions + 1):
        hand_in(task)
        read_all(task)
        block(task, f"REV-00{number}: wrong", tests_wrong=number % 2 == 0)
        if task.state.status == "blocked":
            break
        while task.run.stage != "refactor":
            submit(task)
            accept(task)
    assert (task.state.status, task.state.revisions) == ("blocked", 3)
    assert task.state.escalations[-1].question.options == ("retry", "back to red", "abort")


def test_a_persons_answer_opens_the_tests_again() -> None:
    task = reach(begun(), "green")
    step(
        task,
        answered(),
        Acted(ActionResults("results", task.state.tree, ()), question=Question("Is 3 right?")),
    )
    task.say(Resolution("ESC-001", "Back to RED: no, it is 4", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (task.run.stage, task.state.reopening) == ("red", Reopening("no, it is 4", by="person"))
    submit(task)
    accept(task)
    assert task.run.stage == "green"


def test_a_locked_test_that_a_person_edited_is_proved_again_and_nobody_is_asked_for_it() -> None:
    task = reach(begun(), "review")
    step(task, answered(), Acted(ActionResults("results", task.state.tree, ()), question=Question("Which?")))
    task.say(Resolution("ESC-001", "the first", "ada"))
    edited = Prepared("by-hand", (), "feedfacefeedface", ("tests/test_a.py",), ("tests/test_a.py",))
    task.end("Prepare", edited)
    assert (task.run.stage, task.state.tree, task.owes()) == ("red", "by-hand", ["Judge"])
    judge(task, "failed", "tests/test_a.py::test_b fails and is not in test_suite")
    assert (task.run.stage, task.owes()) == ("red", ["Assemble"]), "what does not hold, the role mends"
    submit(task)
    accept(task)
    assert task.run.stage == "green"
    assert [ref.contract for ref in task.run.drafts] == ["implementation"]


def test_work_that_a_person_edited_after_it_was_accepted_is_judged_again() -> None:
    task = reach(begun(), "review")
    step(task, answered(), Acted(ActionResults("results", task.state.tree, ()), question=Question("Which?")))
    task.say(Resolution("ESC-001", "the first", "ada"))
    task.end("Prepare", Prepared("by-hand", (), "feedfacefeedface", ("a.py",)))
    assert (task.run.stage, task.owes()) == ("green", ["Judge"])
    accept(task)
    assert (task.run.stage, task.state.tree) == ("review", "by-hand")


# ------------------------------------------------------------------ revisions


def test_a_revision_that_changed_nothing_reaches_no_reviewer() -> None:
    task = reach(begun(), "review")
    submit(task)
    block(task, "REV-001: wrong")
    same = task.state.tree
    reviews = len([event for event in task.told(GateJudged) if event.verdict.gate == "review"])
    step(task, answered("success"), handed_in(task.stage, same), PASSED)
    assert (task.run.stage, task.run.feedback[-1], task.run.mistakes) == ("green", NOTHING_CHANGED, 1)
    submit(task)
    accept(task)
    assert task.run.stage == "review"
    assert len([event for event in task.told(GateJudged) if event.verdict.gate == "review"]) == reviews


def test_a_person_may_say_that_nothing_needs_to_change() -> None:
    task = reach(begun(), "review")
    submit(task)
    block(task, "REV-001: wrong")
    step(
        task,
        answered(),
        Acted(ActionResults("results", task.state.tree, ()), question=Question("REV-001 is wrong. Is it?")),
    )
    task.say(Resolution("ESC-001", "it is, leave the code", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    step(task, answered("success"), handed_in(task.stage, task.state.tree), PASSED)
    accept(task)
    assert task.run.stage == "review"


def test_what_was_undone_settles_nothing_and_the_panel_is_not_asked_again() -> None:
    task = full_until("refactor")
    hand_in(task)
    read_all(task)
    block(task, "REV-001: wrong")
    for _ in range(task.stage.attempts):
        step(task, answered("failure_retryable"), Acted(ActionResults("results", task.state.tree, ())))
    assert (task.state.status, task.state.escalations[-1].kind) == ("blocked", "exhausted")


def test_a_document_that_comes_back_as_it_was_is_refused_too() -> None:
    task = full_until("spec")
    hand_in(task)
    read_all(task)
    block(task, "SEC-001: say what happens to nothing")
    step(task, answered("success"), Acted(ActionResults("results", task.state.tree, ())))
    assert task.run.feedback[-1] == NOTHING_CHANGED
    hand_in(task)
    assert task.state.panel


# ------------------------------------------------------------------ old tests that are given up


def test_giving_up_old_tests_can_be_a_question_and_the_gate_judges_again_once_it_is_allowed() -> None:
    task = reach(begun(), "red")
    submit(task)
    asked = Question("May it be given up?", ("allow", "keep them", "abort"), about=("tests/a.py::test_old",))
    task.end("Judge", Judged(VerdictDigest("red", "failed", ("not asked for",), "verdict"), question=asked))
    assert (task.state.status, task.state.escalations[-1].kind) == ("blocked", "question")
    allowed, kept = copied(task), copied(task)
    allowed.say(Resolution("ESC-001", "allow", "ada"))
    allowed.end("Prepare", Prepared(allowed.state.tree))
    assert (allowed.run.stage, allowed.owes()) == ("red", ["Judge"])
    accept(allowed)
    assert allowed.run.stage == "green"
    kept.say(Resolution("ESC-001", "keep them", "ada"))
    kept.end("Prepare", Prepared(kept.state.tree))
    assert (kept.run.stage, kept.owes()) == ("red", ["Assemble"])
    assert kept.run.feedback[0] == "A person wants these old tests kept as they are: tests/a.py::test_old."


def test_a_question_about_old_tests_waits_for_its_answer() -> None:
    task = reach(begun(), "red")
    submit(task)
    asked = Question("May it be given up?", ("allow", "keep them", "abort"), about=("tests/a.py::test_old",))
    task.end("Judge", Judged(VerdictDigest("red", "failed", ("not asked for",), "verdict"), question=asked))
    with pytest.raises(StateInvalid, match="is waiting for an answer to ESC-001"):
        task.say(Resume("ada"))


def copied(task: Played) -> Played:
    return Played(task.state, list(task.events), task.last, task.why)


def test_the_tests_are_committed_again_after_they_were_opened() -> None:
    task = reach(begun(), "green")
    asks(task)
    submit(task)
    while task.run.point == "judge":
        judge(task)
    task.end("Commit", CommitMade(StageResult(task.state.tree, "second-red")))
    assert task.state.commit == "second-red"
