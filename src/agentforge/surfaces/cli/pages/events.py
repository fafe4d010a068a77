"""The progress of a task in words: `describe` says what an event means to a person who watches. Pure."""

from typing import assert_never

from agentforge.app.ports import Tone
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
from agentforge.core.pipeline import ARBITER, Pipeline, Stage
from agentforge.core.state import StageRun, State
from agentforge.core.values import NOT_DONE, ActionDigest
from agentforge.surfaces.cli.pages.words import count, kept_branches, money, skip_reason
from agentforge.system.visible import brief

REASONS_SHOWN = 3
CAUGHT = "caught, fed back"
"""How a line begins that tells of a mistake the system met by itself."""

_POINTS = {
    "assemble": "assembling the context",
    "ask": "asking the model",
    "pause": "waiting before the next try",
    "act": "doing what the reply asks for",
    "check": "checking the edit",
    "judge": "judging on a pristine checkout",
    "commit": "committing the stage",
    "deliver": "writing the evidence",
    "given": "handed in",
}


def describe(event: Event, state: State) -> str | None:  # noqa: C901, PLR0912 - one arm per event is the point
    """What to tell a person who watches; None where there is nothing worth a line. `state` is where the
    event's line led.
    """
    match event:
        case TaskCreated(task_id, _, base, _, model, sandbox, _, pipeline):
            return (
                f"{task_id}: {line_of(pipeline, event.triage)}, base {base[:12]}, model {model}, "
                f"sandbox {sandbox}"
            )
        case WorkspacePrepared(_, notices, human_commit):
            taken = (
                (f"your edits in the worktree were taken in as commit {human_commit[:12]}",)
                if human_commit
                else ()
            )
            return "\n".join(brief(text, 400) for text in ("the worktree stands", *taken, *notices))
        case BaselineTaken(baseline):
            return f"baseline: {baseline.summary} (sandbox: {baseline.sandbox})"
        case StageEntered():
            return _entered(event, state)
        case ContextAssembled(flagged=flagged) if flagged:
            return "\n".join(f"  reads like an instruction, shown as data: {brief(flag)}" for flag in flagged)
        case AskAnswered():
            return _answer(event, state)
        case AskTicketed(_, ticket, seat):
            return f"  {_whose(seat)}asked in batch {brief(ticket, 80)}"
        case AskPromoted(seat=seat):
            return f"  {_whose(seat)}the batch is late, so the call is sent live"
        case AskLost(_, reserved, seat):
            return (
                f"  {_whose(seat)}a call was lost with the last driver: on the bill as unaccounted, "
                f"at most {reserved.tokens:,} tokens"
            )
        case AskFailed(_, kind, message, _, retry, seat):
            return f"  {_whose(seat)}the model did not answer ({kind}): {brief(message)}" + (
                "; trying again" if retry else ""
            )
        case ActionsPerformed(results=results, seat=seat):
            return "\n".join(_action(item, seat) for item in results) or None
        case Checked(check):
            return f"  checks {check.status}: {brief(check.summary)}"
        case StepClosed(_, outcome, feedback, seat=seat) if outcome == "incomplete":
            return (
                f"  {_whose(seat)}not complete: "
                f"{brief(feedback[-1]) if feedback else 'artifacts are missing'}"
            )
        case GateJudged():
            return _gate(event, state)
        case ReviewGiven(seat):
            return f"  {seat} has handed in"
        case Reverted(tree, reasons):
            return _undone(tree, reasons)
        case LaneRaised(lane, why):
            return f"the lane rises to {lane}: {brief(why)}; every accepted artifact is kept"
        case AttemptFailed(report):
            return f"attempt {report.attempt} of stage {report.stage} failed: {brief(report.reason, 400)}"
        case RevisionAsked(stage, revision):
            return _revision(stage, revision, state)
        case StageAccepted():
            return _accepted(event, state)
        case TaskDelivered("", _):
            return f"delivered: pipeline {state.pipeline.name} changed no file"
        case TaskDelivered(branch, kept=kept):
            return "\n".join([f"delivered on branch {branch}", *kept_branches(kept)])
        case Escalated(escalation):
            return f"{escalation.id}: a person is asked ({escalation.kind}, stage {escalation.stage})"
        case Resolved(identity, answer, by):
            return f"{identity} answered by {by}: {brief(answer)}"
        case BudgetRaised(budget):
            limit = f", {money(budget.micro_usd)}" if budget.micro_usd is not None else ""
            return f"the budget is now {count(budget.calls, 'call')}, {count(budget.tokens, 'token')}{limit}"
        case Resumed(_, by):
            return f"resumed by {by}"
        case TaskAborted(by, reason):
            return f"aborted by {by}" + (f": {brief(reason)}" if reason else "")
        case TaskFailed(reason):
            return f"failed: {brief(reason, 600)}"
        case (
            Moved()
            | StepOpened()
            | ContextAssembled()
            | AskSent()
            | WaitEnded()
            | StepClosed()
            | GateOpened()
            | Discarded()
        ):
            return None
        case _:
            assert_never(event)


def _accepted(event: StageAccepted, state: State) -> str:
    names = ", ".join(dict.fromkeys(final.contract for final in event.finals))
    where = "" if event.commit == state.base_commit else f" at {event.commit[:12]}"
    first = f"stage {event.stage} accepted{where}" + (f": {names}" if names else "")
    kept = kept_branches(event.kept)
    return "\n".join([first, *kept, *([f"the work is on {event.branch}"] if kept else [])])


