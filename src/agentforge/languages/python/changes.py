"""What a change of a Python file did, seen in its syntax: comments, docstrings and formatting are no code."""

import ast

from agentforge.languages.python.symbols import Function, parse


def same_code(before: str, after: str) -> bool:
    """Whether two texts are one program up to comments, docstrings and formatting."""
    if before == after:
        return True
    old, new = parse(before), parse(after)
    return old is not None and new is not None and _bare(old) == _bare(new)


def _bare(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)
