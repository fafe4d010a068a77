"""How a project's file builds on another one: `extends`, where mappings merge, lists replace and `+key` appends.

An override may add to what its base forbids or demands, never take away.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from agentforge.core.errors import UsageError

Kind = Literal["agents", "pipelines", "contracts", "stages"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Document: TypeAlias = dict[str, Any]

PACKAGED = "agentforge:"
"""The prefix that names a file of the package; a bare name is a file of the project."""

Read: TypeAlias = Callable[[str], Document]
"""The file behind a reference, as written."""


def extended(reference: str, read: Read, kind: Kind, source: str, chain: Sequence[str] = ()) -> Document:
    """The document behind a reference, with everything it extends merged in."""
    if reference in chain:
        raise UsageError(f"{source}: circular extends in {kind}: {' -> '.join([*chain, reference])}.", "Remove one of them.")
    document = dict(read(reference))
    above = document.pop("extends", None)
    if above is None:
        return document
    if not isinstance(above, str) or not above:
        raise UsageError(f'{source}: `extends` is text such as "{PACKAGED}software_developer".')
    base = extended(above, read, kind, source, [*chain, reference])
    result = merged(base, document, source)
    if lost := _dropped(kind, base, result):
        raise UsageError(f"{source}: drops {', '.join(lost)}, which `{above}` demands; an override may only add to it.")
    return result


def merged(base: Mapping[str, Any], over: Mapping[str, Any], source: str, where: str = "") -> Document:
    """`over` laid over `base`."""
    out = dict(base)
    for key, value in over.items():
        path = f"{where}{key}"
        if str(key).startswith("+"):
            name = str(key)[1:]
            old = base.get(name, [])
            if name in over:
                raise UsageError(f"{source}: says both `{name}` and `+{name}`; the first replaces, the second appends.")
            if not isinstance(old, list) or not isinstance(value, list):
                raise UsageError(f"{source}: `{path}` appends to a list, and `{name}` or its addition is none.")
            out[name] = [*old, *(item for item in value if item not in old)]
        elif isinstance(value, dict):
            below = base.get(key)
            out[key] = merged(below if isinstance(below, dict) else {}, value, source, f"{path}.")
        else:
            out[key] = value
    return out


def _dropped(kind: Kind, base: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    match kind:
        case "agents":
            lost = [f"the forbidden tool {name}" for name in _missing(base, result, "capabilities", "tools", "forbidden")]
            return lost + _lifted_limits(base, result)
        case "contracts":
            return [f"the rule {name}" for name in _missing(base, result, "validation")]
        case "stages":
            return [f"the gate {name}" for name in _missing(base, result, "gates")]
        case "pipelines":
            return []


def _lifted_limits(base: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    limits, now = (_at(document, "capabilities", "tools", "path_constraints") or {} for document in (base, result))
    return [
        f"the path limit {pattern} of {tool}"
        for tool, patterns in limits.items()
        for pattern in _negative(patterns)
        if pattern not in _negative(now.get(tool))
    ]


def _negative(patterns: object) -> list[str]:
    return [part.strip() for part in str(patterns or "").split(",") if part.strip().startswith("!")]


def _missing(base: Mapping[str, Any], result: Mapping[str, Any], *path: str) -> list[str]:
    kept = _at(result, *path)
    return [str(item) for item in _at(base, *path) or [] if not isinstance(kept, list) or item not in kept]


def _at(document: Mapping[str, Any], *path: str) -> Any:  # noqa: ANN401  a document is any YAML
    node: Any = document
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node
