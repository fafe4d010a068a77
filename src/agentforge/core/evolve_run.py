"""What an event does to its run. Where it leaves the run is in the table `POINTS_AFTER`."""

from typing import assert_never

from agentforge.core.events import (
    ActionLeft,
    ActionsPerformed,
    ArtifactEdited,
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    AttemptFailed,
    Checked,
    ContextAssembled,
    GateJudged,
    GateOpened,
    HandedIn,
    Reverted,
    RunEvent,
    StageAccepted,
    StageEntered,
    StageReopened,
    StepClosed,
    StepOpened,
    WaitEnded,
)
from agentforge.core.evolve_calls import MAX_SAID, evolve_call
from agentforge.core.evolve_iteration import by_hand
from agentforge.core.machine import point_after
from agentforge.core.replacing import replace
from agentforge.core.runs import Run
from agentforge.core.state import Accepted, State
from agentforge.core.values import ActionDigest, Opened, ReplyDigest, Told

MAX_TRIED = 200
"""How many lines of what went wrong are kept."""
MAX_WORKING = 48
"""How many opened places are kept."""
MAX_SEEN = 256
"""How many marks of actions are kept."""
MAX_RECENT = 3
"""How many of the last steps are shown."""


def evolve_run(state: State, event: RunEvent) -> State:  # noqa: C901, PLR0912  # one arm per event
    """The next state, after an event of a run."""
    match event:
        case StageEntered():
            return _entered(state, event)
        case StepOpened():
            return _opened(state, event)
        case ContextAssembled(run, made):
            own = state.run_of(run)
            own = replace(own, point=point_after(event), context=made.ref, context_tokens=made.tokens)
            return state.with_run(own, flagged=(*state.flagged, *made.flagged))
        case (
            AskSent() | AskTicketed() | AskPromoted() | AskLost() | AskFailed() | AskAnswered() | WaitEnded()
        ):
            return evolve_call(state, event)
        case ActionLeft(run, _, action):
            own = state.run_of(run)
            return state.with_run(replace(own, left=(*own.left, action.number)))
        case ActionsPerformed():
            return _performed(state, event)
        case Checked(run, check):
            own = state.run_of(run)
            good = state.tree if check.status == "passed" else own.good_tree
            return state.with_run(replace(own, check=check, good_tree=good))
        case StepClosed():
            return _closed(state, event)
        case ArtifactEdited() | StageReopened():
            return by_hand(state, event)
        case GateOpened(run):
            own = replace(state.run_of(run), point=point_after(event), gate=0, judged=(), finals=())
            return state.with_run(own)
        case GateJudged():
            return _judged(state, event)
        case HandedIn(run):
            return state.with_run(replace(state.run_of(run), point=point_after(event)))
        case Reverted(run, tree, reasons):
            own = state.run_of(run)
            undone = f"{own.stage}: {reasons[0] if reasons else 'it made something worse'}"
            return state.with_run(replace(own, check=None), tree=tree, reverts=(*state.reverts, undone))
        case AttemptFailed(_, report):
            return replace(state, failures=(*state.failures, report))
        case StageAccepted():
            return _accepted(state, event)
        case _:
            assert_never(event)


# ------------------------------------------------------------------ the runs of a state


def _alone(state: State, run: Run, *, heard: bool = True) -> tuple[Run, ...]:
    """The runs without those beside this one: what they were about is no more. With `heard`, those stay who
    were heard before its work.
    """
    kept = (item for item in state.runs if item.parent != run.id or (heard and item.rules.heard))
    return tuple(run if item.id == run.id else item for item in kept)


# ------------------------------------------------------------------ steps


def _entered(state: State, event: StageEntered) -> State:
    before = state.find(event.run)
    computed = state.pipeline.stage(event.stage).role is None or bool(event.skipped)
    run = Run(
        event.run,
        event.stage,
        event.attempt,
        event.entry_tree,
        event.owner,
        event.parent,
        point=point_after(event, second=computed),
        step=state.step,
        feedback=event.feedback,
        drafts=event.drafts,
        skipped=event.skipped,
    )
    same = before is not None and before.stage == event.stage
    others = tuple(
        item
        for item in state.runs
        if item.id != event.run and (item.parent != event.run or (same and item.rules.heard))
    )
    if event.parent:
        return replace(state, runs=(*others, run))
    if before is not None and same:  # the same role goes on from what it did
        run = replace(run, tried=before.tried, recent=before.recent, acts=before.acts)
    stage = state.pipeline.stage(event.stage)
    if before is not None and not same and (stage.makes("tests") or stage.makes("change")):
        # What the role before had to open, this one would have to open again. A new attempt begins anew.
        run = replace(run, working=before.working)
    return replace(state, runs=(run, *others), tree=event.entry_tree)


