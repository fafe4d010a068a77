"""`make bench`: everything measured in one run, as a table and as JSON. Speed is shown; only what is broken fails."""

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from agentforge import __version__
from bench.checks import measure_checks
from bench.commands import Command, measure_commands
from bench.dashboards import measure_dashboard
from bench.hands import Compared, measure_patch, measure_search, measure_walls
from bench.logs import measure_log
from bench.maps import measure_maps
from bench.model import Work
from bench.money import measure_money
from bench.replay import Replay, measure_replay
from bench.report import Row, against, by_table, read_rows, table, write_json
from bench.reports import measure_reports
from bench.scene import long_task
from bench.steps import POINTS, Alone, Window, measure_engine, measure_steps
from bench.temporal import measure_temporal
from bench.verdicts import WHOLE_RUNS, measure_verdicts
from bench.wires import measure_imports
from bench.wrappers import measure_wrappers

RESULT = Path(__file__).resolve().parent.parent / "build" / "bench.json"
FLAT = 1.5
STEP_MS = 3.0
FULL_STEP_MS = 8.0
REPLAY_S = 2.0
ONE_MORE_MS = 5.0
SLOWER = 1.05
CONTEXT_CAP = 16_000
WALL_MS = 15.0

NOTES = f"""\
A step is real: engine, git, worktree, journal, pack, views and index; only the model answers at once. `read` looks at 120 lines of a
full context, `edit` writes one small file. `ours` is a step without git: our computing (`cpu`) and our waits for the disk (`syncs`);
`appends` is the same in multiples of one fsynced append, made between the steps. `flat` compares the cpu with step {POINTS[0]}, because
it depends least on what else the machine does. Between the points steps are recorded, not performed.
Goals: the engine alone at most {STEP_MS:.0f} ms, a full step of ours {FULL_STEP_MS:.0f}; flat and bytes within {FLAT} of step {POINTS[0]}; a context of at most {CONTEXT_CAP:,} tokens.
Walls are measured around a program that does nothing, by turns; the goal is at most {WALL_MS:.0f} ms added. Searches and the patch stand
beside the bare programs, on the same files, as far as those are installed.
A verdict is red and green of one small honest change, without walls, on a base whose suite is kept: at most {WHOLE_RUNS} whole runs.
`against the run before`: the last result on this machine, or the file that BEFORE names; at most {SLOWER} of what it was.
Speed is only shown: a FAIL in this table fails nothing."""


Tables = dict[str, list[Row]]


