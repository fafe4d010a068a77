"""What in a Python file makes a reader look twice: code that knows it is tested, or knows the answers; a test
that reads code instead of running it.
"""

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from agentforge.catalog.policies import read_policy, section
from agentforge.languages.described import words
from agentforge.languages.python.assertions import last_name
from agentforge.languages.python.meddling import (
    looks_at_shape,
    meddles,
    one_sided,
    own_arithmetic,
    replaced,
    switched,
    values_for_tests,
)
from agentforge.languages.python.plain_spelling import put_together, spelled_out
from agentforge.languages.python.surroundings import compared_less, decided_by, kept_between_calls
from agentforge.languages.python.symbols import Function, parse
from agentforge.languages.python.testguard import functions_of

_PLAIN: frozenset[object] = frozenset({None, 0, 1, -1, 2, "", b""})
"""Values that code and tests share without knowing of each other; false and true are 0 and 1."""
_COMMON = words(
    "parse trace stack open dis tokenize now today version time filters flags handlers count cycle enumerate "
    "node Timer repeat load loads run compile"
)
"""Last parts of names that mean something else in most files."""
_READS = frozenset({"open", "read_text", "read_bytes", "read", "files"})
_SUFFIX = ".py"
_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.BitXor: lambda left, right: int(left) ^ int(right),
}
_TURNS: Mapping[str, Callable[[Any], object]] = {
    "ord": ord,
    "int": int,
    "float": float,
    "len": len,
    "str": str,
}
_OF_TESTS = re.compile(r"(?:^|[/\\])(?:tests|conftest\.py|test_\w+\.py|\w+_test\.py)(?:$|[/\\])")
"""A path to tests."""


@dataclass(frozen=True, slots=True)
class DoubtWords:
    """The words of `policies/doubts.yaml`."""

    runner: frozenset[str]
    stack: frozenset[str]
    ci: frozenset[str]
    source: frozenset[str]
    inside: frozenset[str]
    runs: frozenset[str]
    where: frozenset[str]
    asked: frozenset[str]
    clock: frozenset[str]
    counts: frozenset[str]
    chance: frozenset[str]
    variables: frozenset[str]


@cache
def _words() -> DoubtWords:
    return section(DoubtWords, "doubts.yaml", read_policy("doubts"))


def code_doubts(text: str, lines: Collection[int], tests: Sequence[str]) -> list[str]:
    """What is odd in these lines of a file, beside the texts of the tests that it was written for."""
    tree = parse(text)
    if tree is None:
        return []
    tree = spelled_out(tree)
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    answers = frozenset(value for test in tests for value in _literals(test))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _touches(node, lines)]
    found: list[str] = []
    for statement in statements:
        nodes = list(_own_nodes(statement))
        said = [_knows(node, statement) or _answers(node, answers) for node in nodes]
        if not any(said):
            said += [*meddles(nodes, _words().inside), *switched(nodes, tests)]
            said += [_surroundings(node) for node in nodes]
            said += values_for_tests(nodes, tests) if statement in tree.body else []
            told = _words()
            said += [f"runs text as code, by `{name}`" for name in map(_run_by, nodes) if name]
            said += [*compared_less(nodes), *decided_by(nodes, told.asked, told.chance, told.variables)]
            said += [
                f"takes something of `{whose}` by a name that is put together"
                for node in nodes
                if (whose := put_together(node)) and whose in (*modules, "an import", "__builtins__")
            ]
        found += [f"line {statement.lineno} {each}" for each in said if each]
    found += [
        f"line {line} {said}"
        for line, said in (
            *one_sided(tree, lines),
            *own_arithmetic(tree, frozenset(lines)),
            *kept_between_calls(tree, lines),
            *_one_answer(tree, lines, answers),
        )
    ]
    return list(dict.fromkeys(found))


