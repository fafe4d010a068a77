"""The protocol of the ten phases: what is written, what blocks, and that the files alone decide."""

import itertools
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest

from agentforge.catalog.phases import PHASES, workflow
from agentforge.core.errors import StateInvalid, UsageError
from agentforge.documents import front_matter
from agentforge.documents.outline import named, outline, with_body
from agentforge.documents.tables import tables
from agentforge.phases import advance, snapshots
from agentforge.phases.build_log import note_evidence
from agentforge.phases.exiting import extract
from agentforge.phases.knowledge import read_decisions
from agentforge.phases.rules import plan_items
from agentforge.phases.state import read_state, write_state
from agentforge.phases.tree import (
    CONFIG,
    STATE,
    BrokenState,
    MissingFile,
    WorkflowTree,
    working_document,
)
from tests.documents.seed_examples import ACTIVE_WORKFLOW, HANDOFF
from tests.phases.desk import Desk, argue, fill
from tests.rows import every

OBJECTIVE = "Let users log in"


def _begun(*phases: str) -> Desk:
    """A workflow whose first phases are over, and the last one named has begun."""
    files, now = _moment(phases)
    return Desk(dict(files), now)


@cache
def _moment(phases: tuple[str, ...]) -> tuple[dict[str, str], datetime]:
    if not phases:
        desk = Desk()
        desk.do(lambda tree: advance.start(tree, OBJECTIVE))
        return desk.files, desk.now
    desk = _begun(*phases[:-1])
    if phases[:-1]:
        _finish(desk, phases[-2])
    desk.do(advance.resume)
    return desk.files, desk.now


def _finish(desk: Desk, phase: str) -> None:
    fill(desk.files, phase)
    done = desk.do(advance.resume)
    if done.action == "planned_debate":
        argue(desk.files, done.state.debate_id)
        done = desk.do(advance.resume)
    assert done.action == "completed", done.waiting


def test_ten_phases_with_a_debate_leave_every_file_that_was_promised() -> None:
    desk = _begun(*PHASES[1:])
    _finish(desk, "learn")
    state = read_state(desk.state_text)
    assert state.is_complete
    assert state.completed_phases == PHASES
    for before, after in itertools.pairwise(PHASES):
        assert f"docs/forge/handoffs/{before}-to-{after}.md" in desk.files
    for phase in workflow().phases.values():
        assert not phase.artifact or f"docs/forge/{phase.artifact}" in desk.files, phase.id
    assert f".claude/forge/archive/workflow-{state.workflow_id}.md" in desk.files
    assert len([path for path in desk.files if path.startswith(".claude/forge/snapshots/")]) >= 19
    debate = next(path for path in desk.files if path.endswith("debate-plan.md"))
    assert front_matter.read(desk.files[debate], "plan")["status"] == "complete"


def test_every_field_heading_and_table_of_the_seeds_examples_is_written() -> None:
    desk = _begun("brainstorm", "research")
    written = front_matter.read(desk.state_text, "state")
    example = front_matter.read(ACTIVE_WORKFLOW, "seed")
    assert example.keys() <= written.keys()
    for key in ("context", "metadata"):
        wanted, found = example[key], written[key]
        assert isinstance(wanted, dict)
        assert isinstance(found, dict)
        assert wanted.keys() <= found.keys()
    titles = [each.title.partition(" (")[0] for each in outline(ACTIVE_WORKFLOW)]
    assert titles == [each.title for each in outline(desk.state_text)]
    handoff = desk.files["docs/forge/handoffs/brainstorm-to-research.md"]
    assert front_matter.read(HANDOFF, "x").keys() == front_matter.read(handoff, "y").keys()
    assert [each.title for each in outline(HANDOFF)] == [each.title for each in outline(handoff)]
    assert [each.columns for each in tables(HANDOFF)] == [each.columns for each in tables(handoff)]


