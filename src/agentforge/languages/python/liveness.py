"""Whether a test can fail at all: it needs an assertion, of its own or of what it calls, that something could
break.
"""

import ast
import re
from collections.abc import Iterator, Mapping

from agentforge.languages.python.assertions import (
    always_true,
    is_assertion,
    last_name,
    live_assertions,
    never_true,
    suppresses,
    swallows,
)
from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.python.testguard import functions_of
from agentforge.languages.values import Liveness

_ASSERTING = re.compile(
    r"(?i)assert|check|verif|expect|ensure|validat|compar|snapshot|should|must|requir|raise|equal|match"
)
_SUPPORT = re.compile(
    r"(?:^|[._])(?:tests?|testing|conftest|helpers?|support|utils?|common|fixtures?)(?:$|[._])"
)
_LITTLE = frozenset(
    {"isinstance", "callable", "hasattr", "assertIsNotNone", "assertIsInstance", "assertNotEqual"}
)
_ROUGH = _LITTLE | frozenset(
    [
        "assertTrue",
        "assertFalse",
        "assert_",
        "assertIn",
        "assertNotIn",
        "assertLess",
        "assertLessEqual",
        "assertGreater",
        "assertGreaterEqual",
        "assertAlmostEqual",
        "assertRegex",
        "assertNotAlmostEqual",
        "isclose",
        "allclose",
    ]
)
_REDUCES = frozenset(
    [
        "len",
        "int",
        "float",
        "bool",
        "round",
        "min",
        "max",
        "abs",
        "sum",
        "any",
        "all",
        "hash",
        "divmod",
        "isclose",
        "type",
    ]
)
"""Calls that give the same for many things."""
_DEPTH = 3
_SHOWN = 80

_Helpers = Mapping[str, Function]


def liveness(text: str, identity: str) -> Liveness:
    """Whether a test of a file can fail; of one that the file does not define, nothing is said."""
    tree = parse(text)
    name = identity.partition("::")[2].partition("[")[0].replace("::", ".")
    known = {dotted: nodes[-1] for dotted, nodes, _ in functions_of(tree.body)} if tree else {}
    function = known.get(name)
    if tree is None or not isinstance(function, Function):
        return Liveness(doubt=_made_by(tree, name)) if tree is not None else Liveness()
    helpers = {
        dotted.rpartition(".")[2]: node for dotted, node in known.items() if isinstance(node, Function)
    }
    if _can_fail(function, helpers, _DEPTH):
        exact = any(_is_exact(each, helpers) for each in live_assertions(function.body))
        return Liveness(doubt=_broad(function), rough=not exact)
    if (called := _perhaps(function, tree)) is not None:
        return Liveness(doubt=f"asserts nothing itself; whether `{called}` does is not known")
    dead = next(_dead(function), None)
    if dead is None:
        return Liveness(refused="it asserts nothing")
    node, why = dead
    shown = ast.unparse(node)
    return Liveness(refused=f"`{shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}` {why}")


def _made_by(tree: ast.Module, name: str) -> str:
    """What makes a test that is no function of its file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and name in {last_name(target) for target in node.targets}:
            return (
                f"is made by `{ast.unparse(node.value)[:_SHOWN]}`; what it asserts is not written where it is"
            )
    return ""


def _can_fail(function: Function, helpers: _Helpers, depth: int) -> bool:
    written = _written(function)
    if any(not _only_about(assertion, written) for assertion in live_assertions(function.body)):
        return True
    if any(isinstance(node, ast.Raise) and node.exc is not None for node in _living(function)):
        return True
    called = {last_name(node.func) for node in _living(function) if isinstance(node, ast.Call)}
    called |= {last_name(node) for node in _living(function) if isinstance(node, ast.Name)}
    inner = [helpers[name] for name in sorted(called & helpers.keys()) if helpers[name] is not function]
    return depth > 0 and any(_can_fail(helper, helpers, depth - 1) for helper in inner)


def _living(function: Function) -> Iterator[ast.AST]:
    """All nodes of a test but those in branches that are never taken."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If | ast.While) and never_true(node.test):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _perhaps(function: Function, tree: ast.Module) -> str | None:
    """A call that may assert: a fixture, something of the tests' own support, or a name that says so."""
    arguments = {
        each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    support = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if _SUPPORT.search(_module(node, alias))
    }
    for node in _living(function):
        if isinstance(node, ast.Call):
            root = node.func
            while isinstance(root, ast.Attribute | ast.Call):
                root = root.value if isinstance(root, ast.Attribute) else root.func
            first = last_name(root)
            direct = isinstance(node.func, ast.Name) and first in arguments
            last = last_name(node.func)
            # What asserts by its own name was judged already.
            judged = last.lower().startswith("assert") or last in ("raises", "warns", "fail")
            named = not judged and _ASSERTING.search(last) is not None
            if direct or first in support or named:
                return ast.unparse(node.func)
    return None


