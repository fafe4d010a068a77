"""Properties of the rules under a world that does anything it may."""

from dataclasses import replace
from itertools import cycle

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentforge.core.effects import Await
from agentforge.core.events import AskFailed, AskPromoted, Moved
from agentforge.core.evolve import replay
from agentforge.core.inputs import Abort, Create, Resume
from agentforge.core.machine import LEGAL_MOVES, TERMINAL
from agentforge.core.pending import pending
from agentforge.core.pipeline import Pipeline, Stage
from agentforge.core.state import State
from agentforge.core.values import Amount, Budget, Oversight, Price
from tests.core.random_world import World
from tests.core.scenes import DEBATED, DESIGN, FULL, HOTFIX, ITERATED, RISING, SMALL, created
from tests.fuzzing import tries

MOVES = st.lists(st.tuples(st.integers(0, 31), st.integers(0, 2**16)), min_size=30, max_size=120)
QUICK = settings(
    tries(40),
    derandomize=tries(1).max_examples == 1,  # `make fuzz` walks elsewhere each time
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # a walk of a hundred moves does not shrink in useful time
)


def _bounded(stage: Stage, bounds: tuple[int, int, int, int, int]) -> Stage:
    steps, rounds, mistakes, attempts, revisions = bounds
    return replace(
        stage,
        max_steps=steps,
        feedback_rounds=rounds,
        mistakes=mistakes,
        attempts=attempts,
        max_revisions=revisions,
    )


@st.composite
def tasks(draw: st.DrawFn) -> Create:
    """Every lane, with tight bounds and tight budgets, so that every limit is met."""
    lane: Pipeline = draw(st.sampled_from([SMALL, HOTFIX, FULL, FULL, RISING, ITERATED, DESIGN, DEBATED]))
    bounds = draw(
        st.tuples(
            st.integers(1, 4), st.integers(0, 2), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3)
        )
    )
    budget = draw(
        st.builds(
            Budget,
            st.integers(1, 40),
            st.integers(24_000, 900_000),
            st.none() | st.integers(60_000, 3_000_000),
        )
    )
    price = draw(st.none() | st.just(Price(2_000_000, 8_000_000)))
    create = created(
        replace(lane, stages=tuple(_bounded(stage, bounds) for stage in lane.stages)), budget, price
    )
    higher = tuple(
        replace(item, stages=tuple(_bounded(stage, bounds) for stage in item.stages))
        for item in create.spec.higher
    )
    spec = replace(create.spec, higher=higher)
    if draw(st.booleans()):
        oversight: Oversight = draw(st.sampled_from(["autonomous", "supervised", "interactive"]))
        approves: tuple[str, ...] = draw(st.sampled_from([(), ("green", "deliver"), ("frame",)]))
        spec = replace(spec, iterates=("spec",), approves=approves, oversight=oversight)
    return Create(spec)


def _walk(world: World, kind: int, choice: int) -> None:
    match kind:
        case 31 | 30:
            world.crash()
        case 29 | 28:
            world.arrive_late(choice)
        case 27 if choice % 2 == 0:
            world.mistake(choice)
        case 26:
            world.hear(choice)
        case _:
            world.perform(choice) or world.hear(choice)


def _bill(state: State) -> Amount:
    return state.spent.plus(state.unaccounted).plus(state.in_flight())


def _check_pending(world: World) -> None:
    state, owed = world.state, pending(world.state)
    keys = [effect.key for effect in owed]
    assert len(set(keys)) == len(keys)
    assert not [effect for effect in owed if effect.key in world.known and not isinstance(effect, Await)]
    assert sum(effect.uses == "worktree" for effect in owed) <= max(1, len(state.panel))
    assert bool(owed) == (state.status not in TERMINAL)
    assert any(isinstance(effect, Await) for effect in owed) == (state.status == "blocked")


def _check_state(state: State) -> None:
    waiting = [item for item in state.escalations if item.answer is None]
    assert len(waiting) == (state.status == "blocked")
    assert state.budget.holds(_bill(state))
    for stage in state.pipeline.stages:
        for label in (stage.name, *(f"{stage.name}/{item.name}" for item in state.panel)):
            failed = sum(report.stage == label for report in state.failures)
            # Where an edit can be undone, every revision and every person's edit may be tried once more.
            again = state.revised_times(stage.name) + len(state.human_commits) if stage.reverts else 0
            again += len(state.reopenings) if stage.reverts else 0
            assert failed <= stage.attempts + state.grants.count(label) + again
        if stage.reviewers:
            assert state.revised_times(stage.name) <= stage.max_revisions + state.grants.count(stage.name)
    if state.pipeline.stages[-2].returns_to:
        assert state.revisions <= state.pipeline.stages[-2].max_revisions + state.grants.count("review")
    for proof in (stage for stage in state.pipeline.stages if stage.proves_red):
        assert sum(item.by == "role" for item in state.reopenings) <= proof.max_revisions
    _check_runs(state)
    if state.prepared and state.status in ("running", "verifying"):
        assert state.worker is not None
        assert (state.status == "verifying") == state.stage_of(state.worker).verifying
    if state.status == "completed":
        _check_completed(state)
    assert (state.status == "failed") == bool(state.failure)


