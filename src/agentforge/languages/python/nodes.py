"""The nodes below a node: as `ast.iter_child_nodes`, without those that say nothing, and much quicker.

Left out are what an expression is used for (`Load`), and operators: nobody looks for them.
"""

import ast
from collections.abc import Iterator

_SAYS_NOTHING = frozenset({"ctx", "op", "ops"})
_BODIES = ("body", "handlers", "orelse", "finalbody", "cases")


_PLAIN = frozenset({"id", "attr", "name", "arg", "type_comment", "level", "module", "kind", "simple"})
_LEAVES = (ast.Name, ast.Constant, ast.alias, ast.Global, ast.Nonlocal)
_FIELDS = {
    kind: ()
    if issubclass(kind, _LEAVES)
    else tuple(name for name in kind._fields if name not in _PLAIN | _SAYS_NOTHING)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that can hold nodes."""
NO_NODES = frozenset({*_LEAVES, str, type(None), int, bool})
"""What has no nodes below it."""
_BELOW = {kind: tuple(name for name in _BODIES if name in kind._fields) for kind in _FIELDS}
"""The fields of each kind of node that can hold statements; a lambda's body is none."""
for _expression in (ast.Lambda, ast.IfExp, ast.Expression):
    _BELOW[_expression] = ()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below it, in order."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def inner_nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below it that may have others below them, in order."""
    found: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is list:
            found += [each for each in value if each.__class__ not in NO_NODES]
        elif value.__class__ not in NO_NODES:
            found.append(value)
    return found


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement, whatever it stands in; no expression is looked into."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in reversed(_BELOW[node.__class__]):
            waiting += reversed(getattr(node, name))
