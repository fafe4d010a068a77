"""A contract as a model reads it: the outline of what to submit, without what the engine fills in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentforge.catalog.contracts import Contract, problems
from agentforge.catalog.dialect import types_of
from agentforge.core.pipeline import Part

DERIVED: frozenset[Part | None] = frozenset({"questions", "analysis"})
"""What a role may have nothing to say in, unless it is asked for nothing else."""

_WORDS = {
    "string": "text",
    "integer": "integer",
    "boolean": "true|false",
    "object": "object",
    "array": "list",
    "null": "null",
}


def skeleton(contract: Contract) -> str:
    """The draft in outline: `*` is required, `a|b` a choice."""
    schema: Any = contract.document["schema"]
    lines = list(_properties(schema, "  "))
    return "\n".join([f"{contract.name}:", *lines]) if lines else f"{contract.name}: {{}}"


def output_guide(contracts: tuple[Contract, ...]) -> str:
    """The outlines of every contract that a stage owes; those that can be derived come last."""
    if not contracts:
        return ""
    owed = [contract for contract in contracts if not may_be_left_out(contract, contracts)]
    derived = [contract for contract in contracts if may_be_left_out(contract, contracts)]
    lines = ["* required; keys not listed are filled in by the engine:", *map(skeleton, owed)]
    if derived:
        lines += ["May be left out, and is then derived:", *map(skeleton, derived)]
    return "\n".join(lines)


def may_be_left_out(contract: Contract, owed: Sequence[Contract]) -> bool:
    """Whether the engine writes it where a role that signals success has not: one with nothing that must be
    said, beside others.
    """
    return contract.part in DERIVED and len(owed) > 1 and not problems(contract, {}, final=False)


def _properties(properties: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, node in properties.items():
        # What the engine can fill may still be worth a model's words; an id, a path or a flag never is.
        if node.get("filled") == "only" or (node.get("filled") and not _has_words(node)):
            continue
        mark = "*" if node.get("required") and not node.get("filled") else ""
        yield from _node(f"{indent}{name}{mark}:", node, indent)


def _node(head: str, node: Mapping[str, Any], indent: str) -> Iterator[str]:
    note = f"  # {node['description']}" if node.get("description") else ""
    if "any_of" in node:
        # One form is enough to write; the first one is the plain one.
        yield from _node(head, node["any_of"][0], indent)
    elif "properties" in node:
        yield head + note
        yield from _properties(node["properties"], indent + "  ")
    elif "properties" in node.get("items", {}):
        inner = list(_properties(node["items"]["properties"], indent + "    "))
        yield f"{head}{note}"
        yield f"{indent}  - {inner[0].strip()}"
        yield from inner[1:]
    elif "items" in node:
        yield f"{head} [{_scalar(node['items'])}, ...]{note}"
    else:
        yield f"{head} {_scalar(node)}{note}"


def _scalar(node: Mapping[str, Any]) -> str:
    if "enum" in node:
        return "|".join(str(value) for value in node["enum"])
    words = "|".join(_WORDS[name] for name in types_of(node))
    limits = [str(node["pattern"])] if "pattern" in node else []
    if "max_length" in node:
        limits.append(f"≤ {node['max_length']} chars")
    if "maximum" in node:
        limits.append(f"{node.get('minimum', '')}..{node['maximum']}")
    return " ".join([words, *limits])


def _has_words(node: Mapping[str, Any]) -> bool:
    """Lists of things to describe, and text that may not be empty: somebody writes it."""
    described = any(
        child.get("type") == "string" for child in node.get("items", {}).get("properties", {}).values()
    )
    return described or "min_length" in node
