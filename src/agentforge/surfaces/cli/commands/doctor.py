"""`doctor`: what this machine has of what is needed, and what its walls hold, tried at this moment."""

import os
import re
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from agentforge.sandbox.base import Sandbox
    from agentforge.sandbox.container import ContainerSpec
    from agentforge.sandbox.probe import Probe

State = Literal["ok", "weak", "missing"]
OLDEST_PYTHON = (3, 11)
LITTLE_SPACE, NO_SPACE = 2 << 30, 100 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    """`missing` is essential: no task can run without it."""
    detail: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Rung:
    """One kind of walls, tried at this moment. The strongest that works is the one that tasks get."""

    name: str
    walls: "Sandbox | None"
    """None if it does not work here at all."""
    tried: "tuple[Probe, ...]"

    def told(self) -> dict[str, object]:
        """For a program."""
        probes = [asdict(each) for each in self.tried]
        return {
            "name": self.name,
            "works": self.walls is not None,
            "guarantee": self.walls.guarantee() if self.walls else {},
            "probes": probes,
        }


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --json

Every kind of walls is tried by a program inside that wants out; every provider is asked, within 1.5
seconds. Exit code 1: something that every task needs is missing, such as a model that can answer."""
)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def doctor(*, as_data: bool) -> int:
    """Show what works here, and try the walls."""
    from agentforge.surfaces.cli.printing import print_json

    container, said = _own_container()
    rungs = _rungs(container)
    used = next((rung for rung in rungs if rung.walls), None)
    models, told = _models()
    checks = [
        _interpreter(),
        _git(),
        _sandbox(container),
        *_weak_walls(used),
        *said,
        _container(rungs, container),
    ]
    checks += [_toolchains(), _engines(), *models, *_home()]
    well = all(check.state != "missing" for check in checks)
    if as_data:
        walls = {"sandbox": used.told() if used else None, "rungs": [rung.told() for rung in rungs]}
        print_json({"ok": well, "checks": [asdict(check) for check in checks], "models": told, **walls})
    else:
        _show(checks, rungs)
    return 0 if well else 1


def _show(checks: list[Check], rungs: list[Rung]) -> None:
    for check in checks:
        click.echo(f"{check.state:<8}{check.name:<15}{check.detail}")
        if check.next_step and check.state != "ok":
            click.echo(f"{'':<23}{check.next_step}")
    for rung in rungs:
        if rung.walls is None:
            continue
        click.echo(f"\nThe walls of {rung.name}, tried just now:")
        for each in rung.tried:
            click.echo(f"  {'held' if each.held else 'BROKEN':<8}{each.name:<13}{each.detail}")
        click.echo("  What they promise:")
        for name, words in rung.walls.guarantee().items():
            click.echo(f"  {'':<8}{name:<13}{words}")


def _interpreter() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Check("python", "missing", f"{version} is too old", "Install Python 3.11 or newer.")
    return Check("python", "ok", f"{version} at {sys.executable}")


def _git() -> Check:
    from agentforge.core.errors import Unusable
    from agentforge.system.git_open import OLDEST
    from agentforge.system.processes import run

    try:
        done = run(
            ("git", "--version"),
            cwd=Path("/"),
            env={"PATH": os.environ.get("PATH", os.defpath)},
            timeout_s=10,
        )
    except Unusable as error:
        return Check("git", "missing", error.sentence, error.next_step)
    version = done.out.decode(errors="replace").strip().removeprefix("git version ")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        return Check(
            "git",
            "missing",
            f"{version or 'unknown'} is too old",
            f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.",
        )
    return Check("git", "ok", version)


def _own_container() -> "tuple[ContainerSpec | None, list[Check]]":
    """The container that the user configured; a file that is wrong is said, and the rest is tried all the
    same.
    """
    from agentforge.app.settings import read_own_settings
    from agentforge.core.errors import UserError
    from agentforge.store.site import home_path

    try:
        return read_own_settings(home_path() / "config.yaml")[1].container, []
    except UserError as error:
        return None, [Check("settings", "missing", error.sentence, error.next_step)]


def _rungs(container: "ContainerSpec | None") -> list[Rung]:
    """Each kind of walls that there is, and what each of its walls holds."""
    from agentforge.sandbox.ladder import rungs
    from agentforge.sandbox.probe import probe

    found = [(name, rung()) for name, rung in rungs(container)]
    return [Rung(name, walls, probe(walls) if walls else ()) for name, walls in found]


def _sandbox(container: "ContainerSpec | None") -> Check:
    from agentforge.core.errors import PolicyError
    from agentforge.sandbox.ladder import choose

    try:
        name = choose("auto", container).name
    except PolicyError as error:
        return Check("sandbox", "missing", error.sentence, error.next_step)
    if name == "bubblewrap":
        return Check("sandbox", "ok", name)
    return Check("sandbox", "weak", f"{name}; bubblewrap would be stronger", "Install bubblewrap.")


def _weak_walls(used: Rung | None) -> list[Check]:
    from agentforge.sandbox.probe import ESSENTIAL

    broken = [each for each in used.tried if not each.held] if used else []
    return [
        Check("walls", "missing" if each.name in ESSENTIAL else "weak", f"{each.name}: {each.detail}")
        for each in broken
    ]


def _container(rungs: list[Rung], container: "ContainerSpec | None") -> Check:
    if container is None:
        return Check("container", "ok", "none is configured; it would be tried after the others")
    name = f"{container.engine} with {container.image}"
    if any(rung.name == "container" and rung.walls for rung in rungs):
        return Check("container", "ok", name)
    return Check(
        "container",
        "weak",
        f"{name} does not work",
        f"Try `{container.engine} image inspect {container.image}`.",
    )


def _toolchains() -> Check:
    """Those that the project here asks for; outside of one, those that any project could get."""
    from agentforge.sandbox.toolchains import all_needs, find_toolchains, needs_here

    here = Path.cwd()
    top = next((place for place in (here, *here.parents) if (place / ".git").exists()), None)
    needs = needs_here(top) if top else all_needs()
    found = find_toolchains(needs, os.environ, Path.home())
    missing = sorted({need.tool for need in needs} - {chain.tool for chain in found})
    words = [f"{chain.tool} at {chain.root}" for chain in found]
    if top and missing:
        words.append(f"from the system, if at all: {', '.join(missing)}")
    return Check("toolchains", "ok", "; ".join(words) or "none but the system's")


def _engines() -> Check:
    from importlib.util import find_spec

    extra = (
        "temporal"
        if find_spec("temporalio")
        else "temporal is not installed (`pip install 'agentforge[temporal]'`)"
    )
    return Check("engines", "ok", f"local; {extra}")


def _models() -> "tuple[list[Check], dict[str, object]]":
    """Every provider, asked at this moment, and which models do which work; for those who have none yet, how
    to get one.
    """
    from agentforge.app.models_config import models_config
    from agentforge.app.providers_check import check_models
    from agentforge.core.errors import UserError
    from agentforge.store.site import home_path

    try:
        found = check_models(models_config(home_path()))
    except UserError as error:
        return [Check("models", "missing", f"not known: {error.sentence}", error.next_step)], {}
    return [Check(row.name, row.state, row.detail, row.next_step) for row in found.rows], found.told


def _home() -> list[Check]:
    """Whether the user's directory can be written, and how much room there is; nothing is left there."""
    from agentforge.store.site import home_path

    home = home_path()
    place = next(path for path in (home, *home.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        advice = "Make it writable, or name another directory with AGENTFORGE_HOME."
        return [Check("home", "missing", f"{home} cannot be written: {error.strerror}", advice)]
    free = shutil.disk_usage(place).free
    state: State = "missing" if free < NO_SPACE else "weak" if free < LITTLE_SPACE else "ok"
    advice = "Free some space: environments and checkouts are kept there."
    return [Check("home", "ok", str(home)), Check("disk", state, f"{free / (1 << 30):.1f} GiB free", advice)]
