"""The project's own type checker, mypy or pyright."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.languages.described import read_ini
from agentforge.languages.python.checkers import Checker, project_at, scope, used
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.lint import NOTHING, absent, complaint, merged, relative
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.bounded import remove_tree
from agentforge.system.processes import Completed

_NO_CACHE = Path("/dev/null")  # the tree is read-only, and a cache in it could be planted
_MYPY = (
    "--no-error-summary",
    "--no-color-output",
    "--no-pretty",
    "--show-error-codes",
    "--hide-error-context",
)
_LINE = re.compile(
    r"(?P<path>[^:\n]+):(?P<line>\d+):(?:\d+:)* error: (?P<message>.*?)(?:  \[(?P<code>[a-z0-9-]+)\])?"
)
_ONE_PROCESS = {"MYPY_NUM_WORKERS": "0"}
"""Whatever the project's settings say: several would share a cache, and there may be none."""
_SELECTS = ("files", "packages", "modules")
_SETTINGS = ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")


@dataclass(frozen=True, slots=True)
class _Configured:
    checker: Checker
    only: tuple[str, ...]
    """What the project's own commands give to it; empty for everything."""
    selects: bool
    """The project itself says which files are checked. Then all of them are, and a change that breaks its
    callers is seen.
    """


def configured(tree: Path) -> tuple[str, ...]:
    """The type checkers that the project says it uses."""
    return tuple(each.checker.name for each in _configurations(tree))


def typecheck(
    sandbox: Sandbox,
    env: Environment,
    place: Path,
    paths: Sequence[str],
    timeout_s: float = 300,
    *,
    cache: Path | None = None,
) -> CheckRun:
    """Check with the project's configuration and the environment's checker: what the project selects, else
    those of `paths` that exist. With `cache`, mypy looks only at what changed since it was last asked.
    """
    if cache is not None:
        found = _typecheck(sandbox, env, place, paths, timeout_s, _made(cache))
        if found.status != "not_run":
            return found
        remove_tree(cache)  # what was remembered may be the reason
    return _typecheck(sandbox, env, place, paths, timeout_s, _NO_CACHE)


def _typecheck(
    sandbox: Sandbox, env: Environment, place: Path, paths: Sequence[str], timeout_s: float, cache: Path
) -> CheckRun:
    wanted = _configurations(place)
    if not wanted:
        return CheckRun("not_configured", "the project uses neither mypy nor pyright")
    return merged(
        {
            each.checker.name: _run(sandbox, env, place.resolve(), paths, each, timeout_s, cache)
            if (env.program.parent / each.checker.program).exists()
            else absent(each.checker, env)
            for each in wanted
        }
    )


def _run(  # noqa: PLR0913, PLR0917 - the port
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    use: _Configured,
    timeout_s: float,
    cache: Path,
) -> CheckRun:
    name = use.checker.name
    there = (path for path in paths if path.endswith((".py", ".pyi")) and _within(path, use.only))
    present = list(dict.fromkeys(_typed(tree, path) for path in there if (tree / path).is_file()))
    if paths and not present and not use.selects:
        return CheckRun("ran", NOTHING)
    chosen = [] if use.selects else ["--", *(present or ["."])]
    program = str(env.program.parent / use.checker.program)
    # pyright takes no `--`; a path that begins with a dash is no option behind `./`.
    files = chosen if name == "mypy" else [f"./{path}" for path in chosen[1:]]

    def ask(options: Sequence[str], *further: Path) -> Completed:
        return sandbox.run(
            [program, *options, *files],
            Confinement(
                cwd=tree,
                read=(tree, *further, *env.readable),
                write=() if cache == _NO_CACHE else (cache,),
                env=_variables(env, tree),
                timeout_s=timeout_s,
            ),
        )

    options = (
        [f"--cache-dir={cache}", *_MYPY]
        if name == "mypy"
        else ["--outputjson", "--pythonpath", str(env.program)]
    )
    done = ask(options)
    limits: tuple[str, ...] = ()
    if name == "mypy" and (plugin := _missing_plugin(done)):
        done, limits = _without_plugins(ask, options, tree, done), (f"mypy without its plugin {plugin}",)
    if done.timed_out:
        return CheckRun("not_run", f"{name} did not end within {int(timeout_s)} s")
    if done.beyond:
        return CheckRun("not_run", f"{name} was out of bounds: {done.beyond}")
    return replace(_READERS[name](done, tree), limits=limits)


