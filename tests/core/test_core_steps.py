"""A step and a stage: what a reply leads to, what is fed back, and where patience ends."""

from dataclasses import replace

import pytest

from agentforge.core.audit import step_entry
from agentforge.core.digests import ActionResults, LeavingAction
from agentforge.core.events import (
    ActionLeft,
    AttemptFailed,
    Discarded,
    GateOpened,
    StageEntered,
    StepClosed,
    StepOpened,
)
from agentforge.core.evolve_run import MAX_RECENT, MAX_WORKING
from agentforge.core.inputs import Abort, Acted, ActionLeaving, CheckRan, DriverStarted, Prepared, Resolution
from agentforge.core.pipeline import Pipeline, Stage
from agentforge.core.reply import Signal
from agentforge.core.runs import WORKER
from agentforge.core.values import UNKNOWN, ActionDigest, CheckDigest, EscalationKind, Opened
from tests.core.scenes import (
    EDIT,
    FAILED,
    FRAME,
    GREEN,
    MISS,
    PASSED,
    SMALL,
    Played,
    accept,
    answered,
    begun,
    handed_in,
    judge,
    reach,
    repeat,
    reply,
    step,
    submit,
)
from tests.rows import every

READ = ActionDigest("read_file", ok=True, target="a.py")


def _only(stage: Stage) -> Pipeline:
    return Pipeline("implement", "small", (stage, *SMALL.stages[-2:]))


def _read(task: Played) -> None:
    step(task, answered(), Acted(ActionResults("ref", task.state.tree, (READ,))))


def _miss(task: Played) -> None:
    step(task, answered(), Acted(ActionResults("ref", task.state.tree, (MISS,))))


def test_a_step_is_assemble_ask_act_and_the_next_one_has_new_keys() -> None:
    task = begun()
    assert task.owed("Assemble").key == "frame/1/1/assemble"
    reply(task, answered())
    assert task.owed("Act").key == "frame/1/1/act"
    events = task.end("Act", Acted(ActionResults("ref", "t0", (READ,))))
    assert events[1:] == (StepClosed(WORKER, 1, "continue"), StepOpened(WORKER, 2))
    assert task.owed("Assemble").key == "frame/1/2/assemble"


def test_an_edit_is_checked_on_the_tree_it_left_and_a_look_is_not() -> None:
    task = reach(begun(), "green")
    _read(task)
    reply(task, answered())
    task.end("Act", Acted(ActionResults("ref", "t1", (EDIT,))))
    assert task.owed("Check").key.startswith("green/1/4/check")
    task.end("Check", CheckRan(PASSED, "checks"))
    assert (task.run.check, task.state.tree, task.state.step) == (PASSED, "t1", 5)


def test_everything_handed_in_opens_the_gates_in_order() -> None:
    task = reach(begun(), "red")
    submit(task)
    assert isinstance(task.last[-1], GateOpened)
    assert task.owed("Judge").key.endswith("/red")
    judge(task)
    assert task.owed("Judge").key.endswith("/contracts")
    judge(task)
    assert task.owes() == ["Commit"]
    assert task.run.judged == (("red", "verdict-red"), ("contracts", "verdict-contracts"))


def test_success_without_what_is_owed_is_fed_back_by_name_and_counts_as_a_mistake() -> None:
    task = begun()
    both = handed_in(FRAME, "t0").done
    only_one = Acted(replace(both, artifacts=both.artifacts[:1]))
    step(task, answered("success"), only_one)
    assert task.run.feedback == ("Not handed in yet: specification.",)
    assert (task.run.mistakes, task.owes()) == (1, ["Assemble"])


def test_what_was_handed_in_stays_handed_in_for_the_next_step() -> None:
    task = begun()
    first, second = handed_in(FRAME, "t0").done.artifacts
    step(task, answered(), Acted(ActionResults("ref", "t0", (READ,), (first,))))
    step(task, answered(), Acted(ActionResults("ref", "t0", (READ,), (second,))))
    assert task.owes() == ["Judge"]


