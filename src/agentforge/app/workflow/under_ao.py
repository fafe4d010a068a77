"""A workflow in a session of AO: AO is told of every state, is asked how its sessions are started, and files
that roles wrote in other sessions are fetched. Outside of AO all of this does nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentforge.catalog.debates import debate_rules
from agentforge.core.errors import ModelMistake, PolicyError, UserError
from agentforge.integrations.ao import WorkflowKeys, session_of, sync
from agentforge.integrations.ao_debates import (
    AoProgram,
    DebateRole,
    FetchedFile,
    SpawnCommand,
    ask_program,
    fetch_files,
    spawn_commands,
)
from agentforge.phases.state import VERSION, WorkflowState, read_state
from agentforge.phases.tree import STATE, debate_folder
from agentforge.system.beneath import read_beneath, state_beneath

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SpawnPlan:
    """The sessions that a debate still needs, as lines for a shell."""

    program: AoProgram
    commands: tuple[SpawnCommand, ...]


def workflow_keys(state: WorkflowState) -> WorkflowKeys:
    """What AO is told of a state."""
    return WorkflowKeys(
        phase=state.phase,
        status=state.phase_status,
        next=state.next_phase or "",
        summary=state.summary,
        debate_id=state.debate_id,
        debate_status=state.debate_status,
        branch=state.branch,
        issue=state.issue,
        version=VERSION,
        started_at=state.started_at,
        last_updated=state.last_updated,
    )


def tell_ao(state: WorkflowState, environment: Mapping[str, str]) -> str:
    """Tells AO of a state. The answer is a sentence for the person if AO does not know it now, or "": it is
    no reason to stop, since the files of the workflow are the truth.
    """
    done = sync(workflow_keys(state), environment)
    match done.outcome:
        case "failed":
            return f"AO was not told: {done.detail}"
        case "locked":
            return "AO was not told: its file is in use. The next command tells it."
        case "not_ready":
            return "AO was not told: the file of this session is not there yet. The next command tells it."
        case _:
            return done.detail


def tell_ao_again(top: Path, environment: Mapping[str, str]) -> str:
    """The same for the state that is in the files now: what another program dropped is set again."""
    return "" if session_of(environment) is None else tell_ao(_state_of(top), environment)


def fetch_role_files(top: Path, environment: Mapping[str, str]) -> tuple[FetchedFile, ...]:
    """Brings the files of the open debate home from the sessions of its roles."""
    if session_of(environment) is None:
        return ()
    try:
        state = _state_of(top)
        if not state.debate_id or state.debate_gate_passed:
            return ()
        folder = top.resolve() / debate_folder(state.debate_id)
        if folder.resolve() != folder:  # a link on the way, of which the command itself has to speak
            return ()
        return fetch_files(folder, environment, _roles())
    except (UserError, OSError):  # no workflow, or one that the command itself has to speak of
        return ()


def plan_sessions(top: Path, state: WorkflowState, environment: Mapping[str, str]) -> SpawnPlan | None:
    """How the roles whose files are missing are started; None outside of AO, and where no debate is open."""
    if session_of(environment) is None or not state.debate_id or state.debate_gate_passed:
        return None
    folder = debate_folder(state.debate_id)
    missing = [role for role in _roles() if state_beneath(top, f"{folder}/{role.file}") is None]
    program = ask_program(environment)
    return SpawnPlan(program, spawn_commands(top / folder, program, environment, missing))


def _roles() -> tuple[DebateRole, ...]:
    return tuple(
        DebateRole(name, file.name, comes_last=bool(file.after))
        for name, file in debate_rules().roles.items()
    )


def _state_of(top: Path) -> WorkflowState:
    try:
        return read_state(read_beneath(top, STATE, _MOST_BYTES).decode(errors="replace"))
    except ModelMistake as error:
        raise PolicyError(f"{STATE} was not read: {error.text}.", "Replace it with a plain file.") from None
