"""The commands of set-up, run in walls that show them the environment, the checkout, the package cache and
the places that packages come from. What a language brings for it is a `Makings`.
"""

import errno
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.core.errors import Unusable
from agentforge.languages.toolchains import Toolchain, readable, with_toolchains
from agentforge.languages.values import ADDED, SETTINGS_FILE, Plan
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
PACKAGES = "packages"
"""The directory beside the environments of a project in which set-up keeps what it downloaded."""
ADDITIONS = "added"
"""The directory of an environment in which the lists of what we add lie; set-up cannot change it."""

Run = Callable[[tuple[str, ...]], Completed]
"""Runs a command of set-up in its walls."""
Add = Callable[[str, Path, Run], tuple[str, ...]]
"""Installs what we pin under a name, for the environment of a directory, unless it is there. The answer is
what is new, each with its version.
"""


def _adds_nothing(name: str, home: Path, run: Run) -> tuple[str, ...]:
    raise LookupError(f"nothing is pinned as {name} for {home}: {run}")


@dataclass(frozen=True, slots=True)
class Makings:
    """What a language brings for making an environment. In `variables` and in the commands of a plan,
    `{env}`, `{tree}`, `{cache}` and the names of `values` are filled in.
    """

    prefix: Path
    """Where the language itself lives."""
    program: str
    """What runs the project's code: below the environment, or an absolute path."""
    identity: tuple[str | None, ...] = ()
    """What decides, beside the plan and its files, what the environment holds."""
    values: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    read: tuple[Path, ...] = ()
    network: tuple[Destination, ...] = ()
    """Where packages come from."""
    kept: tuple[str, ...] = ()
    """Indexes whose password set-up is not told."""
    chains: tuple[Toolchain, ...] = ()
    """What the project takes beside the language."""
    requirement_at: int = 0
    """Which word of a command of `Plan.checkers` names what it installs."""
    add: Add = _adds_nothing


_OUT_OF_REACH = re.compile(
    r"error sending request|name resolution|could not resolve|connection (refused|reset|timed out)"
    r"|network is unreachable|certificate verify failed|invalid peer certificate|NewConnectionError"
    r"|request failed after \d+ retries|HTTP status server error|bad gateway"
    r"|\b(EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT)\b|dial tcp",
    re.IGNORECASE,
)
"""What package managers say when an index does not answer: nothing is wrong with the project then."""


class SetupFailed(Unusable):
    """A command that builds the project's environment failed."""

    def __init__(
        self,
        command: tuple[str, ...],
        done: Completed,
        refused: Sequence[str] = (),
        kept: Sequence[str] = (),
    ) -> None:
        self.command, self.done = command, done
        self.refused = tuple(refused)
        self.log = redact(text_of(done))[0]
        tail = "\n".join(self.log.splitlines()[-TAIL_LINES:])
        how = "ran out of time" if done.timed_out else f"ended with {done.code}"
        how = f"was out of bounds: {done.beyond}" if done.beyond else how
        mend = f"Correct `setup:` in `{SETTINGS_FILE}`, commit it, and start again."
        if not refused and _OUT_OF_REACH.search(self.log):
            mend = f"Answer retry once this machine reaches the package index again. Else: {mend}"
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


class NotAdded(Unusable):
    """What we add to an environment cannot be had as we pin it, or does not go with what the project has."""


class CommandFailed(Exception):
    """A command that adds something failed for a reason that any command of set-up may have."""

    def __init__(self, command: tuple[str, ...], done: Completed) -> None:
        super().__init__()
        self.command, self.done = command, done


