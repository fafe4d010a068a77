"""The progress of a task in words: `describe` says what an event means to a person who watches. Pure."""

from typing import assert_never

from agentforge.app.ports import Tone
from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Extension,
    ForkPoint,
    Handover,
    VerdictDigest,
)
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
    BaselineTaken,
    BudgetRaised,
    Checked,
    ContextAssembled,
    DefectNoted,
    DependenciesDeclared,
    DependenciesMet,
    Discarded,
    Escalated,
    Event,
    ExternalArtifactImported,
    GateJudged,
    GateOpened,
    HandedIn,
    IterationPresented,
    IterationStarted,
    LaneRaised,
    LineExtended,
    ModelChanged,
    Moved,
    PipelineExit,
    RedReopened,
    Resolved,
    Resumed,
    Reverted,
    RevisionAsked,
    StageAccepted,
    StageEntered,
    StageReopened,
    StepClosed,
    StepOpened,
    TaskAborted,
    TaskCreated,
    TaskDelivered,
    TaskFailed,
    TaskForked,
    UserDecision,
    WaitEnded,
    WaitLimitChanged,
    WorkspacePrepared,
)
from agentforge.core.pipeline import ARBITER, Pipeline, Stage
from agentforge.core.runs import WORKER, Run, run_name
from agentforge.core.state import State
from agentforge.core.statuses import TERMINAL
from agentforge.core.values import NOT_DONE, ActionDigest, Baseline
from agentforge.surfaces.cli.pages.words import age, clock_time, count, kept_branches, money, skip_reason
from agentforge.system.visible import brief

REASONS_SHOWN = 3
_LONG_S = 60
"""From here on a person wants to know how long."""
CAUGHT = "caught, fed back"
"""How a line begins that tells of a mistake the system met by itself."""

_POINTS = {
    "assemble": "assembling the context",
    "ask": "asking the model",
    "pause": "waiting before the next try",
    "act": "carrying out the reply",
    "check": "checking the edit",
    "judge": "judging on a pristine checkout",
    "commit": "committing the stage",
    "deliver": "writing the evidence",
    "handed_in": "handed in",
}
"""What a run does at a point, where its name alone does not say it."""


def describe(event: Event, state: State) -> str | None:  # noqa: C901, PLR0912, PLR0915 - one arm per event is the point
    """What to tell a person who watches; None where there is nothing worth a line. `state` is where the
    event's line led.
    """
    match event:
        case TaskCreated(spec):
            return (
                f"{spec.task_id}: {line_of(spec.pipeline, spec.triage)}, base {spec.base_commit[:12]}, "
                f"model {spec.model}, sandbox {spec.sandbox}"
            )
        case ExternalArtifactImported():
            return _imported(event)
        case WorkspacePrepared(_, notices, human_commit):
            taken = (
                (f"your edits in the worktree were committed as {human_commit[:12]}",) if human_commit else ()
            )
            return "\n".join(brief(text, 400) for text in ("worktree ready", *taken, *notices))
        case BaselineTaken(baseline):
            return _baseline(baseline)
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
        case LaneRaised(lane, why):
            return f"the lane rises to {lane}: {brief(why)}; every accepted artifact is kept"
        case AttemptFailed(_, report):
            return f"attempt {report.attempt} of stage {report.stage} failed: {brief(report.reason, 400)}"
        case RevisionAsked(stage, revision):
            return _revision(stage, revision, state)
        case RedReopened(stage, why):
            return f"the locked tests are reopened in stage {stage}: {brief(why.reason)}"
        case StageAccepted():
            return _accepted(event, state)
        case TaskDelivered(Handover("")):
            return f"delivered: pipeline {state.pipeline.name} changed no file"
        case TaskDelivered(handover):
            return "\n".join([f"delivered on branch {handover.branch}", *kept_branches(handover.kept)])
        case Escalated(escalation):
            return f"{escalation.id} needs your answer ({escalation.kind}, stage {escalation.stage})"
        case Resolved(identity, answer, by):
            return f"{identity} answered by {by}: {brief(answer)}"
        case IterationPresented(stage, number, artifact):
            return f"iteration {number} of stage {stage} is presented: {brief(artifact)}"
        case UserDecision():
            return _decision(event)
        case IterationStarted(stage, number):
            return f"iteration {number} of stage {stage} begins"
        case ArtifactEdited(artifacts=refs, by=by):
            names = ", ".join(f"{ref.contract} v{ref.version}" for ref in refs)
            return f"{names} was written by hand, by {by}; the gates apply to it like to any other"
        case LineExtended(Extension(pipeline, by=by)):
            return f"extended by {by}: pipeline {pipeline.name}, to stage {pipeline.exit_stage}"
        case PipelineExit(stage, kind) if kind != "default_exit":
            return f"the task ends at stage {stage} ({kind.replace('_', ' ')})"
        case BudgetRaised(budget):
            limit = f", {money(budget.micro_usd)}" if budget.micro_usd is not None else ""
            return f"the budget is now {count(budget.calls, 'call')}, {count(budget.tokens, 'token')}{limit}"
        case DependenciesDeclared(dependencies):
            return "\n".join(f"waits for {brief(words)}" for words in dependencies.words) or None
        case DependenciesMet(without=True):
            return "goes on without what it waited for"
        case DependenciesMet(found):
            came = [f"  {brief(f'{each.artifact} {each.version} of {each.task_id}')}" for each in found]
            return "\n".join(["what it waited for is there", *came])
        case WaitLimitChanged(0, by):
            return f"a quota that is used up is not waited for any more, said {by}"
        case WaitLimitChanged(max_wait_s, by):
            return f"a provider is waited for up to {age(max_wait_s)}, said {by}"
        case ModelChanged(choice):
            return f"the model is now {choice.model}, named by {choice.by}"
        case TaskForked(ForkPoint(task, step, by=by)):
            return f"forked from {task} after step {step} by {by}: what came before was paid there"
        case DefectNoted(note, by):
            return f"a defect in what was delivered, noted by {by}: {brief(note)}"
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
            | StageReopened()
            | GateOpened()
            | PipelineExit()
            | Discarded()
        ):
            return None
        case _:
            assert_never(event)


