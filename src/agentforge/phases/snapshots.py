"""Copies of the state, for when it is lost or broken: at every transition, when somebody saves, and when the
last one is an hour old; and the way back from them.
"""

import re
from datetime import timedelta

from agentforge.catalog.phases import PHASES, PhaseId, workflow
from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.outline import body
from agentforge.phases.state import WorkflowState, moved, new_state_text, read_state, write_state
from agentforge.phases.tree import SNAPSHOTS, STATE, BrokenState, WorkflowTree, handoff, working_document

_NAME = re.compile(r"(\d{8})-(\d{6})(?:-\d+)?\.md")


def snapshot(tree: WorkflowTree, text: str) -> str:
    """Keep a copy of the state; where it lies. The same text at the same moment is kept once."""
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        path = f"{SNAPSHOTS}/{tree.compact}{suffix}.md"
        if tree.get(path) in (None, text):
            tree.put(path, text)
            return path
        number += 1


def save(tree: WorkflowTree) -> str:
    """Keep a copy now; where it lies."""
    return snapshot(tree, tree.need(STATE))


def save_if_due(tree: WorkflowTree) -> bool:
    """Keep a copy if there is a state and the last copy is an hour old, or there is none."""
    text = tree.files.get(STATE)
    if text is None or any(path.startswith(f"{SNAPSHOTS}/") for path in tree.written):
        return False
    last = max((found[1] + found[2] for path in tree.files if (found := _match(path))), default="")
    if last > f"{tree.now - timedelta(hours=1):%Y%m%d%H%M%S}":
        return False
    snapshot(tree, text)
    return True


def _match(path: str) -> re.Match[str] | None:
    return _NAME.fullmatch(path.removeprefix(f"{SNAPSHOTS}/")) if path.startswith(f"{SNAPSHOTS}/") else None


def repair(tree: WorkflowTree) -> WorkflowState | None:
    """Mend a state that cannot be read: the phase is that of the newest phase document, the rest comes from
    the newest snapshot that can be read. What was there is kept beside it. None if nothing is broken.
    """
    broken = tree.get(STATE)
    if broken is None:
        broken = tree.need(STATE)
    try:
        read_state(broken)
    except BrokenState as error:
        tree.notes.append(f"Fixed: {error.sentence}")
    else:
        return None
    phase = _newest_phase(tree)
    text = _newest_snapshot(tree) or new_state_text(_bare(tree, phase))
    state = read_state(text)
    following = workflow().phases[phase].next
    ended = following is not None and tree.get(handoff(phase, following)) is not None
    if state.phase != phase:
        state = moved(state, tree.stamp, phase=phase, phase_status="completed" if ended else "in_progress")
    text = write_state(text, state)
    notes = body(broken) if front_matter.span(broken) else ""
    if notes.strip():
        text = text[: front_matter.body_start(text)] + notes
    tree.put(f"{SNAPSHOTS}/{tree.compact}-broken.md", broken)
    tree.put(STATE, text)
    tree.notes.append(
        f"The phase is {phase}, by its documents; what was there is in {SNAPSHOTS}/{tree.compact}-broken.md."
    )
    return state


def _newest_phase(tree: WorkflowTree) -> PhaseId:
    """The last phase, in their order, that has a working document."""
    return next(
        (phase for phase in reversed(PHASES) if tree.get(working_document(phase)) is not None), "init"
    )


def _newest_snapshot(tree: WorkflowTree) -> str:
    for path in sorted((path for path in tree.files if _match(path)), reverse=True):
        text = tree.files[path]
        try:
            read_state(text)
        except UsageError:
            continue
        return text
    return ""


def _bare(tree: WorkflowTree, phase: PhaseId) -> WorkflowState:
    """What can be known without any state: what the phase document says of itself."""
    path = working_document(phase)
    try:
        fields = front_matter.read(tree.get(path) or "", path)
    except UsageError:
        fields = {}
    started = str(fields.get("started_at") or tree.stamp)
    return WorkflowState(
        workflow_id=str(fields.get("workflow_id") or f"forge-{tree.compact}"),
        objective=str(fields.get("objective") or ""),
        phase=phase,
        phase_status="in_progress",
        started_at=started,
        last_updated=tree.stamp,
        phase_started_at=started,
        completed_phases=PHASES[: PHASES.index(phase)],
    )
