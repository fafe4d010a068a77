"""New modules that would be imported in the place of those of the standard library or the environment."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from agentforge.languages.values import Environment, Shadow

_LOADABLE = (".py", ".pyc", ".so", ".pyd")
_COMMON = frozenset({"conftest", "docs", "examples", "setup", "test", "tests"})
"""Names that most projects use at their top, and that nothing which judges them imports."""
_TEST_FILE = re.compile(r"(conftest|test_.*|.*_test)\.py")


def shadows(
    written: Sequence[str], before: frozenset[str], after: frozenset[str], env: Environment
) -> list[Shadow]:
    """Which of the new and changed files would be imported in the place of something else."""
    if not any(path.endswith(_LOADABLE) for path in written):
        return []
    folders = {".", *env.import_roots, *_folders_of_tests(after)}
    known = {_module(path) for path in before}
    installed = installed_names(env.path)
    found = []
    for path in written:
        folder, name = _module(path)
        if path not in before and _stands_for_source(path, after):
            found.append(Shadow(path, _names(path), "its source, which is what people read"))
            continue
        if folder not in folders or (folder, name) in known or name in _COMMON:
            continue
        if name in sys.stdlib_module_names:
            found.append(Shadow(path, _names(path), f"`{name}` of the standard library"))
        elif name in installed:
            found.append(Shadow(path, _names(path), f"the installed `{name}`"))
    return found + _own_modules(written, before, after, env)


def _own_modules(
    written: Sequence[str], before: frozenset[str], after: frozenset[str], env: Environment
) -> list[Shadow]:
    """New files below folders of tests that have the very path of a module of the project: what imports that
    module would get the file of the tests.
    """
    roots = {".", *env.import_roots}
    found = []
    for folder in sorted(_folders_of_tests(after) - roots):
        for path in written:
            inside = path.removeprefix(f"{folder}/")
            if inside == path or not path.endswith(_LOADABLE) or path in before:
                continue
            own = [inside if root == "." else f"{root}/{inside}" for root in roots]
            name = inside.rpartition("/")[2]
            if name != "__init__.py" and not _TEST_FILE.fullmatch(name) and before.intersection(own):
                found.append(
                    Shadow(path, _names(path), f"the project's own `{min(before.intersection(own))}`")
                )
    return found


def _stands_for_source(path: str, there: frozenset[str]) -> bool:
    """Whether it is what the interpreter takes although the source is there: a cache can say that nobody is
    to compare the two, and an extension or a package comes first.
    """
    place = PurePosixPath(path)
    if place.suffix == ".pyc":
        return place.parent.name == "__pycache__"
    if place.name == "__init__.py":  # a package is found before a module of its name
        return f"{place.parent.as_posix()}.py" in there
    source = place.parent / f"{place.name.partition('.')[0]}.py"
    return place.suffix in (".so", ".pyd") and source.as_posix() in there


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


def _folders_of_tests(there: frozenset[str]) -> set[str]:
    """Folders of tests that are no packages: pytest puts them on the path."""
    return {
        place.parent.as_posix()
        for place in map(PurePosixPath, there)
        if _TEST_FILE.fullmatch(place.name) and (place.parent / "__init__.py").as_posix() not in there
    }


def _names(path: str) -> tuple[str, ...]:
    """What a request may call the file: its path, or its name where that is telling."""
    place = PurePosixPath(path)
    return (path, f"{place.parent.as_posix()}/") if place.stem == "__init__" else (path, place.name)
