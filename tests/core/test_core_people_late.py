"""Questions that nobody answers in time, and a task that limps."""

from dataclasses import replace

import pytest

from agentforge.core.decisions import Decisions as Deciding
from agentforge.core.decisions import escalate
from agentforge.core.effects import Await
from agentforge.core.errors import StateInvalid
from agentforge.core.events import Resolved
from agentforge.core.inputs import Expired, Prepared, Resolution
from agentforge.core.people import TIMEOUT
from agentforge.core.values import DegradedRule, EscalationKind, Question, QuestionRule, Then, WantedCall
from tests.core.scenes import Played, begun, judge, submit
from tests.rows import every

CHOICE = Question("Which one?", ("this", "that"), "this")


def asked(question: Question, kind: EscalationKind = "question", then: Then = "recommended") -> Played:
    task = begun()
    task.state = replace(task.state, questions=QuestionRule(3600, then))
    deciding = Deciding(task.state)
    escalate(deciding, kind, question)
    task.state = deciding.state
    return task


def test_a_late_question_is_answered_as_recommended_on_record_and_the_task_goes_on() -> None:
    task = asked(CHOICE)
    awaited = task.owed("Await")
    assert isinstance(awaited, Await)
    assert awaited.seconds == 3600
    task.say(Expired("ESC-001"), "expired/ESC-001")
    assert task.told(Resolved) == [Resolved("ESC-001", "this", TIMEOUT)]
    assert task.state.status == "scheduled"
    with pytest.raises(StateInvalid, match="already answered by the timeout"):
        task.say(Resolution("ESC-001", "that", "ada"), "inbox/ESC-001")


def test_whoever_answered_first_wins_over_the_timeout() -> None:
    task = asked(CHOICE)
    task.say(Resolution("ESC-001", "that", "ada"), "inbox/ESC-001")
    with pytest.raises(StateInvalid, match="already answered by ada"):
        task.say(Expired("ESC-001"), "expired/ESC-001")


def test_a_late_question_ends_the_task_where_the_person_said_so() -> None:
    for kind in ("question", "permission", "budget"):
        task = asked(replace(CHOICE, recommendation=""), kind, "abort")
        task.say(Expired("ESC-001"), "expired/ESC-001")
        assert task.state.status == "cancelled"


@every(
    ("kind", "question"),
    [
        ("budget", Question("Raise it?", ("double", "abort"), "double")),
        (
            "permission",
            Question("May it?", ("allow", "deny"), "deny", WantedCall("run_command", "digest", "low")),
        ),
        ("model", Question("Use the project's model?", ("allow", "abort"), "allow")),
        ("model", Question("No key.", ("retry", "abort"), "renew the key, then retry")),
        ("question", Question("Which one?")),
    ],
)
def test_what_would_cost_or_allow_more_or_has_no_answer_waits_for_ever(
    kind: EscalationKind, question: Question
) -> None:
    task = asked(question, kind)
    awaited = task.owed("Await")
    assert isinstance(awaited, Await)
    assert awaited.seconds == 0
    with pytest.raises(StateInvalid):
        task.say(Expired("ESC-001"), "expired/ESC-001")


def limping(window: int, failures: int) -> Played:
    task = begun()
    task.state = replace(task.state, degraded=DegradedRule(window, failures))
    return task


def spoil(task: Played) -> None:
    submit(task)
    judge(task, "failed", "It is not so.")


def test_rising_failures_pause_the_task_and_a_person_may_let_it_go_on() -> None:
    task = limping(4, 2)
    spoil(task)
    assert task.state.status == "running"
    spoil(task)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.kind, waiting.question.options) == ("degraded", ("go on", "abort"))
    assert "2 of the last 2 steps came to nothing" in waiting.question.text
    task.say(Resolution(waiting.id, "go on", "ada"), "inbox/ESC-001")
    task.end("Prepare", Prepared(task.state.tree))
    assert task.owes() == ["Assemble"]
    spoil(task)  # counted anew since the person came by
    assert task.state.status == "running"


def test_failures_that_become_fewer_and_tasks_without_the_rule_go_on() -> None:
    task = limping(6, 3)
    task.state = replace(task.state, closings=tuple(enumerate((True, True, True, False, False))))
    submit(task)
    judge(task)
    assert task.state.status == "running"
    plain = limping(0, 0)
    spoil(plain)
    spoil(plain)
    assert plain.state.closings == ()
