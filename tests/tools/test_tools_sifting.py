"""A search finds the same whichever program helps it, and if none does: to the byte."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.look.searching import search_codebase
from agentforge.tools.look.sifting import FEWEST, sift
from tests.fuzzing import tries

PIECES = [
    b"needle", b"Needle", b"NEEDLE\r\n", b"\n", b" ", b"a.b", b"a*b", b"-e", b"--", b"\xe2\x84\xaa", b"k", b"K",
    b"caf\xc3\xa9", b"\xff\xfe", b"\xef\xbb\xbf", b"n\x00e\x00", b"(", b"\\d", b"[x]", b"\t", b"\xc5\xbf", b"s",
]  # fmt: skip
WORDS = [
    "needle",
    "k",
    "s",
    "a.b",
    "a*b",
    "-e",
    "--",
    "(",
    "\\d",
    "[x]",
    "é",
    "café",
    "ee",
    "\t",
    "le\r",
    "\ufffd",
]
PATTERNS = [
    "needle",
    "n.+e",
    "need(le)?",
    "^needle$",
    "a\\.b",
    "k|K",
    "(?i)needle",
    "[",
    "a*",
    "\\[x\\]",
    "needle\\b",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many files of odd bytes and odd names; as many as make it worth asking."""
    top = tmp_path_factory.mktemp("sifted")
    for at in range(2 * FEWEST + 300):
        folder = top / f"d{at % 7}"
        folder.mkdir(exist_ok=True)
        pieces = [PIECES[(at * step + at // step) % len(PIECES)] for step in (1, 3, 5, 7)]
        content = b"".join(pieces) if at % 5 == 0 else b"hay\n" * (at % 4)
        (folder / (f"-f{at}.py" if at % 11 == 0 else f"f {at}.py")).write_bytes(content)
    (top / "d0" / os.fsdecode(b"caf\xe9.py")).write_bytes(b"needle\n")
    (top / "d1" / "link.py").symlink_to("/etc/passwd")
    return top


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Places to find programs in: one with each that is here, one with none, and one with a liar."""
    top = tmp_path_factory.mktemp("programs")
    (top / "none").mkdir()
    (top / "broken").mkdir()
    (top / "broken/rg").write_text("#!/bin/sh\nprintf 'no such file\\0'\nexit 2\n")
    (top / "broken/rg").chmod(0o755)
    found = {"none": str(top / "none"), "broken": str(top / "broken")}
    for name in ("rg", "grep"):
        here = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if here is not None:
            (top / name).mkdir()
            (top / name / name).symlink_to(here)
            found[name] = str(top / name)
    return found


def nothing(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("nothing was to run")


def found(tree: Path, path: str, args: dict[str, Json]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", path)
        try:
            return search_codebase(args, Workbench(tree, nothing)).text
        except ModelMistake as mistake:
            return mistake.text


@pytest.mark.slow
@tries(12)
@given(
    pattern=st.sampled_from(WORDS) | st.text("nedlkKs\u017fé.-*( \t", min_size=1, max_size=4),
    ignore_case=st.booleans(),
    most=st.sampled_from([1, 40, 200]),
)
@example(pattern="needle", ignore_case=True, most=40)
@example(pattern="k", ignore_case=True, most=200)
def test_literal_text_is_found_alike_with_every_program(
    tree: Path, programs: dict[str, str], pattern: str, ignore_case: bool, most: int
) -> None:
    args: dict[str, Json] = {"pattern": pattern, "ignore_case": ignore_case, "max": most, "context": most % 3}
    alone = found(tree, programs["none"], args)
    assert {name: found(tree, path, args) for name, path in programs.items()} == dict.fromkeys(
        programs, alone
    )


@pytest.mark.slow
@tries(4)
@given(pattern=st.sampled_from(PATTERNS), ignore_case=st.booleans())
@example(pattern="needle", ignore_case=False)
def test_a_pattern_is_found_alike_with_every_program(
    tree: Path, programs: dict[str, str], pattern: str, ignore_case: bool
) -> None:
    args: dict[str, Json] = {"pattern": pattern, "regex": True, "ignore_case": ignore_case}
    alone = found(tree, programs["none"], args)
    assert {name: found(tree, path, args) for name, path in programs.items()} == dict.fromkeys(
        programs, alone
    )


def test_files_are_left_out_only_by_a_program_of_the_user(
    tree: Path, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*.py") if path.is_file())
    for name in ("rg", "grep"):
        if name in programs:
            monkeypatch.setenv("PATH", programs[name])
            assert 0 < len(sift(tree, files, b"needle")) < len(files) / 4
    monkeypatch.setenv("PATH", f"{tree}/bin:bin")
    assert sift(tree, files, b"needle") == files, "none of the repository, and none that is not there"
