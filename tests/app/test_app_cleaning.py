"""What is removed of environments, in which order, and what a killed cleaning leaves."""

import os
import signal
from pathlib import Path

import pytest

from agentforge.app.branches import cleaning
from agentforge.app.branches.cleaning import MEGABYTE, Cleaning, clean, clean_if_needed
from agentforge.store.layout import Home
from agentforge.system.holds import Hold

DAY = 86_400


@pytest.fixture
def own(home: Path) -> Home:
    """Three environments of a megabyte each, used one, two and three days after a day long gone."""
    found = Home(home / ".agentforge")
    for number, name in enumerate(("newest", "older", "oldest")):
        place = found.all_environments / "shop-0123456789" / name
        place.mkdir(parents=True)
        (place / "lib").write_bytes(b"x" * MEGABYTE)
        (place / ".ready").write_text("{}", encoding="utf-8")
        os.utime(place, (1e9 - number * DAY,) * 2)
    return found


def limit(own: Home, megabytes: int) -> None:
    config = own.path / "config.yaml"
    config.write_text(f"keep: {{environments_mb: {megabytes}}}\n", encoding="utf-8")
    config.chmod(0o600)


def names(own: Home) -> set[str]:
    return {place.name for place in (own.all_environments / "shop-0123456789").iterdir() if place.is_dir()}


def removed(done: Cleaning) -> list[str]:
    return [each.path.name for each in done.removed]


def test_within_the_limits_nothing_goes(own: Home) -> None:
    assert removed(clean(own)) == []
    assert names(own) == {"newest", "older", "oldest"}


def test_the_least_recently_used_goes_first_and_a_dry_run_removes_nothing(own: Home) -> None:
    limit(own, 2)
    for _ in range(2):  # to look is not to use
        assert removed(clean(own, dry_run=True)) == ["oldest", "older"]
    assert names(own) == {"newest", "older", "oldest"}
    Hold(own.all_environments / "shop-0123456789" / "oldest").close()
    done = clean(own)
    assert removed(done) == ["older", "newest"]
    assert done.bytes > 2 * MEGABYTE
    assert names(own) == {"oldest"}


def test_what_a_process_uses_stays_and_what_a_crash_left_goes_first(own: Home) -> None:
    (own.all_environments / "shop-0123456789" / "newest" / ".ready").unlink()
    with Hold(own.all_environments / "shop-0123456789" / "oldest"):
        done = clean(own, everything=True)
    assert removed(done) == ["newest", "older"]
    assert [(each.path.name, each.reason) for each in done.held] == [("oldest", "in_use")]


def test_killed_in_the_middle_it_leaves_no_half_environment_and_the_next_one_ends_it(own: Home) -> None:
    child = os.fork()
    if child == 0:
        vars(cleaning)["remove_tree"] = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # the moment of death
        clean(own, everything=True)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert names(own) == {"newest", "older"}
    (left,) = own.removed.iterdir()
    assert (left / ".ready").exists()
    clean(own)
    assert [*own.removed.iterdir()] == []
    assert names(own) == {"newest", "older"}


def test_after_a_task_only_what_grew_is_measured(own: Home) -> None:
    limit(own, 2)
    assert clean_if_needed(own) > MEGABYTE
    assert names(own) == {"newest"}
    limit(own, 0)
    assert clean_if_needed(own) == 0  # no environment was made since
    (own.all_environments / "shop-0123456789" / "newest" / ".ready").touch()
    assert clean_if_needed(own) > MEGABYTE


def test_a_linked_cache_is_not_followed(own: Home, tmp_path: Path) -> None:
    own.cache.rename(tmp_path / "elsewhere")
    own.cache.symlink_to(tmp_path / "elsewhere")
    assert removed(clean(own, everything=True)) == []
    assert names(own) == {"newest", "older", "oldest"}
