"""The log of effects: whole lines of JSON, private, rotated, without secrets, and in nobody's way."""

import json
import stat
import threading
from pathlib import Path

import pytest

from agentforge.store.user.effect_log import NAME, EffectLog


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def test_lines_are_private_json_without_secrets(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    with EffectLog(folder) as log:
        log.add({"key": "ask/1", "seconds": 0.25, "detail": "Bearer ghp_" + "a1B2" * 9, "tokens": 7})
    (found,) = lines(folder)
    assert found["seconds"] == 0.25
    assert list(found) == ["key", "seconds", "detail", "tokens"]
    assert "ghp_" not in str(found)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600


def test_a_full_file_is_put_aside_and_the_oldest_one_goes(tmp_path: Path) -> None:
    for number in range(40):
        with EffectLog(tmp_path / "logs", largest=200, kept=2) as log:
            log.add({"number": number, "text": "x" * 50})
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert names == [NAME, f"{NAME}.1", f"{NAME}.2"]
    assert all(path.stat().st_size <= 200 for path in (tmp_path / "logs").iterdir())
    kept = sorted(int(str(line["number"])) for line in lines(tmp_path / "logs"))
    assert kept == list(range(40 - len(kept), 40)), "the newest, without a gap"


def test_several_writers_lose_no_line_while_files_are_put_aside(tmp_path: Path) -> None:
    folder = tmp_path / "logs"

    def write(writer: int) -> None:
        for number in range(50):
            with EffectLog(folder, largest=2000, kept=50) as log:
                log.add({"writer": writer, "number": number})

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(lines(folder)) == 200
    assert len({(line["writer"], line["number"]) for line in lines(folder)}) == 200


def test_a_place_that_cannot_be_written_is_nobodys_trouble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file")
    with EffectLog(tmp_path / "logs") as log:
        log.add({"key": "a"})
    (tmp_path / "link").symlink_to(tmp_path)
    with EffectLog(tmp_path / "link" / "logs2") as log:
        log.add({"key": "a"})
    (tmp_path / "ours").mkdir(mode=0o700)
    (tmp_path / "ours" / NAME).symlink_to(tmp_path / "elsewhere")
    with EffectLog(tmp_path / "ours") as log:
        log.add({"key": "a"})
    assert not (tmp_path / "elsewhere").exists()
    assert capsys.readouterr() == ("", "")
