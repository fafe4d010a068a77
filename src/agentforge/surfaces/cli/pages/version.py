"""A version that is presented, on one page: what it says, what changed since the last one, and what can be
decided.
"""

from agentforge.app.people.presented import document_of, presented
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.rendering import changed_lines, readable_lines
from agentforge.core.iterating import version_name
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Iteration
from agentforge.system.visible import harmless


def presented_page(task: OpenTask) -> str:
    """The page of the version that waits for a decision; empty if none does."""
    shown = presented(task.state)
    return "" if shown is None else version_page(task, shown)


def version_page(task: OpenTask, shown: Iteration) -> str:
    """Every document of a round, with what changed since the round before."""
    before = _round_before(task.state, shown)
    lines: list[str] = []
    for ref in shown.shown:
        lines += [
            f"{ref.contract} v{ref.version}",
            *(f"  {line}" for line in readable_lines(document_of(task, ref))),
            *_changes(task, before, ref),
            f"  file: {task.files.root.relative_to(task.files.root.parents[2])}/{version_name(ref)}",
        ]
    return harmless("\n".join(lines))


def _changes(task: OpenTask, before: Iteration | None, ref: ArtifactRef) -> list[str]:
    old = next((item for item in before.settled if item.contract == ref.contract), None) if before else None
    if old is None or old == ref:
        return []
    changed = changed_lines(document_of(task, old), document_of(task, ref))
    head = f"{ref.contract}: changed since v{old.version}"
    return ["", head, *(f"  {line}" for line in changed or ["nothing that is shown"])]


def _round_before(state: State, shown: Iteration) -> Iteration | None:
    mine = [item for item in state.iterations if item.stage == shown.stage and item.number < shown.number]
    return mine[-1] if mine else None
