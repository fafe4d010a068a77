"""Stages that nobody works on, edits that are undone, lanes that rise, and tasks that only read."""

from dataclasses import replace

import pytest

from agentforge.core.conditions import held
from agentforge.core.digests import ActionResults, Handover, StageResult
from agentforge.core.events import LaneRaised, Reverted
from agentforge.core.evolve import replay
from agentforge.core.inputs import (
    Abort,
    Acted,
    CheckRan,
    CommitMade,
    DeliveryMade,
    Prepared,
    Resolution,
    Resume,
)
from agentforge.core.values import Budget
from tests.core.panels import (
    READER,
    SECURITY,
    commit,
    entered,
    full_until,
    hand_in,
    pass_stage,
    read_all,
    sitting,
    to_the_panel,
)
from tests.core.scenes import (
    EDIT,
    FAILED,
    FULL,
    PASSED,
    RISING,
    Played,
    accept,
    answered,
    begun,
    handed_in,
    judge,
    reach,
    reply,
    step,
    submit,
)


def _trivial() -> Played:
    """`green` is accepted with a change that counts as trivial."""
    task = full_until("green")
    pass_stage(task, "trivial_change")
    return task


def _kind(task: Played) -> str:
    waiting = task.state.open_escalation
    assert waiting is not None
    return waiting.kind


# ------------------------------------------------------------------ skipped


def test_a_stage_whose_condition_holds_goes_straight_to_its_gates_and_asks_nobody() -> None:
    task = full_until("intake")
    pass_stage(task, "no_ambiguities")
    assert (task.run.stage, task.run.skipped, task.run.point) == ("clarify", "no_ambiguities", "judge")
    assert task.owes() == ["Judge"]
    judge(task)
    commit(task)
    assert (task.state.accepted[-1].skipped, task.run.stage) == ("no_ambiguities", "spec")
    assert task.state.answered("clarify") == 0


def test_a_stage_whose_condition_does_not_hold_is_worked_on() -> None:
    task = full_until("clarify")
    assert (task.run.skipped, task.owes()) == ("", ["Assemble"])


def test_what_a_skipped_stage_rests_on_are_the_facts_that_hold() -> None:
    text = "nothing_worse OR trivial_change OR external_spec_provided"
    assert held(text, ["trivial_change"]) == "trivial_change"
    assert held(text, ["spec_provided", "no_ambiguities", "nothing_worse"]) == "nothing_worse, spec_provided"
    assert held("NOT no_changelog", []) == "NOT no_changelog"


def test_a_skipped_stage_is_judged_with_the_artifacts_that_stand_and_read_by_its_panel() -> None:
    task = _trivial()
    assert (task.run.stage, [ref.contract for ref in task.run.drafts]) == ("refactor", ["implementation"])
    to_the_panel(task)
    assert sitting(task) == [SECURITY, READER]
    read_all(task)
    judge(task)
    commit(task)
    assert (task.run.stage, task.state.accepted[-1].skipped) == ("deliver", "trivial_change")


def test_a_skipped_stage_whose_gate_fails_is_worked_on_after_all() -> None:
    task = _trivial()
    judge(task)
    judge(task, "failed", "the function grew by forty lines")
    assert (task.run.skipped, task.run.attempt, task.owes()) == ("", 1, ["Assemble"])
    assert task.run.feedback == ("Gate quality failed:", "the function grew by forty lines")
    pass_stage(task)
    assert task.state.accepted[-1].skipped == ""


def test_a_skipped_stage_that_its_panel_blocks_is_worked_on_with_the_findings() -> None:
    task = _trivial()
    to_the_panel(task)
    read_all(task)
    judge(task, "blocked", "REV-001: a name is odd")
    assert (task.run.skipped, task.state.revised_times("refactor")) == ("", 1)
    assert task.run.feedback == ("The reviewer blocks:", "REV-001: a name is odd")
    assert [ref.contract for ref in task.run.drafts] == ["implementation"]


