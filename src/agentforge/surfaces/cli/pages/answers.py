"""What a person can type next: the commands after a task, and the answers to its question."""

import re

from agentforge.app.people.offers import offered
from agentforge.app.record.deliverable import Deliverable
from agentforge.app.record.reports import TaskReport
from agentforge.core.state import State
from agentforge.core.values import STUCK, Escalation, Question
from agentforge.surfaces.cli.pages.decisions import built_on, decision_commands
from agentforge.surfaces.cli.pages.proof import is_judged
from agentforge.surfaces.cli.pages.words import command
from agentforge.system.visible import brief, harmless


def next_commands(report: TaskReport) -> list[str]:
    """The commands that make sense next."""
    state, task = report.state, report.state.task_id
    match state.status:
        case "completed" if report.changes_nothing:
            return _after_document(state, report.deliverable)
        case "completed":
            last = command("agentforge", "merge", task) if is_judged(state.pipeline) else built_on(state)
            return [
                command("git", "diff", f"{state.base_commit[:12]}..{report.branch}"),
                command("agentforge", "verify", task),
                last,
            ]
        case "blocked" if state.open_escalation is not None:
            return _after_question(state, state.open_escalation)
        case _:
            return [command("agentforge", "continue", task), command("agentforge", "inspect", task)]


def _after_question(state: State, waiting: Escalation) -> list[str]:
    """The answer that is recommended, or what is recommended instead of an answer; then all that led to it,
    and the way out.
    """
    if waiting.kind in ("iteration", "approval"):
        return decision_commands(state, waiting)
    base = ("agentforge", "resolve", waiting.id, "--task", state.task_id)
    leave = [command("agentforge", "abort", state.task_id)]
    first = helpful_answers(state, waiting)
    if not first:
        leave = [*leave, _again(state)]
    denied = [command(*base, "--answer", "deny")] if waiting.question.call else []
    whole = command("agentforge", "escalations", "show", waiting.id, "--task", state.task_id)
    return [*first, *denied, whole, *leave]


def helpful_answers(state: State, waiting: Escalation) -> list[str]:
    """What to type first, if any answer helps: the recommended one. Where the model cannot be used or got no
    further, another model comes first.
    """
    asked = waiting.question
    another = command("agentforge", "continue", state.task_id, "--model", "PROVIDER:NAME")
    answer = [answer_command(state, waiting)]
    if waiting.kind == "model" and asked.recommendation not in asked.options:
        return [another, *(answer if proposed(asked) else [])]
    if waiting.kind in STUCK and not proposed(asked):
        return [another, *answer]
    return answer if proposed(asked) or not asked.options else []


def _again(state: State) -> str:
    """The same request as a new task."""
    model = ("--model", state.model) if ":" in state.model else ()
    return command("agentforge", "start", " ".join(state.request.split()), *model)


def proposed(question: Question) -> str:
    """The option to offer first: the recommended one, or the first that the recommendation names. Empty where
    it names none: then it speaks against them all.
    """
    options = [option for option in question.options if option != "abort"]
    said = question.recommendation
    if said in question.options or not options:
        return said if said in question.options else ""
    if not said:
        return options[0]
    words = said.lower()
    return next(
        (each for each in options if re.search(rf"(?<!\w){re.escape(each.lower())}(?!\w)", words)), ""
    )


def answer_command(state: State, escalation: Escalation) -> str:
    """The exact words that answer a question."""
    return command(
        "agentforge",
        "resolve",
        escalation.id,
        "--task",
        state.task_id,
        "--answer",
        brief(proposed(escalation.question)) or "YOUR ANSWER",
    )


def question(state: State, escalation: Escalation) -> str:
    """A question, with what led to it."""
    lines = [
        f"{escalation.id} of {state.task_id} needs your answer ({escalation.kind}, stage {escalation.stage})",
        *(f"  {line}" for line in harmless(escalation.question.text).splitlines()),
    ]
    lines += [f"  option      {brief(option)}" for option in escalation.question.options]
    if escalation.question.call is not None:
        lines.append(f"  always      grants {offered(escalation.question.call)}")
    if escalation.question.recommendation:
        lines.append(f"  recommended {brief(escalation.question.recommendation, 600)}")
    for failed in escalation.reports:
        lines.append(
            f"  attempt {failed.attempt} of {failed.stage}, step {failed.step}: {brief(failed.reason, 400)}"
        )
        lines += [f"    {brief(last)}" for last in failed.last]
    if escalation.answer is not None:
        lines.append(f"  answered by {escalation.by}: {brief(escalation.answer, 600)}")
    return "\n".join(lines)


def _after_document(state: State, deliverable: Deliverable | None) -> list[str]:
    """What to type after a task that changed nothing."""
    read = [command("cat", deliverable.file)] if deliverable else []
    request = " ".join(state.request.split())
    specified = state.artifact_for("requirements") is not None
    if state.artifact_for("decision") is not None and not specified:  # a question was asked, and answered
        return [*read, command("agentforge", "inspect", state.task_id)]
    if specified or state.pipeline.extends_to:
        after = built_on(state)
    else:
        after = command("agentforge", "design", request)
    return [*read, after, command("agentforge", "inspect", state.task_id)]