def test_work_is_not_judged_while_its_checks_fail() -> None:
    task = reach(begun(), "green")
    step(task, answered("success"), handed_in(GREEN, "t1"), FAILED)
    assert task.owes() == ["Assemble"]
    assert task.run.feedback == (f"{FAILED.summary}, the first: {FAILED.failures[0]}",)
    assert task.told(StepClosed)[-1].outcome == "checks_failing"


def test_checks_that_could_not_run_are_not_passed() -> None:
    task = reach(begun(), "green")
    step(task, answered("success"), handed_in(GREEN, "t1"), CheckDigest("not_run", "no test runner"))
    assert task.owes() == ["Assemble"]


def test_work_handed_in_without_a_check_on_record_is_checked_first() -> None:
    task = reach(begun(), "green")
    reply(task, answered("success"))
    task.end("Act", handed_in(GREEN, task.state.tree))
    assert task.owes() == ["Check"]


@every(
    ("mistake", "results", "expected"),
    [
        ("The reply is not JSON.", (), "The reply is not JSON."),
        ("", (), "The reply held no action. Act, submit what is owed, or escalate."),
        ("", (MISS,), "edit_file a.py: the text does not occur"),
    ],
)
def test_a_mistake_is_fed_back_and_counted(
    mistake: str, results: tuple[ActionDigest, ...], expected: str
) -> None:
    task = begun()
    step(task, answered(mistake=mistake), Acted(ActionResults("ref", "t0", results)))
    assert task.run.feedback == (expected,)
    assert (task.run.mistakes, task.state.status, task.state.step) == (1, "running", 2)


def test_good_work_forgives_earlier_mistakes_but_what_failed_stays_listed() -> None:
    task = begun()
    _miss(task)
    _read(task)
    assert task.run.mistakes == 0
    assert task.run.tried == ("edit_file a.py: the text does not occur",)


def test_consecutive_mistakes_end_the_attempt_and_the_next_starts_from_the_entry_tree() -> None:
    task = reach(begun(), "green")
    entry = task.state.tree
    step(task, answered(), Acted(ActionResults("ref", "spoiled", (EDIT,))), PASSED)
    repeat(GREEN.mistakes, _miss, task)
    assert task.told(AttemptFailed)[-1].report.reason == "6 mistakes in a row"
    assert isinstance(task.last[-2], StageEntered)
    assert (task.last[-2].attempt, task.last[-2].entry_tree, task.state.tree) == (2, entry, entry)
    assert "6 mistakes in a row" in task.run.feedback[0]
    assert task.run.tried != ()
    assert (task.run.mistakes, task.run.steps, task.run.drafts) == (0, 1, ())


def test_steps_are_bounded() -> None:
    task = begun(_only(replace(FRAME, max_steps=3)))
    repeat(3, _read, task)
    assert task.told(AttemptFailed)[-1].report.reason == "the step budget of 3 is used up"


@pytest.mark.parametrize("status", ["failed", "not_run"])
def test_a_gate_that_does_not_pass_is_fed_back_a_bounded_number_of_times(status: str) -> None:
    task = begun(_only(replace(FRAME, feedback_rounds=2)))
    for _ in range(2):
        submit(task)
        judge(task, "failed" if status == "failed" else "not_run", "REQ-001 has no criterion")
        assert task.run.attempt == 1
        assert "REQ-001 has no criterion" in task.run.feedback
        assert ("so it has not passed" in task.run.feedback[0]) == (status == "not_run")
    submit(task)
    judge(task, "failed" if status == "failed" else "not_run", "REQ-001 has no criterion", "nor has REQ-002")
    assert (task.run.attempt, task.run.rounds) == (2, 0)
    reason = task.told(AttemptFailed)[-1].report.reason
    assert reason.endswith(": REQ-001 has no criterion; nor has REQ-002")


def test_after_a_failed_gate_every_gate_judges_again() -> None:
    task = reach(begun(), "red")
    submit(task)
    judge(task)
    judge(task, "failed", "no requirement")
    submit(task)
    assert task.owed("Judge").key.endswith("/red")
    assert task.run.judged == ()


