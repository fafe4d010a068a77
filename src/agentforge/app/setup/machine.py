"""What this machine has of what is needed, and what its walls hold, tried at this moment."""

import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agentforge.app.models.configured import models_config
from agentforge.app.models.providers import CheckState, MachineCheck, Models, check_models
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import PolicyError, Unusable, UserError
from agentforge.languages.compiled.kit import SYSTEM_PATH
from agentforge.languages.servers.asking import installed
from agentforge.languages.table import LANGUAGES
from agentforge.languages.toolchains import (
    all_needs,
    find_toolchains,
    needs_here,
    readable,
    with_toolchains,
)
from agentforge.sandbox.base import Sandbox, is_weak
from agentforge.sandbox.walls.container import ContainerSpec
from agentforge.sandbox.walls.ladder import choose, rungs, why_no_bubblewrap
from agentforge.sandbox.walls.probe import ESSENTIAL, WallProbe, probe
from agentforge.store.site import home_path
from agentforge.system.git.open import OLDEST
from agentforge.system.installation import install_command
from agentforge.system.processes import run
from agentforge.system.programs import find_program

OLDEST_PYTHON = (3, 11)
LITTLE_SPACE, NO_SPACE = 2 << 30, 100 << 20


@dataclass(frozen=True, slots=True)
class TriedWalls:
    """One kind of walls, tried at this moment. The strongest that works is the one that tasks get."""

    name: str
    walls: Sandbox | None
    """None if it does not work here at all."""
    tried: tuple[WallProbe, ...]


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What `doctor` found: programs, sandboxes and models."""

    checks: tuple[MachineCheck, ...]
    walls: tuple[TriedWalls, ...]
    models: Models | None
    """None where what is configured cannot be read."""

    @property
    def ok(self) -> bool:
        """Whether nothing is missing that every task needs."""
        return all(check.state != "missing" for check in self.checks)

    @property
    def used(self) -> TriedWalls | None:
        """The strongest walls that work: the ones that tasks get."""
        return next((each for each in self.walls if each.walls), None)


def check_machine() -> MachineReport:
    """Looks at everything now: each sandbox is tested from inside, and providers are asked."""
    container, said = _own_container()
    tried = _rungs(container)
    used = next((each for each in tried if each.walls), None)
    models, found = _models()
    checks = [_interpreter(), _git(), _sandbox(container), *_weak_walls(used), *said]
    checks += [
        _container(tried, container),
        _toolchains(),
        _language_servers(),
        _engines(),
        *models,
        *_home(),
    ]
    return MachineReport(tuple(checks), tuple(tried), found)


def _interpreter() -> MachineCheck:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        return MachineCheck("python", "missing", f"{version} is too old", "Install Python 3.11 or newer.")
    return MachineCheck("python", "ok", f"{version} at {sys.executable}")


def _git() -> MachineCheck:
    try:
        done = run(
            ("git", "--version"),
            cwd=Path("/"),
            env={"PATH": os.environ.get("PATH", os.defpath)},
            timeout_s=10,
        )
    except Unusable as error:
        return MachineCheck("git", "missing", error.sentence, error.next_step)
    version = done.out.decode(errors="replace").strip().removeprefix("git version ")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        return MachineCheck(
            "git",
            "missing",
            f"{version or 'unknown'} is too old",
            f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.",
        )
    return MachineCheck("git", "ok", version)


def _own_container() -> tuple[ContainerSpec | None, list[MachineCheck]]:
    """The container that the user configured; a file that is wrong is said, and the rest is tried all the
    same.
    """
    try:
        return read_own_settings(home_path() / "config.yaml")[1].container, []
    except UserError as error:
        return None, [MachineCheck("settings", "missing", error.sentence, error.next_step)]


def _rungs(container: ContainerSpec | None) -> list[TriedWalls]:
    """Each kind of walls that there is, and what each of its walls holds."""
    found = [(name, rung()) for name, rung in rungs(container)]
    return [TriedWalls(name, walls, probe(walls) if walls else ()) for name, walls in found]


def _sandbox(container: ContainerSpec | None) -> MachineCheck:
    try:
        found = choose("auto", container)
        name = "landlock without namespaces, weak" if is_weak(found) else found.name
    except PolicyError as error:
        return MachineCheck("sandbox", "missing", error.sentence, error.next_step)
    if name == "bubblewrap":
        return MachineCheck("sandbox", "ok", name)
    if find_program("bwrap") is None:
        return MachineCheck("sandbox", "weak", f"{name}; bubblewrap would be stronger", "Install bubblewrap.")
    why = why_no_bubblewrap().rstrip(".")
    return MachineCheck("sandbox", "weak", f"{name}; {why}", "Repair bubblewrap: its sandbox is stronger.")


def _weak_walls(used: TriedWalls | None) -> list[MachineCheck]:
    broken = [each for each in used.tried if not each.held] if used else []
    return [
        MachineCheck("walls", "missing" if each.name in ESSENTIAL else "weak", f"{each.name}: {each.detail}")
        for each in broken
    ]


def _container(rungs: list[TriedWalls], container: ContainerSpec | None) -> MachineCheck:
    if container is None:
        return MachineCheck("container", "ok", "not configured; it would be tried last")
    name = f"{container.engine} with {container.image}"
    if any(rung.name == "container" and rung.walls for rung in rungs):
        return MachineCheck("container", "ok", name)
    return MachineCheck(
        "container",
        "weak",
        f"{name} does not work",
        f"Try `{container.engine} image inspect {container.image}`.",
    )


def _toolchains() -> MachineCheck:
    """Those that the project here asks for; outside of one, those that any project could get."""
    here = Path.cwd()
    top = next((place for place in (here, *here.parents) if (place / ".git").exists()), None)
    needs = needs_here(top) if top else all_needs()
    found = find_toolchains(needs, os.environ, Path.home())
    missing = sorted({need.tool for need in needs} - {chain.tool for chain in found})
    words = [f"{chain.tool} at {chain.root}" for chain in found]
    if top and missing:
        words.append(f"from the system, if installed: {', '.join(missing)}")
    return MachineCheck("toolchains", "ok", "; ".join(words) or "none but the system's")


def _language_servers() -> MachineCheck:
    """Those that a task would find on this machine; one may also be in the environment of a project."""
    chains = find_toolchains(all_needs(), os.environ, Path.home())
    path = with_toolchains({"PATH": SYSTEM_PATH}, chains)["PATH"]
    found = [(each.name, installed(each.servers, path, readable(chains))) for each in LANGUAGES]
    words = [f"{server.name} ({name})" for name, server in found if server is not None]
    said = ", ".join(words) or "none on this machine; a project may have one among its requirements"
    return MachineCheck("language_servers", "ok", said)


def _engines() -> MachineCheck:
    extra = (
        "temporal"
        if find_spec("temporalio")
        else f"temporal is not installed (`{install_command('temporal')}`)"
    )
    return MachineCheck("engines", "ok", f"local; {extra}")


def _models() -> tuple[list[MachineCheck], Models | None]:
    """Every provider, asked at this moment, and which models do which work; for those who have none yet, how
    to get one.
    """
    try:
        found = check_models(models_config(home_path()))
    except UserError as error:
        return [MachineCheck("models", "missing", f"not known: {error.sentence}", error.next_step)], None
    return list(found.rows), found


def _home() -> list[MachineCheck]:
    """Whether the user's directory can be written, and how much room there is; nothing is left there."""
    home = home_path()
    place = next(path for path in (home, *home.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        advice = "Make it writable, or set AGENTFORGE_HOME to another directory."
        return [MachineCheck("home", "missing", f"{home} cannot be written: {error.strerror}", advice)]
    free = shutil.disk_usage(place).free
    state: CheckState = "missing" if free < NO_SPACE else "weak" if free < LITTLE_SPACE else "ok"
    advice = "Free some space: environments and checkouts are kept there."
    return [
        MachineCheck("home", "ok", str(home)),
        MachineCheck("disk", state, f"{free / (1 << 30):.1f} GiB free", advice),
    ]
