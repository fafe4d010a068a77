"""Repositories by name, so that a command works on one from any directory."""

import shlex
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from agentforge.core.errors import UsageError, UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.layout import Home
from agentforge.store.user.index import TaskRow
from agentforge.store.user.repositories import (
    Repository,
    check_folder,
    check_name,
    drop_repository,
    parse_repositories,
    place,
    read_repositories,
    save_repository,
)
from agentforge.system.bounded import SETTINGS_BYTES
from agentforge.system.git.repository import Git

PROJECT_FILE = ".agentforge/config/repos.yaml"
"""What a project proposes, read from its commit."""
_USUAL = ("main", "master")

Change = Literal["added", "changed", "unchanged"]
Standing = Literal["ready", "missing", "no_branch", "proposed"]
"""`missing`: there is no repository where it was. `proposed`: the project here names it, the person has not
registered it.
"""


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """A repository of the list, as it stands now."""

    repository: Repository
    standing: Standing
    tasks: int = 0
    open_tasks: int = 0
    problem: str = ""
    """What to do about it, where it is not ready."""


def add_repository(
    home: Home, path: Path, name: str | None, default_branch: str | None, contracts_path: str | None
) -> tuple[Repository, Change]:
    """Registers the repository around `path`, or changes what is said of it. A name whose repository is gone
    may be given to the place where it is now.
    """
    git = Git.open(path)
    top = git.top.resolve()
    known = read_repositories(home)
    here = next((each for each in known if place(each) == top), None)
    wanted = check_name(name or (here.name if here else top.name))
    if here is not None and here.name != wanted:
        raise UsageError(
            f"{top} is registered as {here.name}.",
            f"`agentforge repo remove {here.name}` takes that name back.",
        )
    before = next((each for each in known if each.name.casefold() == wanted.casefold()), None)
    if before is not None and place(before) != top and _is_there(before):
        raise UsageError(
            f"{before.name} is the repository at {before.path}.", "Choose another name with `--name NAME`."
        )
    branch = default_branch or (before.default_branch if before else _default_branch(git))
    folder = contracts_path or (before.contracts_path if before else "")
    if folder:
        try:
            check_folder(folder)
        except UsageError as error:
            raise UsageError(f"{error.sentence}.", "Write it as `--contracts-path contracts/`.") from None
    made = Repository(before.name if before else wanted, str(top), branch, folder)
    if default_branch is not None:
        base_of(git, made)
    if made == before:
        return made, "unchanged"
    save_repository(home, made)
    return made, "changed" if before is not None else "added"


def remove_repository(home: Home, name: str) -> Repository:
    """Takes a name back; the repository and its tasks stay as they are."""
    found = _named(home, name, None)
    drop_repository(home, found.name)
    return found


def find_repository(home: Home, name: str, here: Path) -> Repository:
    """The registered repository of that name, if it is where it was; else a sentence with the next step."""
    found = _named(home, name, here)
    if not _is_there(found):
        raise UsageError(_gone(found), _moved(found))
    return found


def base_of(git: Git, repository: Repository) -> str:
    """The commit that a task of a registered repository starts from."""
    for ref in (
        f"refs/heads/{repository.default_branch}",
        f"refs/remotes/origin/{repository.default_branch}",
    ):
        if (commit := git.find(f"{ref}^{{commit}}")) is not None:
            return commit.oid
    raise UsageError(_no_branch(repository), _other_branch(repository))


def list_repositories(home: Home, rows: Iterable[TaskRow], here: Path) -> list[KnownRepository]:
    """The registered repositories in the order of the file, then what the project here proposes."""
    registered = read_repositories(home)
    rows = list(rows)
    tasks = Counter(row.repo for row in rows)
    open_tasks = Counter(row.repo for row in rows if row.status not in TERMINAL)
    found = [_standing(each, tasks, open_tasks) for each in registered]
    names = {each.name for each in registered}
    with suppress(UserError):  # outside of any repository nobody proposes anything
        found += [
            KnownRepository(each, "proposed", problem=_proposal(each))
            for each in proposed(Git.open(here))
            if each.name not in names
        ]
    return found


