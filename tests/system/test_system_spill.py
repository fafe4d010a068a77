"""Output of any length: whole on disk up to a limit, without secrets, and never in our memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.system.processes import run
from agentforge.system.spill import Spill, write_text
from tests.depth import SOAK

MUCH = """
import json, os, resource, sys
from pathlib import Path
from agentforge.system.processes import run
from agentforge.system.spill import Spill, write_text

place = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with Spill(place, 4_000_000) as spill:
    line = "a line of output that goes on and on"
    argv = ["/bin/sh", "-c", f"yes '{line}' | head -c {sys.argv[2]}; echo end >&2"]
    done = run(argv, cwd=place, env={"PATH": os.defpath}, timeout_s=300, output_limit=100_000, tee=spill)
    write_text(place / "whole.txt", spill.text())
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps({"grown_kb": grown, "total": spill.total, "out": len(done.out), "code": done.code}))
"""


def spilled(spill: Spill) -> str:
    return "".join(spill.text())


def test_both_streams_are_kept_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    seen: list[tuple[int, bytes]] = []
    with Spill(tmp_path) as spill:

        def tee(stream: int, data: bytes) -> None:
            seen.append((stream, data))
            spill(stream, data)

        script = "echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three"
        done = run(["/bin/sh", "-c", script], cwd=tmp_path, env={"PATH": os.defpath}, timeout_s=10, tee=tee)
        assert spilled(spill) == "one\ntwo\nthree\n"
    assert (done.out, done.err) == (b"one\nthree\n", b"two\n")
    assert [stream for stream, _ in seen] == [1, 2, 1]
    assert list(tmp_path.iterdir()) == []


def test_beyond_its_limit_a_last_line_says_how_much_is_missing(tmp_path: Path) -> None:
    with Spill(tmp_path, limit=10) as spill:
        spill(1, b"0123456")
        spill(1, b"789abc")
        spill(2, b"def")
        assert spilled(spill) == "0123456789\n[6 more bytes were not kept]\n"
        assert spill.total == 16


def test_what_is_no_text_and_a_character_in_two_pieces_do_no_harm(tmp_path: Path) -> None:
    with Spill(tmp_path) as spill:
        for piece in (b"\xff\xfe", "ü".encode()[:1], "ü".encode()[1:]):
            spill(1, piece)
        assert spilled(spill) == "\ufffd\ufffdü"
    with Spill(tmp_path) as empty:
        assert spilled(empty) == ""


def test_a_file_takes_the_place_of_a_link_and_is_the_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("as it was")
    (tmp_path / "out.txt").symlink_to("elsewhere")
    write_text(tmp_path / "out.txt", iter(["new ", "text"]))
    assert (tmp_path / "out.txt").read_text() == "new text"
    assert (tmp_path / "elsewhere").read_text() == "as it was"
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_output_without_end_does_not_grow_our_memory(tmp_path: Path) -> None:
    size = 1_000_000_000 if SOAK else 200_000_000
    done = subprocess.run(
        [sys.executable, "-c", MUCH, str(tmp_path), str(size)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["code"] == 0
    assert found["total"] == size + len("end\n")
    assert found["grown_kb"] < 60_000
    assert (tmp_path / "whole.txt").stat().st_size < 4_100_000