def _opened(state: State, event: StepOpened) -> State:
    own = state.run_of(event.run)
    opened = replace(
        own,
        point=point_after(event),
        step=event.step,
        steps=own.steps + 1,
        asks=0,
        troubles=0,
        refused=None,
        hurried=False,
        gate=0,
        judged=(),
        finals=(),
        submitted=False,
        results=(),
        left=(),
        reply=ReplyDigest(""),
    )
    runs = _alone(state, opened)
    if own.parent:  # what its parent does next comes after this step
        runs = tuple(replace(item, step=event.step) if item.id == own.parent else item for item in runs)
    return replace(state, step=event.step, runs=runs)


def _performed(state: State, event: ActionsPerformed) -> State:
    own, done = state.run_of(event.run), event.done
    drafts = {draft.contract: draft for draft in (*own.drafts, *done.artifacts)}
    fresh, paths = {_place(item) for item in done.opened}, {item.path for item in done.opened}
    kept = [item for item in own.working if item.path not in paths or _place(item) not in fresh]
    came = tuple(f"{state.tree}:{own.reply.ref}:{mark}" for mark in done.came)
    own = replace(
        own,
        point=point_after(event),
        said=(*own.said, *came)[-MAX_SAID:],
        again=own.again and all(mark in own.said for mark in came),
        results=done.results,
        left=(),
        submitted=bool(done.artifacts),
        drafts=tuple(drafts.values()),
        working=(*kept, *done.opened)[-MAX_WORKING:],
        created=_with_more(own.created, done.created),
        seen=(*own.seen, *done.seen)[-MAX_SEEN:],
        notes=own.notes if done.notes is None else done.notes,
        check=own.check if done.tree == state.tree else None,
        acts=(*own.acts, done.ref)[-MAX_RECENT:],
    )
    versions = {**dict(state.versions), **{item.contract: item.version for item in done.artifacts}}
    told = state.told or (Told(done.told, state.step + 1) if done.told else None)
    return state.with_run(own, tree=done.tree, versions=tuple(sorted(versions.items())), told=told)


def _with_more(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Both, each text once; most steps bring nothing new."""
    return tuple(dict.fromkeys((*known, *more))) if more else known


def _place(item: Opened) -> tuple[str, str | tuple[int, int]]:
    return item.path, item.symbol or (item.start, item.end)


def _closed(state: State, event: StepClosed) -> State:
    """A closed step owes nothing more: what follows opens the next one, or the gates."""
    own = state.run_of(event.run)
    done = ", ".join(map(_digest, own.results[:6])) or "no action"
    line = f"step {event.step}: {done} → {event.outcome}"
    closed = replace(
        own,
        point=point_after(event),
        feedback=event.feedback,
        tried=_with_more(own.tried, event.tried)[-MAX_TRIED:],
        mistakes=own.mistakes + 1 if event.mistake else 0,
        recent=(*own.recent, line)[-MAX_RECENT:],
    )
    failed = event.mistake or event.outcome.startswith("gate_")
    return state.with_run(closed, closings=state.closed(event.step, failed=failed))


def _digest(item: ActionDigest) -> str:
    return item.label if item.ok else f"{item.label} ({item.mistake or 'failed'})"


# ------------------------------------------------------------------ gates


def _judged(state: State, event: GateJudged) -> State:
    own, verdict = state.run_of(event.run), event.verdict
    if verdict.status in ("split", "unread"):
        return state.with_run(replace(own, rounds=own.rounds + 1))
    if verdict.status != "passed":
        again = replace(own, rounds=own.rounds + 1, gate=0, judged=())
        after = replace(state, runs=_alone(state, again))
        if verdict.status == "blocked":
            after = replace(
                after,
                blocks=state.blocks + 1,
                findings=verdict.reasons,
                blocked_for=verdict.reasons,
                reviewed_tree=state.tree,
                may_stay=False,
                reviewed_drafts=own.drafts,
            )
        return after
    if verdict.gate == "review":
        settled = tuple(dict.fromkeys((*state.settled, *state.blocked_for)))
        state = replace(state, settled=settled, blocked_for=(), reviewed_tree="")
    last = own.gate + 1 >= len(state.stage_of(own).gates)
    passed = replace(
        own,
        point=point_after(event, second=last),
        gate=own.gate + 1,
        judged=(*own.judged, (verdict.gate, verdict.ref)),
        finals=verdict.finals or own.finals,
    )
    return state.with_run(passed)


def _accepted(state: State, event: StageAccepted) -> State:
    own, result = state.run_of(event.run), event.result
    state = state.with_branch(result)
    about = (own.judged, own.skipped, event.approved_by, own.drafts)
    done = Accepted(event.stage, result.tree, result.commit, event.finals, *about)
    stage = state.pipeline.stage(event.stage)
    # Tests alone settle nothing that was said of the code.
    tests_only = stage.proves_red and not stage.makes("change") and not stage.reviewers
    return replace(
        state,
        runs=_alone(state, replace(own, point=point_after(event)), heard=False),
        accepted=(*state.accepted, done),
        tree=result.tree,
        commit=result.commit,
        facts=result.facts,
        findings=state.findings if tests_only else (),
        reopening=None if stage.makes("change") else state.reopening,
    )