class SetUp:
    """One set-up of one environment. `added` is what came from us and not from the project."""

    def __init__(
        self, plan: Plan, home: Path, makings: Makings, sandbox: Sandbox, allow: Sequence[Destination]
    ) -> None:
        self._plan, self._sandbox, self._makings = plan, sandbox, makings
        self._home = home
        self.added: tuple[str, ...] = ()
        self._refused: list[str] = []
        cache = home.parent / PACKAGES
        for place in (cache, home / ADDITIONS):
            place.mkdir(parents=True, exist_ok=True)
        self._programs = home / "env/bin"
        self._values = {
            **makings.values,
            "env": str(home / "env"),
            "tree": str(home / "source"),
            "cache": str(cache),
        }
        names = tuple(makings.variables)
        variables = dict(zip(names, fill(tuple(makings.variables.values()), self._values), strict=True))
        self._confinement = Confinement(
            cwd=home / "source",
            write=(home / "env", home / "source", cache),
            read=(
                home / ADDITIONS,
                *makings.read,
                *toolchain_roots(str(makings.prefix)),
                *readable(makings.chains),
            ),
            env=with_toolchains(variables, makings.chains),
            network=(*makings.network, *allow),
            on_refusal=self._refused.append,
            timeout_s=SETUP_TIMEOUT_S,
            limits=SETUP_LIMITS,
        )

    def run(self) -> str:
        """Everything that tests need; what fails is a failed set-up."""
        log: list[str] = []
        for command in self._plan.setup:
            if command[0] == ADDED:
                log += (f"Added: {line}" for line in self._add(command[1]))
                continue
            done = self._run(command)
            if not succeeded(done):
                raise self._failed(command, done)
            log += (f"$ {' '.join(command)}", text_of(done))
        if self._refused:
            log.append(f"Not reached, because not on the list: {', '.join(dict.fromkeys(self._refused))}")
        return "\n".join(log)

    def _run(self, command: tuple[str, ...]) -> Completed:
        return self._sandbox.run(fill(command, self._values), self._confinement)

    def _failed(self, command: tuple[str, ...], done: Completed) -> SetupFailed:
        self._refuse_full_disk(done)
        return SetupFailed(command, done, tuple(dict.fromkeys(self._refused)), self._makings.kept)

    def _add(self, name: str) -> tuple[str, ...]:
        """What we pin under a name, unless the project brought it."""
        try:
            new = self._makings.add(name, self._home, self._run)
        except CommandFailed as error:
            raise self._failed(error.command, error.done) from error
        self.added = tuple(dict.fromkeys((*self.added, *new)))
        return new

    def _refuse_full_disk(self, done: Completed) -> None:
        """No setting mends a full disk; what went over a bound of ours is told as that."""
        full = exhausted(OSError(errno.ENOSPC, "", str(self._confinement.cwd)))
        if full is not None and not done.beyond and os.strerror(errno.ENOSPC) in text_of(done):
            raise full

    def install_checkers(self) -> tuple[str, ...]:
        """Linters and type checkers that are not there yet; the answer is a sentence for each that cannot be
        had.
        """
        failed = []
        for command in self._plan.checkers:
            wanted = command[1:] if command[0] == ADDED else command[self._makings.requirement_at :]
            program = re.split(r"[\[<>=!~; @]", wanted[0])[0]
            if (self._programs / program).exists():
                continue
            if command[0] == ADDED:
                failed += self._add_checker(program)
                continue
            done = self._run(command)
            if not succeeded(done):
                failed.append(f"{program} could not be installed ({' '.join(wanted)}): {_why(done)}")
        return tuple(failed)

    def _add_checker(self, program: str) -> list[str]:
        """The same as a sentence, if it cannot be had."""
        try:
            self._add(program)
        except NotAdded as error:
            return [f"{program} could not be added: {error.sentence.rstrip('.')}"]
        except SetupFailed as error:
            return [f"{program} could not be added: {_why(error.done)}"]
        return []


def succeeded(done: Completed) -> bool:
    """Whether a command of set-up did what it was for."""
    return done.code == 0 and not done.timed_out


def _why(done: Completed) -> str:
    """The line in which an installer says what went wrong: an error if one is named, else the last with
    words.
    """
    said = [
        re.sub(r"^\W+", "", line).strip() for line in text_of(done).splitlines() if re.search(r"\w{2}", line)
    ]
    errors = [line for line in said if re.match(r"(?:\S+: )?error\b", line, re.IGNORECASE)]
    return (errors or said or [f"exit code {done.code}"])[-1][:200].rstrip(".")


def _without_port(place: str) -> str:
    """As a person would write it into the list."""
    return place.removesuffix(":443").removesuffix(":80")


def fill(command: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """A command with its `{names}` filled in. Other braces are left alone."""
    filled = []
    for word in command:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901 - the same word, further filled
        filled.append(word)
    return tuple(filled)


def text_of(done: Completed) -> str:
    """What a command printed, then what it said of errors, as text."""
    return "\n".join(
        filter(None, (done.out.decode(errors="replace").strip(), done.err.decode(errors="replace").strip()))
    )
