"""The questions of all tasks of a repository, found through the index."""

from collections.abc import Iterator
from typing import NamedTuple

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError, UserError
from agentforge.core.values import Escalation
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.user.index import Index


class AskedQuestion(NamedTuple):
    """A question and the task that asks it."""

    task: OpenTask
    escalation: Escalation


def list_questions(site: Site, *, answered: bool = False) -> Iterator[AskedQuestion]:
    """The open questions, newest task first; with `answered` the old ones too."""
    site.restore_archived()
    with Index(site.home.task_index, lambda _: None) as index:
        rows = index.rows(site.git.top)
    for row in rows:
        if row.status != "unreadable" and (answered or row.status == "blocked"):
            yield from _of_task(site, site.project.task(row.task_id), answered=answered)


def _of_task(site: Site, files: TaskFiles, *, answered: bool) -> Iterator[AskedQuestion]:
    try:
        task = OpenTask.open(site, files)
    except UserError:
        return  # `status` names what is wrong with it
    for escalation in task.state.escalations:
        if answered or escalation.answer is None:
            yield AskedQuestion(task, escalation)


def task_that_asks(site: Site, identity: str, name: str | None = None) -> OpenTask:
    """The task that is named; else the one that waits for an answer to this question, or where none waits,
    the one that has the answer.
    """
    if name:
        return OpenTask.open(site, site.find(name))
    mine = [item for item in list_questions(site, answered=True) if item.escalation.id == identity]
    waiting = [item.task for item in mine if item.escalation.answer is None]
    tasks = waiting or [item.task for item in mine]
    if len(tasks) == 1:
        return tasks[0]
    if tasks:
        names = ", ".join(task.task_id for task in tasks)
        words = (
            f"{identity} is open in {len(tasks)} tasks"
            if waiting
            else f"{identity} is open in no task and was answered in {len(tasks)}"
        )
        raise UsageError(f"{words}: {names}.", "Choose one with --task.")
    raise UsageError(
        f"No task is waiting for an answer to {identity}.",
        "`agentforge escalations list` shows the open questions.",
    )


def question_of(site: Site, identity: str, name: str | None = None) -> AskedQuestion:
    """The question with this name, of the task that is named or of the one that waits for its answer."""
    task = task_that_asks(site, identity, name)
    for escalation in task.state.escalations:
        if escalation.id == identity:
            return AskedQuestion(task, escalation)
    raise UsageError(
        f"{task.task_id} has no escalation {identity}.",
        "`agentforge escalations list --all` shows all of them.",
    )


def waiting_question(site: Site, name: str) -> AskedQuestion:
    """The question that a task waits with; the task by its name, the beginning of it, or its place."""
    task = OpenTask.open(site, site.find(name))
    waiting = task.state.open_escalation
    if waiting is None:
        raise UsageError(
            f"{task.task_id} is not waiting for an answer.",
            "`agentforge escalations list` shows the open questions.",
        )
    return AskedQuestion(task, waiting)
