"""The tool that applies a unified diff over several files: all of it or nothing of it.

First everything is read and worked out, and every path is asked for; then the files change together. A patch that fits nowhere, or touches
one path too many, has changed nothing.
"""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.analysis.patches import FilePatch, Hunk, Misfit, apply, parse
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import Content, change_all, read_beneath, state_beneath
from agentforge.system.files import disk_errors, relative_to, resolve_inside
from agentforge.tools.base import Opened, Tool, ToolResult, ToolSpec, Workbench, bounded, object_schema, text_of
from agentforge.tools.nearest import describe_miss
from agentforge.tools.source import MAX_BYTES, lines_of
from agentforge.tools.writing import encoded

MAX_PATCH = 4_000_000
"""Characters of one patch."""
MAX_OPENED = 20
_SHOWN_FILES = 40
_EXECUTE = 0o111


@dataclass(slots=True)
class _Plan:
    """What would change, worked out before anything does."""

    removed: list[str] = field(default_factory=list)
    written: dict[str, Content] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    opened: list[Opened] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


def apply_patch(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Create, edit, rename and delete files as a diff says."""
    patches = parse(text_of(args, "patch"))
    plan = _Plan()
    leaving = {_real(each.source, bench)[0] for each in patches if each.source is not None and each.source != each.target}
    for patch in patches:
        _add(patch, plan, leaving, bench)
    if len(set(plan.removed)) + len(plan.written) != len({*plan.removed, *plan.written}) and set(plan.removed) & set(plan.written) - leaving:
        raise ModelMistake("bad_patch", "two files of the patch are the same one by different names")
    try:
        with disk_errors():
            change_all(bench.root, plan.removed, plan.written)
    except (FileExistsError, FileNotFoundError, IsADirectoryError) as error:
        raise ModelMistake("bad_patch", f"the patch cannot be done as a whole, so none of it was: {error.strerror}") from None
    more = f"\n[and {len(plan.rows) - _SHOWN_FILES} more]" if len(plan.rows) > _SHOWN_FILES else ""
    text = f"Applied to {len(patches)} {'file' if len(patches) == 1 else 'files'}:\n" + "\n".join(plan.rows[:_SHOWN_FILES]) + more
    wrote = tuple(dict.fromkeys((*plan.written, *plan.removed)))
    return ToolResult(ok=True, text=bounded(text), opened=tuple(plan.opened[:MAX_OPENED]), wrote=wrote, created=tuple(plan.created))


def _add(patch: FilePatch, plan: _Plan, leaving: set[str], bench: Workbench) -> None:
    """Work out one file."""
    if patch.source is None:
        target = _free(str(patch.target), leaving, bench)
        text = "".join(line.text for hunk in patch.hunks for line in hunk.lines)
        _write(plan, target, Content(encoded(text), 0o755 if patch.executable else None))
        plan.created.append(target)
        plan.rows.append(f"created {target}, {len(lines_of(text))} lines")
        return
    source, mode = _real(patch.source, bench)
    text, before = _text(bench.root, source, mode)
    after = _applied(before, patch, source)
    if patch.target is None:
        bench.permit("delete", source)
        if after:
            raise ModelMistake("bad_patch", f"`{source}` is to be deleted, and the patch leaves {len(lines_of(after))} lines of it; use delete_file")
        plan.removed.append(source)
        plan.rows.append(f"deleted {source}")
        return
    content = Content(encoded(after) if patch.hunks else text, _mode(mode, patch))
    if patch.target == patch.source:
        bench.permit("edit", source)
        _write(plan, source, content)
        plan.rows.append(f"edited {source}, {len(patch.hunks)} {'hunk' if len(patch.hunks) == 1 else 'hunks'}")
        plan.opened += _around(after, source, patch.hunks)
        return
    target = _free(patch.target, leaving, bench)
    bench.permit("delete", source)
    plan.removed.append(source)
    _write(plan, target, content)
    plan.created.append(target)
    plan.rows.append(f"renamed {source} to {target}")
    plan.opened += _around(after, target, patch.hunks)


def _write(plan: _Plan, path: str, content: Content) -> None:
    if path in plan.written:
        raise ModelMistake("bad_patch", f"two files of the patch are `{path}`")
    plan.written[path] = content


def _real(given: str, bench: Workbench) -> tuple[str, int]:
    """An existing plain file: its real path and its mode. A link is not patched: which of its two places is meant is open."""
    found = resolve_inside(bench.root, given)
    path = relative_to(bench.root, found)
    state = state_beneath(bench.root, path) if path != "." else None
    if state is None and path != ".":
        raise ModelMistake("no_such_file", f"there is no file `{given}`; a new one has `--- /dev/null`")
    if state is None or not stat.S_ISREG(state.st_mode):
        raise ModelMistake("not_a_file", f"`{given}` is not a regular file")
    if state.st_size > MAX_BYTES:
        raise ModelMistake("not_text", f"`{path}` is too large to patch here")
    return path, stat.S_IMODE(state.st_mode)


def _free(given: str, leaving: set[str], bench: Workbench) -> str:
    """A path where nothing is, or from where the patch takes what is."""
    path = relative_to(bench.root, resolve_inside(bench.root, given))
    bench.permit("create", path)
    if path == "." or (state_beneath(bench.root, path) is not None and path not in leaving):
        raise ModelMistake("file_exists", f"`{path}` exists; a patch of it begins with `--- a/{path}`")
    return path


def _text(root: Path, path: str, _mode: int) -> tuple[bytes, str]:
    data = read_beneath(root, path, MAX_BYTES)
    try:
        return data, data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelMistake("not_text", f"`{path}` is not UTF-8 text and cannot be patched") from None


def _applied(text: str, patch: FilePatch, path: str) -> str:
    try:
        return apply(text, patch.hunks)
    except Misfit as misfit:
        where = f"hunk {misfit.number} of {len(patch.hunks)} for `{path}` ({misfit.hunk.header})"
        if misfit.places:
            numbers = ", ".join(map(str, misfit.places[:20]))
            raise ModelMistake(
                "many_matches", f"{where} fits in {len(misfit.places)} places, from lines {numbers}, and not at its own; add lines around it"
            ) from None
        if not misfit.hunk.old:
            raise ModelMistake("no_match", f"{where} adds lines beyond the file's {len(lines_of(text))} lines, or before an earlier hunk") from None
        miss = describe_miss(text, "".join(misfit.hunk.old), path).replace("`old` is", "its old text is", 1)
        raise ModelMistake("no_match", f"{where} does not fit; nothing was changed: {miss}") from None


def _mode(mode: int, patch: FilePatch) -> int:
    if patch.executable is None:
        return mode
    # Those who may read may run, as git does it.
    return mode | (mode >> 2 & _EXECUTE) if patch.executable else mode & ~_EXECUTE


def _around(text: str, path: str, hunks: tuple[Hunk, ...]) -> list[Opened]:
    """The changed places as they read now."""
    count = len(lines_of(text))
    found = []
    for hunk in hunks:
        new = sum(line.mark != "-" for line in hunk.lines)
        first = _new_start(hunk)
        if new and first <= count:
            found.append(Opened(path, max(1, first), min(count, first + new - 1)))
    return found


def _new_start(hunk: Hunk) -> int:
    return max(1, int(hunk.header.split("+")[1].split(" ")[0].split(",")[0]))


PATCHING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "apply_patch",
            "Apply a unified diff to one or more files: edit, create (`--- /dev/null`), delete (`+++ /dev/null`), rename. All of it or nothing.",
            object_schema({"patch": {"type": "string", "minLength": 1, "maxLength": MAX_PATCH}}),
            "write",
        ),
        apply_patch,
    ),
)
