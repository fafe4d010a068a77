"""The commands of set-up, run in walls that show them the environment, the checkout, the package cache and
the package indexes.
"""

import errno
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agentforge.core.errors import Unusable
from agentforge.languages.python.detect import INSTALL, SETTINGS_FILE
from agentforge.languages.python.indexes import (
    FIRST_INDEX,
    default_places,
    index_places,
    index_variables,
    named_paths,
    passwords_in,
    without_passwords,
)
from agentforge.languages.python.interpreter import Interpreter, find_uv
from agentforge.languages.toolchains import Toolchain, readable, with_toolchains
from agentforge.languages.values import Plan
from agentforge.sandbox.base import Confinement, Sandbox, toolchain_roots
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.walls.limits import GIB, Limits
from agentforge.system.files import exhausted
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact

SETUP_TIMEOUT_S = 1800
# Big packages are stored twice, in the cache and in the environment, and compilers are hungry.
SETUP_LIMITS = Limits(total_memory=16 * GIB, total_disk=40 * GIB)
TAIL_LINES = 15

Tools: TypeAlias = tuple[Interpreter, tuple[Toolchain, ...]]
"""What an environment is made with: the interpreter, and what else the project takes."""


class SetupFailed(Unusable):
    """A command that builds the project's environment failed."""

    def __init__(
        self,
        command: tuple[str, ...],
        done: Completed,
        refused: Sequence[str] = (),
        kept: Sequence[str] = (),
    ) -> None:
        self.command = command
        self.refused = tuple(refused)
        self.log = redact(_text(done))[0]
        tail = "\n".join(self.log.splitlines()[-TAIL_LINES:])
        how = "ran out of time" if done.timed_out else f"ended with {done.code}"
        how = f"was out of bounds: {done.beyond}" if done.beyond else how
        mend = f"Correct `setup:` in `{SETTINGS_FILE}`, commit it, and start again."
        if refused:
            names = ", ".join(_without_port(place) for place in refused)
            tail += f"\nIt wanted to reach {names}, which is not on the list of places that set-up may reach."
            mend = (
                f"If it may, write `network: {{allow: [{names}]}}` into your config.yaml and "
                f"start again. Else: {mend}"
            )
        if kept:
            tail += (
                f"\nIt was not told the password of {', '.join(kept)}: whatever a build runs could read it."
            )
            mend = (
                "If the project may know it, write `network: {index_passwords: true}` into your "
                f"config.yaml and start again. Else: {mend}"
            )
        super().__init__(f"Set-up failed: `{' '.join(command)}` {how}.\n{tail}\n", mend)


@dataclass(frozen=True, slots=True)
class SetupWalls:
    """What set-up may reach."""

    sandbox: Sandbox
    allow: tuple[Destination, ...]
    passwords: bool


