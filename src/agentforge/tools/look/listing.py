"""The tool that shows one directory as it is: names, kinds and sizes, nothing below."""

import stat
from collections.abc import Mapping

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import list_beneath
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of

MAX_ENTRIES = 200


def list_dir(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Directories first, then files with their bytes; links are named as such and not followed."""
    spot = bench.spot(text_of(args, "path", "."))
    place = spot.shown
    try:
        entries = [(name, state) for name, state in list_beneath(spot.root, spot.path) if name != ".git"]
    except FileNotFoundError:
        raise ModelMistake("no_such_directory", f"there is no directory `{place}`") from None
    entries.sort(key=lambda entry: (not stat.S_ISDIR(entry[1].st_mode), entry[0]))
    rows = [_row(name, state.st_mode, state.st_size) for name, state in entries[:MAX_ENTRIES]]
    if len(entries) > MAX_ENTRIES:
        rows.append(f"[{len(entries) - MAX_ENTRIES} more entries; list_files takes a pattern]")
    return ToolResult(ok=True, text="\n".join([f"{place}: {len(entries)} entries", *rows]))


def _row(name: str, mode: int, size: int) -> str:
    # A name may hold anything but a slash; a line break in one would forge another entry.
    shown = name.encode("utf-8", "replace").decode("utf-8")
    shown = shown if shown.isprintable() else repr(shown)
    if stat.S_ISDIR(mode):
        return f"{shown}/"
    if stat.S_ISLNK(mode):
        return f"{shown} (a link)"
    return f"{shown} ({size:,} bytes)" if stat.S_ISREG(mode) else f"{shown} (not a regular file)"


LISTING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "list_dir",
            "The entries of one directory with kind and size; the root without `path`.",
            object_schema(
                {},
                {"path": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "a directory"}},
            ),
            "read",
        ),
        list_dir,
    ),
)
