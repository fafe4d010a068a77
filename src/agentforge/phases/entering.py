"""Entering a phase: the handoff and the registries are read, the working document is made, and whoever works
is shown what is locked, what is assumed and what is to be done.
"""

from agentforge.catalog.phases import PhaseDefinition, PhaseId, workflow
from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.items import items, plain
from agentforge.documents.outline import content, named, outline, visible
from agentforge.documents.tables import spell_table
from agentforge.phases import knowledge
from agentforge.phases.rules import unmet
from agentforge.phases.state import DebateRequest, WorkflowState, moved
from agentforge.phases.tree import DOCS, WorkflowTree, handoff, working_document

LOADED = ("decisions.md", "constraints.md", "assumptions.md", "risks.md")
"""The registries that every phase is entered with."""
_MOST_PATTERNS = 10


def enter(
    tree: WorkflowTree, state: WorkflowState, phase_id: PhaseId, objective: str, request: DebateRequest
) -> WorkflowState:
    """The state of a phase that begins. A file that it needs and that is not there is named."""
    phase = workflow().phases[phase_id]
    assert phase.previous is not None
    told = tree.need(handoff(phase.previous, phase_id))
    for name in LOADED:
        tree.need(knowledge.registry_path(name))
    if problems := unmet(tree, phase.needs):
        raise UsageError(f"{phase.name} cannot begin: {problems[0]}.", *_more(problems))
    path = working_document(phase_id)
    if tree.claim(path, state.workflow_id) is None:
        tree.put(path, new_working_document(tree, state, phase, objective, todo_of(told)))
    for name, title in phase.documents.items():
        if tree.claim(f"{DOCS}/{name}", state.workflow_id) is None:
            tree.put(f"{DOCS}/{name}", _new_options(state, title))
    documents = (path, *(f"{DOCS}/{name}" for name in phase.documents))
    return moved(
        state,
        tree.stamp,
        phase=phase_id,
        phase_status="in_progress",
        phase_started_at=tree.stamp,
        completed_at="",
        debate_id="",
        debate_phase="",
        debate_status="none",
        debate_gate_passed=False,
        debate_request=request,
        blocked_by=(),
        completed_tasks=(),
        related_docs=documents,
    )


def _more(problems: list[str]) -> tuple[str, ...]:
    return (f"And {len(problems) - 1} more.",) if len(problems) > 1 else ()


def todo_of(text: str) -> list[str]:
    """What a handoff asks the next phase to do."""
    for section in outline(text):
        if section.title.casefold().startswith("todo"):
            return [item.text for item in items(text, section.body, section.end) if item.text]
    return []


def new_working_document(
    tree: WorkflowTree, state: WorkflowState, phase: PhaseDefinition, objective: str, todo: list[str]
) -> str:
    """A working document with its headings, and what belongs below each as a comment."""
    head = front_matter.changed(
        "",
        {
            "phase": phase.id,
            "workflow_id": state.workflow_id,
            "started_at": tree.stamp,
            "objective": objective or state.objective,
        },
    )
    parts = [f"# {phase.name}", f"{phase.description}."]
    if todo:
        parts += ["## TODO", "\n".join(f"{at}. [ ] {item}" for at, item in enumerate(todo, 1))]
    for title, hint in phase.sections.items():
        parts += [f"## {title}", f"<!-- Required. {hint} -->"]
    for title, columns in phase.tables.items():
        parts += [f"## {title}", spell_table(tuple(columns))]
    for title, boxes in phase.checklist.items():
        parts += [f"## {title}", "\n".join(f"- [ ] {box}" for box in boxes)]
    for title, hint in workflow().offered.items():
        parts += [f"## {title}", f"<!-- {hint} -->"]
    return f"{head}\n{chr(10).join(f'{part}{chr(10)}' for part in parts)}"


def _new_options(state: WorkflowState, title: str) -> str:
    head = front_matter.changed("", {"workflow_id": state.workflow_id})
    hint = "<!-- Three or more: `1. **Name**: what it is` -->"
    return f"{head}\n# {title}\n\n## Options Under Consideration\n\n{hint}\n"


def entry_notes(tree: WorkflowTree, state: WorkflowState) -> list[str]:
    """What whoever works in a phase must know: decisions, constraints, assumptions, and what to do."""
    found = [f"Objective: {state.objective}"]
    decisions = knowledge.read_decisions(tree.get(knowledge.registry_path("decisions.md")) or "")
    found += [f"Locked: {each.id}: {each.title}" for each in decisions if each.is_in_force]
    found += [f"Constraint: {each[0]}: {each[1]}" for each in knowledge.constraints(tree)]
    found += [
        f"Assumed: {row.get('ID')}: {row.get('Assumption', 'Description')}"
        for row in knowledge.open_assumptions(tree)
    ]
    found += [f"Learned before: {each}" for each in _learned_before(tree, state.workflow_id)]
    phase = workflow().phases[state.phase]
    if phase.previous is not None:
        todo = todo_of(tree.get(handoff(phase.previous, state.phase)) or "")
        found += [f"To do: {item}" for item in todo]
    return found


def _learned_before(tree: WorkflowTree, workflow_id: str) -> list[str]:
    """The patterns that the workflow before this one left, for whoever begins the next."""
    path = f"{DOCS}/{workflow().phases['learn'].artifact}"
    text = tree.get(path) or ""
    try:
        owner = front_matter.read(text, path).get("workflow_id")
    except UsageError:
        return []
    section = named(text, "Patterns")
    if section is None or owner in (None, workflow_id):
        return []
    listed = [plain(item.text) for item in items(text, section.body, section.end)]
    lines = listed or [plain(line) for line in visible(content(text, section)).splitlines()]
    return [line for line in lines if line][:_MOST_PATTERNS]