class SetUp:
    """One set-up of one environment."""

    def __init__(self, plan: Plan, home: Path, tools: Tools, walls: SetupWalls, version: str | None) -> None:
        uv, (interpreter, chains) = find_uv(), tools
        passed = index_variables(os.environ)
        self._plan, self._sandbox = plan, walls.sandbox
        self._kept = passwords_in(passed) if not walls.passwords else ()
        passed = passed if walls.passwords else without_passwords(passed)
        self._refused: list[str] = []
        cache = home.parent / "packages"
        cache.mkdir(parents=True, exist_ok=True)
        self._confinement = Confinement(
            cwd=home / "source",
            write=(home / "env", home / "source", cache),
            read=(uv, *toolchain_roots(str(interpreter.prefix)), *readable(chains), *named_paths(passed)),
            env=with_toolchains(passed | _setup_variables(home, uv, cache), chains)
            | _version_variables(version),
            network=(*_places(passed, uv, interpreter), *walls.allow),
            on_refusal=self._refused.append,
            timeout_s=SETUP_TIMEOUT_S,
            limits=SETUP_LIMITS,
        )
        self._programs = home / "env/bin"
        self._values = {
            "uv": str(uv),
            "python": str(interpreter.executable),
            "env": str(home / "env"),
            "tree": str(home / "source"),
        }

    def run(self) -> str:
        """Everything that tests need; what fails is a failed set-up."""
        log: list[str] = []
        for command in self._plan.setup:
            done = self._sandbox.run(fill(command, self._values), self._confinement)
            if done.code != 0 or done.timed_out:
                self._refuse_full_disk(done)
                raise SetupFailed(command, done, tuple(dict.fromkeys(self._refused)), self._kept)
            log += (f"$ {' '.join(command)}", _text(done))
        if self._refused:
            log.append(f"Not reached, because not on the list: {', '.join(dict.fromkeys(self._refused))}")
        return "\n".join(log)

    def _refuse_full_disk(self, done: Completed) -> None:
        """No setting mends a full disk; what went over a bound of ours is told as that."""
        full = exhausted(OSError(errno.ENOSPC, "", str(self._confinement.cwd)))
        if full is not None and not done.beyond and os.strerror(errno.ENOSPC) in _text(done):
            raise full

    def install_checkers(self) -> tuple[str, ...]:
        """Linters and type checkers that are not there yet; the answer is a sentence for each that cannot be
        had.
        """
        failed = []
        for command in self._plan.checkers:
            program = re.split(r"[\[<>=!~; @]", command[len(INSTALL)])[0]
            if (self._programs / program).exists():
                continue
            done = self._sandbox.run(fill(command, self._values), self._confinement)
            if done.code != 0 or done.timed_out:
                said = [line.strip() for line in _text(done).splitlines() if line.strip()]
                wanted = " ".join(command[len(INSTALL) :])
                failed.append(
                    f"{program} could not be installed ({wanted}): {said[-1][:200] if said else done.code}"
                )
        return tuple(failed)


def _places(passed: Mapping[str, str], uv: Path, interpreter: Interpreter) -> tuple[Destination, ...]:
    """The package indexes: those that the caller names; where no first one is named, the installers' own as
    well.
    """
    named = tuple(index_places(passed))
    own = () if any(name in passed for name in FIRST_INDEX) else tuple(default_places(uv, interpreter.prefix))
    return tuple(dict.fromkeys((*named, *own)))


def _without_port(place: str) -> str:
    """As a person would write it into the list."""
    return place.removesuffix(":443").removesuffix(":80")


def _setup_variables(home: Path, uv: Path, cache: Path) -> dict[str, str]:
    return {
        "PATH": f"{home}/env/bin:{uv.parent}:/usr/local/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": str(home / "env"),
        "UV_CACHE_DIR": str(cache),
        "UV_PYTHON_DOWNLOADS": "never",
        # A linked file would be shared with the cache, and a build could change it for every other
        # environment.
        "UV_LINK_MODE": "copy",
        # Test runs see the environment read-only, so what is not compiled now would be compiled anew by each
        # of them.
        "UV_COMPILE_BYTECODE": "1",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


def _version_variables(version: str | None) -> dict[str, str]:
    """Tell every tool that would ask git for the version. Only when the project uses one: some of these reach
    dependencies too.
    """
    if version is None:
        return {}
    names = (
        "SETUPTOOLS_SCM_PRETEND_VERSION",
        "PDM_BUILD_SCM_VERSION",
        "PBR_VERSION",
        "POETRY_DYNAMIC_VERSIONING_BYPASS",
        "UV_DYNAMIC_VERSIONING_BYPASS",
    )
    return dict.fromkeys(names, version)


def fill(command: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """A command with its `{names}` filled in. Other braces are left alone."""
    filled = []
    for word in command:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901 - the same word, further filled
        filled.append(word)
    return tuple(filled)


def _text(done: Completed) -> str:
    return "\n".join(
        filter(None, (done.out.decode(errors="replace").strip(), done.err.decode(errors="replace").strip()))
    )
