"""How many ways lead through a function (McCabe), counted as the project's own linter counts them.

Over the standard library's parser: the library of the same name counts a `match` as one way, misses `except*`
and functions under an `if`, and gives up on a long chain of `elif`.
"""

import ast

from agentforge.languages.python.symbols import Function, parse


def complexity(text: str) -> dict[str, int]:
    """By dotted name, each function of a file; what does not parse has none."""
    tree = parse(text)
    found: dict[str, int] = {}
    todo: list[tuple[ast.AST, str]] = [(tree, "")] if tree is not None else []
    while todo:  # a loop, because source may be nested deeper than Python may call
        node, above = todo.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, Function | ast.ClassDef):
                todo.append((child, above))
                continue
            name = above + child.name
            todo.append((child, f"{name}."))
            if isinstance(child, Function):
                found[name] = max(found.get(name, 0), _ways(child))
    return found


def _ways(function: ast.AST) -> int:
    return sum(branches(node) for node in ast.walk(function))


def branches(node: ast.AST) -> int:
    """How many ways one node adds to the function around it."""
    match node:
        case (
            ast.If()
            | ast.For()
            | ast.AsyncFor()
            | ast.While()
            | ast.ExceptHandler()
            | ast.FunctionDef()
            | ast.AsyncFunctionDef()
        ):
            return 1
        case ast.Try() | ast.TryStar():
            return 1 if node.orelse else 0
        case ast.Match():
            return len(node.cases) - (1 if _takes_all(node.cases[-1]) else 0)
        case _:
            return 0


BRANCHING: frozenset[type[ast.AST]] = frozenset(
    {
        *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.FunctionDef),
        *(ast.AsyncFunctionDef, ast.Try, ast.TryStar, ast.Match),
    }
)
"""The kinds of nodes that can add any."""


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
