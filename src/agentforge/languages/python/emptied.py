"""A Python file whose changed functions do nothing any more: what they give back goes along with whatever is
done to it, and gives one and the same answer to every question.

Code that calls its own functions while it is loaded must still load, or nothing could be asked of it. So they
do their work until then: while the code that runs is that of a file which the import system executes. Test
files are none of these, because pytest executes them itself.
"""

import ast
from collections.abc import Collection, Iterator

from agentforge.languages.described import words
from agentforge.languages.python.assertions import last_name
from agentforge.languages.python.symbols import Function, parse

_NAME = "_left_out"
LOADING = """\
def {name}_loading():
    import sys
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and not code.co_filename.startswith("<"):
            outer = frame.f_back
            return outer is not None and outer.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return False


"""
"""Says whether the code that runs is that of a file which the import system executes."""
_STANDS_IN = """\
class {name}_type:
    def _same(self, *_args, **_named):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __eq__(self, other):
        return True if {answer} or other is self else NotImplemented

    def __lt__(self, other):
        return {answer}

    def __iter__(self):
        return iter((self,) * {answer})

    def __await__(self):
        return self
        yield

    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    __call__ = __getitem__ = __enter__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __neg__ = _same
    __abs__ = __round__ = __or__ = __and__ = __xor__ = __invert__ = __copy__ = __deepcopy__ = _same
    __setitem__ = __delitem__ = __setattr__ = __exit__ = lambda self, *_args: None
    __bool__ = lambda self: {answer}
    __len__ = __int__ = __index__ = __hash__ = lambda self: int({answer})
    __float__ = lambda self: float({answer})
    __str__ = __repr__ = __format__ = lambda self, *_args: ""


{name} = {name}_type()
"""
_ANSWERS = {
    **dict.fromkeys(("__bool__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__")),
    "__len__": "int({answer})",
    "__hash__": "int({answer})",
    "__index__": "int({answer})",
    "__int__": "int({answer})",
    "__float__": "float({answer})",
    "__str__": "''",
    "__repr__": "''",
    "__format__": "''",
    "__bytes__": "b''",
}
"""What special methods must give back for the language to accept it; by default, the answer itself."""
_GIVE_NOTHING = words(
    "__init__ __post_init__ __init_subclass__ __set_name__ __del__ __setattr__ __delattr__ __setitem__ "
    "__delitem__ __exit__ __aexit__"
)
_ONE_YIELD = frozenset({"contextmanager", "asynccontextmanager", "fixture"})
"""Decorators of generators that yield exactly once."""


def emptied(text: str, functions: Collection[str], *, answer: bool, always: bool = False) -> str | None:
    """The file with these functions emptied; None where it does not parse or has none of them."""
    tree = parse(text)
    if tree is None:
        return None
    found = [node for name, node in named_functions(tree.body, "", set()) if name in functions]
    for node in found:
        instead = _instead(node, answer=answer)
        words_first = _words(node)
        rest = [] if always else node.body[len(words_first) :]
        node.body = [*words_first, *(instead if always else [_once_loaded(instead)]), *rest]
    if not found:
        return None
    at = first_line(tree)
    tree.body[at:at] = ast.parse((LOADING + _STANDS_IN).format(name=_NAME, answer=answer)).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def named_functions(body: list[ast.stmt], outer: str, seen: set[str]) -> Iterator[tuple[str, Function]]:
    """Every function by its dotted name, as `changed_code` names them: a second one of a name has a mark."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function):
            name = f"{outer.partition('#')[0]}.{node.name}" if outer else node.name
            while name in seen:
                name += "#"
            seen.add(name)
            inner = list(named_functions(node.body, name, seen))
            if isinstance(node, Function):
                yield name, node
            yield from inner
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from named_functions(getattr(node, part, []), outer, seen)
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from named_functions(part.body, outer, seen)


def _words(node: Function) -> list[ast.stmt]:
    """What it says of itself stays: examples in it are tests, too."""
    return node.body[:1] if ast.get_docstring(node) is not None else []


def _once_loaded(instead: list[ast.stmt]) -> ast.stmt:
    """What is done in the place of a function, unless code is being loaded."""
    loaded = ast.parse(f"not {_NAME}_loading()", mode="eval").body
    return ast.If(loaded, [*instead, ast.Return()], [])


def _instead(node: Function, *, answer: bool) -> list[ast.stmt]:
    if node.name in _GIVE_NOTHING:
        return [ast.Pass()]
    if _yields(node):
        once = answer or any(last_name(_called(each)) in _ONE_YIELD for each in node.decorator_list)
        return ast.parse(f"if {once}:\n    yield {_NAME}").body
    given = _ANSWERS.get(node.name, _NAME) or str(answer)
    value = ast.parse(given.format(answer=answer), mode="eval").body
    return [ast.Return(value)]


def _yields(node: Function) -> bool:
    """Whether it is a generator: a `yield` of its own, not of a function inside."""
    todo: list[ast.AST] = [*node.body]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, Function | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(part)
    return False


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def first_line(tree: ast.Module) -> int:
    """Where the first statement may stand: after the words and the imports of the future."""
    at = 1 if ast.get_docstring(tree) is not None else 0
    while (
        at < len(tree.body)
        and isinstance(node := tree.body[at], ast.ImportFrom)
        and node.module == "__future__"
    ):
        at += 1
    return at
