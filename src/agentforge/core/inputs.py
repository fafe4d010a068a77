"""What reaches a task: outcomes of effects, messages from people, and the start of a driver."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
from agentforge.core.events import ExternalArtifactImported
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    ArtifactRef,
    Baseline,
    CheckDigest,
    Feedback,
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

    context: ContextDigest
    """What reads like an instruction is all named here, new or not."""


@dataclass(frozen=True, slots=True)
class AskStarted:
    """The intent line of `Ask`, before the bytes leave."""

    request: RequestDigest


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

    action: LeavingAction


@dataclass(frozen=True, slots=True)
class Acted:
    """Outcome of `Act`: what each action of the reply came to, and the tree after them."""

    done: ActionResults
    question: Question | None = None
    reopens: Reopening | None = None
    """The role says that locked tests are wrong."""


@dataclass(frozen=True, slots=True)
class CheckRan:
    """Outcome of `Check`: what the checks after an edit found."""

    check: CheckDigest
    ref: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Outcome of `Judge`: the verdict of one gate, with its reasons and its record."""

    verdict: VerdictDigest
    tests_wrong: bool = False
    """A reviewer blocks because of a test, not of the code."""
    question: Question | None = None
    """What a person must say before this gate can pass."""
    parts: int = 1
    """Of a review: how many parts the change has to be read in."""
    ask_after: int = 0
    """So many rounds of feedback come before the question: the role may mend it by itself."""


@dataclass(frozen=True, slots=True)
class CommitMade:
    """Outcome of `Commit`: the stage's result is on the task's branch."""

    result: StageResult
    files: int = 0
    lines: int = 0
    """How far the change reaches, tests aside."""
    dependencies: Dependencies = Dependencies()
    """What the specification says that the task waits for."""


@dataclass(frozen=True, slots=True)
class DeliveryMade:
    """Outcome of `Deliver`: branch and evidence are in place."""

    handover: Handover


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

    extension: Extension
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

    choice: ModelChoice


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

    point: ForkPoint


Message: TypeAlias = (
    Resolution | Resume | Abort | ChangeModel | ChangeWait | Expired | NoteDefect | Fork | Extend | Revise
)
"""What a person tells a task, at any time."""

Intent: TypeAlias = AskStarted | AskQueued | ActionLeaving
"""What an effect under way puts on record before it goes on."""

Input: TypeAlias = Create | DriverStarted | OwedAgain | Intent | Outcome | Message
