"""The same work on many things, shared with a second process where the machine has a second processor.

What comes of each is a text, so that it can be handed over. A second process that does not end well is as if
it had never been.
"""

import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import IO, TypeVar

Item = TypeVar("Item")
FEW = 64
"""Things, below which a second process costs more than it saves."""


def made_of_each(items: Sequence[Item], make: Callable[[Item], str]) -> list[str]:
    """What comes of each, in order. `make` may neither write anything nor talk to another process."""
    if len(items) < FEW or threading.active_count() > 1 or os.cpu_count() == 1:
        return [make(item) for item in items]
    ours, others = items[::2], items[1::2]
    with tempfile.TemporaryFile("w+", encoding="ascii") as file:
        try:
            second = os.fork()
        except OSError:  # there may be no more processes
            return [make(item) for item in items]
        if second == 0:
            _hand_over(others, make, file)
        try:
            made = [make(item) for item in ours]
        finally:
            ended_well = _ended_well(second)
        file.seek(0)
        told = [str(json.loads(line)) for line in file] if ended_well else []
    theirs = told if len(told) == len(others) else [make(item) for item in others]
    found = [""] * len(items)
    found[::2], found[1::2] = made, theirs
    return found


def _ended_well(process: int) -> bool:
    try:
        return os.waitpid(process, 0)[1] == 0
    except ChildProcessError:  # whoever started us wants no word of how a process ended
        return False


def _hand_over(items: Sequence[Item], make: Callable[[Item], str], file: IO[str]) -> None:
    """All that the second process does; nothing of the first one's is ended or written by it."""
    try:
        file.writelines(f"{json.dumps(make(item))}\n" for item in items)
        file.flush()
        os._exit(0)
    finally:
        os._exit(1)
