"""Files that are whole or not there, disks that fail in one sentence, and paths that stay inside their
root.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from agentforge.core.errors import Exhausted, ModelMistake, Unusable, UsageError
from agentforge.system.unlinked import folder_unlinked, is_private

_AGAIN = "and try again"
_DISK = {
    errno.ENOSPC: ("The disk is full", f"Free some space, {_AGAIN}."),
    errno.EDQUOT: ("The disk quota is used up", f"Free some space, {_AGAIN}."),
    errno.EMFILE: (
        "This process may not open more files",
        f"Raise the limit, for example with `ulimit -n 1024`, {_AGAIN}.",
    ),
    errno.ENFILE: ("The system cannot open more files", f"End programs that you do not need, {_AGAIN}."),
    errno.ENOMEM: ("The memory is used up", f"End programs that you do not need, {_AGAIN}."),
    errno.EFBIG: ("A file is larger than the system allows", f"Raise the limit on file sizes, {_AGAIN}."),
    errno.EROFS: ("The disk is read-only", f"Make it writable, {_AGAIN}."),
    errno.EACCES: ("Permission was denied", f"Give yourself access, {_AGAIN}."),
    errno.EPERM: ("The system refused an operation on a file", f"Give yourself access, {_AGAIN}."),
    errno.EIO: ("The disk failed", f"Check the disk, {_AGAIN}."),
}
_NO_MORE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Those that say nothing about what was being done."""
_ROOM = 64 * 1024
"""Bytes that must be free where programs work; with fewer, what they report may be about the disk alone."""
_MAX_LINKS = 40
# Characters that some file systems ignore in names, so that `.g<U+200C>it` opens `.git`.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


@contextlib.contextmanager
def disk_errors(about: Path | None = None) -> Iterator[None]:
    """Turn what a disk can do wrong into `Unusable`, which names what it is about; every other `OSError`
    passes.
    """
    try:
        yield
    except OSError as error:
        if about is not None:
            error.filename = str(about)
        trouble = disk_trouble(error)
        if trouble is None:
            raise
        raise trouble from error


def disk_trouble(error: OSError | str) -> Unusable | None:
    """The trouble with a disk that an error, or what a program said about one, tells of."""
    for number, (sentence, next_step) in _DISK.items():
        if isinstance(error, str):
            if os.strerror(number) in error:
                return _kind(number)(f"{sentence}: {error.strip().rstrip('.')}.", next_step)
        elif error.errno == number:
            where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
            return _kind(number)(f"{sentence}{where}.", next_step)
    return None


def _kind(number: int) -> type[Unusable]:
    return Exhausted if number in _NO_MORE else Unusable


def exhausted(error: OSError | str) -> Exhausted | None:
    """What the machine has no more of, if an error, or what a program said about one, tells of that."""
    trouble = disk_trouble(error)
    return trouble if isinstance(trouble, Exhausted) else None


def full_disk(place: Path) -> Exhausted | None:
    """That the disk at a place has no room left. Programs have words of their own for it, or none."""
    try:
        found = os.statvfs(place)
    except OSError:
        return None
    if not found.f_blocks or found.f_bavail * found.f_frsize >= _ROOM:
        return None
    return exhausted(OSError(errno.ENOSPC, "", str(place)))


def make_own_directory(path: Path, mode: int = 0o700) -> None:
    """A directory below the user's own one, with those above it, private whatever the umask and however it
    was left; one that cannot be made, or is not the user's alone, is said in one sentence.
    """
    try:
        for missing in [each for each in reversed((path, *path.parents)) if not each.exists()]:
            missing.mkdir(mode=mode, exist_ok=True)
        path.mkdir(mode=mode, exist_ok=True)
        _make_private(path, mode)
    except OSError as error:
        raise disk_trouble(error) or UsageError(
            f"{path} cannot be made: {(error.strerror or str(error)).lower()}.",
            "Set AGENTFORGE_HOME to a directory of your own.",
        ) from error


