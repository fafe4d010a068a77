"""Small wrong versions of a file by its grammar, each of them a program: what a test that is about some lines
should notice.
"""

import random
from collections.abc import Collection, Iterator
from typing import Any

from agentforge.languages.described import words
from agentforge.languages.grammars import reader
from agentforge.languages.grammars.probes import probes_of
from agentforge.languages.grammars.table import grammar_of
from agentforge.languages.values import Mutant

_OTHER = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "&&": "||",
    "||": "&&",
    "-": "+",
    "true": "false",
    "false": "true",
}
_SCRIPT_ONLY = {"+": "-", "*": "/"}
"""What another type of operand would forbid in a language that says it."""
_OPERATIONS = words("binary_expression")
_WORDS = words("true false boolean_literal")
_NUMBERS = words("number int_literal integer_literal decimal_integer_literal")
_TEXTS = words("string interpreted_string_literal string_literal")
_NO_VALUE = words(
    "import_statement import_declaration use_declaration attribute_item annotation "
    "array_type literal_type type_annotation type_arguments type_parameters index_type"
)
"""Nodes that hold no value which a run would meet."""
_ASKS = words("if_statement while_statement if_expression while_expression")
_CALLS = words("call_expression method_invocation await_expression macro_invocation")
_SHOWN = 60


def mutants(text: str, path: str, lines: Collection[int], *, limit: int, seed: str) -> list[Mutant]:
    """At most `limit` wrong versions of a file, each wrong in one of `lines`; a seed draws the same."""
    grammar = grammar_of(path)
    root = reader.tree_of(text, grammar) if grammar is not None else None
    if grammar is None or root is None:
        return []
    inside = frozenset().union(*(probe.lines for probe in probes_of(text, path) or ()))
    script = bool(grammar.empty_body)
    wanted = inside.intersection(lines)
    found = [row for row in _places(root, script=script) if row[0].start_point[0] + 1 in wanted]
    drawn = found if len(found) <= limit else random.Random(seed).sample(found, limit)  # noqa: S311 - repeatable
    data = text.encode()
    made = []
    for node, instead, what in drawn:
        new = (data[: node.start_byte] + instead.encode() + data[node.end_byte :]).decode()
        made.append(Mutant(node.start_point[0] + 1, what, new))
    return sorted(made)


def _places(root: Any, *, script: bool) -> Iterator[tuple[Any, str, str]]:  # noqa: ANN401 - a node of the library
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _NO_VALUE:
            continue
        if (instead := _instead(node, script=script)) is not None:
            operation = node.parent is not None and node.parent.type in _OPERATIONS
            where = f" in `{_shown(node.parent)}`" if operation else ""
            yield node, instead, f"has `{instead}` for `{_shown(node)}`{where}"
        yield from _of_statement(node, script=script)
        asked = node.child_by_field_name("condition") if node.type in _ASKS else None
        if asked is not None and "let" not in asked.type and node.child_by_field_name("initializer") is None:
            opposite = (
                f"(!{_text(asked)})" if asked.type == "parenthesized_expression" else f"!({_text(asked)})"
            )
            yield asked, opposite, f"asks the opposite of `{_shown(asked)}`"
        waiting += reversed(node.children)


def _of_statement(node: Any, *, script: bool) -> Iterator[tuple[Any, str, str]]:  # noqa: ANN401 - as above
    if script and node.type == "return_statement" and node.named_children:
        yield node.named_children[0], "undefined", "returns undefined"
    elif node.type == "expression_statement" and any(part.type in _CALLS for part in node.named_children):
        yield node, ";" if _text(node).endswith(";") else "", f"leaves out `{_shown(node)}`"


def _instead(node: Any, *, script: bool) -> str | None:  # noqa: ANN401 - as above
    said = _text(node)
    if node.type in _WORDS:
        return _OTHER.get(said)
    if node.type in _NUMBERS and said.isdecimal():
        return str(int(said) + 1)
    if script and node.type in _TEXTS and len(said) > len("''"):
        return f"{said[0]}{said[-1]}"
    if node.parent is not None and node.parent.type in _OPERATIONS and not node.is_named:
        return _OTHER.get(said) or (_SCRIPT_ONLY.get(said) if script else None)
    return None


def _text(node: Any) -> str:  # noqa: ANN401 - as above
    return (node.text or b"").decode("utf-8", "replace")


def _shown(node: Any) -> str:  # noqa: ANN401 - as above
    text = " ".join(_text(node).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
