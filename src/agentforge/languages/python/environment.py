"""A project's own environment: built once per set of lock files, outside every checkout, and read-only
afterwards.

    <cache_root>/<key>/env        the virtual environment
    <cache_root>/<key>/source     a pristine checkout, from which the project is installed
    <cache_root>/packages         what set-up downloaded and built, for the other environments of the project
    <cache_root>/<key>/.ready     written last; without it the other two are rubble of a crash and are removed

A virtual environment cannot be moved, so it is built where it will stay, under a lock of its own. A cache
root belongs to one project: set-up runs the project's own code, which can write to it, and what it writes
there must not reach another project.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
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
from agentforge.languages.python.interpreter import Interpreter, find_interpreter, find_uv
from agentforge.languages.toolchains import Toolchain, find_toolchains, readable, with_toolchains
from agentforge.languages.values import Environment, Plan
from agentforge.sandbox.base import Confinement, Sandbox, toolchain_roots
from agentforge.sandbox.network.destinations import Destination
from agentforge.system.canon import digest
from agentforge.system.files import disk_errors, write_atomic
from agentforge.system.processes import Completed

FORMAT = 1  # part of the key: raised when environments of an older AgentForge must not be used
SETUP_TIMEOUT_S = 1800
TAIL_LINES = 15
CACHES = frozenset({"__pycache__", ".git", ".pytest_cache", ".ruff_cache", ".mypy_cache"})
BUILD_DIRECTORIES = frozenset(
    {"build", "dist", "target", "node_modules"}
)  # at the top only: deeper it may be a package's name


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
        self.log = _text(done)
        tail = "\n".join(self.log.splitlines()[-TAIL_LINES:])
        how = "ran out of time" if done.timed_out else f"ended with {done.code}"
        mend = f"Correct `setup:` in `{SETTINGS_FILE}`, commit it, and start again."
        if refused:
            names = ", ".join(_without_port(place) for place in refused)
            tail += f"\nIt wanted to reach {names}, which is not on the list of places that set-up may reach."
            mend = (
                f"If it may, write `network: {{allow: [{names}]}}` into your own config.yaml and "
                f"start again. Else: {mend}"
            )
        if kept:
            tail += (
                f"\nIt was not told the password of {', '.join(kept)}: whatever a build runs could read it."
            )
            mend = (
                "If the project may know it, write `network: {index_passwords: true}` into your own "
                f"config.yaml and start again. Else: {mend}"
            )
        super().__init__(f"Set-up failed: `{' '.join(command)}` {how}.\n{tail}\n", mend)


def build(  # noqa: PLR0913 - every one of them is the caller's business
    plan: Plan,
    tree_checkout: Callable[[Path], None],
    cache_root: Path,
    sandbox: Sandbox,
    *,
    version: str | None = None,
    lock_text_hash: str,
    allow: Sequence[Destination] = (),
    index_passwords: bool = False,
) -> Environment:
    """The environment for `plan`, from the cache or made now. `tree_checkout` fills an empty directory with
    the project's files.

    Set-up may reach the package indexes of the caller, and the places of `allow`; it is told the passwords of
    indexes only if the user said so.
    """
    interpreter = find_interpreter(plan.version, sandbox)
    told = (version or "0.0.0") if plan.version_from_tags else None
    chains = find_toolchains(plan.toolchains, os.environ, Path.home())
    key = _key(plan, (interpreter, chains), told, lock_text_hash)
    home = cache_root.resolve() / key
    with disk_errors(), _locked(home):
        walls = _Walls(sandbox, tuple(allow), index_passwords)
        if (ready := _load(home)) is not None:
            if ready.failed:  # what could not be had then may be there now
                failed = _SetUp(plan, home, (interpreter, chains), walls, told).install_checkers()
                ready = ready if failed == ready.failed else _store(home, replace(ready, failed=failed))
            return replace(ready, toolchains=chains)
        shutil.rmtree(home, ignore_errors=True)
        (home / "env").mkdir(parents=True)
        (home / "source").mkdir()
        tree_checkout(home / "source")
        before = _files(home / "source")
        set_up = _SetUp(plan, home, (interpreter, chains), walls, told)
        log = set_up.run()
        failed = set_up.install_checkers()
        generated = tuple(sorted(_files(home / "source") - before))
        made = Environment(
            home / "env",
            home / "env/bin/python",
            home / "source",
            plan.import_roots,
            generated,
            key,
            log,
            interpreter.prefix,
            failed=failed,
        )
        return replace(_store(home, made), toolchains=chains)


def run_env(environment: Environment, tree: Path) -> dict[str, str]:
    """The variables of a test run against `tree`: its modules come before those of the checkout that was
    installed.
    """
    variables = {
        "PATH": f"{environment.path}/bin:/usr/local/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": str(environment.path),
        "PYTHONPATH": os.pathsep.join(
            str(tree if root == "." else tree / root) for root in environment.import_roots
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }
    return with_toolchains(variables, environment.toolchains)


def fill(command: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """A command with its `{names}` filled in. Other braces are left alone."""
    filled = []
    for word in command:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901 - the same word, further filled
        filled.append(word)
    return tuple(filled)


@dataclass(frozen=True, slots=True)
class _Walls:
    sandbox: Sandbox
    allow: tuple[Destination, ...]
    passwords: bool


class _SetUp:
    """Runs the commands of set-up in walls that show them the environment, the checkout, the package cache
    and the package indexes.
    """

    def __init__(self, plan: Plan, home: Path, tools: Tools, walls: _Walls, version: str | None) -> None:
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
                raise SetupFailed(command, done, tuple(dict.fromkeys(self._refused)), self._kept)
            log += (f"$ {' '.join(command)}", _text(done))
        if self._refused:
            log.append(f"Not reached, because not on the list: {', '.join(dict.fromkeys(self._refused))}")
        return "\n".join(log)

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


def _key(plan: Plan, tools: Tools, version: str | None, lock_text_hash: str) -> str:
    """Everything that decides what the environment holds; not the sandbox, which only decides how safely it
    was made.
    """
    interpreter, chains = tools
    parts = (
        FORMAT,
        plan.setup,
        *((plan.checkers,) if plan.checkers else ()),
        plan.import_roots,
        version,
        interpreter.version,
        str(interpreter.executable),
        lock_text_hash,
    )
    return digest(json.dumps((*parts, *(str(chain.root) for chain in chains))))[:24]


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One builder per key; others wait and then find it ready."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _files(top: Path) -> set[str]:
    """Every file below `top`, caches left out."""
    found: set[str] = set()
    for directory, names, files in os.walk(top):
        relative = Path(directory).relative_to(top)
        left_out = CACHES if relative.parts else CACHES | BUILD_DIRECTORIES
        names[:] = [name for name in names if name not in left_out]
        found.update((relative / name).as_posix() for name in files if not name.endswith((".pyc", ".o")))
    return found


def _store(home: Path, environment: Environment) -> Environment:
    fields = asdict(environment)
    write_atomic(home / ".ready", json.dumps(fields, default=str, sort_keys=True).encode())
    return environment


def _load(home: Path) -> Environment | None:
    """The finished environment, if there is one and its interpreter still starts from where it did."""
    try:
        fields = json.loads((home / ".ready").read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    if not (home / "env/bin/python").exists() or Path(fields["path"]) != home / "env":
        return None
    return Environment(
        path=home / "env",
        program=home / "env/bin/python",
        source=home / "source",
        import_roots=tuple(fields["import_roots"]),
        generated=tuple(fields["generated"]),
        key=fields["key"],
        log=fields["log"],
        prefix=Path(fields["prefix"]),
        failed=tuple(fields.get("failed", ())),
    )


def _text(done: Completed) -> str:
    return "\n".join(
        filter(None, (done.out.decode(errors="replace").strip(), done.err.decode(errors="replace").strip()))
    )
