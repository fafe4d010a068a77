"""Runs: who is at work in a task, each with an id, an owner, a parent and a view of the others.

The worker's run is `worker`; the id of a run beside another one is `<parent>/<name>`.
"""

from dataclasses import dataclass

from agentforge.core.machine import OWNERS, Ownership, Point
from agentforge.core.values import (
    ActionDigest,
    ArtifactRef,
    CheckDigest,
    Opened,
    Owner,
    ReplyDigest,
)

WORKER = "worker"
"""The id of the run that goes through the stages."""


def child_id(parent: str, name: str) -> str:
    """The id of a run beside another one."""
    return f"{parent}/{name}"


def run_name(run: str) -> str:
    """What a run beside another one is called, by its id: the reviewer's role, or `arbiter`. Empty for the
    worker.
    """
    return run.partition("/")[2]


@dataclass(frozen=True, slots=True)
class ProviderRefusal:
    """A provider does not take calls for now. Times are in seconds since 1970."""

    since: int
    until: int
    """When it is asked again; 0: after the usual pause."""
    text: str
    """What it said."""


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at a stage by one owner, as far as it has come."""

    id: str
    stage: str
    """The name of the stage."""
    attempt: int
    entry_tree: str
    """The tree that the attempt began with."""
    owner: Owner = "worker"
    parent: str = ""
    """The run whose result this one is about; empty for the worker's."""
    point: Point = "assemble"
    """What it waits for."""
    step: int = 0
    """The step under way, counted over the task; that of a run beside it, if it is newer."""
    steps: int = 0
    """How many steps this attempt has taken."""
    asks: int = 0
    """Tries of the call of this step, for its key."""
    troubles: int = 0
    """Consecutive failures of the provider in this step."""
    wait_s: int = 0
    """What the provider asked for, before the next try."""
    refused: ProviderRefusal | None = None
    """That the provider has no quota left, or asked to wait; None: it has not in this step."""
    hurried: bool = False
    """A batch was late with this step's call."""
    gate: int = 0
    """The position of the gate that judges next."""
    rounds: int = 0
    """How often the gates have refused this attempt."""
    mistakes: int = 0
    """Consecutive steps of this attempt that the model spoiled."""
    context: str = ""
    """The step's context, in the pack."""
    context_tokens: int = 0
    reply: ReplyDigest = ReplyDigest("")
    """The reply of this step."""
    said: tuple[str, ...] = ()
    """Marks of the replies of this attempt, each with the tree that it was given on, and of what came of
    them.
    """
    again: bool = False
    """Whether this step's reply came before, on this very tree, and led to the same: nothing new will come of
    it.
    """
    left: tuple[int, ...] = ()
    """Places of those actions of the reply that leave the sandbox and were begun, with no outcome on record.
    """
    results: tuple[ActionDigest, ...] = ()
    """What became of the reply's actions."""
    submitted: bool = False
    """Whether this step handed in an artifact."""
    drafts: tuple[ArtifactRef, ...] = ()
    """The newest version of each artifact that was handed in."""
    finals: tuple[ArtifactRef, ...] = ()
    """The artifacts as the gates passed them."""
    judged: tuple[tuple[str, str], ...] = ()
    """Gate and evidence reference of each gate passed in this round."""
    feedback: tuple[str, ...] = ()
    """What the next step is told of the last."""
    notes: str = ""
    """What the role wrote down for itself."""
    tried: tuple[str, ...] = ()
    """What went wrong before, each in a line."""
    working: tuple[Opened, ...] = ()
    """What the role has opened."""
    created: tuple[str, ...] = ()
    """The files that it has created."""
    seen: tuple[str, ...] = ()
    """Marks of actions that were done on this tree: the same one again is refused."""
    check: CheckDigest | None = None
    """The steering checks of the tree as it is; None where they have not run."""
    good_tree: str = ""
    """The last tree whose checks passed."""
    skipped: str = ""
    """Why nobody was asked to work."""
    recent: tuple[str, ...] = ()
    """The last steps, each in a line."""
    acts: tuple[str, ...] = ()
    """What the last steps did and saw, in the pack."""

    @property
    def name(self) -> str:
        """What a run beside another one is called; empty for the worker's."""
        return run_name(self.id)

    @property
    def label(self) -> str:
        """How this run is called in keys, reports and scripts: its stage, and whose it is."""
        return f"{self.stage}/{self.name}" if self.parent else self.stage

    @property
    def prefix(self) -> str:
        """What the keys of the step under way begin with."""
        return f"{self.label}/{self.attempt}/{self.step}"

    @property
    def ask_key(self) -> str:
        """The key of the call of this step."""
        return f"{self.prefix}/ask/{self.asks}"

    @property
    def rules(self) -> Ownership:
        """What this kind of run sees, and what becomes of its result."""
        return OWNERS[self.owner]
