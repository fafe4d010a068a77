"""One git repository: its commits, trees and refs, and worktrees of ours that mirror a tree.

Nothing here touches the user's checkout or index: trees come and go through private index files.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from agentforge.core.errors import PolicyError, Unusable, UsageError
from agentforge.system.bounded import MEBIBYTE, read_bounded
from agentforge.system.files import disk_errors
from agentforge.system.git.call import GitCall, failure
from agentforge.system.git.mirror import (
    GITLINK,
    has_crlf,
    is_excluded,
    kind_of,
    make_writable,
    own_index,
    parents_of,
    remove,
    stays,
)
from agentforge.system.git.objects import is_id
from agentforge.system.git.open import find
from agentforge.system.git.trees import mktree_input
from agentforge.system.unlinked import make_unlinked, open_unlinked

_OUR_REFS = ("refs/agentforge/", "refs/heads/agentforge/")
_NO_INDEX = "agentforge-no-index"
"""A file that is never there."""
_STALE_LOCK_S = 1.0
_DIFF = (
    "diff-tree",
    "-r",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=none",
)

T = TypeVar("T")


class TreeEntry(NamedTuple):
    """A file, link or submodule of a tree."""

    mode: str
    kind: str
    oid: str
    path: str


class Change(NamedTuple):
    """A path that differs between two trees: A added, M modified, D deleted, T type changed."""

    status: str
    path: str


class Lines(NamedTuple):
    """How many lines of a path differ; a binary file counts none."""

    added: int
    removed: int
    path: str


class Git(GitCall):
    """A git repository with a checkout, and every git operation that we use on it."""

    __slots__ = ()

    @classmethod
    def open(cls, path: Path) -> Self:
        """The repository whose checkout holds `path`, or a `UsageError` that says why it cannot be used."""
        found = find(path)
        return cls(top=found.top, git_dir=found.git_dir, own_dir=found.own_dir, config=found.config)

    def holding(self, *fds: int) -> Self:
        """The same repository, with files that every git process inherits (the task's lock)."""
        return replace(self, pass_fds=fds)

    # Commits and refs

    def head(self) -> str:
        """The commit that is checked out."""
        commit = self.find("HEAD^{commit}")
        if commit is None:
            raise UsageError(
                f"The repository at {self.top} has no commits yet.",
                'Make the first one with `git add --all` and `git commit -m "First commit"`, then try again.',
            )
        return commit.oid

    def resolve(self, rev: str) -> str:
        """The commit that a name, an abbreviation or an expression means."""
        commit = None if rev.startswith("-") or "\0" in rev else self.find(f"{rev}^{{commit}}")
        if commit is None:
            raise UsageError(
                f"`{rev}` is not a commit of the repository at {self.top}.",
                "`git log --oneline --all` lists what there is.",
            )
        return commit.oid

    def tree_of(self, commit: str) -> str:
        """The tree of a commit (or of a tree, itself)."""
        tree = self.find(f"{commit}^{{tree}}")
        if tree is None:
            raise Unusable(f"The tree of {commit} is not in the repository at {self.top}.")
        return tree.oid

    def is_dirty(self) -> bool:
        """Whether the user's checkout differs from its commit, new files included. Of a submodule only the
        commit is looked at: to look at its files, git would run the filters that its own settings name.
        """
        words = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
        return bool(self.run(*words).out)

    def commit_tree(
        self, tree: str, parents: Sequence[str], message: str, date: str, author: tuple[str, str]
    ) -> str:
        """A commit of a tree. The same arguments make the same id, on every machine."""
        name, email = author
        values = {"NAME": name, "EMAIL": email, "DATE": _stamp(date)}
        who = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in values.items()
        }
        above = [part for parent in parents for part in ("-p", parent)]
        return (
            self.run("commit-tree", tree, *above, "-F", "-", input=message.encode(), env=who)
            .out.decode()
            .strip()
        )

    def update_ref(self, ref: str, new: str, old: str | None = None) -> None:
        """Move a ref. With `old` only from there; an empty `old` means that it must not exist yet."""
        expected = () if old is None else (old or "0" * len(new),)
        self._change_ref(ref, "update-ref", "--no-deref", ref, new, *expected)

    def delete_ref(self, ref: str, old: str) -> None:
        """Remove a ref that is still at `old`."""
        self._change_ref(ref, "update-ref", "--no-deref", "-d", ref, old)

    def read_ref(self, ref: str) -> str | None:
        """What a full ref name points to."""
        completed = self.run("show-ref", "--verify", "--hash", "--", ref, check=False)
        return completed.out.decode().strip() if completed.code == 0 else None

    def refs(self, prefix: str) -> dict[str, str]:
        """Every ref at or below a prefix, with what it points to."""
        listed = os.fsdecode(
            self.run("for-each-ref", "--format=%(objectname) %(refname)", prefix.rstrip("/")).out
        )
        return {name: oid for oid, _, name in (line.partition(" ") for line in listed.splitlines())}

    def is_checked_out(self, ref: str) -> bool:
        """Whether a branch is what a checkout of the user's is on: moved, it would seem to undo itself."""
        return bool(self.text("for-each-ref", "--format=%(worktreepath)", ref))

    # Trees and blobs

    def read_blob(self, tree_or_commit: str, path: str, most: int | None = None) -> bytes | None:
        """The content of a file; None if there is no file of that name. One of more than `most` bytes is a
        `UsageError`.
        """
        name = f"{tree_or_commit}:{path}"
        if most is not None:
            size = self.run("cat-file", "-s", name, check=False).out.strip()
            if size.isdigit() and int(size) > most:
                raise UsageError(
                    f"{path} is larger than {most >> 20} MiB, as it is committed.", "Make it smaller."
                )
        found = self.find(name)
        return found.data if found is not None and found.kind == "blob" else None

    def hash_blob(self, data: bytes) -> str:
        """Store a file's content as it is, and name it."""
        return self.text("hash-object", "-w", "--no-filters", "--stdin", input=data)

    def subtree(self, tree: str, folder: str) -> str:
        """The tree of a folder; of no folder, the tree itself."""
        found = self.find(f"{tree}:{folder}") if folder else None
        return found.oid if found is not None else tree

    def ls_tree(self, tree: str) -> list[TreeEntry]:
        """Every file, link and submodule of a tree, with those of all its directories."""
        return list(self._lasting(("ls-tree", "-r", "-z", "--full-tree", tree), _entries, [tree]))

    def sizes(self, tree: str) -> dict[str, int]:
        """Bytes of every file of a tree, by path; read from the objects' headers."""
        return dict(self._lasting(("ls-tree", "-r", "-l", "-z", "--full-tree", tree), _sizes, [tree]))

    def overlay_tree(self, base_tree: str, changes: Mapping[str, tuple[str, str] | None]) -> str:
        """The tree that `base_tree` is with some paths set to (mode, blob) or, with None, removed."""
        self._require([entry[1] for entry in changes.values() if entry and entry[0] != GITLINK])
        null = "0" * len(base_tree)
        # Removals first: a file may make room for a directory of its name.
        ordered = sorted(changes.items(), key=lambda item: item[1] is not None)
        lines = [f"{mode} {oid}\t{path}\0" for path, entry in ordered for mode, oid in [entry or ("0", null)]]
        with tempfile.TemporaryDirectory(prefix="agentforge-") as scratch:
            index = Path(scratch, "index")
            self.run("read-tree", base_tree, index=index, work_tree=self.git_dir)
            if lines:
                given = os.fsencode("".join(lines))
                self.run(
                    "update-index",
                    "-z",
                    "--add",
                    "--replace",
                    "--index-info",
                    index=index,
                    work_tree=self.git_dir,
                    input=given,
                )
            # In a partial clone most blobs are elsewhere; the ones named here were looked up above.
            return self.text("write-tree", "--missing-ok", index=index, work_tree=self.git_dir)

    def make_tree(self, entries: Mapping[str, tuple[str, str]]) -> str:
        """A tree of (mode, id) by path, at least one, in one call; an entry with the mode of a tree is that
        whole tree.
        """
        given, oids = mktree_input(entries)
        written = self.text("mktree", "-z", "--batch", input=given).split()
        if written != oids:
            raise Unusable(
                f"`git mktree` wrote {written[-1:]} and not {oids[-1]} in the repository at {self.top}."
            )
        return oids[-1]

    # Differences: computed beside the checkout, so that its attributes have no say

    def diff_names(self, a: str, b: str) -> list[Change]:
        """The paths that differ; a rename is a removal and an addition."""
        return list(self._lasting((*_DIFF, "-z", "--name-status", a, b), _changes, [a, b]))

    def diff_patch(
        self, a: str, b: str, paths: Sequence[str] = (), *, as_text: bool = False, by_attributes: bool = False
    ) -> bytes:
        """A patch that `git apply` takes, binary files included. It depends on the two trees alone; with
        `by_attributes` it is as the checkout's attributes have it, which may call any file binary. With
        `as_text` no file counts as binary.
        """
        chosen = [f":(literal,top){path}" for path in paths]
        how = "--text" if as_text else "--binary"
        call = (*_DIFF, "-p", how, "--full-index", a, b, "--", *chosen)
        if by_attributes:
            return self.run(*call, work_tree=self.git_dir).out
        return self._lasting(call, bytes, [a, b])

    def diff_stat(self, a: str, b: str) -> str:
        """The familiar table with plus and minus signs."""
        return self._lasting((*_DIFF, "--stat=100,80", a, b), os.fsdecode, [a, b]).rstrip("\n")

    def numstat(self, a: str, b: str) -> list[Lines]:
        """Added and removed lines by path."""
        return list(self._lasting((*_DIFF, "-z", "--numstat", a, b), _counts, [a, b]))

    def _lasting(self, args: Sequence[str], read: Callable[[bytes], T], names: Sequence[str]) -> T:
        """What a call says that depends on nothing but these objects: asked once, if they are named by their
        ids.
        """

        def ask() -> tuple[T, int]:
            # Without an index there are no attributes, so that nothing hides a file from its reader.
            out = self.run(*args, work_tree=self.git_dir, index=self.git_dir / _NO_INDEX).out
            return read(out), 4 * len(out)  # names in lists of records are larger than their bytes

        return self.known.once(tuple(args), ask) if all(map(is_id, names)) else ask()[0]

    # Worktrees of ours

    def checkout_tree(
        self, tree: str, work_tree: Path, index: Path, exclude: Sequence[str] = (), *, again: bool = False
    ) -> None:
        """Make `work_tree` hold exactly `tree`, ignored files gone too; `.git` at its top and the paths in
        `exclude` stay.

        With `again`, the index was made for this tree, and only the files are looked at.
        """
        with disk_errors():
            work_tree.mkdir(parents=True, exist_ok=True)
            own_index(index)
        if (
            not again
            and self.run("read-tree", "--reset", tree, index=index, work_tree=work_tree, check=False).code
            != 0
        ):
            index.unlink(missing_ok=True)  # it may be broken; all that is in it is in the tree
            self.run("read-tree", "--reset", tree, index=index, work_tree=work_tree)
        others = self.run("ls-files", "-z", "--others", "--directory", index=index, work_tree=work_tree)
        with disk_errors():
            for path in _records(others.out):
                remove(work_tree, path.rstrip("/"), exclude)
        write = ("checkout-index", "--force", "--all", "--index", "--quiet")
        if self.run(*write, index=index, work_tree=work_tree, check=False).code != 0:
            make_writable(work_tree)
            self.run(*write, index=index, work_tree=work_tree)

    def write_tree(self, work_tree: Path, index: Path, exclude: Sequence[str] = ()) -> str:
        """Record what `work_tree` holds.

        New files count unless a `.gitignore` in the worktree names them; no ignore file of the user has a
        say. Repositories inside of the worktree are no part of it, and submodules keep their commit, checked
        out or not.
        """
        with disk_errors():
            own_index(index)
        listing = (
            "ls-files",
            "-z",
            "-t",
            "--modified",
            "--deleted",
            "--others",
            "--exclude-per-directory=.gitignore",
        )
        found = {
            record[2:]: record[0]
            for record in _records(self.run(*listing, index=index, work_tree=work_tree).out)
        }
        new = {path for path, tag in found.items() if tag == "?" and not path.endswith("/")}
        old = [
            path
            for path, tag in found.items()
            if tag != "?" and not any(parent in new for parent in parents_of(path))
        ]
        touched = [path for path in (*old, *sorted(new)) if not is_excluded(path, exclude)]
        self._update_index(touched, work_tree, index)
        return self.text("write-tree", index=index, work_tree=work_tree)

    def exclude_locally(self, *patterns: str) -> None:
        """Keep patterns out of the user's sight in this repository, without a change to any tracked file.
        A link in the way is read, as git does, and never written through.
        """
        path = self.git_dir.resolve() / "info" / "exclude"
        with disk_errors():
            try:
                content = read_bounded(path, MEBIBYTE)
            except OSError:
                content = b""
            missing = [pattern for pattern in patterns if pattern.encode() not in content.splitlines()]
            if not missing:
                return
            if path.is_symlink() or path.parent.is_symlink():
                lines = " and ".join(f"`{pattern}`" for pattern in missing)
                raise PolicyError(
                    f"{path} is a symbolic link, and AgentForge writes through none.",
                    f"Write {lines} into the file that it leads to, one to a line, or put a file there.",
                )
            make_unlinked(path.parent)
            fd = open_unlinked(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(fd, "ab") as file:
                file.write(b"\n" if content and not content.endswith(b"\n") else b"")
                file.writelines(f"{pattern}\n".encode() for pattern in missing)

    def _require(self, oids: Sequence[str]) -> None:
        if oids:
            found = self.text("cat-file", "--batch-check", input="\n".join(oids).encode() + b"\n")
            for line in found.splitlines():
                if line.endswith(" missing"):
                    raise Unusable(f"The object {line.split()[0]} is not in the repository at {self.top}.")

    def _change_ref(self, ref: str, *args: str) -> None:
        completed = self.run(*args, check=False)
        if completed.code != 0 and self._break_lock(ref):
            completed = self.run(*args, check=False)
        if completed.code != 0:
            raise failure(completed, args, self.git_dir)

    def _break_lock(self, ref: str) -> bool:
        """Remove the lock that a killed git left on a ref of ours. Nobody else writes those, and we hold the
        task's lock.
        """
        lock = self.git_dir / f"{ref}.lock"
        if (
            not ref.startswith(_OUR_REFS)
            or not lock.exists()
            or time.time() - lock.stat().st_mtime < _STALE_LOCK_S
        ):
            return False
        lock.unlink(missing_ok=True)
        return True

    def _update_index(self, touched: Sequence[str], work_tree: Path, index: Path) -> None:
        kinds = {path: kind_of(work_tree / path) for path in touched}
        if any(
            kind in ("missing", "directory") or (kind == "file" and has_crlf(work_tree / path))
            for path, kind in kinds.items()
        ):
            staged = self._staged(work_tree, index)
            kinds = {
                path: kind
                for path, kind in kinds.items()
                if not stays(work_tree / path, kind, staged.get(path))
            }
        if unknown := [path for path, kind in kinds.items() if kind == "special"]:
            self.run(
                "update-index",
                "-z",
                "--force-remove",
                "--stdin",
                index=index,
                work_tree=work_tree,
                input=_stdin(unknown),
            )
        if known := [path for path, kind in kinds.items() if kind != "special"]:
            update = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self.run(*update, index=index, work_tree=work_tree, input=_stdin(known))

    def _staged(self, work_tree: Path, index: Path) -> dict[str, tuple[str, str]]:
        """Mode and content of every path in an index."""
        records = _records(self.run("ls-files", "-z", "--stage", index=index, work_tree=work_tree).out)
        split = (record.partition("\t") for record in records)
        return {path: (meta.split()[0], meta.split()[1]) for meta, _, path in split}


def _entries(out: bytes) -> tuple[TreeEntry, ...]:
    rows = ((*meta.split(), path) for meta, _, path in (record.partition("\t") for record in _records(out)))
    return tuple(TreeEntry(mode, kind, oid, path) for mode, kind, oid, path in rows)


def _sizes(out: bytes) -> tuple[tuple[str, int], ...]:
    split = (
        (meta.split()[3], path) for meta, _, path in (record.partition("\t") for record in _records(out))
    )
    return tuple((path, int(size)) for size, path in split if size.isdigit())


def _changes(out: bytes) -> tuple[Change, ...]:
    records = _records(out)
    return tuple(Change(status[0], path) for status, path in zip(records[::2], records[1::2], strict=True))


def _counts(out: bytes) -> tuple[Lines, ...]:
    rows = (record.split("\t", 2) for record in _records(out))
    return tuple(Lines(_count(added), _count(removed), path) for added, removed, path in rows)


def _records(out: bytes) -> list[str]:
    return os.fsdecode(out).split("\0")[:-1]


def _stdin(paths: Iterable[str]) -> bytes:
    return os.fsencode("".join(f"{path}\0" for path in paths))


def _count(lines: str) -> int:
    return 0 if lines == "-" else int(lines)


def _stamp(date: str) -> str:
    when = datetime.fromisoformat(date)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return f"@{int(when.timestamp())} {when.strftime('%z')[:5]}"
