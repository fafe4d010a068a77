"""What a change does that no test shows and no gate decides: flags, named to the reviewer and to the user."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from agentforge.catalog.policies import read_policy, section
from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.gates.change.disguised import disguised, folded, looks_like_another, not_as_seen, odd_name
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.unmet import unmet
from agentforge.gates.flags import Flag
from agentforge.languages.documents.outline import is_document
from agentforge.languages.interface import checker_settings, public_names, silencers
from agentforge.languages.names import IMPORTED
from agentforge.languages.names import public_names as names_of
from agentforge.languages.port import Language
from agentforge.languages.table import LANGUAGES, is_source
from agentforge.languages.values import Manifest
from agentforge.system.git.repository import Change, Git, TreeEntry

MOST_READ = 400
"""Files of tests that are read for the name of another file, at most."""
MOST = 12
"""Flags of one sort; the rest is counted."""
_HOSTS = re.compile(r"https?://([\w.-]+)")
_ASSERTS = re.compile(r"(?m)^[ \t]*(?:assert\b.*|self\.assert\w+\(.*|raise AssertionError\b.*|expect\(.*)$")
EXECUTABLE, LINK, MODULE = "100755", "120000", "160000"


@dataclass(frozen=True, slots=True)
class NamedCase:
    """The change, and what it is compared with."""

    git: Git
    base_tree: str
    tree: str
    is_test: Callable[[str], bool]
    language: Language
    specification: Mapping[str, Json]
    suite: Mapping[str, Json]
    request: str = ""


def named_flags(case: NamedCase) -> list[Flag]:
    """Every flag of a change, each sort in a few lines."""
    changes = case.git.diff_names(case.base_tree, case.tree)
    found: list[Flag] = []
    sorts = (
        _outside,
        _kinds_of_files,
        _letters,
        _checkers,
        _silenced,
        _asserted,
        _public,
        _dependencies,
        _unmet,
    )
    for sort in sorts:
        flags = list(sort(case, changes))
        found += flags[:MOST]
        if len(flags) > MOST:
            found.append(Flag("and more", f"{len(flags) - MOST} more like: {flags[-1].text}"))
    return found


def is_lock(path: str) -> bool:
    """Whether a tool writes the file for itself: it counts by its path and hash."""
    name = path.rpartition("/")[2]
    return name in _policy().locks or any(name in language.projects.LOCKS for language in LANGUAGES)


# ------------------------------------------------------------------ files


def _outside(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Files that the specification does not name. Tests, documents and locks are not promised there."""
    promised = [*texts(case.specification, "files_to_modify"), *texts(case.specification, "files_to_create")]
    promised += [str(item.get("path", "")) for item in objects(case.suite, "test_files")]
    if not promised:
        return
    for change in changes:
        path = change.path
        if case.is_test(path) or is_document(path) or is_lock(path):
            continue
        if not any(path == name or path.startswith(f"{name.rstrip('/')}/") for name in promised if name):
            yield Flag(path, "it is changed, and the specification does not name it")


