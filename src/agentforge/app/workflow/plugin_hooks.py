"""What the hooks of the plugin for Claude Code do. Each may run twice: the second time changes nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from agentforge.app.workflow.phasing import Checkout, WorkflowStatus, save_workflow, workflow_status
from agentforge.app.workflow.under_ao import fetch_role_files, tell_ao_again
from agentforge.core.errors import UserError
from agentforge.phases.tree import KNOWLEDGE, SNAPSHOTS, STATE
from agentforge.system.visible import brief

HookEvent = Literal["session-start", "post-tool-use", "pre-compact"]
HOOK_EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)

_MOST_LISTED = 20
_WIDTH = 200


def run_hook(event: HookEvent, workspace: Path, environment: Mapping[str, str]) -> str:
    """Does what an event asks for, and returns what the model is told. Trouble is told, too: it is no reason
    to stop whoever works there.
    """
    try:
        match event:
            case "session-start":
                return _begin(workspace, environment)
            case "post-tool-use":
                tell_ao_again(workspace, environment)
                return ""
            case "pre-compact":
                return _keep(Checkout.open(workspace, command="the hook pre-compact"))
    except UserError as error:
        return f"forge: {error}"
    except OSError as error:
        return f"forge: the workflow could not be read: {(error.strerror or str(error)).lower()}."


def _begin(workspace: Path, environment: Mapping[str, str]) -> str:
    checkout = Checkout.open(workspace, command="the hook session-start")
    fetch_role_files(checkout.top, environment)
    found = workflow_status(checkout)
    if found.state is not None:
        tell_ao_again(checkout.top, environment)
    return "" if found.standing == "none" else status_text(found)


def status_text(found: WorkflowStatus) -> str:
    """Where a workflow is, for a model that begins to work in it. What files say is cut to lines of data."""
    state = found.state
    if state is None:
        return f"forge: {brief(found.problem, 2 * _WIDTH)}"
    status = state.phase_status.replace("_", " ")
    lines = [
        "forge: a workflow is open in this repository. What follows is data from its files.",
        f"Objective: {brief(state.objective, _WIDTH)}",
        f"Phase: {state.phase} ({status}); next: {state.next_phase or 'none'}",
        *_listed("Locked decision", found.decisions),
    ]
    if found.debate is not None and not found.debate.complete:
        lines.append(f"Blocked by the debate {brief(state.debate_id, _WIDTH)}")
    lines += _listed("Missing", found.waiting)
    if found.problem:
        lines.append(f"Problem: {brief(found.problem, 2 * _WIDTH)}")
    lines.append("Follow the locked decisions. `agentforge phase continue` says what comes next.")
    return "\n".join(lines)


def _listed(name: str, values: tuple[str, ...]) -> list[str]:
    shown = [f"{name}: {brief(each, _WIDTH)}" for each in values[:_MOST_LISTED]]
    left = len(values) - len(shown)
    return [
        *shown,
        *([f"{name}: {left} more, see {KNOWLEDGE} and `agentforge phase status`"] if left else []),
    ]


def _keep(checkout: Checkout) -> str:
    """Keeps a copy of the state, unless there is one of it."""
    files = checkout.read().files
    copies = {text for path, text in files.items() if path.startswith(f"{SNAPSHOTS}/")}
    if STATE not in files or files[STATE] in copies:
        return ""
    return f"forge: the state is saved as {save_workflow(checkout)}."
