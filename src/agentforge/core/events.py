"""What can have happened to a task: the vocabulary of the journal. Past tense, closed, versioned by `upcast`.

An event is of the task or of one run. One of a run is an `OfRun`: it cannot be made without the run's id.
"""

from dataclasses import dataclass
from typing import TypeAlias, get_args

from agentforge.core.codec import decode, encode
from agentforge.core.dependencies import Dependencies, FoundArtifact
from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Extension,
    ForkPoint,
    Handover,
    LeavingAction,
    ModelChoice,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.reply import Json
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    Amount,
    ArtifactRef,
    Baseline,
    Budget,
    CheckDigest,
    Escalation,
    FailureReport,
    Feedback,
    OfRun,
    Owner,
    Reopening,
    ReplyDigest,
    Status,
)

# ------------------------------------------------------------------ of the task


@dataclass(frozen=True, slots=True)
class TaskCreated:
    """A request became a task."""

    spec: TaskSpec


@dataclass(frozen=True, slots=True)
class Validation:
    """What something from outside was held against before it was trusted."""

    contract: str
    status: str
    hash: str


@dataclass(frozen=True, slots=True)
class ExternalArtifactImported:
    """A document that this task did not make was taken in, after its contract passed."""

    artifact_type: str
    source: str
    """`user_provided`, or `task_reference`."""
    source_path: str
    """Where it was, as the person named it."""
    validation: Validation
    ref: ArtifactRef
    task_id: str = ""
    """The task that made it."""
    flagged: tuple[str, ...] = ()
    """What in it reads like an instruction."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A legal move between two of the ten statuses."""

    before: Status
    after: Status


@dataclass(frozen=True, slots=True)
class WorkspacePrepared:
    """The worktree was made equal to the recorded tree."""

    tree: str
    notices: tuple[str, ...] = ()
    human_commit: str = ""
    """Set where a person repaired a halted worktree: their edits, as their commit."""


@dataclass(frozen=True, slots=True)
class BaselineTaken:
    """The environment is built and every configured check has run on the base."""

    baseline: Baseline


@dataclass(frozen=True, slots=True)
class LaneRaised:
    """The work is more than its lane can carry: it goes on in a higher one, with every artifact kept."""

    lane: str
    why: str


@dataclass(frozen=True, slots=True)
class RevisionAsked:
    """A reviewer blocks: the work goes back."""

    stage: str
    revision: int
    findings: tuple[str, ...] = ()
    held_out: tuple[ArtifactRef, ...] = ()
    """Checks of an examiner that the work did not meet; they are run again when it is done."""


@dataclass(frozen=True, slots=True)
class RedReopened:
    """Locked tests are opened again: `stage` proves them anew, and what it leaves is locked."""

    stage: str
    why: Reopening


@dataclass(frozen=True, slots=True)
class TaskDelivered:
    """Branch and evidence are in place."""

    handover: Handover


@dataclass(frozen=True, slots=True)
class Escalated:
    """A person is asked; the task waits."""

    escalation: Escalation


@dataclass(frozen=True, slots=True)
class Resolved:
    """A person answered an escalation."""

    id: str
    answer: str
    by: str


@dataclass(frozen=True, slots=True)
class IterationPresented:
    """A version of a stage's result, which has passed its gates, was put before a person."""

    stage: str
    iteration: int
    artifact: str
    """Where it is, from the task's directory."""
    artifact_hash: str
    shown: tuple[ArtifactRef, ...]
    """All that was presented; `artifact` is the first of it."""


@dataclass(frozen=True, slots=True)
class UserDecision:
    """A person decided about a version that was presented."""

    stage: str
    iteration: int
    decision: str
    """One of `CHOICES`."""
    by: str
    artifact: str = ""
    artifact_hash: str = ""
    feedback_ref: str = ""
    """Where their words are, from the task's directory."""
    feedback: Feedback | None = None
    edited: tuple[ArtifactRef, ...] = ()
    """What they wrote by hand instead of what was presented."""


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """The next version is worked on."""

    stage: str
    iteration: int
    input_feedback: str
    """Where the words are that it starts from, from the task's directory."""


@dataclass(frozen=True, slots=True)
class LineExtended:
    """A person wants the task to go further: the stages that it had, and more behind them."""

    extension: Extension


