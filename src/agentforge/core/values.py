"""The small values that events, inputs and state share."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from agentforge.core.reply import Signal

Status = Literal[
    "draft",
    "planned",
    "approved",
    "scheduled",
    "running",
    "verifying",
    "completed",
    "blocked",
    "failed",
    "cancelled",
]
STATUSES: tuple[Status, ...] = get_args(Status)

EscalationKind = Literal[
    "question",  # the model asked
    "permission",  # a call of the model needs a person's yes
    "exhausted",  # every attempt of a stage failed
    "terminal",  # the model gave up
    "replan",  # work was found that this pipeline has no place for
    "budget",  # the next call does not fit the cap
    "review",  # the reviewer blocks again and again
    "environment",  # the project's environment cannot be built
    "model",  # the provider cannot be used
    "dependency",  # what the task waits for failed, is gone, or waits for it
    "degraded",  # too many of the last steps failed
    "confused",  # something the core cannot classify
    "iteration",  # a version of an artifact is presented, and somebody decides about it
    "approval",  # somebody wanted to be asked before the task goes on
]
RETRYABLE: frozenset[EscalationKind] = frozenset({"environment", "model", "dependency"})
"""Kinds that the world may mend by itself: `continue` alone tries again."""
STUCK: frozenset[EscalationKind] = frozenset({"exhausted", "terminal", "review", "degraded"})
"""Kinds where the model got no further: `continue` with another model tries again."""

Owner = Literal["worker", "reviewer", "debater"]
"""Who works in a run. What follows from it is in `OWNERS` of `core/machine.py`."""


@dataclass(frozen=True, slots=True)
class OfRun:
    """What belongs to one run, and names it."""

    run: str
    """The id of the run."""


GateStatus = Literal["passed", "failed", "not_run", "blocked", "split", "unread"]
"""`blocked`: a reviewer demands a revision. `split`: reviewers disagree, and an arbiter decides. `unread`:
parts of the change have had no reader yet.
"""
CheckStatus = Literal["passed", "failed", "not_run"]


@dataclass(frozen=True, slots=True)
class Price:
    """What a model charges, in micro-dollars per million tokens."""

    input: int
    output: int

    def worst(self, input_tokens: int, output_tokens: int) -> int:
        """The most a call of this size can cost, rounded up."""
        return -(-(self.input * input_tokens + self.output * output_tokens) // 1_000_000)


@dataclass(frozen=True, slots=True)
class TierPrice:
    """The dearest that a call of one tier can be, whichever of its models answers."""

    tier: str
    price: Price | None


Delivery = Literal["live", "batch"]


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls cost: tokens always, money where the price is known."""

    calls: int = 0
    tokens: int = 0
    micro_usd: int = 0

    def plus(self, other: "Amount") -> "Amount":
        """This and another amount together."""
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.micro_usd + other.micro_usd)


@dataclass(frozen=True, slots=True)
class Budget:
    """The cap of a task. `micro_usd` is None where no money cap was set."""

    calls: int = 200
    tokens: int = 4_000_000
    micro_usd: int | None = None

    def times(self, factor: int) -> "Budget":
        """The cap multiplied by `factor`, for a person who gives more."""
        return Budget(
            self.calls * factor,
            self.tokens * factor,
            None if self.micro_usd is None else self.micro_usd * factor,
        )

    def holds(self, amount: Amount) -> bool:
        """Whether all of `amount` is under the cap."""
        money = self.micro_usd is None or amount.micro_usd <= self.micro_usd
        return amount.calls <= self.calls and amount.tokens <= self.tokens and money


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of `input_tokens` that came from a prompt cache."""
    written_tokens: int = 0
    """The part of `input_tokens` that was written to one."""


@dataclass(frozen=True, slots=True)
class ReplyDigest:
    """A model's reply in short; the whole of it is in the pack."""

    ref: str
    """Where it is in the pack."""
    usage: Usage = Usage()
    cost: Amount = Amount()
    actions: int = 0
    """How many actions it asks for."""
    priced: bool = True
    """False: the price of this model is not known; `cost.micro_usd` is 0 and the bill says so."""
    signal: Signal | None = None
    """What the model says that the step ended in."""
    mistake: str = ""
    """Why it cannot be used as it is, in the words that the model is told."""
    summary: str = ""
    """What the model says that it did."""
    model: str = ""
    """As the provider names it."""
    delivery: Delivery = "live"


