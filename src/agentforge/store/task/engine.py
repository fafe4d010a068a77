"""Who drives a task, and where: what `task.yaml` said at the start, unless somebody took it over since."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.store.layout import ENGINE_FILE, TaskFiles
from agentforge.store.task.lines import spell_document
from agentforge.system import strict_yaml
from agentforge.system.files import disk_errors, write_atomic
from agentforge.system.unlinked import read_unlinked

EngineName: TypeAlias = Literal["local", "temporal"]


@dataclass(frozen=True, slots=True)
class Driven:
    """Which engine drives a task, and on which worker."""

    engine: EngineName = "local"
    host: str = ""
    """The queue of the worker that has the task; empty while none has."""


def read_engine(files: TaskFiles) -> Driven:
    """The engine that drives the task now: `engine.yaml`, or `task.yaml` where that says nothing."""
    later = _load(files, ENGINE_FILE)
    value = later if "engine" in later else _load(files, "task.yaml")
    for name in get_args(EngineName):
        if value.get("engine") == name:
            return Driven(name, str(value.get("host") or ""))
    if "engine" in value:
        raise UsageError(
            f"{files.task_id} is driven by {value['engine']!r}, which this version does not know.",
            "Use a newer one.",
        )
    return Driven()


def write_engine(files: TaskFiles, driven: Driven) -> None:
    """Stores which engine drives the task from now on, beside `task.yaml`, which never changes."""
    value: dict[str, Json] = {"engine": driven.engine, **({"host": driven.host} if driven.host else {})}
    with disk_errors():
        write_atomic(files.root / ENGINE_FILE, spell_document(value))


def _load(files: TaskFiles, name: str) -> dict[str, Json]:
    path = files.root / name
    try:
        with disk_errors():
            value = strict_yaml.load(read_unlinked(path).decode(), str(path))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return value if isinstance(value, dict) else {}
