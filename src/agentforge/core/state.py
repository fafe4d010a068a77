"""A task as a value: everything the rules know of it, and what one of its runs may see."""

from dataclasses import dataclass, fields
from functools import reduce

from agentforge.core.conditions import PROVIDED, Fact, holds
from agentforge.core.dependencies import Dependencies, FoundArtifact
from agentforge.core.digests import Handover, ModelChoice, StageResult
from agentforge.core.events import ExternalArtifactImported
from agentforge.core.pipeline import TIERS, Part, Reviewer, Stage, Tier
from agentforge.core.replacing import replace
from agentforge.core.runs import WORKER, Run
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    Amount,
    ArtifactRef,
    Baseline,
    Delivery,
    Escalation,
    FailureReport,
    Iteration,
    Reopening,
    Status,
    TierPrice,
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stage that has passed its gates, with what it made."""

    stage: str
    tree: str
    commit: str
    finals: tuple[ArtifactRef, ...]
    evidence: tuple[tuple[str, str], ...]
    """Gate and evidence reference of each gate that it passed."""
    skipped: str = ""
    """Why nobody was asked to work on it."""
    approved_by: str = ""
    """Who decided that it stands: a person, or `automatic`."""
    drafts: tuple[ArtifactRef, ...] = ()
    """What was handed in for it."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A call that was sent and has no outcome yet."""

    key: str
    reserved: Amount
    """The most that it may cost."""
    run: str
    """The id of the run whose call it is."""
    model: str = ""
    delivery: Delivery = "live"
    ticket: str = ""
    """Of its batch, once the provider has it."""


