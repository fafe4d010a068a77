"""Tools that look: files, outlines, line ranges, symbols."""

import difflib
from collections.abc import Mapping
from pathlib import Path

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.languages.symbols import find_symbol, outline
from agentforge.languages.table import NAMES, is_source
from agentforge.languages.values import Symbol
from agentforge.system.globs import glob
from agentforge.tools.base import (
    RESULT_CHARS,
    OpenedRange,
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    bounded,
    number_of,
    object_schema,
    text_of,
)
from agentforge.tools.look.source import TextFile, numbered, open_source, read_source, walk

MAX_LINES = 400
"""Lines in one `read_file`."""

MAX_LISTED = 200
_SYMBOL_CANDIDATES = 8
_PATH: dict[str, Json] = {
    "type": "string",
    "minLength": 1,
}
_LINE: dict[str, Json] = {"type": "integer", "minimum": 1}


def list_files(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The files under a directory; too many of them become a list of directories with counts."""
    place = text_of(args, "path")
    spot = bench.spot(place or ".")
    start = spot.real
    if not start.is_dir():
        raise ModelMistake(
            "no_such_directory", f"`{place}` is not a directory; leave `path` out to list from the root"
        )
    pattern = text_of(args, "pattern")
    wanted = glob(pattern if "/" in pattern else f"**/{pattern}") if pattern else None
    found = [path for path in walk(spot.root, start) if wanted is None or wanted.matches(path)]
    top = "" if spot.outer is None else f"{spot.root}/"
    if not found:
        return ToolResult(ok=True, text=f"No files match under `{place or '.'}`.")
    if len(found) <= MAX_LISTED:
        return ToolResult(ok=True, text="\n".join(f"{top}{path}" for path in found))
    depth = len(Path(spot.path).parts) + 1
    counts: dict[str, int] = {}
    for path in found:
        parts = path.split("/")
        name = path if len(parts) <= depth else "/".join(parts[:depth]) + "/"
        counts[f"{top}{name}"] = counts.get(f"{top}{name}", 0) + 1
    rows = [
        f"{name} ({count} files)" if name.endswith("/") else name for name, count in sorted(counts.items())
    ]
    return ToolResult(
        ok=True, text="\n".join([f"{len(found)} files; give `path` or `pattern` to see fewer:", *rows])
    )


def show_outline(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """The symbols of one file, with their lines."""
    source = open_source(bench, text_of(args, "path"))
    if source.problem:
        return ToolResult(ok=True, text=source.problem)
    symbols = outline(source.text, source.path)
    rows = [f"{each.start}-{each.end} {each.kind} {each.signature or each.name}" for each in symbols]
    head = f"{source.path}: {len(source.lines)} lines, {len(symbols)} symbols"
    return ToolResult(ok=True, text="\n".join([head, *rows]))


def read_file(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """A range of lines, numbered; says how to get the rest."""
    source = open_source(bench, text_of(args, "path"))
    if source.problem:
        return ToolResult(ok=True, text=source.problem)
    count = len(source.lines)
    start = number_of(args, "start", 1)
    end = min(number_of(args, "end", count), count, start + MAX_LINES - 1)
    if not count:
        return ToolResult(ok=True, text=f"`{source.path}` is empty.")
    if start > count or end < start:
        raise ModelMistake(
            "bad_arguments", f"`{source.path}` has {count} lines; `start` and `end` name no line of it"
        )
    head = f"{source.path}, lines {start}-{end} of {count}"
    if end < min(number_of(args, "end", count), count):
        head += f"; at most {MAX_LINES} lines a call: go on with start={end + 1}"
    opened = () if source.outer else (OpenedRange(source.path, start, end),)
    return ToolResult(ok=True, text=_excerpt(head, source, start, end), opened=opened)


def read_symbol(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """A function, class or method by name; without a path it is looked for everywhere."""
    name = text_of(args, "name")
    place = text_of(args, "path")
    if place:
        source = open_source(bench, place)
        if source.problem:
            return ToolResult(ok=True, text=source.problem)
        symbol = find_symbol(source.text, name, source.path)
        if symbol is None:
            raise ModelMistake("no_such_symbol", _no_symbol(name, source))
        return _symbol_result([(source, symbol)])
    hits = _find_everywhere(name, bench)
    if not hits:
        raise ModelMistake(
            "no_such_symbol", f"no symbol `{name}` in the {NAMES} files; search_codebase finds text"
        )
    if len(hits) > 1:
        rows = [f"{source.path}:{symbol.start}-{symbol.end} {symbol.name}" for source, symbol in hits]
        return ToolResult(
            ok=True, text="\n".join([f"`{name}` is defined in {len(hits)} files; give `path`:", *rows])
        )
    return _symbol_result(hits)


def _find_everywhere(name: str, bench: Workbench) -> list[tuple[TextFile, Symbol]]:
    last = name.rsplit(".", 1)[-1]
    hits = []
    for path in walk(bench.root, bench.root):
        if not is_source(path):
            continue
        source = read_source(bench.root, path)
        # Parsing costs a thousand times what looking for the word does.
        if last in source.text and (symbol := find_symbol(source.text, name, path)) is not None:
            hits.append((source, symbol))
    return hits


def _symbol_result(hits: list[tuple[TextFile, Symbol]]) -> ToolResult:
    source, symbol = hits[0]
    head = f"{source.path}, {symbol.name}, lines {symbol.start}-{symbol.end}"
    opened = () if source.outer else (OpenedRange(source.path, symbol.start, symbol.end, symbol.name),)
    return ToolResult(ok=True, text=_excerpt(head, source, symbol.start, symbol.end), opened=opened)


def _excerpt(head: str, source: TextFile, start: int, end: int) -> str:
    text = numbered(source.lines[start - 1 : end], start)
    if source.outer:
        return f"{head}\n{text}"
    if len(head) + len(text) >= RESULT_CHARS:
        head += " (too long for this answer; from the next step your working set shows it whole)"
    return bounded(f"{head}\n{text}")


def _no_symbol(name: str, source: TextFile) -> str:
    names = [each.name for each in outline(source.text, source.path)]
    close = difflib.get_close_matches(name, names, _SYMBOL_CANDIDATES, 0.5) or names[:_SYMBOL_CANDIDATES]
    return f"no symbol `{name}` in `{source.path}`" + (
        f"; there are: {', '.join(close)}" if close else "; it defines none"
    )


READING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "list_files",
            "List files, sorted. `pattern` is a glob (`**/*.py`, or `*.py` for any directory).",
            object_schema(
                {}, {"path": _PATH, "pattern": {"type": "string", "minLength": 1, "maxLength": 200}}
            ),
            "read",
        ),
        list_files,
    ),
    Tool(
        ToolSpec(
            "outline",
            "The symbols of a file with their line numbers.",
            object_schema({"path": _PATH}),
            "read",
        ),
        show_outline,
    ),
    Tool(
        ToolSpec(
            "read_file",
            f"Numbered lines of a file, at most {MAX_LINES} a call. The range joins your working set.",
            object_schema({"path": _PATH}, {"start": _LINE, "end": _LINE}),
            "read",
        ),
        read_file,
    ),
    Tool(
        ToolSpec(
            "read_symbol",
            "A function, class or method (`Class.method`) by name. It joins your working set.",
            object_schema({"name": {"type": "string", "minLength": 1, "maxLength": 200}}, {"path": _PATH}),
            "read",
        ),
        read_symbol,
    ),
)
