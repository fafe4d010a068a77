"""People and reviewers: questions, answers, bounces, and edits by hand."""

import pytest

from agentforge.core.digests import ActionResults, Handover, StageResult
from agentforge.core.errors import StateInvalid
from agentforge.core.events import Resolved, RevisionAsked
from agentforge.core.inputs import (
    Abort,
    Acted,
    CommitMade,
    DeliveryMade,
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.pipeline import Pipeline
from agentforge.core.values import ActionDigest, Question
from tests.core.scenes import (
    HOTFIX,
    SMALL,
    Played,
    accept,
    answered,
    begun,
    judge,
    reach,
    reply,
    step,
    submit,
)

READ = ActionDigest("read_file", ok=True, target="a.py")


def _asked(text: str = "Which flag?") -> Played:
    task = begun()
    step(
        task,
        answered(),
        Acted(ActionResults("ref", "t0", (READ,)), question=Question(text, ("--a", "--b"), "--a")),
    )
    return task


def _bounce(task: Played) -> None:
    """The reviewer hands in a review that blocks."""
    submit(task)
    judge(task, "blocked", "REV-001: a flag is missing")


def test_a_question_blocks_the_task_and_the_answer_is_in_the_next_step() -> None:
    task = _asked()
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, task.owed("Await").key) == ("blocked", "await/ESC-001")
    assert (waiting.kind, waiting.question) == ("question", Question("Which flag?", ("--a", "--b"), "--a"))
    task.say(Resolution("ESC-001", "--b, please", "ada"))
    assert Resolved("ESC-001", "--b, please", "ada") in task.last
    task.end("Prepare", Prepared("t0"))
    assert task.run.feedback[0] == "A person answered: --b, please"
    assert task.owed("Assemble").key == "frame/1/2/assemble"
    assert (task.state.escalations[0].answer, task.state.escalations[0].by) == ("--b, please", "ada")


def test_a_question_waits_for_an_answer_and_resume_says_how_to_give_it() -> None:
    with pytest.raises(StateInvalid) as refused:
        _asked().say(Resume("ada"))
    assert "ESC-001" in refused.value.sentence
    assert "agentforge resolve ESC-001" in refused.value.next_step


def test_an_answer_to_an_unknown_question_names_the_known_ones() -> None:
    with pytest.raises(StateInvalid, match=r"ESC-9 is not an escalation of task-1; it has ESC-001\."):
        _asked().say(Resolution("ESC-9", "yes", "ada"))


def test_a_question_is_answered_once() -> None:
    task = _asked()
    task.say(Resolution("ESC-001", "--b", "ada"))
    with pytest.raises(StateInvalid, match="already answered by ada"):
        task.say(Resolution("ESC-001", "--a", "bob"))


def test_the_answer_abort_ends_the_task_and_resume_can_still_go_on() -> None:
    task = _asked()
    task.say(Resolution("ESC-001", " Abort ", "ada"))
    assert (task.state.status, task.owes()) == ("cancelled", [])
    task.say(Resume("ada"))
    task.end("Prepare", Prepared("t0"))
    assert task.owed("Assemble").key == "frame/1/2/assemble"


def test_an_answer_survives_the_edits_of_the_person_who_gave_it() -> None:
    task = _asked()
    task.say(Resolution("ESC-001", "--b", "ada"))
    task.end("Prepare", Prepared("t1", (), "feedfacefeedface"))
    assert "A person answered: --b" in task.run.feedback
    assert any("feedfacefeed" in line for line in task.run.feedback)
    assert (task.state.tree, task.run.entry_tree, task.run.attempt) == ("t1", "t1", 1)


def test_something_unforeseen_halts_the_task_and_names_it() -> None:
    task = begun()
    reply(task, answered())
    task.end("Act", Unclassified("KeyError: 'x'"))
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind) == ("blocked", "confused")
    assert "KeyError: 'x'" in waiting.question.text


@pytest.mark.parametrize(("lane", "target"), [(SMALL, "green"), (HOTFIX, "patch")])
def test_a_block_sends_the_work_back_with_the_findings(lane: Pipeline, target: str) -> None:
    task = reach(begun(lane), "review")
    built = task.state.tree
    _bounce(task)
    assert RevisionAsked(target, 1, ("REV-001: a flag is missing",)) in task.last
    assert (task.run.stage, task.state.status, task.run.entry_tree) == (target, "running", built)
    assert task.run.feedback == ("The reviewer blocks:", "REV-001: a flag is missing")
    submit(task)
    accept(task)
    assert (task.run.stage, task.state.status) == ("review", "verifying")


def test_three_revisions_and_then_a_person_is_asked() -> None:
    task = reach(begun(HOTFIX), "review")
    for revision in range(1, 4):
        _bounce(task)
        assert (task.state.revisions, task.run.stage) == (revision, "patch")
        reach(task, "review")
    _bounce(task)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind, task.state.revisions) == ("blocked", "review", 3)
    assert "REV-001" in waiting.question.text
    task.say(Resolution(waiting.id, "It is in b.py.", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (task.run.stage, task.state.revisions) == ("patch", 4)
    assert task.run.feedback == (
        "A person answered: It is in b.py.",
        "The reviewer blocks:",
        "REV-001: a flag is missing",
    )
    reach(task, "review")
    _bounce(task)
    assert task.state.status == "blocked"


def test_an_old_review_escalation_does_not_send_later_work_back() -> None:
    task = reach(begun(HOTFIX), "review")
    for _ in range(3):
        _bounce(task)
        reach(task, "review")
    _bounce(task)
    task.say(Resolution("ESC-001", "go on", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    reach(task, "review")
    task.say(Abort("ada"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (task.run.stage, task.state.revisions) == ("review", 4)


def test_a_hitch_in_delivery_is_retried_where_it_stood_under_new_keys() -> None:
    task = reach(begun(HOTFIX), "deliver")
    judge(task)
    first = task.owed("Judge").key
    task.end("Judge", Unclassified("the disk"))
    task.say(Resolution("ESC-001", "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert task.owed("Judge").key != first
    judge(task)
    task.end("Commit", Unclassified("git"))
    task.say(Resolution("ESC-002", "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    task.end("Commit", CommitMade(StageResult(task.state.tree, "commit")))
    task.end("Deliver", Unclassified("git"))
    task.say(Resolution("ESC-003", "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert task.owes() == ["Deliver"]
    task.end("Deliver", DeliveryMade(Handover("branch", "commit", "evidence")))
    assert task.state.status == "completed"
