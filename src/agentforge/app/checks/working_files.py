"""The files of a checkout as checks see them: what git tracks or would track, as it is on the disk, in the
index, or in a commit.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentforge.gates.conformance.contents import content, is_wanted, tree_contents
from agentforge.system.bounded import read_bounded
from agentforge.system.git.repository import Git

_LINKS = frozenset({"120000", "160000"})
MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Some version of the files: the name of each one's content, and how to read it."""

    git: Git
    contents: Mapping[str, str]
    """Path to the id that git has, or would have, for the content."""
    on_disk: bool

    def load(self, path: str) -> bytes | None:
        """The content of a file; None if it is gone, or too long to be code."""
        if self.on_disk:
            return _from_disk(self.git.top / path)
        return content(self.git, self.contents[path])


def files_of_commit(git: Git, commit: str) -> FileVersion:
    """The files of a commit."""
    return FileVersion(git, tree_contents(git, git.tree_of(commit)), on_disk=False)


def staged_files(git: Git) -> FileVersion:
    """The files of the index, as `git commit` would record them now."""
    return FileVersion(git, _staged(git), on_disk=False)


def working_files(git: Git) -> FileVersion:
    """As they are on the disk. What git knows to be unchanged is not read again."""
    known = _staged(git)
    changed = _names(git, "diff-files", "-z", "--name-only", "--ignore-submodules")
    new = [
        path for path in _names(git, "ls-files", "-z", "--others", "--exclude-standard") if is_wanted(path)
    ]
    for path in dict.fromkeys((*changed, *new)):
        if path in known or path in new:
            data = _from_disk(git.top / path)
            if data is None:
                known.pop(path, None)
            else:
                known[path] = _blob_id(data, git)
    return FileVersion(git, known, on_disk=True)


def listed_files(git: Git) -> list[str]:
    """Every file that git tracks or would track, whatever it is."""
    return _names(git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def _staged(git: Git) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in _names(git, "ls-files", "-z", "--stage"):
        mode, oid, rest = record.split(" ", 2)
        stage, _, path = rest.partition("\t")
        if mode not in _LINKS and stage in ("0", "2") and is_wanted(path):
            found[path] = oid
    return found


def _names(git: Git, *words: str) -> list[str]:
    return [name for name in os.fsdecode(git.run(*words).out).split("\0") if name]


def _from_disk(path: Path) -> bytes | None:
    try:
        return read_bounded(path, MOST_BYTES, follow=False)
    except OSError:  # gone, a link, a directory, or far too long
        return None


def _blob_id(data: bytes, git: Git) -> str:
    make = hashlib.sha256 if len(git.head()) == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data).hexdigest()
