"""What a project's own test command runs, in the words of pytest: options that decide what is collected are
kept, what only reports or measures is dropped, unittest and doctest are translated.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal

from agentforge.languages.described import words
from agentforge.languages.python.layout import import_roots
from agentforge.languages.python.own_commands import SITE, OwnCommand
from agentforge.languages.python.project import PythonProject

Runner = Literal["pytest", "unittest", "doctest", "other"]
STARTERS = words("coverage hatch pdm pipenv poetry rye uv")
"""Programs that start a runner in an environment, or measure it."""
OTHERS = words("nosetests nose2 trial stestr ward green")
KEPT_FLAGS = words(
    "--doctest-modules --doctest-ignore-import-errors --doctest-continue-on-failure --pyargs --strict "
    "--strict-markers --strict-config --noconftest --runxfail"
)
KEPT = words(
    "-o --override-ini -W --pythonwarnings -c --config-file --ignore --ignore-glob --deselect --import-mode "
    "--rootdir --confcutdir --doctest-glob"
)
OF_FILES = words("-c --config-file --rootdir --confcutdir")
SELECTS = {"-m": "-m", "-k": "-k"}
OF_PLUGINS = {
    "--asyncio-mode": "pytest-asyncio",
    "--ds": "pytest-django",
    "--doctest-plus": "pytest-doctestplus",
    "--doctest-rst": "pytest-doctestplus",
}
TAKES_WORD = words(
    "-n -r --cov --maxfail --durations --tb --junitxml --junit-xml --cov-report --cov-config --color "
    "--basetemp --log-level --log-cli-level --dist --reruns --timeout --html --capture --cov-fail-under "
    "--numprocesses --durations-min --random-order-seed --tx --verbosity --show-capture --log-file"
)
QUIET = tuple(
    words(
        "--cov --no-cov --junit --durations --tb --color --log --no-header --no-summary --show --capture "
        "--verbose --verbosity --quiet --html --self-contained --benchmark --dist --numprocesses --reruns "
        "--timeout --maxfail --exitfirst --failed-first --lf --ff --last-failed --cache --basetemp --random "
        "--full-trace --disable-warnings --disable-pytest-warnings --forked --flake8 --mypy --black --ruff "
        "--isort --pylint --pdb --setup --randomly --code-highlight --force --tx --max-worker-restart "
        "--strict-no --instafail --stepwise --sw --nf --new-first --github --hypothesis"
    )
)
"""Beginnings of options that change how a run is shown, spread or measured, and not what it runs."""
BY_PLUGINS = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--reruns": "pytest-rerunfailures",
    "--benchmark": "pytest-benchmark",
    "--html": "pytest-html",
    "--self-contained-html": "pytest-html",
    "--flake8": "pytest-flake8",
    "--mypy": "pytest-mypy",
    "--black": "pytest-black",
    "--ruff": "pytest-ruff",
    "--isort": "pytest-isort",
    "--pylint": "pytest-pylint",
    "--instafail": "pytest-instafail",
}
"""Beginnings of those among them that pytest knows only with a plugin."""
_WORKERS = re.compile(r"-n(\d+|auto|logical)")
DOCTEST = "--doctest-"


@dataclass(frozen=True, slots=True)
class OwnRun:
    """A command of the project as pytest would be asked."""

    runner: Runner
    where: str
    words: tuple[str, ...]
    """The command itself."""
    options: tuple[tuple[str, ...], ...] = ()
    paths: tuple[str, ...] = ()
    selection: tuple[tuple[str, str], ...] = ()
    """`-m` and `-k`."""
    left: tuple[str, ...] = ()
    """Options that may change what runs, and cannot be taken over."""

    @property
    def asked(self) -> tuple[object, ...]:
        """The arguments of a run without those that only change its output."""
        return self.options, self.paths, self.selection

    @property
    def doctests(self) -> bool:
        """Whether it runs examples of docstrings or text files."""
        return any(option[0].startswith(DOCTEST) for option in self.options)


def without_plugins(
    options: Sequence[str], brought: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options without those that only report, spread or measure and whose plugin nobody brings; and these
    plugins.
    """
    kept, lacking = list[str](), dict[str, None]()
    takes_word = False
    for word in options:
        name = "-n" if _WORKERS.fullmatch(word) else word.partition("=")[0]
        plugin = next((each for begins, each in BY_PLUGINS.items() if _begins(name, begins)), "")
        if takes_word and not word.startswith("-"):
            takes_word = False
        elif plugin and plugin not in brought:
            lacking[plugin] = None
            takes_word = word == name and name in TAKES_WORD
        else:
            takes_word = False
            kept.append(word)
    return tuple(kept), tuple(lacking)


