"""The shop of the plays, and one place for environments that all tests of a session share."""

import os
from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.whole.plays import SHOP, Play


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each set of packages is installed once per session, whichever worker needs it first."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "environments"
    place.mkdir(exist_ok=True)
    return place


@pytest.fixture
def agentforge_home(home: Path, environments: Path) -> Path:
    """The person's own directory, empty but for the shared environments."""
    place = home / ".agentforge"
    place.mkdir()
    (place / "cache").symlink_to(environments)
    return place


@pytest.fixture
def play(tmp_path: Path, agentforge_home: Path) -> Play:
    return Play(Person(make_repository(tmp_path / "checkout", SHOP), tmp_path / "script.yaml"))
