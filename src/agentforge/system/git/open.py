"""Finding a repository, and saying in one sentence why one cannot be used."""

import contextlib
import os
import re
import shlex
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentforge.core.errors import Exhausted, Unusable, UsageError
from agentforge.system.bounded import read_bounded
from agentforge.system.git.call import failure, invoke
from agentforge.system.processes import Completed
from agentforge.system.programs import search_path

OLDEST = (2, 30)
_FIRST = (".git/config", ".git/HEAD", ".git/commondir")
_READ = (".gitattributes", ".gitignore", ".gitmodules", ".git/index", ".git/shallow", ".git/packed-refs")
_READ_INSIDE = ("info/attributes", "info/exclude", "info/grafts", "objects/info/alternates")
_LINK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class RepositoryPaths:
    """Where a repository is, and which of its settings have to be switched off."""

    top: Path
    git_dir: Path
    own_dir: Path
    config: tuple[str, ...]


def find(path: Path) -> RepositoryPaths:
    """The repository whose checkout holds `path`."""
    if not path.is_dir():
        raise UsageError(f"{path} is not a directory.", "Name the directory of a checkout.")
    _refuse_old_git(path)
    around = next((each for each in (path, *path.absolute().parents) if (each / ".git").exists()), path)
    _refuse_what_never_ends(around / name for name in _FIRST)
    # The last question fails outside of a checkout, after the others are answered.
    args = ("rev-parse", "--is-bare-repository", "--git-common-dir", "--absolute-git-dir", "--show-toplevel")
    completed = invoke(args, cwd=path)
    answers = os.fsdecode(completed.out).split("\n")[:-1]
    if completed.code != 0:
        raise _refusal(path, completed, answers)
    if len(answers) != 4:
        raise UsageError(
            f"The path {str(path)!r} holds a line break, and git tells paths apart by those.",
            "Rename the directory.",
        )
    _, common, own, top = answers
    git_dir = (path / common).resolve()
    _refuse_another_checkout(path, Path(top), Path(own))
    if not Path(own).resolve().is_relative_to(git_dir):
        raise UsageError(
            f"The repository of {path} keeps its refs in {git_dir}, which is another one's.",
            "If that is what you want, run in a clone of it; else remove the file `.git/commondir`.",
        )
    _refuse_what_never_ends(
        (*(Path(top) / name for name in _READ), *(git_dir / name for name in _READ_INSIDE))
    )
    return RepositoryPaths(top=Path(top), git_dir=git_dir, own_dir=Path(own), config=_without_filters(path))


def _refuse_another_checkout(path: Path, top: Path, own: Path) -> None:
    """A repository that came with its settings may name any directory, such as your home, as its checkout."""
    link, led = top / ".git", False
    with contextlib.suppress(OSError, ValueError):
        if link.is_file():
            told = os.fsdecode(read_bounded(link, _LINK_BYTES)).removeprefix("gitdir:").strip()
            led = (top / told).samefile(own)
        else:
            led = link.samefile(own)
    if not led:
        raise UsageError(
            f"The repository of {path} says that its checkout is {top}, where another or no repository is.",
            "If that is what you want, run in a clone of it; else take `core.worktree` out of its settings.",
        )


def _refuse_what_never_ends(places: Iterable[Path]) -> None:
    """Git opens these whatever they are, and waits for somebody to write into a pipe."""
    for place in places:
        with contextlib.suppress(OSError):
            kind = place.stat().st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise UsageError(f"{place} is no file, so git would never end.", "Remove it.")


def _refuse_old_git(path: Path) -> None:
    try:
        version = _version(search_path(path))
    except Exhausted:
        raise
    except Unusable as error:
        raise UsageError(error.sentence, error.next_step) from error
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise UsageError(f"git {numbers[0]} is too old.", f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.")


@lru_cache(maxsize=8)
def _version(programs: str) -> str:
    """What the git of this PATH says of itself: asked once."""
    return invoke(("--version",), cwd=Path("/"), env={"PATH": programs}).out.decode(errors="replace")


def _refusal(path: Path, completed: Completed, answers: Sequence[str]) -> UsageError:
    if answers:
        if answers[0] == "true":
            return UsageError(
                f"{path} is a bare repository, without files to work on.", "Clone it, and run in the clone."
            )
        return UsageError(f"{path} is inside of a `.git` directory.", "Run in the checkout itself.")
    said = completed.err.decode(errors="replace")
    if "not a git repository" in said:
        return UsageError(
            f"{path} is not in a git repository.",
            "Run in a checkout, or make one with `git init` and a first commit.",
        )
    if "dubious ownership" in said or "unsafe repository" in said:
        command = re.search(r"git config --global --add safe\.directory .+", said)
        advice = (
            command[0].strip()
            if command
            else f"git config --global --add safe.directory {shlex.quote(str(path))}"
        )
        return UsageError(
            f"The repository at {path} belongs to another user, so git refuses it.",
            f"If you trust it, run `{advice}`.",
        )
    return UsageError(
        f"The repository at {path} cannot be read: {failure(completed, ('rev-parse',)).sentence}",
        "`git status` there shows why.",
    )


def _without_filters(path: Path) -> tuple[str, ...]:
    """Settings that empty every configured filter driver: a filter is a program of the user's, and large-file
    pointers stay pointers.
    """
    listed = invoke(("config", "-z", "--name-only", "--get-regexp", r"^filter\."), cwd=path)
    keys = os.fsdecode(listed.out).split("\0")
    drivers = sorted({key.rpartition(".")[0] for key in keys if key.count(".") > 1})
    for driver in drivers:
        if "=" in driver:
            raise UsageError(
                f"The git setting `{driver}` has `=` in its name and cannot be switched off.",
                "Rename that filter.",
            )
    return tuple(
        f"{driver}.{setting}"
        for driver in drivers
        for setting in ("clean=", "smudge=", "process=", "required=false")
    )
