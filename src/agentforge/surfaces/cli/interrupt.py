"""Ctrl-C, SIGTERM and SIGHUP while a task is driven: the interrupt carries the task's name to the one place
that speaks of it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Ended(KeyboardInterrupt):
    """The system, a supervisor or a closed terminal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Interrupted(KeyboardInterrupt):
    """A person stopped a driver. What is recorded is safe."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.task_id = task_id


def end_like_ctrl_c() -> None:
    """Lets SIGTERM and SIGHUP end a command as Ctrl-C does: children stopped, the next step said. One that
    whoever started us ignores (`nohup`) stays ignored.
    """

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one would only cut the message in half
        raise Ended(number)

    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


@contextmanager
def naming(task_id: str) -> Iterator[None]:
    """An interrupt inside of this block knows the task."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(task_id) from error


def ended_by(error: BaseException | None) -> int:
    """The signal that ended a command: SIGINT, unless another one is named by the interrupt or its cause."""
    while error is not None:
        if isinstance(error, Ended):
            return error.number
        error = error.__cause__
    return signal.SIGINT


def interrupted_task(error: BaseException | None) -> str:
    """The task that was being driven when this happened; empty if there was none."""
    while error is not None:
        if isinstance(error, Interrupted):
            return error.task_id
        error = error.__cause__
    return ""
