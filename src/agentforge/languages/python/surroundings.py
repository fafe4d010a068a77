"""Code that decides by where it runs, or by how often it was called: a test runs elsewhere than what people
use, and seldom as often. Honest code does so, too, so it is shown and not refused.
"""

import ast
from collections.abc import Collection, Iterator

from agentforge.languages.python.assertions import last_name
from agentforge.languages.python.meddling import dotted_name
from agentforge.languages.python.symbols import Function

_LOOKS_FOR = frozenset({"glob", "rglob", "iglob"})
_CODE = ".py"
_FILLS = frozenset(
    {"append", "add", "insert", "pop", "popleft", "appendleft", "update", "setdefault", "extend"}
)


def decided_by(
    nodes: Collection[ast.AST], asked: Collection[str], chance: Collection[str], variables: Collection[str]
) -> Iterator[str]:
    """What the conditions of a statement ask of the place that it runs in, and of chance: names of code, and
    of variables that every process has.
    """
    conditions = [part for condition in _conditions(nodes) for part in ast.walk(condition)]
    asks_variables = any(
        last_name(part) in ("environ", "getenv") for part in conditions if isinstance(part, ast.expr)
    )
    for node in conditions:
        name = dotted_name(node) or (node.attr if isinstance(node, ast.Attribute) else "")
        if name and any(name == word or name.endswith(f".{word}") for word in asked):
            yield f"decides by where it runs, by `{name}`"
        if name and any(name == word or name.endswith(f".{word}") for word in chance):
            yield f"decides by chance, by `{name}`"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("hash", "id"):
            yield f"decides by `{node.func.id}`, which is another one in each process"
        if asks_variables and isinstance(node, ast.Constant) and node.value in variables:
            yield f"decides by where it runs, by the variable `{node.value!s}`"
    for node in nodes:
        over = node.iter if isinstance(node, ast.comprehension | ast.For) else None
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            over = over.func.value
        if over is not None and dotted_name(over) in ("os.environ", "environ"):
            yield "looks through the variables that it runs with"
        if isinstance(node, ast.Call) and last_name(node.func) in _LOOKS_FOR and _names_code(node):
            yield "looks for files of code"


def kept_between_calls(tree: ast.Module, lines: Collection[int]) -> Iterator[tuple[int, str]]:
    """What functions keep from one call to the next in these lines, beside `global`: in a part of a function,
    or in an iterator of the module.
    """
    functions = {node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)}
    values = {
        last_name(target) for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
    }
    inside = [
        node for function in ast.walk(tree) if isinstance(function, Function) for node in ast.walk(function)
    ]
    yield from _counted(tree, lines)
    for node in inside:
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Call) or node.lineno not in lines:
            continue
        if isinstance(node, ast.Call):
            name = dotted_name(node.args[0]) if node.args and dotted_name(node.func) == "next" else ""
            if name and name in values:
                yield node.lineno, f"takes the next of `{name}` at each call, and one day there is none"
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Attribute) and dotted_name(target.value) in functions:
                yield node.lineno, f"keeps `{dotted_name(target)}` from one call to the next"


def _counted(tree: ast.Module, lines: Collection[int]) -> Iterator[tuple[int, str]]:
    """Collections of the module, or of the head of a function, that a function fills and decides by."""
    shared = {
        last_name(target)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
        own = {
            each.arg
            for each, default in zip(
                reversed(function.args.args), reversed(function.args.defaults), strict=False
            )
            if isinstance(default, ast.List | ast.Dict | ast.Set)
        }
        filled: dict[str, int] = {}
        asked: set[str] = set()
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _FILLS
            ):
                filled.setdefault(dotted_name(node.func.value), node.lineno)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                filled.setdefault(dotted_name(node.value), node.lineno)
        for node in (
            part for condition in _conditions(list(ast.walk(function))) for part in ast.walk(condition)
        ):
            if isinstance(node, ast.Call) and last_name(node.func) in ("len", "sum") and node.args:
                asked.add(dotted_name(node.args[0]))
            if isinstance(node, ast.Subscript):
                asked.add(dotted_name(node.value))
        for name, line in filled.items():
            if name in (shared | own) & asked and line in lines:
                yield line, f"keeps `{name}` from one call to the next, and decides by it"


def compared_less(nodes: Collection[ast.AST]) -> Iterator[str]:
    """How code leaves something out of what is compared, or says it by a name that nobody can search for."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        if last_name(node.func) == "field" and any(_is_compare_false(each) for each in node.keywords):
            yield "leaves a value out of what is compared"
        put_together = len(node.args) == 3 and isinstance(node.args[1], ast.BinOp)
        if put_together and dotted_name(node.func) == "setattr":
            yield "sets something by a name that is put together"


def _conditions(nodes: Collection[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test
        elif isinstance(node, ast.BoolOp):
            yield node
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def _names_code(call: ast.Call) -> bool:
    texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return any(isinstance(text, str) and text.endswith(_CODE) for text in texts)


def _is_compare_false(keyword: ast.keyword) -> bool:
    return (
        keyword.arg == "compare" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
    )
