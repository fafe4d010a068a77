"""Events as they are decided, and the verbs that every rule shares: open a step, enter a stage, give up, ask
a person.
"""

from dataclasses import dataclass, field

from agentforge.core.events import (
    AttemptFailed,
    Escalated,
    Event,
    Moved,
    Resumed,
    Reverted,
    RevisionAsked,
    StageEntered,
    StepClosed,
    StepOpened,
)
from agentforge.core.evolve import evolve
from agentforge.core.lifecycle import check_lives
from agentforge.core.machine import path
from agentforge.core.pending import fits, worst_case
from agentforge.core.pipeline import Stage, part_name, reviewer_name
from agentforge.core.replacing import replace
from agentforge.core.runs import WORKER, Run, child_id
from agentforge.core.state import State
from agentforge.core.values import (
    Amount,
    ArtifactRef,
    Escalation,
    EscalationKind,
    FailureReport,
    Owner,
    Question,
    QuestionRule,
    Status,
    is_yes,
)

FEEDBACK_LINES = 12
"""What a role is told at once; more would bury the first."""
TOLD_BEFORE = 600
"""How much of what a role is told next is shown to a person who is asked before each step."""
WHY_CHARS = 2000
"""A decision's reason stays a reason: the whole question is in the event."""


@dataclass(slots=True)
class Decisions:
    """Events as they are decided, and the state that they lead to."""

    state: State
    events: list[Event] = field(default_factory=list)

    def tell(self, *events: Event) -> None:
        """Takes events into the decision, and brings the state up to date with them."""
        for event in events:
            before, self.state = self.state, evolve(self.state, event)
            check_lives(before, self.state)
            self.events.append(event)

    def move(self, target: Status) -> None:
        """Goes to `target` by legal moves only."""
        for status in path(self.state.status, target):
            self.tell(Moved(self.state.status, status))

    def of(self, run: str) -> "RunDecisions":
        """This decision as the rules of one run see it."""
        return RunDecisions(self, run)


@dataclass(frozen=True, slots=True)
class RunDecisions:
    """The decision under way as the rules of one run see it: its events go to `all`."""

    all: Decisions
    id: str
    """The id of the run."""

    @property
    def state(self) -> State:
        """The task as it is now."""
        return self.all.state

    @property
    def run(self) -> Run:
        """The run as it is now."""
        return self.state.run_of(self.id)

    @property
    def stage(self) -> Stage:
        """The stage that the run is at."""
        return self.state.stage_of(self.run)

    def tell(self, *events: Event) -> None:
        """Takes events into the decision that this run is part of."""
        self.all.tell(*events)

    def close(
        self,
        outcome: str,
        feedback: tuple[str, ...],
        tried: tuple[str, ...] = (),
        *,
        mistake: bool = False,
    ) -> None:
        """Ends the step of this run; `feedback` is what the role is told in the next one."""
        self.tell(StepClosed(self.id, self.run.step, outcome, feedback[:FEEDBACK_LINES], tried, mistake))


# ------------------------------------------------------------------ people


def escalate(
    decisions: Decisions,
    kind: EscalationKind,
    question: Question,
    reports: tuple[FailureReport, ...] = (),
    run: str = WORKER,
) -> str:
    """Asks a person; the task waits."""
    state = decisions.state
    asking = state.find(run)
    label, asks = (asking.label, asking.id) if asking else ("prepare", "")
    identity = f"ESC-{len(state.escalations) + 1:03d}"
    asked = Escalation(identity, kind, label, question, reports, run=asks)
    decisions.tell(Escalated(_expiring(asked, state.questions)))
    decisions.move("blocked")
    return f"{kind}: {question.text[:WHY_CHARS]}"


GO_ON, STOP = "go on", "stop"
"""What a person answers who is asked before a stage or a step."""


ANOTHER_WAY = (
    "say in your own words what should be different, or name another model with `agentforge continue --model "
    "PROVIDER:NAME`; the same model, told nothing new, would most likely end here again"
)
"""What is recommended where a model got no further."""


def ask_before(own: RunDecisions, what: str) -> str:
    """Asks a person before a stage or a step begins."""
    return escalate(own.all, "approval", Question(f"{what} Go on?", (GO_ON, STOP), GO_ON), run=own.id)


