"""Environments and commits that all tests of a session share: a repository has its own, so each is given the same."""

import contextlib
import os
from pathlib import Path

from agentforge.store.layout import Home, TaskFiles
from agentforge.store.site import Site
from agentforge.store.user.start_permissions import StartPermissions, permissions_file, write_permissions

ENVIRONMENTS = "TESTS_ENVIRONMENTS"
"""The variable that says where the environments of this session are."""
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


def start_as_before(site: Site, files: TaskFiles) -> None:
    """A task that was copied to another path counts as started by this person: a copy that only came along
    would have to ask before it uses the model that its record names.
    """
    said = StartPermissions(marker=site.read(files).state.marker)
    write_permissions(permissions_file(site.home, site.git.top, files.task_id), said)
