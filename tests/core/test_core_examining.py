"""A stage that examines the work: what a person's answer does, and that checks are written once."""

from agentforge.core.digests import VerdictDigest
from agentforge.core.events import GateJudged, RevisionAsked, StageEntered
from agentforge.core.examining import ABOUT, EXAMPLE, KNOWN, SEND_BACK, WRONG
from agentforge.core.inputs import Judged, Prepared, Resolution
from agentforge.core.pipeline import Pipeline, Product, Stage
from agentforge.core.replacing import replace
from agentforge.core.returns import standing
from agentforge.core.values import Question
from tests.core.scenes import SMALL, Played, accept, begun, judge, reach, submit

EXAMINE = Stage(
    "examine",
    "examiner",
    (Product("examination", "review", "examination"),),
    requires=("specification",),
    gates=("examined", "contracts"),
    max_steps=6,
)
AT = SMALL.index("review")
HEAVY: Pipeline = replace(SMALL, stages=(*SMALL.stages[:AT], EXAMINE, *SMALL.stages[AT:]))
ASKS = Question(
    "It fails. Is the check wrong?",
    (SEND_BACK, WRONG, "abort"),
    about=(f"{ABOUT}test_ten 0",),
    if_no=f"{EXAMPLE}\nassert net(200, 10) == 180",
)


def disagreed() -> Played:
    task = reach(begun(HEAVY), "examine")
    submit(task)
    task.end(
        "Judge", Judged(VerdictDigest("examined", "failed", ("`test_ten` fails",), "verdict"), question=ASKS)
    )
    assert task.state.status == "blocked"
    return task


def test_a_person_sends_the_work_back_with_the_example_and_the_same_checks_judge_it_again() -> None:
    task = disagreed()
    checks = task.run.drafts
    task.say(Resolution("ESC-001", "Send it back", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert task.run.stage == "green"
    assert "assert net(200, 10) == 180" in task.run.feedback[0]
    assert standing(task.state, task.run, task.stage) == task.run.feedback, "and no reviewer is named"
    submit(task)
    accept(task)
    assert (task.run.stage, task.run.skipped, task.run.drafts) == ("examine", KNOWN, checks)
    assert standing(task.state, task.run, task.stage) == ()
    accept(task)
    assert task.run.stage == "review"
    (asked,) = task.told(RevisionAsked)
    assert asked.held_out == checks


def test_a_person_calls_the_check_wrong_and_the_gate_judges_again() -> None:
    task = disagreed()
    task.say(Resolution("ESC-001", "the check is wrong", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    before = len(task.told(GateJudged))
    accept(task)
    assert len(task.told(GateJudged)) == before + 2
    assert task.run.stage == "review"
    assert not task.told(RevisionAsked)


def test_after_a_review_that_blocks_nobody_is_asked_for_checks_again() -> None:
    task = reach(begun(HEAVY), "review")
    submit(task)
    task.end("Judge", Judged(VerdictDigest("review", "blocked", ("REV-001: wrong",), "verdict-review")))
    submit(task)
    accept(task)
    assert (task.run.stage, task.run.skipped) == ("examine", KNOWN)
    accept(task)
    assert [event.stage for event in task.told(StageEntered)][-1] == "review"


def test_checks_that_no_longer_run_are_written_anew() -> None:
    task = reach(begun(HEAVY), "review")
    submit(task)
    task.end("Judge", Judged(VerdictDigest("review", "blocked", ("REV-001: wrong",), "verdict-review")))
    submit(task)
    accept(task)
    judge(task, "failed", "it cannot be loaded")
    assert (task.run.stage, task.run.skipped) == ("examine", "")
    assert "it cannot be loaded" in task.run.feedback
