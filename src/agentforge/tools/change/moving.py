"""The tool that gives a file another name or place. It leaves one path and takes another, and both must be
free to the role.
"""

import stat
from collections.abc import Mapping

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import make_folders, move_beneath, state_beneath
from agentforge.system.files import disk_errors, relative_to, resolve_inside
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.roots import link_place

_PATH: dict[str, Json] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
}


def move_file(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Move one regular file to a place where nothing is."""
    source = _source(text_of(args, "source"), bench)
    target = relative_to(bench.root, resolve_inside(bench.root, text_of(args, "target")))
    if source == target:
        raise ModelMistake("no_change", f"`{source}` already exists")
    bench.permit("delete", source)
    bench.permit("create", target)
    if target == "." or (there := state_beneath(bench.root, target)) is not None:
        is_folder = target == "." or (there is not None and stat.S_ISDIR(there.st_mode))
        hint = "name the file in it" if is_folder else "nothing is overwritten by a move"
        raise ModelMistake("file_exists", f"`{target}` exists; {hint}")
    with disk_errors():
        make_folders(bench.root, target)
        move_beneath(bench.root, source, target)
    return ToolResult(
        ok=True, text=f"Moved `{source}` to `{target}`.", wrote=(source, target), created=(target,)
    )


def _source(given: str, bench: Workbench) -> str:
    target = relative_to(bench.root, resolve_inside(bench.root, given))
    path = relative_to(bench.root, link_place(bench.root, given))
    state = None if path == "." else state_beneath(bench.root, path)
    if state is None and path != ".":
        raise ModelMistake("no_such_file", f"there is no file `{given}`")
    if path != target:
        # A relative link would lead somewhere else from its new place.
        raise ModelMistake("not_a_file", f"`{given}` is a link; move `{target}`, or delete the link")
    if state is None or not stat.S_ISREG(state.st_mode):
        raise ModelMistake("not_a_file", f"`{given}` is not a regular file; move_file moves one file")
    return path


MOVING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "move_file",
            "Move or rename one file. Refuses a target that exists.",
            object_schema({"source": _PATH, "target": _PATH}),
            "write",
            ("source", "target"),
        ),
        move_file,
    ),
)
