"""`evolve`: the fold that makes a task's state from its events. What it does with a run is in
`evolve_run`.
"""

from dataclasses import fields
from functools import reduce
from typing import assert_never

from agentforge.core.digests import ForkPoint
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    BaselineTaken,
    BudgetRaised,
    DefectNoted,
    DependenciesDeclared,
    DependenciesMet,
    Discarded,
    Escalated,
    Event,
    ExternalArtifactImported,
    IterationEvent,
    LaneRaised,
    ModelChanged,
    Moved,
    OtherTaskEvent,
    RedReopened,
    Resolved,
    Resumed,
    RevisionAsked,
    TaskAborted,
    TaskCreated,
    TaskDelivered,
    TaskFailed,
    TaskForked,
    WaitLimitChanged,
    WorkspacePrepared,
)
from agentforge.core.evolve_calls import landed, next_try
from agentforge.core.evolve_iteration import evolve_iteration, handed_over, resolved
from agentforge.core.evolve_run import evolve_run
from agentforge.core.machine import TERMINAL, check_move
from agentforge.core.replacing import replace
from agentforge.core.runs import Run
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import Amount, OfRun


def replay(events: tuple[Event, ...] | list[Event]) -> State:
    """The state that a sequence of events leaves."""
    return reduce(evolve, events, State())


def evolve(state: State, event: Event) -> State:
    """The next state. Total over events; the one illegal input is an illegal move."""
    if isinstance(event, IterationEvent):
        return evolve_iteration(state, event)
    return evolve_run(state, event) if isinstance(event, OfRun) else _evolve_task(state, event)


def _evolve_task(state: State, event: OtherTaskEvent) -> State:  # noqa: C901, PLR0912  # one arm per event
    match event:
        case TaskCreated(spec):
            return _created(state, spec)
        case ExternalArtifactImported():
            versions = tuple(sorted({**dict(state.versions), event.ref.contract: event.ref.version}.items()))
            flagged = tuple(dict.fromkeys((*state.flagged, *event.flagged)))
            after = replace(state, imports=(*state.imports, event), versions=versions, flagged=flagged)
            return replace(after, facts=after.provided)
        case Moved(before, after):
            check_move(before, after)
            if before != state.status:
                raise StateInvalid(f"state_invalid: the task is {state.status}, not {before}.")
            halted = after in TERMINAL or after == "blocked" or (state.halted and after != "running")
            return replace(state, status=after, halted=halted)
        case WorkspacePrepared():
            return _prepared(state, event)
        case BaselineTaken(baseline):
            return replace(state, baseline=baseline, baselines=state.baselines + 1)
        case LaneRaised(lane, why):
            pipeline = next(item for item in state.higher if item.lane == lane)
            return replace(state, pipeline=pipeline, risen=(*state.risen, why))
        case RevisionAsked(stage, _, findings, held_out):
            revised = {**dict(state.revised), stage: state.revised_times(stage) + 1}
            return replace(
                state,
                revisions=state.revisions + 1,
                revised=tuple(sorted(revised.items())),
                findings=findings,
                held_out=held_out or state.held_out,
            )
        case RedReopened(_, why):
            return replace(state, reopening=why, reopenings=(*state.reopenings, why))
        case TaskDelivered(handover):
            return handed_over(state.with_branch(handover), handover)
        case Escalated(escalation):
            return replace(state, escalations=(*state.escalations, escalation))
        case Resolved():
            return resolved(state, event)
        case BudgetRaised(budget):
            return replace(state, budget=budget)
        case DependenciesDeclared(dependencies):
            declared = state.declared + 1
            return replace(state, dependencies=dependencies, declared=declared, depends=bool(dependencies))
        case DependenciesMet(found):
            return replace(state, depends=False, found=found or state.found)
        case WaitLimitChanged(max_wait_s):
            return replace(state, max_wait_s=max_wait_s)
        case ModelChanged(choice):
            return state.with_model(choice)
        case TaskForked(point):
            return _forked(state, point)
        case DefectNoted(note):
            return replace(state, defects=(*state.defects, note))
        case Resumed(segment):
            runs = tuple(_rested(run) for run in state.runs)
            return replace(state, segment=segment, prepared=False, failure="", runs=runs, closings=())
        case TaskAborted():
            return state
        case TaskFailed(reason):
            return replace(state, failure=reason)
        case Discarded():
            return _discarded(state, event)
        case _:
            assert_never(event)


def _created(state: State, spec: TaskSpec) -> State:
    given = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return replace(state, **given, tree=spec.given_tree or spec.base_tree, commit=spec.base_commit)


def _forked(state: State, point: ForkPoint) -> State:
    """What came before was paid by the other task, whose branch it also is."""
    return replace(
        state,
        forked_from=f"{point.task}, step {point.step}",
        spent=Amount(),
        unaccounted=Amount(),
        unpriced=0,
        cached_tokens=0,
        flights=(),
        branch="",
        branch_at="",
        branches_kept=(),
    )


def _prepared(state: State, event: WorkspacePrepared) -> State:
    commits = (event.human_commit,) if event.human_commit else ()
    return replace(
        state,
        prepared=True,
        preparations=state.preparations + 1,
        tree=event.tree,
        commit=event.human_commit or state.commit,
        notices=event.notices,
        human_commits=(*state.human_commits, *commits),
    )


def _rested(run: Run) -> Run:
    """A person came by: the provider gets all its tries again, no pause is left to wait for, and what the
    role said before may now be the right thing to say.
    """
    return replace(run, troubles=0, refused=None, said=(), point="ask" if run.point == "pause" else run.point)


def _discarded(state: State, event: Discarded) -> State:
    """A call that was in flight is over, and its run gets another one."""
    flight = state.flight(event.key)
    after = replace(landed(state, event.key), spent=state.spent.plus(event.cost))
    tried = next_try(state.find(flight.run)) if flight is not None else None
    return after if tried is None else after.with_run(tried)
