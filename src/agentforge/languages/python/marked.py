"""The integration tests of a Python project: what its own options, folders, environments and targets keep
apart from the suite, as commands of pytest.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agentforge.languages.described import Table
from agentforge.languages.marked import MOST, is_integration, left_out_by
from agentforge.languages.python.own_commands import OwnCommand
from agentforge.languages.python.own_runs import OwnRun, read_run
from agentforge.languages.python.project import PythonProject, strings
from agentforge.languages.values import MarkedTests

PYTEST = ("python", "-m", "pytest")
MOST_READ = 40
"""Test files that are looked into for a marker."""
_FLAG = re.compile(r"addoption\(\s*[\"'](--[\w-]+)[\"'][^()]*store_true")


def addopts_of(settings: Table) -> list[str]:
    """The options that pytest's own settings add to every run."""
    told = settings.get("addopts", "")
    try:
        return shlex.split(told) if isinstance(told, str) else list(strings(told))
    except ValueError:
        return []


def marked_by_options(
    addopts: Sequence[str], options: Sequence[str], paths: Sequence[str]
) -> Iterator[MarkedTests]:
    """What the last `-m` or `-k` of all options leaves out: the last is the one that counts."""
    for option in ("-m", "-k"):
        expression = _last(option, (*addopts, *options))
        names, _ = left_out_by(expression)
        if names:
            only = " or ".join(names)
            what = "marked" if option == "-m" else "named"
            command = (*PYTEST, *_without(option, options), *paths, option, only)
            yield MarkedTests(f"tests {what} {only}", command)


def marked_folders(folders: Iterable[str], options: Sequence[str]) -> Iterator[MarkedTests]:
    """Folders of integration tests that the suite's own paths leave out."""
    for folder in folders:
        if is_integration(folder):
            yield MarkedTests(f"tests in {folder}", (*PYTEST, *options, folder))


def marked_by_flags(
    project: PythonProject, options: Sequence[str], paths: Sequence[str]
) -> Iterator[MarkedTests]:
    """What runs only with an option that a conftest of the project adds; of a marker of that kind, its tests
    alone.
    """
    ours = sorted(path for path in project.paths if posixpath.basename(path) == "conftest.py")
    flags = {flag for path in ours for flag in _FLAG.findall(project.text(path)) if is_integration(flag)}
    if not flags:
        return
    tests = sorted(path for path in project.paths if path.endswith(".py") and "test" in path)
    used = [name for path in tests[:MOST_READ] for name in re.findall(r"mark\.(\w+)", project.text(path))]
    names = sorted({name for name in used if is_integration(name)})
    for flag in sorted(flags.difference(options)):
        only = ("-m", " or ".join(names)) if names else ()
        yield MarkedTests(f"tests behind {flag}", (*PYTEST, *_without("-m", options), *paths, flag, *only))


def marked_ignored(addopts: Sequence[str]) -> Iterator[MarkedTests]:
    """Folders of integration tests that an `--ignore` in pytest's own settings leaves out."""
    for word, after in pairwise((*addopts, "")):
        name, equals, value = word.partition("=")
        folder = (value if equals else after).rstrip("/")
        if name != "--ignore" or not is_integration(folder):
            continue
        rest = [each for each in addopts if each not in (word, *(() if equals else (after,)))]
        yield MarkedTests(f"tests in {folder}", (*PYTEST, "-o", f"addopts={shlex.join(rest)}", folder))


def marked_elsewhere(
    commands: Iterable[OwnCommand], project: PythonProject, brought: frozenset[str]
) -> Iterator[tuple[OwnCommand, MarkedTests | None]]:
    """What environments, sessions and targets of that name run; None for a command that is no test runner
    we can speak for.
    """
    for command in commands:
        if not is_integration(command.where):
            continue
        run = read_run(command, project, brought)
        yield command, _as_marked(run) if run is not None and run.runner != "other" else None


def _as_marked(run: OwnRun) -> MarkedTests:
    options = (word for option in (*run.options, *run.selection) for word in option)
    return MarkedTests(f"tests of {run.where}", (*PYTEST, *options, *run.paths))


def unlike(found: Iterable[MarkedTests], suite: Sequence[str]) -> tuple[MarkedTests, ...]:
    """Each command once, and none that is the suite's own."""
    own = {tuple(sorted(suite))}
    kept: dict[tuple[str, ...], MarkedTests] = {}
    for each in found:
        words = tuple(sorted(each.command))
        if words not in own:
            kept.setdefault(words, each)
    return tuple(kept.values())[:MOST]


def _last(option: str, words: Sequence[str]) -> str:
    found = [value for word, value in pairwise(words) if word == option]
    found += [
        word.removeprefix(option) for word in words if word.startswith(option) and len(word) > len(option)
    ]
    return found[-1] if found else ""


def _without(option: str, words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word == option:
            queue[:1] = []
        else:
            kept.append(word)
    return kept
