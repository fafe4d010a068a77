"""The progress of a task in words: `describe` says what an event means to a person who watches. Pure."""

from typing import Literal, assert_never

from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskSent,
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
    Moved,
    Resolved,
    Resumed,
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
from agentforge.core.state import State
from agentforge.core.values import ActionDigest
from agentforge.surfaces.cli.words import count, money, one_line

Tone = Literal["plain", "heading", "good", "caught", "bad", "quiet"]
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
}


def describe(event: Event, state: State) -> str | None:  # noqa: C901, PLR0912 - one arm per event is the point
    """What to tell a person who watches; None where there is nothing worth a line. `state` is where the event's line led."""
    match event:
        case TaskCreated(task_id, _, base, _, model, sandbox, _, pipeline):
            reason = f" ({'; '.join(event.triage)})" if event.triage else ""
            return f"{task_id}: lane {pipeline.lane}{reason}, base {base[:12]}, model {model}, sandbox {sandbox}"
        case WorkspacePrepared(_, notices, human_commit):
            taken = (f"your edits in the worktree were taken in as commit {human_commit[:12]}",) if human_commit else ()
            return "\n".join(one_line(text, 400) for text in ("the worktree stands", *taken, *notices))
        case BaselineTaken(baseline):
            return f"baseline: {baseline.summary} (sandbox: {baseline.sandbox})"
        case StageEntered(stage, attempt):
            return f"stage {stage}" + (f", attempt {attempt}" if attempt > 1 else "")
        case AskAnswered():
            return _answer(event, state)
        case AskLost(_, reserved):
            return f"  a call was lost with the last driver: on the bill as unaccounted, at most {reserved.tokens:,} tokens"
        case AskFailed(_, kind, message, _, retry):
            return f"  the model did not answer ({kind}): {one_line(message)}" + ("; trying again" if retry else "")
        case ActionsPerformed(results=results):
            return "\n".join(_action(item) for item in results) or None
        case Checked(check):
            return f"  checks {check.status}: {one_line(check.summary)}"
        case StepClosed(_, outcome, feedback) if outcome == "incomplete":
            return f"  not complete: {one_line(feedback[-1]) if feedback else 'artifacts are missing'}"
        case GateJudged(gate, status, reasons):
            return _gate(gate, status, reasons)
        case AttemptFailed(report):
            return f"attempt {report.attempt} of stage {report.stage} failed: {one_line(report.reason, 400)}"
        case RevisionAsked(stage, revision):
            return f"the reviewer sends the work back to stage {stage} (revision {revision})"
        case StageAccepted(stage, _, commit, finals):
            names = ", ".join(final.contract for final in finals)
            return f"stage {stage} accepted at {commit[:12]}" + (f": {names}" if names else "")
        case TaskDelivered(branch):
            return f"delivered on branch {branch}"
        case Escalated(escalation):
            return f"{escalation.id}: a person is asked ({escalation.kind})"
        case Resolved(identity, answer, by):
            return f"{identity} answered by {by}: {one_line(answer)}"
        case BudgetRaised(budget):
            limit = f", {money(budget.micro_usd)}" if budget.micro_usd is not None else ""
            return f"the budget is now {count(budget.calls, 'call')}, {count(budget.tokens, 'token')}{limit}"
        case Resumed(_, by):
            return f"resumed by {by}"
        case TaskAborted(by, reason):
            return f"aborted by {by}" + (f": {one_line(reason)}" if reason else "")
        case TaskFailed(reason):
            return f"failed: {one_line(reason, 600)}"
        case Moved() | StepOpened() | ContextAssembled() | AskSent() | WaitEnded() | StepClosed() | GateOpened() | Discarded():
            return None
        case _:
            assert_never(event)


def tone(event: Event) -> Tone:
    """How loud the line of an event is."""
    match event:
        case StageEntered():
            return "heading"
        case StageAccepted() | TaskDelivered() | GateJudged(status="passed"):
            return "good"
        case GateJudged() | AttemptFailed() | RevisionAsked() | AskFailed() | AskLost() | Escalated():
            return "caught"
        case Checked(check):
            return "good" if check.status == "passed" else "caught"
        case TaskFailed() | TaskAborted():
            return "bad"
        case BaselineTaken() | WorkspacePrepared():
            return "quiet"
        case _:
            return "plain"


def doing(state: State) -> str:
    """What is under way, for a line that is overwritten."""
    total = f"{count(state.spent.tokens, 'token')}, {money(state.spent.micro_usd) if not state.unpriced else 'price not known'}"
    if state.run is None:
        return f"preparing the worktree · {total}"
    if state.stage.needs_environment and state.baseline is None:
        return f"{state.run.name} · waiting for the project's environment and its baseline · {total}"
    return f"{state.run.name} · step {state.step} · {_POINTS[state.run.point]} · {total}"


def _answer(event: AskAnswered, state: State) -> str:
    used = event.usage
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    cost = money(event.cost.micro_usd) if event.priced else "price not known"
    text = f"  step {state.step}: {used.input_tokens:,} tokens in{cached}, {used.output_tokens:,} out, {cost}"
    if event.summary:
        text += f": {one_line(event.summary)}"
    return f"{text}\n  {CAUGHT}: {one_line(event.mistake)}" if event.mistake else text


def _action(item: ActionDigest) -> str:
    name = f"{item.name} {one_line(item.target)}".rstrip()
    if item.ok:
        return f"    {name}"
    return f"    {name}\n    {CAUGHT} ({item.mistake or 'failed'}): {one_line(item.text)}"


def _gate(gate: str, status: str, reasons: tuple[str, ...]) -> str:
    words = {"passed": "passed", "failed": "failed", "not_run": "could not run, and not run is not passed", "blocked": "blocks"}[status]
    head = f"  gate {gate} {words}"
    if status == "passed":
        return head
    shown = [f"    {CAUGHT}: {one_line(reason)}" for reason in reasons[:REASONS_SHOWN]]
    more = [f"    and {len(reasons) - REASONS_SHOWN} more"] if len(reasons) > REASONS_SHOWN else []
    return "\n".join([head, *shown, *more])
