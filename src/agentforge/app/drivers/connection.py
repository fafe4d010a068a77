"""The Temporal server that the user configured. The one place that loads the extra for it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError
from agentforge.engines.temporal.config import Config, read_config
from agentforge.store.site import home_path
from agentforge.system.installation import install_command

if TYPE_CHECKING:
    from agentforge.engines.temporal.client import Connection
    from agentforge.engines.temporal.look import Look


def read_temporal(environ: Mapping[str, str] = os.environ) -> Config:
    """Where the Temporal server is: the environment before the user's own file. A repository is not asked."""
    from agentforge.app.setup.settings import read_own_settings

    path = home_path(environ) / "config.yaml"
    _, own = read_own_settings(path)
    return read_config(own.temporal, environ, str(path))


@contextmanager
def connected() -> Iterator["Connection"]:
    """The server that the user configured."""
    need_temporal()
    from agentforge.engines.temporal.client import Connection

    with Connection(read_temporal(), quiet=os.environ.get("AGENTFORGE_DEBUG") != "1") as line:
        yield line


def need_temporal() -> None:
    """Refuses with the command that installs the Temporal engine, if it is not installed."""
    if find_spec("temporalio") is None:
        raise UsageError("The Temporal engine is not installed.", f"Run: {install_command('temporal')}")


def workflow_name(task: OpenTask) -> str:
    """The id of the workflow of a task."""
    from agentforge.engines.temporal.client import workflow_id

    return workflow_id(task.task_id, task.state.marker)


def look_at(config: Config, tasks: Sequence[OpenTask], within_s: float) -> dict[str, "Look"]:
    """What the server knows of the workflows of several tasks, by task; only for a moment."""
    need_temporal()
    from agentforge.engines.temporal.client import glance

    names = {task.task_id: workflow_name(task) for task in tasks}
    looks = glance(config, list(names.values()), within_s)
    return {task_id: looks[name] for task_id, name in names.items()}
