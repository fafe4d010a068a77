"""The suite of a project: what its own commands and settings say that its tests are, as one command of pytest
for every run, and what of it is not run.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agentforge.languages.described import Table, read_ini, read_toml, table
from agentforge.languages.marked import left_out_by
from agentforge.languages.python import django
from agentforge.languages.python.layout import TEST_FILE, test_paths
from agentforge.languages.python.marked import (
    addopts_of,
    marked_by_flags,
    marked_by_options,
    marked_elsewhere,
    marked_folders,
    marked_ignored,
    unlike,
)
from agentforge.languages.python.own_commands import SITE, OwnCommand, OwnSource, own_sources
from agentforge.languages.python.own_runs import OwnRun, read_run, without_plugins
from agentforge.languages.python.project import PythonProject, strings
from agentforge.languages.python.workspace import members
from agentforge.languages.values import MarkedTests

MOST_READ = 40
"""Test files that are looked into, to know in whose words they are written."""
MOST_NAMED = 6
LOADER = "def load_tests("
VERSIONED = re.compile(r"py(?:py|thon)?[\d.]+")


@dataclass(slots=True)
class Suite:
    """What tests mean in a project."""

    options: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Where the suite is; empty for wherever pytest finds tests."""
    reasons: list[str] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    """What the project means by its tests and is not run, with the reason."""
    marked: tuple[MarkedTests, ...] = ()
    """Integration tests, which run when the change is done."""


def find_suite(project: PythonProject, brought: frozenset[str]) -> Suite:
    """The suite by the first place that says how tests are run. `brought` are the distributions that the
    environment has.
    """
    sources = [(source, list(_runs(source.commands, project, brought))) for source in own_sources(project)]
    suite = Suite()
    usual = test_paths(project)
    at = next((place for place, (_, runs) in enumerate(sources) if _whole(runs, usual)), None)
    joined = [] if at is None else _joined(_whole(sources[at][1], usual), suite)
    for _, later in sources[at + 1 :] if at is not None else ():
        joined += (run for run in later if _adds_doctests(run, joined))
    joined += _loaded_doctests(project)
    settings = pytest_settings(project)
    _take(suite, joined, project, settings)
    if not joined and not settings and (module := django.settings_module(project, brought)):
        suite.options = (f"--ds={module}", "-o", django.FILES)
        suite.reasons.append(f"`manage.py` names `{module}`; pytest runs what `manage.py test` would")
    elif not joined and not settings and "pytest" not in brought and _speaks_unittest(project):
        suite.options = ("-o", "python_files=test*.py *_test.py")
        suite.reasons.append("the tests are written for unittest; pytest runs them")
    if _same_names(project) and "--import-mode" not in f"{settings.get('addopts', '')} {suite.options}":
        suite.options += ("--import-mode=importlib",)
        suite.reasons.append("members of the workspace have test files of the same name")
    kept, lacking = without_plugins(addopts_of(settings), brought)
    if lacking:
        suite.options = ("-o", f"addopts={shlex.join(kept)}", *suite.options)
        suite.reasons.append(f"options of {', '.join(lacking)} are left out: no requirement brings it")
    _name_left_out(suite, [source for source, _ in sources], joined, project, brought)
    _mark(suite, [source for source, _ in sources], project, brought)
    return suite


def _mark(
    suite: Suite, sources: Sequence[OwnSource], project: PythonProject, brought: frozenset[str]
) -> None:
    """Integration tests: what marks them says how they are run, and then they are not among what is left."""
    addopts = addopts_of(pytest_settings(project))
    found = [
        *marked_by_options(addopts, suite.options, suite.paths),
        *marked_by_flags(project, suite.options, suite.paths),
        *marked_ignored(addopts),
    ]
    others = (command for source in sources for command in source.others)
    for command, marked in marked_elsewhere(others, project, brought):
        line = f"`{shlex.join(command.words)}`"
        if marked is None:
            suite.not_run[line] = f"not run: {command.where} starts no test runner that is known"
        else:
            found.append(marked)
            suite.not_run.pop(line, None)
    outside = _outside(suite, project)
    named = {word for marked in found for word in marked.command}
    found += marked_folders((folder for folder in outside if folder not in named), suite.options)
    suite.marked = unlike(found, ("python", "-m", "pytest", *suite.options, *suite.paths))
    for folder in outside:
        if any(folder in marked.command for marked in suite.marked):
            suite.not_run.pop(folder, None)


def suite_of(command: Sequence[str], project: PythonProject) -> Suite | None:
    """What a command that a person wrote down runs; None where it is pytest's own, and so is taken as it
    is, or no runner that can be translated.
    """
    run = read_run(OwnCommand(tuple(command), "the settings"), project, frozenset())
    if run is None or run.runner not in ("unittest", "doctest"):
        return None
    suite = Suite()
    _take(suite, [run], project, pytest_settings(project))
    return suite


