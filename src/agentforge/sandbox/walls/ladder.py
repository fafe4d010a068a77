"""The choice of walls: the strongest that really works here, and never none by itself."""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agentforge.core.errors import Exhausted, PolicyError, Unusable
from agentforge.sandbox.base import Confinement, Sandbox, SandboxName
from agentforge.sandbox.walls import seccomp
from agentforge.sandbox.walls.bubblewrap import Bubblewrap, knows
from agentforge.sandbox.walls.container import Container, ContainerSpec, find_engine
from agentforge.sandbox.walls.landlock import FIRST_ABI_WITH_TCP, Landlock, kernel_abi
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import run
from agentforge.system.programs import find_program

WantedSandbox = Literal["auto", "bubblewrap", "landlock", "container", "none"]

INSTALL = "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`)"
CONFIGURE_CONTAINER = (
    "Write `container: {engine: podman, image: NAME}` into your config.yaml; the "
    "image must be on this machine already."
)
# Leaves 7 if a file outside the walls can be read; tries to change it, which is looked at from outside; then
# writes inside.
PROBE = 'if cat "$1" 2>/dev/null; then exit 7; fi; (echo changed >>"$1") 2>/dev/null; echo works >inside'


def choose(wanted: WantedSandbox, container: ContainerSpec | None = None) -> Sandbox:
    """The sandbox to use, proven by a run; refused (exit 4) rather than replaced by something weaker than was
    asked for.

    `container` comes from the user's own configuration, never from a repository's.
    """
    found: Sandbox | None = NoSandbox() if wanted == "none" else None
    for name, rung in rungs(container):
        if found is None and wanted in ("auto", name):
            found = rung()
    if found is None:
        raise PolicyError(_refusal(wanted, container), _way_out(wanted, container))
    return found


def rungs(
    container: ContainerSpec | None = None,
) -> tuple[tuple[SandboxName, Callable[[], Sandbox | None]], ...]:
    """The ladder, the strongest first: how each is called, and what gives it if it works here."""
    return (
        ("bubblewrap", lambda: _bubblewrap(find_program("bwrap"))),
        ("landlock", _landlock),
        ("container", lambda: _container(find_engine(container) if container else None)),
    )


def _refusal(wanted: WantedSandbox, container: ContainerSpec | None) -> str:
    if wanted == "bubblewrap":
        return why_no_bubblewrap()
    if wanted == "landlock":
        return "Landlock does not work on this kernel."
    if wanted == "container" and container is None:
        return "No container is configured."
    if wanted == "container" and container is not None:
        here = find_program(container.engine)
        return (
            f"{container.engine} does not work here with the image {container.image}."
            if here
            else f"{container.engine} is not installed."
        )
    return (
        "No sandbox works here: neither bubblewrap nor the kernel's "
        f"Landlock{', nor the configured container' if container else ''}."
    )


def _way_out(wanted: WantedSandbox, container: ContainerSpec | None) -> str:
    if wanted == "container" and container is None:
        return CONFIGURE_CONTAINER
    first = INSTALL
    if wanted == "container" and container:
        first = f"Check that `{container.engine} image inspect {container.image}` works"
    elif wanted == "bubblewrap" and find_program("bwrap"):
        first = "Repair it"
    return f"{first}, or say `--sandbox none` to run without walls, on record."


def why_no_bubblewrap() -> str:
    """What is in the way of the strongest walls, in a sentence; empty if nothing is."""
    executable = find_program("bwrap")
    if executable is None:
        return "bubblewrap is not installed."
    return "" if _bubblewrap(executable) else f"{executable} does not work here{_said(executable)}."


@functools.cache
def _said(executable: str) -> str:
    """What it said itself, when it was asked for the least."""
    try:
        knows(executable, "--unshare-all")
        done = run((executable, "--ro-bind", "/", "/", "true"), cwd=Path("/"), env={}, timeout_s=20)
    except Unusable as error:
        return f": {error.sentence.rstrip('.')}"
    line = next(iter(done.err.decode(errors="replace").strip().splitlines()), "")
    return f": {line}" if line else ""


@functools.cache
def _bubblewrap(executable: str | None) -> Sandbox | None:
    if executable is None:
        return None
    candidate = Bubblewrap(executable)
    return candidate if works(candidate) else None


@functools.cache
def _landlock() -> Sandbox | None:
    abi = kernel_abi()
    if abi and works(with_namespaces := Landlock(abi)):
        return with_namespaces
    # Without a network namespace a filter of calls, or a newer kernel, must cut a program off: what leaves
    # the network open is no sandbox.
    if (
        abi
        and (abi >= FIRST_ABI_WITH_TCP or seccomp.is_available())
        and works(alone := Landlock(abi, namespaces=False))
    ):
        return alone
    return None


@functools.cache
def _container(candidate: Container | None) -> Sandbox | None:
    return candidate if candidate and works(candidate) else None


def works(sandbox: Sandbox) -> bool:
    """Whether a real run keeps a file outside out of reach, and can write where it may."""
    with tempfile.TemporaryDirectory(prefix="agentforge-probe-") as directory:
        outside, inside = Path(directory, "outside"), Path(directory, "room")
        outside.write_text("secret\n", encoding="ascii")
        inside.mkdir()
        try:
            done = sandbox.run(
                ("/bin/sh", "-c", PROBE, "probe", str(outside)),
                Confinement(cwd=inside, write=(inside,), timeout_s=20),
            )
        except Exhausted:
            raise  # says nothing about the walls
        except Unusable:
            return False
        return (
            done.code == 0
            and outside.read_text(encoding="ascii") == "secret\n"
            and (inside / "inside").exists()
        )