def _begins(name: str, begins: str) -> bool:
    return name == begins or (begins.startswith("--") and name.startswith(f"{begins}-"))


def read_run(command: OwnCommand, project: PythonProject, brought: frozenset[str]) -> OwnRun | None:
    """How the command runs tests; None if it does something else. `brought` are the distributions that the
    environment has.
    """
    found = _runner_of(command.words)
    if found is None:
        return None
    runner, rest = found
    reader = _READERS.get(runner)
    empty = OwnRun(runner, command.where, command.words)
    return reader(empty, rest, project, brought) if reader else empty


def _runner_of(command: Sequence[str]) -> tuple[Runner, tuple[str, ...]] | None:
    first = PurePosixPath(command[0]).name
    if tuple(command[1:3]) == ("setup.py", "test") and first.startswith("python"):
        return "unittest", ()
    for place, word in enumerate(command):
        before, rest = command[:place], tuple(command[place + 1 :])
        module = bool(before) and before[-1] == "-m"
        started = not before or (module and first.startswith("python"))
        if before and first in STARTERS and "run" in before and (module or not before[-1].startswith("-")):
            started = True
        if not started:
            continue
        name = PurePosixPath(word).name
        if name in {"pytest", "py.test"}:
            return "pytest", rest
        if module and name in {"unittest", "doctest"}:
            return ("unittest" if name == "unittest" else "doctest"), rest
        if name in OTHERS:
            return "other", rest
    return None


def exists(project: PythonProject, path: str) -> bool:
    """Whether a file, folder or pattern of them is there."""
    return path == "." or any(
        known == path or known.startswith(f"{path}/") or fnmatchcase(known, path) for known in project.paths
    )


def _places(word: str, project: PythonProject) -> list[str]:
    """Where a path of a command may be in the project; what is installed comes from its import roots."""
    if not word.startswith(SITE):
        return [_path(word)]
    return [posixpath.normpath(f"{root}/{word.removeprefix(SITE)}") for root in import_roots(project)]


def _path(word: str) -> str:
    return posixpath.normpath(word.partition("::")[0] or ".")


# ------------------------------------------------------------------ pytest


def _of_pytest(run: OwnRun, rest: tuple[str, ...], project: PythonProject, brought: frozenset[str]) -> OwnRun:
    options, selection, left = [], [], []
    paths: list[str] = []
    queue = list(rest)
    while queue:
        word = queue.pop(0)
        if not word.startswith("-") or word == "-":
            paths += [path for path in _places(word, project) if exists(project, path)][:1]
            continue
        name, value = _split(word, queue, project)
        if name in SELECTS and value:
            selection.append((name, value))
        elif name in KEPT and value:
            if name not in OF_FILES or exists(project, _path(value)):
                options.append((f"{name}={value}",) if name.startswith("--") else (name, value))
        elif name in KEPT_FLAGS:
            options.append((name,))
        elif name == "-p":
            options += [("-p", value)] if value.startswith("no:") else []
        elif OF_PLUGINS.get(name) in brought or _own_option(name, project):
            options.append((f"{name}={value}",) if value else (name,))
        elif name.startswith("--") and not name.startswith(QUIET):
            left.append(word)
    return OwnRun(
        run.runner, run.where, run.words, tuple(options), tuple(paths), tuple(selection), tuple(left)
    )


