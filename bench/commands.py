"""What a person waits for at the prompt, in multiples of an interpreter that does nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.core.inputs import Create
from agentforge.core.pipeline import Pipeline
from agentforge.core.spec import TaskSpec
from agentforge.core.values import Budget
from agentforge.store.layout import ProjectFiles
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from bench.scene import make_repository
from bench.timed import median_ms, without_syncs

TASKS = 1_000
ROUNDS = 9
AGENTFORGE = (sys.executable, "-m", "agentforge.surfaces.cli.main")


@dataclass(frozen=True, slots=True)
class Command:
    """Something to type, and where."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    home: Path
    ms: float = 0.0


def measure_commands(place: Path, one_task: Path, home: Path) -> list[Command]:
    """Medians of rounds in which each command runs once, so that a busy moment of the machine meets them
    all.
    """
    program = _program()
    many = place / "many"
    make_many(many)
    commands = [
        Command("a bare interpreter", (sys.executable, "-c", "pass"), one_task, home),
        Command("agentforge --help", (*program, "--help"), one_task, home),
        Command("agentforge status", (*program, "status"), one_task, home),
        Command(f"agentforge status, {TASKS:,} tasks", (*program, "status"), many, place / "many-home"),
    ]
    first = replace(
        commands[-1],
        name=f"agentforge status, {TASKS:,} tasks, without an index",
        ms=median_ms([_run(commands[-1])]),
    )
    rounds = [[_run(command) for command in commands] for _ in range(ROUNDS)]
    return [
        *(
            replace(command, ms=median_ms(times))
            for command, times in zip(commands, zip(*rounds, strict=True), strict=True)
        ),
        first,
    ]


def make_many(place: Path) -> None:
    """A repository in which many tasks were started."""
    make_repository(place)
    project = ProjectFiles(place.resolve())
    with without_syncs():
        for number in range(TASKS):
            task = f"task-20260101-round-{number:04d}"
            create = Create(
                TaskSpec(
                    task,
                    "Round every total",
                    "0" * 40,
                    "0" * 40,
                    "plain",
                    "none",
                    "",
                    Pipeline("implement", "small", ()),
                    Budget(),
                    None,
                )
            )
            Journal.create(project.task(task), create, utc_now).close()


def _program() -> tuple[str, ...]:
    installed = Path(sys.executable).parent / "agentforge"
    return (str(installed),) if installed.exists() else AGENTFORGE


def _run(command: Command) -> float:
    environment: Mapping[str, str] = {**os.environ, "AGENTFORGE_HOME": str(command.home)}
    return _timed(command.argv, command.cwd, environment)


def _timed(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise AssertionError(
            f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.decode(errors='replace')[:500]}"
        )
    return seconds
