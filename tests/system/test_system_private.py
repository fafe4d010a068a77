"""What is the user's own stays so, whatever the umask, and however a directory was left."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.system.files import create_exclusive, make_own_directory, write_atomic


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_in_a_private_directory_is_private(tmp_path: Path) -> None:
    own = tmp_path / "own"
    make_own_directory(own)
    write_atomic(own / "deep/er/file", b"x")
    create_exclusive(own / "deep/other", b"x")
    assert {_mode(own), _mode(own / "deep"), _mode(own / "deep/er")} == {0o700}
    assert {_mode(own / "deep/er/file"), _mode(own / "deep/other")} == {0o600}


def test_in_a_shared_checkout_files_follow_the_umask(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    os.umask(0o002)
    write_atomic(tmp_path / "made/file", b"x")
    assert (_mode(tmp_path / "made"), _mode(tmp_path / "made/file")) == (0o775, 0o664)


def test_a_directory_that_was_left_open_is_closed_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "own").symlink_to(tmp_path / "real")
    make_own_directory(tmp_path / "own")
    assert _mode(tmp_path / "real") == 0o700


def test_a_directory_of_everybody_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    with pytest.raises(UsageError, match="is shared with others") as caught:
        make_own_directory(tmp_path / "shared")
    assert "AGENTFORGE_HOME" in caught.value.next_step
    assert _mode(tmp_path / "shared") == 0o1777
