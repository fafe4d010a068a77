"""Tests of a file with a failure of ours at their end: what is still said to pass was not judged by what it
did.
"""

import ast
from collections import defaultdict
from collections.abc import Collection

from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.python.testguard import functions_of

_FAILURE = ast.parse("assert 1 + 1 == 3").body[0]
"""It looks like any assertion, so that nothing in it tells a failure of ours from one of the code."""


def made_to_fail(text: str, ids: Collection[str]) -> tuple[str, frozenset[str]]:
    """The file in which these tests fail wherever they would have ended well, and which of them it defines."""
    tree = parse(text)
    known: dict[str, list[Function]] = defaultdict(list)
    for dotted, nodes, _ in functions_of(tree.body) if tree is not None else ():
        known[dotted] += [node for node in nodes[-1:] if isinstance(node, Function)]
    names = {identity: identity.partition("::")[2].partition("[")[0].replace("::", ".") for identity in ids}
    for name in set(names.values()) & set(known):
        for function in known[name]:
            function.body = [*(_Ends().visit(statement) for statement in function.body), _FAILURE]
    found = frozenset(identity for identity, name in names.items() if name in known)
    if tree is None or not found:
        return text, frozenset()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", found


class _Ends(ast.NodeTransformer):
    """Puts the failure in the place of every `return`, but for those of functions inside."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:  # noqa: N802, PLR6301 - as `ast` has it
        """What it returned is still worked out: that may fail, too."""
        if node.value is None:
            return _FAILURE
        return ast.If(ast.Constant(value=True), [ast.Expr(node.value), _FAILURE], [])

    def _as_it_is(self, node: ast.AST) -> ast.AST:  # noqa: PLR6301 - as above
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _as_it_is
