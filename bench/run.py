"""`make bench`: everything measured in one run, as a table and as JSON. Speed is shown; only what is broken fails."""

import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agentforge import __version__
from bench.commands import Command, measure_commands
from bench.replay import Replay, measure_replay
from bench.report import Row, table, write_json
from bench.scene import long_task
from bench.steps import POINTS, Window, measure_steps

RESULT = Path(__file__).resolve().parent.parent / "build" / "bench.json"
FLAT = 1.5
STEP_MS = 3.0
CONTEXT_CAP = 16_000

NOTES = """\
A step is real: engine, git, worktree, journal, pack, views and index; only the model answers at once. `read` looks at 120 lines,
`edit` writes one small file. `ours` is a step without git: our computing and our waits for the disk. Between the points steps are
recorded and not performed. The unit is one fsynced append, made between the steps. `cpu` counts no waiting at all."""


def main() -> None:
    """Measures, prints, writes."""
    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as name:
        place = Path(name)
        with long_task(place) as scene:
            windows = list(measure_steps(scene, place))
            task = scene.journal.files.root
        replay = measure_replay(task)
        commands = measure_commands(place, place / "repository", place / "home")
    rows = [*_time(windows), *_size(windows), *_replay(replay), *_commands(commands)]
    load = os.getloadavg()[0]
    about: dict[str, object] = {
        "version": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": round(load, 2),
    }
    write_json(RESULT, rows, about)
    print(f"AgentForge {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}\n")
    print(f"{table(rows)}\n\n{NOTES}\n\nAlso as JSON: {os.path.relpath(RESULT)}")


def _time(windows: list[Window]) -> Iterator[Row]:
    early = {window.work: window for window in windows if window.point == POINTS[0]}
    for window in windows:
        head = f"{window.work}, step {window.point:,}"
        yield Row("step", f"{head}: ours", window.ours_ms, "ms", STEP_MS if window.work == "read" else None)
        yield Row("step", f"{head}: ours, in fsynced appends", window.appends, "x")
        yield Row("step", f"{head}: ours, of which cpu", window.cpu_ms, "ms")
        yield Row("step", f"{head}: ours, of which {window.syncs:.0f} syncs", window.sync_ms, "ms")
        yield Row("step", f"{head}: git, {window.git_calls:.0f} calls", window.git_ms, "ms")
        if window.point != POINTS[0]:
            yield Row("step", f"{head}: cpu against step {POINTS[0]}", window.cpu_ms / early[window.work].cpu_ms, "x", FLAT)


def _size(windows: list[Window]) -> Iterator[Row]:
    early = {window.work: window for window in windows if window.point == POINTS[0]}
    for window in windows:
        head = f"{window.work}, step {window.point:,}"
        yield Row("disk", f"{head}: journal", window.journal_bytes, "B/step", FLAT * early[window.work].journal_bytes)
        yield Row("disk", f"{head}: pack", window.pack_bytes, "B/step", FLAT * early[window.work].pack_bytes)
    for window in windows:
        if window.work == "read" and window.point <= POINTS[1]:
            yield Row("context", f"step {window.point:,}", window.context_tokens, "tokens", CONTEXT_CAP)


def _replay(replay: Replay) -> Iterator[Row]:
    yield Row("replay", f"{replay.steps:,} steps, {replay.lines:,} lines, {replay.size / 1e6:.1f} MB", replay.seconds, "s")
    yield Row("replay", "per line", replay.ms_per_line, "ms")
    yield Row("replay", "memory at its peak", replay.peak_kib / 1024, "MiB")


def _commands(commands: list[Command]) -> Iterator[Row]:
    bare = commands[0].ms
    yield Row("command", commands[0].name, bare, "ms")
    for command in commands[1:]:
        yield Row("command", command.name, command.ms / bare, "x bare")


if __name__ == "__main__":
    main()