@dataclass(frozen=True, slots=True)
class PipelineExit:
    """The task leaves its pipeline with what it has made."""

    exit_stage: str
    exit_type: str
    """`default_exit`: where the pipeline ends. `early_exit`: before, as asked for at the start. `user_exit`:
    where a person said so on the way.
    """
    deliverable: str
    """Where it is, from the task's directory."""


@dataclass(frozen=True, slots=True)
class BudgetRaised:
    """A person gave the task a larger budget: the new cap."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class DependenciesDeclared:
    """The specification says what the task waits for before its work goes on."""

    dependencies: Dependencies


@dataclass(frozen=True, slots=True)
class DependenciesMet:
    """What the task waited for is there, or a person let it go on without."""

    found: tuple[FoundArtifact, ...] = ()
    without: bool = False


@dataclass(frozen=True, slots=True)
class WaitLimitChanged:
    """A person said how long a provider may be waited for."""

    max_wait_s: int
    by: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """A person named another model for the rest of the task."""

    choice: ModelChoice


@dataclass(frozen=True, slots=True)
class DefectNoted:
    """A person found a fault in what was delivered."""

    note: str
    by: str


@dataclass(frozen=True, slots=True)
class TaskForked:
    """What is on record up to here was done and paid by another task."""

    point: ForkPoint


@dataclass(frozen=True, slots=True)
class Resumed:
    """A halted task goes on, as a new segment of the same journal."""

    segment: int
    by: str


@dataclass(frozen=True, slots=True)
class TaskAborted:
    """A person ended the task; its work is kept."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """The task cannot go on by itself and no answer would help: the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Discarded:
    """An outcome of something no longer owed, with what it cost."""

    key: str
    cost: Amount


# ------------------------------------------------------------------ of a run


@dataclass(frozen=True, slots=True)
class StageEntered(OfRun):
    """A run makes an attempt at a stage, from `entry_tree`. A run begins with its first one."""

    stage: str
    attempt: int
    entry_tree: str
    owner: Owner = "worker"
    parent: str = ""
    """The run whose result this one is about; empty for the worker's."""
    feedback: tuple[str, ...] = ()
    drafts: tuple[ArtifactRef, ...] = ()
    """What a revision starts from."""
    skipped: str = ""
    """Why nobody is asked to work: the stage goes straight to its gates."""


@dataclass(frozen=True, slots=True)
class StepOpened(OfRun):
    """A step begins; steps are counted over the task."""

    step: int


@dataclass(frozen=True, slots=True)
class ContextAssembled(OfRun):
    """The step's whole context is in the pack."""

    context: ContextDigest
    """Of what reads like an instruction only what was not on record before."""


@dataclass(frozen=True, slots=True)
class AskSent(OfRun):
    """A request is about to leave. Written first, so that a lost answer stays on the bill."""

    key: str
    request: RequestDigest


@dataclass(frozen=True, slots=True)
class AskTicketed(OfRun):
    """The provider took the call in a batch: whoever drives next collects the answer under this ticket."""

    key: str
    ticket: str


@dataclass(frozen=True, slots=True)
class AskPromoted(OfRun):
    """A batch was late: the call is sent live instead. `unaccounted` is what the batch may bill all the
    same.
    """

    key: str
    unaccounted: Amount


@dataclass(frozen=True, slots=True)
class AskAnswered(OfRun):
    """The model's reply to a call is on disk."""

    key: str
    reply: ReplyDigest


@dataclass(frozen=True, slots=True)
class AskLost(OfRun):
    """A request was sent and no answer reached the disk: billed at its reserved worst case, as
    unaccounted.
    """

    key: str
    reserved: Amount


@dataclass(frozen=True, slots=True)
class AskFailed(OfRun):
    """The provider could not answer. `unaccounted` is what may have been billed all the same."""

    key: str
    kind: str
    message: str
    unaccounted: Amount
    retry: bool
    wait_s: int = 0
    """How long to wait before the next try, where the provider said so."""
    at: int = 0
    """When it failed, in seconds since 1970; 0: not known."""
    until: int = 0
    """When it is tried again, in seconds since 1970; 0: after the usual pause."""


@dataclass(frozen=True, slots=True)
class WaitEnded(OfRun):
    """A pause before the next try is over."""


@dataclass(frozen=True, slots=True)
class ActionLeft(OfRun):
    """An action that leaves the sandbox is about to be done. Written first: after a crash nobody knows
    whether it was done, so it is not repeated, and the role is told.
    """

    key: str
    """Of the effect that performs the reply's actions."""
    action: LeavingAction