def tone(event: Event) -> Tone:
    """How loud the line of an event is."""
    match event:
        case StageEntered(seat=""):
            return "heading"
        case StageAccepted() | TaskDelivered() | GateJudged(status="passed"):
            return "good"
        case (
            GateJudged()
            | AttemptFailed()
            | RevisionAsked()
            | AskFailed()
            | AskLost()
            | Escalated()
            | Reverted()
            | LaneRaised()
        ):
            return "caught"
        case Checked(check):
            return "good" if check.status == "passed" else "caught"
        case TaskFailed() | TaskAborted():
            return "bad"
        case BaselineTaken() | WorkspacePrepared():
            return "quiet"
        case _:
            return "plain"


def line_of(pipeline: Pipeline, triage: tuple[str, ...]) -> str:
    """The way a task goes, and why."""
    why = f" ({'; '.join(triage)})" if triage else ""
    return f"pipeline {pipeline.name}, lane {pipeline.lane}, mode {pipeline.mode}{why}"


def doing(state: State) -> str:
    """What is under way, for a line that is overwritten."""
    total = (
        f"{count(state.spent.tokens, 'token')}, "
        f"{money(state.spent.micro_usd) if not state.unpriced else 'price not known'}"
    )
    if state.run is None:
        return f"preparing the worktree · {total}"
    if state.stage.needs_environment and state.baseline is None:
        return f"{state.run.name} · waiting for the project's environment and its baseline · {total}"
    if any(seat.point != "given" for seat in state.seats):
        return f"{state.run.name} · {', '.join(seat_now(seat) for seat in state.seats)} · {total}"
    return f"{state.run.name} · step {state.step} · {_POINTS[state.run.point]} · {total}"


def seat_now(seat: StageRun) -> str:
    """A reviewer of the panel, and how far."""
    return f"{seat.seat}: {_POINTS[seat.point]}"


def _whose(seat: str) -> str:
    """Reviewers work side by side: their lines say whose they are."""
    return f"{seat}: " if seat else ""


def _stage(state: State, name: str) -> Stage | None:
    return next((stage for stage in state.pipeline.stages if stage.name == name), None)


def _entered(event: StageEntered, state: State) -> str:
    again = f", attempt {event.attempt}" if event.attempt > 1 else ""
    stage = _stage(state, event.stage)
    if event.seat == ARBITER:
        role = (
            f" ({stage.arbiter.role}, tier {stage.arbiter.tier})"
            if stage is not None and stage.arbiter is not None
            else ""
        )
        return f"  the reviewers disagree: arbiter{role} reads {event.stage} and decides{again}"
    if event.seat:
        return f"  {event.seat} reads {event.stage}{again}"
    if event.skipped:
        return f"stage {event.stage} skipped: {skip_reason(event.skipped)}; its gates judge all the same"
    return f"stage {event.stage}{again}"


def _answer(event: AskAnswered, state: State) -> str:
    used = event.usage
    step = next((item.step for item in state.seats if event.seat and item.seat == event.seat), state.step)
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    cost = money(event.cost.micro_usd) if event.priced else "price not known"
    text = (
        f"  {_whose(event.seat)}step {step}: {used.input_tokens:,} tokens in{cached}, "
        f"{used.output_tokens:,} out, {cost}"
    )
    if event.summary:
        text += f": {brief(event.summary)}"
    return f"{text}\n  {CAUGHT}: {_whose(event.seat)}{brief(event.mistake)}" if event.mistake else text


def _action(item: ActionDigest, seat: str) -> str:
    name = f"{_whose(seat)}{item.name} {brief(item.target)}".rstrip()
    if item.ok:
        return f"    {name}"
    if item.mistake in NOT_DONE:
        return f"    {name}\n    {_whose(seat)}{brief(item.text)}"
    return f"    {name}\n    {CAUGHT} ({item.mistake or 'failed'}): {_whose(seat)}{brief(item.text)}"


def _gate(event: GateJudged, state: State) -> str:
    words = {
        "passed": "passed",
        "failed": "failed",
        "not_run": "could not run, and not run is not passed",
        "blocked": "blocks",
        "split": "is split: some approve, some block",
    }
    head = f"  gate {event.gate} {words[event.status]}"
    if event.status != "passed":
        return "\n".join([head, *_shown(event.reasons)])
    stage = _stage(state, state.run.name) if state.run is not None else None
    return head + (
        _approval(stage, state) if event.gate == "review" and stage is not None and stage.reviewers else ""
    )


def _approval(stage: Stage, state: State) -> str:
    """Who let it pass."""
    if stage.review_mode == "advisory":
        return ": the panel only advises; its notes are kept"
    if any(seat.seat == ARBITER for seat in state.seats):
        return ": the arbiter approves, and the dissent is on record"
    return f": approved by {', '.join(reviewer.role for reviewer in stage.reviewers)}"


def _undone(tree: str, reasons: tuple[str, ...]) -> str:
    head = (
        f"  undone, the worktree stands at {tree[:12]} again: "
        f"{brief(reasons[0]) if reasons else 'it made something worse'}"
    )
    return "\n".join([head, *_shown(reasons[1:])])


def _revision(stage: str, revision: int, state: State) -> str:
    judges = [
        item
        for item in state.pipeline.stages
        if item.returns_to == stage or (item.name == stage and item.reviewers)
    ]
    bound = f" of at most {judges[0].max_revisions}" if judges and revision <= judges[0].max_revisions else ""
    return f"the work goes back to stage {stage}: revision {revision}{bound}"


def _shown(reasons: tuple[str, ...]) -> list[str]:
    shown = [f"    {CAUGHT}: {brief(reason)}" for reason in reasons[:REASONS_SHOWN]]
    return shown + ([f"    and {len(reasons) - REASONS_SHOWN} more"] if len(reasons) > REASONS_SHOWN else [])
