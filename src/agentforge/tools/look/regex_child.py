"""Search files for a regular expression, as a program of its own.

Python's `re` cannot be interrupted, and some short patterns run for ever on some lines. In a child the search
has a limit that holds: the parent kills it. Standard library only, because it is started by path, isolated
from any environment. Reads `{"pattern", "ignore_case", "files", "max", "context", "seen"}` as JSON; writes
`{"hits": [[path, line, text, is match]…], "total"}` or `{"error"}`. `seen`: matches that were found before.
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


Row = tuple[str, int, str, bool]
"""A path, a line's number and text, and whether it matches or only stands beside one that does."""


def search(
    pattern: str, files: list[str], limit: int, context: int, *, ignore_case: bool, seen: int = 0
) -> dict[str, object]:
    """Matching lines in the order of the files, with those around them."""
    try:
        compiled = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": str(error)}
    hits: list[Row] = []
    total = seen
    sought, folder = b"" if ignore_case else required(pattern), Folder()
    for path in files:
        lines = _lines(path, sought, folder)
        found = [at for at, line in enumerate(lines) if compiled.search(line[:LINE_CHARS])]
        hits += rows(path, lines, found[: max(0, limit - total)], context)
        total += len(found)
        if total >= MAX_TOTAL:
            break
    return {"hits": hits, "total": total}


def rows(path: str, lines: list[str], found: list[int], context: int) -> list[Row]:
    """The lines that were found, by their places from 0, and as many before and after each."""
    matches = set(found)
    shown = sorted(
        {near for at in found for near in range(max(0, at - context), min(len(lines), at + context + 1))}
    )
    return [(path, at + 1, lines[at][:LINE_CHARS], at in matches) for at in shown]


def required(pattern: str) -> bytes:
    """The longest text that every match holds, as far as that is plain to see. A file without it need not be
    taken apart.
    """
    # what `re` itself compiles from
    parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]  # noqa: SLF001
    if parsed.state.flags & re.IGNORECASE:
        return b""
    runs = [""]
    for operation, argument in parsed:
        if str(operation) == "LITERAL" and 0 < argument < 0xD800:  # below what cannot be encoded
            runs[-1] += chr(argument)
        else:
            runs.append("")
    return max(runs, key=len).encode()


class Folder:
    """A directory below the current one, kept open while files of it are read."""

    def __init__(self) -> None:
        self.path = ""
        self.fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)

    def enter(self, path: str) -> int:
        """Its descriptor. A link on the way, put there since the files were listed, is an error."""
        if path != self.path:
            here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
            try:
                for folder in path.split("/") if path else ():
                    inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
                    os.close(here)
                    here = inner
            except OSError:
                os.close(here)
                raise
            os.close(self.fd)
            self.path, self.fd = path, here
        return self.fd


def _lines(path: str, sought: bytes, folder: Folder) -> list[str]:
    try:
        data = _read(path, folder)
    except OSError:
        return []
    if len(data) > FILE_BYTES or b"\0" in data[:8192] or sought not in data:
        return []
    lines = data.decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _read(path: str, folder: Folder) -> bytes:
    above, _, name = path.rpartition("/")
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder.enter(above))
    try:
        found = os.read(fd, FILE_BYTES + 1)
        while len(found) <= FILE_BYTES and (more := os.read(fd, FILE_BYTES + 1 - len(found))):
            found += more
        return found
    finally:
        os.close(fd)


def main() -> None:
    """One question on standard input, one answer on standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    question = json.load(sys.stdin)
    pattern, files, limit, context = (question[key] for key in ("pattern", "files", "max", "context"))
    how = {"ignore_case": question["ignore_case"], "seen": question["seen"]}
    json.dump(search(pattern, files, limit, context, **how), sys.stdout)


if __name__ == "__main__":
    main()