@dataclass(frozen=True, slots=True)
class ActionsPerformed(OfRun):
    """What the reply asked for was done, as far as it could be."""

    done: ActionResults


@dataclass(frozen=True, slots=True)
class Checked(OfRun):
    """The steering checks ran in the worktree."""

    check: CheckDigest
    ref: str


@dataclass(frozen=True, slots=True)
class StepClosed(OfRun):
    """A step is over; `feedback` is what the next one is told."""

    step: int
    outcome: str
    feedback: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    mistake: bool = False


@dataclass(frozen=True, slots=True)
class ArtifactEdited(OfRun):
    """A person wrote the next version by hand; the gates judge it like any other."""

    artifacts: tuple[ArtifactRef, ...]
    by: str


@dataclass(frozen=True, slots=True)
class StageReopened(OfRun):
    """An accepted result is before a person again, as it passed its gates."""

    stage: str


@dataclass(frozen=True, slots=True)
class GateOpened(OfRun):
    """The stage's artifacts are complete: the gates judge them, in order."""


@dataclass(frozen=True, slots=True)
class GateJudged(OfRun):
    """A verdict, from what the orchestrator ran itself."""

    verdict: VerdictDigest


@dataclass(frozen=True, slots=True)
class HandedIn(OfRun):
    """A run beside its parent has done what it owes, and waits for the others."""


@dataclass(frozen=True, slots=True)
class Reverted(OfRun):
    """An edit made something worse and was undone: the worktree equals `tree` again."""

    tree: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttemptFailed(OfRun):
    """An attempt is given up, with its report."""

    report: FailureReport


@dataclass(frozen=True, slots=True)
class StageAccepted(OfRun):
    """A stage's artifacts are final and its commit is on the task's branch."""

    stage: str
    result: StageResult
    finals: tuple[ArtifactRef, ...]
    approved_by: str = ""
    """Who decided that the result stands: a person, or `automatic`; empty in journals of before it was said.
    """


IterationEvent: TypeAlias = IterationPresented | UserDecision | IterationStarted | LineExtended | PipelineExit
"""What people decide about versions, and how far a task goes."""

OtherTaskEvent: TypeAlias = (
    TaskCreated
    | ExternalArtifactImported
    | Moved
    | WorkspacePrepared
    | BaselineTaken
    | LaneRaised
    | RevisionAsked
    | RedReopened
    | TaskDelivered
    | Escalated
    | Resolved
    | BudgetRaised
    | ModelChanged
    | WaitLimitChanged
    | DependenciesDeclared
    | DependenciesMet
    | DefectNoted
    | TaskForked
    | Resumed
    | TaskAborted
    | TaskFailed
    | Discarded
)
TaskEvent: TypeAlias = OtherTaskEvent | IterationEvent

RunEvent: TypeAlias = (
    StageEntered
    | StepOpened
    | ContextAssembled
    | AskSent
    | AskTicketed
    | AskPromoted
    | AskAnswered
    | AskLost
    | AskFailed
    | WaitEnded
    | ActionLeft
    | ActionsPerformed
    | Checked
    | StepClosed
    | ArtifactEdited
    | StageReopened
    | GateOpened
    | GateJudged
    | HandedIn
    | Reverted
    | AttemptFailed
    | StageAccepted
)

Event: TypeAlias = TaskEvent | RunEvent


def _snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("_")


_BY_NAME: dict[str, type[Event]] = {_snake(kind.__name__): kind for kind in get_args(Event)}
_NAMES: dict[type[Event], str] = {kind: name for name, kind in _BY_NAME.items()}
EVENT_TYPES: tuple[str, ...] = tuple(_BY_NAME)


def event_name(event: Event) -> str:
    """The name an event has in the journal."""
    return _NAMES[type(event)]


def event_to_json(event: Event) -> dict[str, Json]:
    """The recorded form: `type`, then the fields."""
    body = encode(event)
    assert isinstance(body, dict)
    return {"type": event_name(event), **body}


def event_from_json(value: dict[str, Json]) -> Event:
    """Reads a recorded event; an unknown type raises `KeyError`, a wrong shape `ValueError`."""
    fields = value.copy()
    return decode(_BY_NAME[str(fields.pop("type"))], fields)
