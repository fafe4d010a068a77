"""Files under a root, reached without following one link: what a rule was asked about is what is read or
written.

`resolve_inside` says which real path a name means, and rules are asked about that path. Between the question
and the use somebody may put a link there. So every use opens exactly the real path, from a descriptor of the
root, and a link on the way is refused by the kernel: `openat2` where there is one, else a walk of directory
descriptors.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from agentforge.core.errors import ModelMistake

_OPENAT2 = 437
"""The number of the call, the same on every architecture that Python runs on."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Not blocking: a pipe in the tree must not hold us up before we see that it is one."""

Opener: TypeAlias = Callable[[int, str, int, int], int]
"""From a descriptor of the root, a path beneath it, flags and a mode to a descriptor. Follows no link, at any
place.
"""


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Content(NamedTuple):
    """What a file shall be. Without a mode a new file gets the usual one."""

    data: bytes
    mode: int | None = None


@cache
def by_kernel() -> Opener | None:
    """The kernel's own way to stay beneath a directory; None where it has none, or a filter refuses the
    call.
    """
    if not sys.platform.startswith("linux"):
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long

    def opener(top: int, relative: str, flags: int, mode: int) -> int:
        how = _How(
            flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
        )
        name = ctypes.c_char_p(os.fsencode(relative))
        found = int(
            call(
                ctypes.c_long(_OPENAT2),
                ctypes.c_int(top),
                name,
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
        )
        if found < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), relative)
        return found

    top = os.open("/", _DIRECTORY)
    try:
        os.close(opener(top, ".", _DIRECTORY, 0))
    except OSError:
        return None
    finally:
        os.close(top)
    return opener


def by_walking(top: int, relative: str, flags: int, mode: int) -> int:
    """The same in steps: one directory after the other, each opened from the one before, none of them by a
    link.
    """
    *folders, name = _parts(relative) or ["."]
    here = os.dup(top)
    try:
        for folder in folders:
            inner = os.open(folder, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=here)
    finally:
        os.close(here)


def open_beneath(root: Path, relative: str, flags: int, mode: int = 0o666) -> int:
    """A descriptor of the file at a real path under the root. A link anywhere on the way is a mistake of
    path.
    """
    top = os.open(os.path.realpath(root), _DIRECTORY)
    try:
        return _open_from(top, relative, flags, mode)
    finally:
        os.close(top)


def _open_from(top: int, relative: str, flags: int, mode: int = 0o666) -> int:
    try:
        return (by_kernel() or by_walking)(top, "/".join(_parts(relative)) or ".", flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EXDEV, errno.ENOTDIR):
            raise _refusal(
                relative, "goes through a link, or through a file as if it were a directory"
            ) from None
        raise


def read_beneath(root: Path, relative: str, limit: int) -> bytes:
    """The bytes of a regular file, at most `limit` and one more, by which the caller sees that there are
    more.
    """
    with reading_beneath(root) as read:
        return read(relative, limit)


@contextlib.contextmanager
def reading_beneath(root: Path) -> Iterator[Callable[[str, int], bytes]]:
    """`read_beneath` for many files of one root, which is opened once."""
    top = os.open(os.path.realpath(root), _DIRECTORY)
    try:
        yield partial(_read_from, top)
    finally:
        os.close(top)


def _read_from(top: int, relative: str, limit: int) -> bytes:
    fd = _open_from(top, relative, _READ)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ModelMistake("not_a_file", f"`{relative}` is not a regular file")
        found = bytearray()
        while len(found) <= limit and (piece := os.read(fd, limit + 1 - len(found))):
            found += piece
        return bytes(found)
    finally:
        os.close(fd)


def state_beneath(root: Path, relative: str) -> os.stat_result | None:
    """What lies at a real path, a link seen as a link; None if nothing does."""
    try:
        with _parent(root, relative) as (fd, name):
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def replace_beneath(root: Path, relative: str, content: Content) -> None:
    """Put a whole file at a real path; missing directories are made. A link that lies there is replaced,
    never followed.
    """
    make_folders(root, relative)
    staged = _stage(root, relative, content)
    try:
        move_beneath(root, staged, relative)
    except BaseException:
        _drop(root, staged)
        raise


