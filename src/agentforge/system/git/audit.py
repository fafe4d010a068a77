"""Objects held against their names: git trusts what lies under a name, so a proof must not.

Ids are computed here from the content, and what a commit or a tree names is read from bytes that were
checked.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from agentforge.core.errors import Unusable
from agentforge.system.git.objects import GitObject
from agentforge.system.git.repository import Git

_SHA256_DIGITS = 64
_GITLINK, _TREE = b"160000", b"40000"
_MOST = 20


class CommitObject(NamedTuple):
    """What a commit says, read from its own bytes."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    message: str


@dataclass(slots=True)
class ObjectAudit:
    """Reads objects and remembers which are not what their names say."""

    git: Git
    problems: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def commit(self, oid: str) -> CommitObject | None:
        """A commit, without what it names; None if it is not there or another object lies under its name."""
        found = self._object(oid, "commit")
        return None if found is None else _parse(oid, found.data)

    def tree(self, oid: str) -> None:
        """A tree and everything below it."""
        waiting = [oid]
        while waiting and len(self.problems) < _MOST:
            name = waiting.pop()
            if name in self.seen:
                continue
            found = self._object(name, "tree")
            for mode, below in _entries(found.data, len(name)) if found else ():
                if mode == _TREE:
                    waiting.append(below)
                elif mode != _GITLINK and below not in self.seen:
                    self._object(below, "blob")

    def chain(self, tip: str, base: str, most: int = 10_000) -> list[CommitObject] | None:
        """The commits from `tip` down to `base` along first parents, both included; None if that way does not
        lead there.
        """
        found: list[CommitObject] = []
        name = tip
        while len(found) < most:
            commit = self.commit(name)
            if commit is None:
                return None
            found.append(commit)
            if name == base:
                return found
            if not commit.parents:
                return None
            name = commit.parents[0]
        return None

    def replaced(self) -> list[str]:
        """Refs and files that would make git show other objects than those that were looked at here."""
        refs = self.git.refs("refs/replace")
        found = [
            f"{ref} shows another object in its place" for ref in refs if ref.rpartition("/")[2] in self.seen
        ]
        try:
            grafts = (self.git.git_dir / "info/grafts").read_text("utf-8", "replace")
        except OSError:
            grafts = ""
        if any(word in self.seen for word in re.findall(r"[0-9a-f]{40,64}", grafts)):
            found.append(".git/info/grafts gives a commit other parents")
        return found

    def _object(self, oid: str, kind: str) -> GitObject | None:
        self.seen.add(oid)
        try:
            found = self.git.find(oid)
        except Unusable as error:
            self.problems.append(f"{kind} {oid[:12]} cannot be read: {error.sentence}")
            return None
        if found is None:
            self.problems.append(f"{kind} {oid[:12]} is not in this repository, or damaged")
            return None
        algorithm = "sha256" if len(oid) == _SHA256_DIGITS else "sha1"
        head = b"%s %d\0" % (found.kind.encode(), len(found.data))
        real = hashlib.new(algorithm, head + found.data, usedforsecurity=False).hexdigest()
        if real != oid or found.kind != kind:
            self.problems.append(f"{kind} {oid[:12]} is replaced: its content has the id {real[:12]}")
            return None
        return found


def _parse(oid: str, data: bytes) -> CommitObject:
    head, _, message = data.partition(b"\n\n")
    named = [line.split(b" ", 1) for line in head.split(b"\n") if b" " in line]
    trees = [value.decode("ascii", "replace") for key, value in named if key == b"tree"]
    parents = [value.decode("ascii", "replace") for key, value in named if key == b"parent"]
    return CommitObject(oid, trees[0] if trees else "", tuple(parents), message.decode("utf-8", "replace"))


def _entries(data: bytes, digits: int) -> Iterator[tuple[bytes, str]]:
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode = data[at:end].split(b" ", 1)[0]
        yield mode, data[end + 1 : end + 1 + digits // 2].hex()
        at = end + 1 + digits // 2
