"""Which of many files can hold a text, asked of a program that is quick at it: grep or ripgrep, where the
user has one.

Its answer only leaves files out. What it names is read by us as ever, without following a link, so that a
search finds the same with it and without. Whatever goes wrong with it, nothing is left out.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentforge.core.errors import Unusable
from agentforge.system.processes import run
from agentforge.system.programs import find_program

FEWEST = 1000
"""With fewer files, a program takes longer to start than we to read them."""
_SECONDS = 5
_AT_ONCE = 500_000
"""Characters of names that one call is given; Linux takes two million."""
_SAY = ("--files-with-matches", "--null", "--text", "--fixed-strings")
_GREP = {"grep": _SAY} if sys.platform == "linux" else {}
"""Elsewhere it is another program of that name, and slow."""
_QUIETLY = {**_GREP, "rg": ("--no-config", "--encoding=none", *_SAY)}


def sift(root: Path, files: Sequence[str], text: bytes, *, ignore_case: bool = False) -> Sequence[str]:
    """Those of `files` that may hold the text, in their order; all of them where nobody can tell."""
    program = next(((name, path) for name in _QUIETLY if (path := find_program(name, root))), None)
    if program is None or len(files) < FEWEST or not _is_plain(text):
        return files
    name, path = program
    options = (
        *_QUIETLY[name],
        *(("--ignore-case",) if ignore_case else ()),
        "-e",
        text.decode("ascii"),
        "--",
    )
    holding: set[str] = set()
    for part in _parts(files):
        try:
            done = run((path, *options, *part), cwd=root, env={"LC_ALL": "C"}, timeout_s=_SECONDS)
        except Unusable:
            return files
        # 1: none of them. Anything else is trouble with one file, and others may have been left out.
        if done.code not in (0, 1) or done.timed_out or done.truncated:
            return files
        holding.update(os.fsdecode(done.out).split("\0"))
    return [each for each in files if each in holding]


def _is_plain(text: bytes) -> bool:
    """Whether every program means the same by it."""
    return bool(text) and all(0x20 <= byte < 0x7F for byte in text)


def _parts(files: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for each in files:
        if part and size + len(each) > _AT_ONCE:
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each) + 1
    if part:
        yield part
