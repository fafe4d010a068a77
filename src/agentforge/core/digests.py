"""What an effect came to, and what a person chose, each declared once: an input brings it, and the event that
follows carries it. In the journal its fields are among those of the event.
"""

from dataclasses import dataclass

from agentforge.core.codec import Inlined
from agentforge.core.pipeline import GateName, Pipeline
from agentforge.core.values import ActionDigest, Amount, ArtifactRef, Delivery, GateStatus, Opened, Price


@dataclass(frozen=True, slots=True)
class ContextDigest(Inlined):
    """The context of a step in short; the whole of it is in the pack."""

    ref: str
    """Where it is in the pack."""
    tokens: int
    dropped: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    """What in text from outside reads like an instruction, with its place."""


@dataclass(frozen=True, slots=True)
class RequestDigest(Inlined):
    """A request to a model in short, before its bytes leave."""

    request_hash: str
    model: str
    reserved: Amount
    """The most that the call may cost."""
    tier: str = ""
    why: str = ""
    """Why this model and no other, where that needs saying."""
    delivery: Delivery = "live"


@dataclass(frozen=True, slots=True)
class LeavingAction(Inlined):
    """An action that leaves the sandbox."""

    number: int
    """The action's place in the reply, from 1."""
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class ActionResults(Inlined):
    """What each action of a reply came to, and the tree after them."""

    ref: str
    """Where the whole results are in the pack."""
    tree: str
    results: tuple[ActionDigest, ...]
    artifacts: tuple[ArtifactRef, ...] = ()
    opened: tuple[Opened, ...] = ()
    created: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    notes: str | None = None
    came: tuple[str, ...] = ()
    """Marks of what each action came to, those refused as repeated aside; of tasks of older releases none."""
    told: str = ""
    """What language servers said of the base, where it had come in by then: the next steps are shown it."""


@dataclass(frozen=True, slots=True)
class VerdictDigest(Inlined):
    """The verdict of one gate, from what the orchestrator ran itself, with its reasons and its record."""

    gate: GateName
    status: GateStatus
    reasons: tuple[str, ...]
    ref: str
    """Where the whole record is in the pack."""
    finals: tuple[ArtifactRef, ...] = ()
    tests_passing: int | None = None
    """Of the tests that it ran; None where it ran none."""
    tests_total: int | None = None
    tests_not_passing_before: int = 0
    """Of those that do not pass: how many did not on the base either. They are no failure of the task."""


@dataclass(frozen=True, slots=True)
class StageResult(Inlined):
    """The commit and the branch that an accepted stage leaves, and what conditions may ask about it."""

    tree: str
    commit: str
    facts: tuple[str, ...] = ()
    """What conditions may ask about (`core.conditions`), as it is now."""
    branch: str = ""
    """The name of that branch; empty if there is none yet, and in journals of before it could vary."""
    kept: tuple[str, ...] = ()
    """Branches that are not where this task left them, with their commits: left alone."""


@dataclass(frozen=True, slots=True)
class Handover(Inlined):
    """What a task hands over: branch and evidence."""

    branch: str
    commit: str
    evidence: str
    kept: tuple[str, ...] = ()
    """Branches that are not where this task left them, with their commits: left alone."""
    seal: str = ""
    """The commit above it that carries the statement of what was proved; empty where nothing changed, and in
    journals of before there was one.
    """


@dataclass(frozen=True, slots=True)
class ModelChoice(Inlined):
    """The model that a person named for the rest of the task."""

    model: str
    by: str
    price: Price | None = None
    """What a call may cost from here on; None: nobody knows."""
    tier: str = ""
    """The kind of work that it is for; empty: for everything."""


@dataclass(frozen=True, slots=True)
class Extension(Inlined):
    """How much further a person wants the task to go."""

    pipeline: Pipeline
    """The stages that it has, and more behind them."""
    catalogue: str
    """Hash of the resolved pipeline in the pack."""
    by: str


@dataclass(frozen=True, slots=True)
class ForkPoint(Inlined):
    """Where a task leaves the record that it shares with another one."""

    task: str
    """The task that did and paid what is on record up to here."""
    step: int
    """The last step that both share."""
    head: str
    """The hash of the last line that both share."""
    by: str
