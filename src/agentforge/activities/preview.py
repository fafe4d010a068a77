"""What a writing tool would change, as an exact diff, without changing it: the tool works on a copy of just
the files that it names.
"""

import difflib
import errno
import posixpath
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agentforge.core.reply import Action
from agentforge.system.bounded import LARGEST, files_below, read_bounded
from agentforge.tools.base import Tool, Workbench, text_of
from agentforge.tools.change.patches import parse
from agentforge.tools.roots import Root, Spot, spot_of

_NO_NEWLINE = "\\ No newline at end of file\n"


class Preview(NamedTuple):
    """What a call would change, shown to a person before it happens."""

    paths: tuple[str, ...]
    """Every path that would change: relative in the tree, absolute elsewhere."""
    diff: str


class _File(NamedTuple):
    data: bytes
    mode: int


class _Copy(NamedTuple):
    """Where the copies are: of the tree, and of each opened directory that is touched, by its real path."""

    top: Path
    roots: Mapping[str, Path]


def preview(tool: Tool, action: Action, bench: Workbench) -> Preview | None:
    """What the call would change; None where only the call itself can tell. A mistake of the model is raised
    as the tool raises it.
    """
    named = _named(tool, action, bench)
    spots = [spot_of(bench.root, bench.roots, given) for given in named]
    if not named or not all(_is_plain(spot, given) for spot, given in zip(spots, named, strict=True)):
        return None
    with tempfile.TemporaryDirectory(prefix="agentforge-preview-", ignore_cleanup_errors=True) as place:
        try:
            copy = _copied(Path(place), spots)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            return None
        before = dict(_files(copy))
        tool.call(action.args, replace(bench, root=copy.top, roots=_opened(copy, bench.roots, named)))
        after = dict(_files(copy))
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return Preview(
        tuple(changed), "".join(_diff(path, before.get(path), after.get(path)) for path in changed)
    )


def _named(tool: Tool, action: Action, bench: Workbench) -> list[str]:
    found = [text_of(action.args, name) for name in tool.spec.writes]
    found += tool.targets(action.args, bench) if tool.targets is not None else ()
    if tool.spec.name == "apply_patch":
        patches = parse(text_of(action.args, "patch"))
        found += [name for patch in patches for name in (patch.source, patch.target) if name is not None]
    return list(dict.fromkeys(found))


def _is_plain(spot: Spot, given: str) -> bool:
    """Whether the name leads there without a link: through one, a copy of a single file would not be the
    same.
    """
    rest = given if spot.outer is None else spot.outer.rest_of(given)
    return rest is not None and posixpath.normpath(rest) == spot.path


def _copied(place: Path, spots: list[Spot]) -> _Copy:
    top = place / "tree"
    top.mkdir()
    roots: dict[str, Path] = {}
    for spot in spots:
        if spot.outer is not None and str(spot.root) not in roots:
            roots[str(spot.root)] = place / f"root-{len(roots)}"
            roots[str(spot.root)].mkdir()
        target = (top if spot.outer is None else roots[str(spot.root)]) / spot.path
        if spot.real.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif spot.real.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(read_bounded(spot.real, LARGEST))
            target.chmod(stat.S_IMODE(spot.real.stat().st_mode))
    return _Copy(top, roots)


def _opened(copy: _Copy, roots: tuple[Root, ...], named: list[str]) -> tuple[Root, ...]:
    """The copies, by the names of the directories that they stand for."""
    found = []
    for root in roots:
        if (place := copy.roots.get(str(root.path))) is not None:
            by_name = bool(root.name) and any(
                given == root.name or given.startswith(f"{root.name}/") for given in named
            )
            found.append(Root(place, root.write, root.name if by_name else str(root.path)))
    return tuple(found)


def _files(copy: _Copy) -> Iterator[tuple[str, _File]]:
    for prefix, top in (("", copy.top), *((f"{name}/", place) for name, place in copy.roots.items())):
        for path in files_below(top):
            data = read_bounded(path, LARGEST, follow=False)
            yield (
                f"{prefix}{path.relative_to(top).as_posix()}",
                _File(data, stat.S_IMODE(path.stat().st_mode)),
            )


def _diff(path: str, before: _File | None, after: _File | None) -> str:
    head = f"--- {f'a/{path}' if before else '/dev/null'}\n+++ {f'b/{path}' if after else '/dev/null'}\n"
    if before is not None and after is not None and before.mode != after.mode:
        head = f"old mode {before.mode:o}\nnew mode {after.mode:o}\n{head}"
    try:
        old, new = (("" if each is None else each.data.decode("utf-8")) for each in (before, after))
    except UnicodeDecodeError:
        return (
            f"{head}binary, {len(before.data) if before else 0} bytes before and "
            f"{len(after.data) if after else 0} after\n"
        )
    lines = difflib.unified_diff(_lines(old), _lines(new))
    body = [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in list(lines)[2:]]
    return head + "".join(body)


def _lines(text: str) -> list[str]:
    """Split at newlines alone: what else ends a line for Python is part of one here."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
