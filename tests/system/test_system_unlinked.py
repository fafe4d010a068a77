"""Our own files are opened without following a link, whoever planted it and however late."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.core.errors import PolicyError
from agentforge.store.layout import TaskFiles
from agentforge.store.task.lock import DriverLock
from agentforge.store.task.pack import Pack
from agentforge.system import unlinked
from agentforge.system.files import create_exclusive, write_atomic
from agentforge.system.spill import Spill, write_text
from agentforge.system.unlinked import links_below, make_unlinked, open_unlinked, read_unlinked


def _lock(path: Path) -> None:
    with DriverLock(path):
        pass


def _pack(path: Path) -> None:
    with Pack(path) as pack:
        pack.put("text")


def _spill(path: Path) -> None:
    with Spill(path.parent) as spill:
        spill(1, b"text")


WRITERS: dict[str, Callable[[Path], object]] = {
    "lock": _lock,
    "pack": _pack,
    "atomic": lambda path: write_atomic(path, b"new"),
    "view": lambda path: write_atomic(path, b"new", durable=False),
    "exclusive": lambda path: create_exclusive(path, b"new"),
    "text": lambda path: write_text(path, ("new",)),
    "spill": _spill,
    "folder": lambda path: make_unlinked(path.parent),
}
FOLLOWS_LAST = ("lock", "pack")
"""These keep the file that is there; the others put a new one in its place."""


@pytest.fixture(params=["by the kernel", "by walking"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels without `openat2` are stood for by an answer of None."""
    if request.param == "by walking":
        monkeypatch.setattr(unlinked, "by_kernel", lambda: None)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", WRITERS)
def test_no_writer_follows_a_link_on_its_way(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "task").symlink_to(tmp_path / "victim")
    with pytest.raises(PolicyError, match="task is a symbolic link"):
        WRITERS[name](tmp_path / "task/file")
    with pytest.raises(PolicyError, match="task is a symbolic link"):
        WRITERS[name](tmp_path / "task/deeper/file")
    assert list((tmp_path / "victim").iterdir()) == []
    WRITERS[name](tmp_path / "mine/deeper/file")
    assert (tmp_path / "mine/deeper").is_dir()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", WRITERS)
def test_no_writer_changes_what_a_link_at_its_file_leads_to(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "file").symlink_to(tmp_path / "victim")
    if name in FOLLOWS_LAST:
        with pytest.raises(PolicyError, match="file is a symbolic link"):
            WRITERS[name](tmp_path / "file")
    else:
        WRITERS[name](tmp_path / "file")
    assert (tmp_path / "victim").read_bytes() == b"precious"


@pytest.mark.usefixtures("way")
def test_what_is_read_is_a_regular_file_at_its_own_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_unlinked(tmp_path / "file") == b"text"
    with pytest.raises(PolicyError, match="link is a symbolic link"):
        read_unlinked(tmp_path / "link")
    with pytest.raises(PolicyError, match="pipe is no regular file"):
        read_unlinked(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        read_unlinked(tmp_path / "nothing")
    with pytest.raises(NotADirectoryError):
        open_unlinked(tmp_path / "file/below", os.O_RDONLY)


def test_links_are_found_at_every_depth_and_not_entered(tmp_path: Path) -> None:
    root = TaskFiles(tmp_path / "tasks/one").snapshots
    root.mkdir(parents=True)
    assert list(links_below(tmp_path)) == []
    (root / "round").symlink_to(tmp_path)
    assert list(links_below(tmp_path)) == [root / "round"]
    assert list(links_below(root / "round")) == [root / "round"]
    assert list(links_below(tmp_path / "nothing")) == []


@pytest.mark.parametrize("name", ["lock", "pack"])
@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir])
def test_a_pipe_or_directory_in_the_place_of_our_file_is_refused_and_holds_nobody_up(
    tmp_path: Path, name: str, kind: Callable[[Path], None]
) -> None:
    kind(tmp_path / "file")
    with pytest.raises(PolicyError, match=r"/file is no regular file.*Move it away"):
        WRITERS[name](tmp_path / "file")
    with pytest.raises(PolicyError, match="is no regular file"):
        open_unlinked(tmp_path / "file", os.O_RDONLY)


def test_a_file_in_the_place_of_our_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "ours").write_text("")
    with pytest.raises(PolicyError, match=r"/ours is no directory.*Move it away"):
        write_atomic(tmp_path / "ours" / "config" / "settings.yaml", b"")
