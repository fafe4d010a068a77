"""The pages of the documents as tests read them: fences, and outputs that are shown shortened."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIES = re.compile(r"task-\d{8}|\b[0-9a-f]{12}\b")
_ANY = "…"


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and body of every fence of a page, in order."""
    return _FENCE.findall(page.read_text(encoding="utf-8"))


def shown_in_order(shown: str, said: str) -> list[str]:
    """The lines of a shown output that a real one does not have, in this order. `…` is anything; days and hashes
    may differ; lines may be left out.
    """
    rest = iter(_VARIES.sub("", said).splitlines())
    missing = []
    for line in filter(str.strip, _VARIES.sub("", shown).splitlines()):
        pattern = re.compile(".*".join(map(re.escape, line.split(_ANY))))
        if not any(pattern.search(real) for real in rest):
            missing.append(line)
    return missing