def test_the_seeds_state_is_read_and_written_back_as_it_was() -> None:
    assert write_state(ACTIVE_WORKFLOW, read_state(ACTIVE_WORKFLOW)) == ACTIVE_WORKFLOW
    changed = write_state(ACTIVE_WORKFLOW, replace(read_state(ACTIVE_WORKFLOW), phase_status="blocked"))
    assert "# pending | in_progress | blocked | completed" in changed
    assert "1. Monitor debate directory for synthesis.md" in changed


@every(
    ("text", "phase", "status", "debate"),
    [
        (
            "phase: brainstorm\nphase_status: in_progress\ndebate_id: b-1\n",
            "brainstorm",
            "in_progress",
            "b-1",
        ),
        (
            "workflow: forge\nversion: '2.0.0'\nobjective: x\nphase: init\nphase_status: pending\n",
            "init",
            "pending",
            "",
        ),
        (
            "current_phase: research\nstatus: active\nactive_debate_id: r-2\n",
            "research",
            "in_progress",
            "r-2",
        ),
        (
            "version: '0.4.0'\nphase: initialize\nstatus: complete\ncompleted_phases: [init]\n",
            "init",
            "completed",
            "",
        ),
    ],
)
def test_four_dialects_are_read_and_one_is_written(text: str, phase: str, status: str, debate: str) -> None:
    document = f"---\n# mine\n{text}---\n\nmy notes\n"
    state = read_state(document)
    assert (state.phase, state.phase_status, state.debate_id) == (phase, status, debate)
    written = write_state(document, replace(state, last_updated="2030-01-31T10:00:00Z"))
    fields = front_matter.read(written, "x")
    assert {"phase", "phase_status", "debate_id", "workflow_id", "context", "metadata"} <= fields.keys()
    assert not {"current_phase", "active_debate_id", "status"} & fields.keys()
    assert "# mine" in written
    assert written.endswith("\n\nmy notes\n")
    assert read_state(written).phase == phase


def test_names_in_the_state_that_lead_elsewhere_are_none() -> None:
    for name in ("../../x", "/etc/passwd", "a/b", ".", "-x", "x" * 5000):
        state = read_state(
            f"---\nphase: init\nstarted_at: 2030-01-31\nworkflow_id: {name}\ndebate_id: {name}\n---\n"
        )
        assert (state.workflow_id, state.debate_id) == ("forge-20300131-000000", "")


def test_a_phase_without_its_documents_cannot_complete_and_says_what_is_missing() -> None:
    for phase in PHASES[1:]:
        desk = _begun(*PHASES[1 : PHASES.index(phase) + 1])
        done = desk.do(advance.resume)
        assert done.action == "waits_for_work", phase
        assert done.waiting
        assert done.state.phase == phase


@every(
    ("phase", "break_it", "reason"),
    [
        ("research", ("Assumption Results", "nothing"), "the assumption A1 is open"),
        ("design", ("System Design", "<!-- later -->"), "`System Design`"),
        ("plan", ("Plan Items", "soon"), "has no item"),
        ("test", ("Test Cases", "| ID | Plan Item |\n|---|---|\n| T1 | P1 |"), "for P2"),
        (
            "build",
            ("Build Log", "| Item | Status | Evidence |\n|-|-|-|\n| P1 | done | |"),
            "P1 has no evidence",
        ),
        (
            "validate",
            ("Evidence", "| Requirement | Evidence | Status |\n|-|-|-|\n| a | | passed |"),
            "needs its evidence",
        ),
        ("review", ("Review Checklist", "- [ ] Security was looked at"), "not ticked"),
    ],
)
def test_each_exit_criterion_names_itself(phase: str, break_it: tuple[str, str], reason: str) -> None:
    desk = _begun(*PHASES[1 : PHASES.index(phase) + 1])
    fill(desk.files, phase)
    path = f"docs/forge/phases/{phase}.md"
    section = named(desk.files[path], break_it[0])
    assert section is not None
    desk.files[path] = with_body(desk.files[path], section, break_it[1])
    done = desk.do(advance.resume)
    assert done.action == "waits_for_work"
    assert any(reason in each for each in done.waiting), done.waiting


