"""Code that tells which of its lines run: before each statement of its functions stands a call of ours, on
the same line, so that every line keeps its number.

What a file does while it is loaded is not told, nor what runs only for tests that stand beside the code.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from agentforge.languages.described import words
from agentforge.languages.grammars import reader
from agentforge.languages.grammars.table import grammar_of


class _Shape(NamedTuple):
    """What a grammar calls the parts of a function."""

    functions: frozenset[str]
    blocks: frozenset[str]
    """Nodes whose children are statements."""
    not_before: frozenset[str] = frozenset()
    """Children of a block that no statement may stand in front of."""
    expressions: bool = False
    """Whether the body of a function may be an expression, which may become `(call, expression)`."""


_SCRIPT = _Shape(
    words(
        "function_declaration function_expression arrow_function method_definition generator_function "
        "generator_function_declaration"
    ),
    words("statement_block switch_case switch_default"),
    expressions=True,
)
_SHAPES: Mapping[str, _Shape] = {
    "JavaScript": _SCRIPT,
    "TypeScript": _SCRIPT,
    "TSX": _SCRIPT,
    "Go": _Shape(
        words("function_declaration method_declaration func_literal"),
        words("block expression_case type_case communication_case default_case statement_list"),
        words("statement_list fallthrough_statement"),
    ),
    "Rust": _Shape(words("function_item"), words("block"), words("inner_attribute_item label lifetime")),
    "Java": _Shape(
        words("method_declaration constructor_declaration compact_constructor_declaration lambda_expression"),
        words("block constructor_body switch_block_statement_group"),
        words("explicit_constructor_invocation switch_label"),
    ),
}
_CASE_HEADS = ("value", "type", "communication")
"""Fields of a case that are no statement of it."""

_STILL = words(
    "import_statement import_declaration package_clause package_declaration use_declaration export_clause "
    "interface_declaration type_alias_declaration ambient_declaration function_signature "
    "function_signature_item extern_crate_declaration"
)
_AROUND = words("class_declaration abstract_class_declaration impl_item mod_item trait_item enum_declaration")


class Probe(NamedTuple):
    """A place in the bytes of a file where a call is put, and the lines that run if it is reached."""

    at: int
    lines: frozenset[int]
    ends: int = 0
    """Where an expression ends that the call becomes a part of; 0 for a statement."""


def probes_of(text: str, path: str) -> list[Probe] | None:
    """Where calls may stand in a file; None where it cannot be read."""
    grammar = grammar_of(path)
    root = reader.tree_of(text, grammar) if grammar is not None else None
    if grammar is None or root is None:
        return None
    return sorted(_below(root, _SHAPES[grammar.name], inside=False))


def still_lines(text: str, path: str) -> frozenset[int]:
    """Lines that do nothing by themselves: what is imported, what only declares a type, and what opens and
    closes a class.
    """
    grammar = grammar_of(path)
    root = reader.tree_of(text, grammar) if grammar is not None else None
    found: set[int] = set()
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        body = node.child_by_field_name("body")
        if node.type in _STILL:
            found.update(range(first, last + 1))
        elif body is not None and node.type in _AROUND:
            found |= {*range(first, body.start_point[0] + 2), last}
            waiting.append(body)
        else:
            waiting += node.named_children
    return frozenset(found)


def with_probes(
    text: str, path: str, call: Callable[[int], str], first: int
) -> tuple[str, dict[int, frozenset[int]]]:
    """The file with its calls, numbered from `first`, and the lines that each number stands for; none of them
    where it cannot be read.
    """
    found = probes_of(text, path) or []
    written, ends = text.encode(), []
    numbers = {first + count: probe.lines for count, probe in enumerate(found)}
    for count, probe in enumerate(found):
        ends_open = (
            written[: probe.at].endswith((b"'", b'"')) and not probe.ends
        )  # a directive without a sign
        said = f"{';' if ends_open else ''}{call(first + count)}"
        ends += [(probe.at, 1, f"({said}," if probe.ends else f"{said};")]
        ends += [(probe.ends, 0, ")")] if probe.ends else []
    for at, _, said in sorted(ends, key=lambda each: each[:2], reverse=True):
        written = written[:at] + said.encode() + written[at:]
    return written.decode(), numbers


def _below(node: Any, shape: _Shape, *, inside: bool) -> Iterator[Probe]:  # noqa: ANN401 - a node of the library
    if node.type in shape.functions:
        if _is_left_out(node):
            return
        yield from _entry(node, shape)
        inside = True
    for child in node.named_children:
        if _is_for_tests(child):
            continue
        if inside and node.type in shape.blocks and _may_stand_before(child, node, shape):
            yield Probe(child.start_byte, _own_lines(child, shape) | _marked(child, shape))
        yield from _below(child, shape, inside=inside)


def _entry(node: Any, shape: _Shape) -> Iterator[Probe]:  # noqa: ANN401 - as above
    """A call where the function begins: whoever calls it runs its head, whatever else it runs."""
    body = node.child_by_field_name("body")
    if body is None:
        return
    head = {*range(node.start_point[0] + 1, body.start_point[0] + 2), body.end_point[0] + 1}
    if body.type in shape.blocks:
        opening = [child for child in body.named_children if _opens(child)]
        after = opening[-1].end_byte if opening else body.start_byte + 1
        yield Probe(after, frozenset(head))
    elif shape.expressions:
        yield Probe(body.start_byte, frozenset(head) | _own_lines(body, shape), body.end_byte)


def _opens(child: Any) -> bool:  # noqa: ANN401 - as above
    """Whether it must stay at the top of its function: `"use strict"`, `super(...)`, `#![allow(...)]`."""
    if child.type == "expression_statement":
        return bool(child.named_children) and child.named_children[0].type == "string"
    return child.type in ("explicit_constructor_invocation", "inner_attribute_item")


def _may_stand_before(child: Any, block: Any, shape: _Shape) -> bool:  # noqa: ANN401 - as above
    if child.type in shape.not_before or "comment" in child.type or _opens(child):
        return False
    if any(block.child_by_field_name(field) == child for field in _CASE_HEADS):
        return False
    before = child.prev_named_sibling
    # What is said of a statement stays in front of it.
    return before is None or before.type not in ("attribute_item", "label", "lifetime")


def _own_lines(node: Any, shape: _Shape) -> frozenset[int]:  # noqa: ANN401 - as above
    """The lines of a statement, without those of statements inside of it that have a call of their own."""
    inner: set[int] = set()
    waiting = [(node, child) for child in node.named_children]
    while waiting:
        around, child = waiting.pop()
        arrow = shape.expressions and around.type in shape.functions
        body = arrow and around.child_by_field_name("body") == child and child.type not in shape.blocks
        if body or (around.type in shape.blocks and _may_stand_before(child, around, shape)):
            inner.update(range(child.start_point[0] + 1, child.end_point[0] + 2))
        else:
            waiting += [(child, each) for each in child.named_children]
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    return frozenset({first} | (set(range(first, last + 1)) - inner))


def _marked(child: Any, shape: _Shape) -> frozenset[int]:  # noqa: ANN401 - as above
    """The lines of the statement that a mark in front of it is about."""
    after = child.next_named_sibling if child.type == "attribute_item" else None
    return frozenset() if after is None else _own_lines(after, shape)


def _is_left_out(node: Any) -> bool:  # noqa: ANN401 - as above
    """A function that the compiler runs, or that runs while a program is loaded."""
    name = node.child_by_field_name("name")
    if node.type == "function_declaration" and name is not None and name.text in (b"init", b"TestMain"):
        return node.child_by_field_name("result") is None
    marks = [child for child in node.children if child.type == "function_modifiers"]
    return any(b"const" in (mark.text or b"").split() for mark in marks)


def _is_for_tests(node: Any) -> bool:  # noqa: ANN401 - as above
    """Whether it is there for the tests that stand beside the code, as Rust marks them."""
    before = node.prev_named_sibling if node.type in ("mod_item", "function_item") else None
    while before is not None and before.type == "attribute_item":
        if b"test" in (before.text or b""):
            return True
        before = before.prev_named_sibling
    return False