def _check_runs(state: State) -> None:
    worker = state.worker
    if worker is not None:
        assert worker.rounds <= state.stage_of(worker).feedback_rounds + state.segment + 1
        assert worker.step == state.step
    for run in state.runs:
        assert run.steps <= state.stage_of(run).max_steps + state.segment
    for run in state.panel:
        assert worker is not None
        assert (run.stage, run.parent) == (worker.stage, worker.id)
        if run.rules.heard:  # the work waits for them, and has not begun
            assert run.point == "handed_in" or (worker.point, worker.steps) == ("assemble", 0)
        else:
            assert worker.point in ("judge", "commit", "deliver")


def _check_completed(state: State) -> None:
    assert state.delivered is not None
    assert [item.stage for item in state.accepted][-1] == state.pipeline.exit_stage
    have = {(ref.contract, ref.phase) for item in state.accepted for ref in item.finals}
    assert have >= {
        (product.contract, product.phase) for stage in state.pipeline.stages for product in stage.products
    }
    for stage in state.pipeline.stages:
        judged = [item.evidence for item in state.accepted if item.stage == stage.name]
        assert judged or state.risen
        assert all(tuple(gate for gate, _ in evidence) == stage.gates for evidence in judged)


@QUICK
@given(tasks(), MOVES)
def test_no_input_sequence_breaks_the_rules(task: Create, moves: list[tuple[int, int]]) -> None:
    world = World()
    world.advance("create", task)
    for kind, choice in moves:
        _walk(world, kind, choice)
        _check_pending(world)
        _check_state(world.state)
    assert replay(world.events) == world.state
    assert all(event.after in LEGAL_MOVES[event.before] for event in world.events if isinstance(event, Moved))
    assert all(str(error) for error in world.refused)


def _free(world: World) -> int:
    """The calls that were refused before they cost anything."""
    return sum(
        isinstance(event, AskFailed | AskPromoted) and event.unaccounted == Amount() for event in world.events
    )


@QUICK
@given(tasks(), st.lists(st.integers(0, 2**16), min_size=5, max_size=60))
def test_without_people_a_task_ends_or_asks(task: Create, choices: list[int]) -> None:
    world = World()
    world.advance("create", task)
    for taken, choice in enumerate(cycle(choices)):
        if all(isinstance(effect, Await) for effect in pending(world.state)):
            break
        assert taken < 2000, f"still {world.state.status} after {taken} inputs"
        if world.state.flights and choice % 7 == 0:
            world.crash()
        world.perform(choice)
    assert world.state.status in ("completed", "failed", "blocked")
    assert world.sent() - _free(world) <= world.state.budget.calls
    if world.state.status == "blocked":
        assert world.state.open_escalation is not None
        assert world.state.open_escalation.question.text


@QUICK
@given(tasks(), st.lists(st.integers(0, 2**16), min_size=20, max_size=80))
def test_spent_lost_and_in_flight_together_never_pass_the_cap(task: Create, choices: list[int]) -> None:
    world = World()
    world.advance("create", task)
    for choice in choices:
        if choice % 5 == 0:
            world.crash()
        elif choice % 5 == 1:
            world.arrive_late(choice)
        elif not world.perform(choice):
            world.hear(choice)
        assert world.state.budget.holds(_bill(world.state))
    # Every call that left is on the bill, once: answered, lost, in flight, or refused before it cost
    # anything.
    assert world.sent() - _free(world) <= _bill(world.state).calls <= world.sent()


@QUICK
@given(tasks(), MOVES)
def test_a_person_can_always_end_a_task_and_take_it_up_again(
    task: Create, moves: list[tuple[int, int]]
) -> None:
    world = World()
    world.advance("create", task)
    for kind, choice in moves[:30]:
        _walk(world, kind, choice)
    if world.state.status not in TERMINAL:
        world.advance("stop", Abort("ada", "enough"))
    assert world.state.status in TERMINAL
    kept = world.state.accepted
    if world.state.status != "completed":
        world.advance("again", Resume("ada"))
        assert world.state.status in ("scheduled", "blocked")
        assert world.state.accepted == kept
