"""Tools for a release: an entry in the changelog, release notes, and a list of what a release needs.

The two that write add to a file which exists and is of their own kind, and can change nothing else.
"""

import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.languages.documents.outline import headings, is_document
from agentforge.languages.measures import leftover
from agentforge.languages.values import Manifest
from agentforge.system.beneath import Content, read_beneath, replace_beneath, state_beneath
from agentforge.system.files import disk_errors, relative_to, resolve_inside
from agentforge.tools.base import OpenedRange, Tool, ToolResult, ToolSpec, Workbench, object_schema, text_of
from agentforge.tools.change.changelog import Placed, has_entry_for, with_entry
from agentforge.tools.look.analysing import manifest_of
from agentforge.tools.look.source import MAX_BYTES, present, read_source, walk

CHANGELOG_NAME = re.compile(
    r"(?:changelog|changes|history|news)(?:\.(?:md|rst|txt|markdown))?", re.IGNORECASE
)
NOTES_NAME = re.compile(
    r"(?:release[-_ ]?notes?|releases?|whats[-_]?new)(?:\.(?:md|rst|txt|markdown))?", re.IGNORECASE
)
_FOLDERS = ("", "doc", "docs")
_MERGE_MARK = re.compile(r"(?m)^(?:<{7}|>{7}|\|{7})(?: |$)")


