"""The second engine: what one effect costs beside a bare activity of the same server, and how many tasks pass
in a minute.
"""

import importlib.util
from pathlib import Path

from bench.report import Row

GOAL = 1.2


def measure_temporal(place: Path) -> list[Row]:
    """The rows, or one that says why there are none."""
    if importlib.util.find_spec("temporalio") is None:
        return [Row("the extra `temporal` is not installed: not measured", "", 0, "")]
    engine = importlib.import_module("bench.temporal_engine")
    found = engine.measure(place)
    tasks = f"{engine.TASKS} tasks of 9 effects"
    return [
        Row("an effect", "bare activity", found.bare_ms, "ms"),
        Row("an effect", "local engine", found.local_ms, "ms"),
        Row("an effect", "takes", found.ours_ms, "ms"),
        Row("an effect", "in bare activities", found.ours_ms / found.bare_ms, "x", GOAL),
        Row(tasks, "one worker", found.one_worker, "a minute"),
        Row(tasks, "two workers", found.two_workers, "a minute"),
    ]
