"""What stands around a request; and files that are not what they seem, which end in their text or in nothing."""

import os
import threading
from pathlib import Path

import pytest

from agentforge.activities import surroundings
from agentforge.activities.surroundings import shown_text, still_meant
from agentforge.context.ranking import Focus
from agentforge.system.secrets.known import remember
from agentforge.tools.base import OpenedRange, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS
from agentforge.tools.look.source import MAX_BYTES


def test_a_file_of_two_gigabytes_is_not_read_and_said_in_one_line(tmp_path: Path) -> None:
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(2 << 30)
    assert shown_text(tmp_path, "big.py") is None
    bench = Workbench(tmp_path, lambda _ids: ToolResult(ok=True, text=""))
    said = TOOLS["read_file"].call({"path": "big.py"}, bench).text
    assert said == "`big.py` has 2,147,483,648 bytes: too large to read here."


def test_links_that_go_around_and_what_is_no_file_are_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path in ("one", "two", "one/a.py", "folder", "pipe", "missing", "missing/a.py", "x" * 5000):
        assert shown_text(tmp_path, path) is None, path


def test_a_file_that_changes_while_it_is_read_is_one_text_or_none(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text("x = 1\n")
    over = threading.Event()

    def rewrite() -> None:
        while not over.is_set():
            place.write_bytes(b"y = 2\n" * 50_000)
            place.unlink()
            place.write_bytes(b"x = 1\n")

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        found = [shown_text(tmp_path, "a.py") for _ in range(200)]
    finally:
        over.set()
        thread.join()
    assert all(text is None or len(text) <= MAX_BYTES for text in found)


def test_a_file_that_was_just_read_and_looks_the_same_is_read_again_until_it_has_settled(
    tmp_path: Path,
) -> None:
    place = tmp_path / "a.py"
    for number in range(50):
        place.write_text(f"x = {number:02d}\n")
        os.utime(place, (1, 1))
        assert shown_text(tmp_path, "a.py") == f"x = {number:02d}\n"


def test_a_file_that_is_remembered_is_shown_as_it_is_once_it_changes_or_a_key_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "_SETTLED_NS", -(10**12))
    place = tmp_path / "a.py"
    place.write_text("key = 'violet-harbour-lantern'\n")
    first = shown_text(tmp_path, "a.py")
    assert first is not None
    assert shown_text(tmp_path, "a.py") is first
    remember("violet-harbour-lantern")
    assert shown_text(tmp_path, "a.py") == "key = '[REDACTED:key]'\n"
    place.write_text("key = 1\n")
    assert shown_text(tmp_path, "a.py") == "key = 1\n"
    place.unlink()
    assert shown_text(tmp_path, "a.py") is None


def test_once_files_are_named_other_guesses_are_left_out_and_what_the_request_says_stays() -> None:
    paths = ("a.py", "guess.py", "said.py", "named.py", "tests/test_a.py")
    places = [OpenedRange(path, 1, 9) for path in paths]
    focus = Focus("request", ("said.py",), ("named.py::f",))
    left = still_meant(places, ("a.py",), focus)
    assert [place.path for place in left] == ["a.py", "said.py", "named.py", "tests/test_a.py"]
    assert still_meant(places, ("tests/test_a.py",), focus) == places
