"""Examples in documentation that a run of the tests checks: doctests of docstrings and of text files."""

import ast
import doctest
import posixpath

from agentforge.languages.python.symbols import Function, parse


def examples_of(text: str, identity: str) -> tuple[str, ...] | None:
    """The examples behind an id of a run, as normalised text; None if the id is not that of a doctest, or the
    file does not have it any more.
    """
    path, _, name = identity.partition("::")
    if not path.endswith(".py"):
        return _examples(text) if name == posixpath.basename(path) else None
    tree = parse(text)
    if tree is None:
        return None
    docstring = _documented(tree, _inside(path, name))
    return None if docstring is None else _examples(docstring)


def _inside(path: str, name: str) -> list[str] | None:
    """The dotted name of a doctest without that of its module; None where it is no name of this module."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    names = name.split(".")
    for count in range(len(parts), 0, -1):
        if names[:count] == parts[-count:]:
            return names[count:]
    return None


def _documented(tree: ast.Module, names: list[str] | None) -> str | None:
    """The docstring of what is defined under these names."""
    if names is None:
        return None
    node: ast.Module | ast.ClassDef | Function = tree
    for name in names:
        found = [
            each
            for each in ast.walk(node)
            if isinstance(each, ast.ClassDef | Function) and each is not node and each.name == name
        ]
        if not found:
            return None
        node = found[-1]
    return ast.get_docstring(node)


def _examples(text: str) -> tuple[str, ...]:
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:  # not valid, so the run says so
        return ()
    return tuple(_normalised(example) for example in found)


def _normalised(example: doctest.Example) -> str:
    flags = "".join(f" [{flag}={value}]" for flag, value in sorted(example.options.items()))
    return f">>> {example.source.strip()} -> {example.want.strip()}{flags}"
