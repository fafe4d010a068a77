"""Small wrong versions of a Python file: what a test that is about some lines should notice."""

import ast
import random
from collections.abc import Collection, Iterator

from agentforge.languages.python.symbols import parse
from agentforge.languages.values import Mutant

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SHOWN = 60

_Found = tuple[ast.stmt | ast.expr, ast.AST, str]
"""A place, what stands there instead, and what was done to it."""


def mutants(text: str, lines: Collection[int], *, limit: int, seed: str) -> list[Mutant]:
    """At most `limit` wrong versions of a file, each wrong in one of `lines`; a seed draws the same."""
    tree = parse(text)
    if tree is None:
        return []
    found = list(_places(tree, frozenset(lines)))
    drawn = found if len(found) <= limit else random.Random(seed).sample(found, limit)  # noqa: S311 - repeatable
    made = [Mutant(node.lineno, what, _replaced(text, node, instead)) for node, instead, what in drawn]
    return sorted(mutant for mutant in made if _differs(tree, mutant.text))


def _places(tree: ast.Module, lines: frozenset[int]) -> Iterator[_Found]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt | ast.expr) and _is_among(node, lines):
            yield from _of_statement(node) if isinstance(node, ast.stmt) else _of_expression(node)
        todo += reversed([child for child in ast.iter_child_nodes(node) if child not in _untouched(node)])


def _is_among(node: ast.stmt | ast.expr, lines: frozenset[int]) -> bool:
    simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
    last = (node.end_lineno or node.lineno) if simple else node.lineno
    return not lines.isdisjoint(range(node.lineno, last + 1))


def _untouched(node: ast.AST) -> list[ast.AST]:
    """What only describes: annotations, documentation, and the inside of formatted text, which has no place
    of its own.
    """
    if isinstance(node, ast.JoinedStr):
        return list(node.values)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return [node.value]
    described = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for part in described if part is not None]


def _of_statement(node: ast.stmt) -> Iterator[_Found]:
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield node, ast.Return(value=ast.Constant(None)), "returns None"
    elif isinstance(node, ast.Return) and node.value is not None:
        yield node, ast.Return(value=ast.Constant("mutant")), "returns a text for None"
    elif isinstance(node, ast.If | ast.While):
        yield node.test, ast.UnaryOp(ast.Not(), node.test), f"asks the opposite of `{_shown(node.test)}`"
    elif isinstance(node, ast.Raise | ast.AugAssign | ast.Delete) or _acts(node):
        yield node, ast.Pass(), f"leaves out `{_shown(node)}`"


def _acts(node: ast.stmt) -> bool:
    """Whether a statement changes something that outlives it; a plain name that is gone is just an error."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def _of_expression(node: ast.expr) -> Iterator[_Found]:
    instead = _instead(node)
    if instead is not None:
        yield node, instead, f"has `{_shown(instead)}` for `{_shown(node)}`"


def _instead(node: ast.expr) -> ast.expr | None:
    match node:
        case ast.Compare(left=left, ops=[first, *rest], comparators=comparators):
            return ast.Compare(left, [_COMPARISONS[type(first)](), *rest], comparators)
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return ast.BinOp(left, _OPERATORS[type(op)](), right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(value=value):
            return _other_value(value)
        case _:
            return None


def _other_value(value: object) -> ast.expr | None:
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, int | float):
        return ast.Constant(value + 1)
    if isinstance(value, str):
        return ast.Constant("" if value else "mutant")
    if isinstance(value, bytes):
        return ast.Constant(b"" if value else b"mutant")
    return None


def _replaced(text: str, node: ast.stmt | ast.expr, instead: ast.AST) -> str:
    """The text with one node written anew. Columns count bytes."""
    rows = text.encode().splitlines(keepends=True)
    last = (node.end_lineno or node.lineno) - 1
    # The lines below keep their numbers.
    room = b"\n" * (last - node.lineno + 1)
    written = ast.unparse(instead).encode()
    head, tail = rows[node.lineno - 1][: node.col_offset], rows[last][node.end_col_offset :]
    changed = head + (
        b"(" + written + room + b")" + tail if isinstance(node, ast.expr) else written + tail + room
    )
    return b"".join([*rows[: node.lineno - 1], changed, *rows[last + 1 :]]).decode()


def _differs(tree: ast.Module, text: str) -> bool:
    now = parse(text)
    return now is not None and ast.dump(now) != ast.dump(tree)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
