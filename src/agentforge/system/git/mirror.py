"""The files of a worktree that mirrors a tree: what is there, what goes, and what stays."""

import hashlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

MirrorKind = Literal["missing", "file", "directory", "special"]
GITLINK = "160000"
_SHA256_DIGITS = 64


def kind_of(path: Path) -> MirrorKind:
    """What git sees at a path: a link is a file, and a socket or a pipe is nothing it can hold."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) or stat.S_ISLNK(mode) else "special"


def has_crlf(path: Path) -> bool:
    """Whether a file has line ends that git might rewrite."""
    return not path.is_symlink() and b"\r\n" in path.read_bytes()


def blob_of(path: Path, digits: int) -> tuple[str, str]:
    """Mode and id of a plain file as it is, nothing converted, in the hash whose ids have so many digits."""
    data = path.read_bytes()
    mode = "100755" if path.stat().st_mode & stat.S_IXUSR else "100644"
    algorithm = "sha256" if digits == _SHA256_DIGITS else "sha1"
    return mode, hashlib.new(algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def parents_of(path: str) -> list[str]:
    """Every directory above a path, from the top."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def is_excluded(path: str, exclude: Sequence[str]) -> bool:
    """Whether a path is one of `exclude`, or below one."""
    return any(path == kept or path.startswith(f"{kept}/") for kept in exclude)


def remove(root: Path, path: str, exclude: Sequence[str]) -> None:
    """Remove what is at `path`, but for the paths to keep."""
    place = root / path
    if is_excluded(path, exclude):
        return
    if kind_of(place) != "directory":
        place.unlink(missing_ok=True)
    elif any(kept.startswith(f"{path}/") for kept in exclude):
        for child in sorted(place.iterdir()):
            remove(root, f"{path}/{child.name}", exclude)
    else:
        try:
            shutil.rmtree(place)
        except PermissionError:
            make_writable(place)
            shutil.rmtree(place)


def make_writable(root: Path) -> None:
    """Give ourselves every directory below `root`: tests like to leave some behind that nobody may enter."""
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        directory.chmod(directory.stat().st_mode | stat.S_IRWXU)
        waiting += [
            Path(entry.path) for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)
        ]


def stays(path: Path, kind: MirrorKind, staged: tuple[str, str] | None) -> bool:
    """Whether a path that git takes for changed is as it was.

    That is a submodule that is not checked out, or a file that nobody touched, but whose line ends attributes
    would rewrite.
    """
    if staged is None:
        return False
    mode, oid = staged
    return (mode == GITLINK and kind != "file") or (kind == "file" and (mode, oid) == blob_of(path, len(oid)))


def own_index(index: Path) -> None:
    """A private index is ours alone: a lock on it was left by a process that was killed."""
    index.parent.mkdir(parents=True, exist_ok=True)
    index.with_name(index.name + ".lock").unlink(missing_ok=True)