def remove_beneath(root: Path, relative: str) -> None:
    """Remove one file, or a link itself."""
    with _parent(root, relative) as (fd, name):
        os.unlink(name, dir_fd=fd)


def move_beneath(root: Path, source: str, target: str) -> None:
    """Give a file another name under the same root."""
    with _parent(root, source) as (out, old), _parent(root, target) as (into, new):
        os.rename(old, new, src_dir_fd=out, dst_dir_fd=into)


def list_beneath(root: Path, relative: str) -> list[tuple[str, os.stat_result]]:
    """The entries of a directory with what they are, by name; links are seen as links."""
    fd = open_beneath(root, relative, _DIRECTORY)
    try:
        with os.scandir(fd) as entries:
            return sorted((entry.name, entry.stat(follow_symlinks=False)) for entry in entries)
    finally:
        os.close(fd)


def make_folders(root: Path, relative: str) -> list[str]:
    """Make the directories above a path that are not there; those made, outermost first."""
    made = []
    parts = _parts(relative)[:-1]
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        with _parent(root, folder) as (fd, name), contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
            made.append(folder)
    return made


def change_all(root: Path, removed: Collection[str], written: Mapping[str, Content]) -> None:
    """Remove files and write others: all of it, or none of it when anything fails on the way.

    New content is complete beside its place before the first old file moves, so that a full disk is met while
    nothing has changed; old files step aside under another name and come back if a later step fails.
    """
    with contextlib.ExitStack() as undo:
        staged = {}
        for path, content in written.items():
            for folder in make_folders(root, path):
                undo.callback(_drop_folder, root, folder)
            staged[path] = _stage(root, path, content)
            undo.callback(_drop, root, staged[path])
        aside = []
        for path in dict.fromkeys((*removed, *written)):
            if path in removed or state_beneath(root, path) is not None:
                place = _beside(path)
                move_beneath(root, path, place)
                undo.callback(move_beneath, root, place, path)
                aside.append(place)
        for path, place in staged.items():
            move_beneath(root, place, path)
            undo.callback(move_beneath, root, path, place)
        undo.pop_all()
    for place in aside:
        remove_beneath(root, place)


@contextlib.contextmanager
def _parent(root: Path, relative: str) -> Iterator[tuple[int, str]]:
    """The directory of a path, open, and the path's last name."""
    *folders, name = _parts(relative) or [""]
    if not name:
        raise _refusal(relative, "is the repository itself")
    fd = open_beneath(root, "/".join(folders), _DIRECTORY)
    try:
        yield fd, name
    finally:
        os.close(fd)


def _stage(root: Path, relative: str, content: Content) -> str:
    """The whole content under a passing name beside its place."""
    place = _beside(relative)
    fd = open_beneath(root, place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor is no path
            if content.mode is not None:
                os.fchmod(fd, content.mode)
            file.write(content.data)
    except BaseException:
        _drop(root, place)
        raise
    return place


def _beside(relative: str) -> str:
    folder, slash, _ = relative.rpartition("/")
    return f"{folder}{slash}.tmp-{secrets.token_hex(8)}"


def _drop(root: Path, relative: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        remove_beneath(root, relative)


def _drop_folder(root: Path, relative: str) -> None:
    # Somebody else may have put a file there by now: then it stays.
    with contextlib.suppress(OSError), _parent(root, relative) as (fd, name):
        os.rmdir(name, dir_fd=fd)


def _parts(relative: str) -> list[str]:
    """The names of a real path. What is not one has not passed `resolve_inside`, so it is refused here
    too.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if relative.startswith("/") or ".." in parts or "\0" in relative:
        raise _refusal(relative, "is not a plain path under the repository")
    return parts


def _refusal(path: str, problem: str) -> ModelMistake:
    shown = path if len(path) <= 200 else path[:200] + "…"
    return ModelMistake("path", f"the path {shown!r} {problem}")
