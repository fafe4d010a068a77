"""What the log of effects costs the thread that performs an effect: its lines are written by another one."""

import time
from collections.abc import Iterator
from pathlib import Path

from agentforge.store.user.effect_log import EffectLog, LogLine
from bench.report import Row

LINES = 2000
LINE: LogLine = {
    "time": "2026-01-27T10:00:00.000Z",
    "task": "task-20260127-add-oauth2",
    "repository": "/home/ada/shop",
    "effect": "Ask",
    "key": "implement/7/ask/1",
    "seconds": 4.211,
    "outcome": "Answered",
    "model": "any",
    "tokens": 12_345,
    "usd": 0.042,
}


def measure_log(place: Path) -> Iterator[Row]:
    """The time of the caller for each line, and the time until all of them are on the disk."""
    started = time.perf_counter()
    with EffectLog(place / "logs") as log:
        for _ in range(LINES):
            log.add(LINE)
        added = time.perf_counter()
    yield Row("a line", "of the effect's time", (added - started) / LINES * 1e6, "us")
    yield Row("a line", "until it is written", (time.perf_counter() - started) / LINES * 1e6, "us")
