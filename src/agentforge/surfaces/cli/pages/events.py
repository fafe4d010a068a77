"""The progress of a task in words: `describe` says what an event means to a person who watches. Pure."""

from typing import assert_never

from agentforge.app.ports import Tone
from agentforge.core.digests import Extension, ForkPoint, Handover, VerdictDigest
from agentforge.core.events import (
    AskFailed,
    AskLost,
    AttemptFailed,
    BaselineTaken,
    BudgetRaised,
    Checked,
    DefectNoted,
    DependenciesDeclared,
    DependenciesMet,
    Discarded,
    Escalated,
    Event,
    ExternalArtifactImported,
    GateJudged,
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
    TaskAborted,
    TaskCreated,
    TaskDelivered,
    TaskEvent,
    TaskFailed,
    TaskForked,
    UserDecision,
    WaitLimitChanged,
    WorkspacePrepared,
)
from agentforge.core.state import State
from agentforge.core.values import Baseline, OfRun
from agentforge.surfaces.cli.pages.now import line_of
from agentforge.surfaces.cli.pages.run_events import describe_run
from agentforge.surfaces.cli.pages.words import age, count, kept_branches, money
from agentforge.system.visible import brief


def describe(event: Event, state: State) -> str | None:
    """What to tell a person who watches; None where there is nothing worth a line. `state` is where the
    event's line led.
    """
    if isinstance(event, OfRun):
        return describe_run(event, state)
    return _of_task(event, state)


def _of_task(event: TaskEvent, state: State) -> str | None:  # noqa: C901, PLR0912  # one arm per event
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
        case LaneRaised(lane, why):
            return f"the lane rises to {lane}: {brief(why)}; every accepted artifact is kept"
        case RevisionAsked(stage, revision):
            return _revision(stage, revision, state)
        case RedReopened(stage, why):
            return f"the locked tests are reopened in stage {stage}: {brief(why.reason)}"
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
        case Moved() | PipelineExit() | Discarded():
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


def _revision(stage: str, revision: int, state: State) -> str:
    judges = [
        item
        for item in state.pipeline.stages
        if item.returns_to == stage or (item.name == stage and item.reviewers)
    ]
    bound = f" of at most {judges[0].max_revisions}" if judges and revision <= judges[0].max_revisions else ""
    return f"the work goes back to stage {stage}: revision {revision}{bound}"
