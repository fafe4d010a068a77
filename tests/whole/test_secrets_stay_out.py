"""A whole task in a repository that is full of secrets: none is in what we keep, send or say."""

import base64
import json
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from tests.system.secret_shapes import BLOCKS, PLACED, TOKENS, pieces
from tests.whole.plays import SOURCE, Play, finished, patch, read, review, say

OWN = "Zq4-our-own-key-77x"
LEAKS = [*TOKENS.values(), *BLOCKS.values(), *(placed.line for placed in PLACED.values())]
NOISY = f"""\
import pytest

LEAKS = {LEAKS!r}


@pytest.mark.parametrize("value", LEAKS[:4])
def test_noise(value: str) -> None:
    print("\\n".join(LEAKS))
    assert len(value) > 3


def test_that_fails_and_tells() -> None:
    raise AssertionError("\\n".join(LEAKS))
"""


def _kept(folder: Path) -> bytes:
    """All that is in files below, packed or not."""
    found = b""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or "trees" in path.parts or "environments" in path.parts:
            continue
        data = path.read_bytes()
        found += path.name.encode() + b"\n" + data
        at = data.find(b"AFb1")
        while at >= 0:  # blocks of a pack
            with suppress(zlib.error):
                found += zlib.decompressobj().decompress(data[at + 48 :])
            at = data.find(b"AFb1", at + 1)
    return found


BACKEND = f"""\
import sys

LEAKS = {LEAKS!r}

print("\\n".join(LEAKS))
sys.stderr.write("\\n".join(LEAKS))
raise RuntimeError(" and ".join(LEAKS[:40]))
"""
BUILT_HERE = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "shop"
version = "1.0"
"""
SECRETS = [
    *map(pieces, [*TOKENS.values(), *BLOCKS.values()]),
    *(pieces(item.secret) for item in PLACED.values()),
]


def _left_in(text: str, shortest: int = 0) -> list[str]:
    """The pieces of secrets that a text holds."""
    return [part for parts in SECRETS for part in parts if part in text and len(part) >= shortest]


@pytest.mark.slow
def test_a_build_that_prints_secrets_leaves_none(play: Play, agentforge_home: Path) -> None:
    (play.top / "backend.py").write_text(BACKEND)
    (play.top / "pyproject.toml").write_text(BUILT_HERE)
    play.person.git("add", "-A")
    play.person.git("commit", "-qm", "a build that talks")
    play.person.scripted(patch())
    words = ("--lane", "hotfix", "--model", f"scripted:{play.person.script}")
    stopped = play.person.run("start", "net must take the discount off the price", *words)
    shown = play.person.run("escalations", "show", "ESC-001").said
    assert "Set-up failed" in shown
    assert "[REDACTED:" in shown
    assert not _left_in(stopped.said + shown)
    kept = (_kept(play.top / ".agentforge") + _kept(agentforge_home)).decode("utf-8", "replace")
    assert "LEAKS" in kept
    assert not _left_in(kept, shortest=9)  # a password of one word may be a word of the index of code


@pytest.mark.slow
def test_a_task_among_secrets_keeps_none(
    play: Play, agentforge_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OUR_SERVICE_TOKEN", OWN)
    own = base64.b64encode(OWN.encode()).decode()
    (play.top / "tests/test_noise.py").write_text(NOISY)
    (play.top / "NOTES.md").write_text("\n".join([*LEAKS, OWN, own]))
    play.person.git("add", "-A")
    play.person.git("commit", "-qm", "noise")
    play.person.scripted(
        say("patch", read("NOTES.md"), read("tests/test_noise.py"), expects=(r"\[REDACTED:",)),
        patch(),
        review(),
    )
    words = ("--lane", "hotfix", "--model", f"scripted:{play.person.script}", "--json")
    done = play.person.run("start", f"net must take the discount off the price {TOKENS['stripe']}", *words)
    finished(done)
    envelope, page = tmp_path / "envelope.json", tmp_path / "audit.html"
    said = {
        " ".join(command): play.person.run(*command)
        for command in (
            ["status"],
            ["report"],
            ["inspect"],
            ["cost"],
            ["verify"],
            ["logs"],
            ["audit", "--format", "json"],
            ["audit", "--format", "html", "--output", str(page)],
            ["report", "--envelope", str(envelope)],
        )
    }
    assert {name: each.code for name, each in said.items() if each.code} == {}
    shown = "".join(each.said for each in said.values())
    told = base64.b64decode(json.loads(envelope.read_text())["payload"]).decode()
    shown += page.read_text() + envelope.read_text() + told
    assert "test_ten_percent_off" in told or "in-toto" in told
    messages = play.person.git("log", "--all", "--format=%B")
    kept = (_kept(play.top / ".agentforge") + _kept(agentforge_home)).decode("utf-8", "replace")
    assert "test_that_fails_and_tells" in kept
    assert SOURCE in kept
    for where in (done.said, shown, messages, kept):
        assert not _left_in(where)
        assert OWN not in where
        assert own[:-2] not in where
