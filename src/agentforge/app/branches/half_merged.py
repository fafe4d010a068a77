"""A move of the person's checkout that was cut off: git died with some files already new.

Git moves the branch last. So while the branch is where it was, a file of the move that is byte for byte the
new one is ours, and goes back; whatever else differs is the person's, and stays.
"""

import contextlib
import json
import os
from pathlib import Path

from agentforge.store.layout import TaskFiles
from agentforge.system.files import write_atomic
from agentforge.system.git.personal import PersonalGit
from agentforge.system.unlinked import read_unlinked

_LINK, _SUBMODULE = "120000", "160000"


def begin_move(files: TaskFiles, before: str, after: str) -> None:
    """Puts on disk what is about to happen, before anything does."""
    write_atomic(files.merging, json.dumps({"before": before, "after": after}).encode())


def end_move(files: TaskFiles) -> None:
    """The checkout is whole again."""
    files.merging.unlink(missing_ok=True)


def undo_half_move(git: PersonalGit, files: TaskFiles) -> list[str]:
    """Puts back what a move that was cut off had written; returns those paths."""
    try:
        move = json.loads(read_unlinked(files.merging))
        before, after = str(move["before"]), str(move["after"])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        end_move(files)
        return []
    put_back: list[str] = []
    if git.text("rev-parse", "HEAD") == before:
        put_back = _put_back(git, before, after)
    end_move(files)
    return put_back


def _put_back(git: PersonalGit, before: str, after: str) -> list[str]:
    words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", before, after)
    fields = os.fsdecode(git.run(*words).out).split("\0")[:-1]
    old: list[str] = []
    new: list[str] = []
    for meta, path in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, _, oid_after, status = meta.lstrip(":").split()
        if {mode_before, mode_after} & {_LINK, _SUBMODULE} or not _is_as(
            git, path, "" if status == "D" else oid_after
        ):
            continue
        (new if status == "A" else old).append(path)
    if old:
        given = os.fsencode("".join(f"{path}\0" for path in old))
        git.run("checkout", "HEAD", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=given)
    for path in new:
        with contextlib.suppress(OSError):
            (git.top / path).unlink()
    return sorted((*old, *new))


def _is_as(git: PersonalGit, path: str, oid: str) -> bool:
    """Whether a file of the checkout is as the new commit has it: gone, or with the same content."""
    place: Path = git.top / path
    if place.is_symlink() or not oid:
        return not oid and not place.is_symlink() and not place.exists()
    if not place.is_file():
        return False
    return git.text("hash-object", f"--path={path}", "--", path) == oid
