"""What people decide, and what that does to a task: answers, rounds, where a line ends, how far it goes."""

from typing import assert_never

from agentforge.core.digests import Extension, Handover
from agentforge.core.events import (
    ArtifactEdited,
    IterationEvent,
    IterationPresented,
    IterationStarted,
    LineExtended,
    PipelineExit,
    Resolved,
    StageReopened,
    UserDecision,
)
from agentforge.core.machine import point_after
from agentforge.core.replacing import replace
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import Iteration


def evolve_iteration(state: State, event: IterationEvent) -> State:
    """The next state, after a decision about a version or about the line."""
    match event:
        case IterationPresented(stage, number, shown=shown):
            others = (item for item in state.iterations if (item.stage, item.number) != (stage, number))
            return replace(state, iterations=(*others, Iteration(stage, number, shown)))
        case UserDecision():
            return _decided(state, event)
        case IterationStarted() | PipelineExit():
            return state
        case LineExtended(extension):
            return _extended(state, extension)
        case _:
            assert_never(event)


def resolved(state: State, event: Resolved) -> State:
    """The next state, after an answer."""
    answered = []
    grants = state.grants
    for item in state.escalations:
        if item.id != event.id:
            answered.append(item)
            continue
        answered.append(replace(item, answer=event.answer, by=event.by))
        if item.kind in ("exhausted", "review"):
            grants = (*grants, item.stage)
    # Any answer but "retry" may settle a finding without a change.
    may_stay = state.may_stay or event.answer.strip().lower() != "retry"
    return replace(state, escalations=tuple(answered), grants=grants, may_stay=may_stay)


def by_hand(state: State, event: ArtifactEdited | StageReopened) -> State:
    """The next state, after a person wrote a version, or wants to see an accepted one again."""
    if isinstance(event, StageReopened):
        return _reopened(state, event)
    own = state.run_of(event.run)
    drafts = {draft.contract: draft for draft in (*own.drafts, *event.artifacts)}
    versions = {**dict(state.versions), **{item.contract: item.version for item in event.artifacts}}
    edited = replace(own, drafts=tuple(drafts.values()))
    # Whoever read the version before has not read this one.
    runs = tuple(edited if item.id == own.id else item for item in state.runs if item.parent != own.id)
    return replace(state, runs=runs, versions=tuple(sorted(versions.items())))


def handed_over(state: State, handover: Handover) -> State:
    """The next state, after a delivery: nobody is at work, and what was made never changes any more."""
    newest = {(ref.contract, ref.phase): ref for item in state.accepted for ref in item.finals}
    finals = tuple(dict.fromkeys((*state.finals, *newest.values())))
    return replace(state, delivered=handover, runs=(), finals=finals)


def _decided(state: State, event: UserDecision) -> State:
    """A decision closes its iteration; to leave with a version is to end the line there."""
    iterations = tuple(
        replace(
            item,
            decision=event.decision,
            by=event.by,
            feedback=event.feedback,
            edited=event.edited,
        )
        if (item.stage, item.number) == (event.stage, event.iteration)
        else item
        for item in state.iterations
    )
    pipeline = state.pipeline
    if event.decision == "exit" and pipeline.exit_stage != event.stage:
        stages = pipeline.stages[: pipeline.index(event.stage) + 1]
        left = tuple(stage.name for stage in pipeline.stages[len(stages) :] if stage.exit_point)
        pipeline = replace(
            pipeline, stages=stages, ends_early=True, rises=None, extends_to=left or pipeline.extends_to
        )
    return replace(state, iterations=iterations, pipeline=pipeline)


def _extended(state: State, line: Extension) -> State:
    """The longer line. What was handed over keeps its branch, where there is one: the rest gets its own."""
    after = replace(state, pipeline=line.pipeline, catalogue=line.catalogue, higher=())
    if not state.delivered:
        return after
    sealed = (*state.sealed_branches, *([state.branch] if state.branch else []))
    return replace(after, delivered=None, branch="", branch_at="", sealed_branches=sealed)


def _reopened(state: State, event: StageReopened) -> State:
    """The run that made an accepted result, as it was when its last gate had passed."""
    done = next(item for item in reversed(state.accepted) if item.stage == event.stage)
    run = Run(
        event.run,
        event.stage,
        1 + sum(report.stage == event.stage for report in state.failures),
        done.tree,
        point=point_after(event),
        step=state.step,
        drafts=done.drafts or done.finals,
        finals=done.finals,
        judged=done.evidence,
        skipped=done.skipped,
    )
    return replace(state, runs=(run,), delivered=None)
