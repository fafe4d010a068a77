"""Which interpreter an environment is made from: one that is already here, never a downloaded one.

No interpreter but the running one is started outside of the walls: what is found on the PATH, or named by a
path, may be a program of the repository.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from agentforge.core.errors import Exhausted, Unusable, UsageError
from agentforge.languages.toolchains import Need, find_toolchains
from agentforge.languages.values import VERSION
from agentforge.sandbox.base import Confinement, Sandbox, toolchain_roots
from agentforge.system.installation import install_command
from agentforge.system.programs import find_program, search_path

_ASK = "import sys; print(sys.version.split()[0], sys.base_prefix, sep='\\n')"
_MEND = (
    "Correct `python:` in `.agentforge/config/settings.yaml` or in your config.yaml, or leave it out to "
    "use the interpreter that runs AgentForge."
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that is not a virtual environment."""

    executable: Path
    version: str
    prefix: Path


def find_interpreter(wanted: str, sandbox: Sandbox) -> Interpreter:
    """The running interpreter's own base, or the one asked for: a version (`3.12`), or an absolute path,
    which only the user's own file can name. It is asked inside the walls.
    """
    running = Interpreter(
        Path(getattr(sys, "_base_executable", sys.executable)),
        sys.version.split()[0],
        Path(sys.base_prefix),
    )
    if not wanted or _is_of(running.version, wanted):
        return running
    if wanted.startswith("/"):
        found = _ask(Path(wanted), sandbox)
        if found is None:
            raise UsageError(f"`{wanted}` is not a Python that can be used.", _MEND)
        return found
    if not VERSION.fullmatch(wanted):
        raise UsageError(f"`python: {wanted}` is neither a version nor an absolute path.", _MEND)
    for place in _places(wanted):
        found = _ask(place, sandbox)
        if found is not None and _is_of(found.version, wanted):
            return found
    raise UsageError(
        f"The project asks for Python `{wanted}`, which is not installed.", f"Install it. {_MEND}"
    )


def _is_of(version: str, wanted: str) -> bool:
    return f"{version}.".startswith(f"{wanted}.")


def _places(version: str) -> Iterator[Path]:
    """Where an interpreter of this version may be: on the PATH, then where version managers keep them."""
    name = f"python{'.'.join(version.split('.')[:2])}"
    managed = find_toolchains((Need("python", version),), os.environ, Path.home())
    folders = [Path(place) for place in search_path().split(os.pathsep)]
    for folder in (*folders, *(chain.root / "bin" for chain in managed)):
        if os.access(folder / name, os.X_OK) and (folder / name).is_file():
            yield folder / name


def _ask(place: Path, sandbox: Sandbox) -> Interpreter | None:
    """The interpreter at a path, asked inside the walls; None if it is none that can be used.

    It sees the directory that it is installed in and says where that is. Nothing else is made visible for its
    word: it must be the directory that it was found in, and no home.
    """
    executable = place.resolve()
    prefix, home = executable.parent.parent, Path.home().resolve()
    if not executable.is_file() or prefix in (home, *home.parents):
        return None
    with tempfile.TemporaryDirectory(prefix="agentforge-") as scratch:
        room = Confinement(
            cwd=Path(scratch), write=(Path(scratch),), read=toolchain_roots(str(prefix)), timeout_s=30
        )
        try:
            answer = sandbox.run((str(executable), "-I", "-S", "-c", _ASK), room)
        except Exhausted:
            raise
        except Unusable:
            return None
    words = answer.out.decode(errors="replace").splitlines()
    if answer.code != 0 or len(words) != 2 or Path(words[1]).resolve() != prefix:
        return None
    return Interpreter(executable, words[0], prefix)


def find_uv() -> Path:
    """The `uv` that came with AgentForge, else one on the PATH."""
    try:
        return Path(find_uv_bin())
    except FileNotFoundError:
        found = find_program("uv")
    if found is None:
        raise Unusable(
            "`uv`, which builds environments, is missing.", f"Install AgentForge again: {install_command()}"
        )
    return Path(found)
