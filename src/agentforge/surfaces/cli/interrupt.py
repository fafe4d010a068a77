"""Ctrl-C while a task is driven: the interrupt carries the task's name to the one place that speaks of it."""

from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(KeyboardInterrupt):
    """A person stopped a driver. What is recorded is safe."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.task_id = task_id


@contextmanager
def naming(task_id: str) -> Iterator[None]:
    """An interrupt inside of this block knows the task."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(task_id) from error


def interrupted_task(error: BaseException | None) -> str:
    """The task that was being driven when this happened; empty if there was none."""
    while error is not None:
        if isinstance(error, Interrupted):
            return error.task_id
        error = error.__cause__
    return ""
