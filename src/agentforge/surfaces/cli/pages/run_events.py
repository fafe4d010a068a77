"""What an event of a run means, in words for a person who watches. Pure."""

from typing import assert_never

from agentforge.core.digests import ActionResults, ContextDigest, VerdictDigest
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
from agentforge.core.pipeline import ARBITER, Stage
from agentforge.core.runs import WORKER, run_name
from agentforge.core.state import State
from agentforge.core.values import NOT_DONE, ActionDigest
from agentforge.surfaces.cli.pages.words import clock_time, kept_branches, money, skip_reason
from agentforge.system.visible import brief

REASONS_SHOWN = 3
_LONG_S = 60
"""From here on a person wants to know how long."""
CAUGHT = "caught, fed back"
"""How a line begins that tells of a mistake the system met by itself."""


def describe_run(event: RunEvent, state: State) -> str | None:  # noqa: C901, PLR0912  # one arm per event
    """What to tell a person who watches; None where there is nothing worth a line."""
    match event:
        case StageEntered():
            return _entered(event, state)
        case ContextAssembled(_, ContextDigest(flagged=flagged)) if flagged:
            return "\n".join(f"  reads like an instruction, shown as data: {brief(flag)}" for flag in flagged)
        case AskAnswered():
            return _answer(event, state)
        case AskTicketed(run, _, ticket):
            return f"  {_whose(run)}sent in batch {brief(ticket, 80)}"
        case AskPromoted(run):
            return f"  {_whose(run)}the batch is late, so the call is sent live"
        case AskLost(run, _, reserved):
            return (
                f"  {_whose(run)}a call was lost when the last "
                f"process stopped: billed as unaccounted, at most {reserved.tokens:,} tokens"
            )
        case AskFailed(run, _, kind, message):
            return f"  {_whose(run)}the model did not answer ({kind}): {brief(message)}{_again(event)}"
        case ActionLeft(run, _, action):
            return f"    {_whose(run)}{action.name} {brief(action.target)} leaves the sandbox"
        case ActionsPerformed(run, ActionResults(results=results)):
            return "\n".join(_action(item, run) for item in results) or None
        case Checked(check=check):
            return f"  checks {check.status}: {brief(check.summary)}"
        case StepClosed(run, _, outcome, feedback) if outcome == "incomplete":
            return (
                f"  {_whose(run)}not complete: {brief(feedback[-1]) if feedback else 'artifacts are missing'}"
            )
        case GateJudged(_, verdict):
            return _gate(verdict, state)
        case HandedIn(run):
            own = state.find(run)
            done = "was heard" if own is not None and own.rules.heard else "has submitted a review"
            return f"  {run_name(run)} {done}"
        case Reverted(_, tree, reasons):
            return _undone(tree, reasons)
        case AttemptFailed(_, report):
            return f"attempt {report.attempt} of stage {report.stage} failed: {brief(report.reason, 400)}"
        case StageAccepted():
            return _accepted(event, state)
        case ArtifactEdited(artifacts=refs, by=by):
            names = ", ".join(f"{ref.contract} v{ref.version}" for ref in refs)
            return f"{names} was written by hand, by {by}; the gates apply to it like to any other"
        case (
            ContextAssembled()
            | StepOpened()
            | AskSent()
            | WaitEnded()
            | StepClosed()
            | StageReopened()
            | GateOpened()
        ):
            return None
        case _:
            assert_never(event)


def _whose(run: str) -> str:
    """Reviewers work side by side: their lines say whose they are."""
    return f"{run_name(run)}: " if run != WORKER else ""


def _stage(state: State, name: str) -> Stage | None:
    return next((stage for stage in state.pipeline.stages if stage.name == name), None)


def _again(event: AskFailed) -> str:
    if not event.retry:
        return ""
    return f"; waiting until {clock_time(event.until)}" if event.wait_s >= _LONG_S else "; trying again"


