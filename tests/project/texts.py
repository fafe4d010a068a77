"""The texts of a module, for tests that read all of them."""

import ast
from collections.abc import Iterator


def strings(tree: ast.AST) -> Iterator[str]:
    """Every text of a module but its docstrings; the fixed parts of one with values in it, joined."""
    described = {id(text) for text in _descriptions(tree)}
    described |= {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def docstrings(tree: ast.AST) -> Iterator[str]:
    """What describes a module, its classes, functions and values; of a command this is its help."""
    yield from (str(text.value) for text in _descriptions(tree))


def _descriptions(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    yield statement.value