def restart(decisions: Decisions, by: str) -> None:
    """From a halt back to work, as a new segment: the worktree is made ready first."""
    decisions.move("draft")
    decisions.tell(Resumed(decisions.state.segment + 1, by))
    decisions.move("scheduled")


def _expiring(asked: Escalation, rule: QuestionRule) -> Escalation:
    """The question with what happens if nobody answers. What would cost or allow more than a person said is
    never answered for them.
    """
    question, answer = asked.question, "abort"
    if not rule.timeout_s:
        return asked
    if rule.then == "recommended":
        answer = question.recommendation
        more = asked.kind in ("permission", "budget") or question.call is not None or is_yes(answer)
        if more or answer not in question.options:
            return asked
    return replace(asked, timeout_s=rule.timeout_s, unless_answered=answer)


def confuse(decisions: Decisions, what: str, run: str = WORKER) -> str:
    """Halts on something that no rule knows."""
    text = f"AgentForge met an error it does not know: {what}"
    again = any(asked.question.text == text for asked in decisions.state.escalations)
    question = Question(text, ("retry", "abort"), "abort" if again else "retry")
    return escalate(decisions, "confused", question, run=run)


def budget_question(state: State, more: Amount | None = None, run: str = WORKER) -> Question:
    """What is used, what the next call may take, and how far the cap must be raised for it."""
    used, cap = state.spent.plus(state.unaccounted).plus(state.in_flight()), state.budget
    asking = state.find(run)
    more = more or (worst_case(state, asking) if asking else Amount(1))
    parts = f"{used.calls} of {cap.calls} calls, {used.tokens} of {cap.tokens} tokens"
    takes = f"{more.tokens} tokens"
    if cap.micro_usd is not None:
        parts += f", ${used.micro_usd / 1e6:.2f} of ${cap.micro_usd / 1e6:.2f}"
        takes += f" and ${more.micro_usd / 1e6:.2f}"
    text = (
        f"The next call does not fit the budget: it may take {takes}, and {parts} are used or set "
        "aside. Raise it?"
    )
    factor = next((times for times in range(2, 1000) if cap.times(times).holds(used.plus(more))), 2)
    raised = "double" if factor == 2 else f"x{factor}"
    return Question(text, (raised, "abort"), raised)


# ------------------------------------------------------------------ steps and attempts


def next_step(own: RunDecisions, why: str) -> str:
    """Opens the next step if the bounds allow it."""
    run, stage = own.run, own.stage
    if run.mistakes >= stage.mistakes:
        return fail_attempt(own, f"{run.mistakes} mistakes in a row")
    if run.steps >= stage.max_steps:
        return fail_attempt(own, f"the step budget of {stage.max_steps} is used up")
    return _asked_step(own, open_step(own, why))


def is_degraded(state: State) -> bool:
    """Whether too many of the last steps came to nothing, and the newer ones no fewer than those before."""
    rule, closings = state.degraded, [failed for _, failed in state.closings]
    if not rule.window or len(closings) < rule.failures or sum(closings) < rule.failures:
        return False
    half = len(closings) // 2
    return sum(closings[-half:]) >= sum(closings[: len(closings) - half])


def _degraded_question(state: State) -> Question:
    failed, count = sum(each for _, each in state.closings), len(state.closings)
    text = (
        f"{failed} of the last {count} steps came to nothing, and it does not get better. Should the task go "
        "on, or do you want to step in?"
    )
    return Question(text, ("go on", "abort"), ANOTHER_WAY)


def open_step(own: RunDecisions, why: str) -> str:
    """A step begins, if its call fits the budget. A run beside others is asked about that when its call is
    owed: theirs may cost less than their worst case by then.
    """
    if is_degraded(own.state):
        return escalate(own.all, "degraded", _degraded_question(own.state), run=own.id)
    if not own.run.parent and not fits(own.state, own.run):
        return escalate(own.all, "budget", budget_question(own.state, run=own.id), run=own.id)
    own.tell(StepOpened(own.id, own.state.step + 1))
    return why


