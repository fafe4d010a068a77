"""The choice of walls: the strongest that really works here, and never none by itself."""

import functools
import shutil
import tempfile
from pathlib import Path
from typing import Literal, assert_never

from agentforge.core.errors import PolicyError, Unusable
from agentforge.sandbox import seccomp
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.bubblewrap import Bubblewrap
from agentforge.sandbox.landlock import FIRST_ABI_WITH_TCP, Landlock, kernel_abi
from agentforge.sandbox.none import NoSandbox

Wanted = Literal["auto", "bubblewrap", "landlock", "none"]

INSTALL = "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`)"
# Leaves 7 if a file outside the walls can be read; tries to change it, which is looked at from outside; then writes inside.
PROBE = 'if cat "$1" 2>/dev/null; then exit 7; fi; (echo changed >>"$1") 2>/dev/null; echo works >inside'


def choose(wanted: Wanted) -> Sandbox:
    """The sandbox to use, proven by a run; refused (exit 4) rather than replaced by something weaker than was asked for."""
    match wanted:
        case "auto":
            found = _bubblewrap(shutil.which("bwrap")) or _landlock()
        case "bubblewrap":
            found = _bubblewrap(shutil.which("bwrap"))
        case "landlock":
            found = _landlock()
        case "none":
            found = NoSandbox()
        case _:
            assert_never(wanted)
    if found is None:
        raise PolicyError(_refusal(wanted), f"{INSTALL}, or say `--sandbox none` to run without walls, on record.")
    return found


def _refusal(wanted: Wanted) -> str:
    if wanted == "bubblewrap":
        return "bubblewrap does not work here." if shutil.which("bwrap") else "bubblewrap is not installed."
    if wanted == "landlock":
        return "Landlock does not work on this kernel."
    return "No sandbox works here: neither bubblewrap nor the kernel's Landlock."


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
    # Without a network namespace a filter of calls, or a newer kernel, must cut a program off: what leaves the network open is no sandbox.
    if abi and (abi >= FIRST_ABI_WITH_TCP or seccomp.is_available()) and works(alone := Landlock(abi, namespaces=False)):
        return alone
    return None


def works(sandbox: Sandbox) -> bool:
    """Whether a real run keeps a file outside out of reach, and can write where it may."""
    with tempfile.TemporaryDirectory(prefix="agentforge-probe-") as directory:
        outside, inside = Path(directory, "outside"), Path(directory, "room")
        outside.write_text("secret\n", encoding="ascii")
        inside.mkdir()
        try:
            done = sandbox.run(("/bin/sh", "-c", PROBE, "probe", str(outside)), Confinement(cwd=inside, write=(inside,), timeout_s=20))
        except Unusable:
            return False
        return done.code == 0 and outside.read_text(encoding="ascii") == "secret\n" and (inside / "inside").exists()
