"""`evolve`: the fold that makes a task's state from its events."""

from dataclasses import replace
from functools import reduce
from typing import assert_never

from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    AttemptFailed,
    BaselineTaken,
    BudgetRaised,
    Checked,
    ContextAssembled,
    Discarded,
    Escalated,
    Event,
    GateJudged,
    GateOpened,
    LaneRaised,
    Moved,
    Resolved,
    Resumed,
    Reverted,
    ReviewGiven,
    RevisionAsked,
    StageAccepted,
    StageEntered,
    StepClosed,
    StepOpened,
    TaskAborted,
    TaskCreated,
    TaskDelivered,
    TaskFailed,
    WaitEnded,
    WorkspacePrepared,
)
from agentforge.core.state import (
    LEGAL_MOVES,
    MAX_RECENT,
    MAX_SEEN,
    MAX_TRIED,
    MAX_WORKING,
    TERMINAL,
    Accepted,
    Flight,
    StageRun,
    State,
)
from agentforge.core.values import (
    Status,
)


def check_move(before: Status, after: Status) -> None:
    """Raises `state_invalid`, naming the legal moves."""
    if after not in LEGAL_MOVES[before]:
        legal = ", ".join(LEGAL_MOVES[before])
        raise StateInvalid(f"state_invalid: a {before} task cannot become {after}; it can become {legal}.")


def replay(events: tuple[Event, ...] | list[Event]) -> State:
    """The state that a sequence of events leaves."""
    return reduce(evolve, events, State())


def evolve(state: State, event: Event) -> State:
    """The next state. Total over events; the one illegal input is an illegal move."""
    seat: str = getattr(event, "seat", "")
    if not seat:
        return _evolve(state, event)
    if isinstance(event, StageEntered):
        run = StageRun(event.stage, event.attempt, event.entry_tree, feedback=event.feedback, seat=seat)
        return replace(state, seats=(*(item for item in state.seats if item.seat != seat), run))
    if all(
        item.seat != seat for item in state.seats
    ):  # the panel rose while this was under way: only the bill is left
        return replace(_evolve(replace(state, run=None), event), run=state.run)
    after = _evolve(state.focus(seat), event)
    assert after.run is not None
    own = replace(after.run, step=after.step, recent=after.recent, acts=after.acts)
    return replace(
        after,
        run=state.run,
        seats=tuple(own if item.seat == seat else item for item in state.seats),
        step=max(state.step, after.step),
        accepted=state.accepted,
        recent=state.recent,
        acts=state.acts,
    )


