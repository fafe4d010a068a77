"""The tool that applies a unified diff over several files: all of it or nothing of it.

First everything is read and worked out, and every path is asked for; then the files change together. A patch
that fits nowhere, or touches one path too many, has changed nothing.
"""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import Content, OpenRoot, change_all, state_beneath
from agentforge.system.files import disk_errors, relative_to, resolve_inside
from agentforge.tools.base import OpenedRange, Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.change.nearest import describe_miss
from agentforge.tools.change.patches import Applied, FilePatch, Misfit, apply, parse
from agentforge.tools.change.writing import encoded
from agentforge.tools.look.reading import MAX_LINES
from agentforge.tools.look.source import MAX_BYTES, lines_of
from agentforge.tools.roots import link_place

MAX_PATCH = 4_000_000
"""Characters of one patch."""
MAX_OPENED = 20
_SHOWN_FILES = 40
_EXECUTE = 0o111
_COMPARED_LINES = 200
"""Old lines of a hunk beyond which nobody looks for the nearest ones: it would take too long."""


class _Source(NamedTuple):
    """A file as it is, by its real path, and the real path it shall have: none if it shall go."""

    path: str
    target: str | None
    data: bytes
    mode: int


@dataclass(slots=True)
class _Plan:
    """What would change, worked out before anything does."""

    removed: list[str] = field(default_factory=list)
    written: dict[str, Content] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    opened: list[OpenedRange] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


