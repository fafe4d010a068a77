"""The repositories that a person gave a name: `repos.yaml` in their own directory, and how such a file reads.

A project may keep a file of the same shape, `.agentforge/config/repos.yaml`. It can only propose: a path
counts once the person has registered it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system.visible import one_line

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_KEY = "repositories"
_PLAIN = re.compile(
    r"  (?:- |  )(name|path|default_branch|contracts_path): "
    r"((?!(?:y|n|yes|no|on|off|true|false|null)\n)[A-Za-z/][A-Za-z0-9._/-]*)\n",
    re.IGNORECASE,
)
"""A line of the file as it is written here, with a value that is text in every dialect of YAML."""


class Repository(NamedTuple):
    """A repository by its name."""

    name: str
    path: str
    """The root of its checkout."""
    default_branch: str = "main"
    """Where tasks start that name the repository."""
    contracts_path: str = ""
    """A folder of the repository that holds contracts of its own; empty: there is none but the usual."""


def repositories_file(home: Home) -> Path:
    """Where a user's repositories are listed."""
    return home.path / "repos.yaml"


def read_repositories(home: Home) -> tuple[Repository, ...]:
    """What the user's file lists; a `UsageError` that names the file if anything is wrong with it."""
    path = repositories_file(home)
    try:
        data = read_own(path)
        found = () if data is None else _parsed(data, path.name)
        _refuse_relative(found)
    except (OSError, UnicodeDecodeError, UsageError) as error:
        reason = (
            error.sentence.rstrip(".")
            if isinstance(error, UsageError)
            else "it is not text in UTF-8"
            if isinstance(error, UnicodeDecodeError)
            else (error.strerror or str(error)).lower()
        )
        raise UsageError(f"{path} cannot be used: {reason}.", "Correct the file, then try again.") from None
    return found


@lru_cache(maxsize=4)
def _parsed(data: bytes, source: str) -> tuple[Repository, ...]:
    """The same bytes are parsed once: a list is asked three times what is registered."""
    return parse_repositories(data.decode("utf-8"), source)


def names_by_path(home: Home) -> Mapping[str, str]:
    """The names that the user gave, by the real path of the checkout; none where the file cannot be used, for
    those who only show.
    """
    try:
        return {str(place(each)): each.name for each in read_repositories(home)}
    except UsageError:
        return {}


def repository_at(home: Home, top: Path) -> Repository | None:
    """The entry of the user's file for this checkout."""
    real = top.resolve()
    return next((each for each in read_repositories(home) if place(each) == real), None)


def place(repository: Repository) -> Path:
    """The real path that an entry names."""
    return Path(repository.path).expanduser().resolve()


def save_repository(home: Home, repository: Repository) -> None:
    """Adds an entry, or replaces the one of its name."""
    path = repositories_file(home)
    with locked(path):
        known = read_repositories(home)
        if any(each.name == repository.name for each in known):
            _write(path, [repository if each.name == repository.name else each for each in known])
        else:
            _write(path, [*known, repository])


def drop_repository(home: Home, name: str) -> None:
    """Takes an entry out; nothing of the repository itself is touched."""
    path = repositories_file(home)
    with locked(path):
        _write(path, [each for each in read_repositories(home) if each.name != name])


def parse_repositories(text: str, source: str) -> tuple[Repository, ...]:
    """The entries of such a file, each as it is written."""
    document = _plain(text)
    if document is None:
        from agentforge.system import strict_yaml  # noqa: PLC0415 - longer to load than the usual file to read

        document = strict_yaml.load(text, source)
    if document is None:
        return ()
    if not isinstance(document, dict) or set(document) != {_KEY}:
        raise UsageError(f"it is a mapping with one key, `{_KEY}`, which is a list")
    entries = document[_KEY]
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise UsageError(f"`{_KEY}` is a list")
    found = tuple(_entry(entry, number) for number, entry in enumerate(entries, 1))
    names = [each.name.casefold() for each in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two repositories are called {twice}")
    return found


def _plain(text: str) -> Any:  # noqa: ANN401 - as a loader of YAML would say it
    """The file as it is written here, without a reader of YAML; None where a person has written more into
    it.
    """
    first, *lines = text.splitlines(keepends=True) or [""]
    entries: list[dict[str, str]] = []
    for line in lines:
        if (found := _PLAIN.fullmatch(line)) is None:
            return None
        if line.startswith("  - "):
            entries.append({})
        if not entries or found[1] in entries[-1]:
            return None
        entries[-1][found[1]] = found[2]
    return {_KEY: entries} if first == f"{_KEY}:\n" and entries else None


def check_name(name: str) -> str:
    """The name, if one can type it without quotes."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{one_line(name[:80])!r} cannot be the name of a repository; use letters, digits, `.`, `_` and "
            "`-`.",
            "Choose one with `--name NAME`.",
        )
    return name


def check_folder(path: str) -> str:
    """A folder inside of a repository."""
    parts = PurePosixPath(path).parts
    if PurePosixPath(path).is_absolute() or ".." in parts or not parts:
        raise UsageError(f"`contracts_path` names a folder of the repository, and {one_line(path)!r} is none")
    return path


def _entry(entry: Any, number: int) -> Repository:  # noqa: ANN401  an entry is any YAML
    if not isinstance(entry, dict):
        raise UsageError(f"repository {number} is no mapping")
    known = list(Repository._fields)
    if unknown := sorted(str(key) for key in set(entry) - set(known)):
        raise UsageError(f"repository {number} has the unknown key `{unknown[0]}`; known: {', '.join(known)}")
    if wrong := next((key for key, value in entry.items() if not isinstance(value, str) or not value), None):
        raise UsageError(f"repository {number}: `{wrong}` is text")
    if missing := next((key for key in ("name", "path") if key not in entry), None):
        raise UsageError(f"repository {number}: `{missing}` is missing")
    check_name(entry["name"])
    if "contracts_path" in entry:
        check_folder(entry["contracts_path"])
    return Repository(**entry)


def _refuse_relative(found: Sequence[Repository]) -> None:
    for each in found:
        if not Path(each.path).expanduser().is_absolute():
            raise UsageError(f"the path of {each.name} does not begin with `/` or `~`")


def _write(path: Path, repositories: Sequence[Repository]) -> None:
    from agentforge.system import strict_yaml  # noqa: PLC0415 - as above

    entries = [{key: value for key, value in each._asdict().items() if value} for each in repositories]
    replace_own(path, strict_yaml.dump({_KEY: entries}).encode())