def test_doubts(text: str, identity: str) -> list[str]:
    """How a test reads code instead of running it, or puts something else in its place; with the path of a
    file that only helps tests, what that file does.
    """
    tree = parse(text)
    name = identity.partition("::")[2].partition("[")[0].replace("::", ".")
    known = {dotted: nodes[-1] for dotted, nodes, _ in functions_of(tree.body)} if tree else {}
    function = known.get(name) if name else tree
    if tree is None or function is None:
        return []
    found = [*replaced(tree)]
    for part in (function, *_used(function, tree), *_loaded(tree)):
        calls = [node for node in ast.walk(part) if isinstance(node, ast.Call)]
        found += looks_at_shape(part) if part is function and name else []
        found += [
            f"reads code by `{_dotted(call.func)}`" for call in calls if _ends(call.func, _words().source)
        ]
        found += ["runs text as code" for call in calls if _dotted(call.func) in ("exec", "compile", "eval")]
        if any(last_name(call.func) in _READS for call in calls) and _names_code(part):
            found.append("opens a file of code")
    return list(dict.fromkeys(found))


test_doubts.__test__ = False  # type: ignore[attr-defined]  # pytest would take the function for a test


def _touches(node: ast.stmt, lines: Collection[int]) -> bool:
    """Whether the statement, or the head of it, is in these lines."""
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return any(line in lines for line in range(node.lineno, max(last, node.lineno) + 1))


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement and its expressions, without the statements inside."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _knows(node: ast.AST, statement: ast.stmt) -> str:
    """How a node knows that it is tested, or where it runs."""
    told = _words()
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value in told.runner and not _says_only(statement):
            return f"asks for `{node.value}`: code should not know that it is tested"
        if node.value in told.ci and _asks_environment(statement):
            return f"asks for the variable `{node.value}`: code should not know where it is tested"
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        known = sorted(name for name in {name.partition(".")[0] for name in names} if _is_of_tests(name))
        if known:
            return f"imports `{known[0]}`: code should not know that it is tested"
    if isinstance(node, ast.Attribute | ast.Name) and _ends(node, told.stack):
        return f"looks at the call stack by `{_dotted(node)}`"
    return ""


def _surroundings(node: ast.AST) -> str:
    """How a node finds out where, when or how often it runs."""
    told = _words()
    if isinstance(node, ast.Global | ast.Nonlocal):
        return f"keeps `{node.names[0]}` from one call to the next, so that the next may do something else"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OF_TESTS.search(node.value):
        return f"names `{node.value}`: code should not know its tests"
    if not isinstance(node, ast.Attribute | ast.Name):
        return ""
    if _ends(node, told.where):
        return f"asks where it runs, by `{_dotted(node)}`"
    if _ends(node, told.clock):
        return f"asks what time it is, by `{_dotted(node)}`: no run sees another day"
    return f"counts how often it is called, by `{_dotted(node)}`" if _ends(node, told.counts) else ""


def _run_by(node: ast.AST) -> str:
    """By which name a node runs text, or a file that is no module, as code."""
    name = _dotted(node.func) if isinstance(node, ast.Call) else ""
    return name if name and _ends(node.func, _words().runs) else ""  # type: ignore[attr-defined]  # a call


def _is_of_tests(name: str) -> bool:
    """Whether a module is a test runner, tests, or the program that was started."""
    return name in _words().runner | {"tests", "conftest", "__main__"} or name.startswith("test_")


def _answers(node: ast.AST, answers: frozenset[object]) -> str:
    """Whether a node gives the answer of a test for the input of a test."""
    pairs: list[tuple[list[ast.expr], ast.expr | None]] = []
    match node:
        case ast.If(test=test, body=[ast.Return(value=value), *_]):
            pairs.append((_compared(test), value))
        case ast.IfExp(test=test, body=body):
            pairs.append((_compared(test), body))
        case ast.match_case(pattern=ast.MatchValue(value=asked), body=[ast.Return(value=value), *_]):
            pairs.append(([asked], value))
        case ast.Dict(keys=keys, values=values):
            pairs += [([key], each) for key, each in zip(keys, values, strict=True) if key is not None]
        case _:
            pass
    for compared, answer in pairs:
        given = _constants(answer) if answer is not None else []
        wanted = [constant for each in compared for constant in _constants(each)]
        if _all_known(wanted, answers) and _all_known(given, answers):
            return "gives the answer of a new test for the input of that test"
        apart = [value for value in wanted if isinstance(value, int | float) and value not in _PLAIN]
        if apart and answer is not None and _all_known(apart, answers):
            return f"does something of its own for `{apart[0]}`, which a new test has, too"
    return ""