def _kinds_of_files(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """What runs on other machines, what builds the project, and what can be executed or leads elsewhere."""
    before, after = _entries(case.git, case.base_tree), _entries(case.git, case.tree)
    builds = _policy().build.union(*(language.projects.BUILD_FILES for language in LANGUAGES))
    for change in changes:
        path, word = change.path, {"A": "new", "D": "removed"}.get(change.status, "changed")
        if _policy().ci.fullmatch(path):
            yield Flag(path, f"it runs where the project is built and tested, and is {word}")
        elif path.rpartition("/")[2] in builds:
            yield Flag(
                path, f"it decides how the project is built, and is {word}; the build was not measured"
            )
        yield from _read_by_others(case, path, word)
        yield from _written_by_nobody(case, changes, change)
        if change.status == "A" and (odd := odd_name(path)):
            yield Flag(path.encode("unicode_escape").decode(), odd)
        if odd := looks_like_another(path) if change.status == "A" else "":
            yield Flag(path, f"its name has letters that look like others: {odd}")
        old, new = before.get(path), after.get(path)
        if new is None or (old is not None and old.mode == new.mode):
            continue
        if new.mode == EXECUTABLE:
            yield Flag(path, "it can be executed" + (" now" if old else ", and is new"))
        elif new.mode in (LINK, MODULE):
            what = "a link" if new.mode == LINK else "another repository"
            yield Flag(path, f"it is {what}" + (" now" if old else ", and is new"))


def _read_by_others(case: NamedCase, path: str, word: str) -> Iterator[Flag]:
    """What agents, lawyers and tests read, whatever the code does."""
    if _policy().guides.fullmatch(path):
        yield Flag(path, f"agents and editors read it as what they are to do, and it is {word}")
    elif _policy().legal.fullmatch(path) and word != "new":
        yield Flag(path, f"it says what others may do with the project, and is {word}")
    if is_source(path):
        return
    data = not case.is_test(path) and not is_document(path) and not is_lock(path)
    if word == "new":
        if data and _is_named_by_tests(case, path, case.tree):
            yield Flag(
                path, "it comes with the change, and a test has it by name: it may be what that expects"
            )
    elif case.is_test(path) or (data and _is_named_by_tests(case, path, case.base_tree)):
        yield Flag(path, f"tests of the base read it, and it is {word}")


def _written_by_nobody(case: NamedCase, changes: list[Change], change: Change) -> Iterator[Flag]:
    """What people cannot read, and what a tool wrote and nobody reads."""
    path = change.path
    if change.status != "D" and _policy().opaque.fullmatch(path):
        yield Flag(path, "nobody can read what it holds, and programs may load it")
    if change.status == "D" or not is_lock(path):
        return
    before, after = (_text(case, tree, path) for tree in (case.base_tree, case.tree))
    if hosts := sorted({*_HOSTS.findall(after)} - {*_HOSTS.findall(before)} if before else ()):
        yield Flag(path, f"a tool writes it and nobody reads it, and it names `{hosts[0]}`, which it did not")
    elif (before or path.rpartition("/")[2] not in case.language.projects.LOCKS) and not any(
        _describes_packages(each.path) for each in changes
    ):
        word = "changed" if before else "new"
        yield Flag(path, f"a tool writes it and nobody reads it; it is {word}, and what it is made of is not")


def _describes_packages(path: str) -> bool:
    """Whether a lock may follow from the file."""
    name = path.rpartition("/")[2]
    builds = any(name in language.projects.BUILD_FILES for language in LANGUAGES)
    return builds or name.startswith("requirements")


def _is_named_by_tests(case: NamedCase, path: str, tree: str) -> bool:
    """Whether tests of this tree name a file that is none of theirs."""
    name = path.rpartition("/")[2].encode()
    tests = [each for each in _entries(case.git, tree) if case.is_test(each) and is_source(each)]
    return any(name in (case.git.read_blob(tree, each) or b"") for each in tests[:MOST_READ])


def _letters(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Letters that nobody sees, or that change what is seen; names that some systems cannot tell apart."""
    there: dict[str, list[str]] = {}
    for path in _entries(case.git, case.tree):
        there.setdefault(folded(path), []).append(path)
    for change in changes:
        path = change.path
        if change.status == "D":
            continue
        if change.status == "A" and (others := [each for each in there[folded(path)] if each != path]):
            yield Flag(path, f"some systems cannot tell its name from `{others[0]}`, and keep one of the two")
        old = set(_text(case, case.base_tree, path).split("\n"))
        lines = _text(case, case.tree, path).removeprefix("\ufeff").split("\n")
        for number, line in enumerate(lines, 1):
            if line in old:
                continue
            if said := not_as_seen(line, code=is_source(path)):
                yield Flag(path, f"line {number} {said}", ruling=is_source(path))
                break
            if is_source(path) and (word := disguised(line)):
                yield Flag(path, f"line {number} has letters that look like others: {word}")
                break


def _entries(git: Git, tree: str) -> dict[str, TreeEntry]:
    return {entry.path: entry for entry in git.ls_tree(tree)}


def _unmet(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """What the request says by name or number, and nothing of the change does."""
    sides = {
        each.path: (_text(case, case.base_tree, each.path), _text(case, case.tree, each.path))
        for each in changes
        if is_source(each.path)
    }
    if any(not case.is_test(path) for path in sides):
        there = (entry.path for entry in case.git.ls_tree(case.base_tree) if is_source(entry.path))
        paths = [path for path in there if not case.is_test(path)][:MOST_READ]
        base = {path: _text(case, case.base_tree, path) for path in paths}
        code = [path for path in sides if not case.is_test(path)] if len(sides) == len(changes) else []
        yield from unmet(case.request, sides, base, code=code)


# ------------------------------------------------------------------ checkers


def _checkers(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Settings of linters and type checkers that are others now."""
    for change in changes:
        before, after = (_text(case, tree, change.path) for tree in (case.base_tree, case.tree))
        tools = checker_settings(before, change.path), checker_settings(after, change.path)
        differing = [
            name for name in dict.fromkeys((*tools[0], *tools[1])) if tools[0].get(name) != tools[1].get(name)
        ]
        if differing:
            asked = change.path.rpartition("/")[2].casefold() in case.request.casefold()
            text = f"the settings of {', '.join(differing)} are changed, so what they find may be less"
            yield Flag(change.path, text, ruling=not asked)


def _silenced(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Comments that silence a checker, where there are more than there were."""
    for change in changes:
        if change.status == "D" or not is_source(change.path):
            continue
        before = silencers(_text(case, case.base_tree, change.path), change.path)
        after = silencers(_text(case, case.tree, change.path), change.path)
        more = {
            word: count - before.get(word, 0) for word, count in after.items() if count > before.get(word, 0)
        }
        if more:
            said = ", ".join(f"{count} of {word}" for word, count in more.items())
            yield Flag(change.path, f"it silences checkers in more places than before: {said}")


def _asserted(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Code that asserted something, and does not any more: tests may lean on it."""
    for change in changes:
        if change.status != "M" or not is_source(change.path) or case.is_test(change.path):
            continue
        before, after = (
            Counter(_ASSERTS.findall(_text(case, tree, change.path))) for tree in (case.base_tree, case.tree)
        )
        if lost := [line.strip() for line in (before - after)]:
            yield Flag(
                change.path, f"it does not assert any more what it did, and tests may lean on it: `{lost[0]}`"
            )


# ------------------------------------------------------------------ what others use


def _public(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Public names that are gone or are called in another way."""
    sources = [each for each in changes if is_source(each.path) and not case.is_test(each.path)]
    now = {each.path: public_names(_text(case, case.tree, each.path), each.path) for each in sources}
    for change in sources:
        before = public_names(_text(case, case.base_tree, change.path), change.path)
        after = now[change.path]
        gone = [name for name in before if name not in after]
        there = names_of(_text(case, case.tree, change.path), change.path) if gone else {}
        imported = {name for name, how in there.items() if how == IMPORTED}
        for name in gone:
            if name.rpartition(".")[0] in gone:  # its class is named
                continue
            moved = [path for path, names in now.items() if path != change.path and name in names]
            if name in imported:
                whole = {each for each in before.items() if f"{each[0]}.".startswith(f"{name}.")}
                if not any(whole <= now[path].items() for path in moved):
                    yield Flag(f"{change.path}::{name}", "it is no longer defined here, and imported instead")
                continue
            where = f"; {moved[0]} defines one of that name" if moved else ""
            yield Flag(f"{change.path}::{name}", f"this public name was removed{where}")
        for name, shape in before.items():
            if name in after and after[name] != shape:
                yield Flag(f"{change.path}::{name}", f"its signature changed from {shape} to {after[name]}")


def _dependencies(case: NamedCase, changes: list[Change]) -> Iterator[Flag]:
    """Requirements that are new, gone or others."""
    if all(is_source(change.path) and change.status == "M" for change in changes):
        return
    before, after = _manifest(case, case.base_tree), _manifest(case, case.tree)
    if before is None or after is None:
        if before is not None:
            yield Flag("dependencies", "the project's dependencies can no longer be read")
        return
    old, new = dict(before.requirements), dict(after.requirements)
    for place in dict.fromkeys((*old, *new)):
        was, is_now = set(old.get(place, ())), set(new.get(place, ()))
        parts = [
            f"{word} {', '.join(sorted(found))}"
            for word, found in (("without", was - is_now), ("with", is_now - was))
            if found
        ]
        if parts:
            yield Flag(place, f"the dependencies changed: {'; '.join(parts)}")


def _manifest(case: NamedCase, tree: str) -> Manifest | None:
    paths = [entry.path for entry in case.git.ls_tree(tree) if entry.kind == "blob"]
    try:
        return case.language.projects.describe(lambda path: case.git.read_blob(tree, path), paths)
    except UsageError:
        return None


def _text(case: NamedCase, tree: str, path: str) -> str:
    return (case.git.read_blob(tree, path) or b"").decode("utf-8", "replace")


# ------------------------------------------------------------------ the policy


@dataclass(frozen=True, slots=True)
class _Named:
    """`catalog/policies/named.yaml`, which says what each is."""

    ci: re.Pattern[str]
    build: frozenset[str]
    locks: frozenset[str]
    opaque: re.Pattern[str]
    guides: re.Pattern[str]
    legal: re.Pattern[str]


@cache
def _policy() -> _Named:
    return section(_Named, "named.yaml", read_policy("named"))
