"""What others see of a Python file, and the settings and comments by which its checkers are told."""

import ast
import re
from collections.abc import Callable, Mapping

from agentforge.languages.described import read_ini, read_toml, table, words
from agentforge.languages.python.symbols import Function, parse

SILENCERS = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|mypy:\s*\S+|pragma:\s*no\s*(?:cover|branch|mutate)|nosec|nosemgrep|NOSONAR|skipcq|ty:\s*ignore|pyre-(?:ignore|fixme)|pytype:\s*disable|pylint:\s*disable|ruff:\s*noqa|flake8:\s*noqa|fmt:\s*(?:off|skip))"
)
"""A comment that keeps a checker from saying something."""

_TOOLS = words(
    "ruff mypy pyright basedpyright pyre ty pylint flake8 bandit pydocstyle vulture interrogate coverage"
)


def _of_toml(text: str) -> dict[str, object]:
    data = read_toml(text)
    if data is None:
        return {"every checker in it, which cannot be read": text}
    return {name: value for name, value in table(data, "tool").items() if name in _TOOLS}


def _of_ini(text: str) -> dict[str, object]:
    parser = read_ini(text)
    if parser is None:
        return {"every checker in it, which cannot be read": text}
    return {
        section: dict(parser[section])
        for section in parser.sections()
        if re.split(r"[-:.]", section.removeprefix("tool:"))[0] in _TOOLS
    }


def _whole(tool: str) -> Callable[[str], dict[str, object]]:
    return lambda text: {tool: text}


CHECKERS: Mapping[str, Callable[[str], Mapping[str, object]]] = {
    "pyproject.toml": _of_toml,
    "setup.cfg": _of_ini,
    "tox.ini": _of_ini,
    "ruff.toml": _whole("ruff"),
    ".ruff.toml": _whole("ruff"),
    "mypy.ini": _whole("mypy"),
    ".mypy.ini": _whole("mypy"),
    "pyrightconfig.json": _whole("pyright"),
    ".flake8": _whole("flake8"),
    ".pylintrc": _whole("pylint"),
    "pylintrc": _whole("pylint"),
    ".coveragerc": _whole("coverage"),
    ".bandit": _whole("bandit"),
}
"""Files that hold settings of checkers, and how to take these out, by tool."""


def public_names(text: str) -> dict[str, str]:
    """The functions, classes, methods and variables that others may use, each with its parameters."""
    tree = parse(text)
    found: dict[str, str] = {}
    if tree is not None:
        _collect(tree.body, "", found)
    return found


def _collect(body: list[ast.stmt], above: str, found: dict[str, str]) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                found[above + node.name] = f"class {node.name}"
                _collect(node.body, f"{above}{node.name}.", found)
        elif isinstance(node, Function):
            if not node.name.startswith("_") or (above and node.name == "__init__"):
                found[above + node.name] = _shape(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            found |= {above + name: name for name in names if not name.startswith("_")}
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for inner in ("body", "orelse", "finalbody"):
                _collect(getattr(node, inner, []), above, found)


def _shape(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """How it is called: its parameters and their defaults. What only a type checker reads is left out."""
    arguments = node.args
    plain = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(plain) - len(arguments.defaults)
    shown = [name if at < needed else f"{name}=…" for at, name in enumerate(plain)]
    if arguments.posonlyargs:
        shown.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        shown.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        shown.append("*")
    shown += [
        argument.arg if default is None else f"{argument.arg}=…"
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        shown.append(f"**{arguments.kwarg.arg}")
    word = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{word}{node.name}({', '.join(shown)})"
