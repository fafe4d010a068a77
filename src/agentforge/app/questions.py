"""The questions of all tasks of a repository, found through the index."""

from collections.abc import Iterator
from typing import NamedTuple

from agentforge.core.errors import UsageError, UserError
from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.store.index import Index
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.times import Times


class Asked(NamedTuple):
    """A question and the task that asks it."""

    files: TaskFiles
    state: State
    times: Times
    escalation: Escalation


def asked(site: Site, *, answered: bool) -> Iterator[Asked]:
    """The open questions, newest task first; with `answered` the old ones too."""
    site.restore_archived()
    with Index(site.home.index, lambda _: None) as index:
        rows = index.rows(site.git.top)
    for row in rows:
        if row.status != "unreadable" and (answered or row.status == "blocked"):
            yield from _of_task(site, site.project.task(row.task_id), answered=answered)


def _of_task(site: Site, files: TaskFiles, *, answered: bool) -> Iterator[Asked]:
    try:
        journal = site.read(files)
    except UserError:
        return  # `status` names what is wrong with it
    for escalation in journal.state.escalations:
        if answered or escalation.answer is None:
            yield Asked(files, journal.state, journal.times, escalation)


def task_of(site: Site, identity: str) -> TaskFiles:
    """The one task that waits for an answer to this question; where none waits, the one that has the
    answer.
    """
    found = list(asked(site, answered=True))
    mine = [item for item in found if item.escalation.id == identity]
    waiting = [item.files for item in mine if item.escalation.answer is None]
    files = waiting or [item.files for item in mine]
    if len(files) == 1:
        return files[0]
    if files:
        names = ", ".join(item.task_id for item in files)
        words = (
            f"{identity} waits in {len(files)} tasks"
            if waiting
            else f"{identity} waits in no task and was answered in {len(files)}"
        )
        raise UsageError(f"{words}: {names}.", "Say which with --task.")
    raise UsageError(
        f"No task waits for an answer to {identity}.", "`agentforge escalations list` shows what waits."
    )
