"""Tools that change files: create, edit, delete. Whether a role may is the bridge's affair; whether it makes
sense is decided here.
"""

import os
import re
import stat
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.languages.symbols import outline
from agentforge.system.beneath import Content, read_beneath, remove_beneath, replace_beneath, state_beneath
from agentforge.system.files import disk_errors
from agentforge.tools.base import OpenedRange, Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.change.nearest import describe_miss, meant
from agentforge.tools.look.reading import MAX_LINES
from agentforge.tools.look.source import MAX_BYTES, lines_of, no_such_file
from agentforge.tools.roots import Spot, name_spot

_AROUND = 8
"""Lines shown on each side of an edit that lies in no symbol."""

_FOREIGN = re.compile("[\udc80-\udcff]")
"""Bytes that are no UTF-8, as they are kept in a text."""
_MANY = 100
"""Matches beyond which nobody counts: each costs a look at the whole of `old`."""


def create_file(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """A new file. An existing one is refused, unless this role created it in this stage."""
    spot = bench.spot(text_of(args, "path"))
    shown = spot.shown
    content = text_of(args, "content")
    bench.permit("create", shown)
    state = _state(spot)
    if state is not None and not stat.S_ISREG(state.st_mode):
        raise ModelMistake(
            "not_a_file",
            f"`{shown}` is {'a directory' if stat.S_ISDIR(state.st_mode) else 'not a regular file'}",
        )
    if state is not None and shown not in bench.created:
        raise ModelMistake(
            "file_exists", f"`{shown}` exists and was not created in this stage; change it with edit_file"
        )
    data = encoded(content)
    if state is not None and read_beneath(spot.root, spot.path, MAX_BYTES) == data:
        # Whoever sends a whole reply again means the rest of it, too.
        return ToolResult(ok=True, text=f"`{shown}` has exactly this content already; nothing changed.")
    with disk_errors():
        replace_beneath(
            spot.root, spot.path, Content(data, None if state is None else stat.S_IMODE(state.st_mode))
        )
    count = len(lines_of(content))
    opened = (OpenedRange(shown, 1, min(count, MAX_LINES)),) if content else ()
    text = f"{'Created' if state is None else 'Replaced'} `{shown}`, {count} lines."
    return _done(
        spot,
        ToolResult(
            ok=True, text=text, opened=opened, wrote=(shown,), created=(shown,) if state is None else ()
        ),
    )


def edit_file(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Replace a text that occurs exactly once. The file keeps its line endings, its final newline and its
    mode; one in an encoding that we do not know keeps its bytes, and takes ASCII alone.
    """
    spot = bench.spot(text_of(args, "path"))
    shown = spot.shown
    bench.permit("edit", shown)
    raw, mode = _existing_text(spot)
    text, old, new = (
        each.replace("\r\n", "\n") for each in (_shown(raw), text_of(args, "old"), text_of(args, "new"))
    )
    if old == new:
        raise ModelMistake("no_change", "`old` and `new` are the same")
    at, old, new, note = _place(text, old, new, shown)
    if at < 0:
        return ToolResult(ok=True, text=note)
    if text.endswith("\n") and at + len(old) == len(text) and new and not new.endswith("\n"):
        new += "\n"
        if old == new:
            raise ModelMistake("no_change", "only the final newline would go; it stays")
    with disk_errors():
        data = _as_it_was(_spliced(raw, at, at + len(old), new), new, shown)
        replace_beneath(spot.root, spot.path, Content(data, mode))
    edited = text[:at] + new + text[at + len(old) :]
    first = text.count("\n", 0, at) + 1
    last = first + new.rstrip("\n").count("\n")
    text = (
        f"Edited `{shown}`: {_lines(first, first + old.rstrip(chr(10)).count(chr(10)))} now "
        f"{_lines(first, last)}.{note}"
    )
    return _done(
        spot, ToolResult(ok=True, text=text, opened=_around(edited, shown, first, last), wrote=(shown,))
    )


def delete_file(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Remove one file. A link is removed itself; what it leads to stays."""
    given = text_of(args, "path")
    bench.spot(given)
    spot = name_spot(bench.root, bench.roots, given)
    shown = spot.shown
    bench.permit("delete", shown)
    state = _state(spot)
    if state is None:
        raise no_such_file(spot.root, shown, "so there is nothing to delete")
    if stat.S_ISDIR(state.st_mode):
        raise ModelMistake("not_a_file", f"`{shown}` is a directory; delete_file removes one file")
    with disk_errors():
        remove_beneath(spot.root, spot.path)
    return _done(spot, ToolResult(ok=True, text=f"Deleted `{shown}`.", wrote=(shown,)))


def _done(spot: Spot, result: ToolResult) -> ToolResult:
    """What is outside of the tree is no part of the work: no verdict sees it, and no later step shows it."""
    return result if spot.outer is None else replace(result, opened=(), wrote=(), created=())


def _state(spot: Spot) -> os.stat_result | None:
    return spot.root.stat() if spot.path == "." else state_beneath(spot.root, spot.path)


def _existing_text(spot: Spot) -> tuple[str, int]:
    """The text of a file, with its line endings as they are, and its mode."""
    shown = spot.shown
    state = _state(spot)
    if state is not None and stat.S_ISDIR(state.st_mode):
        raise ModelMistake("not_a_file", f"`{shown}` is a directory")
    if state is None or not stat.S_ISREG(state.st_mode):
        raise no_such_file(spot.root, shown, "create_file makes one")
    if state.st_size > MAX_BYTES:
        raise ModelMistake("not_text", f"`{shown}` is too large to edit here")
    # Bytes first: text mode would translate line endings, and they must stay.
    data = read_beneath(spot.root, spot.path, MAX_BYTES)
    if b"\0" in data:
        raise ModelMistake("not_text", f"`{shown}` is not text and cannot be edited")
    return data.decode("utf-8", "surrogateescape"), stat.S_IMODE(state.st_mode)


def _shown(raw: str) -> str:
    """A text as people see it: a byte that is no UTF-8 is one mark."""
    return _FOREIGN.sub("\N{REPLACEMENT CHARACTER}", raw)


def _as_it_was(raw: str, new: str, shown: str) -> bytes:
    """The bytes of a file after an edit. Beside bytes that are no UTF-8, only ASCII means the same in every
    encoding.
    """
    if not _FOREIGN.search(raw):
        return encoded(raw)
    if not new.isascii():
        raise ModelMistake("not_text", f"`{shown}` is not UTF-8, so `new` may hold nothing but ASCII")
    return raw.encode("utf-8", "surrogateescape")


def encoded(content: str) -> bytes:
    """The content as the bytes of a file, if it can be one."""
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelMistake(
            "not_text", "the content holds a lone surrogate, which no UTF-8 file can"
        ) from None
    if len(data) > MAX_BYTES:
        raise ModelMistake("too_large", f"the file would have {len(data):,} bytes; at most {MAX_BYTES:,}")
    return data


def _place(text: str, old: str, new: str, shown: str) -> tuple[int, str, str, str]:
    """Where an edit belongs, what it replaces by what, and a word on what it was taken to mean. An edit that
    was made before has no place.
    """
    if old not in text and (found := meant(text, old, new)) is not None:
        return found.at, found.old, found.new, f" {found.note}"
    if old and old not in text and len(new.split()) > 1 and text.count(new) == 1:
        line = text.count("\n", 0, text.index(new)) + 1
        note = (
            f"Nothing changed: `old` is not in `{shown}`, and `new` stands there already, from line {line}. "
            "If that is this edit, made before, it is done; if another place was meant, it is not: quote as "
            "`old` what stands there now."
        )
        return -1, old, new, note
    return _only_match(text, old, shown), old, new, ""


def _only_match(text: str, old: str, shown: str) -> int:
    if not old:
        if text:
            raise ModelMistake(
                "bad_arguments",
                f"`old` is empty; only an empty file can be filled that way, and `{shown}` is not",
            )
        return 0
    at = text.find(old)
    if at < 0:
        raise ModelMistake("no_match", describe_miss(text, old, shown))
    places = [at]
    # Overlapping matches count as well: which one was meant is just as open.
    while len(places) < _MANY and (at := text.find(old, at + 1)) >= 0:
        places.append(at)
    if len(places) > 1:
        count = f"{_MANY} or more" if len(places) == _MANY else str(len(places))
        numbers = ", ".join(str(text.count("\n", 0, each) + 1) for each in places[:20])
        raise ModelMistake(
            "many_matches",
            f"`old` occurs {count} times in `{shown}`, at lines {numbers}; add lines around it until it "
            "is unique",
        )
    return places[0]


def _spliced(raw: str, start: int, end: int, new: str) -> str:
    """Replace a range given in text with plain newlines, in a text that may have carriage returns; every
    other byte stays.
    """
    plain = raw.replace("\r\n", "\n")
    returns: list[int] = []
    found = raw.find("\r\n")
    while found >= 0:
        returns.append(found - len(returns))
        found = raw.find("\r\n", found + 2)
    touched = bisect_left(returns, end) - bisect_left(returns, start)
    breaks = plain.count("\n", start, end)
    is_dos = touched * 2 > breaks if breaks else len(returns) * 2 > plain.count("\n")
    ending = new.replace("\n", "\r\n") if is_dos else new
    return raw[: start + bisect_left(returns, start)] + ending + raw[end + bisect_left(returns, end) :]


def _around(text: str, path: str, first: int, last: int) -> tuple[OpenedRange, ...]:
    """What to look at after an edit: the smallest symbol that holds it, else a few lines around."""
    holding = [
        each
        for each in outline(text, path)
        if each.kind != "variable"
        and each.start <= first
        and last <= each.end
        and each.end - each.start < MAX_LINES
    ]
    if holding:
        smallest = min(holding, key=lambda each: each.end - each.start)
        return (OpenedRange(path, smallest.start, smallest.end, smallest.name),)
    count = len(lines_of(text))
    return (OpenedRange(path, max(1, first - _AROUND), min(count, last + _AROUND)),) if count else ()


def _lines(first: int, last: int) -> str:
    return f"line {first}" if last <= first else f"lines {first}-{last}"


_PATH: dict[str, Json] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
}

WRITING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "create_file",
            "Create a file with this content. Refuses a file that exists, unless you created it in this "
            "stage.",
            object_schema({"path": _PATH, "content": {"type": "string"}}),
            "write",
            ("path",),
        ),
        create_file,
    ),
    Tool(
        ToolSpec(
            "edit_file",
            "Replace `old`, which must occur exactly once, by `new`. Literal text, without line numbers.",
            object_schema({"path": _PATH, "old": {"type": "string"}, "new": {"type": "string"}}),
            "write",
            ("path",),
        ),
        edit_file,
    ),
    Tool(
        ToolSpec("delete_file", "Delete one file.", object_schema({"path": _PATH}), "write", ("path",)),
        delete_file,
    ),
)
