"""How a project's file builds on another one: `extends`, where mappings merge, lists replace and `+key`
appends.

The stages of a pipeline, of a lane too, can also be edited in place: `insert_after`, `insert_before`,
`replace`, `remove`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from agentforge.core.errors import UsageError

Kind = Literal["agents", "pipelines", "contracts", "stages", "tools"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Document: TypeAlias = dict[str, Any]

PACKAGED = "agentforge:"
"""The prefix that names a file of the package; a bare name is a file of the project."""

EDITS = ("remove", "replace", "insert_before", "insert_after")
"""What can be done to the stages of a base, in the order in which it is done."""


class Written(NamedTuple):
    """A file as it was written."""

    source: str
    document: Document


class Built(NamedTuple):
    """A file with everything it extends merged in."""

    document: Document
    above: tuple[tuple[str, Document], ...]
    """What it builds on, nearest first: the reference, and the whole document behind it."""


Read: TypeAlias = Callable[[str], Written]
"""The file behind a reference; a `LookupError` says "there is no …", and which there are."""


def built(reference: str, read: Read, kind: Kind, chain: Sequence[str] = (), asker: str = "") -> Built:
    """The document behind a reference, with everything it extends merged in. `asker` is the file that extends
    it.
    """
    try:
        source, document = read(reference)
    except LookupError as error:
        raise UsageError(
            f"{asker}: extends: {error.args[0]}." if asker else f"T{error.args[0][1:]}."
        ) from None
    document = dict(document)
    above = document.pop("extends", None)
    if above is None:
        return Built(_unedited(document, source) if kind == "pipelines" else document, ())
    if not isinstance(above, str) or not above:
        raise UsageError(f'{source}: extends: is text such as "{PACKAGED}software_developer".')
    circle = [*chain, reference]
    if above in circle:
        raise UsageError(
            f"{source}: extends: circular extends in {kind}: {' -> '.join([*circle, above])}.",
            "Remove one of them.",
        )
    base = built(above, read, kind, circle, source)
    if kind == "pipelines":
        document = _edited(base.document, document, source)
    result = merged(base.document, document, source)
    if kind == "agents":
        _forget_dropped_tools(result, document)
    return Built(result, ((above, base.document), *base.above))


def merged(base: Mapping[str, Any], over: Mapping[str, Any], source: str, where: str = "") -> Document:
    """`base` with the keys of `over` added to it or replacing its own."""
    out = dict(base)
    for key, value in over.items():
        path = f"{where}{key}"
        if str(key).startswith("+"):
            name = str(key)[1:]
            old = base.get(name, [])
            if name in over:
                raise UsageError(
                    f"{source}: {path}: says both `{name}` and `+{name}`; the first replaces, the second "
                    "appends."
                )
            if not isinstance(old, list) or not isinstance(value, list):
                raise UsageError(
                    f"{source}: {path}: `+{name}` appends to a list, and `{name}` or its addition is none."
                )
            out[name] = [*old, *(item for item in value if item not in old)]
        elif isinstance(value, dict):
            below = base.get(key)
            out[key] = merged(below if isinstance(below, dict) else {}, value, source, f"{path}.")
        else:
            out[key] = value
    return out


def _forget_dropped_tools(result: Document, over: Document) -> None:
    """A tool that an override no longer allows needs no path limit either."""
    tools = _at(result, "capabilities", "tools")
    limits, allowed = (
        _at(result, "capabilities", "tools", "path_constraints"),
        _at(result, "capabilities", "tools", "allowed"),
    )
    if isinstance(tools, dict) and isinstance(limits, dict) and isinstance(allowed, list):
        own = _at(over, "capabilities", "tools", "path_constraints") or {}
        tools["path_constraints"] = {
            tool: limit for tool, limit in limits.items() if tool in allowed or tool in own
        }


def _unedited(document: Document, source: str) -> Document:
    for where, holder in _holders(document):
        if found := [key for key in EDITS if key in holder]:
            raise UsageError(
                f"{source}: {where}.{found[0]}: edits the stages of a base, and this file extends none."
            )
    return document


def _edited(base: Document, over: Document, source: str) -> Document:
    """The override with its edits carried out on the stages of the base."""
    known = dict(_holders(base))
    for where, holder in _holders(over):
        edits = {key: holder[key] for key in EDITS if key in holder}
        if not edits:
            continue
        stages = known.get(where, {}).get("stages")
        if "stages" in holder:
            raise UsageError(
                f"{source}: {where}.stages: says both `stages` and `{next(iter(edits))}`; the first "
                "replaces the whole list."
            )
        if not isinstance(stages, list):
            raise UsageError(f"{source}: {where}: the base has no stages here to edit.")
        for edit, value in edits.items():
            stages = _carried_out(edit, value, stages, f"{source}: {where}.{edit}")
        over = _with(
            over,
            where,
            {**{key: value for key, value in holder.items() if key not in EDITS}, "stages": stages},
        )
    return over


def _carried_out(edit: str, value: object, stages: list[Document], at: str) -> list[Document]:
    if edit == "remove":
        if not isinstance(value, list):
            raise UsageError(f"{at}: is a list of stages of the base.")
        for name in value:
            if _named(name, stages, at).get("required"):
                raise UsageError(
                    f"{at}: {name} is required and cannot be removed.",
                    "Give another in its place with `replace`.",
                )
        return [stage for stage in stages if stage.get("name") not in value]
    if not isinstance(value, dict):
        raise UsageError(f"{at}: is a mapping from a stage of the base to an entry, or to a list of them.")
    for name, entries in value.items():
        old = _named(name, stages, f"{at}.{name}")
        new = entries if isinstance(entries, list) else [entries]
        if not new or not all(isinstance(entry, dict) for entry in new):
            raise UsageError(f"{at}.{name}: is an entry such as `{{name: lint_docs}}`, or a list of them.")
        if edit == "replace":
            new = [*new[:-1], {**_of_place(old, new[-1]), **new[-1]}]
        position = stages.index(old)
        before, after = position + (edit == "insert_after"), position + (edit != "insert_before")
        stages = [*stages[:before], *new, *stages[after:]]
    return stages


def _of_place(old: Document, new: Document) -> Document:
    """What the base says about a place holds for whatever fills it; about the same stage, everything it
    says.
    """
    return (
        old
        if new.get("name") == old.get("name")
        else {key: old[key] for key in ("required", "default_exit", "returns_to") if key in old}
    )


def _named(name: object, stages: list[Document], at: str) -> Document:
    found = next((stage for stage in stages if stage.get("name") == name), None)
    if found is None:
        raise UsageError(
            f"{at}: there is no stage {name} in the base; there are "
            f"{', '.join(str(stage.get('name')) for stage in stages)}."
        )
    return found


def _holders(document: Document) -> list[tuple[str, Document]]:
    """Every mapping that may hold `stages`: the pipeline, and each of its lanes."""
    pipeline = document.get("pipeline")
    if not isinstance(pipeline, dict):
        return []
    lanes = pipeline.get("lanes")
    found = (
        [(f"pipeline.lanes.{name}", lane) for name, lane in lanes.items()] if isinstance(lanes, dict) else []
    )
    return [(where, holder) for where, holder in [("pipeline", pipeline), *found] if isinstance(holder, dict)]


def _with(document: Document, where: str, value: Document) -> Document:
    key, _, below = where.partition(".")
    return {**document, key: _with(document[key], below, value) if below else value}


def _at(document: Mapping[str, Any], *path: str) -> Any:  # noqa: ANN401  a document is any YAML
    node: Any = document
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node
