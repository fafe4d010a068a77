"""Where a project keeps its modules and its tests."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from agentforge.languages.described import read_ini, table
from agentforge.languages.python.project import PythonProject, lines, strings
from agentforge.languages.python.workspace import members

TEST_FILE = re.compile(r"(?:test_.+|.+_test|tests)\.py")
TEST_DIRECTORIES = ("tests", "test")
TEST_FILE_GLOBS = ("**/test_*.py", "**/*_test.py", "**/conftest.py")


def import_roots(project: PythonProject) -> tuple[str, ...]:
    """The directories from which the project's modules are imported: what it declares, else `src`, else the
    top.
    """
    inner = [
        posixpath.normpath(f"{folder}/{root}")
        for folder, member in members(project)
        for root in import_roots(member)
    ]
    declared = [root for root in map(_clean, _declared(project)) if _has_modules(project, root)]
    if declared or inner:
        own = [] if declared or not _top_modules(project) else ["."]
        return tuple(dict.fromkeys((*declared, *own, *inner)))
    return ("src",) if _has_modules(project, "src") and "src/__init__.py" not in project.paths else (".",)


def _declared(project: PythonProject) -> Iterator[str]:
    """Every place where a build backend lets a project name its source directory."""
    yield from _package_dir(project.tool("setuptools", "package-dir"))
    yield from strings(project.tool("setuptools", "packages", "find").get("where"))
    options = project.setup_cfg.get("options", "package_dir", fallback="")
    yield from _package_dir(dict(_pair(line) for line in lines(options)))
    yield from lines(project.setup_cfg.get("options.packages.find", "where", fallback=""))
    yield from _package_dir(table(project.setup_py, "package_dir"))
    if isinstance(found := project.setup_py.get("find_packages"), str):
        yield found
    for entry in _tables(project.tool("poetry").get("packages")):
        yield str(entry.get("from", "."))
    wheel = project.tool("hatch", "build", "targets", "wheel")
    yield from (posixpath.dirname(_clean(path)) for path in strings(wheel.get("packages")))
    for key, tool in (
        ("package-dir", ("pdm", "build")),
        ("python-source", ("maturin",)),
        ("module-root", ("uv", "build-backend")),
    ):
        if isinstance(root := project.tool(*tool).get(key), str):
            yield root


def _package_dir(mapping: dict[str, object]) -> Iterator[str]:
    """`{"": "lib"}` says it plainly; `{"pkg": "lib/pkg"}` says it too, if the directory keeps the package's
    name.
    """
    for package, place in mapping.items():
        if not isinstance(place, str):
            continue
        if not package:
            yield place
        elif _clean(place).rpartition("/")[2] == package:
            yield posixpath.dirname(_clean(place))


def _pair(line: str) -> tuple[str, object]:
    name, _, place = line.partition("=")
    return name.strip(), place.strip()


def _tables(value: object) -> Iterator[dict[str, object]]:
    yield from (table(entry) for entry in value) if isinstance(value, list) else ()


def _clean(path: str) -> str:
    return posixpath.normpath(path or ".")


def _has_modules(project: PythonProject, root: str) -> bool:
    """Whether a module or package starts in this directory."""
    prefix = "" if root == "." else f"{root}/"
    return any(
        path.startswith(prefix) and path.endswith(".py") and path[len(prefix) :].count("/") <= 2
        for path in project.paths
    )


def _top_modules(project: PythonProject) -> bool:
    """Whether code lies in the top folder itself, or in a package there."""
    return any(path.endswith(".py") and path.count("/") == 0 for path in project.paths) or any(
        path.endswith("/__init__.py") and path.count("/") == 1 for path in project.paths
    )


def test_paths(project: PythonProject) -> tuple[str, ...]:
    """Where the tests are: what pytest is told, else `tests` or `test`, else inside packages, else single
    files.
    """
    told = [path for path in map(_clean, _test_paths(project)) if _exists(project, path)]
    if told:
        return tuple(dict.fromkeys(told))
    inner = (f"{folder}/{path}" for folder, member in members(project) for path in test_paths(member))
    return tuple(dict.fromkeys((*_usual_test_paths(project), *inner)))


def _usual_test_paths(project: PythonProject) -> tuple[str, ...]:
    """Folders and files that hold tests by custom."""
    directories = {
        str(parent)
        for path in project.paths
        if path.endswith(".py")
        for parent in PurePosixPath(path).parents
    }
    if top := [name for name in TEST_DIRECTORIES if name in directories]:
        return tuple(top)
    nested = sorted(
        name for name in directories if posixpath.basename(name) in TEST_DIRECTORIES and _outermost(name)
    )
    if nested:
        return tuple(nested)
    return tuple(sorted(path for path in project.paths if TEST_FILE.fullmatch(posixpath.basename(path))))


def _test_paths(project: PythonProject) -> Iterator[str]:
    """`testpaths`, from the first file that pytest would read."""
    for name in ("pytest.ini", ".pytest.ini"):
        parser = read_ini(project.text(name))
        if parser is not None and parser.has_section("pytest"):
            yield from strings(parser.get("pytest", "testpaths", fallback=""))
            return
    for settings in (project.tool("pytest", "ini_options"), project.tool("pytest")):
        yield from strings(settings.get("testpaths"))
    yield from strings(project.tox_ini.get("pytest", "testpaths", fallback=""))
    yield from strings(project.setup_cfg.get("tool:pytest", "testpaths", fallback=""))


def _exists(project: PythonProject, path: str) -> bool:
    pattern = "*" if path == "." else f"{path}/*"
    return any(known == path or fnmatchcase(known, pattern) for known in project.paths)


def _outermost(name: str) -> bool:
    """Whether the folder is not inside of another folder of tests."""
    return not any(part in TEST_DIRECTORIES for part in name.split("/")[:-1])


def test_globs(paths: Sequence[str]) -> tuple[str, ...]:
    """What `{tests}` stands for in the path limits of a role, given the places of the tests.

    A directory that is called after tests belongs to them whole. Of any other only the files with a test's
    name do, since code may live beside them.
    """
    globs: list[str] = []
    for path in map(_clean, paths):
        if path.endswith(".py"):
            # Tests beside the code: the file, and what a new test beside it would be called.
            folder = posixpath.dirname(path)
            globs += (
                path,
                *(posixpath.join(folder, name) for name in ("test_*.py", "*_test.py", "conftest.py")),
            )
        elif any(part in TEST_DIRECTORIES for part in path.split("/")):
            globs.append(f"{path}/**")
        else:
            globs += (glob if path == "." else f"{path}/{glob}" for glob in TEST_FILE_GLOBS)
    return tuple(dict.fromkeys(globs or ("tests/**", *TEST_FILE_GLOBS)))
