"""Search files for a regular expression, as a program of its own.

Python's `re` cannot be interrupted, and some short patterns run for ever on some lines. In a child the search has a limit
that holds: the parent kills it. Standard library only, because it is started by path, isolated from any environment.
Reads `{"pattern", "files", "max"}` as JSON; writes `{"hits": [[path, line, text]…], "total"}` or `{"error"}`.
"""

import json
import os
import re
import resource
import sys

LINE_CHARS = 2000
MEMORY_BYTES = 1_000_000_000
FILE_BYTES = 2_000_000
MAX_TOTAL = 2000


def search(pattern: str, files: list[str], limit: int) -> dict[str, object]:
    """Matching lines in the order of the files."""
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": str(error)}
    hits: list[tuple[str, int, str]] = []
    total = 0
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if compiled.search(line[:LINE_CHARS]):
                total += 1
                if len(hits) < limit:
                    hits.append((path, number, line[:LINE_CHARS]))
        if total >= MAX_TOTAL:
            break
    return {"hits": hits, "total": total}


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb", opener=_unlinked) as file:
            data = file.read(FILE_BYTES + 1)
    except OSError:
        return []
    if len(data) > FILE_BYTES or b"\0" in data[:8192]:
        return []
    return data.decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n")


def _unlinked(path: str, flags: int) -> int:
    """Open a file below the current directory. A link on the way, put there since the files were listed, is an error."""
    *folders, name = path.split("/")
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


def main() -> None:
    """One question on standard input, one answer on standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    question = json.load(sys.stdin)
    json.dump(search(question["pattern"], question["files"], question["max"]), sys.stdout)


if __name__ == "__main__":
    main()
