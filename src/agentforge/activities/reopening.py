"""Locked tests that are opened again: a role's word that one is wrong, and what each run is told until it is
settled.
"""

from agentforge.activities.iterating import rejected_before
from agentforge.activities.world import World
from agentforge.core.reply import Action
from agentforge.core.returns import standing
from agentforge.core.state import RunView
from agentforge.core.values import Reopening
from agentforge.gates.change.documents import texts
from agentforge.system.secrets.redact import redact
from agentforge.tools.base import ToolResult
from agentforge.tools.bridge import Bridge

MAX_NAMED = 10


def reopening(
    world: World, state: RunView, bridge: Bridge, action: Action
) -> tuple[Reopening | None, ToolResult]:
    """What a role says of locked tests, if there are such tests and it may say so."""
    if not any(spec.name == action.name for spec in bridge.specs()):
        text = "no test is locked for you here: change it, or say what is wrong with it in what you hand in"
        return None, ToolResult(ok=False, text=text, mistake="nothing_locked")
    proved = world.records(state).get("red", {}).get("tests")
    known = {*bridge.locked, *(proved if isinstance(proved, dict) else ())}
    named = texts(dict(action.args), "tests")
    if unknown := [name for name in named if name not in known]:
        text = (
            f"`{unknown[0]}` is no locked test; the locked ones: {', '.join(sorted(known)[:MAX_NAMED])}. "
            "Name those, or none"
        )
        return None, ToolResult(ok=False, text=text, mistake="unknown_test")
    reason = redact(" ".join(str(action.args["reason"]).split()))[0]
    return Reopening(reason, tuple(named)), ToolResult(
        ok=True, text="the tests go back to RED with this reason"
    )


def told(world: World, state: RunView) -> tuple[str, ...]:
    """What the step before left, and what holds until it is settled; to those who review, also what changed
    since they blocked.
    """
    run = state.run
    lines = standing(state, run, state.stage)
    if lines and (run.parent or state.stage.returns_to):
        lines = (*lines, _since(world, state))
    return tuple(dict.fromkeys((*run.feedback, *lines, *rejected_before(state))))


def _since(world: World, state: RunView) -> str:
    """What became of a review's findings: the files that changed since the tree it read."""
    before = state.reviewed_tree or state.tree
    changes = world.workspace.git.diff_names(before, state.tree)
    if not changes:
        return "No file changed since then; say of each finding whether it still stands."
    named = ", ".join(
        f"{change.path} ({_WORDS.get(change.status, 'changed')})" for change in changes[:MAX_NAMED]
    )
    more = f" and {len(changes) - MAX_NAMED} more" if len(changes) > MAX_NAMED else ""
    return f"Changed since then: {named}{more}. Say of each finding whether it is settled."


_WORDS = {"A": "added", "D": "deleted"}