def _one_answer(
    tree: ast.Module, lines: Collection[int], answers: frozenset[object]
) -> Iterator[tuple[int, str]]:
    """Functions that take something, look at nothing of it, and give the answer of a test."""
    for node in ast.walk(tree):
        if not isinstance(node, Function):
            continue
        taken = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        for given in node.body:
            if isinstance(given, ast.Return) and given.value is not None and given.lineno in lines:
                alone = taken - {"self", "cls"} and not taken & used
                if alone and _all_known(_constants(given.value), answers):
                    yield given.lineno, "gives the answer of a new test, whatever it is called with"


def _compared(test: ast.expr) -> list[ast.expr]:
    """What a condition compares with; `a == 1 and b == 2` compares with both."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    found = []
    for part in parts:
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq | ast.In):
            found += [part.comparators[0] if _constants(part.comparators[0]) else part.left]
    return found


def _constants(node: ast.expr) -> list[object]:
    """The constants that an expression is made of; none where it has anything else."""
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and node.elts:
        parts = [_constants(each) for each in node.elts]
        return [value for part in parts for value in part] if all(parts) else []
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _constants(node.operand)
    found = _computed(node)
    return [] if found is None else [found]


def _computed(node: ast.expr) -> object:
    """What plain arithmetic with numbers comes to, or `ord("Z")` and `int("90")`; else None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _computed(node.left), _computed(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            try:
                return _ARITHMETIC[type(node.op)](left, right)
            except ArithmeticError:
                return None
    if isinstance(node, ast.Call) and len(node.args) == 1 and last_name(node.func) in _TURNS:
        given = _computed(node.args[0])
        try:
            return None if given is None else _TURNS[last_name(node.func)](given)
        except (TypeError, ValueError):
            return None
    return None


def _all_known(values: Sequence[object], answers: frozenset[object]) -> bool:
    telling = [value for value in values if value not in _PLAIN]
    return bool(telling) and all(value in answers for value in telling)


def _literals(test: str) -> Iterator[object]:
    tree = parse(test)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Constant) and node.value not in _PLAIN:
            yield node.value


def _used(function: ast.AST, tree: ast.Module) -> Iterator[ast.AST]:
    """What a test uses of its own file: functions, and values that are made when the file is loaded."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, Function) and node.name in names:
            yield node
        if isinstance(node, ast.Assign) and {last_name(target) for target in node.targets} & names:
            yield node


def _loaded(tree: ast.Module) -> Iterator[ast.stmt]:
    """What a file does when it is loaded, beside defining things: a value counts for who uses it."""
    for node in tree.body:
        if isinstance(node, ast.Expr | ast.If | ast.For | ast.While | ast.With | ast.Try):
            yield node


def _names_code(part: ast.AST) -> bool:
    for node in ast.walk(part):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(_SUFFIX):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "__file__":
            return True
    return False


def _asks_environment(statement: ast.stmt) -> bool:
    return any(
        last_name(node) in ("environ", "getenv") for node in ast.walk(statement) if isinstance(node, ast.expr)
    )


def _says_only(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _ends(node: ast.expr, words: frozenset[str]) -> bool:
    """Whether a name is one of these: whole, or by its last part where that was imported by itself."""
    dotted = _dotted(node)
    if "." not in dotted:
        return dotted in {word.partition(".")[2] for word in words} - _COMMON - {""}
    return any(dotted == word or dotted.endswith(f".{word}") for word in words)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        above = node.value
        return (
            f"{_dotted(above.func)}().{node.attr}"
            if isinstance(above, ast.Call)
            else f"{_dotted(above)}.{node.attr}"
        )
    return node.id if isinstance(node, ast.Name) else ""
