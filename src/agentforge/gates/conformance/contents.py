"""The readings of a tree: those of contents that were read before are kept, the others are read now."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from agentforge.catalog.project_checks import CHECKS_FOLDER
from agentforge.gates.conformance.declared import ProjectRules
from agentforge.gates.conformance.engine import CheckReport, CheckScope, examine
from agentforge.gates.conformance.project_rules import Source
from agentforge.languages.conformance import FORMAT, is_checked, read_file
from agentforge.languages.duplicates import Duplicate, Windows, copied_blocks, windows
from agentforge.languages.generated import is_in_made_folder
from agentforge.languages.readings import FileReading
from agentforge.languages.symbols import decode
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.bounded import SETTINGS_BYTES
from agentforge.system.collection import no_collection
from agentforge.system.git.repository import Git
from agentforge.system.halves import made_of_each

Fact = TypeVar("Fact")
AT_ONCE = 16_000_000
"""Bytes that are read before anything is made of them."""
MOST_COMPARED = 3000
"""Files of code beyond which nobody looks for copies."""
_LINK = "120000"


def is_wanted(path: str) -> bool:
    """Whether checks look at a file: it is code, and somebody wrote it."""
    return is_checked(path) and not is_in_made_folder(path)


def tree_contents(git: Git, tree: str) -> dict[str, str]:
    """The files of a tree that checks look at, each with the name of its content."""
    entries = (each for each in git.ls_tree(tree) if each.kind == "blob" and each.mode != _LINK)
    return {each.path: each.oid for each in entries if is_wanted(each.path)}


def rules_in(git: Git, tree: str) -> dict[str, str]:
    """The rules of a project as a tree has them: path to text."""
    paths = [each.path for each in git.ls_tree(tree) if each.path.startswith(CHECKS_FOLDER)]
    found = {path: git.read_blob(tree, path, SETTINGS_BYTES) for path in paths if path.endswith(".yaml")}
    return {path: data.decode("utf-8", "replace") for path, data in found.items() if data is not None}


def content(git: Git, name: str) -> bytes | None:
    """A content by its name."""
    found = git.find(name)
    return found.data if found is not None and found.kind == "blob" else None


def readings_of(
    contents: Mapping[str, str], load: Callable[[str], bytes | None], kept: KeptFacts | None
) -> dict[str, FileReading]:
    """The readings of files, given the name of each one's content. What cannot be loaded any more is left
    out.
    """

    def read(item: tuple[str, bytes]) -> str:
        path, data = item
        return read_file(decode(data, path), path).to_json()

    keys = {path: f"{FORMAT}:{path.rpartition('.')[2]}:{name}" for path, name in contents.items()}
    return _facts(keys, load, kept, read, FileReading.from_json)


def _facts(
    keys: Mapping[str, str],
    load: Callable[[str], bytes | None],
    kept: KeptFacts | None,
    make: Callable[[tuple[str, bytes]], str],
    parse: Callable[[str], Fact | None],
) -> dict[str, Fact]:
    """What is known of each file by its key, or is found out now and kept: each content once, and not all of
    them in memory.
    """
    known = kept.get(list(dict.fromkeys(keys.values()))) if kept else {}
    found = {key: fact for key, text in known.items() if (fact := parse(text)) is not None}
    with no_collection():
        for some in _batches({key: path for path, key in keys.items() if key not in found}, load):
            texts = made_of_each([(path, data) for _, path, data in some], make)
            new = {key: text for (key, _, _), text in zip(some, texts, strict=True)}
            found |= {key: fact for key, text in new.items() if (fact := parse(text)) is not None}
            if kept:
                kept.put(new)
    return {path: found[key] for path, key in keys.items() if key in found}


def _batches(
    paths: Mapping[str, str], load: Callable[[str], bytes | None]
) -> Iterator[list[tuple[str, str, bytes]]]:
    """Key, path and content of each that can be loaded, so many bytes at a time."""
    some: list[tuple[str, str, bytes]] = []
    size = 0
    for key, path in paths.items():
        if (data := load(path)) is None:
            continue
        some.append((key, path, data))
        size += len(data)
        if size > AT_ONCE:
            yield some
            some, size = [], 0
    yield some


def examined(
    git: Git,
    contents: Mapping[str, str],
    rules: ProjectRules,
    is_test: Callable[[str], bool],
    kept: KeptFacts | None,
) -> CheckReport:
    """Every check on all of some files that git has."""

    def load(path: str) -> bytes | None:
        return content(git, contents[path])

    readings = readings_of(contents, load, kept)
    return examine(
        readings,
        rules,
        CheckScope(
            frozenset(readings),
            is_test=is_test,
            copies=lambda: copies_in(readings, contents, load, is_test, kept),
            source=Source(contents, load, kept),
        ),
    )


def copies_in(
    paths: Iterable[str],
    contents: Mapping[str, str],
    load: Callable[[str], bytes | None],
    is_test: Callable[[str], bool],
    kept: KeptFacts | None,
) -> tuple[Duplicate, ...]:
    """What is written twice in these files; tests repeat themselves, and so do trees beyond reading."""
    near = [path for path in paths if not is_test(path)]
    if len(near) > MOST_COMPARED:
        return ()
    keys = {path: f"copies:{FORMAT}:{path.rpartition('.')[2]}:{contents[path]}" for path in near}
    return copied_blocks(_facts(keys, lambda path: load(path) or b"", kept, _windows, Windows.from_text))


def _windows(item: tuple[str, bytes]) -> str:
    path, data = item
    return windows(decode(data, path), path).to_text()