def test_ui_before_system_is_refused() -> None:
    desk = _begun("brainstorm", "research", "design")
    fill(desk.files, "design")
    text = desk.files["docs/forge/phases/design.md"]
    desk.files["docs/forge/phases/design.md"] = text.replace("## System Design", "## X").replace(
        "## Components", "## System Design\n\nlate\n\n## Components"
    )
    assert any("comes before" in each for each in desk.do(advance.resume).waiting)


def test_a_debate_blocks_until_its_last_file_is_whole_and_then_its_decision_is_locked() -> None:
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    planned = desk.do(advance.resume)
    assert planned.action == "planned_debate"
    debate = planned.state.debate_id
    assert debate == "brainstorm-20300131-102000"
    assert read_state(desk.state_text).phase_status == "blocked"
    again = desk.do(advance.resume)
    assert again.waiting[0] == "missing: advocate.md"
    argue(desk.files, debate)
    synthesis = f"docs/forge/debate/{debate}/synthesis.md"
    whole = desk.files[synthesis]
    desk.files[synthesis] = whole.replace("## Fallback Plan", "## Plan B")
    half = desk.do(advance.resume)
    assert half.waiting == ("incomplete_section: Fallback Plan",)
    assert half.state.debate_status == "pending"
    desk.files[synthesis] = whole
    assert desk.do(advance.resume).action == "completed"
    state = read_state(desk.state_text)
    assert state.debate_gate_passed
    assert state.decisions == ("D1: JWT with refresh tokens",)
    constraints = desk.files["docs/forge/knowledge/constraints.md"]
    assert f"| DC1 | D1 | JWT with refresh tokens | brainstorm (locked by debate {debate}) |" in constraints
    assert (
        "| R1 | A stolen token stays valid | Medium | High | 6 | Ada |"
        in desk.files["docs/forge/knowledge/risks.md"]
    )


def test_a_skipped_debate_is_on_record_and_a_forced_one_beats_the_skip() -> None:
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    done = desk.do(lambda tree: advance.resume(tree, frozenset({"no_debate"})))
    assert done.action == "completed"
    (override,) = done.state.overrides
    assert override.startswith("brainstorm: --no-debate, though this phase always has one")
    assert override in desk.files["docs/forge/handoffs/brainstorm-to-research.md"]
    desk.do(advance.resume)
    fill(desk.files, "research")
    forced = desk.do(lambda tree: advance.resume(tree, frozenset({"debate", "no_debate"})))
    assert forced.action == "waits_for_work"
    assert "three options" in forced.waiting[0].replace("3", "three")


def test_a_debate_that_is_given_up_is_an_override_too() -> None:
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    debate = desk.do(advance.resume).state.debate_id
    done = desk.do(lambda tree: advance.resume(tree, frozenset({"no_debate"})))
    assert done.action == "completed"
    assert any(f"the debate {debate} was given up" in each for each in done.state.overrides)


def test_thresholds_come_from_the_projects_own_file_and_nonsense_there_is_refused() -> None:
    def risky() -> Desk:
        desk = _begun("brainstorm", "research")
        fill(desk.files, "research")
        path = "docs/forge/phases/research.md"
        section = named(desk.files[path], "Risks")
        assert section is not None
        table = "| Risk | Probability | Impact |\n|---|---|---|\n| A leak | High | Medium |"
        desk.files[path] = with_body(desk.files[path], section, table)
        return desk

    desk = risky()
    own = desk.files["workflows/forge-workflow.json"]
    desk.files["workflows/forge-workflow.json"] = own.replace('"risk_threshold": 6', '"risk_threshold": 7')
    assert desk.do(advance.resume).action == "completed"
    assert "| R3 | A leak | High | Medium | 6 | unassigned |" in desk.files["docs/forge/knowledge/risks.md"]
    desk = risky()
    assert "options" in desk.do(advance.resume).waiting[0]  # a risk scores 6: a debate is due
    desk.files["workflows/forge-workflow.json"] = own.replace('"risk_threshold": 6', '"risk_threshold": "x"')
    with pytest.raises(UsageError, match="threshold"):
        desk.do(advance.resume)


