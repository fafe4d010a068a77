"""Guards of tests: the tests a file defines, and whether an edit made old tests weaker."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agentforge.languages.described import words
from agentforge.languages.python.assertions import last_name, live_assertions, never_true
from agentforge.languages.python.symbols import Function, parse

_SKIPS = words("skip skipif xfail skipIf skipUnless expectedFailure skipTest importorskip SkipTest")


@dataclass(frozen=True, slots=True)
class _Unit:
    """One function of a test file, as far as its strength goes."""

    is_test: bool
    assertions: Counter[str]
    skips: int
    cases: int
    """Literal cases of its `parametrize` marks."""
    empty: bool


def test_ids_in_source(text: str, path: str) -> list[str]:
    """The node ids that pytest would give the tests of this file, read without running it; without
    parameters.
    """
    tree = parse(text)
    return (
        []
        if tree is None
        else [f"{path}::{name.replace('.', '::')}" for name, _, is_test in functions_of(tree.body) if is_test]
    )


test_ids_in_source.__test__ = False  # type: ignore[attr-defined]  # pytest would take the function for a test


def source_of_test(text: str, identity: str) -> str | None:
    """A test of a file as normalised text, with its decorators; None where the file does not define it."""
    tree = parse(text)
    name = identity.partition("::")[2].partition("[")[0].replace("::", ".")
    if tree is not None and _is_examples_of(tree, identity.partition("::")[0], name):
        return None
    found = [nodes[-1] for known, nodes, _ in functions_of(tree.body) if known == name] if tree else []
    return ast.unparse(found[-1]) if found else None


def _is_examples_of(tree: ast.Module, path: str, name: str) -> bool:
    """Whether this names the examples in the words of a module, and not a function with its name."""
    place = PurePosixPath(path)
    module = place.parent.name if place.stem == "__init__" else place.stem
    return name == module and not name.startswith("test") and ">>> " in (ast.get_docstring(tree) or "")


def asserts(text: str, identity: str) -> bool:
    """Whether a test of a file has an assertion of its own that can fail."""
    tree = parse(source_of_test(text, identity) or "")
    return tree is not None and any(unit.assertions for unit in _units(tree).values())


def weakened(before: str, after: str, path: str) -> list[str]:
    """How the edit weakened old tests, one sentence each; empty when it did not. A renamed test counts as
    deleted.
    """
    if not path.endswith(".py"):
        return []
    old_tree, new_tree = parse(before), parse(after)
    if old_tree is None:
        return []
    if new_tree is None:
        return [f"{path} does not parse any more, so none of its tests can run"]
    old, new = _units(old_tree), _units(new_tree)
    found = (
        []
        if _module_skips(new_tree) <= _module_skips(old_tree)
        else [f"{path} skips or hides its tests as a whole"]
    )
    for name, unit in old.items():
        found.extend(f"{path}::{name.replace('.', '::')} {what}" for what in _weaker(unit, new.get(name)))
    return found


def _weaker(old: _Unit, new: _Unit | None) -> Iterator[str]:
    if new is None or (old.is_test and not new.is_test):
        if old.is_test:
            yield "was deleted"
        elif old.assertions:
            yield "was deleted, with its assertions"
        return
    if new.skips > old.skips:
        yield "is skipped or expected to fail now"
    if new.empty and not old.empty:
        yield "was emptied"
    elif gone := old.assertions - new.assertions:
        yield f"lost {gone.total()} assertion(s), first: {next(iter(gone))[:160]}"
    if new.cases < old.cases:
        yield f"lost {old.cases - new.cases} of its parametrised cases"


def _units(tree: ast.Module) -> dict[str, _Unit]:
    """By dotted name; of two definitions the later one stands, as in Python."""
    units: dict[str, _Unit] = {}
    for name, nodes, is_test in functions_of(tree.body):
        function = nodes[-1]
        assert isinstance(function, Function)
        decorators = [decorator for node in nodes for decorator in node.decorator_list]
        units[name] = _Unit(
            is_test=is_test,
            assertions=Counter(live_assertions(function.body)),
            skips=sum(_skip_names(decorator) for decorator in decorators)
            + sum(_skip_names(node) for node in function.body),
            cases=sum(_literal_cases(decorator) for decorator in decorators),
            empty=all(
                isinstance(node, ast.Pass)
                or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
                for node in function.body
            ),
        )
    for node in tree.body:
        for name in _unbound(node):
            for known in [known for known in units if known == name or known.startswith(name + ".")]:
                del units[known]
    return units


def functions_of(
    body: Sequence[ast.stmt], above: tuple[ast.ClassDef, ...] = ()
) -> Iterator[tuple[str, tuple[ast.ClassDef | Function, ...], bool]]:
    """Functions of a module and its classes: dotted name, the nodes from the outermost class down, whether it
    is a test.
    """
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions_of(node.body, (*above, node))
        elif isinstance(node, Function):
            name = ".".join([*(outer.name for outer in above), node.name])
            yield (
                name,
                (*above, node),
                node.name.startswith("test") and all(_is_test_class(outer) for outer in above),
            )
        elif isinstance(node, ast.If | ast.Try | ast.With):
            if isinstance(node, ast.If) and never_true(node.test):
                yield from functions_of(node.orelse, above)
                continue
            for block in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                yield from functions_of(block, above)


def _is_test_class(node: ast.ClassDef) -> bool:
    if any(last_name(base).endswith("TestCase") for base in node.bases):
        return True
    return node.name.startswith("Test") and not any(
        isinstance(item, Function) and item.name == "__init__" for item in node.body
    )


def _module_skips(tree: ast.Module) -> int:
    """What takes all tests of a file, or of a class, out: `pytestmark`, a skip at import, `__test__`,
    `collect_ignore`.
    """
    total = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            total += sum(_hides(statement) for statement in node.body)
    return total


def _hides(node: ast.stmt) -> int:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        names = {
            last_name(target) for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        }
        if names & {"__test__", "collect_ignore", "collect_ignore_glob"}:
            return 1
        return _skip_names(node.value) if "pytestmark" in names and node.value is not None else 0
    if isinstance(node, ast.Expr | ast.Raise | ast.If):
        return _skip_names(node)
    return 0


def _unbound(node: ast.stmt) -> Iterator[str]:
    """Names of the module that a later statement takes away or overwrites."""
    if isinstance(node, ast.Assign | ast.Delete):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _skip_names(node: ast.AST) -> int:
    return sum(
        1
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name | ast.Attribute) and last_name(inner) in _SKIPS
    )


def _literal_cases(decorator: ast.expr) -> int:
    if not isinstance(decorator, ast.Call) or last_name(decorator.func) not in (
        "parametrize",
        "expand",
        "data",
    ):
        return 0
    values = [
        *decorator.args,
        *(keyword.value for keyword in decorator.keywords if keyword.arg == "argvalues"),
    ]
    return sum(len(value.elts) for value in values[-1:] if isinstance(value, ast.List | ast.Tuple))
