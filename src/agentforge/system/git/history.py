"""The last commits before a commit, and what each changed: the same for the same commit, wherever it is
read.
"""

import os
from typing import NamedTuple

from agentforge.system.git.repository import Git

ID_CHARS = 10
_FORMAT = "--format=%x01%H%x09%cs%x09%s"


class PastCommit(NamedTuple):
    """A commit of the past."""

    commit: str
    day: str
    subject: str
    paths: tuple[str, ...]


def recent_commits(git: Git, commit: str, most: int) -> list[PastCommit]:
    """At most so many commits, newest first, merges aside; none of a history that cannot be read."""
    words = ("log", "-z", _FORMAT, "--name-only", "--no-renames", "--no-merges", f"-n{most}", commit, "--")
    done = git.run(*words, work_tree=git.git_dir, check=False)
    blocks = done.out.split(b"\x01")[1:] if done.code == 0 else []
    return [_read(block) for block in blocks]


def _read(block: bytes) -> PastCommit:
    head, _, rest = block.partition(b"\0")
    whole, _, said = head.decode("utf-8", "replace").partition("\t")
    day, _, subject = said.partition("\t")
    paths = [os.fsdecode(name.strip(b"\n")) for name in rest.split(b"\0")]
    return PastCommit(whole[:ID_CHARS], day, subject, tuple(filter(None, paths)))