def test_a_challenged_decision_reopens_its_debate_and_the_new_one_supersedes_it() -> None:
    desk = _begun("brainstorm", "research", "design")
    fill(desk.files, "design")
    path = "docs/forge/phases/design.md"
    section = named(desk.files[path], "Challenged Decisions")
    assert section is not None
    desk.files[path] = with_body(desk.files[path], section, "- D1: the provider drops JWT")
    planned = desk.do(advance.resume)
    assert planned.action == "planned_debate"
    plan = desk.files[f"docs/forge/debate/{planned.state.debate_id}/debate-plan.md"]
    fields = front_matter.read(plan, "plan")
    assert fields["challenges"] == ["D1"]
    assert str(fields["reopens"]).startswith("brainstorm-")
    argue(desk.files, planned.state.debate_id)
    synthesis = f"docs/forge/debate/{planned.state.debate_id}/synthesis.md"
    desk.files[synthesis] = desk.files[synthesis].replace(
        "JWT with refresh tokens. It", "Replace D1 by sessions. It"
    )
    assert desk.do(advance.resume).action == "completed"
    decisions = read_decisions(desk.files["docs/forge/knowledge/decisions.md"])
    assert [each.id for each in decisions if each.is_in_force] == ["D2", "D3"]
    assert decisions[0].status == "superseded by D2"


def test_a_ticked_escalation_condition_asks_for_a_debate() -> None:
    desk = _begun("brainstorm", "research", "design", "plan")
    fill(desk.files, "plan")
    path = "docs/forge/handoffs/design-to-plan.md"
    desk.files[path] = desk.files[path].replace("- [ ] A locked", "- [x] A locked")
    assert "options" in desk.do(advance.resume).waiting[0]


def test_what_is_taken_over_twice_is_there_once_and_edits_by_hand_survive() -> None:
    desk = _begun("brainstorm", "research")
    before = dict(desk.files)
    path = "docs/forge/knowledge/decisions.md"
    desk.files[path] = (
        before[path].replace("### D1: JWT with refresh tokens", "### D1: JWT, as Ada said") + "\nmine\n"
    )
    tree = WorkflowTree(dict(desk.files), desk.now)
    state = replace(read_state(desk.state_text), phase="brainstorm")
    extract(tree, state)
    assert tree.written == {}
    assert desk.files[path].endswith("\nmine\n")


def test_registries_without_tables_get_them_and_keep_their_words() -> None:
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    for name in ("risks", "constraints", "assumptions", "decisions"):
        desk.files[f"docs/forge/knowledge/{name}.md"] = f"# {name}\n\nwritten by hand, no table"
    _finish(desk, "brainstorm")
    for name in ("risks", "constraints", "assumptions", "decisions"):
        text = desk.files[f"docs/forge/knowledge/{name}.md"]
        assert text.startswith(f"# {name}\n\nwritten by hand, no table\n\n## "), text
    assert read_decisions(desk.files["docs/forge/knowledge/decisions.md"])[0].id == "D1"


def test_ids_go_on_above_those_that_people_gave() -> None:
    desk = _begun("brainstorm")
    path = "docs/forge/knowledge/decisions.md"
    desk.files[path] = desk.files[path].replace(
        "## Superseded Decisions", "### D007: Ours already\n\nwords\n\n## Superseded Decisions"
    )
    _finish(desk, "brainstorm")
    assert [each.id for each in read_decisions(desk.files[path])] == ["D7", "D8"]


@every(
    ("gone", "named_path"),
    [
        ("docs/forge/handoffs/brainstorm-to-research.md", "docs/forge/handoffs/brainstorm-to-research.md"),
        ("docs/forge/phases/research.md", "docs/forge/phases/research.md"),
        (STATE, STATE),
    ],
)
def test_a_missing_file_is_named_with_its_path(gone: str, named_path: str) -> None:
    desk = _begun("brainstorm", "research")
    del desk.files[gone]
    with pytest.raises(MissingFile, match=re.escape(named_path)):
        desk.do(advance.resume)


