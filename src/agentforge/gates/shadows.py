"""New modules that would be imported in the place of others: of the standard library, or of the environment."""

import re
import sys
from pathlib import Path, PurePosixPath

from agentforge.gates.court import Court

_LOADABLE = (".py", ".pyc", ".so", ".pyd")
_COMMON = frozenset({"conftest", "docs", "examples", "setup", "test", "tests"})
"""Names that most projects use at their top, and that nothing which judges them imports."""
_TEST_FILE = re.compile(r"(conftest|test_.*|.*_test)\.py")


def shadowing(court: Court, before: str, after: str, request: str) -> list[str]:
    """What a change adds under the name of something that can be imported already, unless the request names
    the file.
    """
    git = court.workspace.git
    fresh = sorted(change.path for change in git.diff_names(before, after) if change.status == "A")
    if not any(path.endswith(_LOADABLE) for path in fresh):
        return []
    there = {entry.path for entry in git.ls_tree(after)}
    folders = {".", *court.env.import_roots, *_folders_of_tests(there)}
    known = {_module(entry.path) for entry in git.ls_tree(before)}
    installed = installed_names(court.env.path)
    found = []
    for path in fresh:
        folder, name = _module(path)
        if folder not in folders or (folder, name) in known or name in _COMMON or _is_named(path, request):
            continue
        if name in sys.stdlib_module_names:
            other = f"`{name}` of the standard library"
        elif name in installed:
            other = f"the installed `{name}`"
        else:
            continue
        found.append(
            f"`{path}` would be imported in the place of {other}; give it another name (such a file is taken only "
            "if the request names it)"
        )
    return found


def installed_names(environment: Path) -> frozenset[str]:
    """What can be imported from an environment, by first name."""
    return frozenset(
        entry.name.partition(".")[0]
        for entry in environment.glob("lib*/python*/site-packages/*")
        if (entry.is_dir() and entry.name.isidentifier()) or entry.suffix in _LOADABLE
    )


def _module(path: str) -> tuple[str, str]:
    """The folder that must be on the path for a file to be imported by one name, and that name; none for what
    cannot be imported.
    """
    place = PurePosixPath(path)
    if place.suffix not in _LOADABLE:
        return "", ""
    if place.name.partition(".")[0] == "__init__":
        place = place.parent
    return place.parent.as_posix(), place.name.partition(".")[0]


def _folders_of_tests(there: set[str]) -> set[str]:
    """Folders of tests that are no packages: pytest puts them on the path."""
    return {
        place.parent.as_posix()
        for place in map(PurePosixPath, there)
        if _TEST_FILE.fullmatch(place.name) and (place.parent / "__init__.py").as_posix() not in there
    }


def _is_named(path: str, request: str) -> bool:
    """Whether the words of the request hold the file's path, or its name where that is telling."""
    place = PurePosixPath(path)
    names = [path, place.parent.as_posix() + "/"] if place.stem == "__init__" else [path, place.name]
    return any(re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])", request) for name in names)
