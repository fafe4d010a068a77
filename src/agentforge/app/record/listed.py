"""The read model of tasks: those of a repository, or of every repository of this user, from the user's index
(`app/record/rows.py`), and one that is open.

Every surface shows the same documents: `task_summary`, `phase_detail` and `step_detail` in
`app/record/details.py`, with the field names of the dashboard.
"""

from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.rows import (
    absent_repositories,
    lacks_driver,
    list_all_tasks,
    summaries_of,
    task_summary,
)
from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.engine import EngineName, read_engine
from agentforge.store.task.summary import Summary, changed_files, summary_of, timed
from agentforge.store.user.repositories import names_by_path

__all__ = [
    "absent_repositories",
    "engine_name",
    "is_left",
    "is_stopped",
    "list_all_tasks",
    "repo_word",
    "summaries_of",
    "summary_of_task",
    "task_summary",
]


def summary_of_task(task: OpenTask) -> Summary:
    """A row of the list of tasks, for a task that is open already."""
    files = changed_files(task.site.git, task.state)
    found = timed(summary_of(task.state, task.journal.times, task.journal.progress, files), task.site.clock())
    top = task.site.git.top
    return {
        **found,
        "repo": repo_word(task.site),
        "repo_path": str(top),
        "engine": engine_name(task.files),
        "stopped": is_stopped(task.files, task.state.status),
    }


def repo_word(site: Site) -> str:
    """What a repository is called: the name that the user gave it, else that of its directory."""
    top = site.git.top
    return names_by_path(site.home).get(str(top.resolve()), top.name)


def is_stopped(files: TaskFiles, status: str) -> bool:
    """Whether the task has work to do and no process of this machine does it: it was killed, or its machine
    went down. Workers of the other engine are looked for elsewhere.
    """
    return engine_name(files) == "local" and lacks_driver(files, status)


def is_left(files: TaskFiles, status: str) -> bool:
    """Whether no reply can come any more to what was begun: the task is over, or nobody works on it."""
    return status in TERMINAL or is_stopped(files, status)


def engine_name(files: TaskFiles) -> EngineName | None:
    """Who drives a task; None where that cannot be read, as little as the task."""
    try:
        return read_engine(files).engine
    except UserError:
        return None