def _asked_step(own: RunDecisions, why: str) -> str:
    """Before the step that has just been opened a person is asked, if they want to be asked about each. Those
    who read a result are not asked about: they change nothing.
    """
    state, run = own.state, own.run
    if state.oversight != "interactive" or run.parent or state.status == "blocked":
        return why
    told = f" It is told: {' '.join(run.feedback)[:TOLD_BEFORE]}." if run.feedback else ""
    return ask_before(own, f"Step {run.step}, stage {run.label}, is next ({own.stage.role}).{told}")


def fail_attempt(own: RunDecisions, reason: str) -> str:
    """Gives an attempt up; the next one starts from a fresh checkout, and after the last a person is
    asked.
    """
    run, stage = own.run, own.stage
    own.tell(AttemptFailed(own.id, FailureReport(run.label, run.attempt, run.step, reason, run.feedback)))
    if attempts_left(own.state, run, stage):
        told = (f"An earlier attempt failed: {reason}. Take another way.",)
        return enter(own, stage, run.entry_tree, told)
    unsettled = own.state.findings and run.entry_tree == own.state.reviewed_tree and not own.state.may_stay
    if stage.reverts and not unsettled:
        own.tell(Reverted(own.id, run.entry_tree, (reason,)))
        return enter(own, stage, run.entry_tree, skipped="no attempt made it better")
    return give_up(own, reason)


def give_up(own: RunDecisions, reason: str) -> str:
    """Asks a person how to go on, with the reports of the last two attempts."""
    label = own.run.label
    reports = tuple(report for report in own.state.failures if report.stage == label)[-2:]
    text = (
        f"Stage {label} failed {len(reports)} times; the last reason: {reason.rstrip('.')}. What should "
        "happen next?"
    )
    options = ("retry", *back_option(own.state, own.stage), "abort")
    return escalate(own.all, "exhausted", Question(text, options, ANOTHER_WAY), reports, own.id)


WITHOUT = "go on without"
"""The answer that lets a task go on without what it waits for."""
BACK = "back to red"
"""The answer that opens locked tests again; a reason may follow it."""


def back_option(state: State, stage: Stage) -> tuple[str, ...]:
    """That answer, where tests are locked."""
    return (BACK,) if locked_by(state, stage) is not None else ()


def locked_by(state: State, stage: Stage) -> Stage | None:
    """The stage that proved the tests which are locked in `stage`; None where none are."""
    proved = any(gate == "red" for item in state.accepted for gate, _ in item.evidence)
    return state.pipeline.proving(stage.name) if proved else None


def attempts_left(state: State, run: Run, stage: Stage) -> bool:
    """Whether this run may be tried once more."""
    return _failures(state, run.label) < stage.attempts + state.grants.count(run.label)


def has_failed(state: State, run: Run) -> bool:
    """Whether this attempt was given up."""
    return any(report.stage == run.label and report.attempt == run.attempt for report in state.failures)


def _failures(state: State, label: str) -> int:
    return sum(1 for report in state.failures if report.stage == label)


# ------------------------------------------------------------------ stages


def enter(  # noqa: PLR0913  # what an attempt begins with
    own: RunDecisions,
    stage: Stage,
    tree: str,
    feedback: tuple[str, ...] = (),
    *,
    keep_attempt: bool = False,
    drafts: tuple[ArtifactRef, ...] = (),
    skipped: str = "",
) -> str:
    """An attempt at a stage begins. A revision starts from the artifacts it had: only what changes is handed
    in again.
    """
    before = own.state.find(own.id)
    owner, parent = (before.owner, before.parent) if before else ("worker", "")
    label = before.label if before and parent else stage.name
    attempt = before.attempt if before and keep_attempt else _failures(own.state, label) + 1
    if skipped and not drafts:
        made = (own.state.artifact(product.contract) for product in stage.products)
        drafts = tuple(ref for ref in made if ref is not None)
    if not parent:
        take_place(own.all, stage)
    told = feedback[:FEEDBACK_LINES]
    own.tell(StageEntered(own.id, stage.name, attempt, tree, owner, parent, told, drafts, skipped))
    if stage.role is None or skipped:
        convene(own)
        return f"stage {stage.name} is computed" + (f": {skipped}" if skipped else "")
    if not parent and hear_first(own):
        return f"stage {label}, attempt {attempt}: others are heard first"
    return begin_step(own, f"stage {label}, attempt {attempt}")