def main() -> int:
    """Measures what is asked for, else everything; each part is shown when it is done. One that breaks is named,
    and the others go on.
    """
    asked = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in asked if name not in PARTS]:
        print(f"There is no part {unknown[0]!r}; there are {', '.join(PARTS)}.")
        return 2
    earlier = read_rows(Path(os.environ.get("BEFORE") or RESULT))
    about = {
        "version": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    print(f"AgentForge {__version__}, Python {about['python']}, {about['cores']} cores, load {about['load']}")
    tables, broken = _measured(asked)
    write_json(RESULT, {**by_table(read_rows(RESULT)), **tables}, about)
    if changes := list(against(earlier, tables, SLOWER)):
        print("\n" + table("against the run before", changes))
    print(f"\n{NOTES}\n\nAlso as JSON: {os.path.relpath(RESULT)}")
    if broken:
        print(f"Not measured: {', '.join(broken)}.")
    return 1 if broken else 0


def _measured(asked: list[str]) -> tuple[Tables, list[str]]:
    tables: Tables = {}
    broken = []
    for name in asked:
        started = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as place:
                found = PARTS[name](Path(place))
        except Exception:  # noqa: BLE001 - whatever it is, the other parts can be measured
            traceback.print_exc()
            broken.append(name)
            continue
        tables |= found
        for title, rows in found.items():
            print("\n" + table(title, rows))
        print(f"({name}: {time.monotonic() - started:.0f} s)", flush=True)
    return tables, broken


def _engine(place: Path) -> Tables:
    with long_task(place) as scene:
        return {"the engine alone": list(_alone(list(measure_engine(scene, place))))}


def _steps(place: Path) -> Tables:
    """A long task, and what looks back at it."""
    with long_task(place) as scene:
        windows = list(measure_steps(scene, place))
        task = scene.journal.files.root
    return {
        "time per step": list(_time(windows)),
        "size per step": list(_size(windows)),
        "reading back": list(_replay(measure_replay(task))),
        "looking back": list(measure_reports(place, task)),
        "at the prompt": list(_commands(measure_commands(place, place / "repository", place / "home"))),
    }


def _imports(_: Path) -> Tables:
    rows = [Row(each.name, "takes", each.ms, "ms") for each in measure_imports()]
    return {"loading a provider": rows}


def _wrappers(_: Path) -> Tables:
    rows = [
        Row(each.name, "against the bare client", each.times, "x", each.goal) for each in measure_wrappers()
    ]
    return {"a model call": rows}


PARTS: dict[str, Callable[[Path], Tables]] = {
    "engine": _engine,
    "steps": _steps,
    "money": lambda _: {"dollars of the same work": list(measure_money())},
    "walls": lambda place: {"walls around a command": list(_walls(measure_walls(place)))},
    "search": lambda place: {"search in 20,000 files": list(_searches(measure_search(place)))},
    "patch": lambda place: {"patch": list(_beside(measure_patch(place)))},
    "temporal": lambda place: {"on a Temporal server": measure_temporal(place)},
    "verdicts": lambda place: {"a verdict": list(measure_verdicts(place))},
    "maps": lambda place: {"a ranked map": list(measure_maps(place))},
    "checks": lambda place: {"checks on a large tree": list(measure_checks(place))},
    "log": lambda place: {"the log of effects": list(measure_log(place))},
    "dashboard": lambda place: {"the dashboard": list(measure_dashboard(place))},
    "imports": _imports,
    "wrappers": _wrappers,
}
"""Each part by its name: what it measures, in a directory of its own."""


def _name(window: Window) -> str:
    return f"{window.work}, step {window.point:,}"


def _early(windows: list[Window]) -> dict[Work, Window]:
    return {window.work: window for window in windows if window.point == POINTS[0]}


def _alone(points: list[Alone]) -> Iterator[Row]:
    for each in points:
        name = f"four effects that do nothing, step {each.point:,}"
        yield Row(name, "takes", each.total_ms, "ms", STEP_MS)
        yield Row(name, "cpu", each.cpu_ms, "ms")
        yield Row(name, "waited for the disk", each.sync_ms, "ms")
        yield Row(name, "flat", each.cpu_ms / points[0].cpu_ms, "x", FLAT)


def _time(windows: list[Window]) -> Iterator[Row]:
    for window in windows:
        name, first = _name(window), _early(windows)[window.work]
        yield Row(name, "ours", window.ours_ms, "ms", FULL_STEP_MS)
        yield Row(name, "appends", window.appends, "x")
        yield Row(name, "cpu", window.cpu_ms, "ms")
        yield Row(name, "syncs", window.syncs, "")
        yield Row(name, "waited for them", window.sync_ms, "ms")
        yield Row(name, "git calls", window.git_calls, "")
        yield Row(name, "git", window.git_ms, "ms")
        yield Row(name, "flat", window.cpu_ms / first.cpu_ms, "x", FLAT)


def _size(windows: list[Window]) -> Iterator[Row]:
    for window in windows:
        name, first = _name(window), _early(windows)[window.work]
        yield Row(name, "journal", window.journal_bytes, "B", FLAT * first.journal_bytes)
        yield Row(name, "pack", window.pack_bytes, "B", FLAT * first.pack_bytes)
        yield Row(name, "context", window.context_tokens, "tokens", CONTEXT_CAP)


def _replay(replay: Replay) -> Iterator[Row]:
    name = f"{replay.steps:,} steps, {replay.lines:,} lines, {replay.size / 1e6:.1f} MB"
    yield Row(name, "all", replay.seconds, "s", REPLAY_S)
    yield Row(name, "per line", replay.ms_per_line, "ms")
    yield Row(name, "one more line, and its summary", replay.one_more_ms, "ms", ONE_MORE_MS)
    yield Row(name, "memory at its peak", replay.peak_kib / 1024, "MiB")


def _commands(commands: list[Command]) -> Iterator[Row]:
    for command in commands:
        yield Row(command.name, "takes", command.ms, "ms")
        yield Row(command.name, "in bare interpreters", command.ms / commands[0].ms, "x")


def _walls(walls: list[Compared]) -> Iterator[Row]:
    for wall in walls:
        yield Row(wall.name, "takes", wall.ms, "ms")
        yield Row(wall.name, "in bare commands", wall.ms / wall.bare_ms, "x")
        yield Row(wall.name, "added", wall.ms - wall.bare_ms, "ms", WALL_MS)


def _searches(searches: list[Compared]) -> Iterator[Row]:
    for search in searches:
        yield from _beside(search)


def _beside(found: Compared) -> Iterator[Row]:
    yield Row(found.name, "takes", found.ms, "ms")
    yield Row(found.name, found.bare, found.bare_ms, "ms")
    yield Row(found.name, f"against {found.bare}", found.ms / found.bare_ms, "x")


if __name__ == "__main__":
    sys.exit(main())
