"""Where a workflow is: the front matter of `active-workflow.md`, read in all of its dialects and written in
one.

Programs of the wild call the same things by different names; `ALIASES` has them. Whatever else stands in the
file is a person's, and stays.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, TypeVar, get_args

from agentforge.catalog.phases import PHASES, PhaseId, workflow
from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.documents import front_matter
from agentforge.documents.outline import content, named, visible, with_body
from agentforge.gates.debates.files import DebateStatus
from agentforge.phases.tree import STATE, BrokenState
from agentforge.system.strict_yaml import YamlValue

PhaseStatus = Literal["pending", "in_progress", "blocked", "completed"]
DebateRequest = Literal["none", "debate", "no_debate"]
_T = TypeVar("_T", bound=str)

VERSION = "2.0"

ALIASES: Mapping[str, tuple[str, ...]] = {
    "phase": ("phase", "current_phase"),
    "phase_status": ("phase_status", "status"),
    "started_at": ("started_at", "created_at"),
    "phase_started_at": ("phase_started_at",),
    "completed_at": ("completed_at", "phase_completed_at"),
    "last_updated": ("last_updated", "updated_at"),
    "debate_id": ("debate_id", "active_debate_id"),
    "workflow_id": ("workflow_id", "id"),
    "objective": ("objective",),
}
"""By our name: the names that a reader accepts, the best one first."""

_PHASE_WORDS = {"initialize": "init", "initialise": "init", "start": "init", "initialized": "init"}
_STATUS_WORDS = {
    "active": "in_progress",
    "in-progress": "in_progress",
    "running": "in_progress",
    "initialized": "in_progress",
    "complete": "completed",
    "done": "completed",
    "waiting": "blocked",
}


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """Where a workflow is, and what was recorded of it."""

    workflow_id: str
    objective: str
    phase: PhaseId
    phase_status: PhaseStatus
    started_at: str
    last_updated: str
    phase_started_at: str = ""
    completed_at: str = ""
    completed_phases: tuple[PhaseId, ...] = ()
    debate_id: str = ""
    debate_phase: str = ""
    debate_status: DebateStatus = "none"
    debate_gate_passed: bool = False
    debate_request: DebateRequest = "none"
    """What the command line said for this phase."""
    blocked_by: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    """Debates that were asked for and skipped."""
    completed_tasks: tuple[str, ...] = ()
    pending_tasks: tuple[str, ...] = ()
    blocked_tasks: tuple[str, ...] = ()
    current_task: str = ""
    feature: str = ""
    branch: str = ""
    issue: str = ""
    related_docs: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    actual_hours: float = 0.0
    risk_level: str = "low"
    rest: Mapping[str, YamlValue] = field(default_factory=dict)
    """What else stands in the file, which is not ours."""

    @property
    def next_phase(self) -> PhaseId | None:
        """The phase behind the current one."""
        return workflow().phases[self.phase].next

    @property
    def is_complete(self) -> bool:
        """Whether the last phase has ended."""
        return self.next_phase is None and self.phase_status == "completed"

    @property
    def summary(self) -> str:
        """One line about it."""
        if self.is_complete:
            return f"complete: {self.objective}"
        return f"{self.phase} {self.phase_status.replace('_', ' ')}: {self.objective}"

    def record(self) -> dict[str, Json]:
        """The state for programs."""
        return {
            "workflow_id": self.workflow_id,
            "objective": self.objective,
            "phase": self.phase,
            "phase_status": self.phase_status,
            "next_phase": self.next_phase,
            "completed_phases": list(self.completed_phases),
            "started_at": self.started_at,
            "last_updated": self.last_updated,
            "completed_at": self.completed_at or None,
            "debate_id": self.debate_id or None,
            "debate_phase": self.debate_phase or None,
            "debate_status": self.debate_status,
            "debate_gate_passed": self.debate_gate_passed,
            "current_task": self.current_task or None,
            "blocked_by": list(self.blocked_by),
            "overrides": list(self.overrides),
            "branch": self.branch or None,
            "decisions": list(self.decisions),
            "assumptions": list(self.assumptions),
        }


def read_state(text: str) -> WorkflowState:
    """The state of a file, in whichever dialect it is written."""
    try:
        found = front_matter.read(text, STATE)
    except UsageError as error:
        raise BrokenState(error.sentence, "`agentforge phase continue --repair` fixes it.") from None
    phase = _choice(_PHASE_WORDS.get(_text(found, "phase").lower(), _text(found, "phase").lower()), PHASES)
    if phase is None:
        raise BrokenState(
            f"{STATE}: `phase` is {_text(found, 'phase') or 'missing'}; known are {', '.join(PHASES)}.",
            "`agentforge phase continue --repair` fixes it.",
        )
    status = _text(found, "phase_status").lower()
    context = found.get("context")
    context = context if isinstance(context, dict) else {}
    metadata = found.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    started = _text(found, "started_at")
    return WorkflowState(
        workflow_id=_name(_text(found, "workflow_id")) or _derived_id(started),
        objective=_text(found, "objective") or str(context.get("feature") or ""),
        phase=phase,
        phase_status=_choice(_STATUS_WORDS.get(status, status), get_args(PhaseStatus)) or "in_progress",
        started_at=started,
        last_updated=_text(found, "last_updated"),
        phase_started_at=_text(found, "phase_started_at") or started,
        completed_at=_text(found, "completed_at"),
        completed_phases=_phases(found.get("completed_phases"), phase),
        debate_id=_name(_text(found, "debate_id")),
        debate_phase=_text(found, "debate_phase"),
        debate_status=_choice(_text(found, "debate_status"), get_args(DebateStatus)) or "none",
        debate_gate_passed=found.get("debate_gate_passed") is True,
        debate_request=_choice(_text(found, "debate_request"), get_args(DebateRequest)) or "none",
        blocked_by=_texts(found.get("blocked_by")),
        overrides=_texts(found.get("overrides")),
        completed_tasks=_texts(found.get("completed_tasks")),
        pending_tasks=_texts(found.get("pending_tasks")),
        blocked_tasks=_texts(found.get("blocked_tasks")),
        current_task=_text(found, "current_task"),
        feature=str(context.get("feature") or ""),
        branch=str(context.get("branch") or found.get("branch") or ""),
        issue=str(found.get("issue") or context.get("issue") or ""),
        related_docs=_texts(context.get("related_docs")),
        decisions=_texts(context.get("decisions")),
        assumptions=_texts(context.get("assumptions")),
        actual_hours=_hours(metadata.get("actual_hours")),
        risk_level=str(metadata.get("risk_level") or "low"),
        rest=found,
    )


def write_state(text: str, state: WorkflowState) -> str:
    """The file with this state: our keys under our names, everything else as it was. The notes below are
    rewritten where they still say what the state before said.
    """
    before = read_state(text)
    if state == before:
        return text
    text = _renamed(text)
    found = front_matter.read(text, STATE)
    fields = {
        key: value
        for key, value in _fields(state).items()
        if key in _OWN or "." in key or value not in (None, "", [], False) or key in found
    }
    text = front_matter.changed(text, fields)
    for title, old, new in zip(_NOTES, _notes(before), _notes(state), strict=True):
        section = named(text, title)
        if section is not None and visible(content(text, section)) == old.strip():
            text = with_body(text, section, new)
    return text


def new_state_text(state: WorkflowState) -> str:
    """The file of a workflow that begins."""
    fields = _fields(state)
    yaml = ""
    for title, first in _GROUPS.items():
        rows = {key: value for key, value in fields.items() if _GROUP_OF.get(key.split(".")[0]) == first}
        yaml += f"# {title}\n{_spelled(rows)}\n"
    body = "".join(f"\n## {title}\n\n{words}\n" for title, words in zip(_NOTES, _notes(state), strict=True))
    return f"---\n{yaml.rstrip()}\n---\n\n# Workflow Notes\n{body}"


def _spelled(rows: Mapping[str, YamlValue]) -> str:
    text = front_matter.changed("---\n---\n", rows)
    return text.removeprefix("---\n").removesuffix("---\n")


_GROUPS = {
    "Identity": "phase workflow version workflow_id objective issue",
    "Status": "phase_status started_at last_updated completed_at phase_started_at next_phase "
    "completed_phases",
    "Debate State": "debate_id debate_phase debate_status debate_gate_passed",
    "Progress": "completed_tasks pending_tasks blocked_tasks current_task",
    "Context": "context",
    "Metadata": "metadata",
}
"""The keys of a new file, under the comment that heads them."""
_GROUP_OF = {key: keys for keys in _GROUPS.values() for key in keys.split()}
_NOTES = ("Current Focus", "Blockers", "Next Actions")
_OWN = frozenset(
    {"phase", "workflow", "version", "workflow_id", "objective", "phase_status", "started_at"}
) | {
    "last_updated",
    "completed_at",
    "next_phase",
    "completed_phases",
    "phase_started_at",
    "debate_id",
    "debate_status",
    "completed_tasks",
    "pending_tasks",
    "blocked_tasks",
    "current_task",
}


def _fields(state: WorkflowState) -> dict[str, YamlValue]:
    """Our keys in their order; a dot is a key inside a mapping."""
    return {
        "phase": state.phase,
        "workflow": f"forge-{state.phase}",
        "version": VERSION,
        "workflow_id": state.workflow_id,
        "objective": state.objective,
        **({"issue": state.issue} if state.issue else {}),
        "phase_status": state.phase_status,
        "started_at": state.started_at or None,
        "last_updated": state.last_updated or None,
        "completed_at": state.completed_at or None,
        "phase_started_at": state.phase_started_at or None,
        "next_phase": state.next_phase,
        "completed_phases": list(state.completed_phases),
        "debate_id": state.debate_id or None,
        "debate_phase": state.debate_phase or None,
        "debate_status": "complete" if state.debate_status == "unblocked" else state.debate_status,
        "debate_gate_passed": state.debate_gate_passed,
        "completed_tasks": list(state.completed_tasks),
        "pending_tasks": list(state.pending_tasks),
        "blocked_tasks": list(state.blocked_tasks),
        "current_task": state.current_task or None,
        "context.feature": state.feature,
        "context.branch": state.branch,
        "context.related_docs": list(state.related_docs),
        "context.decisions": list(state.decisions),
        "context.assumptions": list(state.assumptions),
        "metadata.estimated_hours": _kept(state, "estimated_hours", None),
        "metadata.actual_hours": _number(state.actual_hours),
        "metadata.risk_level": state.risk_level,
        "metadata.priority": _kept(state, "priority", "medium"),
        "metadata.karpathy_score": _kept(state, "karpathy_score", None),
        "debate_request": state.debate_request if state.debate_request != "none" else None,
        "blocked_by": list(state.blocked_by),
        "overrides": list(state.overrides),
    }


def _kept(state: WorkflowState, key: str, usual: YamlValue) -> YamlValue:
    """A figure of people, which we only make room for."""
    metadata = state.rest.get("metadata")
    return metadata.get(key, usual) if isinstance(metadata, dict) else usual


def _hours(value: YamlValue) -> float:
    """Hours that a file names; none where that is no number of hours."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    try:
        return float(value) if math.isfinite(value) else 0.0
    except OverflowError:
        return 0.0


