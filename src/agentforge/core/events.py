"""What can have happened to a task: the vocabulary of the journal. Past tense, closed, versioned by
`upcast`.
"""

from dataclasses import dataclass
from typing import TypeAlias, get_args

from agentforge.core.codec import decode, encode
from agentforge.core.pipeline import GateName, Pipeline
from agentforge.core.reply import Json, Signal
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    Baseline,
    Budget,
    CheckDigest,
    Delivery,
    Escalation,
    FailureReport,
    GateStatus,
    Opened,
    Price,
    Status,
    TierPrice,
    Usage,
)


@dataclass(frozen=True, slots=True)
class TaskCreated:
    """A request on a base commit, with everything that is fixed for the life of the task."""

    task_id: str
    request: str
    base_commit: str
    base_tree: str
    model: str
    sandbox: str
    catalogue: str
    """Hash of the resolved pipeline, roles, contracts and prompts in the pack."""
    pipeline: Pipeline
    budget: Budget
    price: Price | None
    triage: tuple[str, ...] = ()
    """Why this lane."""
    higher: tuple[Pipeline, ...] = ()
    """The lanes it may rise to."""
    prices: tuple[TierPrice, ...] = ()
    """What a call may cost, by tier; `price` where a tier is not named."""
    marker: str = ""
    """Chance, made for this task: what text from outside is fenced with, so that it cannot know its own
    fence.
    """
    delivery: Delivery = "live"
    """`batch`: every call that can go by batch does, whatever is configured."""
    deadline_s: int = 0
    """How long a call may wait for its batch before it is sent live; 0: as long as it takes."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A legal move between two of the ten states."""

    before: Status
    after: Status


@dataclass(frozen=True, slots=True)
class WorkspacePrepared:
    """The worktree stands at `tree`."""

    tree: str
    notices: tuple[str, ...] = ()
    human_commit: str = ""
    """Set where a person repaired a halted worktree: their edits, as their commit."""


@dataclass(frozen=True, slots=True)
class BaselineTaken:
    """The environment stands and every configured check has run on the base."""

    baseline: Baseline


@dataclass(frozen=True, slots=True)
class StageEntered:
    """An attempt at a stage begins from `entry_tree`."""

    stage: str
    attempt: int
    entry_tree: str
    feedback: tuple[str, ...] = ()
    drafts: tuple[ArtifactRef, ...] = ()
    """What a revision starts from."""
    skipped: str = ""
    """Why nobody is asked to work: the stage goes straight to its gates."""
    seat: str = ""
    """A seat of the stage's panel; empty for the one who works."""


@dataclass(frozen=True, slots=True)
class StepOpened:
    """A step begins; steps are counted over the task."""

    step: int
    seat: str = ""


@dataclass(frozen=True, slots=True)
class ContextAssembled:
    """The step's whole context is in the pack."""

    ref: str
    tokens: int
    dropped: tuple[str, ...] = ()
    seat: str = ""
    flagged: tuple[str, ...] = ()
    """What in text from outside reads like an instruction and was not on record before."""


@dataclass(frozen=True, slots=True)
class AskSent:
    """A request is about to leave. Written first, so that a lost answer stays on the bill."""

    key: str
    request_hash: str
    model: str
    reserved: Amount
    seat: str = ""
    tier: str = ""
    why: str = ""
    """Why this model and no other, where that needs saying."""
    delivery: Delivery = "live"


@dataclass(frozen=True, slots=True)
class AskTicketed:
    """The provider took the call in a batch: whoever drives next collects the answer under this ticket."""

    key: str
    ticket: str
    seat: str = ""


@dataclass(frozen=True, slots=True)
class AskPromoted:
    """A batch was late: the call is sent live instead. `unaccounted` is what the batch may bill all the
    same.
    """

    key: str
    unaccounted: Amount
    seat: str = ""


@dataclass(frozen=True, slots=True)
class AskAnswered:
    """A reply is on disk."""

    key: str
    ref: str
    usage: Usage
    cost: Amount
    actions: int
    priced: bool = True
    """False: the price of this model is not known; `cost.micro_usd` is 0 and the bill says so."""
    signal: Signal | None = None
    mistake: str = ""
    summary: str = ""
    seat: str = ""
    model: str = ""
    """As the provider names it."""
    delivery: Delivery = "live"