@dataclass(frozen=True, slots=True)
class Opened:
    """A place in the repository that the role looked at or wrote."""

    path: str
    symbol: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ActionDigest:
    """One action's outcome in a line; the whole of it is in the pack."""

    name: str
    ok: bool
    target: str = ""
    mistake: str = ""
    text: str = ""

    @property
    def label(self) -> str:
        """What was called, and on what if that is known: how the action is named in feedback."""
        return f"{self.name} {self.target}".rstrip()


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact by contract, version and content."""

    contract: str
    phase: str
    version: int
    hash: str


Oversight = Literal["autonomous", "supervised", "interactive"]
"""How often a person is asked: where the work is stuck; before every stage; before every step."""

Choice = Literal["approve", "revise", "reject", "exit", "extend"]
"""What a person can decide about a version that is presented."""
CHOICES: tuple[Choice, ...] = get_args(Choice)
ACCEPTS: frozenset[str] = frozenset({"approve", "exit", "extend"})
"""Choices that take the version as it is."""

Priority = Literal["must_address", "should_consider"]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that a person wants changed in a version."""

    issue: str
    location: str = ""
    """Where in the document, such as `requirements.REQ-003`."""
    suggestion: str = ""
    priority: Priority = "must_address"

    @property
    def line(self) -> str:
        """The issue in one line, with its place."""
        text = " ".join(part.strip().rstrip(".") + "." for part in (self.issue, self.suggestion) if part)
        return f"{self.location}: {text}" if self.location else text


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person says of a version that was presented."""

    overall: str = ""
    issues: tuple[Issue, ...] = ()

    def lines(self, priority: Priority) -> tuple[str, ...]:
        """The issues of one priority, a line each."""
        return tuple(issue.line for issue in self.issues if issue.priority == priority)


@dataclass(frozen=True, slots=True)
class Iteration:
    """A version of a stage's result that a person was shown, and what they decided."""

    stage: str
    number: int
    """Counted over the task, per stage, from 1."""
    shown: tuple[ArtifactRef, ...]
    decision: str = ""
    """One of `CHOICES`; empty while nobody has decided."""
    by: str = ""
    feedback: Feedback | None = None
    edited: tuple[ArtifactRef, ...] = ()
    """What they wrote by hand instead."""

    @property
    def settled(self) -> tuple[ArtifactRef, ...]:
        """What the decision is about: what was shown, with what the person wrote in its place."""
        return tuple({ref.contract: ref for ref in (*self.shown, *self.edited)}.values())


Opener = Literal["role", "review", "person"]
"""Who wants locked tests to be opened again."""


@dataclass(frozen=True, slots=True)
class Reopening:
    """Why locked tests are opened again."""

    reason: str
    tests: tuple[str, ...] = ()
    """Ids or files that it is about; none: any of them."""
    by: Opener = "role"


PERMISSION_OPTIONS = ("allow", "always", "deny", "abort")

