"""The document workflow of a checkout: start it, go on, save it, ask where it is.

Each use case reads the files, asks the rules of `agentforge.phases` what shall be done, and writes that.
Whoever wants to know of every state that a command leaves behind is an `OnChange`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from agentforge.app.workflow.files import read_files, workflow_lock, write_files
from agentforge.app.workflow.log import append_line
from agentforge.catalog.phases import PhaseId
from agentforge.core.errors import PolicyError, StateInvalid, UserError
from agentforge.core.reply import Json
from agentforge.gates.debates.files import DebateVerdict
from agentforge.gates.debates.trigger import Flag
from agentforge.phases import advance, debates, snapshots
from agentforge.phases.advance import Advance, current_state
from agentforge.phases.knowledge import read_decisions, registry_path
from agentforge.phases.log import line_of
from agentforge.phases.state import WorkflowState
from agentforge.phases.tree import BrokenState, MissingFile, WorkflowTree
from agentforge.store.task.times import Clock, utc_now
from agentforge.system.git.repository import Git

__all__ = [
    "Checkout",
    "DebateVerdict",
    "Flag",
    "OnChange",
    "PhaseResult",
    "Standing",
    "WorkflowStatus",
    "continue_workflow",
    "judge_debate_of",
    "nobody",
    "plan_debate",
    "regenerate_debate",
    "run_phase",
    "save_workflow",
    "start_workflow",
    "workflow_status",
]

OnChange: TypeAlias = Callable[[Path, WorkflowState], None]
"""Told of the checkout and its state after every command on a workflow, also where nothing changed."""

Standing = Literal["complete", "in_progress", "blocked", "broken", "none"]


def nobody(_top: Path, _state: WorkflowState) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What a command on a workflow did, in the checkout at `top`."""

    top: Path
    advance: Advance
    written: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def state(self) -> WorkflowState:
        """Where the workflow is now."""
        return self.advance.state


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where a workflow lives, who is told of it, and what time it is."""

    top: Path
    branch: str = ""
    on_change: OnChange = nobody
    clock: Clock = utc_now
    command: str = ""
    """What its log calls whoever works on it."""

    @classmethod
    def open(
        cls, where: Path, on_change: OnChange = nobody, clock: Clock = utc_now, command: str = ""
    ) -> "Checkout":
        """The checkout around a directory."""
        git = Git.open(where)
        found = git.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
        return cls(git.top.resolve(), found.out.decode("utf-8", "replace").strip(), on_change, clock, command)

    def read(self) -> WorkflowTree:
        """The files as they are now."""
        return WorkflowTree(read_files(self.top), self.clock(), self.branch)

    def apply(self, step: "Callable[[WorkflowTree], Advance]") -> PhaseResult:
        """Take one step, with the workflow held; and tell of the state that it leads to."""
        with workflow_lock(self.top):
            tree = self.read()
            done = step(tree)
            snapshots.save_if_due(tree)
            written = self.write(tree, done)
        self.on_change(self.top, done.state)
        return PhaseResult(self.top, done, tuple(written), tuple(dict.fromkeys(tree.notes)))

    def write(self, tree: WorkflowTree, done: Advance) -> list[str]:
        """Write what shall be different, and a line of the log; the paths of the files."""
        written = write_files(self.top, tree)
        if written:
            why = done.why or "; ".join(done.waiting)
            append_line(self.top, line_of(tree, self.command, done.action, why, done.state))
        return written


def start_workflow(checkout: Checkout, objective: str, issue: str = "") -> PhaseResult:
    """Begin a workflow in a checkout that has none, or whose last one is complete."""
    return checkout.apply(lambda tree: advance.start(tree, objective, issue))


def run_phase(
    checkout: Checkout, phase: PhaseId, objective: str = "", flags: frozenset[Flag] = frozenset()
) -> PhaseResult:
    """Enter a phase, or go on in it."""
    return checkout.apply(lambda tree: advance.run_phase(tree, phase, objective, flags))


def continue_workflow(
    checkout: Checkout, flags: frozenset[Flag] = frozenset(), *, repair: bool = False
) -> PhaseResult:
    """Go on from where the files say the workflow is. With `repair`, a state that cannot be read is mended
    first.
    """

    def step(tree: WorkflowTree) -> Advance:
        if repair and (mended := snapshots.repair(tree)) is not None:
            return Advance("nothing", mended, why="the state could not be read")
        return advance.resume(tree, flags)

    return checkout.apply(step)


def save_workflow(checkout: Checkout) -> str:
    """Keep a copy of the state now; where it lies."""
    found: list[str] = []

    def step(tree: WorkflowTree) -> Advance:
        state = current_state(tree)
        found.append(snapshots.save(tree))
        return Advance("nothing", state, why="a copy was asked for")

    checkout.apply(step)
    return found[0]


@dataclass(frozen=True, slots=True)
class WorkflowStatus:
    """Where a workflow is, for whoever only looks."""

    standing: Standing
    state: WorkflowState | None = None
    problem: str = ""
    waiting: tuple[str, ...] = ()
    debate: DebateVerdict | None = None
    decisions: tuple[str, ...] = ()

    def record(self) -> dict[str, Json]:
        """The same as `--json` prints it."""
        return {
            "status": self.standing,
            "problem": self.problem or None,
            "state": self.state.record() if self.state else None,
            "waiting": list(self.waiting),
            "debate": self.debate.record() if self.debate else None,
            "decisions": list(self.decisions),
        }


def workflow_status(checkout: Checkout) -> WorkflowStatus:
    """Where the workflow is. What it lacks is found without writing anything but a copy that is due."""
    try:
        tree = checkout.read()
        state = current_state(tree)
    except MissingFile as error:
        return WorkflowStatus("none", problem=str(error))
    except BrokenState as error:
        return WorkflowStatus("broken", problem=str(error))
    except UserError as error:
        return WorkflowStatus("broken", problem=str(error))
    _save_if_due(checkout)
    verdict = debates.judge(tree, state.debate_id) if state.debate_id else None
    decisions = read_decisions(tree.get(registry_path("decisions.md")) or "")
    named = tuple(f"{each.id}: {each.title}" for each in decisions if each.is_in_force)
    if state.is_complete:
        return WorkflowStatus("complete", state, decisions=named)
    looked = WorkflowTree(tree.files, tree.now, tree.branch)
    try:
        waiting = advance.resume(looked).waiting if state.phase_status != "completed" else ()
    except UserError as error:
        return WorkflowStatus("broken", state, str(error), debate=verdict, decisions=named)
    blocked = bool(verdict) and not state.debate_gate_passed and not (verdict and verdict.complete)
    return WorkflowStatus(
        "blocked" if blocked else "in_progress", state, waiting=waiting, debate=verdict, decisions=named
    )


def _save_if_due(checkout: Checkout) -> None:
    """The copy of the hour; left out where another command is at work, which makes its own."""
    tree = checkout.read()
    if not snapshots.save_if_due(tree):
        return
    try:
        with workflow_lock(checkout.top):
            checkout.write(tree, Advance("nothing", current_state(tree), why="the last copy was an hour old"))
    except PolicyError:
        return


def judge_debate_of(checkout: Checkout, debate_id: str = "") -> tuple[str, DebateVerdict]:
    """A debate by its name, or the one that the workflow waits for; and what the gate says of it."""
    tree = checkout.read()
    state = current_state(tree)
    name = debate_id or state.debate_id
    known = [each.debate_id for each in debates.plans_of(tree)]
    if not name or (name not in known and not debates.texts_of(tree, name)):
        listed = f"Known are {', '.join(known)}." if known else _how_to_begin(state)
        raise MissingFile(f"There is no debate {name or 'in this phase'}.", listed)
    return name, debates.judge(tree, name)


def _is_between_phases(state: WorkflowState) -> bool:
    return state.phase_status == "completed" or state.phase == "init"


def _how_to_begin(state: WorkflowState) -> str:
    """How to come to a debate from here."""
    if state.is_complete:
        return '`agentforge phase start "objective"` begins another workflow.'
    if _is_between_phases(state):
        return "Enter the next phase with `agentforge phase continue` first."
    return "`agentforge phase debate --plan` plans one; `agentforge phase continue` does when due."


def plan_debate(checkout: Checkout, topic: str = "") -> PhaseResult:
    """Write the plan of a debate for the current phase, whatever its triggers say."""

    def step(tree: WorkflowTree) -> Advance:
        state = current_state(tree)
        if _is_between_phases(state):
            raise StateInvalid(
                f"{state.phase} is completed, so there is nothing to debate in it.", _how_to_begin(state)
            )
        if state.debate_id and not state.debate_gate_passed:
            raise StateInvalid(
                f"The debate {state.debate_id} is not over.",
                f"`agentforge phase debate --regenerate --id {state.debate_id}` writes its plan again.",
            )
        return advance.plan_debate(tree, state, topic)

    return checkout.apply(step)


def regenerate_debate(checkout: Checkout, debate_id: str = "", topic: str = "") -> PhaseResult:
    """Write the plan of a debate again from what the documents say now; files of roles stay."""

    def step(tree: WorkflowTree) -> Advance:
        name = debate_id or current_state(tree).debate_id
        if not name:
            raise MissingFile("This phase has no debate.", _how_to_begin(current_state(tree)))
        return advance.regenerate_plan(tree, name, topic)

    return checkout.apply(step)
