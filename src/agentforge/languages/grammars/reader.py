"""Definitions and references of a file by its grammar: the one owner of tree-sitter.

Without the extra `code` every answer is None, and the caller reads line by line.
"""

import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from agentforge.languages.described import words
from agentforge.languages.grammars.table import Grammar
from agentforge.languages.values import Kind, Symbol

PARSE_LIMIT = 60_000
"""Longer files are read line by line: on text that is no code at all the parser's repairs take more than
linear time, and nothing can interrupt them.
"""
_LONGEST_LINE = 2_000
"""A file with a longer line was made by a tool."""
_LONGEST_STATEMENT = 3_000
"""A file with more characters than that between two ends of statements or blocks is read line by line: the
parser's time grows with the square of an ambiguous expression, and 60,000 characters of one take a minute.
"""
_ENDS = re.compile(r"[;{}]")
_NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
SIGNATURE_LIMIT = 240
_OPENING = re.compile(r"\s*(?:=>|=|\{)\s*$")
_DEEPEST = 40
_BODIES = ("body", "block")
_RESULTS = ("result", "return_type", "type")
_CONSTRUCTOR = "constructor_declaration"
_NAMES = frozenset(
    {
        "identifier",
        "type_identifier",
        "field_identifier",
        "property_identifier",
        "shorthand_property_identifier",
    }
)
_BRANCHES = words(
    "if_statement if_expression for_statement for_in_statement for_expression enhanced_for_statement "
    "while_statement while_expression do_statement loop_expression switch_case expression_case type_case "
    "communication_case switch_label match_arm catch_clause ternary_expression conditional_expression "
    "&& || ??"
)
"""Types of nodes, in all grammars, after which the code may go more than one way."""


@cache
def is_installed() -> bool:
    """Whether files can be parsed at all here."""
    return importlib.util.find_spec("tree_sitter") is not None


def unread_gaps(language: str) -> tuple[tuple[str, str], ...]:
    """What cannot be said of a language where its files cannot be parsed."""
    if is_installed():
        return ()
    why = f"not available for {language} without the extra `code`"
    return (("which lines a test runs", why), ("coverage", why), ("mistakes put into the change", why))


@cache
def _parser(module: str, factory: str) -> Any | None:  # noqa: ANN401 - the library is an extra, and untyped here
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = getattr(importlib.import_module(module), factory)
        return tree_sitter.Parser(tree_sitter.Language(grammar()))
    except (ImportError, AttributeError, ValueError):
        return None


def _root(text: str, grammar: Grammar) -> Any | None:  # noqa: ANN401 - a node of the library
    if len(text) > PARSE_LIMIT or max(map(len, text.split("\n"))) > _LONGEST_LINE or _is_endless(text):
        return None
    parser = _parser(grammar.module, grammar.factory)
    return parser.parse(text.encode("utf-8", "replace")).root_node if parser is not None else None


def tree_of(text: str, grammar: Grammar) -> Any | None:  # noqa: ANN401 - a node of the library
    """The tree of a file, for who walks it; None where there is nothing to parse with, or the text does not
    parse.
    """
    root = _root(text, grammar)
    return None if root is None or root.has_error else root


def _is_endless(text: str) -> bool:
    """Whether something in it goes on for so long that it was not written by hand."""
    if len(text) <= _LONGEST_STATEMENT:
        return False
    return max(map(len, _ENDS.split(_NO_CODE.sub(" ", text)))) > _LONGEST_STATEMENT


def symbols(text: str, grammar: Grammar) -> list[Symbol] | None:
    """Every definition of a file and of its types, in order; None where there is nothing to parse with."""
    root = _root(text, grammar)
    found = [] if root is None else [_symbol(*each) for each in _definitions(root, "", grammar, 0)]
    # Where the parser could make nothing of a file, its lines still say something.
    return None if root is None or (root.has_error and not found) else found


class Body(NamedTuple):
    """The body of a function, by its place in the bytes of the file."""

    name: str
    start: int
    end: int
    result: str | None = ""
    """The type of what it gives back, as it is written; None for what makes an object."""


