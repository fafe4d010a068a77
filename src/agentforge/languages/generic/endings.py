"""A file of tests that is made to fail, so that whatever passes all the same is seen.

At its own end, where an exit code is all that is told of a test: code under test that exits with 0 would
pass. The file is run once more with a failure of ours behind everything else: a process that still ends with
0 never came there. And wherever it is run, where a list says by which command that happens: one that was
chosen to pass does so whatever the file says.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agentforge.catalog.policies import read_policy

BROKEN = "@ 1 + 1 is not 3 @\n"
"""No program in any language that we have met."""


def made_to_end_badly(path: str, text: str, token: str) -> str | None:
    """The file that says the token and fails where it would have ended well; None for one that nobody knows
    how to end.
    """
    row = next((row for row in _rows("endings") if _fits(row, path, text)), None)
    if row is None:
        return None

    def told(key: str) -> str:
        return str(row.get(key, "")).replace("{token}", token)

    if "exits" in row:
        text = re.sub(row["exits"], lambda _: told("instead"), text)
    at = len(text)
    if "ahead_of" in row:
        found = [*re.finditer(row["ahead_of"], text, re.MULTILINE)]
        at = found[-1].start() if found else at
    return f"{told('before')}{text[:at]}\n{told('after')}{text[at:]}"


def made_to_fail_at_once(path: str, text: str, names: Iterable[str]) -> str:
    """The file that fails wherever it is run, and is built as before if that can be said in its language. The
    names of its tests stand in it, so that one which is reported all the same is known as its own.
    """
    row = next((row for row in _rows("failing") if _fits(row, path, text)), None)
    if row is not None:
        return f"{text}\n{row['after']}"
    return BROKEN + "".join(f'@ "{name}" @\n' for name in names)


def _fits(row: Mapping[str, Any], path: str, text: str) -> bool:
    return path.endswith(tuple(row["of"])) and re.search(row.get("when", ""), text) is not None


@lru_cache(maxsize=2)
def _rows(table: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(read_policy("runners")[table])
