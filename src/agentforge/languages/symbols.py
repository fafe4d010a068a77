"""What a source file defines: an outline with line ranges, one symbol by name, syntax errors, and a map of a
repository.

Python is read with the standard library's parser; other languages, and Python that does not parse, line by
line.
"""

import ast
import io
import re
import tokenize
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["class", "function", "method", "variable"]
PYTHON = (".py", ".pyi")
PARSE_LIMIT = 2_000_000
SIGNATURE_LIMIT = 240

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. Lines count from 1; `start` includes decorators."""

    name: str
    """Dotted below a class or function: `Parser.feed`."""
    kind: Kind
    start: int
    end: int
    signature: str


def decode(data: bytes) -> str:
    """Source bytes as text, by the file's own declaration where it has one; never fails."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("utf-8", "replace")


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


def outline(text: str, path: str) -> list[Symbol]:
    """Every definition of a module and of its classes, in order of appearance."""
    tree = parse(text) if path.endswith(PYTHON) else None
    return list(_definitions(tree.body, "")) if tree is not None else _by_lines(text)


def find_symbol(text: str, name: str, path: str = "module.py") -> Symbol | None:
    """The symbol of that name: whole dotted name first, else its end if only one symbol has it.

    Definitions that share a name (overloads, a property and its setter) come as one range.
    """
    tree = parse(text) if path.endswith(PYTHON) else None
    symbols = list(_definitions(tree.body, "", nested=True)) if tree is not None else _by_lines(text)
    same = [symbol for symbol in symbols if symbol.name == name]
    if not same:
        ending = {symbol.name for symbol in symbols if symbol.name.endswith("." + name)}
        same = [symbol for symbol in symbols if symbol.name in ending] if len(ending) == 1 else []
    if not same:
        return None
    return replace(
        same[-1], start=min(symbol.start for symbol in same), end=max(symbol.end for symbol in same)
    )


def syntax_error(text: str, path: str) -> tuple[int, str] | None:
    """Line and message of the first syntax error; None for a file that is sound, or of a kind that needs a
    tool.
    """
    try:
        if path.endswith(PYTHON):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, path, "exec", dont_inherit=True)
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        return int(found[1]) if found else 1, str(error)
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error) or "nested too deeply"
    return None


def _definitions(
    body: Sequence[ast.stmt], above: str, *, in_class: bool = False, nested: bool = False
) -> Iterator[Symbol]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            name = above + node.name
            yield Symbol(name, "class", _start(node), node.end_lineno or node.lineno, _class_line(node))
            yield from _definitions(node.body, name + ".", in_class=True, nested=nested)
        elif isinstance(node, Function):
            name = above + node.name
            yield Symbol(
                name,
                "method" if in_class else "function",
                _start(node),
                node.end_lineno or node.lineno,
                _function_line(node),
            )
            if nested:
                yield from _definitions(node.body, name + ".", nested=True)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            if not above:
                yield from _variables(node)
        else:
            for block in _blocks(node):
                yield from _definitions(block, above, in_class=in_class, nested=nested)


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


def _function_line(node: Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"[:SIGNATURE_LIMIT]


_MODIFIERS = r"export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|open|override"
_WORDS = r"def|class|function\*?|func|fn|interface|struct|enum|trait|impl|module|type|namespace"
_RECEIVER = r"(?:\([^()\n]{0,80}\)[ \t]*)?"  # of a Go method
_LINE = re.compile(
    rf"^[ \t]*(?:(?:{_MODIFIERS})[ \t]+)*(?P<word>{_WORDS})[ \t]+{_RECEIVER}(?P<name>[A-Za-z_$][\w$]*)"
)
_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "module", "type", "namespace"})


def _by_lines(text: str) -> list[Symbol]:
    """Definitions found by how lines begin; a symbol ends where the indentation comes back to its own."""
    lines = text.splitlines()
    found: list[Symbol] = []
    open_symbols: list[tuple[int, int]] = []  # indentation, position in `found`
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        closes = line.lstrip().startswith(("}", ")", "{", "end"))
        while (
            open_symbols and indent <= open_symbols[-1][0] and not (closes and indent == open_symbols[-1][0])
        ):
            open_symbols.pop()
        for _, position in open_symbols:
            found[position] = replace(found[position], end=number)
        match = _LINE.match(line[:1000])
        if match is None:
            continue
        parents = [position for _, position in open_symbols if found[position].kind == "class"]
        above = found[parents[-1]].name + "." if parents else ""
        kind: Kind = "class" if match["word"] in _CLASSES else "method" if parents else "function"
        found.append(
            Symbol(
                above + match["name"],
                kind,
                number,
                number,
                line.strip().rstrip("{:").rstrip()[:SIGNATURE_LIMIT],
            )
        )
        open_symbols.append((indent, len(found) - 1))
    return found


MAP_FILES_PARSED = 1500


def repo_map(files: Mapping[str, Callable[[], str]], budget: int) -> str:
    """What is where, in at most `budget` characters: as much detail as fits for all files alike, code before
    tests.
    """
    ordered = sorted(files, key=lambda path: ("test" in path.lower(), path))
    outlines: dict[str, list[Symbol]] = {}
    if len(ordered) <= MAP_FILES_PARSED:
        outlines = {path: outline(files[path](), path) for path in ordered if path.endswith(PYTHON)}
    for with_methods, with_names in ((True, True), (False, True), (False, False)):
        text = "\n".join(
            _map_line(path, outlines.get(path, []) if with_names else [], with_methods=with_methods)
            for path in ordered
        )
        if len(text) <= budget:
            return text
    return _folders(ordered, budget)


def _map_line(path: str, symbols: Sequence[Symbol], *, with_methods: bool) -> str:
    names = []
    for symbol in symbols:
        if "." in symbol.name or (symbol.kind == "variable" and not symbol.name.isupper()):
            continue
        own = [
            other.name.rpartition(".")[2]
            for other in symbols
            if with_methods and other.name.rpartition(".")[0] == symbol.name
        ]
        public = list(dict.fromkeys(name for name in own if not name.startswith("_")))
        names.append(f"{symbol.name}({', '.join(public)})" if public else symbol.name)
    return f"{path}: {', '.join(dict.fromkeys(names))}" if names else path


def _folders(paths: Sequence[str], budget: int) -> str:
    """Folders with their number of files; what does not fit is counted."""
    counts: dict[str, int] = {}
    for path in paths:
        folder = path.rpartition("/")[0] or "."
        counts[folder] = counts.get(folder, 0) + 1
    lines = [f"{folder}/ {count} files" for folder, count in counts.items()]
    kept: list[str] = []
    room = budget - 30
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, f"and {left} more folders"] if left else kept)[: max(budget, 0)]
