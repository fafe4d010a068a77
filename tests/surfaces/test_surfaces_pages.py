"""The full line in words: panels, skipped stages, undone edits, rising lanes; and the pages about them. Pure,
over events.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.app.record.deliverable import changes_files, read_deliverable
from agentforge.app.record.reports import TaskReport
from agentforge.app.record.steps import collect
from agentforge.catalog.modes import MODE_NAMES
from agentforge.core.digests import Handover, StageResult, VerdictDigest
from agentforge.core.events import GateJudged, LaneRaised, Reverted, StageEntered, TaskDelivered
from agentforge.core.inputs import CommitMade
from agentforge.core.pipeline import LANES, Pipeline
from agentforge.core.state import Accepted, State
from agentforge.core.values import Escalation, Question
from agentforge.store.layout import TaskFiles
from agentforge.store.task.artifacts import write_final
from agentforge.store.task.lines import JournalLine
from agentforge.store.task.times import Times
from agentforge.store.task.views import escalation_view, plan
from agentforge.surfaces.cli import start_flags
from agentforge.surfaces.cli.pages.escalation import escalation_page
from agentforge.surfaces.cli.pages.events import describe, tone
from agentforge.surfaces.cli.pages.now import doing
from agentforge.surfaces.cli.pages.report import as_json, as_text
from agentforge.surfaces.cli.pages.task import page
from tests.core.panels import act_as, assemble, reply_as, sitting
from tests.core.scenes import (
    FAILED,
    FULL,
    REFACTOR,
    RISING,
    SMALL,
    SPEC,
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

TASK_FILES = TaskFiles(Path("/repo/.agentforge/tasks/task-1"))


def watched(task: Played) -> list[str]:
    """What a person who watches saw of the last decision."""
    return [line for event in task.last for line in (describe(event, task.state) or "").splitlines()]


def hand_in(task: Played, name: str) -> None:
    """One reviewer reads and hands in."""
    assemble(task, name)
    reply_as(task, name, answered("success", summary="Read."))
    act_as(task, name)


def at_panel(stage: str) -> Played:
    """The full line, with every stage before `stage` accepted, and its panel seated."""
    task = begun(FULL)
    while task.run.stage != stage:
        submit(task)
        pass_gates(task)
        task.end("Commit", CommitMade(StageResult(task.state.tree, f"commit-{task.run.stage}")))
    submit(task)
    while not task.state.panel:
        judge(task)
    return task


def pass_gates(task: Played) -> None:
    while task.run.point == "judge":
        for name in sitting(task):
            hand_in(task, name)
        judge(task)


def standing(state: State, tip: str | None = None) -> TaskReport:
    return TaskReport(
        state, f"agentforge/{state.task_id}", tip, " a.py | 2 +-\n 1 file changed", {}, changes_nothing=False
    )


# ------------------------------------------------------------------ progress


def test_each_reviewer_is_named_when_they_sit_down_act_and_hand_in() -> None:
    task = at_panel("spec")
    assert "  security_architect reads spec" in watched(task)
    assert "security_architect: assembling the context" in doing(task.state)
    hand_in(task, "security_architect")
    assert watched(task) == [
        "    security_architect: submit_artifact",
        "  security_architect has submitted a review",
    ]
    judge(task)
    assert watched(task)[0] == "  gate review passed: approved by security_architect"


def test_an_answer_of_a_reviewer_tells_its_own_step() -> None:
    task = at_panel("refactor")
    first, second = task.state.panel
    assert first.step != second.step
    hand_in(task, "reviewer")
    told = [text for event in task.events if "Read." in (text := describe(event, task.state) or "")]
    assert told[-1:] == [f"  reviewer: step {second.step}: 900 tokens in, 100 out, $0.00: Read."]


def test_a_block_shows_the_findings_and_which_revision_follows() -> None:
    task = at_panel("spec")
    hand_in(task, "security_architect")
    judge(task, "blocked", "SEC-001 (security_architect): no bound. Remedy: bound it")
    assert watched(task) == [
        "  gate review blocks",
        "    caught, fed back: SEC-001 (security_architect): no bound. Remedy: bound it",
        "the work goes back to stage spec: revision 1 of at most 3",
        "stage spec",
    ]


def test_reviewers_who_disagree_go_to_the_arbiter_and_the_dissent_is_named() -> None:
    task = at_panel("refactor")
    for seat in ("reviewer", "security_architect"):
        hand_in(task, seat)
    judge(task, "split", "SEC-001 (security_architect): no")
    assert watched(task) == [
        "  gate review is split: some approve, some block",
        "    caught, fed back: SEC-001 (security_architect): no",
        "  the reviewers disagree: arbiter (reviewer, tier reasoning) reads refactor and decides",
    ]
    hand_in(task, "arbiter")
    judge(task)
    assert watched(task)[0] == "  gate review passed: the arbiter approves; the dissent is recorded"


def test_a_panel_that_only_advises_says_so() -> None:
    advisory = replace(FULL, stages=tuple(replace(stage, review_mode="advisory") for stage in FULL.stages))
    state = replace(at_panel("spec").state, pipeline=advisory)
    said = describe(GateJudged("worker", VerdictDigest("review", "passed", (), "r")), state)
    assert said == "  gate review passed: the review is advisory; its notes are kept"


def test_a_skipped_stage_says_why_in_words() -> None:
    task = begun(FULL)
    submit(task)
    judge(task)
    task.end("Commit", CommitMade(StageResult(task.state.tree, "c1", ("no_ambiguities",))))
    assert (
        watched(task)[-1] == "stage clarify skipped: the request leaves nothing open; its gates still apply"
    )
    assert describe(StageEntered("worker", "x", 1, "t", skipped="no attempt made it better"), State()) == (
        "stage x skipped: no attempt made it better; its gates still apply"
    )


def test_an_undone_edit_says_why() -> None:
    task = at_panel("refactor")
    for seat in ("reviewer", "security_architect"):
        hand_in(task, seat)
    judge(task, "blocked", "R-1: shorter")
    step(task, answered(), handed_in(replace(REFACTOR, products=()), "worse"), FAILED)
    said = watched(task)
    assert said[1].startswith("  undone, back to tree ")
    assert said[1].endswith("1 of 3 tests fails")
    assert "tests/test_a.py::test_a" in said[2]
    assert tone(Reverted("worker", "t", ())) == "caught"


def test_a_lane_that_rises_says_why_and_that_nothing_is_lost() -> None:
    said = describe(LaneRaised("full", "the edit spreads over 4 files"), State())
    assert said == "the lane rises to full: the edit spreads over 4 files; every accepted artifact is kept"


def test_a_delivery_without_a_branch_is_no_branch_of_an_empty_name() -> None:
    assert (
        describe(TaskDelivered(Handover("", "c", "e")), State(pipeline=replace(FULL, name="design")))
        == "delivered: pipeline design changed no file"
    )


# ------------------------------------------------------------------ the plan


def raised() -> State:
    task = reach(begun(RISING), "green")
    submit(task)
    while task.run.point == "judge":
        judge(task)
    task.end("Commit", CommitMade(StageResult(task.state.tree, "commit-green"), files=4))
    return task.state


def test_the_plan_of_a_risen_task_keeps_what_the_lower_lane_made() -> None:
    state = raised()
    assert [(item.stage, item.progress) for item in plan(state)] == [
        ("frame", "done"),
        ("intake", "covered"),
        ("clarify", "covered"),
        ("spec", "covered"),
        ("red", "done"),
        ("green", "done"),
        ("refactor", "under_way"),
        ("deliver", "left"),
    ]
    said = page(standing(state, "d" * 40), TASK_FILES, Times())
    assert "pipeline  implement, lane full, mode balanced (asked)" in said
    assert "rose      to full: the edit spreads over 4 files" in said
    assert "intake    made by frame: intake_record" in said


def test_a_stage_that_comes_again_is_left_and_not_done() -> None:
    task = reach(begun(SMALL), "review")
    submit(task)
    judge(task, "blocked", "R-1: wrong")
    assert [item.progress for item in plan(task.state)] == ["done", "done", "under_way", "left", "left"]
    assert "green     running: attempt 1, step 1 of 20, revision 1, assembling the context" in page(
        standing(task.state), TASK_FILES, Times()
    )


def test_a_stage_with_a_long_name_stays_apart_from_what_became_of_it() -> None:
    first, *rest = SMALL.stages
    task = begun(replace(SMALL, stages=(replace(first, name="ticket_frame"), *rest)))
    submit(task)
    accept(task)
    rows = page(standing(task.state), TASK_FILES, Times()).splitlines()
    assert any(row.startswith("  ticket_frame  accepted at ") for row in rows)
    assert f"  {rest[-1].name:<14}not yet" in rows


def test_the_page_of_a_task_shows_who_reviews() -> None:
    task = at_panel("refactor")
    hand_in(task, "reviewer")
    rows = page(standing(task.state), TASK_FILES, Times()).splitlines()
    assert "              security_architect: assembling the context, step 1" in rows
    assert "              reviewer: handed in, step 1" in rows


def test_a_skipped_stage_is_marked_on_the_page() -> None:
    task = begun(FULL)
    submit(task)
    judge(task)
    task.end("Commit", CommitMade(StageResult(task.state.tree, "c1", ("no_ambiguities",))))
    assert (
        "clarify   running: skipped (the request leaves nothing open), judging on a pristine checkout"
        in page(standing(task.state), TASK_FILES, Times())
    )
    accept(task)
    assert "clarify   skipped (the request leaves nothing open), accepted at commit-clari" in page(
        standing(task.state), TASK_FILES, Times()
    )


# ------------------------------------------------------------------ questions


def exhausted() -> Played:
    """Green has failed twice, with a report each."""
    task = reach(begun(SMALL), "green")
    for _ in range(2):
        attempt = task.run.attempt
        while task.state.status != "blocked" and task.run.attempt == attempt:
            step(
                task,
                answered("failure_retryable", summary=f"stuck at try {attempt}"),
                handed_in(replace(SPEC, products=()), task.state.tree),
            )
    assert task.state.status == "blocked"
    return task


def test_a_question_is_one_page_with_plan_reports_understanding_and_the_words_to_type() -> None:
    state = exhausted().state
    (escalation,) = state.escalations
    said = escalation_page(
        standing(state, "d" * 40),
        TASK_FILES,
        Times(opened=(("ESC-001", "2030-01-01T00:00:00.000Z"),)),
        escalation,
    )
    for part in (
        "ESC-001 of task-1 needs your answer (exhausted, stage green), asked 2030-01-01T00:00:00.000Z",
        "\nQuestion\n  Stage green failed 2 times",
        "  option        retry",
        (
            "\nPlan so far: implement, lane small, mode balanced\n  frame     accepted at commit-frame: "
            "intake_record, specification"
        ),
        "  green     needs your answer: attempt 2",
        "  deliver   not yet",
        "\nWhat was tried\n  attempt 1 of green, step 3: stuck at try 1\n",
        "  attempt 2 of green, step 4: stuck at try 2",
        "  request       Add a flag",
        "  why this way  asked",
        "  specification none accepted yet",
        "  baseline      5 tests, 5 pass",
        "  budget        4 of 200 calls, 4,000 of 4,000,000 tokens, $0.00",
        "\nBranch so far\n  agentforge/task-1 at dddddddddddd, from c0: 1 file changed",
        "What you can type\n  agentforge continue task-1 --model PROVIDER:NAME\n",
        "  agentforge resolve ESC-001 --task task-1 --answer 'YOUR ANSWER'\n",
        "  agentforge resolve ESC-001 --task task-1 --answer retry\n",
        "  agentforge resolve ESC-001 --task task-1 --abort",
    ):
        assert part in said, f"{part}\n---\n{said}"


def test_an_answered_question_shows_its_answer_and_nothing_to_type() -> None:
    escalation = Escalation(
        "ESC-001", "question", "spec", Question("Which?", ("a", "b"), "a"), answer="b", by="Ada"
    )
    said = escalation_page(
        standing(State(task_id="task-1", escalations=(escalation,))), TASK_FILES, Times(), escalation
    )
    assert "answered" in said
    assert "\nAnswer\n  b (by Ada)" in said
    assert "agentforge resolve" not in said


def test_the_page_names_findings_undone_edits_and_the_reasons_of_a_rise() -> None:
    task = at_panel("refactor")
    for seat in ("reviewer", "security_architect"):
        hand_in(task, seat)
    judge(task, "blocked", "R-1: shorter")
    escalation = Escalation("ESC-001", "question", "refactor", Question("Which?"))
    state = replace(
        task.state,
        escalations=(escalation,),
        reverts=("refactor: 1 fails",),
        risen=("a review blocked 2 times",),
    )
    said = escalation_page(standing(state), TASK_FILES, Times(), escalation)
    for part in (
        "R-1: shorter",
        "undone        refactor: 1 fails",
        "lane rose     a review blocked 2 times",
        "revised       refactor, once",
    ):
        assert part in said, part
    assert "no attempt at this stage has failed" in said


def test_the_specification_of_the_page_comes_from_the_accepted_file(tmp_path: Path) -> None:
    files = TaskFiles(tmp_path / ".agentforge" / "tasks" / "task-1")
    ref = write_final(
        files,
        "specification",
        "spec",
        1,
        {"title": "A flag", "requirements": [{"id": "REQ-001", "description": "is known"}]},
    )
    state = exhausted().state
    state = replace(
        state,
        accepted=tuple(
            replace(item, finals=(ref,)) if item.stage == "frame" else item for item in state.accepted
        ),
    )
    (escalation,) = state.escalations
    assert "  specification A flag\n                REQ-001 is known" in escalation_page(
        standing(state), files, Times(), escalation
    )
    view = escalation_view(files, state, escalation, Times())
    assert isinstance(view, dict)
    understanding = view["understanding"]
    assert isinstance(understanding, dict)
    assert understanding["specification"] == {
        "title": "A flag",
        "requirements": ["REQ-001 is known"],
        "file": "artifacts/phases/spec/specification_final.yaml",
    }


# ------------------------------------------------------------------ steps


def test_steps_of_reviewers_who_work_side_by_side_keep_their_own_events() -> None:
    task = at_panel("refactor")
    for seat in ("reviewer", "security_architect"):
        hand_in(task, seat)
    judge(task, "blocked", "R-1: shorter")
    lines = [
        JournalLine({"seq": at, "timestamp": "now", "key": "k", "why": "w"}, (event,))
        for at, event in enumerate(task.events, 1)
    ]
    read = {found.seat: found for found in collect(lines) if found.stage == "refactor" and found.seat}
    assert {seat: (found.role, found.outcome, found.summary) for seat, found in read.items()} == {
        "security_architect": ("security_architect", "submitted", "Read."),
        "reviewer": ("reviewer", "submitted", "Read."),
    }
    author = next(found for found in collect(lines) if found.stage == "refactor" and not found.seat)
    assert author.gates[-1] == "review blocked"


# ------------------------------------------------------------------ documents


def designed(tmp_path: Path) -> tuple[TaskFiles, State]:
    files = TaskFiles(tmp_path / ".agentforge" / "tasks" / "task-1")
    ref = write_final(
        files,
        "specification",
        "spec",
        1,
        {
            "title": "A flag",
            "requirements": [{"id": f"REQ-{n:03}", "description": "d"} for n in range(1, 15)],
        },
    )
    return files, replace(
        begun(FULL).state,
        pipeline=replace(FULL, name="design", stages=FULL.stages[:3]),
        status="completed",
        runs=(),
        accepted=(Accepted("spec", "t0", "c0", (ref,), ()),),
        delivered=Handover("", "c0", "e"),
    )


def test_a_design_ends_with_its_document_and_no_branch(tmp_path: Path) -> None:
    files, state = designed(tmp_path)
    assert not changes_files(state.pipeline)
    found = TaskReport(
        state,
        "agentforge/task-1",
        None,
        "",
        {},
        changes_nothing=True,
        deliverable=read_deliverable(files, state),
    )
    said = as_text(found)
    place = ".agentforge/tasks/task-1/artifacts/phases/spec/specification_final.yaml"
    for part in (
        "result    specification: A flag",
        "REQ-001 d",
        "and 2 more",
        f"file      {place}",
        "changes no file",
        f"cat {place}",
    ):
        assert part in said, part
    assert "agentforge implement --from-task task-1" in said
    assert "git merge" not in said
    value = as_json(found)
    assert (value["branch"], value["exit_code"]) == (None, 0)
    assert isinstance(value["deliverable"], dict)
    assert value["deliverable"]["file"] == place


@pytest.mark.parametrize(
    ("pipeline", "changes"), [(FULL, True), (SMALL, True), (replace(FULL, writes=False), False)]
)
def test_only_a_pipeline_that_makes_files_ends_in_a_branch(pipeline: Pipeline, changes: bool) -> None:
    assert changes_files(pipeline) is changes


def test_lanes_and_modes_of_the_command_line_are_those_of_the_catalogue() -> None:
    assert start_flags.LANES == LANES
    assert start_flags.MODES == MODE_NAMES
