"""The time of one test: it is interrupted when that is over, and the process is ended where it cannot be.

Copied beside a run, like the judge: it imports nothing of ours.
"""

# ruff: noqa: ANN401 - as in the judge

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = os.dup(2)


class OutOfTime(pytest.fail.Exception):  # type: ignore[name-defined, misc]  # its class is made while pytest loads
    """The time of a test is over."""


def out_of_time(limit_s: float) -> OutOfTime:
    """What a test raises that took too long."""
    return OutOfTime(f"did not end within {limit_s:g} s", pytrace=False)


# Bound now: tests replace these functions.
_main_thread, _current_thread = threading.main_thread, threading.current_thread
_set_timer, _get_timer, _set_handler, _get_handler = (
    signal.setitimer,
    signal.getitimer,
    signal.signal,
    signal.getsignal,
)
_end_later, _end_not = faulthandler.dump_traceback_later, faulthandler.cancel_dump_traceback_later


@contextlib.contextmanager
def alarm(limit_s: float) -> Iterator[None]:
    """Interrupt what runs longer, again and again, unless somebody else uses the alarm."""
    mine = _current_thread() is _main_thread() and _get_handler(signal.SIGALRM) is signal.SIG_DFL
    if not mine or _get_timer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(_number: int, _frame: Any) -> None:
        raise out_of_time(limit_s)

    _set_handler(signal.SIGALRM, ring)
    _set_timer(signal.ITIMER_REAL, limit_s, 1)
    try:
        yield
    finally:
        if _get_handler(signal.SIGALRM) is ring:
            _set_timer(signal.ITIMER_REAL, 0)
            _set_handler(signal.SIGALRM, signal.SIG_DFL)


@contextlib.contextmanager
def deadline(limit_s: float) -> Iterator[None]:
    """End the process if what runs is not over by then: some things cannot be interrupted."""
    _end_later(limit_s, exit=True, file=ERRORS)
    try:
        yield
    finally:
        _end_not()
