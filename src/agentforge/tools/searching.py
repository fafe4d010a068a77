"""The tool that searches: literal text by default, a regular expression when asked, always within a bound."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import reading_beneath
from agentforge.system.processes import run
from agentforge.tools import regex_child
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, number_of, object_schema, text_of
from agentforge.tools.paths import closed_to_all
from agentforge.tools.roots import Spot
from agentforge.tools.source import MAX_BYTES, lines_of, walk

DEFAULT_HITS = 40
MAX_HITS = 200
REGEX_SECONDS = 5
LITERAL_SECONDS = 20
_SHOWN_CHARS = 200


class Hits(NamedTuple):
    """Matching lines, and how many there are in all."""

    rows: list[tuple[str, int, str]]
    total: int


def search_codebase(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """`path:line: text` for every match."""
    pattern, place = text_of(args, "pattern"), text_of(args, "path")
    if "\n" in pattern:
        raise ModelMistake("bad_arguments", "a search matches within one line; `pattern` holds a line break")
    spot = bench.spot(place or ".")
    files = _files(place, spot)
    limit = min(number_of(args, "max", DEFAULT_HITS), MAX_HITS)
    is_regex = args.get("regex") is True
    hits = _regex(pattern, files, limit, spot.root) if is_regex else _literal(pattern, files, limit, spot.root)
    if not hits.rows:
        how = "a regular expression" if is_regex else "literal text, case counts; regex=true for a pattern"
        return ToolResult(ok=True, text=f"No match for `{pattern}` ({how}) in {len(files)} files.")
    top = "" if spot.outer is None else f"{spot.root}/"
    rows = [f"{top}{path}:{number}: {line.strip()[:_SHOWN_CHARS]}" for path, number, line in hits.rows]
    if hits.total > len(rows):
        rows.append(f"[{hits.total - len(rows)} or more further matches; give `path` or a longer pattern]")
    return ToolResult(ok=True, text="\n".join(rows))


def _files(place: str, spot: Spot) -> list[str]:
    if spot.real.is_file():
        if closed := closed_to_all(spot.shown):
            raise ModelMistake("path", closed)
        return [spot.path]
    if not spot.real.is_dir():
        raise ModelMistake("no_such_file", f"there is no file or directory `{place}`")
    return [path for path in walk(spot.root, spot.real) if not closed_to_all(path)]


def _literal(pattern: str, files: Iterable[str], limit: int, root: Path) -> Hits:
    rows: list[tuple[str, int, str]] = []
    total = 0
    end = time.monotonic() + LITERAL_SECONDS
    # Bytes are searched before they are made text: most files do not hold it. A replacement character may stand for any bytes.
    sought = b"" if "\ufffd" in pattern else pattern.encode("utf-8", "surrogatepass")
    with reading_beneath(root) as read:
        for path in files:
            if time.monotonic() > end:
                raise ModelMistake("slow_search", f"the search for `{pattern}` took longer than {LITERAL_SECONDS} s; give `path`")
            data = _data(read, path)
            if sought not in data:
                continue
            for number, line in enumerate(lines_of(data.decode("utf-8", errors="replace")), 1):
                if pattern in line:
                    total += 1
                    if len(rows) < limit:
                        rows.append((path, number, line))
            if total >= regex_child.MAX_TOTAL:
                break
    return Hits(rows, total)


def _data(read: Callable[[str, int], bytes], path: str) -> bytes:
    """The bytes of a file; nothing if it is no text, or has gone or become a link since it was listed."""
    try:
        data = read(path, MAX_BYTES)
    except (FileNotFoundError, ModelMistake):
        return b""
    return b"" if len(data) > MAX_BYTES or b"\0" in data[:8192] else data


def _regex(pattern: str, files: list[str], limit: int, root: Path) -> Hits:
    question = json.dumps({"pattern": pattern, "files": files, "max": limit}).encode()
    argv = [sys.executable, "-I", "-S", str(Path(regex_child.__file__))]
    done = run(argv, cwd=root, env={}, timeout_s=REGEX_SECONDS, input=question)
    if done.timed_out:
        raise ModelMistake("slow_pattern", f"`{pattern}` ran longer than {REGEX_SECONDS} s; simplify it, search literally, or give `path`")
    if done.code != 0:
        raise ModelMistake("slow_pattern", f"`{pattern}` needs too much memory; simplify it or search literally")
    answer = json.loads(done.out)
    if "error" in answer:
        raise ModelMistake("bad_arguments", f"`{pattern}` is not a regular expression: {answer['error']}")
    rows = [(str(path), int(number), str(line)) for path, number, line in answer["hits"]]
    return Hits(rows, cast("int", answer["total"]))


SEARCHING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "search_codebase",
            "Lines that hold a text, as path:line: text. Literal unless regex=true (Python syntax, one line at a time).",
            object_schema(
                {"pattern": {"type": "string", "minLength": 1, "maxLength": 500}},
                {
                    "path": {"type": "string", "minLength": 1, "description": "a file or directory"},
                    "regex": {"type": "boolean"},
                    "max": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
                },
            ),
            "read",
        ),
        search_codebase,
    ),
)
