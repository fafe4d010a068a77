"""A file of tests that is made to fail at its own end, so that whatever ends its process before is seen.

Where an exit code is all that is told of a test, code under test that exits with 0 would pass. The file is
run once more with a failure of ours behind everything else: a process that still ends with 0 never came
there.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentforge.catalog.policies import read_policy


def made_to_end_badly(path: str, text: str, token: str) -> str | None:
    """The file that says the token and fails where it would have ended well; None for one that nobody knows
    how to end.
    """
    row = next((row for row in _rows() if _fits(row, path, text)), None)
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


def _fits(row: Mapping[str, Any], path: str, text: str) -> bool:
    return path.endswith(tuple(row["of"])) and re.search(row.get("when", ""), text) is not None


@lru_cache(maxsize=1)
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(read_policy("runners")["endings"])
