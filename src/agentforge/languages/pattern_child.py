"""Search texts for a pattern of a project, as a program of its own.

Neither `re` nor a parser can be interrupted, and a project may bring a pattern that runs for ever, or that
ends the whole process. In a child the search has limits that hold. Reads `{"kind", "pattern", "texts": {path:
[language, text]}}` as JSON; writes `{"hits": {path: [line…]}}` or `{"error"}`.
"""

import json
import re
import resource
import sys
from typing import Any

MEMORY_BYTES = 2_000_000_000
LINE_CHARS = 2000
MOST_HITS = 200
"""Of one file."""


def main() -> None:
    """One search."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    asked = json.load(sys.stdin)
    search = _by_line if asked["kind"] == "regex" else _by_syntax
    try:
        answer: dict[str, Any] = {"hits": search(asked["pattern"], asked["texts"])}
    except Exception as error:  # noqa: BLE001 - whatever a pattern of others does is told in a sentence
        answer = {"error": str(error).splitlines()[0][:300] if str(error) else type(error).__name__}
    json.dump(answer, sys.stdout)


def _by_line(pattern: str, texts: dict[str, list[str]]) -> dict[str, list[int]]:
    compiled = re.compile(pattern)
    found = {}
    for path, (_, text) in texts.items():
        lines = (at for at, line in enumerate(text.splitlines(), 1) if compiled.search(line[:LINE_CHARS]))
        found[path] = [at for at, _ in zip(lines, range(MOST_HITS), strict=False)]
    return found


def _by_syntax(pattern: str | dict[str, Any], texts: dict[str, list[str]]) -> dict[str, list[int]]:
    from ast_grep_py import SgRoot  # noqa: PLC0415 - an extra, which only these patterns need

    rule: Any = {"pattern": pattern} if isinstance(pattern, str) else pattern
    found = {}
    for path, (language, text) in texts.items():
        nodes = SgRoot(text, language).root().find_all({"rule": rule})
        found[path] = [node.range().start.line + 1 for node in nodes[:MOST_HITS]]
    return found


if __name__ == "__main__":
    main()