@dataclass(frozen=True, slots=True)
class State(TaskSpec):
    """What a task was started with, and where it is now."""

    status: Status = "draft"
    runs: tuple[Run, ...] = ()
    """Who is at work: the worker, and beside it whoever reads its result."""
    step: int = 0
    """The newest step; steps are counted over the task."""
    tree: str = ""
    """The recorded tree: what the worktree is made equal to before anybody acts."""
    commit: str = ""
    """The tip of the task's branch: the base, then a person's commit or an accepted stage's."""
    accepted: tuple[Accepted, ...] = ()
    """The stages that passed, in order; one that was revised is here again."""
    prepared: bool = False
    """Whether this segment has its worktree."""
    halted: bool = False
    """The last driver ended on purpose: what differs in the worktree since is a person's work."""
    preparations: int = 0
    """How often the worktree was made ready."""
    notices: tuple[str, ...] = ()
    """What a person should know of the last preparation."""
    human_commits: tuple[str, ...] = ()
    """What people changed while the task was halted, as their commits."""
    baseline: Baseline | None = None
    """What was measured on the base; None until the environment is built."""
    baselines: int = 0
    """How often it was measured."""
    risen: tuple[str, ...] = ()
    """Why the lane rose, each time."""
    flagged: tuple[str, ...] = ()
    """What was found in text from outside that reads like an instruction, each once."""
    failures: tuple[FailureReport, ...] = ()
    """The attempts that were given up."""
    closings: tuple[tuple[int, bool], ...] = ()
    """The last steps since a person came by, and whether each came to nothing."""
    grants: tuple[str, ...] = ()
    """Stages that a person gave one more attempt."""
    revisions: int = 0
    """How often work was sent back."""
    revised: tuple[tuple[str, int], ...] = ()
    """Revisions per stage that worked on them."""
    findings: tuple[str, ...] = ()
    """What the last review that blocked asks for; none once the work is accepted."""
    reviewed_tree: str = ""
    """The tree that the last review blocked; empty once one passes."""
    may_stay: bool = False
    """Since it blocked a person has said how to go on: it may be right as it is."""
    reviewed_drafts: tuple[ArtifactRef, ...] = ()
    """What was handed in when it blocked."""
    blocked_for: tuple[str, ...] = ()
    """What the last review asked for, until one passes."""
    settled: tuple[str, ...] = ()
    """What reviews asked for, and a later one did not ask for any more."""
    held_out: tuple[ArtifactRef, ...] = ()
    """The checks of an examiner that the work did not meet when it was sent back."""
    reopening: Reopening | None = None
    """Why the locked tests are open again; None once the change is accepted with the new ones."""
    reopenings: tuple[Reopening, ...] = ()
    """Every time that locked tests were opened again."""
    blocks: int = 0
    """How many reviews have blocked the task so far."""
    reverts: tuple[str, ...] = ()
    """What was undone, and why."""
    imports: tuple[ExternalArtifactImported, ...] = ()
    """What was handed in with the request."""
    facts: tuple[str, ...] = ()
    """What conditions may ask about (`core.conditions`)."""
    dependencies: Dependencies = Dependencies()
    """What the specification says that the task waits for."""
    declared: int = 0
    """How often that was said."""
    depends: bool = False
    """Whether it waits for that now."""
    found: tuple[FoundArtifact, ...] = ()
    """The artifacts of others that it waited for."""
    escalations: tuple[Escalation, ...] = ()
    """Every question to a person, answered or not."""
    spent: Amount = Amount()
    """What the answered calls cost."""
    unaccounted: Amount = Amount()
    """What calls without an answer may have cost, at their worst case."""
    unpriced: int = 0
    """Calls whose price is not known."""
    cached_tokens: int = 0
    """Tokens that came from a prompt cache."""
    flights: tuple[Flight, ...] = ()
    """Calls that were sent and have no outcome yet."""
    answers: tuple[tuple[str, int], ...] = ()
    """Answers on record per run, by its label."""
    versions: tuple[tuple[str, int], ...] = ()
    """The newest version handed in, per contract."""
    segment: int = 1
    """How often the task was taken up, its start included."""
    failure: str = ""
    """Why the task failed."""
    delivered: Handover | None = None
    """What was handed over; None again once the task goes on from there."""
    finals: tuple[ArtifactRef, ...] = ()
    """What was handed over in any segment: it never changes any more."""
    iterations: tuple[Iteration, ...] = ()
    """Every version that a person was shown."""
    sealed_branches: tuple[str, ...] = ()
    """Branches that were handed over before the task went on: they stay where they are."""
    branch: str = ""
    """The task's branch, once there is one."""
    branch_at: str = ""
    """The commit where the task left its branch."""
    forked_from: str = ""
    """The task whose record this one began with, and its last step that both share."""
    tier_models: tuple[tuple[str, str], ...] = ()
    """Models that a person named for one kind of work each: tier and model."""
    defects: tuple[str, ...] = ()
    """Faults that people found in what was delivered."""
    branches_kept: tuple[str, ...] = ()
    """Branches of the names it wanted that somebody else made or moved, with their commits."""

    # ------------------------------------------------------------------ the bill

    @property
    def loss_is_priced(self) -> bool:
        """Whether what calls without an answer may have cost is known in money."""
        known = self.price is not None or (self.prices and all(each.price for each in self.prices))
        return not self.unaccounted.calls or bool(self.unaccounted.micro_usd) or bool(known)

    @property
    def is_priced(self) -> bool:
        """Whether the whole bill is known in money: else it is not known, and never 0."""
        return not self.unpriced and self.loss_is_priced

    # ------------------------------------------------------------------ runs

    @property
    def worker(self) -> Run | None:
        """The run that goes through the stages; None before the first stage and after the last."""
        return self.find(WORKER)

    @property
    def panel(self) -> tuple[Run, ...]:
        """The runs of those who read the worker's result or are heard before it, while they are there."""
        return self.beside(WORKER)

    def find(self, run: str) -> Run | None:
        """The run with this id, if it is under way."""
        for item in self.runs:
            if item.id == run:
                return item
        return None

    def run_of(self, run: str) -> Run:
        """The run with this id, which is under way."""
        found = self.find(run)
        assert found is not None, f"there is no run {run}"
        return found

    def with_run(self, run: Run, **more: object) -> "State":
        """The state with this run as it is now. One that is not under way any more stays away."""
        runs = tuple(run if item.id == run.id else item for item in self.runs)
        return replace(self, runs=runs, **more)  # type: ignore[arg-type]  # fields of the state, by name

    def with_branch(self, left: StageResult | Handover) -> "State":
        """The state with the branch as it was left; a commit that is the base's has none."""
        if left.commit == self.base_commit:
            return self
        name = left.branch or f"agentforge/{self.task_id}"  # the one name there was in earlier releases
        kept = tuple(dict.fromkeys((*self.branches_kept, *left.kept)))
        at = (left.seal if isinstance(left, Handover) else "") or left.commit
        return replace(self, branch=name, branch_at=at, branches_kept=kept)

    def with_model(self, choice: ModelChoice) -> "State":
        """The state with another model for one kind of work, or for everything: then no kind has its own."""
        if not choice.tier:
            return replace(self, model=choice.model, price=choice.price, prices=(), tier_models=())
        models = {**dict(self.tier_models), choice.tier: choice.model}
        others = (each for each in self.prices if each.tier != choice.tier)
        prices = (*others, TierPrice(choice.tier, choice.price))
        return replace(self, tier_models=tuple(models.items()), prices=prices)

    def beside(self, parent: str, *, heard: bool | None = None) -> tuple[Run, ...]:
        """The runs beside this one: with `heard` true those that are heard before its work, with false those
        that are about its result.
        """
        found = tuple(item for item in self.runs if item.parent == parent)
        return found if heard is None else tuple(item for item in found if item.rules.heard == heard)

    def hears(self, run: str) -> bool:
        """Whether somebody is heard now, before the work of this run begins."""
        return any(each.point != "handed_in" for each in self.beside(run, heard=True))

    def stage_of(self, run: Run) -> Stage:
        """The stage that a run is at, as its owner has it."""
        stage = self.pipeline.stage(run.stage)
        return stage.read_by(run.name) if run.parent else stage

    def reviewers_of(self, stage: Stage) -> tuple[Reviewer, ...]:
        """Who reads the result of a stage beside it, as things stand now."""
        reads = not stage.reviewers_if or holds(stage.reviewers_if, self.facts)
        return stage.reviewers if reads else ()

    def tier_of(self, run: Run) -> Tier:
        """What kind of model is asked: the role's own, and the next one up after a failed attempt."""
        return TIERS[min(TIERS.index(self.stage_of(run).tier) + (run.attempt > 1), len(TIERS) - 1)]

    def seen_by(self, run: str) -> "RunView":
        """The task as one run sees it."""
        own = self.run_of(run)
        whole = {field.name: getattr(self, field.name) for field in fields(self)}
        if own.rules.sees == "parent":
            parent = self.run_of(own.parent)
            result = Accepted(
                parent.stage, self.tree, self.commit, parent.finals or parent.drafts, parent.judged
            )
            whole["accepted"] = (*self.accepted, result)
        elif heard := tuple(ref for each in self.beside(run, heard=True) for ref in each.drafts):
            whole["accepted"] = (*self.accepted, Accepted(own.stage, self.tree, self.commit, heard, ()))
        return RunView(**whole, run=own)

    @property
    def provided(self) -> tuple[Fact, ...]:
        """What conditions may ask about what was handed in."""
        parts = [self.pipeline.part_of_contract(item.artifact_type) for item in self.imports]
        return tuple(PROVIDED[part] for part in parts if part is not None and part in PROVIDED)

    # ------------------------------------------------------------------ people

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

    def last_shown(self, stage: str) -> Iteration | None:
        """The newest version of a stage's result that a person was shown."""
        return next((item for item in reversed(self.iterations) if item.stage == stage), None)

    # ------------------------------------------------------------------ counts

    def closed(self, step: int, *, failed: bool) -> tuple[tuple[int, bool], ...]:
        """How the last steps ended, with one more; one whose result a gate refuses later has failed all the
        same.
        """
        before = [(other, ended) for other, ended in self.closings if other != step]
        window = self.degraded.window
        return (*before, (step, failed))[-window:] if window else ()

    def revised_times(self, stage: str) -> int:
        """How often this stage was sent back to work."""
        return dict(self.revised).get(stage, 0)

    def answered(self, label: str) -> int:
        """How many answers of a run are on record, by its label."""
        return dict(self.answers).get(label, 0)

    def next_version(self, contract: str) -> int:
        """The number that the next artifact under a contract gets."""
        return dict(self.versions).get(contract, 0) + 1

    def artifact(self, contract: str) -> ArtifactRef | None:
        """The newest accepted artifact under a contract."""
        found = [ref for item in self.accepted for ref in item.finals if ref.contract == contract]
        return found[-1] if found else None

    def artifact_for(self, part: Part) -> ArtifactRef | None:
        """The newest accepted artifact that is this part of the work."""
        contract = self.pipeline.contract_for(part)
        return None if contract is None else self.artifact(contract)

    def flight(self, key: str) -> Flight | None:
        """The call with this key, if it is in flight."""
        return next((item for item in self.flights if item.key == key), None)

    def in_flight(self) -> Amount:
        """What is reserved for calls without an outcome."""
        return reduce(Amount.plus, (flight.reserved for flight in self.flights), Amount())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView(State):
    """A task as one of its runs sees it: `accepted` is what that run may see as accepted. For activities; the
    rules themselves take the state and the run.
    """

    run: Run
    """The run whose view this is."""

    @property
    def stage(self) -> Stage:
        """The stage that the run is at."""
        return self.stage_of(self.run)

    @property
    def tier(self) -> Tier:
        """The tier of models that the run asks."""
        return self.tier_of(self.run)

    @property
    def told_now(self) -> str:
        """What language servers said that this step is shown: what was on record when it began."""
        return self.told.ref if self.told is not None and self.told.since <= self.run.step else ""

    @property
    def turn(self) -> int:
        """The place of the run among those of its tier who argue and who decides: they are better different
        models.
        """
        if not self.run.rules.heard:
            return 0
        stage = self.pipeline.stage(self.run.stage)
        known = [stage.tier, *(item.tier for item in stage.debaters)]
        at = 1 + [item.role for item in stage.debaters].index(self.run.name)
        return known[:at].count(known[at])
