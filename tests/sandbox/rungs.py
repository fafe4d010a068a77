"""The rungs of the ladder, for the tests that try to break each of them."""

import sys
from pathlib import Path

import pytest

from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.landlock import Landlock, kernel_abi
from agentforge.sandbox.walls.limits import Limits
from agentforge.system.processes import Completed

RUNGS: list[Sandbox] = [Bubblewrap(), Landlock(kernel_abi()), Landlock(kernel_abi(), namespaces=False)]
INTERPRETER = str(Path(sys.executable).resolve())


def label(sandbox: Sandbox) -> str:
    return sandbox.name + ("" if has_namespaces(sandbox) else "-alone")


def has_namespaces(sandbox: Sandbox) -> bool:
    return bool(getattr(sandbox, "namespaces", True))


_tried: dict[str, bool] = {}


def usable(sandbox: Sandbox) -> Sandbox:
    if label(sandbox) not in _tried:
        _tried[label(sandbox)] = ladder.works(sandbox)
    if not _tried[label(sandbox)]:
        pytest.skip(f"{label(sandbox)} does not work on this machine")
    return sandbox


def sh(
    sandbox: Sandbox, script: str, room: Path, *, timeout_s: float = 20, limits: Limits | None = None
) -> Completed:
    confinement = Confinement(cwd=room, write=(room,), timeout_s=timeout_s, limits=limits or Limits())
    return sandbox.run(("/bin/sh", "-c", script), confinement)


def py(
    sandbox: Sandbox, script: str, room: Path, *, timeout_s: float = 20, limits: Limits | None = None
) -> Completed:
    confinement = Confinement(cwd=room, write=(room,), timeout_s=timeout_s, limits=limits or Limits())
    return sandbox.run((INTERPRETER, "-I", "-c", script), confinement)