def _number(hours: float) -> YamlValue:
    return int(hours) if hours == int(hours) else hours


def _notes(state: WorkflowState) -> tuple[str, str, str]:
    """What the notes say of a state: the focus, what blocks, and what comes next."""
    phase = workflow().phases[state.phase]
    if state.is_complete:
        return ("The workflow is complete.", "None.", "1. Start another one when there is something to do")
    if state.phase_status == "completed":
        following = f"1. `agentforge phase continue` enters {state.next_phase}"
        return (f"{phase.name} is completed.", "None.", following)
    if state.phase_status == "blocked":
        waits = f"Waiting for the debate {state.debate_id} before {phase.name} can complete."
        reasons = "\n".join(f"- {reason}" for reason in state.blocked_by) or "- the debate is not complete"
        steps = (
            f"1. Complete the files in docs/forge/debate/{state.debate_id}\n2. `agentforge phase continue`"
        )
        return (waits, reasons, steps)
    reasons = "\n".join(f"- {reason}" for reason in state.blocked_by) or "None."
    steps = f"1. Work in docs/forge/phases/{state.phase}.md\n2. `agentforge phase continue`"
    return (f"{phase.name}: {phase.description}.", reasons, steps)


def _renamed(text: str) -> str:
    """The file with our names for keys that have others; a key that is there under ours stays too."""
    found = front_matter.span(text)
    if found is None:
        return text
    start, end, _ = found
    yaml = text[start:end]
    keys = front_matter.read(text, STATE)
    for name, (_, *others) in ((name, known) for name, known in ALIASES.items()):
        for other in others:
            if other in keys and name not in keys:
                yaml = re.sub(rf"(?m)^(['\"]?){re.escape(other)}\1(?=\s*:)", name, yaml, count=1)
                break
    return text[:start] + yaml + text[end:]