def _evolve(state: State, event: Event) -> State:  # noqa: C901, PLR0912, PLR0915  # one arm per event is the point
    match event:
        case TaskCreated():
            return replace(
                state,
                task_id=event.task_id,
                request=event.request,
                base_commit=event.base_commit,
                base_tree=event.base_tree,
                model=event.model,
                sandbox=event.sandbox,
                catalogue=event.catalogue,
                pipeline=event.pipeline,
                budget=event.budget,
                price=event.price,
                triage=event.triage,
                higher=event.higher,
                prices=event.prices,
                marker=event.marker,
                delivery=event.delivery,
                deadline_s=event.deadline_s,
                tree=event.base_tree,
                commit=event.base_commit,
            )
        case Moved(before, after):
            check_move(before, after)
            if before != state.status:
                raise StateInvalid(f"state_invalid: the task is {state.status}, not {before}.")
            halted = after in TERMINAL or after == "blocked" or (state.halted and after != "running")
            return replace(state, status=after, halted=halted)
        case WorkspacePrepared(tree, notices, human_commit):
            commits = (*state.human_commits, human_commit) if human_commit else state.human_commits
            stands = replace(
                state, prepared=True, tree=tree, notices=notices, preparations=state.preparations + 1
            )
            return replace(stands, human_commits=commits, commit=human_commit or state.commit)
        case BaselineTaken(baseline):
            return replace(state, baseline=baseline, baselines=state.baselines + 1)
        case StageEntered():
            return _enter(state, event)
        case StepOpened(step):
            run = replace(
                _run(state),
                point="assemble",
                steps=_run(state).steps + 1,
                asks=0,
                troubles=0,
                hurried=False,
                gate=0,
                judged=(),
                finals=(),
                submitted=False,
                results=(),
                model_mistake="",
                signal=None,
                summary="",
            )
            return replace(state, step=step, run=run, seats=() if not run.seat else state.seats)
        case ContextAssembled(ref, tokens, flagged=flagged):
            run = replace(_run(state), point="ask", context=ref, context_tokens=tokens)
            return replace(state, run=run, flagged=(*state.flagged, *flagged))
        case AskSent(key, _, model, reserved):
            return replace(
                state, flights=(*state.flights, Flight(key, reserved, event.seat, model, event.delivery))
            )
        case AskTicketed(key, ticket):
            return replace(
                state,
                flights=tuple(
                    replace(item, ticket=ticket) if item.key == key else item for item in state.flights
                ),
            )
        case AskPromoted(key, unaccounted):
            landed = _land(state, key)
            hurried = _next_try(landed)
            return replace(
                landed,
                unaccounted=landed.unaccounted.plus(unaccounted),
                run=hurried and replace(hurried, hurried=True),
            )
        case AskAnswered():
            return _answered(state, event)
        case AskLost(key, reserved):
            landed = _land(state, key)
            return replace(landed, unaccounted=landed.unaccounted.plus(reserved), run=_next_try(landed))
        case AskFailed(key, _, _, unaccounted, retry):
            landed = _land(state, key)
            tried = _next_try(landed)
            run_after = tried and replace(
                tried, point="pause" if retry else "ask", troubles=tried.troubles + 1, wait_s=event.wait_s
            )
            return replace(landed, unaccounted=landed.unaccounted.plus(unaccounted), run=run_after)
        case WaitEnded():
            return replace(state, run=replace(_run(state), point="ask"))
        case ActionsPerformed():
            return _performed(state, event)
        case Checked(check):
            good = state.tree if check.status == "passed" else _run(state).good_tree
            return replace(state, run=replace(_run(state), check=check, good_tree=good))
        case StepClosed():
            return _closed(state, event)
        case GateOpened():
            return replace(state, run=replace(_run(state), point="judge", gate=0, judged=(), finals=()))
        case GateJudged(gate, status, reasons, ref, finals):
            run = _run(state)
            if status == "split":
                return replace(state, run=replace(run, rounds=run.rounds + 1))
            if status != "passed":
                again = replace(state, seats=(), run=replace(run, rounds=run.rounds + 1, gate=0, judged=()))
                return (
                    replace(again, blocks=state.blocks + 1, findings=reasons)
                    if status == "blocked"
                    else again
                )
            last = run.gate + 1 >= len(state.stage.gates)
            run = replace(
                run, gate=run.gate + 1, judged=(*run.judged, (gate, ref)), finals=finals or run.finals
            )
            return replace(state, run=replace(run, point="commit" if last else "judge"))
        case ReviewGiven():
            return replace(state, run=replace(_run(state), point="given"))
        case Reverted(tree, reasons):
            undone = (
                *state.reverts,
                f"{_run(state).name}: {reasons[0] if reasons else 'it made something worse'}",
            )
            return replace(state, tree=tree, reverts=undone, run=replace(_run(state), check=None))
        case LaneRaised(lane, why):
            pipeline = next(item for item in state.higher if item.lane == lane)
            return replace(state, pipeline=pipeline, risen=(*state.risen, why))
        case AttemptFailed(report):
            return replace(state, failures=(*state.failures, report))
        case RevisionAsked(stage, _, findings):
            revised = {**dict(state.revised), stage: state.revised_times(stage) + 1}
            return replace(
                state,
                revisions=state.revisions + 1,
                revised=tuple(sorted(revised.items())),
                findings=findings,
            )
        case StageAccepted(stage, tree, commit, finals, facts):
            state = _with_branch(state, event)
            done = Accepted(stage, tree, commit, finals, _run(state).judged, _run(state).skipped)
            run = replace(_run(state), point="deliver")
            return replace(
                state,
                accepted=(*state.accepted, done),
                run=run,
                seats=(),
                tree=tree,
                commit=commit,
                facts=facts,
                findings=(),
            )
        case TaskDelivered():
            return replace(_with_branch(state, event), delivered=event, run=None)
        case Escalated(escalation):
            return replace(state, escalations=(*state.escalations, escalation))
        case Resolved(identity, answer, by):
            answered = tuple(
                replace(item, answer=answer, by=by) if item.id == identity else item
                for item in state.escalations
            )
            granted = next(
                (
                    item.stage
                    for item in state.escalations
                    if item.id == identity and item.kind in ("exhausted", "review")
                ),
                "",
            )
            grants = (*state.grants, granted) if granted else state.grants
            return replace(state, escalations=answered, grants=grants)
        case BudgetRaised(budget):
            return replace(state, budget=budget)
        case Resumed(segment):
            seats = tuple(rested for item in state.seats if (rested := _rested(item)) is not None)
            return replace(
                state, segment=segment, prepared=False, failure="", run=_rested(state.run), seats=seats
            )
        case TaskAborted():
            return state
        case TaskFailed(reason):
            return replace(state, failure=reason)
        case Discarded(key, cost):
            lost = any(flight.key == key for flight in state.flights)
            landed = _land(state, key)
            return replace(landed, spent=state.spent.plus(cost), run=_next_try(landed) if lost else state.run)
        case _:
            assert_never(event)


