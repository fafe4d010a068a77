"""Which assertions of a test can fail, and why others cannot."""

import ast
from collections.abc import Iterator, Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CATCH_ALL = frozenset({"AssertionError", "Exception", "BaseException"})
_ASSERTING_CALLS = frozenset({"raises", "warns", "fail", "deprecated_call", "assertRaises"})


def live_assertions(body: Sequence[ast.stmt], *, sure: bool = False) -> Iterator[str]:
    """The assertions that can make the test fail, as normalised text; with `sure` only those that no
    condition stands before.
    """
    return _live(body, _named_in(body), sure=sure)


def _live(body: Sequence[ast.stmt], named: frozenset[str], *, sure: bool) -> Iterator[str]:
    for node in body:
        if _is_passed_over(node, named, sure=sure):
            continue
        if isinstance(node, ast.Assert):
            if not always_true(node.test):
                yield ast.unparse(ast.Assert(test=node.test))
        elif blocks := list(inner_blocks(node)):
            if isinstance(node, ast.With | ast.AsyncWith):
                yield from (
                    ast.unparse(item.context_expr) for item in node.items if is_assertion(item.context_expr)
                )
            for block in blocks:
                yield from _live(block, named, sure=sure)
        elif not isinstance(node, ast.If | ast.While | ast.Try | ast.With | ast.AsyncWith):
            yield from (
                ast.unparse(call)
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and is_assertion(call)
            )
        if isinstance(node, ast.Return | ast.Raise):
            return


def _is_passed_over(node: ast.stmt, named: frozenset[str], *, sure: bool) -> bool:
    """Whether nobody calls it; with `sure` also whether a condition stands before it."""
    if isinstance(node, _FUNCTIONS):
        return node.name not in named
    return sure and isinstance(node, ast.If | ast.While) and not _holds_in_all(node, named)


def _named_in(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that a test uses: a function inside it that is not among them is never called."""
    return frozenset(
        name.id
        for part in body
        for name in ast.walk(part)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    )


def _holds_in_all(node: ast.If | ast.While, named: frozenset[str]) -> bool:
    """Whether every branch asserts something."""
    return bool(node.orelse) and all(
        any(_live(block, named, sure=True)) for block in (node.body, node.orelse)
    )


def inner_blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The blocks of a compound statement from which a failure gets out."""
    body, orelse = getattr(node, "body", []), getattr(node, "orelse", [])
    dead = (
        (isinstance(node, ast.If | ast.While) and never_true(node.test))
        or (isinstance(node, ast.For | ast.AsyncFor) and _is_empty(node.iter))
        or (isinstance(node, ast.Try) and any(swallows(handler) for handler in node.handlers))
        or (
            isinstance(node, ast.With | ast.AsyncWith)
            and any(suppresses(item.context_expr) for item in node.items)
        )
    )
    candidates = [[] if dead else body, orelse, getattr(node, "finalbody", [])]
    candidates += [part.body for part in (*getattr(node, "handlers", []), *getattr(node, "cases", []))]
    yield from (block for block in candidates if block)


def is_assertion(node: ast.expr) -> bool:
    """Whether a call can fail a test by itself."""
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if name in ("assertTrue", "assert_") and node.args and always_true(node.args[0]):
        return False
    return name in _ASSERTING_CALLS or name.lower().startswith("assert")


def always_true(test: ast.expr) -> bool:
    """Whether an assertion is true whatever the code under test does."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(always_true(value) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return never_true(test.operand)
    if isinstance(test, ast.Tuple | ast.List):
        return bool(test.elts)
    if isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
        return last_name(test.args[1]) == "object"
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_length(test):
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
        return ast.dump(test.left) == ast.dump(test.comparators[0]) and not any(
            isinstance(inner, ast.Call) for inner in ast.walk(test)
        )
    return False


def _is_length(test: ast.Compare) -> bool:
    """`len(x) >= 0`."""
    left, right = test.left, test.comparators[0]
    counted = isinstance(left, ast.Call) and last_name(left.func) == "len"
    nothing = isinstance(right, ast.Constant) and right.value == 0
    return counted and nothing and isinstance(test.ops[0], ast.GtE)


def never_true(test: ast.expr) -> bool:
    """Whether a condition is false whatever happens."""
    return isinstance(test, ast.Constant) and not test.value


def _is_empty(node: ast.expr) -> bool:
    """Whether there is nothing to go through."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes) and not node.value
    if isinstance(node, ast.Call):
        alone = not node.args or (len(node.args) == 1 and never_true(node.args[0]))
        return last_name(node.func) in ("range", "list", "tuple", "set", "dict") and alone
    return (isinstance(node, ast.List | ast.Tuple | ast.Set) and not node.elts) or (
        isinstance(node, ast.Dict) and not node.keys
    )


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes a failed assertion and says nothing."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    catches = any(name is None or last_name(name) in _CATCH_ALL for name in caught)
    strict = any(
        isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and is_assertion(node))
        for part in handler.body
        for node in ast.walk(part)
    )
    return catches and not strict


def suppresses(node: ast.expr) -> bool:
    """Whether a context manager takes a failed assertion and says nothing."""
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) == "suppress"
        and any(last_name(arg) in _CATCH_ALL for arg in node.args)
    )


def last_name(node: ast.expr | None) -> str:
    """The name that an expression ends with: of `a.b`, `b`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