UNKNOWN = "outcome_unknown"
"""How an action is marked that left the sandbox when its driver was stopped: no mistake of the model."""
NOT_DONE = frozenset({"asked", "waits"})
"""How an action is marked that waits for a person: the model made no mistake, and nothing was tried."""


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call that a person is asked to allow, in the words that a grant for it would have."""

    digest: str
    """Of the tool and of what exactly it would do: a yes is for this and for nothing else."""
    tool: str
    risk: str
    command: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    content: str = ""
    """The hash of the tool itself, where the repository declares it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked."""

    text: str
    options: tuple[str, ...] = ()
    recommendation: str = ""
    call: WantedCall | None = None
    """The call that waits for the answer, where the question is whether it may be made."""
    about: tuple[str, ...] = ()
    """Old tests that a role gives up, where the question is whether it may."""
    if_no: str = ""
    """What the role is told where the answer is not yes; a yes lets the gate judge again."""


Then = Literal["recommended", "abort"]
"""What happens to a question that nobody answers in time."""


@dataclass(frozen=True, slots=True)
class QuestionRule:
    """How long a question waits for an answer, and what happens then."""

    timeout_s: int = 0
    """0: for ever."""
    then: Then = "recommended"


@dataclass(frozen=True, slots=True)
class DegradedRule:
    """How many of the last steps may fail before a person is asked; 0 steps: any number."""

    window: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class FailureReport:
    """Where an attempt got stuck."""

    stage: str
    attempt: int
    step: int
    reason: str
    last: tuple[str, ...] = ()
    """The last feedback lines the role was given."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """An open or answered question."""

    id: str
    kind: EscalationKind
    stage: str
    """The stage, and for a reviewer who: as the run is called in reports."""
    question: Question
    reports: tuple[FailureReport, ...] = ()
    answer: str | None = None
    by: str = ""
    run: str = ""
    """The run that the question comes from; empty where it comes from none."""
    timeout_s: int = 0
    """How long it waits for an answer; 0: for ever."""
    unless_answered: str = ""
    """The answer that counts then."""

    @property
    def allows(self) -> bool:
        """Whether a person said yes to the call that this asked about. Anything but the two words for it is a
        no.
        """
        return self.kind == "permission" and is_yes(self.answer or "")


def is_yes(answer: str) -> bool:
    """Whether an answer to a question for permission allows the call."""
    return answer.strip().lower() in ("allow", "always")


def agrees(answer: str) -> bool:
    """Whether an answer to a gate's question is a yes."""
    return is_yes(answer) or answer.strip().lower().rstrip(".!") in ("yes", "y")


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was true on the base: by reference, and in numbers."""

    ref: str
    env_key: str
    sandbox: str
    tests: int
    passing: int
    failing: int
    flaky: int
    summary: str
    failing_tests: tuple[str, ...] = ()
    """The first of those that fail, by name."""
    kept: bool = False
    """Whether an earlier task ran the tests, on the same commit and in the same environment."""


@dataclass(frozen=True, slots=True)
class Told:
    """What language servers said of the base, by reference."""

    ref: str
    since: int
    """The first step that may be shown it."""


VIOLATION = re.compile(r"\bV-[0-9a-f]{12}\b")
"""How a violation is named."""


@dataclass(frozen=True, slots=True)
class CodeViolation:
    """A rule about code that an edit does not keep, as a role is shown it."""

    check_id: str
    contract: str
    severity: str
    file: str
    line: int
    message: str
    fix_hint: str


PartStatus = Literal["passing", "failing", "not_run", "not_configured"]


@dataclass(frozen=True, slots=True)
class CheckPart:
    """How one kind of check after an edit ended."""

    name: str
    status: PartStatus
    total: int | None = None
    passing: int | None = None
    violations: tuple[CodeViolation, ...] = ()
    errors: int | None = None
    warnings: int | None = None
    skipped: int = 0
    """Of tests: those that neither pass nor fail."""


@dataclass(frozen=True, slots=True)
class CheckDigest:
    """The steering checks after an edit, in short."""

    status: CheckStatus
    summary: str
    failures: tuple[str, ...] = ()
    at_risk: tuple[str, ...] = ()
    tests_passing: int | None = None
    """Of the tests that ran; None where none did."""
    tests_total: int | None = None
    parts: tuple[CheckPart, ...] = ()
    """Each kind of check, in the order in which they ran."""
    tests_not_passing_before: int = 0
    """Of those that do not pass: how many did not on the base either."""
