"""The ten states: their edges, the road through them, and what a person may ask of each."""

from collections.abc import Callable

import pytest

from agentforge.core.decide import decide
from agentforge.core.digests import ContextDigest, Handover, StageResult
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    Moved,
    Resolved,
    Resumed,
    StageEntered,
    StepOpened,
    TaskAborted,
    TaskCreated,
)
from agentforge.core.evolve import evolve, replay
from agentforge.core.inputs import (
    Abort,
    Answered,
    AskTrouble,
    Assembled,
    BaselineFailed,
    BaselineReady,
    CommitMade,
    DeliveryMade,
    DriverStarted,
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.machine import LEGAL_MOVES
from agentforge.core.pending import pending
from agentforge.core.pipeline import Pipeline
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.values import STATUSES, Amount, ReplyDigest, Status, Usage
from tests.core.scenes import (
    BASELINE,
    FRAME,
    HOTFIX,
    SMALL,
    Played,
    accept,
    begun,
    created,
    judge,
    reach,
    send,
    submit,
)
from tests.rows import every

# Of the seed's diagram, copied by hand on purpose: the table under test must not be its own proof.
EDGES: frozenset[tuple[Status, Status]] = frozenset(
    {
        ("draft", "planned"),
        ("draft", "cancelled"),
        ("planned", "approved"),
        ("planned", "cancelled"),
        ("planned", "blocked"),
        ("approved", "scheduled"),
        ("approved", "cancelled"),
        ("scheduled", "running"),
        ("scheduled", "cancelled"),
        ("scheduled", "blocked"),
        ("running", "verifying"),
        ("running", "failed"),
        ("running", "blocked"),
        ("running", "cancelled"),
        ("verifying", "completed"),
        ("verifying", "failed"),
        ("verifying", "running"),
        ("completed", "draft"),
        ("failed", "draft"),
        ("blocked", "draft"),
        ("blocked", "cancelled"),
        ("cancelled", "draft"),
    }
)


@every("before", STATUSES)
@every("after", STATUSES)
def test_a_move_is_made_exactly_where_the_diagram_has_an_edge(before: Status, after: Status) -> None:
    state = State(status=before, task_id="task-1")
    if (before, after) in EDGES:
        assert evolve(state, Moved(before, after)).status == after
    else:
        with pytest.raises(StateInvalid) as refused:
            evolve(state, Moved(before, after))
        assert refused.value.sentence.startswith("state_invalid")
        assert all(legal in refused.value.sentence for legal in LEGAL_MOVES[before])


def test_a_move_from_a_state_the_task_is_not_in_is_refused() -> None:
    with pytest.raises(StateInvalid, match="the task is running, not draft"):
        evolve(State(status="running"), Moved("draft", "planned"))


def test_a_request_becomes_a_scheduled_task_that_owes_its_worktree() -> None:
    given = created()
    events = decide(State(), given).events
    assert events == (
        TaskCreated(given.spec),
        Moved("draft", "planned"),
        Moved("planned", "approved"),
        Moved("approved", "scheduled"),
    )
    assert [effect.key for effect in pending(replay(events))] == ["prepare/1"]


def test_a_task_is_created_once() -> None:
    task = Played()
    task.say(created())
    with pytest.raises(StateInvalid, match="task-1 exists already"):
        task.say(created())


def test_a_prepared_worktree_starts_the_first_stage_beside_the_baseline() -> None:
    task = Played()
    task.say(created())
    events = task.end("Prepare", Prepared("t0"))
    assert events[1:] == (
        Moved("scheduled", "running"),
        StageEntered(WORKER, "frame", 1, "t0"),
        StepOpened(WORKER, 1),
    )
    assert task.owes() == ["TakeBaseline", "Assemble"]


def test_a_stage_that_needs_the_environment_waits_for_the_baseline() -> None:
    task = Played()
    task.say(created(HOTFIX))
    task.end("Prepare", Prepared("t0"))
    assert task.owes() == ["TakeBaseline"]
    task.end("TakeBaseline", BaselineReady(BASELINE))
    assert task.owes() == ["Assemble"]


def test_a_pipeline_that_runs_nothing_takes_no_baseline() -> None:
    task = Played()
    task.say(created(Pipeline("design", "full", (FRAME,))))
    task.end("Prepare", Prepared("t0"))
    assert task.owes() == ["Assemble"]


@pytest.mark.parametrize("lane", [SMALL, HOTFIX])
def test_a_run_without_a_hitch_ends_completed_with_every_stage_accepted(lane: Pipeline) -> None:
    task = reach(begun(lane), "review")
    assert (task.run.stage, task.state.status) == ("review", "verifying")
    submit(task)
    accept(task)
    assert (task.run.stage, task.owes()) == ("deliver", ["Judge"])
    accept(task)
    task.end("Deliver", DeliveryMade(Handover("agentforge/task-1", "commit-deliver", "evidence")))
    assert task.state.status == "completed"
    assert task.owes() == []
    assert [item.stage for item in task.state.accepted] == [stage.name for stage in lane.stages]
    assert task.state.step == len(lane.stages) - 1
    assert task.state.artifact("implementation") is not None
    assert task.state.artifact("plan") is None
    assert replay(task.events) == task.state


def _scheduled() -> Played:
    task = Played()
    task.say(created())
    return task


def _blocked() -> Played:
    task = begun()
    task.end("Assemble", Unclassified("a riddle"))
    return task


def _verifying() -> Played:
    return reach(begun(HOTFIX), "review")


def _failed() -> Played:
    task = begun()
    send(task)
    task.end(
        "Ask",
        AskTrouble("script", "The script has no reply left for frame.", retryable=False, maybe_billed=False),
    )
    return task


def _completed() -> Played:
    task = reach(begun(HOTFIX), "deliver")
    accept(task)
    task.end("Deliver", DeliveryMade(Handover("branch", "commit", "evidence")))
    return task


def _cancelled() -> Played:
    task = begun()
    task.say(Abort("ada"))
    return task


@every("make", [_scheduled, begun, _blocked, _verifying])
def test_a_task_under_way_can_be_aborted(make: Callable[[], Played]) -> None:
    task = make()
    task.say(Abort("ada", "no longer needed"))
    assert (task.state.status, task.owes()) == ("cancelled", [])
    assert TaskAborted("ada", "no longer needed") in task.last
    assert task.state.open_escalation is None


@every("make", [_failed, _completed, _cancelled])
def test_a_task_that_is_over_cannot_be_aborted(make: Callable[[], Played]) -> None:
    task = make()
    with pytest.raises(StateInvalid, match=f"the task is {task.state.status} already; it can become draft"):
        task.say(Abort("ada"))


def test_there_is_nothing_to_abort_or_resume_before_a_task_exists() -> None:
    for message in (Abort("ada"), Resume("ada")):
        with pytest.raises(StateInvalid):
            decide(State(), message)
    assert decide(State(), DriverStarted()).events == ()


@every("make", [_scheduled, begun, _verifying])
def test_a_task_under_way_cannot_be_resumed_and_the_refusal_names_the_legal_moves(
    make: Callable[[], Played],
) -> None:
    task = make()
    with pytest.raises(StateInvalid) as refused:
        task.say(Resume("ada"))
    assert all(legal in refused.value.sentence for legal in LEGAL_MOVES[task.state.status])


def test_a_completed_task_is_not_resumed() -> None:
    with pytest.raises(StateInvalid, match="only with --extend-to or --revise"):
        _completed().say(Resume("ada"))


def test_a_missing_script_reply_fails_the_task_and_resume_opens_a_new_step() -> None:
    task = _failed()
    assert (task.state.status, task.owes()) == ("failed", [])
    assert task.state.failure == "The script has no reply left for frame."
    task.say(Resume("ada"))
    assert (task.state.status, task.state.failure, task.state.segment) == ("scheduled", "", 2)
    assert task.owes() == ["Prepare"]
    task.end("Prepare", Prepared("t0"))
    assert (task.owed("Assemble").key, task.state.status) == ("frame/1/2/assemble", "running")


def test_resume_after_an_abort_keeps_accepted_work_and_starts_where_it_stopped() -> None:
    task = reach(begun(), "green")
    kept = task.state.accepted
    task.say(Abort("ada"))
    moves = [(event.before, event.after) for event in task.say(Resume("ada")) if isinstance(event, Moved)]
    assert moves == [
        ("cancelled", "draft"),
        ("draft", "planned"),
        ("planned", "approved"),
        ("approved", "scheduled"),
    ]
    assert Resumed(2, "ada") in task.last
    assert (task.run.stage, task.state.accepted) == ("green", kept)


def test_resume_in_front_of_a_gate_judges_without_another_call() -> None:
    task = reach(begun(HOTFIX), "review")
    submit(task)
    judge(task)
    task.say(Abort("ada"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (task.owes(), task.state.status) == (["Judge"], "verifying")
    accept(task)
    assert task.run.stage == "deliver"


def test_a_blocked_task_that_was_aborted_can_be_resumed_without_the_answer() -> None:
    task = _blocked()
    task.say(Abort("ada"))
    assert Resolved("ESC-001", "abort", "ada") in task.last
    task.say(Resume("ada"))
    task.end("Prepare", Prepared("t0"))
    assert task.owed("Assemble").key == "frame/1/2/assemble"


def test_only_a_task_that_was_halted_has_a_persons_edits_in_its_worktree() -> None:
    task = _scheduled()
    assert "halted=True" not in str(pending(task.state))
    exhausted = reach(begun(HOTFIX), "deliver")
    for _ in range(2):
        judge(exhausted, "failed", "the suite fails")
    assert exhausted.state.status == "blocked"
    exhausted.say(Resolution("ESC-001", "I repaired it", "ada"))
    assert "halted=True" in str(pending(exhausted.state))
    exhausted.end("Prepare", Prepared("t9", (), "feedfacefeedface"))
    assert exhausted.state.human_commits == ("feedfacefeedface",)
    assert (exhausted.state.tree, exhausted.state.status, exhausted.owes()) == ("t9", "running", ["Judge"])


def test_what_is_no_longer_owed_is_discarded_with_its_cost() -> None:
    task = begun()
    ask = send(task)
    task.say(Abort("ada"))
    task.say(Answered(ReplyDigest("reply", Usage(10, 10), Amount(1, 20, 3), 1)), ask.key)
    assert task.state.status == "cancelled"
    assert task.state.spent == Amount(1, 20, 3)
    assert task.state.flights == ()


def test_a_call_that_is_no_longer_owed_and_may_have_been_billed_stays_on_the_bill() -> None:
    task = begun()
    ask = send(task)
    reserved = task.state.flights[0].reserved
    task.say(Abort("ada"))
    task.say(AskTrouble("timeout", "no answer", retryable=True, maybe_billed=True), ask.key)
    assert (task.state.unaccounted, task.state.flights) == (reserved, ())


@pytest.mark.parametrize(
    "outcome", [CommitMade(StageResult("t", "c")), Assembled(ContextDigest("context", 1))]
)
def test_an_outcome_of_another_kind_halts_the_task_instead_of_being_believed(
    outcome: CommitMade | Assembled,
) -> None:
    task = Played()
    task.say(created())
    task.end("Prepare", outcome)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind) == ("blocked", "confused")
    assert "prepare/1" in waiting.question.text
    task.say(Resolution(waiting.id, "retry", "ada"))
    assert task.owed("Prepare").key == "prepare/2"


def test_nobody_but_a_person_answers_what_a_person_is_asked() -> None:
    task = _blocked()
    task.say(Prepared("t0"), "await/ESC-001")
    assert (task.state.status, task.owes()) == ("blocked", ["Await"])


def test_an_environment_that_cannot_be_built_is_asked_about_and_tried_again() -> None:
    task = Played()
    task.say(created())
    task.end("Prepare", Prepared("t0"))
    task.end("TakeBaseline", BaselineFailed("No way to install it.", "Set `setup:`."))
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.kind, waiting.question.text, waiting.question.recommendation) == (
        "environment",
        "No way to install it.",
        "Set `setup:`.",
    )
    task.say(Resume("ada"))
    task.end("Prepare", Prepared("t0"))
    assert [effect.key for effect in pending(task.state)] == ["baseline/2", "frame/1/1/assemble"]
