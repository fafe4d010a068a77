"""The shop of the plays, and a home whose environments all tests of a session share."""

from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.whole.plays import SHOP, Play


@pytest.fixture(autouse=True)
def agentforge_home(home: Path, environments: Path) -> Path:
    """The person's own directory, empty but for the shared environments."""
    place = home / ".agentforge"
    place.mkdir()
    (place / "cache").symlink_to(environments)
    return place


@pytest.fixture
def play(tmp_path: Path, agentforge_home: Path) -> Play:
    return Play(Person(make_repository(tmp_path / "checkout", SHOP), tmp_path / "script.yaml"))