def begin_step(own: RunDecisions, why: str) -> str:
    """The first step of an attempt, of which a person is asked who wants to be asked about each."""
    return _asked_step(own, open_step(own, why))


def take_place(decisions: Decisions, stage: Stage) -> None:
    """`verifying` in the stages that judge the result, `running` in the others. Until `Prepare` is done it is
    neither.
    """
    if decisions.state.prepared:
        decisions.move("verifying" if stage.verifying else "running")


def send_back(
    own: RunDecisions,
    target: str,
    words: tuple[str, ...],
    findings: tuple[str, ...],
    *,
    held_out: tuple[ArtifactRef, ...] = (),
) -> str:
    """A revision: the stage that made the work takes it up again, from what it had handed in."""
    state, run = own.state, own.run
    back = state.pipeline.stage(target)
    drafts = owed_drafts(state, back, run.drafts if run.stage == target else ())
    own.tell(RevisionAsked(target, state.revised_times(target) + 1, findings[:FEEDBACK_LINES], held_out))
    return enter(own, back, state.tree, words, drafts=drafts)


def owed_drafts(state: State, stage: Stage, had: tuple[ArtifactRef, ...] = ()) -> tuple[ArtifactRef, ...]:
    """What a stage that works again starts from: what it handed in, else what was accepted of it."""
    owed = {product.contract for product in stage.products}
    found = had or _accepted_of(state, stage.name) or _made(state)
    return tuple(ref for ref in found if ref.contract in owed)


def _accepted_of(state: State, stage: str) -> tuple[ArtifactRef, ...]:
    """What a stage handed over when it was accepted last."""
    return next((item.finals for item in reversed(state.accepted) if item.stage == stage), ())


def _made(state: State) -> tuple[ArtifactRef, ...]:
    """The newest of every artifact that was accepted."""
    return tuple({ref.contract: ref for item in state.accepted for ref in item.finals}.values())


def remaining(state: State) -> Stage:
    """The first stage of the pipeline whose artifacts are not all accepted."""
    have = {(ref.contract, ref.phase) for item in state.accepted for ref in item.finals}
    for stage in state.pipeline.stages:
        if any((item.contract, item.phase) not in have for item in stage.products):
            return stage
    return state.pipeline.stages[-1]


# ------------------------------------------------------------------ the panel


def hear_first(own: RunDecisions) -> bool:
    """Begins the runs of those who are heard before the work of a stage, unless they were; the answer is
    whether somebody is still to be heard.
    """
    if not own.state.beside(own.id, heard=True):
        for debater in own.stage.debaters:
            begin_beside(own, debater.role, "debater", ())
    return own.state.hears(own.id)


def convene(own: RunDecisions) -> None:
    """Begins the reviewers' runs where the next gate is the review and nobody reads yet."""
    state, run, stage = own.state, own.run, own.stage
    if run.point != "judge" or stage.gates[run.gate] != "review" or state.beside(run.id, heard=False):
        return
    told = ("The version before was sent back for:", *state.findings) if state.findings else ()
    for reviewer in state.reviewers_of(stage):
        begin_beside(own, reviewer_name(reviewer, stage), "reviewer", told)


def unread_parts(own: RunDecisions, parts: int) -> list[str]:
    """The names of the readers that the parts of a change still need."""
    stage, state = own.stage, own.state
    first = [reader for reader in (stage.own_reader, *state.reviewers_of(stage)) if reader is not None]
    wanted = [part_name(reader.role, part) for part in range(2, parts + 1) for reader in first]
    there = {run.name for run in state.beside(own.id)}
    return [name for name in wanted if name not in there]


def begin_beside(own: RunDecisions, name: str, owner: Owner, told: tuple[str, ...]) -> None:
    """Somebody starts beside this run: to read its result, or to be heard before its work."""
    beside = own.all.of(child_id(own.id, name))
    stage, tree = own.run.stage, own.state.tree
    attempt = _failures(own.state, f"{stage}/{name}") + 1
    told = told[:FEEDBACK_LINES]
    beside.tell(StageEntered(beside.id, stage, attempt, tree, owner, own.id, told))
    open_step(beside, "somebody beside it begins")