def _with_branch(state: State, event: StageAccepted | TaskDelivered) -> State:
    if event.commit == state.base_commit:
        return state
    name = event.branch or f"agentforge/{state.task_id}"  # the one name there was in earlier releases
    kept = tuple(dict.fromkeys((*state.branches_kept, *event.kept)))
    return replace(state, branch=name, branch_at=event.commit, branches_kept=kept)


def _run(state: State) -> StageRun:
    assert state.run is not None, "an event of a stage without a stage"
    return state.run


def _enter(state: State, event: StageEntered) -> State:
    stage = state.pipeline.stages[state.pipeline.index(event.stage)]
    same = state.run if state.run and state.run.name == event.stage else None
    run = StageRun(
        event.stage,
        event.attempt,
        event.entry_tree,
        point="judge" if stage.role is None or event.skipped else "assemble",
        feedback=event.feedback,
        drafts=event.drafts,
        tried=same.tried if same else (),
        skipped=event.skipped,
    )
    if same is None:  # another role begins: it sees nothing of what the one before did
        state = replace(state, recent=(), acts=())
    return replace(state, run=run, seats=(), tree=event.entry_tree)


def _land(state: State, key: str) -> State:
    return replace(state, flights=tuple(flight for flight in state.flights if flight.key != key))


def _next_try(state: State) -> StageRun | None:
    return replace(state.run, asks=state.run.asks + 1) if state.run else None


def _rested(run: StageRun | None) -> StageRun | None:
    """A person came by: the provider gets all its tries again, and no pause is left to wait for."""
    return (
        None if run is None else replace(run, troubles=0, point="ask" if run.point == "pause" else run.point)
    )


def _answered(state: State, event: AskAnswered) -> State:
    landed = _land(state, event.key)
    run = _run(state)
    counts = {**dict(state.answers), run.label: state.answered(run.label) + 1}
    run = replace(
        run,
        point="act",
        reply=event.ref,
        usage=event.usage,
        signal=event.signal,
        summary=event.summary,
        model_mistake=event.mistake,
        troubles=0,
    )
    return replace(
        landed,
        run=run,
        answers=tuple(sorted(counts.items())),
        spent=state.spent.plus(event.cost),
        unpriced=state.unpriced + (0 if event.priced else 1),
        cached_tokens=state.cached_tokens + event.usage.cached_tokens,
    )


def _performed(state: State, event: ActionsPerformed) -> State:
    run = _run(state)
    drafts = {draft.contract: draft for draft in (*run.drafts, *event.artifacts)}
    fresh = {(item.path, item.symbol or (item.start, item.end)) for item in event.opened}
    kept = tuple(
        item for item in run.working if (item.path, item.symbol or (item.start, item.end)) not in fresh
    )
    run = replace(
        run,
        point="check",
        results=event.results,
        submitted=bool(event.artifacts),
        drafts=tuple(drafts.values()),
        working=(*kept, *event.opened)[-MAX_WORKING:],
        created=tuple(dict.fromkeys((*run.created, *event.created))),
        seen=(*run.seen, *event.seen)[-MAX_SEEN:],
        notes=run.notes if event.notes is None else event.notes,
        check=run.check if event.tree == state.tree else None,
    )
    versions = {**dict(state.versions), **{item.contract: item.version for item in event.artifacts}}
    acts = (*state.acts, event.ref)[-MAX_RECENT:]
    return replace(state, tree=event.tree, run=run, versions=tuple(sorted(versions.items())), acts=acts)


def _closed(state: State, event: StepClosed) -> State:
    run = _run(state)
    done = (
        ", ".join(
            f"{item.name} {item.target}".strip() + ("" if item.ok else f" ({item.mistake or 'failed'})")
            for item in run.results[:6]
        )
        or "no action"
    )
    line = f"step {event.step}: {done} → {event.outcome}"
    run = replace(
        run,
        point="assemble",  # a closed step owes nothing more: what follows opens the next one, or the gates
        feedback=event.feedback,
        tried=tuple(dict.fromkeys((*run.tried, *event.tried)))[-MAX_TRIED:],
        mistakes=run.mistakes + 1 if event.mistake else 0,
    )
    return replace(state, run=run, recent=(*state.recent, line)[-MAX_RECENT:])