def test_entering_needs_the_handoff_and_the_registries() -> None:
    for gone in ("docs/forge/handoffs/init-to-brainstorm.md", "docs/forge/knowledge/risks.md"):
        desk = _begun()
        del desk.files[gone]
        with pytest.raises(MissingFile, match=re.escape(gone)):
            desk.do(advance.resume)


def test_a_phase_out_of_turn_is_refused_with_the_one_that_is_next() -> None:
    desk = _begun()
    with pytest.raises(StateInvalid, match="enters the next one, brainstorm"):
        desk.do(lambda tree: advance.run_phase(tree, "plan"))
    with pytest.raises(StateInvalid, match="is in brainstorm"):
        _begun("brainstorm").do(lambda tree: advance.start(tree, "another"))


def test_broken_front_matter_is_mended_only_when_asked_and_what_was_there_is_kept() -> None:
    desk = _begun("brainstorm", "research")
    broken = desk.state_text.replace("phase: research", "phase: [research").replace(
        "## Blockers", "## Blockers\n\nmine"
    )
    desk.files[STATE] = broken
    with pytest.raises(BrokenState, match="--repair"):
        desk.do(advance.resume)
    tree = WorkflowTree(dict(desk.files), desk.now)
    mended = snapshots.repair(tree)
    assert mended is not None
    assert mended.phase == "research"
    assert "mine" in tree.written[STATE]
    assert broken in tree.written.values()
    assert any("Fixed" in note for note in tree.notes)
    desk.files |= tree.written
    assert desk.do(advance.resume).action == "waits_for_work"


def test_an_empty_state_is_mended_from_its_copy() -> None:
    desk = _begun("brainstorm")
    desk.files[STATE] = ""
    with pytest.raises(BrokenState, match="--repair"):
        desk.do(advance.resume)
    tree = WorkflowTree(dict(desk.files), desk.now)
    mended = snapshots.repair(tree)
    assert mended is not None
    assert (mended.phase, mended.objective) == ("brainstorm", OBJECTIVE)


@pytest.mark.parametrize("hours", [".inf", ".nan", "9" * 500])
def test_hours_that_are_none_stop_nothing(hours: str) -> None:
    desk = _begun()
    desk.files[STATE] = desk.state_text.replace("actual_hours: 0", f"actual_hours: {hours}")
    assert desk.do(advance.resume).state.phase == "brainstorm"


def test_settings_nested_beyond_measure_are_left_alone_and_a_state_in_one_line_is_read() -> None:
    desk = _begun()
    deep = "[" * 100_000
    desk.files[CONFIG] = deep
    desk.files[STATE] = f"---\n{{phase: init, status: completed, objective: {OBJECTIVE}}}\n---\nMine\n"
    assert desk.do(advance.resume).state.phase == "brainstorm"
    assert desk.files[CONFIG] == deep
    assert read_state(desk.state_text).objective == OBJECTIVE
    assert desk.state_text.endswith("---\nMine\n")


def test_evidence_that_a_person_gave_is_not_taken_away_again() -> None:
    head = "## Evidence\n\n| Requirement | Task | Evidence | Status |\n|---|---|---|---|\n"
    path = working_document("validate")
    tree = WorkflowTree({path: f"{head}| P1: x | t | seen by hand | passed |\n"}, datetime.now(UTC))
    row = {"Requirement": "P1: x", "Plan Item": "P1", "Task": "t", "Evidence": "", "Status": "not proved"}
    note_evidence(tree, [row])
    assert "| P1: x | t | seen by hand | passed |" in (tree.get(path) or "")
    note_evidence(tree, [{**row, "Task": "another"}])
    assert "| P1: x | another |  | not proved |" in (tree.get(path) or "")


