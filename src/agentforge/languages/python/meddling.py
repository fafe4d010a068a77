"""Code that reaches into the process it runs in, or is switched by its test; tests that put something else in
the place of what they test. Honest code does that rarely, so it is shown to whoever reads the change.
"""

import ast
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet

from agentforge.languages.described import words
from agentforge.languages.python.assertions import last_name
from agentforge.languages.python.symbols import parse

_ASKS_FILES = frozenset({"exists", "is_file", "isfile", "is_dir", "isdir", "access", "lexists"})
_WRITES_FILES = frozenset({"write_text", "write_bytes", "touch", "mkdir", "open", "mkdtemp", "makedirs"})
_SETS_VARIABLES = frozenset({"setenv", "putenv", "setdefault", "update"})
_OWN_PROCESS = "/proc/"
_COMPARES = words(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __instancecheck__ __subclasscheck__"
)
_COMPUTES = words(
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ "
    "__rfloordiv__ __mod__ __rmod__ __bool__ __len__ __abs__ __round__ __int__ __float__ __index__ "
    "__getattribute__"
)
_VALUES = words("int float str bytes tuple list dict set frozenset complex Decimal Fraction")
_STANDS_IN = words("setattr patch object")
"""Last names of calls that put a stand-in somewhere, such as `monkeypatch.setattr`."""


def meddles(nodes: Collection[ast.AST], inside: Collection[str]) -> Iterator[str]:
    """How code reaches into its process; `inside` are the names by which that is done."""
    for node in nodes:
        dotted = dotted_name(node)
        if dotted and any(dotted == word or dotted.endswith(f".{word}") for word in inside):
            yield f"looks into the process that it runs in, by `{dotted}`"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OWN_PROCESS in node.value:
            yield f"looks into the process that it runs in, by `{node.value}`"
        if isinstance(node, ast.Subscript) and dotted_name(node.value) == "sys.argv" and _is_zero(node.slice):
            yield "asks by which command it was started"
        if _is_text(node, "__eq__") or (isinstance(node, ast.Name) and node.id == "__eq__"):
            yield "makes up how something compares"


def own_arithmetic(tree: ast.Module, lines: AbstractSet[int]) -> Iterator[tuple[int, str]]:
    """Classes made of a plain value that say themselves how it compares or is computed with."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or not {last_name(base) for base in node.bases} & _VALUES:
            continue
        for part in node.body:
            if not isinstance(part, ast.FunctionDef) or part.name not in _COMPARES | _COMPUTES:
                continue
            if not lines.isdisjoint(range(part.lineno, (part.end_lineno or part.lineno) + 1)):
                said = f"`{node.name}` is a value with a `{part.name}` of its own"
                yield part.lineno, f"makes up how something compares: {said}"


def one_sided(tree: ast.Module, lines: Collection[int]) -> Iterator[tuple[int, str]]:
    """Comparisons in these lines that do not look at both sides, with their lines: such a value may equal
    anything.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name not in _COMPARES:
            continue
        if set(range(node.lineno, (node.end_lineno or node.lineno) + 1)).isdisjoint(lines):
            continue
        read = {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        }
        if any(argument.arg not in read for argument in node.args.args[:2]):
            yield (
                node.lineno,
                f"has a `{node.name}` that does not look at both sides: it compares alike with everything",
            )


def switched(nodes: Collection[ast.AST], tests: Sequence[str]) -> Iterator[str]:
    """By what a new test switches this code: a variable that it sets, a file that it writes."""
    calls = {last_name(node.func) for node in nodes if isinstance(node, ast.Call)}
    asks_variables = any(
        last_name(node) in ("environ", "getenv") for node in nodes if isinstance(node, ast.expr)
    )
    asks_files = bool(calls & _ASKS_FILES)
    if not asks_variables and not asks_files:
        return
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for test in tests:
        variables, files = _set_by(test)
        if asks_variables:
            yield from (
                f"asks for the variable `{name}`, which a new test sets" for name in sorted(texts & variables)
            )
        if asks_files:
            yield from (
                f"asks for the file `{name}`, which a new test writes" for name in sorted(texts & files)
            )