def _entered(event: StageEntered, state: State) -> str:
    again = f", attempt {event.attempt}" if event.attempt > 1 else ""
    stage = _stage(state, event.stage)
    reader = run_name(event.run)
    if reader == ARBITER:
        role = (
            f" ({stage.arbiter.role}, tier {stage.arbiter.tier})"
            if stage is not None and stage.arbiter is not None
            else ""
        )
        return f"  the reviewers disagree: arbiter{role} reads {event.stage} and decides{again}"
    if reader and event.owner == "debater":
        return f"  {reader} argues{again}"
    if reader:
        return f"  {reader} reads {event.stage}{again}"
    if event.skipped:
        return f"stage {event.stage} skipped: {skip_reason(event.skipped)}; its gates still apply"
    return f"stage {event.stage}{again}"


def _answer(event: AskAnswered, state: State) -> str:
    reply, used, run = event.reply, event.reply.usage, state.find(event.run)
    step = run.step if run is not None else state.step
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    cost = money(reply.cost.micro_usd) if reply.priced else "price not known"
    text = (
        f"  {_whose(event.run)}step {step}: {used.input_tokens:,} tokens in{cached}, "
        f"{used.output_tokens:,} out, {cost}"
    )
    if reply.summary:
        text += f": {brief(reply.summary)}"
    return f"{text}\n  {CAUGHT}: {_whose(event.run)}{brief(reply.mistake)}" if reply.mistake else text


def _action(item: ActionDigest, run: str) -> str:
    name = f"{_whose(run)}{item.name} {brief(item.target)}".rstrip()
    if item.ok:
        return f"    {name}"
    if item.mistake in NOT_DONE:
        return f"    {name}\n    {_whose(run)}{brief(item.text)}"
    return f"    {name}\n    {CAUGHT} ({item.mistake or 'failed'}): {_whose(run)}{brief(item.text)}"


def _gate(verdict: VerdictDigest, state: State) -> str:
    words = {
        "passed": "passed",
        "failed": "failed",
        "not_run": "could not run, so it has not passed",
        "blocked": "blocks",
        "split": "is split: some approve, some block",
        "unread": "waits: the rest of the change is reviewed in parts",
    }
    head = f"  gate {verdict.gate} {words[verdict.status]}"
    if verdict.status != "passed":
        return "\n".join([head, *_reason_lines(verdict.reasons)])
    stage = _stage(state, state.worker.stage) if state.worker is not None else None
    return head + (
        _approval(stage, state) if verdict.gate == "review" and stage is not None and state.panel else ""
    )


def _approval(stage: Stage, state: State) -> str:
    """How a passed review came to its verdict: by advice only, by the arbiter, or by which reviewers."""
    if stage.review_mode == "advisory":
        return ": the review is advisory; its notes are kept"
    if any(run.name == ARBITER for run in state.panel):
        return ": the arbiter approves; the dissent is recorded"
    readers = ([stage.role] if stage.own_reader and stage.role else []) + [run.name for run in state.panel]
    return f": approved by {', '.join(readers)}"


def _undone(tree: str, reasons: tuple[str, ...]) -> str:
    head = (
        f"  undone, back to tree {tree[:12]}:  {brief(reasons[0]) if reasons else 'it made something worse'}"
    )
    return "\n".join([head, *_reason_lines(reasons[1:])])


def _reason_lines(reasons: tuple[str, ...]) -> list[str]:
    shown = [f"    {CAUGHT}: {brief(reason)}" for reason in reasons[:REASONS_SHOWN]]
    return shown + ([f"    and {len(reasons) - REASONS_SHOWN} more"] if len(reasons) > REASONS_SHOWN else [])


def _accepted(event: StageAccepted, state: State) -> str:
    names = ", ".join(dict.fromkeys(final.contract for final in event.finals))
    result = event.result
    where = "" if result.commit == state.base_commit else f" at {result.commit[:12]}"
    first = f"stage {event.stage} accepted{where}" + (f": {names}" if names else "")
    kept = kept_branches(result.kept)
    return "\n".join([first, *kept, *([f"the work is on {result.branch}"] if kept else [])])