def _split(word: str, queue: list[str], project: PythonProject) -> tuple[str, str]:
    """An option and its value; a value that is a word of its own is taken from the queue."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        takes = name in KEPT or name in TAKES_WORD
        own = not takes and name not in KEPT_FLAGS and not name.startswith(QUIET)
        follows = not equals and bool(queue) and not queue[0].startswith("-")
        if follows and (takes or (own and not exists(project, _path(queue[0])))):
            value = queue.pop(0)
        return name, value
    name, value = word[:2], word[2:]
    if name in (*SELECTS, "-p", "-o", "-W", "-c", "-n", "-r") and not value and queue:
        value = queue.pop(0)
    return name, value


def _own_option(name: str, project: PythonProject) -> bool:
    """Whether a conftest of the project defines the option."""
    return name.startswith("--") and any(
        f'"{name}"' in text or f"'{name}'" in text
        for path in project.paths
        if posixpath.basename(path) == "conftest.py"
        for text in (project.text(path),)
    )


# ------------------------------------------------------------------ unittest and doctest


def _of_unittest(
    run: OwnRun, rest: tuple[str, ...], project: PythonProject, _brought: frozenset[str]
) -> OwnRun:
    plain = [word for word in rest if word not in {"-v", "-b", "-f", "-q", "--verbose", "--buffer"}]
    if plain and plain[0] != "discover" and any(not word.startswith("-") for word in plain):
        found = [_module_path(word, project) for word in plain if not word.startswith("-")]
        return _discovered(run, project, tuple(path for path in found if path), "test*.py", ".")
    start, pattern, top = _discovery(plain[1:])
    chosen = () if start == "." else (start,) if exists(project, start) else ()
    return _discovered(run, project, chosen, pattern, top or (start if chosen else "."))


def _discovery(rest: Sequence[str]) -> tuple[str, str, str]:
    """Start, pattern and top of `discover`; the top is empty where it is not said."""
    names = {"-s": 0, "--start-directory": 0, "-p": 1, "--pattern": 1, "-t": 2, "--top-level-directory": 2}
    told = [".", "test*.py", ""]
    queue, place = list(rest), 0
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if name in names and (equals or queue):
            told[names[name]] = value if equals else queue.pop(0)
        elif not word.startswith("-") and place < len(told):
            told[place] = word
            place += 1
    return _path(told[0]), told[1], _path(told[2]) if told[2] else ""


def _discovered(
    run: OwnRun, project: PythonProject, paths: tuple[str, ...], pattern: str, top: str
) -> OwnRun:
    options = [("-o", f"python_files={pattern}")]
    if top != "." and f"{top}/__init__.py" in project.paths:
        # unittest imports from its top folder, pytest from above the package.
        options.append(("-o", f"pythonpath={top}"))
    return OwnRun(run.runner, run.where, run.words, tuple(options), paths)


def _module_path(word: str, project: PythonProject) -> str:
    if exists(project, _path(word)):
        return _path(word)
    parts = word.split(".")
    while parts:
        place = "/".join(parts)
        for path in (f"{place}.py", place):
            if exists(project, path):
                return path
        parts.pop()
    return ""


def _of_doctest(
    run: OwnRun, rest: tuple[str, ...], project: PythonProject, _brought: frozenset[str]
) -> OwnRun:
    flags = [second for first, second in pairwise(rest) if first in ("-o", "--option")]
    wanted = [place for word in rest if not word.startswith("-") for place in _places(word, project)]
    paths = [path for path in wanted if exists(project, path)]
    code = any(path.endswith(".py") for path in paths)
    options: list[tuple[str, ...]] = [("--doctest-modules",)] if code else []
    options += ((f"--doctest-glob={posixpath.basename(path)}",) for path in paths if not path.endswith(".py"))
    options += [("-o", f"doctest_optionflags={' '.join(flags)}")] if flags else []
    return OwnRun(run.runner, run.where, run.words, tuple(options), tuple(paths))


_READERS: dict[Runner, Callable[[OwnRun, tuple[str, ...], PythonProject, frozenset[str]], OwnRun]] = {
    "pytest": _of_pytest,
    "unittest": _of_unittest,
    "doctest": _of_doctest,
}