def _module(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(node, ast.Import):
        return alias.name
    return "support" if node.level else node.module or ""


def _dead(function: Function) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """Assertions, each with why it cannot fail the test."""
    written = _written(function)
    todo: list[tuple[ast.AST, str]] = [(node, "is never reached") for node in reversed(function.body)]
    while todo:
        node, why = todo.pop()
        if isinstance(node, ast.Assert):
            if always_true(node.test):
                why = "is true whatever the code does"
            elif _only_about(ast.unparse(node), written):
                why = "is only about what the test itself wrote"
            yield node, why
            continue
        if isinstance(node, ast.Call) and last_name(node.func).lower().startswith("assert"):
            constant = bool(node.args) and always_true(node.args[0])
            yield node, "is true whatever the code does" if constant and not is_assertion(node) else why
        caught = (isinstance(node, ast.Try) and any(map(swallows, node.handlers))) or (
            isinstance(node, ast.With | ast.AsyncWith)
            and any(suppresses(item.context_expr) for item in node.items)
        )
        inside = "cannot fail the test, because what it raises is caught" if caught else why
        todo += [(child, inside) for child in reversed(list(ast.iter_child_nodes(node)))]


def _written(function: Function) -> frozenset[str]:
    """Names that a test gives a constant, once, and nobody else anything."""
    stored: dict[str, int] = {}
    constant: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            constant |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(name for name in constant if stored[name] == 1)


def _only_about(assertion: str, written: frozenset[str]) -> bool:
    tree = parse(assertion)
    if tree is None or not isinstance(tree.body[0], ast.Assert):
        return False
    nodes = list(ast.walk(tree.body[0].test))
    if any(isinstance(node, ast.Call | ast.Attribute | ast.Await) for node in nodes):
        return False
    return {node.id for node in nodes if isinstance(node, ast.Name)} <= written


def _is_exact(assertion: str, helpers: _Helpers) -> bool:
    """Whether it says plainly what must be: that things are equal, or that an error is raised."""
    tree = parse(assertion)
    node = tree.body[0] if tree is not None and tree.body else None
    test = node.test if isinstance(node, ast.Assert) else node.value if isinstance(node, ast.Expr) else None
    if isinstance(node, ast.Expr) and isinstance(test, ast.Call):
        return last_name(test.func) not in _ROUGH and last_name(test.func) not in helpers
    if not isinstance(test, ast.Compare) or not all(isinstance(each, ast.Eq | ast.Is) for each in test.ops):
        return False
    return not any(
        (
            isinstance(side, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp)
            and not isinstance(getattr(side, "operand", None), ast.Constant)
        )
        or (
            isinstance(side, ast.Call)
            and (last_name(side.func) in _REDUCES or last_name(side.func) in helpers)
        )
        or (isinstance(side, ast.Call) and last_name(side.func) == "approx" and side.keywords)
        for side in (test.left, *test.comparators)
    )


def _broad(function: Function) -> str:
    """What makes its assertions say little, if that is all it has."""
    assertions = list(live_assertions(function.body))
    if assertions and all(
        re.fullmatch(r"(?:\w+\.)*(?:raises|assertRaises)\((?:Base)?Exception\)", each) for each in assertions
    ):
        return "expects an error, and any error will do"
    if assertions and all(_compares_with_itself(each) for each in assertions):
        return "compares a call with itself"
    if assertions and all(map(_says_little, assertions)):
        return "says little: that something comes back, its type, what it is not, or nearly any number"
    if _expected_as_message(function):
        return "has what it expects where a message belongs, so that any true value will do"
    if assertions and _perhaps_never(function, assertions):
        return "asserts something only under a condition, and passes where that does not hold"
    return ""


def _expected_as_message(function: Function) -> bool:
    """`assert found, 90` and `assertTrue(found, 90)`: nobody compares the two."""
    for node in _living(function):
        said: ast.expr | None = None
        if isinstance(node, ast.Assert):
            said = node.msg
        elif isinstance(node, ast.Call) and last_name(node.func) in ("assertTrue", "assertFalse", "assert_"):
            said = node.args[1] if len(node.args) > 1 else None
        if isinstance(said, ast.Constant | ast.UnaryOp | ast.List | ast.Dict | ast.Tuple) and not (
            isinstance(said, ast.Constant) and isinstance(said.value, str)
        ):
            return True
    return False


def _perhaps_never(function: Function, assertions: list[str]) -> bool:
    """Whether all that it asserts stands under a condition. What fails under one is an assertion itself."""
    fails = any(isinstance(node, ast.Raise) for node in _living(function))
    fails = fails or any(re.match(r"(?:\w+\.)*fail\(", each) for each in assertions)
    return not fails and not any(live_assertions(function.body, sure=True))


def _says_little(assertion: str) -> bool:
    """Whether nearly any result will do."""
    tree = parse(assertion)
    node = tree.body[0] if tree is not None and tree.body else None
    test = node.test if isinstance(node, ast.Assert) else node.value if isinstance(node, ast.Expr) else None
    if isinstance(test, ast.Call):
        return last_name(test.func) in _LITTLE
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    sides = [side for side in (test.left, *test.comparators) if isinstance(side, ast.Call)]
    near = [side for side in sides if last_name(side.func) == "approx"]
    return isinstance(test.ops[0], ast.NotEq | ast.IsNot) or any(map(_takes_all, near)) or _one_of_many(test)


def _one_of_many(test: ast.Compare) -> bool:
    """`found in (90, 99)`, or a digit in the text of a number: more than one result will do."""
    wanted = test.comparators[0]
    if not isinstance(test.ops[0], ast.In):
        return False
    letter = isinstance(test.left, ast.Constant) and len(str(test.left.value)) == 1
    turned = isinstance(wanted, ast.Call) and last_name(wanted.func) in ("str", "repr")
    several = wanted.elts if isinstance(wanted, ast.Tuple | ast.List | ast.Set) else []
    constants = all(isinstance(each, ast.Constant) for each in several)
    return (letter and turned) or (len(several) > 1 and constants)


def _takes_all(approx: ast.Call) -> bool:
    """Whether a tolerance is as large as what is expected."""
    said = {each.arg: each.value for each in approx.keywords}
    wanted, rel, most = (
        _number(node) for node in ((*approx.args, None)[0], said.get("rel"), said.get("abs"))
    )
    return (rel or 0) >= 1 or (wanted is not None and most is not None and most >= abs(wanted))


def _number(node: ast.expr | None) -> float | None:
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return sign * float(node.value) if is_number else None  # type: ignore[union-attr]  # as just seen


def _compares_with_itself(assertion: str) -> bool:
    tree = parse(assertion)
    test = tree.body[0].test if tree is not None and isinstance(tree.body[0], ast.Assert) else None
    return isinstance(test, ast.Compare) and ast.dump(test.left) == ast.dump(test.comparators[0])