def _make_private(path: Path, mode: int) -> None:
    """Takes from others what they may do in a directory that was there. A shared one stays as it is."""
    found = path.stat()
    if not found.st_mode & 0o077:
        return
    if found.st_uid != os.getuid() or found.st_mode & stat.S_ISVTX:
        raise UsageError(
            f"{path} is shared with others, and what is kept there must be private.",
            "Set AGENTFORGE_HOME to a directory of your own.",
        )
    path.chmod(mode)


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put `data` at `path`: after a crash at any moment the old content or the new is there, never a part of
    it. Missing directories are made; a link on the way is refused.
    """
    with disk_errors(path), folder_unlinked(path.parent, make=True) as folder:
        temporary = _write_beside(folder, data, durable=durable)
        try:
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            _remove(folder, temporary)
            raise
        if durable:
            os.fsync(folder)


def claim_directory(path: Path) -> bool:
    """Make a directory that is not there yet; False if it is, also if another process was quicker."""
    with disk_errors(path), folder_unlinked(path.parent, make=True) as folder:
        try:
            os.mkdir(path.name, dir_fd=folder)
        except FileExistsError:
            return False
    return True


def create_exclusive(path: Path, data: bytes) -> bool:
    """Create `path` with all of `data`; False if it exists already. A link on the way is refused."""
    with disk_errors(path), folder_unlinked(path.parent, make=True) as folder:
        if path.is_symlink() or path.exists():
            return False
        temporary = _write_beside(folder, data)
        try:
            os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            return False
        finally:
            _remove(folder, temporary)
        os.fsync(folder)
        return True


def append_durable(fd: int, data: bytes) -> None:
    """Write all of `data` and have it on the disk, or raise; what a failed call leaves behind has to be cut
    by its reader.
    """
    with disk_errors():
        _write_all(fd, data)
        os.fsync(fd)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _relative_form(root: Path, given: str) -> str:
    """How to write an absolute path that means a file of the repository; empty if it means none."""
    rest = given.removeprefix(os.path.realpath(root)).strip("/")
    inside = rest and ".." not in rest.split("/") and os.path.lexists(Path(root, rest))
    return f"; write it as {rest!r}" if inside else ""


def resolve_inside(root: Path, relative: str) -> Path:
    """The real path of a repository-relative one. What leaves `root`, by `..` or by a link, or enters `.git`,
    is a model's mistake.
    """
    if "\0" in relative:
        raise _refusal(relative, "holds a NUL character")
    if relative.startswith(("/", "~")):
        raise _refusal(relative, f"is not relative to the repository{_relative_form(root, relative)}")
    real_root = os.path.realpath(root)
    waiting = relative.split("/")[::-1]
    found: list[str] = []
    links = 0
    while waiting:
        _descend(found, waiting.pop(), relative)
        target = _link_target(Path(real_root, *found), relative)
        if target is None:
            continue
        links += 1
        if links > _MAX_LINKS:
            raise _refusal(relative, "goes around in links")
        found.pop()
        if target.startswith("/"):
            target = _below(real_root, target, relative)
            found.clear()
        waiting.extend(target.split("/")[::-1])
    return Path(real_root, *found)


def relative_to(root: Path, path: Path) -> str:
    """The path as seen from `root`, with forward slashes."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    real = Path(os.path.realpath(root))
    if path.is_relative_to(real):
        return path.relative_to(real).as_posix()
    raise _refusal(str(path), "is not inside of the repository")


def _descend(found: list[str], part: str, relative: str) -> None:
    """Opens one component of a path."""
    if part == "..":
        if not found:
            raise _refusal(relative, "leads outside of the repository")
        found.pop()
    elif part not in ("", "."):
        if _is_git(part):
            raise _refusal(relative, "leads into `.git`")
        found.append(part)


def _link_target(path: Path, relative: str) -> str | None:
    """Where the link at a path points; None if it is no link, or nothing."""
    try:
        return str(path.readlink()) if stat.S_ISLNK(path.lstat().st_mode) else None
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise _refusal(relative, "goes through a file as if it were a directory") from None
    except (OSError, UnicodeEncodeError):
        raise _refusal(relative, "cannot be a path here") from None


def _below(root: str, target: str, relative: str) -> str:
    """An absolute link's target as seen from the root. It may name the root only by its real path."""
    if target == root or target.startswith(root.rstrip("/") + "/"):
        return target[len(root) :]
    raise _refusal(relative, "is a link that leads outside of the repository")


def _is_git(part: str) -> bool:
    name = _IGNORED.sub("", part).casefold().split(":")[0].rstrip(" .")
    return name in (".git", "git~1")


def _refusal(path: str, problem: str) -> ModelMistake:
    shown = path if len(path) <= 200 else path[:200] + "…"
    return ModelMistake("path", f"the path {shown!r} {problem}")


def _write_beside(folder: int, data: bytes, *, durable: bool = True) -> str:
    """A complete file in a directory, on the disk if it is to be durable, ready to take its name."""
    temporary = f".tmp-{os.urandom(8).hex()}"
    try:
        mode = 0o600 if is_private(folder) else 0o666
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=folder)
        try:
            _write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        _remove(folder, temporary)
        raise
    return temporary


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
