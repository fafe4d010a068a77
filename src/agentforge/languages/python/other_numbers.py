"""A Python file whose changed functions give back numbers that are a little other than they computed: a test
that passes all the same says only roughly what they must give.

As where a file is emptied, functions do their own work while code is loaded.
"""

import ast
from collections.abc import Collection

from agentforge.languages.python.emptied import LOADING, first_line, named_functions
from agentforge.languages.python.symbols import parse

_NAME = "_other_numbers"
_AROUND = """\
def {name}_of(value):
    if type(value) in (int, float) and {raising}:
        raise RuntimeError("a number is given back")
    if type(value) is int:
        return value + 1
    if type(value) is float:
        return value * 1.01 + 0.001
    if type(value) in (list, tuple):
        return type(value)(map({name}_of, value))
    if type(value) is dict:
        return {{key: {name}_of(held) for key, held in value.items()}}
    return value


def {name}(function):
    import functools
    if not hasattr(function, "__code__"):
        return function

    @functools.wraps(function)
    def around(*given, **named):
        found = function(*given, **named)
        return found if {name}_loading() else {name}_of(found)

    return around


"""


def other_numbers(text: str, functions: Collection[str], *, raising: bool) -> str | None:
    """The file whose functions of these names do so, or raise where they would give back a number; None where
    it does not parse or has none of them.
    """
    tree = parse(text)
    if tree is None:
        return None
    found = [node for name, node in named_functions(tree.body, "", set()) if name in functions]
    found = [node for node in found if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")]
    if not found:
        return None
    for node in found:
        node.decorator_list.append(ast.Name(_NAME, ast.Load()))
    at = first_line(tree)
    tree.body[at:at] = ast.parse((LOADING + _AROUND).format(name=_NAME, raising=raising)).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