def test_two_attempts_and_then_an_escalation_with_both_reports() -> None:
    task = begun(_only(replace(FRAME, mistakes=1)))
    _miss(task)
    assert task.run.attempt == 2
    _miss(task)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind, waiting.stage) == ("blocked", "exhausted", "frame")
    assert [(report.attempt, report.step) for report in waiting.reports] == [(1, 1), (2, 2)]
    assert all(report.last for report in waiting.reports)


def test_an_answer_after_two_attempts_grants_exactly_one_more() -> None:
    task = begun(_only(replace(FRAME, mistakes=1)))
    repeat(2, _miss, task)
    task.say(Resolution("ESC-001", "Read b.py first.", "ada"))
    task.end("Prepare", Prepared("t0"))
    assert (task.run.attempt, task.run.feedback) == (3, ("A person answered: Read b.py first.",))
    _miss(task)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.id, waiting.kind) == ("ESC-002", "exhausted")
    assert [report.attempt for report in waiting.reports] == [2, 3]


def test_a_computed_stage_that_fails_is_tried_twice_without_a_model() -> None:
    task = reach(begun(), "deliver")
    calls = task.state.spent.calls
    first = task.owed("Judge").key
    judge(task, "failed", "the suite fails")
    assert (task.run.attempt, task.owes()) == (2, ["Judge"])
    assert task.owed("Judge").key != first
    judge(task, "not_run", "no test runner")
    assert (task.state.status, task.state.spent.calls) == ("blocked", calls)


SIGNALLED: list[tuple[Signal, EscalationKind]] = [
    ("failure_terminal", "terminal"),
    ("blocked_on_human", "question"),
    ("new_tasks_discovered", "replan"),
    ("blocked_on_sibling", "replan"),
]


@every(("signal", "kind"), SIGNALLED)
def test_a_signal_that_needs_a_person_blocks_the_task_with_its_reason(
    signal: Signal, kind: EscalationKind
) -> None:
    task = begun()
    step(task, answered(signal, summary="the schema is unknown"), Acted(ActionResults("ref", "t0", (READ,))))
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind) == ("blocked", kind)
    assert "the schema is unknown" in waiting.question.text
    assert task.told(StepClosed)[-1].outcome == signal


def test_failure_retryable_starts_another_attempt() -> None:
    task = begun()
    step(task, answered("failure_retryable", summary="wrong way"), Acted(ActionResults("ref", "t0", (READ,))))
    assert (task.run.attempt, task.run.feedback) == (
        2,
        ("An earlier attempt failed: wrong way. Take another way.",),
    )


def test_success_is_a_claim_and_the_gates_judge() -> None:
    task = begun()
    step(task, answered("success"), handed_in(FRAME, "t0"))
    assert (task.owes(), task.state.accepted) == (["Judge"], ())


def test_context_does_not_grow_with_the_task() -> None:
    task = begun(_only(replace(FRAME, max_steps=200)))
    for number in range(100):
        opened = (Opened(f"f{number}.py", start=1, end=9),)
        step(
            task,
            answered(),
            Acted(ActionResults("ref", "t0", (READ,), opened=opened, notes=f"note {number}")),
        )
    assert (len(task.run.working), len(task.run.recent), task.run.notes) == (
        MAX_WORKING,
        MAX_RECENT,
        "note 99",
    )


def test_a_place_opened_twice_is_in_the_working_set_once() -> None:
    task = begun()
    for line in (1, 5):
        step(
            task,
            answered(),
            Acted(ActionResults("ref", "t0", (READ,), opened=(Opened("a.py", "f", line, line + 3),))),
        )
    assert task.run.working == (Opened("a.py", "f", 5, 8),)