def test_a_skipped_stage_goes_on_where_it_stood_when_it_is_taken_up_again() -> None:
    task = _trivial()
    judge(task)
    task.say(Abort("ada", "later"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (task.run.skipped, task.owes()) == ("trivial_change", ["Judge"])


# ------------------------------------------------------------------ undone


def test_an_edit_that_breaks_a_check_is_undone_at_once_and_its_role_is_told() -> None:
    task = full_until("refactor")
    entry = task.state.tree
    step(task, answered(), Acted(ActionResults("ref", "worse", (EDIT,))), FAILED)
    assert task.told(Reverted)[-1].tree == entry == task.state.tree
    assert task.run.feedback[0] == "Your edit made something worse and was undone: 1 of 3 tests fails."
    assert "edit_file a.py: undone, 1 of 3 tests fails" in task.run.tried
    assert (task.owes(), len(task.state.reverts)) == (["Assemble"], 1)


def test_what_was_good_before_stays_when_the_next_edit_is_undone() -> None:
    task = full_until("refactor")
    step(task, answered(), Acted(ActionResults("ref", "better", (EDIT,))), PASSED)
    step(task, answered(), Acted(ActionResults("ref", "worse", (EDIT,))), FAILED)
    assert task.state.tree == "better"


def test_an_undone_edit_that_was_handed_in_is_not_judged() -> None:
    task = full_until("refactor")
    reply(task, answered("success"))
    task.end("Act", handed_in(task.stage, "worse"))
    task.end("Check", CheckRan(FAILED, "ref"))
    assert task.owes() == ["Assemble"]


def test_a_failed_gate_undoes_every_edit_of_the_stage() -> None:
    task = full_until("refactor")
    entry = task.state.tree
    step(task, answered(), Acted(ActionResults("ref", "better", (EDIT,))), PASSED)
    submit(task)
    judge(task)
    judge(task, "failed", "coverage fell")
    assert task.state.tree == entry
    assert task.run.feedback == (
        "Gate quality failed:",
        "coverage fell",
        "All edits of this stage were undone.",
    )
    assert task.owes() == ["Assemble"]


def test_where_no_attempt_helps_the_entry_stands_and_goes_to_its_gates_and_panel() -> None:
    task = full_until("refactor")
    entry = task.state.tree
    for _ in range(2):
        step(task, answered(), Acted(ActionResults("ref", "better", (EDIT,))), PASSED)
        reply(task, answered("failure_retryable", summary="no way"))
        task.end("Act", Acted(ActionResults("ref", "better", ())))
    assert (task.run.skipped, task.state.tree, task.run.point) == (
        "no attempt made it better",
        entry,
        "judge",
    )
    to_the_panel(task)
    assert sitting(task) == [SECURITY, READER]
    read_all(task)
    judge(task)
    commit(task)
    assert (task.run.stage, task.state.accepted[-1].skipped) == ("deliver", "no attempt made it better")


def test_where_no_attempt_helps_and_the_entry_does_not_pass_a_person_is_asked_and_can_grant_one_more() -> (
    None
):
    task = full_until("refactor")
    for _ in range(2):
        reply(task, answered("failure_retryable", summary="no way"))
        task.end("Act", Acted(ActionResults("ref", task.state.tree, ())))
    judge(task, "failed", "a test fails")
    assert (task.state.status, _kind(task)) == ("blocked", "exhausted")
    task.say(Resolution("ESC-001", "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    judge(task, "failed", "a test fails")
    assert (task.run.skipped, task.owes()) == ("", ["Assemble"])
    pass_stage(task)
    assert task.run.stage == "deliver"


def test_elsewhere_an_edit_that_breaks_a_check_stays_to_be_mended() -> None:
    task = full_until("green")
    step(task, answered(), Acted(ActionResults("ref", "half", (EDIT,))), FAILED)
    assert (task.state.tree, task.told(Reverted)) == ("half", [])


# ------------------------------------------------------------------ rising


def _judged(stage: str) -> Played:
    """A small task whose `stage` waits for its commit."""
    task = reach(begun(RISING), stage)
    submit(task)
    while task.run.point == "judge":
        judge(task)
    return task


@pytest.mark.parametrize(
    ("files", "lines", "why"), [(4, 10, "spreads over 4 files"), (1, 201, "changes 201 lines")]
)
def test_an_edit_that_spreads_goes_on_in_the_higher_lane_with_everything_it_has(
    files: int, lines: int, why: str
) -> None:
    task = _judged("green")
    kept = task.state.accepted
    commit(task, files=files, lines=lines)
    assert (task.told(LaneRaised)[-1].lane, task.state.pipeline) == ("full", FULL)
    assert why in task.state.risen[0]
    assert task.state.accepted[: len(kept)] == kept
    assert (task.run.stage, task.run.attempt, task.owes()) == ("refactor", 1, ["Assemble"])
    pass_stage(task)
    submit(task)
    accept(task)
    task.end("Deliver", DeliveryMade(Handover("agentforge/task-1", "c", "e")))
    assert task.state.status == "completed"
    assert replay(task.events) == task.state


def test_what_is_just_within_bounds_stays_in_its_lane() -> None:
    task = _judged("green")
    commit(task, files=3, lines=200)
    assert (task.state.risen, task.run.stage, task.state.pipeline.lane) == ((), "review", "small")


def test_a_lane_that_rises_may_skip_what_the_higher_one_may() -> None:
    task = _judged("green")
    task.end("Commit", CommitMade(StageResult(task.state.tree, "c", ("trivial_change",)), files=4, lines=10))
    assert (task.run.stage, task.run.skipped) == ("refactor", "trivial_change")


def test_so_many_blocks_raise_the_lane_and_the_change_is_worked_on_there() -> None:
    task = reach(begun(RISING), "review")
    submit(task)
    judge(task, "blocked", "REV-001: one")
    assert (task.state.risen, task.run.stage) == ((), "green")
    submit(task)
    accept(task)
    submit(task)
    judge(task, "blocked", "REV-002: two")
    assert task.state.risen == ("a review blocked 2 times",)
    assert (task.run.stage, task.state.pipeline.lane) == ("green", "full")
    assert "REV-002: two" in task.run.feedback
    assert [ref.contract for ref in task.run.drafts] == ["implementation"]
    pass_stage(task)
    assert task.run.stage == "refactor"


def test_a_task_rises_once() -> None:
    task = _judged("green")
    commit(task, files=9, lines=900)
    hand_in(task)
    read_all(task)
    judge(task)
    commit(task, files=19, lines=1900)
    assert len(task.state.risen) == 1


# ------------------------------------------------------------------ reading only


def test_a_task_that_only_reads_halts_when_its_tree_changes() -> None:
    task = begun(replace(FULL, writes=False), Budget())
    reply(task, answered("success"))
    task.end("Act", handed_in(task.stage, "changed"))
    assert (task.state.status, _kind(task), task.state.tree) == ("blocked", "confused", "t0")
    task.say(Resolution("ESC-001", "retry", "ada"))
    task.end("Prepare", Prepared("t0"))
    assert task.owes() == ["Assemble"]


def test_a_stage_is_entered_with_its_attempt_once_for_every_time_it_is_worked_on() -> None:
    task = _trivial()
    judge(task, "failed", "a test fails")
    pass_stage(task)
    refactored = [(event.attempt, event.skipped) for event in entered(task) if event.stage == "refactor"]
    assert refactored == [(1, "trivial_change"), (1, "")]
