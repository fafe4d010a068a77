"""What reaches a task: outcomes of effects, messages from people, and the start of a driver."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentforge.core.dependencies import Dependencies, FoundArtifact
from agentforge.core.events import ExternalArtifactImported
from agentforge.core.pipeline import GateName, Pipeline
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    Baseline,
    CheckDigest,
    Delivery,
    Feedback,
    GateStatus,
    Opened,
    Price,
    Question,
    Reopening,
    ReplyDigest,
)

TroubleKind = Literal[
    "auth",
    "rate_limit",
    "quota",
    "unreachable",
    "timeout",
    "server",
    "bad_request",
    "window",  # no model of the tier has room for the request
    "no_model",  # nothing is configured, or nothing that the mode allows
    "not_installed",
    "day_cap",  # the user's cap for a day would be passed
    "script",
    "consent",  # nobody has agreed to the models that the repository names
]


@dataclass(frozen=True, slots=True)
class Create:
    """A request becomes a task, with what is handed in beside it."""

    spec: TaskSpec
    imports: tuple[ExternalArtifactImported, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """Outcome of `Prepare`: the worktree is ready."""

    tree: str
    notices: tuple[str, ...] = ()
    human_commit: str = ""
    human_paths: tuple[str, ...] = ()
    human_tests: tuple[str, ...] = ()
    """Those of them that were locked."""


@dataclass(frozen=True, slots=True)
class BaselineReady:
    """Outcome of `TakeBaseline`: every configured check has run on the base."""

    baseline: Baseline


@dataclass(frozen=True, slots=True)
class BaselineFailed:
    """`TakeBaseline` could not build or run: one question in the first minute."""

    sentence: str
    next_step: str
    options: tuple[str, ...] = ("retry", "abort")


@dataclass(frozen=True, slots=True)
class Assembled:
    """Outcome of `Assemble`: the context of the step is in the pack."""

    ref: str
    tokens: int
    dropped: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    """What in text from outside reads like an instruction, with its place; new or not."""


@dataclass(frozen=True, slots=True)
class AskStarted:
    """The intent line of `Ask`, before the bytes leave."""

    request_hash: str
    model: str
    reserved: Amount
    tier: str = ""
    why: str = ""
    """Why this model and no other, where that needs saying."""
    delivery: Delivery = "live"


@dataclass(frozen=True, slots=True)
class AskQueued:
    """The provider took the call in a batch, under this ticket."""

    ticket: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Outcome of `Ask`: the reply is on disk."""

    reply: ReplyDigest


@dataclass(frozen=True, slots=True)
class AskTrouble:
    """Outcome of `Ask`: the provider did not answer."""

    kind: TroubleKind
    message: str
    retryable: bool
    maybe_billed: bool
    retry_after_s: int | None = None
    """How long the provider asked to wait."""
    options: tuple[str, ...] = ("retry", "abort")
    """What a person can answer, if one must be asked."""
    advice: str = "retry"
    at: int = 0
    """When that was, in seconds since 1970; 0: nobody looked at a clock."""


@dataclass(frozen=True, slots=True)
class AskLate:
    """Outcome of `Ask`: its batch took too long, and nobody waits for it any more."""

    maybe_billed: bool


@dataclass(frozen=True, slots=True)
class Parked:
    """`Ask` has no outcome while this driver lives: the call waits in a batch, for another one to collect.
    Nothing is recorded.
    """


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Outcome of `Pause`: the wait before the next try is over."""


@dataclass(frozen=True, slots=True)
class ActionLeaving:
    """The intent line of an action that leaves the sandbox, before it is done."""

    number: int
    """The action's place in the reply, from 1."""
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Acted:
    """Outcome of `Act`: what each action of the reply came to, and the tree after them."""

    ref: str
    tree: str
    results: tuple[ActionDigest, ...]
    artifacts: tuple[ArtifactRef, ...] = ()
    opened: tuple[Opened, ...] = ()
    created: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    notes: str | None = None
    question: Question | None = None
    reopens: Reopening | None = None
    """The role says that locked tests are wrong."""
    came: tuple[str, ...] = ()
    """Marks of what each action came to, those refused as repeated aside."""