def pytest_settings(project: PythonProject) -> Table:
    """The settings of the first file that pytest would read."""
    for name in ("pytest.toml", ".pytest.toml"):
        if name in project.paths:
            return table(read_toml(project.text(name)), "pytest")
    for name in ("pytest.ini", ".pytest.ini"):
        if name in project.paths:
            parser = read_ini(project.text(name))
            return dict(parser["pytest"]) if parser is not None and parser.has_section("pytest") else {}
    for found in (project.tool("pytest", "ini_options"), project.tool("pytest")):
        if found:
            return found
    if project.tox_ini.has_section("pytest"):
        return dict(project.tox_ini["pytest"])
    return dict(project.setup_cfg["tool:pytest"]) if project.setup_cfg.has_section("tool:pytest") else {}


def _runs(
    commands: Sequence[OwnCommand], project: PythonProject, brought: frozenset[str]
) -> Iterator[OwnRun]:
    for command in commands:
        if (run := read_run(command, project, brought)) is not None:
            yield run


def _whole(runs: Sequence[OwnRun], usual: Sequence[str]) -> list[OwnRun]:
    """The runs that speak for the suite: not those of another runner, nor of single files out of a folder of
    tests.
    """
    folders = tuple(f"{path}/" for path in usual if not path.endswith(".py"))
    return [
        run
        for run in runs
        if run.runner != "other"
        and (
            run.doctests
            or not run.paths
            or not all(path.endswith(".py") and path.startswith(folders) for path in run.paths)
        )
    ]


def _joined(runs: Sequence[OwnRun], suite: Suite) -> list[OwnRun]:
    """The commands of one place that can run as one; what selects other tests than the first is left out."""
    first = list(runs[:1])
    for run in runs[1:]:
        if run.selection == first[0].selection:
            first.append(run)
        else:
            suite.not_run[f"`{shlex.join(run.words)}`"] = f"not run: {run.where} runs it beside the suite"
    return first


def _loaded_doctests(project: PythonProject) -> list[OwnRun]:
    """Doctests that unittest's `load_tests` adds by name."""
    found = []
    for path in _test_modules(project):
        text = project.text(path)
        if LOADER in text:
            named = re.findall(r"DocTestSuite\(\s*[\"']([\w.]+)[\"']", text)
            words = tuple(f"{name.replace('.', '/')}.py" for name in named)
            command = OwnCommand(
                ("python", "-m", "doctest", *(f"{SITE}/{word}" for word in words)), f"`load_tests` of {path}"
            )
            if words and (run := read_run(command, project, frozenset())) is not None and run.paths:
                found.append(run)
    return found


def _adds_doctests(run: OwnRun, joined: Sequence[OwnRun]) -> bool:
    return (
        run.doctests
        and not any(known.doctests for known in joined)
        and (not run.selection or run.selection == joined[0].selection)
    )


def _take(suite: Suite, runs: Sequence[OwnRun], project: PythonProject, settings: Table) -> None:
    if not runs:
        return _from_settings(suite, settings)
    options = dict.fromkeys(option for run in runs for option in run.options)
    if "python_files" in settings:  # the settings say it better
        options = {option: None for option in options if "python_files=" not in option[-1]}
    options |= dict.fromkeys(runs[0].selection)
    suite.options = tuple(word for option in options for word in option)
    if any(run.paths for run in runs):
        plain = [run for run in runs if run.runner != "doctest"]
        usual = () if plain and all(run.paths for run in plain) else test_paths(project)
        suite.paths = tuple(dict.fromkeys((*usual, *(path for run in runs for path in run.paths))))
    told: list[object] = []
    for run in runs:
        if run.asked not in told:
            suite.reasons.append(f"tests as {run.where} runs them: `{shlex.join(run.words)}`")
        told.append(run.asked)
    return _from_settings(suite, settings)


def _from_settings(suite: Suite, settings: Table) -> None:
    """What the options in pytest's own settings leave out, and that they run doctests."""
    every = [*addopts_of(settings), *suite.options]
    for option, value in pairwise(every):
        if option in ("-m", "-k") and not left_out_by(value)[1]:
            spelled = f"{option} {shlex.quote(value)}"
            suite.not_run[f"tests that `{spelled}` leaves out"] = "not run: the project's own options say so"
    if any(word.startswith("--doctest-") for word in every):
        suite.reasons.append("doctests are part of the suite")


def _same_names(project: PythonProject) -> bool:
    """Whether files of tests in several members would be the same module to pytest."""
    names = [
        posixpath.basename(path)
        for folder, member in members(project)
        for path in member.paths
        if TEST_FILE.fullmatch(posixpath.basename(path))
        and f"{posixpath.dirname(path)}/__init__.py" not in member.paths
    ]
    return len(names) > len(set(names))


