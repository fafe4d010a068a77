"""AO, the agent orchestrator: whether we run in one of its sessions, and what it is told of a workflow.

AO sets `AO_SESSION` and `AO_DATA_DIR`, which is the folder of the session's file. Eleven keys of that file
are ours. They are asserted at every change of the workflow, since some of AO's own programs write the file
without its lock. Nothing here waits for long or fails: an AO that is absent, old or busy is an outcome.
"""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from shutil import which
from typing import Literal, TypeAlias

from agentforge.core.errors import UserError
from agentforge.integrations.ao_metadata import MetadataChange, Pause, is_session, write_keys
from agentforge.system import processes
from agentforge.system.secrets.redact import redact
from agentforge.system.visible import brief

_LONGEST = 200
"""Characters of a value: it is shown in a cell of a table."""
_REPORT_S = 5.0

SyncOutcome: TypeAlias = Literal["absent", "written", "unchanged", "not_ready", "locked", "failed"]
ReportedState: TypeAlias = Literal["", "working", "waiting", "needs-input", "completed"]


@dataclass(frozen=True, slots=True)
class AoSession:
    """The session of AO that this process runs in."""

    name: str
    folder: Path
    issue: str
    is_orchestrator: bool


@dataclass(frozen=True, slots=True)
class WorkflowKeys:
    """What AO is told of a workflow. Each field is a key of its own, with `forge_` before its name."""

    phase: str
    status: str
    next: str = ""
    summary: str = ""
    debate_id: str = ""
    debate_status: str = ""
    branch: str = ""
    issue: str = ""
    version: str = ""
    started_at: str = ""
    last_updated: str = ""

    def flat(self, issue: str = "") -> dict[str, str]:
        """The keys as AO keeps them: one line each, without secrets, none of them too long for a table."""
        values = {field.name: str(getattr(self, field.name)) for field in fields(self)}
        values["issue"] = issue or values["issue"]
        return {f"forge_{name}": brief(redact(value)[0], _LONGEST) for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of telling AO."""

    outcome: SyncOutcome
    detail: str = ""
    """Why it failed, or where a broken file was set aside."""


def session_of(environment: Mapping[str, str]) -> AoSession | None:
    """The session of AO that an environment tells of; None outside of AO."""
    name, folder = environment.get("AO_SESSION", ""), environment.get("AO_DATA_DIR", "")
    if not name or not folder:
        return None
    kind = environment.get("AO_CALLER_TYPE", "")
    return AoSession(name, Path(folder), environment.get("AO_ISSUE_ID", ""), kind == "orchestrator")


def sync(keys: WorkflowKeys, environment: Mapping[str, str], *, pause: Pause = time.sleep) -> Synced:
    """Tells AO where a workflow is: the keys of the session's file and, when the state is another one than
    before, `ao report` where there is such a command. Outside of AO it does nothing. It never raises.
    """
    session = session_of(environment)
    if session is None:
        return Synced("absent")
    if not is_session(session.name) or not session.folder.is_absolute():
        return Synced("failed", "AO_SESSION or AO_DATA_DIR is not what AO would set.")
    flat = keys.flat(session.issue)
    try:
        written = write_keys(session.folder, session.name, flat, pause=pause)
    except UserError as error:
        return Synced("failed", error.sentence)
    except OSError as error:
        return Synced("failed", f"{session.folder}: {(error.strerror or str(error)).lower()}.")
    if written.outcome != "written":
        return Synced(written.outcome)
    _report(session, written.before, flat, environment)
    return Synced("written", _aside(written))


def _aside(written: MetadataChange) -> str:
    return f"The file was not JSON; it is kept as {written.set_aside}." if written.set_aside else ""


def reported_state(flat: Mapping[str, str]) -> ReportedState:
    """The state of AO's own vocabulary that fits where a workflow is."""
    debate = flat.get("forge_debate_status", "")
    match flat.get("forge_status", ""):
        case "":
            return ""
        case "blocked":
            return "waiting" if debate in ("pending", "running") else "needs-input"
        case "completed":
            return "working" if flat.get("forge_next") else "completed"
        case _:
            return "working"


def _report(
    session: AoSession, before: Mapping[str, str], now: Mapping[str, str], environment: Mapping[str, str]
) -> None:
    """Says a new state in AO's own words. A release without the command refuses, and nobody minds."""
    state = reported_state(now)
    program = which("ao", path=environment.get("PATH"))
    if session.is_orchestrator or program is None or not state or state == reported_state(before):
        return
    note = f"forge: {now['forge_phase']} {now['forge_status']}"
    argv = (program, "report", state, "-s", session.name, "--note", note)
    with contextlib.suppress(UserError):
        processes.run(argv, cwd=Path.cwd(), env=environment, timeout_s=_REPORT_S)
