"""What can be done: starting, deciding, answering and ending, through the same use cases as the commands."""

import json
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse, Response

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError
from agentforge.store.site import Site
from agentforge.surfaces.dashboard.parts import EscalationName, Known, Repo, TaskName
from agentforge.surfaces.dashboard.reader import TaskReader
from agentforge.surfaces.dashboard.replies import ERRORS, reply

Words = Annotated[str, Body(embed=True, max_length=20_000)]
OneWord = Annotated[str | None, Body(embed=True, max_length=200)]

router = APIRouter(prefix="/api", responses=ERRORS, default_response_class=JSONResponse)


@router.post("/tasks", status_code=201)
def start(  # noqa: PLR0913, PLR0917 - what can be said beside a request
    reader: Known,
    request: Annotated[str, Body(embed=True, min_length=1, max_length=100_000)],
    repo: Annotated[str, Body(embed=True, min_length=1, max_length=4096)],
    pipeline: OneWord = None,
    lane: Annotated[Literal["hotfix", "small", "full"] | None, Body(embed=True)] = None,
    mode: OneWord = None,
    model: OneWord = None,
    budget: Annotated[str | None, Body(embed=True, max_length=20)] = None,
    iterate: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a field of a document
) -> Response:
    """A request becomes a task, and a process of its own drives it."""
    from agentforge.app.drivers.detaching import continue_apart
    from agentforge.app.intake import starting
    from agentforge.app.intake.watching import Watching

    if repo not in reader.repositories():
        raise UsageError(
            f"{repo[:200]!r} is not a repository that is known here.",
            "`agentforge repo add PATH` makes it known.",
        )
    options = starting.StartOptions(
        request,
        pipeline=pipeline or None,
        lane=lane,
        mode=mode or None,
        model=model or None,
        budget_usd=budget or None,
        watching=Watching(iterate=iterate, is_there=True),
    )
    notices: list[str] = []
    task = starting.start(Site.open(FilePath(repo)), options, notices.append)
    continue_apart(task)
    reader.forget_rows()
    return reply({"task_id": task.task_id, "repo_path": repo, "notes": notices}, 201)


@router.post("/tasks/{task_id}/escalations/{escalation_id}/resolve")
def resolve(
    reader: Known, task_id: TaskName, escalation_id: EscalationName, answer: Words, repo: Repo = None
) -> Response:
    """Answers a question, as `agentforge resolve` does."""
    if not answer.strip():
        raise UsageError("The answer is empty.", "Choose one of the options, or say it in your own words.")
    return _answered(reader, reader.open_anew(task_id, repo), escalation_id.upper(), answer)


@router.post("/tasks/{task_id}/escalations/{escalation_id}/shown")
def shown(reader: Known, task_id: TaskName, escalation_id: EscalationName, repo: Repo = None) -> Response:
    """Notes that a person has the question before them."""
    from agentforge.app.people.inbox import mark_shown, record_of
    from agentforge.app.people.messages import open_question
    from agentforge.app.people.questions import AskedQuestion

    task = reader.open_anew(task_id, repo)
    question = open_question(task.state, escalation_id.upper())
    mark_shown(record_of(AskedQuestion(task, question)))
    return reply({"task_id": task.task_id, "escalation": question.id})


