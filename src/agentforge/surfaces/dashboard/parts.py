"""What routes ask for: the reader of this server, and the names in a URL."""

from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.requests import HTTPConnection

from agentforge.surfaces.dashboard.reader import Reader
from agentforge.surfaces.dashboard.watcher import Watcher


def _reader(connection: HTTPConnection) -> Reader:
    found: Reader = connection.app.state.reader
    return found


def _watcher(connection: HTTPConnection) -> Watcher:
    found: Watcher = connection.app.state.watcher
    return found


Known = Annotated[Reader, Depends(_reader)]
Heard = Annotated[Watcher, Depends(_watcher)]
TaskName = Annotated[str, Path(max_length=200, description="The name of a task.")]
Repo = Annotated[
    str | None,
    Query(max_length=4096, description="The path of its repository, where several have a task of this name."),
]
StepNumber = Annotated[int, Path(ge=1, le=1_000_000)]
EscalationName = Annotated[str, Path(max_length=40, description="The name of a question, such as ESC-001.")]
