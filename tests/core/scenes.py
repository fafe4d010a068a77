"""What the tests of the rules share: the lanes as values, and a task that is played input by input."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from agentforge.core.decide import decide
from agentforge.core.digests import ActionResults, ContextDigest, RequestDigest, StageResult, VerdictDigest
from agentforge.core.effects import Ask, Effect
from agentforge.core.events import Event
from agentforge.core.evolve import evolve
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskStarted,
    Assembled,
    BaselineReady,
    CheckRan,
    CommitMade,
    Create,
    Input,
    Judged,
    Outcome,
    Prepared,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Pipeline, Product, Reviewer, Rise, Stage
from agentforge.core.reply import Signal
from agentforge.core.runs import Run
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    Baseline,
    Budget,
    CheckDigest,
    GateStatus,
    Price,
    ReplyDigest,
    Usage,
)

E = TypeVar("E")

FRAME = Stage(
    "frame",
    "software_architect",
    (Product("intake_record", "intake"), Product("specification", "spec")),
    gates=("contracts",),
    context_tokens=16_000,
    max_steps=10,
)
RED = Stage(
    "red",
    "test_engineer",
    (Product("test_suite", "red"),),
    gates=("red", "contracts"),
    checks=("syntax",),
    context_tokens=16_000,
    needs_environment=True,
)
GREEN = Stage(
    "green",
    "software_developer",
    (Product("implementation", "green"),),
    gates=("green", "contracts"),
    checks=("syntax", "lint", "tests"),
    context_tokens=16_000,
    max_steps=20,
    needs_environment=True,
)
PATCH = replace(
    GREEN,
    name="patch",
    role="maintainer",
    products=(*FRAME.products, *RED.products, *GREEN.products),
    gates=("red", "green", "contracts"),
)
REVIEW = Stage(
    "review",
    "reviewer",
    (Product("review", "review"),),
    gates=("review", "contracts"),
    max_output_tokens=4000,
    max_steps=6,
    verifying=True,
    returns_to="green",
)
DELIVER = Stage(
    "deliver",
    None,
    (Product("delivery_report", "deliver"),),
    gates=("delivery", "contracts"),
    needs_environment=True,
    verifying=True,
)
SMALL = Pipeline("implement", "small", (FRAME, RED, GREEN, REVIEW, DELIVER))
HOTFIX = Pipeline("implement", "hotfix", (PATCH, replace(REVIEW, returns_to="patch"), DELIVER))

SECURITY = Reviewer("security_architect", "security_review")
SECOND = Reviewer("reviewer", "review")
INTAKE = Stage("intake", "requirements_analyst", (Product("intake_record", "intake"),), gates=("contracts",))
CLARIFY = Stage(
    "clarify",
    "business_analyst",
    (Product("clarification", "clarify"),),
    gates=("contracts",),
    skip_if="no_ambiguities",
)
SPEC = Stage(
    "spec",
    "software_architect",
    (Product("specification", "spec"),),
    gates=("contracts", "review"),
    reviewers=(SECURITY,),
    max_steps=8,
)
REFACTOR = replace(
    GREEN,
    name="refactor",
    role="senior_developer",
    products=(Product("implementation", "refactor"),),
    gates=("green", "quality", "contracts", "review"),
    reviewers=(SECURITY, SECOND),
    arbiter=Reviewer("reviewer", "review", tier="reasoning"),
    skip_if="trivial_change",
    reverts=True,
)
FULL = Pipeline(
    "implement",
    "full",
    (INTAKE, CLARIFY, SPEC, RED, GREEN, REFACTOR, replace(DELIVER, role="devops_engineer", verifying=False)),
)
LATER = Stage(
    "later", "technical_writer", (Product("guide", "later"),), gates=("contracts",), exit_point=True
)
READ = replace(SPEC, iterable=True, exit_point=True, max_iterations=2)
"""A specification that a person reads."""
DESIGN = replace(
    FULL, name="design", stages=(INTAKE, CLARIFY, READ), goal="design", extends_to=("red", "green", "deliver")
)
ITERATED = replace(FULL, stages=(INTAKE, CLARIFY, READ, *FULL.stages[3:]))
RISING = replace(
    SMALL,
    stages=(
        replace(FRAME, products=(*FRAME.products, Product("clarification", "clarify"))),
        *SMALL.stages[1:],
    ),
    rises=Rise("full", 3, 200, 2),
)

DEBATE = Stage(
    "debate",
    "synthesizer",
    (Product("debate_synthesis", "debate"),),
    gates=("debate", "contracts"),
    debaters=(
        Reviewer("advocate", "debate_advocate"),
        Reviewer("skeptic", "debate_skeptic", tier="reasoning"),
        Reviewer("operator", "debate_operator"),
    ),
    feedback_rounds=1,
    max_steps=6,
)
DEBATED = replace(FULL, stages=(INTAKE, CLARIFY, DEBATE, *FULL.stages[2:]))
"""A line with a debate before its specification."""

BASELINE = Baseline("base", "env", "bubblewrap", 5, 5, 0, 0, "5 tests, 5 pass")
PASSED = CheckDigest("passed", "3 tests pass")
FAILED = CheckDigest("failed", "1 of 3 tests fails", ("tests/test_a.py::test_a",))
EDIT = ActionDigest("edit_file", ok=True, target="a.py")
MISS = ActionDigest("edit_file", ok=False, target="a.py", mistake="no_match", text="the text does not occur")


def created(pipeline: Pipeline = SMALL, budget: Budget | None = None, price: Price | None = None) -> Create:
    higher = (FULL,) if pipeline.rises else ()
    spec = TaskSpec(
        "task-1",
        "Add a flag",
        "c0",
        "t0",
        "scripted",
        "bubblewrap",
        "cat0",
        pipeline,
        budget or Budget(),
        price,
        ("asked",),
        higher,
    )
    return Create(spec)


_REPLIES = itertools.count(1)


def answered(signal: Signal | None = None, mistake: str = "", summary: str = "", ref: str = "") -> Answered:
    """A reply, another one each time unless `ref` says which."""
    ref = ref or f"reply-{next(_REPLIES)}"
    digest = ReplyDigest(
        ref, Usage(900, 100), Amount(1, 1000, 0), 1, signal=signal, mistake=mistake, summary=summary
    )
    return Answered(digest)


def handed_in(stage: Stage, tree: str, words: str = "") -> Acted:
    """Everything the stage owes, on `tree`; other `words` make other documents."""
    drafts = tuple(
        ArtifactRef(product.contract, product.phase, 1, f"hash-{product.contract}{words}")
        for product in stage.products
    )
    return Acted(ActionResults("results", tree, (ActionDigest("submit_artifact", ok=True),), drafts))


@dataclass
class Played:
    """A task from its first input on, with everything it recorded."""

    state: State = field(default_factory=State)
    events: list[Event] = field(default_factory=list)
    last: tuple[Event, ...] = ()
    why: str = ""

    def say(self, given: Input, key: str = "") -> tuple[Event, ...]:
        decision = decide(self.state, given, key)
        for event in decision.events:
            self.state = evolve(self.state, event)
        self.events += decision.events
        self.last, self.why = decision.events, decision.why
        return decision.events

    def owed(self, name: str) -> Effect:
        """The one effect of this class that is owed; says what is owed instead."""
        found = [effect for effect in pending(self.state) if type(effect).__name__ == name]
        assert len(found) == 1, (
            f"{name} is not owed by a {self.state.status} task; owed: {pending(self.state)}"
        )
        return found[0]

    def end(self, name: str, outcome: Outcome) -> tuple[Event, ...]:
        return self.say(outcome, self.owed(name).key)

    @property
    def run(self) -> Run:
        assert self.state.worker is not None
        return self.state.worker

    @property
    def stage(self) -> Stage:
        return self.state.stage_of(self.run)

    def told(self, kind: type[E]) -> list[E]:
        """Every event of one class."""
        return [event for event in self.events if isinstance(event, kind)]

    def owes(self) -> list[str]:
        return [type(effect).__name__ for effect in pending(self.state)]


def begun(pipeline: Pipeline = SMALL, budget: Budget | None = None, price: Price | None = None) -> Played:
    """Created, prepared, with its environment: the first step is open."""
    task = Played()
    task.say(created(pipeline, budget, price))
    task.end("Prepare", Prepared("t0"))
    task.end("TakeBaseline", BaselineReady(BASELINE))
    return task


def send(task: Played) -> Ask:
    """Context assembled and the request on its way."""
    if task.run.point == "assemble":
        task.end("Assemble", Assembled(ContextDigest("context", 500)))
    ask = task.owed("Ask")
    assert isinstance(ask, Ask)
    task.say(
        AskStarted(RequestDigest("hash", "scripted", worst_case(task.state, task.run))), f"{ask.key}/sent"
    )
    return ask


def reply(task: Played, answer: Answered) -> None:
    """One call, answered."""
    send(task)
    task.end("Ask", answer)


def step(task: Played, answer: Answered, acted: Acted, check: CheckDigest | None = None) -> None:
    """One whole step."""
    reply(task, answer)
    task.end("Act", acted)
    if check is not None:
        task.end("Check", CheckRan(check, "checks"))


def submit(task: Played) -> None:
    """One step that hands everything in; the gates are open."""
    stage = task.stage
    edited = task.state.tree + "'" if stage.checks else task.state.tree
    step(
        task,
        answered("success"),
        handed_in(stage, edited, f"-{task.state.step}"),
        PASSED if stage.checks else None,
    )


def judge(task: Played, status: GateStatus = "passed", *reasons: str) -> None:
    gate = task.stage.gates[task.run.gate]
    stage = task.stage
    finals = tuple(ArtifactRef(product.contract, product.phase, 1, "final") for product in stage.products)
    task.end(
        "Judge",
        Judged(VerdictDigest(gate, status, reasons, f"verdict-{gate}", finals if status == "passed" else ())),
    )


def accept(task: Played) -> None:
    """The gates pass and the commit is made."""
    name = task.run.stage
    while task.run.point == "judge":
        judge(task)
    task.end("Commit", CommitMade(StageResult(task.state.tree, f"commit-{name}")))


def reach(task: Played, stage: str) -> Played:
    """Plays the stages before `stage` without a hitch."""
    while task.run.stage != stage:
        submit(task)
        accept(task)
    return task


def repeat(times: int, turn: Callable[[Played], None], task: Played) -> None:
    for _ in range(times):
        turn(task)
