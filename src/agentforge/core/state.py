"""A task as a value: everything the rules know of it."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from agentforge.core.events import (
    TaskDelivered,
)
from agentforge.core.pipeline import TIERS, Pipeline, Stage, Tier
from agentforge.core.reply import Signal
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
    Opened,
    Price,
    Status,
    TierPrice,
    Usage,
)

LEGAL_MOVES: dict[Status, tuple[Status, ...]] = {
    "draft": ("planned", "cancelled"),
    "planned": ("approved", "cancelled", "blocked"),
    "approved": ("scheduled", "cancelled"),
    "scheduled": ("running", "cancelled", "blocked"),
    "running": ("verifying", "failed", "blocked", "cancelled"),
    "verifying": ("completed", "failed", "running"),
    "completed": ("draft",),
    "failed": ("draft",),
    "blocked": ("draft", "cancelled"),
    "cancelled": ("draft",),
}
TERMINAL: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})

MAX_TRIED = 200
MAX_WORKING = 48
MAX_SEEN = 256
MAX_RECENT = 3
MAX_FLAGGED = 200
"""More places than that, and the repository is about such text."""

Point = Literal["assemble", "ask", "pause", "act", "check", "judge", "commit", "deliver", "given"]
"""What a run waits for; `given`: a reviewer has handed in and waits for the others."""


@dataclass(frozen=True, slots=True)
class StageRun:
    """One attempt at a stage, as far as it has come."""

    name: str
    attempt: int
    entry_tree: str
    point: Point = "assemble"
    steps: int = 0
    asks: int = 0
    """Tries of the call of this step, for its key."""
    troubles: int = 0
    wait_s: int = 0
    """What the provider asked for, before the next try."""
    """Consecutive failures of the provider in this step."""
    hurried: bool = False
    """A batch was late with this step's call."""
    gate: int = 0
    rounds: int = 0
    mistakes: int = 0
    context: str = ""
    context_tokens: int = 0
    reply: str = ""
    usage: Usage = Usage()
    signal: Signal | None = None
    summary: str = ""
    model_mistake: str = ""
    results: tuple[ActionDigest, ...] = ()
    submitted: bool = False
    """Whether this step handed in an artifact."""
    drafts: tuple[ArtifactRef, ...] = ()
    finals: tuple[ArtifactRef, ...] = ()
    judged: tuple[tuple[str, str], ...] = ()
    """Gate and evidence reference of each gate passed in this round."""
    feedback: tuple[str, ...] = ()
    notes: str = ""
    tried: tuple[str, ...] = ()
    working: tuple[Opened, ...] = ()
    created: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    check: CheckDigest | None = None
    seat: str = ""
    """The reviewer of the panel whose run this is; empty for the one who works."""
    step: int = 0
    """A reviewer's step under way, counted over the task."""
    skipped: str = ""
    """Why nobody was asked to work."""
    good_tree: str = ""
    """The last tree whose checks passed."""
    recent: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()
    """A reviewer's own last steps: nobody sees another's."""

    @property
    def label(self) -> str:
        """How this run is called in reports and scripts."""
        return f"{self.name}/{self.seat}" if self.seat else self.name


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stage that passed."""

    stage: str
    tree: str
    commit: str
    finals: tuple[ArtifactRef, ...]
    evidence: tuple[tuple[str, str], ...]
    skipped: str = ""
    """Why nobody was asked to work on it."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A call that was sent and has no outcome yet."""

    key: str
    reserved: Amount
    seat: str = ""
    model: str = ""
    delivery: Delivery = "live"
    ticket: str = ""
    """Of its batch, once the provider has it."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything the rules know of a task."""

    status: Status = "draft"
    task_id: str = ""
    request: str = ""
    base_commit: str = ""
    base_tree: str = ""
    model: str = ""
    sandbox: str = ""
    catalogue: str = ""
    pipeline: Pipeline = Pipeline("", "", ())
    higher: tuple[Pipeline, ...] = ()
    risen: tuple[str, ...] = ()
    """Why the lane rose, each time."""
    price: Price | None = None
    prices: tuple[TierPrice, ...] = ()
    budget: Budget = Budget()
    triage: tuple[str, ...] = ()
    marker: str = ""
    delivery: Delivery = "live"
    deadline_s: int = 0
    tree: str = ""
    prepared: bool = False
    halted: bool = False
    """The last driver ended on purpose: what differs in the worktree since is a person's work."""
    preparations: int = 0
    notices: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    """What was found in text from outside that reads like an instruction, each once."""
    human_commits: tuple[str, ...] = ()
    baseline: Baseline | None = None
    baselines: int = 0
    run: StageRun | None = None
    seats: tuple[StageRun, ...] = ()
    """The panel, while it sits."""
    step: int = 0
    accepted: tuple[Accepted, ...] = ()
    failures: tuple[FailureReport, ...] = ()
    grants: tuple[str, ...] = ()
    """Stages that a person gave one more attempt."""
    revisions: int = 0
    revised: tuple[tuple[str, int], ...] = ()
    """Revisions per stage that worked on them."""
    findings: tuple[str, ...] = ()
    """What the last review that blocked asks for; none once the work is accepted."""
    blocks: int = 0
    """Blocking reviews."""
    reverts: tuple[str, ...] = ()
    """What was undone, and why."""
    facts: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    recent: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()
    """References of what the last steps did and saw."""
    commit: str = ""
    """The tip of the task's branch: the base, then a person's commit or an accepted stage's."""
    spent: Amount = Amount()
    unaccounted: Amount = Amount()
    unpriced: int = 0
    """Calls whose price is not known."""
    cached_tokens: int = 0
    flights: tuple[Flight, ...] = ()
    answers: tuple[tuple[str, int], ...] = ()
    """Answers on record per stage."""
    versions: tuple[tuple[str, int], ...] = ()
    """The newest version handed in, per contract."""
    segment: int = 1
    failure: str = ""
    delivered: TaskDelivered | None = None
    branch: str = ""
    """The task's branch, once there is one."""
    branch_at: str = ""
    """The commit where the task left its branch."""
    branches_kept: tuple[str, ...] = ()
    """Branches of the names it wanted that somebody else made or moved, with their commits."""

    @property
    def stage(self) -> Stage:
        """The stage under way, as its run sees it."""
        assert self.run is not None
        stage = self.pipeline.stages[self.pipeline.index(self.run.name)]
        return stage.seated(self.run.seat) if self.run.seat else stage

    @property
    def tier(self) -> Tier:
        """What kind of model is asked: the role's own, and the next one up after a failed attempt."""
        assert self.run is not None
        return TIERS[min(TIERS.index(self.stage.tier) + (self.run.attempt > 1), len(TIERS) - 1)]

    @property
    def prefix(self) -> str:
        """What the keys of the step under way begin with."""
        assert self.run is not None
        return f"{self.run.label}/{self.run.attempt}/{self.step}"

    def focus(self, seat: str) -> "State":
        """The task as one reviewer of the panel sees it.

        The result under review stands as if accepted, and nobody's steps but their own show.
        """
        if not seat:
            return self
        assert self.run is not None
        run = next(item for item in self.seats if item.seat == seat)
        result = Accepted(
            self.run.name, self.tree, self.commit, self.run.finals or self.run.drafts, self.run.judged
        )
        return replace(
            self, run=run, step=run.step, accepted=(*self.accepted, result), recent=run.recent, acts=run.acts
        )

    @property
    def permits(self) -> frozenset[str]:
        """The calls that a person allowed, each for the rest of the task."""
        return frozenset(
            item.question.call.digest
            for item in self.escalations
            if item.question.call is not None and item.allows
        )

    def denial(self, digest: str) -> str | None:
        """What a person said when they refused this very call; None if nobody did."""
        about = [
            item
            for item in self.escalations
            if item.question.call is not None and item.question.call.digest == digest
        ]
        said = [item for item in about if item.answer is not None and item.answer != "abort"]
        return None if not said or said[-1].allows else said[-1].answer

    @property
    def open_escalation(self) -> Escalation | None:
        """The question a person owes an answer to."""
        return next((item for item in reversed(self.escalations) if item.answer is None), None)

    def revised_times(self, stage: str) -> int:
        """How often this stage was sent back to work."""
        return dict(self.revised).get(stage, 0)

    def answered(self, stage: str) -> int:
        """How many answers of this stage are on record."""
        return dict(self.answers).get(stage, 0)

    def next_version(self, contract: str) -> int:
        """The number that the next artifact under a contract gets."""
        return dict(self.versions).get(contract, 0) + 1

    def artifact(self, contract: str) -> ArtifactRef | None:
        """The newest accepted artifact under a contract."""
        found = [ref for item in self.accepted for ref in item.finals if ref.contract == contract]
        return found[-1] if found else None

    def in_flight(self) -> Amount:
        """What is reserved for calls without an outcome."""
        return reduce(Amount.plus, (flight.reserved for flight in self.flights), Amount())