def test_the_line_that_closes_a_step_says_who_did_what() -> None:
    task = begun()
    reply(task, answered(summary="looked around"))
    before = task.state
    events = task.end("Act", Acted(ActionResults("ref", "t0", (READ,))))
    entry = step_entry(before, events)
    assert (entry["step"], entry["phase"]) == (1, "frame")
    assert entry["agent"] == {"role": "software_architect", "version": "1.0", "mode": "work"}
    assert entry["llm_call"] == {
        "model": "scripted",
        "prompt_tokens": 900,
        "completion_tokens": 100,
        "cached_tokens": 0,
    }
    assert entry["verification"] is None


def test_a_line_that_closes_no_step_has_no_step_entry() -> None:
    task = begun()
    assert step_entry(task.state, ()) == {}
    submit(task)
    before = task.state
    judge(task, "failed", "no")
    assert step_entry(before, task.last) == {}
    assert before.run_of(WORKER).stage == "frame"


def test_an_accepted_stage_hands_its_tree_to_the_next() -> None:
    task = reach(begun(), "green")
    submit(task)
    tree = task.state.tree
    accept(task)
    assert (task.run.stage, task.run.entry_tree, task.state.status) == ("review", tree, "verifying")
    assert task.state.accepted[-1].evidence == (
        ("green", "verdict-green"),
        ("contracts", "verdict-contracts"),
    )


def test_an_action_that_leaves_the_sandbox_is_on_record_until_its_outcome_is() -> None:
    task = begun()
    reply(task, answered())
    key = task.owed("Act").key
    task.say(ActionLeaving(LeavingAction(2, "run_command", "make publish")), f"{key}/left/2")
    assert task.last == (ActionLeft(WORKER, key, LeavingAction(2, "run_command", "make publish")),)
    task.say(DriverStarted(), "driver/1")
    assert (task.run.left, task.owed("Act").key) == ((2,), key)
    unknown = ActionDigest("run_command", ok=False, mistake=UNKNOWN, text="nobody knows")
    task.end("Act", Acted(ActionResults("ref", "t0", (unknown,))))
    assert (task.run.left, task.run.mistakes, task.run.feedback) == ((), 0, ("run_command: nobody knows",))


def test_feedback_names_a_failed_action_with_its_target_if_it_has_one_and_keeps_its_text_as_it_is() -> None:
    task = begun()
    reply(task, answered())
    text = "line 2:\n    return 1"
    failed = (
        ActionDigest("lint", ok=False, text=text),
        ActionDigest("edit_file", ok=False, target="a.py", text=text),
    )
    task.end("Act", Acted(ActionResults("ref", "t0", failed)))
    assert task.run.feedback == (f"lint: {text}", f"edit_file a.py: {text}")
    assert task.run.tried == ("lint: line 2:", "edit_file a.py: line 2:")


def test_an_action_of_a_task_that_was_ended_does_not_leave() -> None:
    task = begun()
    reply(task, answered())
    key = task.owed("Act").key
    task.say(Abort("ada"), "abort")
    task.say(ActionLeaving(LeavingAction(1, "run_command", "make publish")), f"{key}/left/1")
    assert [event.key for event in task.told(Discarded)] == [f"{key}/left/1"]


def test_a_role_that_asks_again_and_hears_something_new_does_not_stand_still() -> None:
    task = begun(_only(FRAME))
    for heard in (("busy",), ("nearly",), ("done",)):
        step(task, answered(ref="same"), Acted(ActionResults("ref", task.state.tree, (READ,), came=heard)))
        assert task.state.escalations == (), heard
    step(task, answered(ref="same"), Acted(ActionResults("ref", task.state.tree, (READ,), came=("done",))))
    assert "gave the same reply twice" in task.state.escalations[-1].question.text


def test_the_same_reply_twice_on_the_same_tree_asks_a_person_what_is_missing() -> None:
    task = begun(_only(FRAME))
    for number in (1, 2):
        assert task.state.escalations == (), number
        step(task, answered(ref="same"), Acted(ActionResults("ref", task.state.tree, (READ,))))
    question = task.state.escalations[-1].question
    assert "gave the same reply twice" in question.text
    assert "Not handed in: intake_record, specification." in question.text
    assert "retry" in question.options
    assert "another model" in question.recommendation
