"""The project's own linters, formatters and type checker, each in the mode that only looks."""

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentforge.languages.described import Read
from agentforge.languages.merged import merged_checks
from agentforge.languages.node.manifest import packages_in
from agentforge.languages.values import CheckRun, Environment
from agentforge.system.processes import Completed

Row = tuple[str, str, str]
"""A finding: file, code, and an example of it."""
_GITHUB = re.compile(r"^::(?:error|warning) title=([^,]+),file=([^,]+),line=(\d+).*?::(.*)$", re.MULTILINE)
_TROUBLE = "\0"
KEPT = "{kept}"
"""Stands for a folder where a checker may remember what it found out."""
PART = "{part}"
"""Stands for the number of the part that it is asked about."""
_TSC_ITSELF = re.compile(r"^(?:\S*tsconfig[\w.-]*\(\d+,\d+\): )?error TS\d+: .*$", re.MULTILINE)
_TSC = re.compile(r"^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NodeChecker:
    """How one program is asked, and how its answer is read."""

    name: str
    package: str
    settings: tuple[str, ...]
    """How the files begin that hold its settings; one must be there."""
    options: tuple[str, ...]
    codes: frozenset[int]
    """Exit codes of a run that looked at everything."""
    read: Callable[[str], Iterator[Row]]
    suffixes: tuple[str, ...] = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
    whole: bool = False
    """Whether it looks at the project, whatever files are named."""
    otherwise: tuple[str, ...] = ()
    """How it is asked where it does not take these options, as older versions."""
    broken: re.Pattern[str] | None = None
    """What it prints where it looked at nothing: its options or settings are wrong."""
    parts: Callable[[Path], Sequence[Sequence[str]]] = lambda _: ((),)
    """Further options, for each part of the project that it has to be asked about by itself."""
    writes: tuple[str, ...] = ()
    """How it is asked to print a text as it would have it; empty: it is not a formatter."""


def _eslint(text: str) -> Iterator[Row]:
    for file in json.loads(text or "[]"):
        for found in file["messages"]:
            yield (
                file["filePath"],
                found.get("ruleId") or "syntax",
                f"{found.get('line', 0)}: {found['message']}",
            )


def _biome(text: str) -> Iterator[Row]:
    for title, path, line, message in _GITHUB.findall(text):
        yield path, title, f"{line}: {message}"


def _prettier(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        if line.strip():
            yield line.strip(), "format", "1: it is not formatted"


def _tsc(text: str) -> Iterator[Row]:
    for path, line, code, message in _TSC.findall(text):
        yield path, code, f"{line}: {message}"


def _referenced(tree: Path) -> Sequence[Sequence[str]]:
    """The settings that those at the top refer to, if these have no file of their own: tsc would look at
    nothing then.
    """
    text = (_read_in(tree, "tsconfig.json") or b"").decode("utf-8", "replace")
    plain = re.sub(
        r",(\s*[\]}])", r"\1", re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', r"\1", text, flags=re.DOTALL)
    )
    try:
        told = json.loads(plain)
    except ValueError:
        return ((),)
    named = told.get("references") if isinstance(told, dict) and told.get("files") == [] else None
    paths = [
        each["path"] for each in named or () if isinstance(each, dict) and isinstance(each.get("path"), str)
    ]
    return [("-p", posixpath.normpath(path)) for path in paths] or ((),)


LINTERS = (
    NodeChecker(
        "eslint",
        "eslint",
        ("eslint.config.", ".eslintrc"),
        ("--format", "json", "--no-error-on-unmatched-pattern"),
        frozenset({0, 1}),
        _eslint,
    ),
    NodeChecker(
        "biome",
        "@biomejs/biome",
        ("biome.json",),
        ("check", "--reporter=github", "--max-diagnostics=2000", "--no-errors-on-unmatched"),
        frozenset({0, 1}),
        _biome,
        writes=("format", "--stdin-file-path={path}"),
    ),
    NodeChecker(
        "prettier",
        "prettier",
        (".prettierrc", "prettier.config."),
        ("--list-different", "--ignore-unknown"),
        frozenset({0, 1}),
        _prettier,
        writes=("--stdin-filepath={path}",),
    ),
)
TYPES = (
    NodeChecker(
        "tsc",
        "typescript",
        ("tsconfig.json",),
        ("--noEmit", "--pretty", "false", "--incremental", "--tsBuildInfoFile", f"{KEPT}/{PART}.tsbuildinfo"),
        frozenset({0, 1, 2}),
        _tsc,
        whole=True,
        otherwise=("--noEmit", "--pretty", "false", "--incremental", "false"),
        broken=_TSC_ITSELF,
        parts=_referenced,
    ),
)


def linters_of(read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    """The linters and formatters that a project has packages and settings of."""
    return tuple(each.name for each in _used(LINTERS, read, paths))


def types_of(read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    """The type checkers likewise."""
    return tuple(each.name for each in _used(TYPES, read, paths))


def _used(known: Sequence[NodeChecker], read: Read, paths: Sequence[str]) -> list[NodeChecker]:
    brought = {name for package in packages_in(read, paths) for name in package.packages}
    names = {posixpath.basename(path) for path in paths if path.count("/") < 3}
    return [
        each
        for each in known
        if each.package in brought and any(name.startswith(each.settings) for name in names)
    ]


def format_texts(
    env: Environment,
    tree: Path,
    texts: Mapping[str, str],
    listed: Sequence[str],
    run: Callable[[Sequence[str], bytes], Completed],
) -> dict[str, str]:
    """Those of these texts that a formatter of the project would write otherwise, as it would."""
    found: dict[str, str] = {}
    for each in _used(LINTERS, partial(_read_in, tree), listed):
        program = program_of(env.source, each.package, each.name) if each.writes else None
        if program is None:
            continue
        for path in (path for path in texts if path.endswith(each.suffixes)):
            words = (word.format(path=path) for word in each.writes)
            done = run((str(env.program), str(program), *words), found.get(path, texts[path]).encode())
            if done.code == 0 and not done.timed_out and done.out:
                found[path] = done.out.decode("utf-8", "replace")
    return {path: text for path, text in found.items() if text != texts[path]}


def _read_in(tree: Path, path: str) -> bytes | None:
    place = tree / path
    return place.read_bytes() if place.is_file() else None


def run_checkers(
    known: Sequence[NodeChecker],
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    listed: Sequence[str],
    run: Callable[[Sequence[str]], Completed],
) -> CheckRun:
    """What those that the project uses find in these files."""
    used = _used(known, partial(_read_in, tree), listed)
    if not used:
        kind = "type checker" if known is TYPES else "linter"
        return CheckRun("not_configured", f"the project uses no {kind} that is known")
    return merged_checks([(each.name, _run(each, env, tree, paths, run)) for each in used])


def _run(
    checker: NodeChecker,
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    run: Callable[[Sequence[str]], Completed],
) -> CheckRun:
    program = program_of(env.source, checker.package, checker.name)
    if program is None:
        return CheckRun("not_run", f"{checker.name} is not among the installed packages")
    wanted = [path for path in paths if path.endswith(checker.suffixes) and (tree / path).is_file()]
    if not wanted and not checker.whole:
        return CheckRun("ran")

    def ask(options: Sequence[str], number: int, more: Sequence[str]) -> Completed:
        told = (word.replace(PART, str(number)) for word in options)
        return run((str(env.program), str(program), *told, *more, *(() if checker.whole else wanted)))

    found = [
        _asked(checker, partial(ask, number=number, more=more))
        for number, more in enumerate(checker.parts(tree))
    ]
    if trouble := next((each for each in found if each.startswith(_TROUBLE)), ""):
        return CheckRun("not_run", trouble.removeprefix(_TROUBLE))
    text = "\n".join(found)
    try:
        rows = [(_inside(tree, path), code, sample) for path, code, sample in checker.read(text)]
    except (ValueError, KeyError, TypeError):
        return CheckRun("not_run", f"the answer of {checker.name} cannot be read")
    return CheckRun.of(rows)


def _asked(checker: NodeChecker, ask: Callable[[Sequence[str]], Completed]) -> str:
    """What it printed; or, behind a mark, why that is no answer."""
    done = ask(checker.options)
    text = done.out.decode("utf-8", "replace")
    if checker.otherwise and checker.broken is not None and checker.broken.search(text):
        done = ask(checker.otherwise)
        text = done.out.decode("utf-8", "replace")
    if checker.broken is not None and (wrong := checker.broken.search(text)):
        return f"{_TROUBLE}{checker.name} looked at nothing: {wrong[0][:200]}"
    if done.timed_out or done.code not in checker.codes:
        said = [line for line in (done.err.decode("utf-8", "replace") + text).splitlines() if line.strip()]
        return f"{_TROUBLE}{checker.name} did not end well: {said[0][:200] if said else done.code}"
    return text


def _inside(tree: Path, path: str) -> str:
    return path.removeprefix(f"{tree}/").removeprefix("./")


def program_of(source: Path, package: str, name: str) -> Path | None:
    """The script behind a program of an installed package, as its `package.json` names it."""
    folder = source / "node_modules" / package
    try:
        bins = json.loads((folder / "package.json").read_text(encoding="utf-8")).get("bin")
    except (OSError, ValueError):
        return None
    path = bins.get(name) if isinstance(bins, Mapping) else bins
    return (folder / path).resolve() if isinstance(path, str) else None
