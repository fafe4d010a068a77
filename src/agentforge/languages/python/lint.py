"""The project's own linters and formatters, each in the mode that only looks, whatever its settings say."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.languages.python.checkers import Checker, project_at, scope, used
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.project import PythonProject
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.processes import Completed

Row = tuple[str, str, str]
"""A finding: file, code, and an example of it."""
NOTHING = "no Python file to check"
_TEST = re.compile(r"(?:^|/)(?:tests?/|test_|conftest\.)|_test\.py$")


@dataclass(frozen=True, slots=True)
class _Program:
    """How a linter is asked, and how its answer is read."""

    options: tuple[str, ...]
    codes: frozenset[int]
    """Exit codes of a run that looked at everything."""
    read: Callable[[Completed, Path], Iterator[Row]]


def configured(tree: Path) -> bool:
    """Whether the project says that it uses a linter."""
    return bool(used(project_at(tree), "lint"))


def lint(
    sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], timeout_s: float = 300
) -> CheckRun:
    """Check those of `paths` that exist, with the project's settings and the environment's programs."""
    project = project_at(tree)
    wanted = used(project, "lint")
    if not wanted:
        return CheckRun("not_configured", "the project uses no linter")
    runs = [_run(sandbox, env, tree.resolve(), _Asked(project, each, paths), timeout_s) for each in wanted]
    return merged(dict(zip((each.name for each in wanted), runs, strict=True)))


def merged(runs: Mapping[str, CheckRun]) -> CheckRun:
    """Several programs as one run: what did not run is named in it, and it did not run if none did."""
    missing = {name: run.reason for name, run in runs.items() if run.status != "ran"}
    ran = [run for run in runs.values() if run.status == "ran"]
    if not ran:
        return CheckRun("not_run", "; ".join(missing.values()), missing=missing)
    total: dict[tuple[str, str], int] = {}
    samples: dict[tuple[str, str], str] = {}
    for run in ran:
        for key, count in run.findings.items():
            total[key] = total.get(key, 0) + count
        samples = {**run.samples, **samples}
    reason = NOTHING if all(run.reason == NOTHING for run in ran) and not missing else ""
    limits = tuple(limit for run in ran for limit in run.limits)
    return CheckRun("ran", reason, total, samples, missing, limits)


def absent(checker: Checker, env: Environment) -> CheckRun:
    """What is said of a program that the project uses and that its environment does not have."""
    why = next((line for line in env.failed if line.startswith(f"{checker.program} ")), "")
    said = f"the project uses {checker.name}, but its environment has none"
    return CheckRun("not_run", f"{said}: {why}" if why else said)


def files_for(project: PythonProject, checker: Checker, tree: Path, paths: Sequence[str]) -> list[str]:
    """Of `paths`, those that exist and that the project's own commands give to this checker."""
    chosen = tuple(path for path in scope(project, checker) if (tree / path).exists())
    code_only = checker.code_only and not chosen
    return [
        path
        for path in paths
        if path.endswith(checker.suffixes)
        and (tree / path).is_file()
        and (not chosen or path in chosen or path.startswith(tuple(f"{place}/" for place in chosen)))
        and not (code_only and _TEST.search(path))
    ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which of the changed files a checker is for."""

    project: PythonProject
    checker: Checker
    paths: Sequence[str]


def _run(sandbox: Sandbox, env: Environment, tree: Path, asked: _Asked, timeout_s: float) -> CheckRun:
    checker, program = asked.checker, env.program.parent / asked.checker.program
    if not program.exists():
        return absent(checker, env)
    present = files_for(asked.project, checker, tree, asked.paths)
    if not present:
        return CheckRun("ran", NOTHING)
    how = _PROGRAMS[checker.name]
    options = (*how.options, *_further(asked.project, checker))
    done = sandbox.run(
        (str(program), *options, "--", *present),
        Confinement(cwd=tree, read=(tree, *env.readable), env=run_env(env, tree), timeout_s=timeout_s),
    )
    if done.timed_out:
        return CheckRun("not_run", f"{checker.name} did not end within {int(timeout_s)} s")
    if done.beyond:
        return CheckRun("not_run", f"{checker.name} was out of bounds: {done.beyond}")
    try:
        rows = list(how.read(done, tree)) if done.code in how.codes else None
    except (ValueError, TypeError, KeyError):
        rows = None
    if rows is None:
        return CheckRun("not_run", f"{checker.name} failed: {complaint(done)}")
    return CheckRun.of(rows)


def complaint(done: Completed) -> str:
    """What a program that failed said: its first line, of a traceback the last."""
    said = done.err.decode("utf-8", "replace").strip().splitlines()
    if not said:
        return f"exit code {done.code}"
    return said[-1 if said[0].startswith("Traceback") else 0].strip()[:300]


def _further(project: PythonProject, checker: Checker) -> tuple[str, ...]:
    """Black looks at a file that it is given by name, excluded or not, unless it is told so once more."""
    excluded = project.tool("black").get("extend-exclude") or project.tool("black").get("exclude")
    return (f"--force-exclude={excluded}",) if checker.name == "black" and isinstance(excluded, str) else ()


def relative(name: str, tree: Path) -> str:
    """A path that a tool printed, as the repository has it."""
    path = Path(name)
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix()


# ------------------------------------------------------------------ what each of them prints


def _read_ruff(done: Completed, tree: Path) -> Iterator[Row]:
    rows: Any = json.loads(done.out)
    for row in rows:
        line = (row.get("location") or {}).get("row", 0)
        yield relative(row["filename"], tree), row["code"] or "invalid-syntax", f"{line}: {row['message']}"


def _read_pylint(done: Completed, tree: Path) -> Iterator[Row]:
    rows: Any = json.loads(done.out or b"[]")
    for row in rows:
        yield relative(row["path"], tree), f"pylint {row['symbol']}", f"{row['line']}: {row['message']}"


_FLAKE8 = re.compile(r"(?P<path>.+?):(?P<line>\d+):(?P<code>\w+):(?P<text>.*)")


def _read_flake8(done: Completed, tree: Path) -> Iterator[Row]:
    for line in done.out.decode("utf-8", "replace").splitlines():
        if (found := _FLAKE8.fullmatch(line)) is not None:
            sample = f"{found['line']}: {found['text']}"
            yield relative(found["path"], tree), f"flake8 {found['code']}", sample


_FILE = re.compile(r"\+\+\+ (?P<path>[^\t\n]+?)(?::after)?(?:\t.*)?")
_HUNK = re.compile(r"@@ -(?P<line>\d+).*")


def _differences(name: str) -> Callable[[Completed, Path], Iterator[Row]]:
    """A reader of what a formatter would change: one finding for a file, with the first line of it."""

    def read(done: Completed, tree: Path) -> Iterator[Row]:
        path, line, begun = "", 0, False
        for text in done.out.decode("utf-8", "replace").splitlines():
            if (file := _FILE.fullmatch(text)) is not None:
                path, begun = relative(file["path"], tree), False
            elif text.startswith("--- "):
                continue
            elif (hunk := _HUNK.fullmatch(text)) is not None:
                line = int(hunk["line"]) - 1
            elif path and not begun and text[:1] in ("-", "+"):
                begun = True
                at = line + 1 if text[0] == "-" else max(line, 1)
                change = "does not have" if text[0] == "-" else "adds"
                yield path, name, f"{at}: not formatted: {name} {change} `{text[1:].strip()[:120]}` here"
            elif text[:1] in (" ", "-"):
                line += 1

    return read


def _parsed(read: Callable[[Completed, Path], Iterator[Row]]) -> Callable[[Completed, Path], Iterator[Row]]:
    """A file that does not parse is the business of other checks; any other complaint is a failure."""

    def checked(done: Completed, tree: Path) -> Iterator[Row]:
        if done.code > 1 and b"parse" not in done.err:
            raise ValueError(done.code)
        return read(done, tree)

    return checked


_DIFFED = frozenset({0, 1})
_PROGRAMS: Mapping[str, _Program] = {
    "ruff": _Program(
        (
            *("check", "--no-fix", "--no-fix-only", "--no-show-fixes", "--output-format=json"),
            *("--no-cache", "--force-exclude", "--exit-zero"),
        ),
        frozenset({0}),
        _read_ruff,
    ),
    "ruff format": _Program(
        ("format", "--diff", "--no-cache", "--force-exclude"),
        _DIFFED | {2},
        _parsed(_differences("ruff format")),
    ),
    "black": _Program(("--diff", "--quiet"), _DIFFED | {123}, _parsed(_differences("black"))),
    "isort": _Program(("--diff", "--check-only", "--filter-files"), _DIFFED, _differences("isort")),
    "flake8": _Program(
        ("--exit-zero", "-j1", "--format=%(path)s:%(row)d:%(code)s:%(text)s"), frozenset({0}), _read_flake8
    ),
    "pylint": _Program(
        ("--exit-zero", "--output-format=json", "--score=n", "--persistent=n", "-j1"),
        frozenset({0}),
        _read_pylint,
    ),
}