def replaced(tree: ast.Module) -> Iterator[str]:
    """What a file of tests puts in the place of something that it imports, and never takes back."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            place = target.value if isinstance(target, ast.Subscript) else target
            dotted = dotted_name(place)
            if isinstance(target, ast.Subscript) and dotted != "sys.modules":
                continue
            if "." in dotted and dotted.partition(".")[0] in imported:
                yield f"puts something of its own in the place of `{dotted}`"
        if isinstance(node, ast.Call) and dotted_name(node.func) == "setattr" and node.args:
            dotted = dotted_name(node.args[0])
            if dotted.partition(".")[0] in imported:
                yield f"puts something of its own in the place of a part of `{dotted}`"


def replaced_names(text: str) -> list[str]:
    """The names in whose place a file of tests puts something else for a while, by a stand-in."""
    tree = parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    found = [
        argument.value.rpartition(".")[2]
        for call in calls
        if dotted_name(call.func).rpartition(".")[2] in _STANDS_IN
        for argument in call.args[:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return list(dict.fromkeys(found))


def values_for_tests(nodes: Collection[ast.AST], tests: Sequence[str]) -> Iterator[str]:
    """Which values of this code new tests set for themselves, or take what they expect from."""
    targets = [
        target
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    for test in tests if names else ():
        for name in sorted(names & {*replaced_names(test)}):
            yield f"has `{name}`, which a new test sets to something else than it is where no test is"
        for name in sorted(names & _expected_from(test)):
            yield f"has `{name}`, which a new test takes what it expects from: both come with the change"


def _expected_from(test: str) -> frozenset[str]:
    """The names that a file of tests has not made itself, and that it compares calls with or goes through."""
    tree = parse(test)
    if tree is None:
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            found |= _beside_calls([node.left, *node.comparators])
        elif isinstance(node, ast.Call) and last_name(node.func).lower().startswith("assert"):
            found |= _beside_calls(node.args)
        elif isinstance(node, ast.Call) and last_name(node.func) == "parametrize":
            found |= _loaded_names(node.args[1:])
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            found |= _loaded_names([node.iter])
    own = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    return frozenset(found - own)


def _beside_calls(sides: Sequence[ast.expr]) -> set[str]:
    """The names on those sides that call nothing, where another side does."""
    plain = [side for side in sides if not any(isinstance(node, ast.Call) for node in ast.walk(side))]
    return _loaded_names(plain) if len(plain) < len(sides) else set()


def _loaded_names(parts: Sequence[ast.expr]) -> set[str]:
    return {
        last_name(node)
        for part in parts
        for node in ast.walk(part)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def looks_at_shape(part: ast.AST) -> Iterator[str]:
    """How a test asks what code looks like instead of what it does."""
    for node in ast.walk(part):
        if isinstance(node, ast.Attribute) and node.attr in ("__code__", "__dict__"):
            yield f"looks at `{node.attr}`: what code is made of, not what it does"
        if isinstance(node, ast.Call) and dotted_name(node.func) in ("hasattr", "dir", "vars") and node.args:
            yield f"asks by `{dotted_name(node.func)}` what is there, not what it does"


def dotted_name(node: ast.AST) -> str:
    """A name as it is written, parts and all; empty for what is no name."""
    if isinstance(node, ast.Attribute):
        above = dotted_name(node.value)
        return f"{above}.{node.attr}" if above else ""
    return node.id if isinstance(node, ast.Name) else ""


def _set_by(test: str) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that a file of tests sets, and the names of files that it writes."""
    variables: set[str] = set()
    files: set[str] = set()
    tree = parse(test)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Subscript) and last_name(node.value) == "environ":
            variables |= _texts(node.slice)
        if isinstance(node, ast.Call) and last_name(node.func) in _SETS_VARIABLES:
            variables |= _texts(node)
        if isinstance(node, ast.Call) and last_name(node.func) in _WRITES_FILES:
            files |= {part for text in _texts(node) for part in (text, f"/{text}")}
    return frozenset(variables), frozenset(files)


def _texts(node: ast.AST) -> set[str]:
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) > 2
    }


def _is_text(node: ast.AST | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _is_zero(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
