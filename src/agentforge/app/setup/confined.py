"""A command run as an agent's command would run, so that a person can see what it can and cannot do."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.activities.task_permissions import sandbox_name
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import UsageError
from agentforge.languages.toolchains import find_toolchains, needs_here, readable, with_toolchains
from agentforge.sandbox.base import SHARED_MEMORY, Confinement, Sandbox
from agentforge.sandbox.guarded import Guard, is_guarded
from agentforge.sandbox.network.destinations import destinations
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import home_path
from agentforge.system.processes import Completed
from agentforge.tools.paths import closed_to_all

TIMED_OUT = 124
# What was shown as it came need not be kept.
KEPT_WHEN_SHOWN = 10_000
_SYSTEM = tuple(
    map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"))
)


@dataclass(frozen=True, slots=True)
class ConfinedCommand:
    """What to run, and what it may do."""

    words: tuple[str, ...]
    write: tuple[Path, ...] = ()
    """Directories that it may change."""
    network: tuple[str, ...] = ()
    """Hosts that it may reach."""
    timeout_s: float = 600
    sandbox: str = "auto"


@dataclass(frozen=True, slots=True)
class ConfinedRun:
    """The result of a command that ran in the sandbox."""

    sandbox: str
    done: Completed
    refused: tuple[str, ...]
    """Where it wanted to go and could not, in order."""
    mended: tuple[str, ...]
    """What it left in places that run later, outside; taken away again."""

    @property
    def code(self) -> int:
        """For a shell: the command's own; 124 if its time was up."""
        if self.done.timed_out:
            return TIMED_OUT
        return self.done.code if self.done.code >= 0 else 128 - self.done.code


def run_confined(
    command: ConfinedCommand,
    begins: Callable[[str], None] = lambda _: None,
    tee: Callable[[int, bytes], None] | None = None,
) -> ConfinedRun:
    """Runs a command behind walls, in the current directory.

    `begins` is told the name of the walls; `tee` gets the output as it comes, and then only its end is kept.
    """
    walls = _walls(command.sandbox)
    places = tuple(_writable(path) for path in command.write)
    guards = _guards(places)
    refused: list[str] = []
    confinement = _confinement(command, places, guards, refused)
    if tee is not None:
        confinement = replace(confinement, tee=tee, output_limit=KEPT_WHEN_SHOWN)
    begins(walls.name)
    done = walls.run(command.words, confinement)
    mended = [str(guard.root / name) for guard in guards for name in guard.mend()]
    return ConfinedRun(walls.name, done, tuple(refused), tuple(mended))


def _walls(wanted: str) -> Sandbox:
    _, own = read_own_settings(home_path() / "config.yaml")
    return choose(sandbox_name(wanted), own.container)


def _confinement(
    command: ConfinedCommand, places: tuple[Path, ...], guards: tuple[Guard, ...], refused: list[str]
) -> Confinement:
    here = Path.cwd()
    top = _top(here).resolve()
    chains = find_toolchains(needs_here(top), os.environ, Path.home())
    outer = () if any(top.is_relative_to(place) for place in places) else (top,)
    return Confinement(
        cwd=here,
        write=places,
        read=(*outer, *readable(chains), *(path for guard in guards for path in guard.read_only())),
        env=with_toolchains({"PATH": "/usr/local/bin:/usr/bin:/bin"}, chains),
        network=destinations(command.network, private=True),
        on_refusal=refused.append,
        timeout_s=command.timeout_s,
    )


def _writable(path: Path) -> Path:
    real = path.resolve()
    if not real.is_dir():
        raise UsageError(f"{str(path)!r} is not a directory.", "Create it first, or name another one.")
    if any(map(is_guarded, real.parts)):
        raise UsageError(
            f"{str(path)!r} is never writable for a command: files there run later, outside the sandbox."
        )
    if (closed := closed_to_all(str(real))) is not None:
        raise UsageError(f"{closed[:1].upper()}{closed[1:]}: no command may change it.")
    if (
        real in (Path("/"), Path.home())
        or real in Path.home().parents
        or (any(real.is_relative_to(top) for top in _SYSTEM) and SHARED_MEMORY not in real.parents)
    ):
        raise UsageError(
            f"{str(path)!r} contains far more than a command should change.",
            "Name a directory inside the project.",
        )
    return real


def _guards(places: tuple[Path, ...]) -> tuple[Guard, ...]:
    """Over each writable directory, and over the checkout if it lies in one."""
    top = _top(Path.cwd()).resolve()
    inner = (top,) if any(top.is_relative_to(place) for place in places) else ()
    return tuple(Guard.over(root) for root in dict.fromkeys((*inner, *places)))


def _top(here: Path) -> Path:
    """The checkout around `here`; `here` itself where there is none."""
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place
    return here
