"""A project's own environment: built once per set of lock files, outside every checkout, and read-only
afterwards.

    <cache_root>/<key>/env        what set-up makes: a virtual environment, packages
    <cache_root>/<key>/added      the pinned lists of what we added to it
    <cache_root>/<key>/source     a pristine checkout, from which the project is installed
    <cache_root>/packages         what set-up downloaded and built, for the other environments of the project
    <cache_root>/<key>/.ready     written last; without it the other two are rubble of a crash and are removed
    <cache_root>/<key>.use        held by every process that uses it; `agentforge clean` removes none of these

An environment cannot be moved, so it is built where it will stay, under a lock of its own. A cache
root belongs to one project: set-up runs the project's own code, which can write to it, and what it writes
there must not reach another project.
"""

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from agentforge.languages.set_up import PACKAGES, Makings, SetUp
from agentforge.languages.values import Environment, Plan
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination
from agentforge.system.bounded import files_below
from agentforge.system.canon import digest
from agentforge.system.files import disk_errors, write_atomic
from agentforge.system.holds import Hold

FORMAT = 1  # part of the key: raised when environments of an older AgentForge must not be used
CACHES = frozenset({"__pycache__", ".git", ".pytest_cache", ".ruff_cache", ".mypy_cache", "node_modules"})
BUILD_DIRECTORIES = frozenset(
    {"build", "dist", "target"}
)  # at the top only: deeper it may be a package's name


def build_environment(  # noqa: PLR0913 - the facts of one environment
    plan: Plan,
    makings: Makings,
    tree_checkout: Callable[[Path], None],
    cache_root: Path,
    sandbox: Sandbox,
    *,
    lock_text_hash: str,
    allow: Sequence[Destination] = (),
) -> Environment:
    """The environment for `plan`, from the cache or made now. `tree_checkout` fills an empty directory with
    the project's files.

    Set-up may reach where the language's packages come from, and the places of `allow`.
    """
    key = _key(plan, makings, lock_text_hash)
    home = cache_root.resolve() / key
    with disk_errors():
        hold = Hold(home)
    with disk_errors(), _locked(home), Hold(home.parent / PACKAGES):
        if (ready := _load(home, makings.program)) is not None:
            if ready.failed:  # what could not be had then may be there now
                again = SetUp(plan, home, makings, sandbox, allow)
                failed = again.install_checkers()
                added = tuple(dict.fromkeys((*ready.added, *again.added)))
                if failed != ready.failed:
                    ready = _store(home, replace(ready, failed=failed, added=added))
            return replace(ready, toolchains=makings.chains, hold=hold)
        shutil.rmtree(home, ignore_errors=True)
        (home / "env").mkdir(parents=True)
        (home / "source").mkdir()
        tree_checkout(home / "source")
        before = _files(home / "source")
        set_up = SetUp(plan, home, makings, sandbox, allow)
        log = set_up.run()
        failed = set_up.install_checkers()
        generated = tuple(sorted(_files(home / "source") - before))
        made = Environment(
            home / "env",
            home / "env" / makings.program,
            home / "source",
            plan.import_roots,
            generated,
            key,
            log,
            makings.prefix,
            failed=failed,
            added=set_up.added,
        )
        return replace(_store(home, made), toolchains=makings.chains, hold=hold)


def _key(plan: Plan, makings: Makings, lock_text_hash: str) -> str:
    """Everything that decides what the environment holds; not the sandbox, which only decides how safely it
    was made.
    """
    parts = (
        FORMAT,
        plan.setup,
        *((plan.checkers,) if plan.checkers else ()),
        plan.import_roots,
        *makings.identity,
        lock_text_hash,
    )
    return digest(json.dumps((*parts, *(str(chain.root) for chain in makings.chains))))[:24]


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One builder per key; others wait and then find it ready."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _files(top: Path) -> set[str]:
    """Every file below `top`, caches left out."""
    at_the_top = CACHES | BUILD_DIRECTORIES
    found: set[str] = set()

    def skip(folder: Path) -> bool:
        return folder.name in (at_the_top if folder.parent == top else CACHES)

    for path in files_below(top, skip, links=True):
        if not path.name.endswith((".pyc", ".o")):
            found.add(path.relative_to(top).as_posix())
    return found


def _store(home: Path, environment: Environment) -> Environment:
    fields = asdict(environment)
    write_atomic(home / ".ready", json.dumps(fields, default=str, sort_keys=True).encode())
    return environment


def _load(home: Path, program: str) -> Environment | None:
    """The finished environment, if there is one and its program still starts from where it did."""
    try:
        fields = json.loads((home / ".ready").read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    if not (home / "env" / program).exists() or Path(fields["path"]) != home / "env":
        return None
    return Environment(
        path=home / "env",
        program=home / "env" / program,
        source=home / "source",
        import_roots=tuple(fields["import_roots"]),
        generated=tuple(fields["generated"]),
        key=fields["key"],
        log=fields["log"],
        prefix=Path(fields["prefix"]),
        failed=tuple(fields.get("failed", ())),
        added=tuple(fields.get("added", ())),
    )