def _baseline(baseline: Baseline) -> str:
    lines = [f"baseline: {baseline.summary} (sandbox: {baseline.sandbox})"]
    lines += [f"  fails on the base: {brief(name)}" for name in baseline.failing_tests]
    if baseline.failing_tests and (more := baseline.failing - len(baseline.failing_tests)) > 0:
        lines.append(f"  and {more} more")
    if baseline.kept:
        lines.append("  taken from an earlier task on this commit; what failed then was run again")
    return "\n".join(lines)


def _again(event: AskFailed) -> str:
    if not event.retry:
        return ""
    return f"; waiting until {clock_time(event.until)}" if event.wait_s >= _LONG_S else "; trying again"


def _imported(event: ExternalArtifactImported) -> str:
    origin = event.task_id or event.source_path
    told = [f"taken in: {event.artifact_type} from {brief(origin)}, which passed its contract"]
    told += [f"  reads like an instruction, taken as data: {brief(flag)}" for flag in event.flagged]
    return "\n".join(told)


def _decision(event: UserDecision) -> str:
    said = event.feedback
    words = [said.overall, *(issue.line for issue in said.issues)] if said is not None else []
    about = f"stage {event.stage}, iteration {event.iteration}"
    return "\n".join(
        [
            f"{event.by} decides about {about}: {event.decision}",
            *(f"  {brief(line)}" for line in words if line),
        ]
    )


def _accepted(event: StageAccepted, state: State) -> str:
    names = ", ".join(dict.fromkeys(final.contract for final in event.finals))
    result = event.result
    where = "" if result.commit == state.base_commit else f" at {result.commit[:12]}"
    first = f"stage {event.stage} accepted{where}" + (f": {names}" if names else "")
    kept = kept_branches(result.kept)
    return "\n".join([first, *kept, *([f"the work is on {result.branch}"] if kept else [])])


def tone(event: Event) -> Tone:
    """The tone, and so the colour, of an event's line."""
    match event:
        case StageEntered(parent=""):
            return "heading"
        case StageAccepted() | TaskDelivered() | GateJudged(verdict=VerdictDigest(status="passed")):
            return "good"
        case (
            GateJudged()
            | AttemptFailed()
            | RevisionAsked()
            | RedReopened()
            | AskFailed()
            | AskLost()
            | Escalated()
            | Reverted()
            | LaneRaised()
        ):
            return "caught"
        case Checked(check=check):
            return "good" if check.status == "passed" else "caught"
        case TaskFailed() | TaskAborted():
            return "bad"
        case BaselineTaken() | WorkspacePrepared():
            return "quiet"
        case _:
            return "plain"


def line_of(pipeline: Pipeline, triage: tuple[str, ...]) -> str:
    """Pipeline, lane and mode of a task, and why they were chosen."""
    why = f" ({'; '.join(triage)})" if triage else ""
    return f"pipeline {pipeline.line}, lane {pipeline.lane}, mode {pipeline.mode}{why}"


def doing(state: State) -> str:
    """What is under way, for a line that is overwritten."""
    total = (
        f"{count(state.spent.tokens, 'token')}, "
        f"{money(state.spent.micro_usd) if not state.unpriced else 'price not known'}"
    )
    run = state.worker
    if state.status in TERMINAL:
        return f"saving the result · {total}"
    if run is None:
        return f"preparing the worktree · {total}"
    if state.stage_of(run).needs_environment and state.baseline is None:
        return f"{run.stage} · waiting for the project's environment and its baseline · {total}"
    if any(each.point != "handed_in" for each in state.panel):
        return f"{run.stage} · {', '.join(map(reviewer_now, state.panel))} · {total}"
    most = state.stage_of(run).max_steps
    return f"{run.stage} · step {run.steps or 1} of at most {most} · {_work_at(run)} · {total}"


def reviewer_now(run: Run) -> str:
    """Somebody beside the worker, and what it does now."""
    return f"{run.name}: {_work_at(run)}"


def _work_at(run: Run) -> str:
    return _POINTS.get(run.point, run.point)


def _whose(run: str) -> str:
    """Reviewers work side by side: their lines say whose they are."""
    return f"{run_name(run)}: " if run != WORKER else ""


def _stage(state: State, name: str) -> Stage | None:
    return next((stage for stage in state.pipeline.stages if stage.name == name), None)


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


def _revision(stage: str, revision: int, state: State) -> str:
    judges = [
        item
        for item in state.pipeline.stages
        if item.returns_to == stage or (item.name == stage and item.reviewers)
    ]
    bound = f" of at most {judges[0].max_revisions}" if judges and revision <= judges[0].max_revisions else ""
    return f"the work goes back to stage {stage}: revision {revision}{bound}"


def _reason_lines(reasons: tuple[str, ...]) -> list[str]:
    shown = [f"    {CAUGHT}: {brief(reason)}" for reason in reasons[:REASONS_SHOWN]]
    return shown + ([f"    and {len(reasons) - REASONS_SHOWN} more"] if len(reasons) > REASONS_SHOWN else [])