@router.post("/tasks/{task_id}/approve")
def approve(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """Approves what is presented."""
    return _decided(reader, task_id, repo, "approve")


@router.post("/tasks/{task_id}/exit")
def leave(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """Ends the task with the version that is presented."""
    return _decided(reader, task_id, repo, "exit")


@router.post("/tasks/{task_id}/reject")
def reject(reader: Known, task_id: TaskName, reason: Words = "", repo: Repo = None) -> Response:
    """Sends what is presented back to the stage before."""
    return _decided(reader, task_id, repo, f"reject: {reason.strip()}" if reason.strip() else "reject")


@router.post("/tasks/{task_id}/feedback")
def feedback(
    reader: Known,
    task_id: TaskName,
    comments: Words = "",
    issues: Annotated[list[dict[str, str]] | None, Body(embed=True, max_length=200)] = None,
    repo: Repo = None,
) -> Response:
    """Asks for changes: words about the whole, and an issue for each place."""
    from agentforge.app.people.deciding import check_about, decision_awaited
    from agentforge.app.people.feedback import read_feedback

    task = reader.open_anew(task_id, repo)
    asked = decision_awaited(task)
    document = {"overall_comments": comments, "specific_issues": issues or []}
    given = json.dumps({"feedback": document}, ensure_ascii=False) if issues else comments
    said = read_feedback(given, "the feedback")
    check_about(task, said)
    return _answered(reader, task, asked.id, said.choice, said.feedback)


@router.post("/tasks/{task_id}/extend")
def extend(reader: Known, task_id: TaskName, stage: OneWord = None, repo: Repo = None) -> Response:
    """Goes on to a later stage: of a version that is presented, or of a completed task."""
    from agentforge.app.drivers.detaching import continue_apart
    from agentforge.app.intake.extending import extend_line
    from agentforge.app.people.deciding import DECISIONS

    task = reader.open_anew(task_id, repo)
    waiting = task.state.open_escalation
    extend_line(task, stage or "")
    if waiting is not None and waiting.kind in DECISIONS and "extend" in waiting.question.options:
        return _answered(reader, task, waiting.id, "extend")
    continue_apart(task)
    reader.forget_rows()
    return reply({"task_id": task.task_id, "status": task.refresh().status})


@router.post("/tasks/{task_id}/permissions")
def permissions(
    reader: Known,
    task_id: TaskName,
    decision: Annotated[Literal["allow", "always", "deny"], Body(embed=True)],
    repo: Repo = None,
) -> Response:
    """Allows or denies the command that waits for it."""
    task = reader.open_anew(task_id, repo)
    return _answered(reader, task, _asked_for(task, "permission"), decision)


@router.post("/tasks/{task_id}/budget")
def budget(
    reader: Known,
    task_id: TaskName,
    times: Annotated[int, Body(embed=True, ge=2, le=1000)] = 2,
    repo: Repo = None,
) -> Response:
    """Raises the budget that the next call does not fit into."""
    task = reader.open_anew(task_id, repo)
    return _answered(reader, task, _asked_for(task, "budget"), "double" if times == 2 else f"x{times}")


@router.post("/tasks/{task_id}/continue")
def go_on(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """Drives a task that nobody drives."""
    from agentforge.app.drivers.detaching import continue_apart

    task = reader.open_anew(task_id, repo)
    continue_apart(task)
    return reply({"task_id": task.task_id, "status": task.state.status})


@router.post("/tasks/{task_id}/abort")
def abort(reader: Known, task_id: TaskName, reason: Words = "", repo: Repo = None) -> Response:
    """Ends the task and keeps its work."""
    from agentforge.app.drivers.remote import tell_workers
    from agentforge.app.people.messages import abort as end

    task = reader.open_anew(task_id, repo)
    done = end(task, reason)
    note = tell_workers(task)
    reader.forget_rows()
    notes = [note] if note else []
    return reply(
        {"task_id": task.task_id, "status": task.refresh().status, "driven": not done, "notes": notes}
    )


def _answered(reader: TaskReader, task: OpenTask, identity: str, words: str, said: Any = None) -> Response:  # noqa: ANN401
    from agentforge.app.drivers.detaching import answer_apart

    taken = answer_apart(task, identity, words, said)
    reader.forget_rows()
    state = task.refresh()
    return reply(
        {"task_id": task.task_id, "escalation": identity, "status": state.status, "notes": [*taken.notes]}
    )


def _decided(reader: TaskReader, task_id: str, repo: str | None, words: str) -> Response:
    from agentforge.app.people.deciding import decision_awaited

    task = reader.open_anew(task_id, repo)
    return _answered(reader, task, decision_awaited(task).id, words)


def _asked_for(task: OpenTask, kind: str) -> str:
    waiting = task.state.open_escalation
    if waiting is None or waiting.kind != kind:
        raise UsageError(
            f"{task.task_id} waits for no decision about its {kind}.",
            f"`agentforge status {task.task_id}` shows what it waits for.",
        )
    return waiting.id
