"""Environments and commits that all tests of a session share: a repository has its own, so each is given the same."""

import contextlib
import os
from pathlib import Path

from agentforge.store.layout import Home

SAME_DATE = {f"GIT_{role}_DATE": "2026-01-02T03:04:05Z" for role in ("AUTHOR", "COMMITTER")}
"""The same files are the same commit in every test: the outcomes of its suite are kept with the environment."""


def share_environments(home: Path, repository: Path) -> None:
    """Of the cache that homes share, what was built for one repository is there for this one, too."""
    place = Home(home).environments(repository)
    (place.parent / "shared").mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        place.symlink_to("shared")


def share_here(repository: Path) -> None:
    """The same for the home of the test, where it is one that shares."""
    home = Path(os.environ["AGENTFORGE_HOME"])
    if (home / "cache").is_symlink():
        share_environments(home, repository)