def apply_patch(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Create, edit, rename and delete files as a diff says."""
    patches = parse(text_of(args, "patch"))
    with OpenRoot(bench.root) as opened:
        sources = [None if patch.source is None else _source(patch, bench, opened) for patch in patches]
    taken = [each.path for each in sources if each is not None]
    if len(set(taken)) < len(taken):
        raise ModelMistake("bad_patch", "two files of the patch are the same one by different names")
    plan = _Plan()
    leaving = {each.path for each in sources if each is not None and each.target != each.path}
    for patch, source in zip(patches, sources, strict=True):
        if source is None:
            _create(patch, plan, leaving, bench)
        elif source.target is None:
            _delete(patch, source, plan, bench)
        else:
            _change(patch, source, source.target, plan, leaving, bench)
    try:
        with disk_errors():
            change_all(bench.root, plan.removed, plan.written)
    except (FileExistsError, FileNotFoundError, IsADirectoryError) as error:
        raise ModelMistake(
            "bad_patch", f"the patch cannot be done as a whole, so none of it was: {error.strerror}"
        ) from None
    more = f"\n[and {len(plan.rows) - _SHOWN_FILES} more]" if len(plan.rows) > _SHOWN_FILES else ""
    text = (
        f"Applied to {len(patches)} {'file' if len(patches) == 1 else 'files'}:\n"
        + "\n".join(plan.rows[:_SHOWN_FILES])
        + more
    )
    wrote = tuple(dict.fromkeys((*plan.written, *plan.removed)))
    return ToolResult(
        ok=True, text=text, opened=tuple(plan.opened[:MAX_OPENED]), wrote=wrote, created=tuple(plan.created)
    )


def patched_names(args: Mapping[str, Json]) -> list[str]:
    """Every file that a patch names, as it names it."""
    found = [name for patch in parse(text_of(args, "patch")) for name in (patch.source, patch.name)]
    return [name for name in dict.fromkeys(found) if name]


def _create(patch: FilePatch, plan: _Plan, leaving: set[str], bench: Workbench) -> None:
    target = _free(patch.name, leaving, bench)
    text = "".join(line.text for hunk in patch.hunks for line in hunk.lines)
    _write(plan, target, Content(encoded(text), 0o755 if patch.executable else None))
    plan.created.append(target)
    plan.opened += [OpenedRange(target, 1, min(len(lines_of(text)), MAX_LINES))] if text else []
    plan.rows.append(f"created {target}, {len(lines_of(text))} lines")


def _delete(patch: FilePatch, source: _Source, plan: _Plan, bench: Workbench) -> None:
    bench.permit("delete", source.path)
    left = lines_of(_applied(source, patch).text)
    if left and patch.hunks:
        raise ModelMistake(
            "bad_patch",
            f"`{source.path}` is to be deleted, and the patch leaves {len(left)} lines; use delete_file",
        )
    plan.removed.append(source.path)
    plan.rows.append(f"deleted {source.path}")


def _change(
    patch: FilePatch, source: _Source, target: str, plan: _Plan, leaving: set[str], bench: Workbench
) -> None:
    if target == source.path:
        bench.permit("edit", target)
        plan.rows.append(
            f"edited {target}, {len(patch.hunks)} {'hunk' if len(patch.hunks) == 1 else 'hunks'}"
        )
    else:
        bench.permit("delete", source.path)
        _free(target, leaving, bench)
        plan.removed.append(source.path)
        plan.created.append(target)
        plan.rows.append(f"renamed {source.path} to {target}")
    after = _applied(source, patch)
    _write(
        plan, target, Content(encoded(after.text) if patch.hunks else source.data, _mode(source.mode, patch))
    )
    plan.opened += [OpenedRange(target, first, last) for first, last in after.places if first <= last]


def _write(plan: _Plan, path: str, content: Content) -> None:
    if path in plan.written:
        raise ModelMistake("bad_patch", f"two files of the patch are `{path}`")
    plan.written[path] = content


def _source(patch: FilePatch, bench: Workbench, opened: OpenRoot) -> _Source:
    """The file that a patch starts from, read."""
    given, target = str(patch.source), patch.target
    path = relative_to(bench.root, resolve_inside(bench.root, given))
    if target is not None:
        same = target == given
        target = path if same else relative_to(bench.root, resolve_inside(bench.root, target))
    state = None if path == "." else opened.state(path)
    if state is None and path != ".":
        raise ModelMistake("no_such_file", f"there is no file `{given}`; a new one has `--- /dev/null`")
    if state is None or not stat.S_ISREG(state.st_mode):
        raise ModelMistake("not_a_file", f"`{given}` is not a regular file")
    if target != path and relative_to(bench.root, link_place(bench.root, given)) != path:
        raise ModelMistake(
            "not_a_file",
            f"`{given}` is a link; delete_file removes a link, and its target has the name `{path}`",
        )
    data = opened.read(path, MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise ModelMistake("not_text", f"`{path}` is too large to patch here")
    return _Source(path, target, data, stat.S_IMODE(state.st_mode))


def _free(given: str, leaving: set[str], bench: Workbench) -> str:
    """A path where nothing is, or from where the patch takes what is."""
    path = relative_to(bench.root, resolve_inside(bench.root, given))
    bench.permit("create", path)
    if path == "." or (state_beneath(bench.root, path) is not None and path not in leaving):
        raise ModelMistake("file_exists", f"`{path}` exists; a patch of it begins with `--- a/{path}`")
    return path


def _applied(source: _Source, patch: FilePatch) -> Applied:
    path = source.path
    try:
        text = source.data.decode("utf-8")
    except UnicodeDecodeError:
        if not patch.hunks:
            return Applied("", ())
        raise ModelMistake("not_text", f"`{path}` is not UTF-8 text and cannot be patched") from None
    try:
        return apply(text, patch.hunks)
    except Misfit as misfit:
        where = f"hunk {misfit.number} of {len(patch.hunks)} for `{path}` ({misfit.hunk.header})"
        if misfit.places:
            numbers = ", ".join(map(str, misfit.places[:20]))
            raise ModelMistake(
                "many_matches",
                f"{where} fits in {len(misfit.places)} places, from lines {numbers}, and not at its own; "
                "add lines around it",
            ) from None
        if not misfit.hunk.old:
            raise ModelMistake(
                "no_match",
                f"{where} adds lines beyond the file's {len(lines_of(text))} lines, "
                "or before an earlier hunk",
            ) from None
        if len(misfit.hunk.old) > _COMPARED_LINES:
            raise ModelMistake(
                "no_match",
                f"{where} does not fit; nothing was changed: use hunks of under {_COMPARED_LINES} lines",
            ) from None
        miss = describe_miss(text, "".join(misfit.hunk.old), path).replace("`old` is", "its old text is", 1)
        raise ModelMistake("no_match", f"{where} does not fit; nothing was changed: {miss}") from None


def _mode(mode: int, patch: FilePatch) -> int:
    if patch.executable is None:
        return mode
    # Those who may read may run, as git does it.
    return mode | (mode >> 2 & _EXECUTE) if patch.executable else mode & ~_EXECUTE


PATCHING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "apply_patch",
            "Apply a unified diff to several files: edit, create (`--- /dev/null`), delete (`+++ "
            "/dev/null`), rename. All or nothing.",
            object_schema({"patch": {"type": "string", "minLength": 1, "maxLength": MAX_PATCH}}),
            "write",
        ),
        apply_patch,
    ),
)
