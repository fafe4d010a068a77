"""What others may use of a Python file, and the same text with names renamed: `Names` for Python."""

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from agentforge.languages.python.imports import module_name
from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.values import IMPORTED

_IMPORTS = frozenset({"import", "from"})
BUILTINS = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "cls"}
_QUOTES = "\"'"
_PREFIXES = "rRuUbBfF"
_FILES = frozenset(
    {"txt", "json", "csv", "tsv", "md", "rst", "yaml", "yml", "toml", "ini", "cfg", "html", "xml"}
) | {
    "log",
    "py",
    "sql",
    "png",
}
"""How a string ends that is the name of a file, and no dotted name."""


def public_names(text: str) -> dict[str, str] | None:
    """Top-level names and the members of classes, by dotted name, each with its parameters; of a variable and
    of what is imported, none.
    """
    tree = parse(text)
    if tree is None:
        return None
    found = dict(_names(tree.body, ""))
    listed = _listed(tree)
    found.pop("__all__", None)
    return {name: how for name, how in found.items() if name in listed or not _is_private(name)}


def module_of(path: str) -> str:
    """The dotted name that a file is imported by, from the top of the tree."""
    return module_name(path)


def references(text: str) -> list[tuple[str, int]] | None:
    """Names, attributes and imported names, each with its line."""
    tree = parse(text)
    if tree is None:
        return None
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.id, node.lineno))
        elif isinstance(node, ast.Attribute):
            found.append((node.attr, node.end_lineno or node.lineno))
        elif isinstance(node, ast.alias):
            found.append((node.name.rpartition(".")[2], node.lineno))
    return found


def renamed(text: str, names: Mapping[str, str], modules: Mapping[str, str]) -> str:
    """The text with each identifier of `names` replaced; those of `modules` only in imports and behind the
    dots of what is imported.
    A string that is nothing but a dotted name is treated as one. Text that cannot be read stays as it is.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return text
    lines = text.splitlines(keepends=True)
    for token, instead in reversed(list(_replaced(tokens, names, modules))):
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        lines[row - 1] = line[:start] + instead + line[end:]
    return "".join(lines)


def _replaced(
    tokens: Sequence[tokenize.TokenInfo], names: Mapping[str, str], modules: Mapping[str, str]
) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    importing, before, root = False, "", ""
    imported: set[str] = set()
    for token in tokens:
        if token.type == tokenize.NAME:
            importing = importing or token.string in _IMPORTS
            root = root if before == "." else token.string
            if importing:
                imported.add(token.string)
            # `self.price` is no module, whatever modules are called.
            of_module = importing or (before == "." and root in imported)
            known = names.get(token.string) or (modules.get(token.string) if of_module else None)
            if known is not None:
                yield token, known
        elif token.type == tokenize.STRING and token.start[0] == token.end[0]:
            whole = _dotted(token.string, {**modules, **names})
            if whole != token.string:
                yield token, whole
        elif token.type == tokenize.NEWLINE:
            importing = False
        before = token.string


def _dotted(literal: str, names: Mapping[str, str]) -> str:
    """A string literal that holds a dotted name and nothing else, with its parts renamed."""
    inside = literal.lstrip(_PREFIXES).strip(_QUOTES)
    parts = inside.split(".")
    if len(parts) < 2 or parts[-1] in _FILES or not all(part.isidentifier() for part in parts):
        return literal
    return literal.replace(inside, ".".join(names.get(part, part) for part in parts))


def _names(body: Sequence[ast.stmt], above: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield above + node.name, ""
            yield from _names(node.body, f"{above}{node.name}.")
        elif isinstance(node, Function):
            yield above + node.name, _parameters(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for part in (part for target in targets for part in ast.walk(target)):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield above + part.id, ""
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if not above:
                yield from ((alias.asname or alias.name.split(".")[0], IMPORTED) for alias in node.names)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _names(getattr(node, name, []), above)


def _parameters(node: Function) -> str:
    """The parameters without their types: how a caller may call it."""
    again = ast.parse(f"def f({ast.unparse(node.args)}): ...").body[0]
    assert isinstance(again, ast.FunctionDef)
    for argument in ast.walk(again.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return ast.unparse(again.args)


def _listed(tree: ast.Module) -> frozenset[str]:
    """The names of `__all__`, where it is a literal."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return frozenset(
                part.value
                for part in ast.walk(node.value)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
    return frozenset()


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))
