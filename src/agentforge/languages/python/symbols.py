"""What a Python file defines, read with the standard library's parser: `Source` for Python."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence

from agentforge.languages.values import Docstring, Symbol

PYTHON = (".py", ".pyi")
PARSE_LIMIT = 2_000_000
SIGNATURE_LIMIT = 240

_COOKIE = re.compile(rb"coding[:=][ \t]*([-\w.]+)")
_PLAIN = (
    bytes(range(1, 127)).replace(b"\x1b", b"") + b"\\u0041 \\x41 \\101 \\N{DIGIT ONE} +AGE- &#65; =41 %41"
)
"""Letters that are the same in every encoding which people can read, and ways to write one by others."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def decode(data: bytes) -> str:
    """Source bytes as text, by the file's own declaration where it has one; never fails."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, ValueError, LookupError):  # some codecs raise other errors of Unicode
        return data.decode("utf-8", "replace")


def reads_otherwise(data: bytes) -> str:
    """The encoding that a file declares, if plain letters mean others in it: what is executed then is not
    what people read.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "" if _PLAIN.decode(encoding) == _PLAIN.decode() else encoding
    except (SyntaxError, ValueError, LookupError):  # some codecs raise other errors of Unicode
        found = _COOKIE.search(b"\n".join(data.split(b"\n")[:2]))
        return found[1].decode("ascii", "replace") if found else ""


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None for text that has none: broken, too deep, too big."""
    if len(text) > PARSE_LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def symbols(text: str, *, nested: bool = False) -> list[Symbol] | None:
    """Every definition of a module and of its classes, in order of appearance; None if it does not parse."""
    tree = parse(text)
    return None if tree is None else list(_definitions(tree.body, "", text.split("\n"), nested=nested))


def syntax_error(text: str, path: str) -> tuple[int, str] | None:
    """Line and message of the first syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error) or "nested too deeply"
    return None


def definitions(names: Sequence[str]) -> re.Pattern[str]:
    """Finds where a file defines one of these names."""
    wanted = "|".join(names)
    return re.compile(
        rf"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+({wanted})\b|^({wanted})[ \t]*(?::[^=\n]+)?=(?!=)",
        re.MULTILINE,
    )


def docstrings(text: str) -> tuple[Docstring, ...]:
    """Name, line and docstring of a module (named ``), its classes and its functions, private ones left
    out.
    """
    tree = parse(text)
    return () if tree is None else tuple(_docstrings(tree, ""))


def _docstrings(node: ast.Module | ast.ClassDef | Function, name: str) -> Iterator[Docstring]:
    raw, said = ast.get_docstring(node, clean=False), ast.get_docstring(node)
    if raw and said:
        # Cleaning takes empty lines off the front; the number is that of the first line which is left.
        line = node.body[0].lineno + raw[: len(raw) - len(raw.lstrip())].count("\n")
        yield Docstring(name, line, said)
    if isinstance(node, ast.Module | ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | Function) and not inner.name.startswith("_"):
                yield from _docstrings(inner, f"{name}.{inner.name}" if name else inner.name)


def _definitions(
    body: Sequence[ast.stmt],
    above: str,
    lines: Sequence[str],
    *,
    in_class: bool = False,
    nested: bool = False,
) -> Iterator[Symbol]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            name = above + node.name
            yield Symbol(name, "class", _start(node), node.end_lineno or node.lineno, _class_line(node))
            yield from _definitions(node.body, name + ".", lines, in_class=True, nested=nested)
        elif isinstance(node, Function):
            name = above + node.name
            yield Symbol(
                name,
                "method" if in_class else "function",
                _start(node),
                node.end_lineno or node.lineno,
                _written(node, lines) or _function_line(node),
            )
            if nested:
                yield from _definitions(node.body, name + ".", lines, nested=True)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            if not above:
                yield from _variables(node)
        else:
            for block in _blocks(node):
                yield from _definitions(block, above, lines, in_class=in_class, nested=nested)


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The statements inside `if`, `try`, `with` and their like: definitions there belong to the module or
    class around.
    """
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body


def _variables(node: ast.Assign | ast.AnnAssign) -> Iterator[Symbol]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            kind = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
            yield Symbol(
                target.id,
                "variable",
                node.lineno,
                node.end_lineno or node.lineno,
                (target.id + kind)[:SIGNATURE_LIMIT],
            )


def _start(node: ast.ClassDef | Function) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _class_line(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    return f"class {node.name}({bases})"[:SIGNATURE_LIMIT] if bases else f"class {node.name}"


def _written(node: Function, lines: Sequence[str]) -> str:
    """The head of a function as it stands in one line; empty where it does not. Making one up costs more than
    all else.
    """
    line = lines[node.lineno - 1].strip() if node.lineno <= len(lines) else ""
    own = (
        line.startswith((f"def {node.name}(", f"async def {node.name}("))
        and line.endswith(":")
        and node.body[0].lineno > node.lineno
    )
    return line[:-1].rstrip()[:SIGNATURE_LIMIT] if own and line.isascii() else ""


def _function_line(node: Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"[:SIGNATURE_LIMIT]
