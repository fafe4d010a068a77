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
from agentforge.store.layout import Home, ProjectFiles
from agentforge.store.task.artifacts import write_inputs
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.store.user.repositories import Repository, save_repository
from bench.scene import make_repository
from bench.timed import median_ms, without_syncs

TASKS = 1_000
EVERYWHERE, REPOSITORIES = 500, 20
ROUNDS = 9
AGENTFORGE = (sys.executable, "-m", "agentforge")


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
    commands.append(
        Command(
            f"agentforge status --all, {EVERYWHERE} tasks in {REPOSITORIES} repositories",
            (*program, "status", "--all"),
            one_task,
            make_everywhere(place / "everywhere"),
        )
    )
    _run(commands[-1])  # the index is there, as after any task
    first = replace(
        commands[-2],
        name=f"agentforge status, {TASKS:,} tasks, without an index",
        ms=median_ms([_run(commands[-2])]),
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
    make_tasks(place, TASKS)


def make_everywhere(place: Path) -> Path:
    """Registered repositories with tasks, and the home that knows them."""
    home = place / "home"
    home.mkdir(parents=True, mode=0o700)
    for number in range(REPOSITORIES):
        repository = place / f"repository-{number:02d}"
        make_repository(repository)
        make_tasks(repository, EVERYWHERE // REPOSITORIES)
        save_repository(Home(home), Repository(repository.name, str(repository.resolve())))
    return home


def make_tasks(place: Path, count: int) -> None:
    """Tasks that were started in a repository."""
    project = ProjectFiles(place.resolve())
    with without_syncs():
        for number in range(count):
            name = f"task-20260101-{place.name}-{number:04d}"
            pipeline = Pipeline("implement", "small", ())
            commit = "0" * 40
            spec = TaskSpec(
                name, "Round every total", commit, commit, "plain", "none", "", pipeline, Budget(), None
            )
            with Journal.create(project.task(name), Create(spec), utc_now) as journal:
                write_inputs(journal.files, spec, journal.times.created_at, "local")


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