def generate_changelog(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """An entry where the project keeps them: under its open section, or the given version's."""
    path = _changelog(bench)
    placed = with_entry(_text(bench, path), text_of(args, "entry"), text_of(args, "version"))
    return _written(bench, path, placed)


def create_release_notes(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Text into the existing release notes: above the newest section if it brings its own heading, else under
    the open one.
    """
    path = _notes(args, bench)
    text, said = _text(bench, path), text_of(args, "text").replace("\r\n", "\n").strip("\n")
    if not headings(said):
        return _written(bench, path, with_entry(text, said, bullet=False))
    if said in text.replace("\r\n", "\n"):
        raise ModelMistake("no_change", f"`{path}` already says this")
    return _written(bench, path, _on_top(text, said))


def verify_deployment_ready(_args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """What a release needs, each as ok or missing, with what was looked at."""
    manifest = manifest_of(bench.root)
    changed = tuple(bench.changed())  # asked once: every item looks at it
    bench = replace(bench, changed=lambda: changed)
    rows = [
        (ok, f"{name}: {said}") for name, check in _READY.items() for ok, said in [check(manifest, bench)]
    ]
    missing = sum(not ok for ok, _ in rows)
    head = (
        "Ready: nothing is missing." if not missing else f"Not ready: {missing} of {len(rows)} are missing."
    )
    return ToolResult(
        ok=True, text="\n".join([head, *(f"{'ok' if ok else 'missing'} {text}" for ok, text in rows)])
    )


def changelogs(paths: Sequence[str]) -> list[str]:
    """The changelogs among paths, the likeliest first: of the top, then of the documentation."""
    return _kept(paths, CHANGELOG_NAME)


def worded_files(paths: Sequence[str]) -> list[str]:
    """Where a project tells its users what changed: changelogs and release notes."""
    return [*changelogs(paths), *_kept(paths, NOTES_NAME)]


def _kept(paths: Sequence[str], name: re.Pattern[str]) -> list[str]:
    found = [
        (_FOLDERS.index(folder), path) for path in paths if (folder := path.rpartition("/")[0]) in _FOLDERS
    ]
    return [path for _, path in sorted(found) if name.fullmatch(path.rpartition("/")[2])]


def _changelog(bench: Workbench) -> str:
    manifest = manifest_of(bench.root)
    if manifest.fragments is not None:
        tool, folder = manifest.fragments
        where = f"`{folder}`" if folder else "its folder of fragments"
        raise ModelMistake(
            "not_this_way",
            f"this project's changelog is put together by {tool}: create_file a fragment in {where}",
        )
    found = changelogs(tuple(walk(bench.root, bench.root)))
    if not found:
        raise ModelMistake(
            "no_such_file", "this project keeps no changelog; create_file makes one, if your role may"
        )
    return found[0]


def _notes(args: Mapping[str, Json], bench: Workbench) -> str:
    """The release notes that are meant: given, and then real, there, and of that kind; else the only ones."""
    if given := text_of(args, "path"):
        path = relative_to(bench.root, resolve_inside(bench.root, given))
        if not (bench.root / path).is_file():
            raise ModelMistake(
                "no_such_file", f"there is no file `{path}`; this tool updates release notes that exist"
            )
        if not _is_notes(path):
            raise ModelMistake(
                "not_release_notes", f"`{path}` is no release notes; this tool changes nothing else"
            )
        return path
    found = _kept(tuple(walk(bench.root, bench.root)), NOTES_NAME)
    if not found:
        raise ModelMistake(
            "no_such_file", "this project keeps no release notes; what you would write belongs in your report"
        )
    if len(found) > 1:
        raise ModelMistake(
            "bad_arguments", f"there are several release notes; give `path`: {', '.join(found[:10])}"
        )
    return found[0]


def _is_notes(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    in_folder = any(NOTES_NAME.fullmatch(part) for part in folder.split("/"))
    return is_document(path) and (in_folder or NOTES_NAME.fullmatch(name) is not None)


def _text(bench: Workbench, path: str) -> str:
    data = read_beneath(bench.root, path, MAX_BYTES)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelMistake("not_text", f"`{path}` is not UTF-8 text and cannot be changed") from None
    if len(data) > MAX_BYTES:
        raise ModelMistake("too_large", f"`{path}` is too large to change here")
    return text


def _on_top(text: str, said: str) -> Placed:
    ending = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n") if text.strip() else []
    found = headings("\n".join(lines))
    # The first heading is the title of the file if nothing else stands as high.
    titled = len(found) > 1 and all(each.level > found[0].level for each in found[1:])
    place = found[1].line - 1 if titled else found[0].line - 1 if found else len(lines)
    block = said.split("\n")
    before, after = lines[:place], lines[place:]
    gap = [""] if before and before[-1].strip() else []
    whole = [*before, *gap, *block, *(["", *after] if after else [])]
    first = len(before) + len(gap) + 1
    return Placed(ending.join(whole) + ending, first, first + len(block) - 1, headings(said)[0].title)


def _written(bench: Workbench, path: str, placed: Placed) -> ToolResult:
    try:
        data = placed.text.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelMistake("not_text", "the text holds a lone surrogate, which no UTF-8 file can") from None
    with disk_errors():
        state = state_beneath(bench.root, path)
        replace_beneath(
            bench.root, path, Content(data, None if state is None else stat.S_IMODE(state.st_mode))
        )
    return ToolResult(
        ok=True,
        text=f"`{path}`, lines {placed.start}-{placed.end}: added under `{placed.section}`.",
        opened=(OpenedRange(path, max(1, placed.start - 5), placed.end),),
        wrote=(path,),
    )


def _has_version(manifest: Manifest, _bench: Workbench) -> tuple[bool, str]:
    if not manifest.version_place:
        return False, f"no version in {manifest.version_places}"
    return True, f"{manifest.version or 'computed'} in {manifest.version_place}"


def _has_changelog(manifest: Manifest, bench: Workbench) -> tuple[bool, str]:
    found = changelogs(sorted(manifest.paths))
    fragments = [
        path
        for path in present(bench)
        if re.search(r"(?:^|/)(?:newsfragments|changelog\.d|changes|news)/", path)
    ]
    if fragments:
        return True, f"the change has the fragment {fragments[0]}"
    if not found:
        return False, "the project keeps none"
    if found[0] in present(bench):
        return True, f"this change adds to {found[0]}"
    if has_entry_for(read_source(bench.root, found[0]).text, manifest.version) and not bench.changed():
        return True, f"{found[0]} has an entry for this version"
    return False, f"{found[0]} has no entry for this change; generate_changelog adds one"


def _has_file(name: str, what: str) -> Callable[[Manifest, Workbench], tuple[bool, str]]:
    pattern = re.compile(rf"(?:{name})(?:[.-][\w.-]+)?", re.IGNORECASE)

    def check(manifest: Manifest, _bench: Workbench) -> tuple[bool, str]:
        found = sorted(path for path in manifest.paths if pattern.fullmatch(path))
        return bool(found), found[0] if found else f"there is no {what} at the top"

    return check


def _has_none(
    pattern_for: Callable[[str], re.Pattern[str] | None],
) -> Callable[[Manifest, Workbench], tuple[bool, str]]:
    def places(bench: Workbench) -> Iterator[str]:
        for path in present(bench):
            if (pattern := pattern_for(path)) is not None:
                text = read_source(bench.root, path).text
                yield from (
                    f"{path}:{text.count(chr(10), 0, found.start()) + 1}" for found in pattern.finditer(text)
                )

    def check(_manifest: Manifest, bench: Workbench) -> tuple[bool, str]:
        found = list(places(bench))
        return not found, ", ".join(found[:5]) if found else f"none in {len(present(bench))} changed files"

    return check


_READY: Mapping[str, Callable[[Manifest, Workbench], tuple[bool, str]]] = {
    "version": _has_version,
    "changelog entry": _has_changelog,
    "README": _has_file("readme", "README"),
    "licence": _has_file("licen[cs]e|copying", "licence"),
    "build backend": lambda manifest, _bench: manifest.build,
    "no merge markers": _has_none(lambda _path: _MERGE_MARK),
    "no debugging leftovers": _has_none(leftover),
}

RELEASING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "generate_changelog",
            "Add an entry to the project's changelog: its open section, or that of `version`. The file "
            "must exist.",
            object_schema(
                {"entry": {"type": "string", "minLength": 1, "maxLength": 4000}},
                {"version": {"type": "string", "pattern": r"^v?\d+(\.\d+)*[A-Za-z0-9.+-]{0,20}$"}},
            ),
            "write",
        ),
        generate_changelog,
        lambda _args, bench: [_changelog(bench)],
    ),
    Tool(
        ToolSpec(
            "create_release_notes",
            "Add text to the project's release notes, which must exist. `path` says which, if there are "
            "several.",
            object_schema(
                {"text": {"type": "string", "minLength": 1, "maxLength": 20000}},
                {"path": {"type": "string", "minLength": 1, "maxLength": 1000}},
            ),
            "write",
        ),
        create_release_notes,
        lambda args, bench: [_notes(args, bench)],
    ),
    Tool(
        ToolSpec(
            "verify_deployment_ready",
            "What a release needs, item by item: version, changelog entry, README, licence, build, no "
            "leftovers.",
            object_schema({}),
            "read",
        ),
        verify_deployment_ready,
    ),
)