def _speaks_unittest(project: PythonProject) -> bool:
    """Whether test files use unittest and none uses pytest."""
    names = [path for path in sorted(project.paths) if TEST_FILE.fullmatch(posixpath.basename(path))]
    names += (
        path
        for path in sorted(project.paths)
        if posixpath.basename(path).startswith("test") and path.endswith(".py") and path not in names
    )
    texts = [project.text(path) for path in names[:MOST_READ]]
    return any("unittest" in text for text in texts) and not any(
        re.search(r"^\s*(?:import|from) pytest\b", text, re.MULTILINE) for text in texts
    )


# ------------------------------------------------------------------ what is not run


def _name_left_out(
    suite: Suite,
    sources: Sequence[OwnSource],
    joined: Sequence[OwnRun],
    project: PythonProject,
    brought: frozenset[str],
) -> None:
    for run in joined:
        for word in run.left:
            suite.not_run[f"option {word}"] = (
                f"not taken over from {run.where}: it belongs to no known plugin"
            )
    known = {run.asked for run in joined}
    for source in sources:
        others = [run for run in _runs(source.others, project, brought) if run.asked not in known]
        _add(suite, others, "beside the suite")
        foreign = [run for run in _runs(source.commands, project, brought) if run.runner == "other"]
        _add(suite, foreign, "with a runner of its own")
    _name_other_tests(suite, sources, joined, project)


def _name_other_tests(
    suite: Suite, sources: Sequence[OwnSource], joined: Sequence[OwnRun], project: PythonProject
) -> None:
    """Tests that no command of pytest reaches."""
    for path in _outside(suite, project):
        suite.not_run[path] = "not run: the project's own command leaves it out"
    read = {run.where for run in joined}
    for path in _test_modules(project):
        if LOADER in project.text(path) and f"`load_tests` of {path}" not in read:
            suite.not_run[f"load_tests of {path}"] = "not run: only unittest itself calls it"
    if _documentation_doctests(sources):
        suite.not_run["doctests of the documentation"] = "not run: they need the documentation's own build"
    for folder, member in members(project):
        if pytest_settings(member) and pytest_settings(project):
            suite.not_run[f"pytest settings of {folder}"] = "not used: the suite runs from the top"
    if len(versions := _versions(project)) > 1:
        suite.not_run["other versions of Python"] = f"not run: tox has {', '.join(versions)}, a task has one"
    for path in sorted(project.paths):
        if posixpath.basename(path) == "package.json" and _npm_tests(project.text(path)):
            suite.not_run[f"npm tests of {path}"] = "not run: only the Python tests are"


def _add(suite: Suite, runs: Sequence[OwnRun], how: str) -> None:
    for run in runs[:MOST_NAMED]:
        suite.not_run[f"`{shlex.join(run.words)}`"] = f"not run: {run.where} runs it {how}"


def _outside(suite: Suite, project: PythonProject) -> list[str]:
    """Folders with test files that the paths of the suite leave out."""
    if not suite.paths:
        return []
    covered = tuple("" if path == "." else f"{path}/" for path in suite.paths)
    folders = {
        posixpath.dirname(path) or "."
        for path in project.paths
        if TEST_FILE.fullmatch(posixpath.basename(path))
        and not path.startswith(covered)
        and not any(_same(path, chosen) for chosen in suite.paths)
    }
    return sorted(folders)[:MOST_NAMED]


def _same(path: str, chosen: str) -> bool:
    return path == chosen or ("*" in chosen and re.fullmatch(chosen.replace("*", "[^/]*"), path) is not None)


def _test_modules(project: PythonProject) -> list[str]:
    found = [
        path
        for path in sorted(project.paths)
        if path.endswith(".py") and ("test" in posixpath.basename(path) or "test" in posixpath.dirname(path))
    ]
    return found[:MOST_READ]


def _documentation_doctests(sources: Sequence[OwnSource]) -> bool:
    return any(
        "sphinx-build" in command.words and "doctest" in command.words
        for source in sources
        for command in (*source.commands, *source.others)
    )


def _versions(project: PythonProject) -> list[str]:
    """The versions of Python that tox lists; `py3{9,10}-x` is two."""
    told = project.tox_ini.get("tox", "envlist", fallback="") or project.tox_ini.get(
        "tox", "env_list", fallback=""
    )
    names = [*strings(project.tool("tox").get("env_list"))]
    for each in re.findall(r"[\w.-]*(?:\{[^{}]*\})?[\w.-]*", told):
        head, inner, tail = re.fullmatch(r"([\w.-]*)(?:\{([^{}]*)\})?([\w.-]*)", each).groups()  # type: ignore[union-attr]
        names += [head + part.strip() + tail for part in (inner or "").split(",")]
    found = [name.partition("-")[0] for name in names]
    return list(dict.fromkeys(name for name in found if VERSIONED.fullmatch(name)))


def _npm_tests(text: str) -> bool:
    return re.search(r'"test"\s*:\s*"(?!echo \\"Error: no test)', text) is not None