def _text(found: Mapping[str, YamlValue], name: str) -> str:
    """A value by our name, or by one of its other names."""
    for key in ALIASES.get(name, (name,)):
        value = found.get(key)
        if value not in (None, "", "null", "none") or (key == "debate_status" and value == "none"):
            return str(value)
    return ""


def _choice(word: str, known: "tuple[_T, ...]") -> "_T | None":
    return next((each for each in known if each == word), None)


def _texts(value: YamlValue) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _phases(value: YamlValue, current: PhaseId) -> tuple[PhaseId, ...]:
    """The phases that are over: as recorded, or all before the current one."""
    if isinstance(value, list):
        named_ones = {_PHASE_WORDS.get(str(item), str(item)) for item in value}
        return tuple(phase for phase in PHASES if phase in named_ones)
    return PHASES[: PHASES.index(current)]


def _name(text: str) -> str:
    """The name of a workflow or a debate, which is that of a file: anything else is none."""
    return text if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}", text) else ""


def _derived_id(started: str) -> str:
    digits = re.sub(r"\D", "", started)[:14]
    return f"forge-{digits[:8]}-{digits[8:14].ljust(6, '0')}" if len(digits) >= 8 else "forge-unknown"


def hours_between(start: str, end: datetime) -> float:
    """Hours from a moment that was written down until another, to one place; 0 if it cannot be read."""
    try:
        begun = datetime.fromisoformat(start)
    except ValueError:
        return 0.0
    if begun.tzinfo is None:
        begun = begun.replace(tzinfo=UTC)
    return max(0.0, round((end - begun).total_seconds() / 3600, 1))


def moved(state: WorkflowState, stamp: str, **changes: object) -> WorkflowState:
    """The state with changes, as of now."""
    return replace(state, last_updated=stamp, **changes)  # type: ignore[arg-type]  # fields by their names
