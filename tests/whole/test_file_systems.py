"""A repository on one disk and a home on another: a container's volume, a second disk, a home on the network."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.devices import other_device
from tests.whole.checkouts import FIX, PROJECT, USUAL, Person, make_repository, patch, review


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    with other_device(tmp_path) as elsewhere:
        monkeypatch.setenv("AGENTFORGE_HOME", str(elsewhere / "home"))
        someone = Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")
        someone.scripted(patch(*FIX), review())
        assert elsewhere.stat().st_dev != someone.checkout.stat().st_dev
        yield someone


def test_a_task_killed_and_continued_ends_well_with_repository_and_home_on_two_file_systems(
    person: Person,
) -> None:
    base = person.git("rev-parse", "HEAD")
    person.run_and_kill_at("worktree", *person._start())
    done = person.run("continue", "--json")
    assert done.code == 0, done.said
    assert person.changes(base, done.data["branch"]) == USUAL
    assert person.run("verify", person.only_task(), "--rerun").code == 0
    left = list((person.checkout / ".git/objects").rglob("tmp_*"))
    assert left == [], "what is written for the home is never half written in the repository"