def _typed(tree: Path, path: str) -> str:
    """What says the types of a file: the stub beside it, if there is one. A checker that is given the source
    by name takes it for untyped, and every caller with it.
    """
    stub = f"{path}i"
    return stub if path.endswith(".py") and (tree / stub).is_file() else path


def _within(path: str, only: Sequence[str]) -> bool:
    return not only or path in only or path.startswith(tuple(f"{place}/" for place in only))


def _missing_plugin(done: Completed) -> str:
    """The plugin that mypy stopped at; empty if it did not."""
    printed = (done.out + done.err).decode("utf-8", "replace")
    found = re.search(r"[Ee]rror importing plugin [\"']([\w.]+)[\"']", printed)
    return found.group(1) if found and done.code not in (0, 1) else ""


def _without_plugins(
    ask: Callable[..., Completed], options: Sequence[str], tree: Path, done: Completed
) -> Completed:
    """Ask again with the project's settings but for the plugins: what is found then is compared all the
    same.
    """
    for name in _SETTINGS:
        text = _text(tree / name)
        plain = re.sub(r"^plugins\s*=\s*(?:\[[^\]]*\]|.*(?:\n[ \t]+\S.*)*)", "", text, flags=re.MULTILINE)
        if plain != text:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder).resolve() / name
                place.write_text(plain, encoding="utf-8")
                return ask([*options, f"--config-file={place}"], place.parent)
    return done


def _variables(env: Environment, tree: Path) -> dict[str, str]:
    """Where modules are found: this tree before the checkout that was installed. The checker itself must not
    be imported from the tree.
    """
    roots = [str(tree / root) for root in env.import_roots if root != "."]
    plain = {name: value for name, value in run_env(env, tree).items() if name != "PYTHONPATH"}
    return plain | _ONE_PROCESS | ({"MYPYPATH": ":".join(roots)} if roots else {})


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
        why = next(
            (line for line in said if "error: " in line), said[0] if said else f"exit code {done.code}"
        )
        return CheckRun("not_run", f"mypy stopped: {why[:300]}")
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
        return CheckRun("not_run", f"pyright failed: {complaint(done)}")
    rows = [
        (
            relative(row["file"], tree),
            row.get("rule", "error"),
            f"{row['range']['start']['line'] + 1}: {row['message'].splitlines()[0]}",
        )
        for row in found
        if row["severity"] == "error"
    ]
    return replace(CheckRun.of(rows), warnings=sum(row["severity"] == "warning" for row in found))


_READERS: Mapping[str, Callable[[Completed, Path], CheckRun]] = {
    "mypy": _read_mypy,
    "pyright": _read_pyright,
}


def _configurations(tree: Path) -> list[_Configured]:
    """What the project configures, mypy first; each file is asked in the order in which the checker asks."""
    project = project_at(tree)
    found = []
    for checker in used(project, "types"):
        only = tuple(path for path in scope(project, checker) if (tree / path).exists())
        if checker.name == "mypy":
            sections = (
                _ini(tree / "mypy.ini"),
                _ini(tree / ".mypy.ini"),
                project.tool("mypy") or None,
                _ini(tree / "setup.cfg"),
            )
            settings = next((section for section in sections if section is not None), {})
            found.append(_Configured(checker, only, any(key in settings for key in _SELECTS)))
        else:
            # Without paths pyright takes the project's `include`, and by default everything.
            found.append(_Configured(checker, only, selects=True))
    return found


def _ini(path: Path) -> Mapping[str, str] | None:
    parser = read_ini(_text(path))
    return parser["mypy"] if parser is not None and parser.has_section("mypy") else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()
