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
    from agentforge.sandbox.probe import Probe

State = Literal["ok", "weak", "missing"]
OLDEST_PYTHON, OLDEST_GIT = (3, 11), (2, 30)
LITTLE_SPACE, NO_SPACE = 2 << 30, 100 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    """`missing` is essential: no task can run without it."""
    detail: str
    next_step: str = ""


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --json

The walls are tried by a program inside that wants out. Exit code 1: something that every task needs is missing."""
)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def doctor(*, as_data: bool) -> int:
    """Show what works here, and try the walls."""
    from agentforge.surfaces.cli.printing import print_json

    walls, found = _walls()
    tried = _try(walls)
    # Providers have their place behind the model: one check each, once they can be asked.
    checks = [_interpreter(), _git(), found, *_weak_walls(tried), _model(), *_home()]
    well = all(check.state != "missing" for check in checks)
    if as_data:
        rung = {"name": walls.name, "guarantee": walls.guarantee(), "probes": [asdict(each) for each in tried]} if walls else None
        print_json({"ok": well, "checks": [asdict(check) for check in checks], "sandbox": rung})
    else:
        _show(checks, walls, tried)
    return 0 if well else 1


def _show(checks: list[Check], walls: "Sandbox | None", tried: "tuple[Probe, ...]") -> None:
    for check in checks:
        click.echo(f"{check.state:<8}{check.name:<13}{check.detail}")
        if check.next_step and check.state != "ok":
            click.echo(f"{'':<21}{check.next_step}")
    if walls is None:
        return
    click.echo(f"\nThe walls ({walls.name}), tried just now:")
    for each in tried:
        click.echo(f"  {'held' if each.held else 'BROKEN':<8}{each.name:<13}{each.detail}")
    click.echo("\nWhat they promise:")
    for name, words in walls.guarantee().items():
        click.echo(f"  {name:<13}{words}")


def _interpreter() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Check("python", "missing", f"{version} is too old", "Install Python 3.11 or newer.")
    return Check("python", "ok", f"{version} at {sys.executable}")


def _git() -> Check:
    from agentforge.core.errors import Unusable
    from agentforge.system.processes import run

    try:
        done = run(("git", "--version"), cwd=Path("/"), env={"PATH": os.environ.get("PATH", os.defpath)}, timeout_s=10)
    except Unusable as error:
        return Check("git", "missing", error.sentence, error.next_step)
    version = done.out.decode(errors="replace").strip().removeprefix("git version ")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        return Check("git", "missing", f"{version or 'unknown'} is too old", "Install git 2.30 or newer.")
    return Check("git", "ok", version)


def _walls() -> "tuple[Sandbox | None, Check]":
    from agentforge.core.errors import PolicyError
    from agentforge.sandbox.ladder import choose

    try:
        walls = choose("auto")
    except PolicyError as error:
        return None, Check("sandbox", "missing", error.sentence, error.next_step)
    if walls.name == "bubblewrap":
        return walls, Check("sandbox", "ok", walls.name)
    return walls, Check("sandbox", "weak", f"{walls.name}; bubblewrap would be stronger", "Install bubblewrap.")


def _try(walls: "Sandbox | None") -> "tuple[Probe, ...]":
    from agentforge.sandbox.probe import probe

    return probe(walls) if walls else ()


def _weak_walls(tried: "tuple[Probe, ...]") -> list[Check]:
    from agentforge.sandbox.probe import ESSENTIAL

    return [
        Check("walls", "missing" if each.name in ESSENTIAL else "weak", f"{each.name}: {each.detail}") for each in tried if not each.held
    ]


def _model() -> Check:
    """Of the repository we stand in, if we do; asked for by every task, but `doctor` is also for those who have none yet."""
    from agentforge.core.errors import UserError
    from agentforge.settings import NO_MODEL, read_settings
    from agentforge.system.git import Git

    try:
        git = Git.open(Path.cwd())
        model = read_settings(git, git.head(), model=None, sandbox=None, budget_usd=None).model
    except UserError as error:
        model = os.environ.get("AGENTFORGE_MODEL")
        if model is None:
            return Check("model", "weak", f"not known: {error.sentence}", error.next_step)
    return Check("model", "ok", model) if model else Check("model", "weak", "none is configured", NO_MODEL)


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