def lost_repositories(home: Home) -> list[str]:
    """A sentence for each registered repository that is not where it was."""
    try:
        known = read_repositories(home)
    except UsageError as error:
        return [str(error)]
    return [f"{_gone(each)} {_moved(each)}" for each in known if not place(each).is_dir()]


def proposed(git: Git) -> tuple[Repository, ...]:
    """What the project's commit proposes; its paths are relative to the checkout. Never opened unasked."""
    committed = git.read_blob(git.head(), PROJECT_FILE, SETTINGS_BYTES)
    if not committed:
        return ()
    try:
        found = parse_repositories(committed.decode("utf-8", "replace"), PROJECT_FILE)
    except UsageError as error:
        raise UsageError(
            f"{PROJECT_FILE} cannot be used: {error.sentence.rstrip('.')}.", "Correct and commit it."
        ) from None
    return tuple(each._replace(path=str(git.top / each.path)) for each in found)


def _named(home: Home, name: str, here: Path | None) -> Repository:
    known = read_repositories(home)
    for each in known:
        if each.name == name:
            return each
    if here is not None and (named := _proposed_as(name, here)) is not None:
        raise UsageError(
            f"This project names {name} at {named.path}, but you have not registered it.", _proposal(named)
        )
    near = get_close_matches(name, [each.name for each in known], n=1)
    names = ", ".join(each.name for each in known)
    raise UsageError(
        f"No repository is registered as {name!r}"
        + (f"; did you mean {near[0]}?" if near else f"; there is {names}." if names else "."),
        f"`agentforge repo add {_path_or(name, 'PATH')}` registers one.",
    )


def _path_or(name: str, otherwise: str) -> str:
    """What was given as a name, if it is the path of a directory."""
    return shlex.quote(name) if name and Path(name).is_dir() else otherwise


def _proposed_as(name: str, here: Path) -> Repository | None:
    try:
        return next((each for each in proposed(Git.open(here)) if each.name == name), None)
    except UserError:
        return None


def _standing(repository: Repository, tasks: Counter[str], open_tasks: Counter[str]) -> KnownRepository:
    where = str(place(repository))
    known = KnownRepository(repository, "ready", tasks[where], open_tasks[where])
    try:
        git = Git.open(place(repository))
    except UserError:
        return replace(known, standing="missing", problem=_moved(repository))
    try:
        base_of(git, repository)
    except UserError:
        return replace(known, standing="no_branch", problem=_other_branch(repository))
    return known


def _is_there(repository: Repository) -> bool:
    """Whether the root of a repository is where the entry says."""
    where = place(repository)
    try:
        return Git.open(where).top.resolve() == where
    except UserError:
        return False


def _default_branch(git: Git) -> str:
    """What the remote calls its own, else a usual name, else what is checked out."""
    prefix = "refs/remotes/origin/"
    remote = git.run("symbolic-ref", "--quiet", f"{prefix}HEAD", check=False).out.decode().strip()
    if remote.startswith(prefix):
        return remote.removeprefix(prefix)
    for name in _USUAL:
        if git.find(f"refs/heads/{name}^{{commit}}") is not None:
            return name
    current = git.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False).out.decode().strip()
    return current or _USUAL[0]


def _gone(repository: Repository) -> str:
    return f"{repository.name} is registered at {repository.path}, where there is no repository."


def _moved(repository: Repository) -> str:
    return f"If it moved, run `agentforge repo add NEW-PATH --name {repository.name}`."


def _no_branch(repository: Repository) -> str:
    return f"{repository.name} has no branch {repository.default_branch}."


def _other_branch(repository: Repository) -> str:
    where = shlex.quote(repository.path)
    return f"`agentforge repo add {where} --default-branch BRANCH` names another one; or use `--base REF`."


def _proposal(repository: Repository) -> str:
    words = f"agentforge repo add {shlex.quote(repository.path)} --name {repository.name}"
    return f"`{words}` registers it."
