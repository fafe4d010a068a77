"""Tests of a file with a failure of ours at their end: what is still said to pass was not judged by what it
did.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection

from agentforge.languages.python.assertions import last_name
from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.python.testguard import functions_of

_FAILURE = ast.parse("assert 1 + 1 == 3").body[0]
"""It looks like any assertion, so that nothing in it tells a failure of ours from one of the code."""
_FOR_ERRORS = re.compile(r"(?i)rais|suppress|fail|error|exception|xfail")
"""Names of what stands around code that is meant to go wrong."""
_ASSERTS = re.compile(r"assert|raises|warns|fail$")
"""Names of calls that fail a test."""


def made_to_fail(text: str, ids: Collection[str]) -> tuple[str, frozenset[str]]:
    """The file in which these tests fail where they have asserted what they had to, and which of them it
    defines.
    """
    tree = parse(text)
    known: dict[str, list[Function]] = defaultdict(list)
    for dotted, nodes, _ in functions_of(tree.body) if tree is not None else ():
        known[dotted] += [node for node in nodes[-1:] if isinstance(node, Function)]
    names = {identity: identity.partition("::")[2].partition("[")[0].replace("::", ".") for identity in ids}
    for name in set(names.values()) & set(known):
        for function in known[name]:
            _fail_at_returns(function.body, everywhere=not _asserts(*function.body))
            _fail_at_the_end(function.body)
    found = frozenset(identity for identity, name in names.items() if name in known)
    if tree is None or not found:
        return text, frozenset()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", found


def _fail_at_the_end(body: list[ast.stmt]) -> None:
    """Put the failure after the last assertion, within what that stands in: who swallows our failure, or goes
    round it, does so with any other. What is there to meet an error is left out.
    """
    asserting = [place for place, statement in enumerate(body) if _asserts(statement)]
    last = body[asserting[-1]] if asserting else None
    is_alone = len(asserting) == 1 and isinstance(last, ast.For | ast.AsyncFor | ast.While | ast.If)
    is_within = isinstance(last, ast.With | ast.AsyncWith) and not _meets_errors(last)
    blocks = [block for block in _blocks(last) if _asserts(*block)] if is_alone or is_within else []
    if isinstance(last, Function) and _compares(
        last
    ):  # whoever calls it may keep what it raises to themselves
        blocks = [last.body]
    for block in blocks:
        _fail_at_the_end(block)
    if not blocks:
        body.insert(asserting[-1] + 1 if asserting else len(body), _FAILURE)


def _fail_at_returns(body: list[ast.stmt], *, everywhere: bool) -> None:
    """A test that has asserted something and returns has ended well there. Where what it calls asserts,
    `everywhere` it returns.
    """
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return) and (everywhere or _asserts(*body[:place])):
            body[place : place + 1] = [*([ast.Expr(statement.value)] if statement.value else []), _FAILURE]
            return
        for block in _blocks(statement):
            _fail_at_returns(block, everywhere=everywhere)


def _blocks(statement: ast.stmt | None) -> list[list[ast.stmt]]:
    """The blocks of a compound statement that defines nothing."""
    if statement is None or isinstance(statement, Function | ast.ClassDef):
        return []
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    found = [getattr(part, name, []) for part in parts for name in ("body", "orelse", "finalbody")]
    return [block for block in found if block]


def _asserts(*statements: ast.stmt) -> bool:
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _ASSERTS.match(last_name(node.func)))
        for node in nodes
    )


def _compares(function: Function) -> bool:
    """Whether a function inside of a test asserts something, not only that nobody calls it."""
    return any(
        isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)
        for node in ast.walk(function)
    )


def _meets_errors(statement: ast.With | ast.AsyncWith) -> bool:
    calls = [
        node for item in statement.items for node in ast.walk(item.context_expr) if isinstance(node, ast.Call)
    ]
    return any(_FOR_ERRORS.search(last_name(call.func)) for call in calls)