def bodies(text: str, grammar: Grammar) -> list[Body] | None:
    """The bodies of all functions in order; None where there is nothing to parse with, or the text does not
    parse.
    """
    if (root := tree_of(text, grammar)) is None:
        return None
    found = []
    for node, name, kind in _definitions(root, "", grammar, 0):
        body = _body(node) or _body(node.child_by_field_name("value") or node)
        if kind in ("function", "method") and body is not None:
            given = next((part for key in _RESULTS if (part := node.child_by_field_name(key))), None)
            result = None if node.type == _CONSTRUCTOR else _text(given) if given is not None else ""
            found.append(Body(name, body.start_byte, body.end_byte, result))
    return found


def references(text: str, grammar: Grammar) -> list[tuple[str, int]] | None:
    """Every name that code of the file uses or defines, with its line; strings and comments left out."""
    root = _root(text, grammar)
    if root is None:
        return None
    found: list[tuple[str, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _NAMES:
            found.append((_text(node), node.start_point[0] + 1))
        waiting.extend(reversed(node.children))
    return found


class Leaf(NamedTuple):
    """A word of the code, by its place."""

    line: int
    text: str


def leaves(text: str, grammar: Grammar) -> list[Leaf] | None:
    """Every word of the code in order, comments left out; None where there is nothing to parse with, or the
    text does not parse.
    """
    if (root := tree_of(text, grammar)) is None:
        return None
    found: list[Leaf] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if "comment" in node.type:
            continue
        if node.child_count and "string" not in node.type:
            waiting.extend(reversed(node.children))
        elif spelled := _text(node):
            found.append(Leaf(node.start_point[0] + 1, spelled))
    return found


def branches(text: str, grammar: Grammar) -> list[int] | None:
    """The lines on which the code may go more than one way, one for each; None as above."""
    if (root := tree_of(text, grammar)) is None:
        return None
    found: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _BRANCHES:
            found.append(node.start_point[0] + 1)
        waiting.extend(node.children)
    return found


def _definitions(node: Any, above: str, grammar: Grammar, depth: int) -> Iterator[tuple[Any, str, Kind]]:  # noqa: ANN401 - as above
    """Nodes that define something, each with its dotted name."""
    for child in node.named_children:
        if depth > _DEEPEST:
            return
        kind = grammar.kinds.get(child.type)
        if kind is None:
            if child.type in grammar.through:
                yield from _definitions(child, above, grammar, depth + 1)
            continue
        name = _name(child)
        if not name:
            continue
        value = child.child_by_field_name("value") if child.type == "variable_declarator" else None
        if value is not None and value.type in {"arrow_function", "function_expression", "function"}:
            kind = "function"
        owner = above or _receiver(child)
        yield child, f"{owner}.{name}" if owner else name, _as_method(kind, owner)
        if kind == "class" and (body := _body(child)) is not None:
            yield from _definitions(body, f"{above}.{name}" if above else name, grammar, depth + 1)


def _as_method(kind: Kind, owner: str) -> Kind:
    return "method" if owner and kind == "function" else kind


def _body(node: Any) -> Any | None:  # noqa: ANN401 - as above
    return next((found for field in _BODIES if (found := node.child_by_field_name(field)) is not None), None)


def _name(node: Any) -> str:  # noqa: ANN401 - as above
    """Its name; of an `impl`, the type that it is for."""
    field = "type" if node.type == "impl_item" else "name"
    named = node.child_by_field_name(field)
    if named is None:
        return ""
    if named.type == "generic_type":
        named = named.child_by_field_name("type") or named
    text = _text(named)
    return text if len(text) < SIGNATURE_LIMIT and "\n" not in text else ""


def _receiver(node: Any) -> str:  # noqa: ANN401 - as above
    """The type that a method of Go belongs to."""
    receiver = node.child_by_field_name("receiver")
    waiting = [receiver] if receiver is not None else []
    while waiting:
        each = waiting.pop()
        if each.type == "type_identifier":
            return _text(each)
        waiting.extend(reversed(each.children))
    return ""


def _symbol(node: Any, name: str, kind: Kind) -> Symbol:  # noqa: ANN401 - as above
    whole = node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    body = _body(node) or node.child_by_field_name("value")
    raw = node.text or b""
    head = raw[: body.start_byte - node.start_byte] if body is not None else raw
    signature = " ".join(head.decode("utf-8", "replace").split())
    signature = _OPENING.sub("", signature)
    return Symbol(name, kind, whole.start_point[0] + 1, whole.end_point[0] + 1, signature[:SIGNATURE_LIMIT])


def _text(node: Any) -> str:  # noqa: ANN401 - as above
    return (node.text or b"").decode("utf-8", "replace")