def test_no_item_of_a_plan_stands_for_another() -> None:
    plan = "## Plan Items\n\n- first\n- P1: second\n- P1: third\n- P9: fourth\n- fifth\n"
    tree = WorkflowTree({working_document("plan"): plan}, datetime.now(UTC))
    assert [(item.id, item.words) for item in plan_items(tree)] == [
        ("P2", "first"),
        ("P1", "second"),
        ("P3", "third"),
        ("P9", "fourth"),
        ("P5", "fifth"),
    ]


def test_from_any_moment_the_same_files_and_clock_lead_to_the_same_bytes() -> None:
    desk = Desk()
    desk.do(lambda tree: advance.start(tree, OBJECTIVE))
    for phase in PHASES[1:]:
        for _ in range(4):
            copy = Desk(dict(desk.files), desk.now)
            done, again = desk.do(advance.resume), copy.do(advance.resume)
            assert done == again
            assert desk.files == copy.files
            if done.state.phase != phase or done.action == "completed":
                break
            if done.action in ("entered", "waits_for_work"):
                fill(desk.files, phase)
            if done.action == "planned_debate":
                argue(desk.files, done.state.debate_id)
    assert read_state(desk.state_text).is_complete


@pytest.mark.slow
def test_a_command_that_was_killed_between_two_files_is_run_again_to_the_same_end() -> None:
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    for write_only in range(12):
        whole, killed = Desk(dict(desk.files), desk.now), Desk(dict(desk.files), desk.now)
        tree = WorkflowTree(dict(killed.files), killed.now, "main")
        advance.resume(tree)
        paths = sorted(tree.written, key=lambda path: (path == STATE, path))
        for path in paths[:write_only]:
            killed.files[path] = tree.written[path]
        whole.do(advance.resume)
        killed.do(advance.resume)
        assert len([path for path in killed.files if path.endswith("debate-plan.md")]) == 1
        assert read_state(killed.state_text) == read_state(whole.state_text)
        if write_only >= len(paths):
            break
    desk = _begun("brainstorm")
    fill(desk.files, "brainstorm")
    argue(desk.files, desk.do(advance.resume).state.debate_id)
    for write_only in range(12):
        whole, killed = Desk(dict(desk.files), desk.now), Desk(dict(desk.files), desk.now)
        tree = WorkflowTree(dict(killed.files), killed.now, "main")
        advance.resume(tree)
        paths = sorted(tree.written, key=lambda path: (path == STATE, path))
        if write_only >= len(paths):
            break
        for path in paths[:write_only]:
            killed.files[path] = tree.written[path]
        whole.do(advance.resume)
        killed.do(advance.resume)
        assert killed.files == whole.files


def test_nothing_to_do_writes_nothing() -> None:
    desk = _begun("brainstorm")
    before = dict(desk.files)
    desk.do(advance.resume)
    desk.do(advance.resume)
    assert desk.files == before


def test_a_copy_is_due_when_the_last_is_an_hour_old() -> None:
    desk = _begun("brainstorm")
    tree = WorkflowTree(dict(desk.files), desk.now)
    assert not snapshots.save_if_due(tree)
    late = WorkflowTree(dict(desk.files), desk.now.replace(hour=12))
    assert snapshots.save_if_due(late)
    assert list(late.written) == [".claude/forge/snapshots/20300131-122000.md"]


def test_a_second_workflow_sets_the_documents_of_the_first_aside_and_keeps_its_decisions() -> None:
    desk = _begun(*PHASES[1:])
    _finish(desk, "learn")
    first = read_state(desk.state_text).workflow_id
    desk.do(lambda tree: advance.start(tree, "Another thing"))
    entered = desk.do(advance.resume)
    assert "Learned before: Tokens in one module." in entered.shown  # what `learn` is for
    assert desk.do(advance.resume).action == "waits_for_work"
    assert f"docs/forge/archive/{first}/phases/brainstorm.md" in desk.files
    _finish(desk, "brainstorm")
    assert f"docs/forge/archive/{first}/brainstorm.md" in desk.files
    assert [each.id for each in read_decisions(desk.files["docs/forge/knowledge/decisions.md"])] == [
        "D1",
        "D2",
        "D3",
    ]