@dataclass(frozen=True, slots=True)
class AskLost:
    """A request was sent and no answer reached the disk: billed at its reserved worst case, as
    unaccounted.
    """

    key: str
    reserved: Amount
    seat: str = ""


@dataclass(frozen=True, slots=True)
class AskFailed:
    """The provider could not answer. `unaccounted` is what may have been billed all the same."""

    key: str
    kind: str
    message: str
    unaccounted: Amount
    retry: bool
    seat: str = ""
    wait_s: int = 0
    """How long to wait before the next try, where the provider said so."""


@dataclass(frozen=True, slots=True)
class WaitEnded:
    """A pause before the next try is over."""

    seat: str = ""


@dataclass(frozen=True, slots=True)
class ActionsPerformed:
    """What the reply asked for was done, as far as it could be."""

    ref: str
    tree: str
    results: tuple[ActionDigest, ...]
    artifacts: tuple[ArtifactRef, ...] = ()
    opened: tuple[Opened, ...] = ()
    created: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    notes: str | None = None
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The steering checks ran in the worktree."""

    check: CheckDigest
    ref: str


@dataclass(frozen=True, slots=True)
class StepClosed:
    """A step is over; `feedback` is what the next one is told."""

    step: int
    outcome: str
    feedback: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    mistake: bool = False
    seat: str = ""


@dataclass(frozen=True, slots=True)
class GateOpened:
    """The stage's artifacts are complete: the gates judge them, in order."""


@dataclass(frozen=True, slots=True)
class GateJudged:
    """A verdict, from what the orchestrator ran itself."""

    gate: GateName
    status: GateStatus
    reasons: tuple[str, ...]
    ref: str
    finals: tuple[ArtifactRef, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewGiven:
    """A reviewer of the panel has handed in."""

    seat: str


@dataclass(frozen=True, slots=True)
class Reverted:
    """An edit made something worse and was undone: the worktree stands at `tree` again."""

    tree: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaneRaised:
    """The work is more than its lane can carry: it goes on in a higher one, with every artifact kept."""

    lane: str
    why: str


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt is given up, with its report."""

    report: FailureReport
    seat: str = ""


@dataclass(frozen=True, slots=True)
class RevisionAsked:
    """A reviewer blocks: the work goes back."""

    stage: str
    revision: int
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StageAccepted:
    """A stage's artifacts are final and its commit is on the task's branch."""

    stage: str
    tree: str
    commit: str
    finals: tuple[ArtifactRef, ...]
    facts: tuple[str, ...] = ()
    """What conditions may ask about, as it stands now."""
    branch: str = ""
    """The name of that branch; empty if there is none yet, and in journals of before it could vary."""
    kept: tuple[str, ...] = ()
    """Branches that are not where this task left them, with their commits: left alone."""


@dataclass(frozen=True, slots=True)
class TaskDelivered:
    """Branch and evidence are in place."""

    branch: str
    commit: str
    evidence: str
    kept: tuple[str, ...] = ()
    """As in `StageAccepted`."""


@dataclass(frozen=True, slots=True)
class Escalated:
    """A person is asked; the task waits."""

    escalation: Escalation


@dataclass(frozen=True, slots=True)
class Resolved:
    """A person answered."""

    id: str
    answer: str
    by: str


@dataclass(frozen=True, slots=True)
class BudgetRaised:
    """A person gave more."""

    budget: Budget


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
    seat: str = ""


Event: TypeAlias = (
    TaskCreated
    | Moved
    | WorkspacePrepared
    | BaselineTaken
    | StageEntered
    | StepOpened
    | ContextAssembled
    | AskSent
    | AskTicketed
    | AskPromoted
    | AskAnswered
    | AskLost
    | AskFailed
    | WaitEnded
    | ActionsPerformed
    | Checked
    | StepClosed
    | GateOpened
    | GateJudged
    | ReviewGiven
    | Reverted
    | LaneRaised
    | AttemptFailed
    | RevisionAsked
    | StageAccepted
    | TaskDelivered
    | Escalated
    | Resolved
    | BudgetRaised
    | Resumed
    | TaskAborted
    | TaskFailed
    | Discarded
)


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
    kind = _BY_NAME[str(value["type"])]
    return decode(kind, {key: part for key, part in value.items() if key != "type"})