@dataclass(frozen=True, slots=True)
class CheckRan:
    """Outcome of `Check`: what the checks after an edit found."""

    check: CheckDigest
    ref: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Outcome of `Judge`: the verdict of one gate, with its reasons and its record."""

    gate: GateName
    status: GateStatus
    reasons: tuple[str, ...]
    ref: str
    finals: tuple[ArtifactRef, ...] = ()
    tests_wrong: bool = False
    """A reviewer blocks because of a test, not of the code."""
    question: Question | None = None
    """What a person must say before this gate can pass."""
    parts: int = 1
    """Of a review: how many parts the change has to be read in."""
    ask_after: int = 0
    """So many rounds of feedback come before the question: the role may mend it by itself."""
    tests_passing: int | None = None
    """Of the tests that it ran; None where it ran none."""
    tests_total: int | None = None
    tests_not_passing_before: int = 0
    """Of those that do not pass: how many did not on the base either. They are no failure of the task."""


@dataclass(frozen=True, slots=True)
class CommitMade:
    """Outcome of `Commit`: the stage's result is on the task's branch."""

    tree: str
    commit: str
    facts: tuple[str, ...] = ()
    """What conditions may ask about (`core.conditions`), as it stands now."""
    files: int = 0
    lines: int = 0
    """How far the change reaches, tests aside."""
    branch: str = ""
    """Where the commit is; empty if there is nothing to hold."""
    kept: tuple[str, ...] = ()
    """Branches that are not where this task left them, with their commits: left alone."""
    dependencies: Dependencies = Dependencies()
    """What the specification says that the task waits for."""


@dataclass(frozen=True, slots=True)
class DeliveryMade:
    """Outcome of `Deliver`: branch and evidence are in place."""

    branch: str
    commit: str
    evidence: str
    kept: tuple[str, ...] = ()
    """Branches that are not where this task left them, with their commits: left alone."""
    seal: str = ""
    """The commit that carries the statement; empty if there is no branch."""


@dataclass(frozen=True, slots=True)
class DependenciesReady:
    """Outcome of `Depend`: what was waited for is there."""

    found: tuple[FoundArtifact, ...] = ()


@dataclass(frozen=True, slots=True)
class DependencyLost:
    """Outcome of `Depend`: something will not come by itself."""

    sentence: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Unclassified:
    """An effect ended in a way nobody foresaw: halt when confused."""

    what: str


@dataclass(frozen=True, slots=True)
class OwedAgain:
    """An effect is owed whose outcome is on record: a rule is broken, and performing it would never end."""

    key: str
    """The key of the effect that is owed again."""


@dataclass(frozen=True, slots=True)
class DriverStarted:
    """A driver took the lock: whatever was in flight is gone."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A person answers an escalation."""

    escalation: str
    answer: str
    by: str
    feedback: Feedback | None = None
    """What they say of a version that was presented, in parts."""
    edited: tuple[ArtifactRef, ...] = ()
    """What they wrote by hand instead of what was presented."""


@dataclass(frozen=True, slots=True)
class Extend:
    """A person wants a task to go on beyond its last stage. Never taken from the inbox, which lies in the
    repository: a line decides which gates there are.
    """

    pipeline: Pipeline
    """The stages that it has, and more behind them."""
    catalogue: str
    by: str
    dependencies: Dependencies = Dependencies()
    """What its accepted specification waits for, before anything is built on it."""


@dataclass(frozen=True, slots=True)
class Revise:
    """A person wants to see the last result of a completed task again, to change it."""

    by: str


@dataclass(frozen=True, slots=True)
class Resume:
    """A person asks a halted task to go on."""

    by: str


@dataclass(frozen=True, slots=True)
class Abort:
    """A person ends the task."""

    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """A person wants another model for the rest of the task. Never taken from the inbox, which lies in the
    repository: only they can name one.
    """

    model: str
    by: str
    price: Price | None = None
    """What a call may cost; None: nobody knows."""
    tier: str = ""
    """The kind of work that it is for; empty: for everything."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Nobody has answered a question in time. Never taken from the inbox: whoever drives has a clock."""

    escalation: str


@dataclass(frozen=True, slots=True)
class ChangeWait:
    """A person says how long a provider may be waited for from now on. Never taken from the inbox."""

    max_wait_s: int
    by: str


Outcome: TypeAlias = (
    Prepared
    | BaselineReady
    | BaselineFailed
    | Assembled
    | Answered
    | AskTrouble
    | AskLate
    | Parked
    | Elapsed
    | Acted
    | CheckRan
    | Judged
    | CommitMade
    | DeliveryMade
    | DependenciesReady
    | DependencyLost
    | Unclassified
)
"""What an effect ends in."""


@dataclass(frozen=True, slots=True)
class NoteDefect:
    """A person found a fault in what was delivered."""

    note: str
    by: str


@dataclass(frozen=True, slots=True)
class Fork:
    """The record so far is another task's: this one goes on from there by itself."""

    task: str
    step: int
    head: str
    """The hash of the last line that both share."""
    by: str


Message: TypeAlias = (
    Resolution | Resume | Abort | ChangeModel | ChangeWait | Expired | NoteDefect | Fork | Extend | Revise
)
"""What a person tells a task, at any time."""

Intent: TypeAlias = AskStarted | AskQueued | ActionLeaving
"""What an effect under way puts on record before it goes on."""

Input: TypeAlias = Create | DriverStarted | OwedAgain | Intent | Outcome | Message
