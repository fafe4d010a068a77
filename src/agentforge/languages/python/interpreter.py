"""Which interpreter an environment is made from: one that is already here, never a downloaded one."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from agentforge.core.errors import Unusable, UsageError
from agentforge.system.processes import run

_ASK = (
    "import sys; print(sys.version.split()[0], sys.base_prefix, getattr(sys, '_base_executable', "
    "sys.executable), sep='\\n')"
)
_MEND = (
    "Correct `python:` in `.agentforge/config/settings.yaml`, or leave it out to use the interpreter "
    "that runs AgentForge."
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that is not a virtual environment."""

    executable: Path
    version: str
    prefix: Path


def find_interpreter(wanted: str) -> Interpreter:
    """The running interpreter's own base, or the one asked for: a version (`3.12`), a name, or an absolute
    path.
    """
    if not wanted:
        return _ask(sys.executable)
    name = f"python{wanted}" if re.fullmatch(r"\d+(?:\.\d+)*", wanted) else wanted
    # A relative path would be a program of the repository, run before any wall stands.
    if "/" in name and not name.startswith("/"):
        raise UsageError(f"`python: {wanted}` is neither a version, nor a name, nor an absolute path.", _MEND)
    found = shutil.which(name)
    if found is None:
        raise UsageError(
            f"The project asks for Python `{wanted}`, which is not installed.", f"Install it. {_MEND}"
        )
    return _ask(found)


def _ask(executable: str) -> Interpreter:
    # With the caller's PATH and HOME: what is found there may be a shim that looks for the real interpreter.
    environ = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION")
        if name in os.environ
    }
    answer = run((executable, "-I", "-S", "-c", _ASK), cwd=Path("/"), env=environ, timeout_s=30)
    words = answer.out.decode(errors="replace").splitlines()
    if answer.code != 0 or len(words) != 3:
        raise UsageError(f"`{executable}` is not a Python that can be used.", _MEND)
    return Interpreter(executable=Path(words[2]), version=words[0], prefix=Path(words[1]))


def find_uv() -> Path:
    """The `uv` that came with AgentForge, else one on the PATH."""
    try:
        return Path(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv")
    if found is None:
        raise Unusable(
            "`uv`, which builds environments, is missing.", "Install AgentForge again, or `pip install uv`."
        )
    return Path(found)
