"""The project's own type checker, mypy or pyright."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentforge.languages.described import read_ini, read_toml, table
from agentforge.languages.python.environment import run_env
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.processes import Completed

Checker = Literal["mypy", "pyright"]

_MYPY = (
    "--cache-dir=/dev/null",  # the tree is read-only, and a cache could be planted
    "--no-error-summary",
    "--no-color-output",
    "--no-pretty",
    "--show-error-codes",
    "--hide-error-context",
)
_LINE = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):(?:\d+:)* error: (?P<message>.*?)(?:  \[(?P<code>[a-z0-9-]+)\])?"
)
_SELECTS = ("files", "packages", "modules")


@dataclass(frozen=True, slots=True)
class _Configured:
    checker: Checker
    selects: bool
    """The project itself says which files are checked. Then all of them are, and a change that breaks its
    callers is seen.
    """


def configured(tree: Path) -> tuple[Checker, ...]:
    """The type checkers that the project says it uses."""
    return tuple(each.checker for each in _configurations(tree))


def typecheck(
    sandbox: Sandbox, env: Environment, place: Path, paths: Sequence[str], timeout_s: float = 300
) -> CheckRun:
    """Check with the project's configuration and the environment's checker: what the project selects, else
    those of `paths` that exist.
    """
    wanted = _configurations(place)
    if not wanted:
        return CheckRun("not_configured", "the project configures neither mypy nor pyright")
    for each in wanted:
        program = env.program.parent / each.checker
        if program.exists():
            return _run(sandbox, env, place.resolve(), paths, each, timeout_s)
    names = " and ".join(each.checker for each in wanted)
    return CheckRun("not_configured", f"the project configures {names}, but its environment has none")


def _run(
    sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], use: _Configured, timeout_s: float
) -> CheckRun:
    present = [path for path in paths if path.endswith((".py", ".pyi")) and (tree / path).is_file()]
    if paths and not present and not use.selects:
        return CheckRun("ran", "no Python file to check")
    chosen = [] if use.selects else ["--", *(present or ["."])]
    program = str(env.program.parent / use.checker)
    options = list(_MYPY) if use.checker == "mypy" else ["--outputjson", "--pythonpath", str(env.program)]
    # pyright takes no `--`; a path that begins with a dash is no option behind `./`.
    files = chosen if use.checker == "mypy" else [f"./{path}" for path in chosen[1:]]
    done = sandbox.run(
        [program, *options, *files],
        Confinement(cwd=tree, read=(tree, *env.readable), env=_variables(env, tree), timeout_s=timeout_s),
    )
    if done.timed_out:
        return CheckRun("not_run", f"{use.checker} did not end within {int(timeout_s)} s")
    return _READERS[use.checker](done, tree)


def _variables(env: Environment, tree: Path) -> dict[str, str]:
    """Where modules are found: this tree before the checkout that was installed. The checker itself must not
    be imported from the tree.
    """
    roots = [str(tree / root) for root in env.import_roots if root != "."]
    plain = {name: value for name, value in run_env(env, tree).items() if name != "PYTHONPATH"}
    return plain | ({"MYPYPATH": ":".join(roots)} if roots else {})


def _read_mypy(done: Completed, tree: Path) -> CheckRun:
    out = done.out.decode("utf-8", "replace")
    if done.code not in (0, 1):
        # It stopped at the first error of its own; the counts would be those of half a run.
        said = [
            line
            for text in (out, done.err.decode("utf-8", "replace"))
            for line in text.splitlines()
            if line.strip()
        ]
        return CheckRun("not_run", f"mypy stopped: {said[0][:300] if said else f'exit code {done.code}'}")
    rows = [
        (relative(match["path"], tree), match["code"] or "error", f"{match['line']}: {match['message']}")
        for line in out.splitlines()
        if (match := _LINE.fullmatch(line)) is not None
    ]
    return CheckRun.of(rows)


def _read_pyright(done: Completed, tree: Path) -> CheckRun:
    try:
        value: Any = json.loads(done.out)
        found = value["generalDiagnostics"]
    except (ValueError, TypeError, KeyError):
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        return CheckRun("not_run", f"pyright failed: {said[0][:300] if said else f'exit code {done.code}'}")
    rows = [
        (
            relative(row["file"], tree),
            row.get("rule", "error"),
            f"{row['range']['start']['line'] + 1}: {row['message'].splitlines()[0]}",
        )
        for row in found
        if row["severity"] == "error"
    ]
    return CheckRun.of(rows)


_READERS: Mapping[Checker, Callable[[Completed, Path], CheckRun]] = {
    "mypy": _read_mypy,
    "pyright": _read_pyright,
}


def relative(name: str, tree: Path) -> str:
    """A path that a tool printed, as the repository has it."""
    path = Path(name)
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix()


def _configurations(tree: Path) -> list[_Configured]:
    """What the project configures, mypy first; each file is asked in the order in which the checker asks."""
    tools = tools_of(tree)
    found = []
    sections = (
        _ini(tree / "mypy.ini"),
        _ini(tree / ".mypy.ini"),
        tools.get("mypy"),
        _ini(tree / "setup.cfg"),
    )
    mypy = next((section for section in sections if section is not None), None)
    if mypy is not None:
        found.append(_Configured("mypy", any(key in mypy for key in _SELECTS)))
    if "pyright" in tools or (tree / "pyrightconfig.json").is_file():
        # Without paths pyright takes the project's `include`, and by default everything.
        found.append(_Configured("pyright", selects=True))
    return found


def tools_of(tree: Path) -> Mapping[str, Any]:
    """What `pyproject.toml` says for tools; nothing, if it cannot be read."""
    return table(read_toml(_text(tree / "pyproject.toml")), "tool")


def _ini(path: Path) -> Mapping[str, str] | None:
    parser = read_ini(_text(path))
    return parser["mypy"] if parser is not None and parser.has_section("mypy") else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
