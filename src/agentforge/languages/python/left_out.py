"""A file of tests without some of them, and without what it imports for those alone: what the others say can
then be heard where code that only those were about is gone.
"""

import ast
from collections.abc import Collection

from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.python.testguard import functions_of


def without_tests(text: str, ids: Collection[str]) -> str:
    """The file without these tests; as it is where it defines none of them."""
    tree = parse(text)
    names = {identity.partition("::")[2].partition("[")[0].replace("::", ".") for identity in ids}
    nodes = [inner[-1] for name, inner, _ in functions_of(tree.body) if name in names] if tree else []
    if tree is None or not nodes:
        return text
    theirs = {name for node in nodes for name in _names(node)}
    _Without(nodes).visit(tree)
    _WithoutImports(theirs - _names(tree)).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


class _Without(ast.NodeTransformer):
    """Takes functions out; what would be empty then passes."""

    def __init__(self, nodes: Collection[ast.AST]) -> None:
        self._nodes = [*nodes]

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, Function) and any(node is each for each in self._nodes):
            return None
        had_body = bool(getattr(node, "body", None)) and not isinstance(node, ast.Module)
        self.generic_visit(node)
        if had_body and not node.body:  # type: ignore[attr-defined]  # it had one
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node


class _WithoutImports(ast.NodeTransformer):
    """Takes imported names out that nothing needs any more."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [
                alias
                for alias in node.names
                if (alias.asname or alias.name.partition(".")[0]) not in self._names
            ]
            return node if node.names else ast.Pass()
        return self.generic_visit(node)
