"""What a change of a Python file did, seen in its syntax: comments, docstrings and formatting are no code.

A file is taken apart into scopes (the module, classes, functions) and these into pieces: simple statements,
and the heads of compound ones. Scopes of one name are compared piece by piece.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.values import ChangedCode, ChangedValue

_READS_WORDS = frozenset({"__doc__", "getdoc"})
"""Names by which code reads its docstrings: then they are code."""
_Block = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.Match
_QUIET = (ast.Import, ast.ImportFrom, ast.Pass, ast.Assign, ast.AnnAssign)
"""What an `if` or `try` around it only chooses between: it counts by itself, the head does not."""


@dataclass(frozen=True, slots=True)
class _CodePiece:
    """A simple statement, the head of a compound one, or the mark of a definition."""

    key: str
    lines: frozenset[int]
    names: frozenset[str] = frozenset()
    """What it binds, outside of functions."""
    quiet: bool = False
    """Whether it cannot be a value that somebody reads."""


@dataclass(slots=True)
class _Scope:
    """A module, class or function, without the definitions inside it."""

    kind: type[ast.AST]
    head: str = ""
    lines: frozenset[int] = frozenset()
    """All that runs when it runs."""
    pieces: list[_CodePiece] = field(default_factory=list)
    says: str | None = None
    decorated: bool = False


def same_code(before: str, after: str) -> bool:
    """Whether two texts are one program up to comments, docstrings that it does not read, and formatting."""
    if before == after:
        return True
    old, new = parse(before), parse(after)
    return old is not None and new is not None and _bare(old) == _bare(new)


def _bare(tree: ast.Module) -> str:
    if any(getattr(node, "attr", getattr(node, "id", "")) in _READS_WORDS for node in ast.walk(tree)):
        return ast.dump(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.dump(tree)


def changed_code(before: str, after: str) -> ChangedCode | None:
    """What is new, different or gone in a file; None where one of the texts does not parse."""
    old_tree, new_tree = parse(before), parse(after)
    if old_tree is None or new_tree is None:
        return None
    old, new = _scopes(old_tree), _scopes(new_tree)
    functions: list[str] = []
    altered: dict[str, frozenset[int]] = {}
    bodies: dict[str, frozenset[int]] = {}
    lines: set[int] = set()
    values: list[tuple[str, frozenset[str]]] = []
    others: set[tuple[str, frozenset[str]]] = set()
    for name, scope in new.items():
        known = old.get(name)
        if known is not None and known.says != scope.says:
            # What decorates a function may show its words to people; `__doc__` is read like any other name.
            words = frozenset() if scope.decorated else frozenset({"__doc__"})
            values.append((f"the words of {name or 'the module'}", words))
        added, lost = _difference(known.pieces if known else [], scope.pieces)
        if issubclass(scope.kind, Function):
            # A new head, or a line less, is something that shows whichever of its lines runs.
            whole = known is None or known.head != scope.head or bool(lost)
            if known is not None and known.head != scope.head:
                values.append((f"the signature of `{name}`", _last(name)))
            if whole or added:
                functions.append(name)
                shown = scope.lines if whole else frozenset().union(*(piece.lines for piece in added))
                lines |= shown
                altered |= {name: shown} if known is not None else {}
                bodies |= {name: shown} if known is not None and (added or lost) else {}
            continue
        lines |= frozenset().union(*(piece.lines for piece in added))
        values += [_value(name, piece) for piece in (*added, *lost) if not piece.quiet]
        others |= {_value(name, piece) for piece in (known.pieces if known else ())}
        if issubclass(scope.kind, ast.ClassDef) and _is_value(known, scope, name, new):
            values.append((f"the class {name}", frozenset({name.rpartition(".")[2]})))
            others |= {values[-1]} if known is not None else set()
    gone = [(f"`{name}`, which is gone", _last(name)) for name in sorted(old.keys() - new.keys())]
    mentions = _mentions(new_tree)
    found = (
        ChangedValue(
            what,
            names,
            not names or any(mentions.get(each, set()) - lines for each in names),
            (what, names) in others,
        )
        for what, names in (*values, *gone)
    )
    return ChangedCode(tuple(functions), frozenset(lines), tuple(dict.fromkeys(found)), altered, bodies)


def _is_value(known: _Scope | None, scope: _Scope, name: str, new: dict[str, _Scope]) -> bool:
    """Whether a class is something to look at, and not only a place of methods that run."""
    if known is not None:
        return known.head != scope.head
    methods = any(other.startswith(f"{name}.") for other in new)
    return not methods or scope.head != _head([])


def _value(scope: str, piece: _CodePiece) -> tuple[str, frozenset[str]]:
    place = f"{scope}." if scope else ""
    if piece.names:
        return ", ".join(f"`{place}{name}`" for name in sorted(piece.names)), piece.names
    return (
        f"line {min(piece.lines)}" if piece.lines else f"a statement of {scope or 'the module'}",
        frozenset(),
    )


def _last(name: str) -> frozenset[str]:
    return frozenset({name.rpartition(".")[2].partition("#")[0]})


def _difference(
    old: Sequence[_CodePiece], new: Sequence[_CodePiece]
) -> tuple[list[_CodePiece], list[_CodePiece]]:
    """The pieces that only the new scope has, and those that only the old one has and nothing replaced."""
    added: list[_CodePiece] = []
    lost: list[_CodePiece] = []
    matcher = SequenceMatcher(
        None, [piece.key for piece in old], [piece.key for piece in new], autojunk=False
    )
    for operation, first, last, start, end in matcher.get_opcodes():
        if operation in ("insert", "replace"):
            added += new[start:end]
        if operation == "delete" or (operation == "replace" and last - first > end - start):
            lost += old[first:last]
    return added, lost


def _scopes(tree: ast.Module) -> dict[str, _Scope]:
    found: dict[str, _Scope] = {"": _Scope(ast.Module, says=ast.get_docstring(tree))}
    _fill(found, "", tree.body, "")
    return found


def _fill(found: dict[str, _Scope], name: str, body: Sequence[ast.stmt], above: str) -> None:
    """The pieces of a block; `above` says what the block is part of."""
    scope = found[name]
    for node in body:
        if isinstance(node, ast.ClassDef | Function):
            _define(found, name, node, above)
        elif isinstance(node, _Block) or hasattr(node, "handlers"):
            if _is_script(node):
                scope.pieces.append(_CodePiece(f"{above}{ast.dump(node)}", _lines(node), quiet=True))
                continue
            scope.pieces.append(_head_of(node, above))
            for block, inner in _inside(node):
                _fill(found, name, inner, f"{above}{type(node).__name__}.{block} ")
        elif not isinstance(node, ast.Pass) and not _says_only(node):
            bound = frozenset() if issubclass(scope.kind, Function) else frozenset(_bound(node))
            scope.pieces.append(_CodePiece(f"{above}{ast.dump(node)}", _lines(node), bound))


def _define(found: dict[str, _Scope], outer: str, node: ast.ClassDef | Function, above: str) -> None:
    name = f"{outer.partition('#')[0]}.{node.name}" if outer else node.name
    while name in found:  # a setter, an overload, the other side of an `if`
        name += "#"
    decorated = bool(node.decorator_list)
    mark = f"{above}def {node.name} {[ast.dump(each) for each in node.decorator_list]}"
    bound = frozenset({node.name})
    found[outer].pieces.append(_CodePiece(mark, frozenset(), bound, quiet=not decorated))
    scope = _Scope(type(node), _head_text(node), says=ast.get_docstring(node), decorated=decorated)
    found[name] = scope
    _fill(found, name, node.body, "")
    inner = [
        part for part in ast.walk(node) if isinstance(part, ast.ClassDef | Function) and part is not node
    ]
    nested = {line for part in inner for line in _lines(part)}
    first = node.body[0].lineno
    scope.lines = frozenset(range(first, (node.end_lineno or first) + 1)) - nested


def _head_text(node: ast.ClassDef | Function) -> str:
    if isinstance(node, ast.ClassDef):
        return _head([*node.decorator_list, *node.bases, *node.keywords])
    kind = [ast.Name(type(node).__name__)]
    return _head([*kind, *node.decorator_list, node.args, *([node.returns] if node.returns else [])])


def _head(parts: Sequence[ast.AST]) -> str:
    return " ".join(ast.dump(part) for part in parts)


def _head_of(node: ast.stmt, above: str) -> _CodePiece:
    blocks = [inner for _, inner in _inside(node)]
    inside = {id(part) for inner in blocks for part in inner}
    own = [part for part in ast.iter_child_nodes(node) if id(part) not in inside]
    told = [part for part in own if not isinstance(part, ast.ExceptHandler | ast.match_case)]
    told += [part.type for part in own if isinstance(part, ast.ExceptHandler) and part.type is not None]
    told += [part.pattern for part in own if isinstance(part, ast.match_case)]
    told += [part.guard for part in own if isinstance(part, ast.match_case) and part.guard is not None]
    taken = {line for inner in blocks for part in inner for line in _lines(part)}
    quiet = all(isinstance(part, _QUIET) for inner in blocks for part in inner)
    return _CodePiece(f"{above}{type(node).__name__} {_head(told)}", _lines(node) - taken, quiet=quiet)


def _inside(node: ast.stmt) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(node, name, []):
            yield name, block
    for number, part in enumerate((*getattr(node, "handlers", []), *getattr(node, "cases", []))):
        yield str(number), part.body


def _is_script(node: ast.stmt) -> bool:
    """Whether it is what a file does when it is started as a program: nobody who imports it reads that."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def _says_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lines(node: ast.stmt) -> frozenset[int]:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return frozenset(range(first, (node.end_lineno or first) + 1))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name.partition(".")[0]) for alias in node.names)
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store | ast.Del):
            yield part.id if isinstance(part, ast.Name) else part.attr


def _mentions(tree: ast.Module) -> dict[str, set[int]]:
    """Names that are read, with the lines where."""
    found: dict[str, set[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found.setdefault(name, set()).add(node.lineno)
    return found
