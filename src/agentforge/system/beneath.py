"""Files under a root, reached without following one link: what a rule was asked about is what is read or
written.

`resolve_inside` says which real path a name means, and rules are asked about that path. Between the question
and the use somebody may put a link there. So every use opens exactly the real path, from a descriptor of the
root, and a link on the way is refused by the kernel: `openat2` where there is one, else a walk of directory
descriptors.
"""

import contextlib
import errno
import os
import stat
import struct
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

from agentforge.core.errors import ModelMistake

_OPENAT2 = 437
"""The number of the call, the same on every architecture that Python runs on."""
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_HOW = "=QQQ"
"""How to open: flags, mode, what is refused; each a number of 64 bits."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Not blocking: a pipe in the tree must not hold us up before we see that it is one."""

_MOST_OPEN = 64
"""Directories that are held open at a time."""

Opener: TypeAlias = Callable[[int, str, int, int], int]
"""From a descriptor of the root, a path beneath it, flags and a mode to a descriptor. Follows no link, at any
place.
"""


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
    import ctypes  # noqa: PLC0415 - longer to load than most files to read

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long

    def opener(top: int, relative: str, flags: int, mode: int) -> int:
        how = struct.pack(
            _HOW,
            flags | os.O_CLOEXEC,
            mode if flags & os.O_CREAT else 0,
            _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH,
        )
        name = ctypes.c_char_p(os.fsencode(relative))
        found = int(
            call(
                ctypes.c_long(_OPENAT2),
                ctypes.c_int(top),
                name,
                ctypes.c_char_p(how),
                ctypes.c_size_t(len(how)),
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


class OpenRoot:
    """A root that is open, for many files of it: each directory is found and opened once, and all of them are
    closed together.
    """

    def __init__(self, root: Path) -> None:
        self._top = os.open(os.path.realpath(root), _DIRECTORY)
        self._folders: dict[str, int] = {}
        self._above: set[str] = set()
        """Those that are open, and those that lead to them."""

    def close(self) -> None:
        """Closes every directory that was opened."""
        self._forget_folders()
        os.close(self._top)

    def _forget_folders(self) -> None:
        for fd in self._folders.values():
            os.close(fd)
        self._folders.clear()
        self._above.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, relative: str, limit: int) -> bytes:
        """The bytes of a regular file, at most `limit` and one more, by which the caller sees that there are
        more.
        """
        fd = _open_from(self._top, relative, _READ)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ModelMistake("not_a_file", f"`{relative}` is not a regular file")
            found = bytearray()
            while len(found) <= limit and (piece := os.read(fd, limit + 1 - len(found))):
                found += piece
            return bytes(found)
        finally:
            os.close(fd)

    def state(self, relative: str) -> os.stat_result | None:
        """What lies at a real path, a link seen as a link; None if nothing does."""
        try:
            fd, name = self._parent(relative)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def remove(self, relative: str) -> None:
        """Remove one file, or a link itself."""
        fd, name = self._parent(relative)
        os.unlink(name, dir_fd=fd)

    def move(self, source: str, target: str) -> None:
        """Give a file another name."""
        out, old = self._parent(source)
        with _kept(out) as kept:  # opening the other directory may close it
            into, new = self._parent(target)
            os.rename(old, new, src_dir_fd=kept, dst_dir_fd=into)
        if source in self._above:  # a directory: its path means another place now
            self._forget_folders()

    def make_folders(self, relative: str) -> list[str]:
        """Make the directories above a path that are not there; those made, outermost first."""
        parts = _parts(relative)[:-1]
        if "/".join(parts) in self._folders:
            return []
        made = []
        for count in range(1, len(parts) + 1):
            folder = "/".join(parts[:count])
            fd, name = self._parent(folder)
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
                made.append(folder)
        return made

    def stage(self, relative: str, content: Content) -> str:
        """The whole content under a passing name beside its place."""
        place = _beside(relative)
        folder, name = self._parent(place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, 0o666, dir_fd=folder)
        try:
            with open(fd, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor is no path
                if content.mode is not None:
                    os.fchmod(fd, content.mode)
                rest = memoryview(content.data)
                while rest:
                    rest = rest[file.write(rest) :]
        except BaseException:
            self.drop(place)
            raise
        return place

    def drop(self, relative: str) -> None:
        """Remove a file of ours, if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            self.remove(relative)

    def drop_folder(self, relative: str) -> None:
        """Remove a directory that was made; where somebody else has put a file there by now, it stays."""
        with contextlib.suppress(OSError):
            fd, name = self._parent(relative)
            os.rmdir(name, dir_fd=fd)

    def _parent(self, relative: str) -> tuple[int, str]:
        """The directory of a path, open, and the path's last name."""
        *folders, name = _parts(relative) or [""]
        if not name:
            raise _refusal(relative, "is the repository itself")
        folder = "/".join(folders)
        if folder not in self._folders:
            if len(self._folders) >= _MOST_OPEN:
                self._forget_folders()
            self._folders[folder] = _open_from(self._top, folder, _DIRECTORY)
            self._above.update("/".join(folders[: count + 1]) for count in range(len(folders)))
        return self._folders[folder], name


@contextlib.contextmanager
def _kept(fd: int) -> Iterator[int]:
    """A copy of the descriptor, closed at the end of the block."""
    kept = os.dup(fd)
    try:
        yield kept
    finally:
        os.close(kept)


def read_beneath(root: Path, relative: str, limit: int) -> bytes:
    """`OpenRoot.read` for one file."""
    with OpenRoot(root) as opened:
        return opened.read(relative, limit)


def state_beneath(root: Path, relative: str) -> os.stat_result | None:
    """`OpenRoot.state` for one path."""
    with OpenRoot(root) as opened:
        return opened.state(relative)


def replace_beneath(root: Path, relative: str, content: Content) -> None:
    """Put a whole file at a real path; missing directories are made. A link that lies there is replaced,
    never followed.
    """
    with OpenRoot(root) as opened:
        opened.make_folders(relative)
        staged = opened.stage(relative, content)
        try:
            opened.move(staged, relative)
        except BaseException:
            opened.drop(staged)
            raise


def remove_beneath(root: Path, relative: str) -> None:
    """`OpenRoot.remove` for one path."""
    with OpenRoot(root) as opened:
        opened.remove(relative)


def move_beneath(root: Path, source: str, target: str) -> None:
    """`OpenRoot.move` for one file."""
    with OpenRoot(root) as opened:
        opened.move(source, target)


def make_folders(root: Path, relative: str) -> list[str]:
    """`OpenRoot.make_folders` for one path."""
    with OpenRoot(root) as opened:
        return opened.make_folders(relative)


def list_beneath(root: Path, relative: str) -> list[tuple[str, os.stat_result]]:
    """The entries of a directory with what they are, by name; links are seen as links."""
    fd = open_beneath(root, relative, _DIRECTORY)
    try:
        with os.scandir(fd) as entries:
            return sorted((entry.name, entry.stat(follow_symlinks=False)) for entry in entries)
    finally:
        os.close(fd)


def change_all(root: Path, removed: Collection[str], written: Mapping[str, Content]) -> None:
    """Remove files and write others: all of it, or none of it when anything fails on the way.

    New content is complete beside its place before the first old file moves, so that a full disk is met while
    nothing has changed; old files step aside under another name and come back if a later step fails.
    """
    with OpenRoot(root) as opened:
        with contextlib.ExitStack() as undo:
            staged = {}
            for path, content in written.items():
                for folder in opened.make_folders(path):
                    undo.callback(opened.drop_folder, folder)
                staged[path] = opened.stage(path, content)
                undo.callback(opened.drop, staged[path])
            aside = []
            for path in dict.fromkeys((*removed, *written)):
                if path in removed or opened.state(path) is not None:
                    place = _beside(path)
                    opened.move(path, place)
                    undo.callback(opened.move, place, path)
                    aside.append(place)
            for path, place in staged.items():
                opened.move(place, path)
                undo.callback(opened.move, path, place)
            undo.pop_all()
        for place in aside:
            opened.remove(place)


def _beside(relative: str) -> str:
    folder, slash, _ = relative.rpartition("/")
    return f"{folder}{slash}.tmp-{os.urandom(8).hex()}"


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
