"""What a base demands of everything that builds on it or takes its place: an override may add to it, never
take away.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentforge.catalog.dialect import types_of
from agentforge.catalog.extends import Kind
from agentforge.catalog.roles import verifications_of
from agentforge.core.pipeline import part_of

Document: TypeAlias = Mapping[str, Any]

WRITERS = frozenset({"create_file", "edit_file", "delete_file"})
"""The tools that a role is limited in by paths; those that keep one kind of file are bound by what is closed
alone.
"""

COMPOSED = frozenset({"apply_patch", "move_file"})
"""Tools that create, change and delete: whoever has one has all three."""

_USUAL_FOLDERS: Mapping[str, frozenset[str]] = {
    "{tests}": frozenset({"tests/**", "tests/**/*"}),
    "{docs}": frozenset({"docs/**", "docs/**/*"}),
}
"""How somebody writes it who does not use the name for the repository's own layout."""

_SWITCHES = ("reverts", "needs_environment", "verifying")
_FLOORS, _CEILINGS = ("minimum", "min_length", "min_items"), ("maximum", "max_length", "max_items")


def lost(kind: Kind, base: Document, result: Document) -> list[str]:
    """What `result` takes away from its base, as `key: what`. Both are valid."""
    match kind:
        case "agents":
            return [*_of_agent(base, result)]
        case "contracts":
            kept = result.get("validation") or []
            same = part_of(base["contract"], base.get("part")) == part_of(
                result["contract"], result.get("part")
            )
            rules = [
                f"validation: drops the rule {name}"
                for name in base.get("validation") or []
                if name not in kept
            ]
            moved = [] if same else ["part: changes what the base is to the work"]
            return [*rules, *moved, *_looser_all(base["schema"], result["schema"], "schema")]
        case "stages":
            return [*_of_stage(base, result)]
        case "pipelines" | "tools":
            return []  # a lane is compared when its stages are known; no packaged file declares a tool


def too_free(base: Document, role: Document) -> list[str]:
    """What a role may do that the one whose place it takes in a stage may not."""
    tools = role["capabilities"]["tools"]
    forbidden = base["capabilities"]["tools"].get("forbidden", ())
    return [
        *(f"may use {name}, which is forbidden there" for name in tools["allowed"] if name in forbidden),
        *_wider(base, role),
    ]


def lost_proof(base: Sequence[Document], stages: Sequence[Document]) -> list[str]:
    """What a lane no longer proves that its base did: artifacts, gates and blocking reviews."""
    had, has = dict(_proof(base)), dict(_proof(stages))
    return [text for fact, text in had.items() if fact not in has]


def _proof(stages: Sequence[Document]) -> Iterator[tuple[tuple[str, ...], str]]:
    for stage in stages:
        readers = _bound_readers(stage)
        for item in stage["produces"]:
            phase = item["phase"]
            yield (
                ("artifact", item["contract"], phase),
                f"drops the artifact {item['contract']} of {stage['name']}",
            )
            yield from (
                (("gate", gate, phase), f"drops the gate {gate} of {stage['name']}")
                for gate in stage["gates"]
            )
            yield from (
                (("reader", role, phase), f"drops the blocking reviewer {role} of {stage['name']}")
                for role in readers
            )


def _of_agent(base: Document, result: Document) -> Iterator[str]:
    tools = result["capabilities"]["tools"]
    for name in base["capabilities"]["tools"].get("forbidden", ()):
        if name not in tools.get("forbidden", ()):
            yield f"capabilities.tools.forbidden: drops the forbidden tool {name}"
    for what in _wider(base, result):
        yield f"capabilities.tools.path_constraints: {what}"
    kept = {name for name, _ in verifications_of(result)}
    for name, _ in verifications_of(base):
        if name not in kept:
            yield f"capabilities.output.must_verify: drops {name}"


def _wider(base: Document, result: Document) -> Iterator[str]:
    """A path closed to any tool is closed to all; a tool without places of its own is held to those of the
    others.
    """
    before, now = (
        document["capabilities"]["tools"].get("path_constraints", {}) for document in (base, result)
    )
    allowed = result["capabilities"]["tools"]["allowed"]
    writers = [*WRITERS] if COMPOSED & set(allowed) else [name for name in allowed if name in WRITERS]
    if not writers:
        return
    closed = {pattern for patterns in now.values() for pattern in closed_patterns(patterns)}
    for tool, patterns in before.items():
        kept = closed_patterns(now.get(tool, "")) if tool in writers else closed
        for pattern in closed_patterns(patterns):
            if pattern not in kept:
                yield f"drops the path limit {pattern} of {tool}"
    for tool in writers:
        open_before, open_now = open_patterns(before, tool), open_patterns(now, tool)
        if open_before and (
            wider := [pattern for pattern in open_now or ["**"] if not _inside(pattern, open_before)]
        ):
            yield (
                f"lets {tool} write {wider[0]}, and the base only {', '.join(open_before)}; narrow "
                "with `!`, or set `tests:` and `docs:`"
            )


def open_patterns(limits: Mapping[str, str], tool: str) -> list[str]:
    """Where a tool may write: its own places, else those of the others."""
    own = [pattern for pattern in _split(limits.get(tool, "")) if not pattern.startswith("!")]
    return own or [
        pattern for patterns in limits.values() for pattern in _split(patterns) if not pattern.startswith("!")
    ]


def _inside(pattern: str, places: Sequence[str]) -> bool:
    """Whether a place is one of these; the usual folder of what stands in braces is inside of it."""
    return pattern in places or any(
        stands_for in places and pattern in usual for stands_for, usual in _USUAL_FOLDERS.items()
    )


def closed_patterns(patterns: str) -> list[str]:
    """The patterns of paths that a limit forbids."""
    return [pattern for pattern in _split(patterns) if pattern.startswith("!")]


def _split(patterns: str) -> list[str]:
    return [part.strip() for part in patterns.split(",") if part.strip()]


def _of_stage(base: Document, result: Document) -> Iterator[str]:
    for key, word in (("gates", "gate"), ("requires", "required artifact"), ("debaters", "debater")):
        for name in base.get(key, ()):
            if name not in result.get(key, ()):
                yield f"{key}: drops the {word} {name}"
    made = {(item["contract"], item["phase"]) for item in result["produces"]}
    for item in base["produces"]:
        if (item["contract"], item["phase"]) not in made:
            yield f"produces: drops the artifact {item['contract']}"
    for key in _SWITCHES:
        if base.get(key) and not result.get(key):
            yield f"{key}: cannot be switched off"
    if _optional(base) != _optional(result):
        yield "optional_reviewers: says other reviewers than the base, which alone can"
    if readers := _bound_readers(base):
        yield from _of_panel(readers, result)


def _bound_readers(stage: Document) -> list[str]:
    """The reviewers of a stage who can block and must stay."""
    if stage.get("review_mode", "blocking") != "blocking":
        return []
    return [name for name in stage.get("reviewers", ()) if name not in _optional(stage)]


def _optional(stage: Document) -> Sequence[str]:
    found: Sequence[str] = stage.get("optional_reviewers", ())
    return sorted(found)


def _of_panel(readers: Sequence[str], result: Document) -> Iterator[str]:
    for name in readers:
        if name not in result.get("reviewers", ()):
            yield f"reviewers: drops the blocking reviewer {name}; `+reviewers` adds to those that are there"
    if result.get("review_mode", "blocking") != "blocking":
        yield "review_mode: makes a blocking review advisory"


def _looser_all(base: Mapping[str, Any], result: Mapping[str, Any], where: str) -> Iterator[str]:
    for name, node in base.items():
        if name not in result:
            yield f"{where}: drops the field {name}"
        else:
            yield from _looser(node, result[name], f"{where}.{name}")


def _looser(base: Mapping[str, Any], result: Mapping[str, Any], where: str) -> Iterator[str]:
    """The places where a definition demands less than its base."""
    if base.get("required") and not result.get("required"):
        yield f"{where}.required: drops what the base demands"
    for key in ("filled", "format", "pattern", "const"):
        if key in base and result.get(key) != base[key]:
            yield f"{where}.{key}: changes what the base demands"
    if not set(types_of(result)) <= set(types_of(base)) or base.get(
        "any_of", result.get("any_of")
    ) != result.get("any_of"):
        yield f"{where}: takes other types than the base"
    if "enum" in base and not set(result.get("enum", ["…"])) <= set(base["enum"]):
        yield f"{where}.enum: takes values that the base refuses"
    for key in (*_FLOORS, *_CEILINGS):
        sign = 1 if key in _FLOORS else -1
        if key in base and (key not in result or sign * result[key] < sign * base[key]):
            yield f"{where}.{key}: asks for less than {base[key]}, which the base demands"
    if result.get("additionalProperties") and not base.get("additionalProperties") and "properties" in base:
        yield f"{where}.additionalProperties: lets in keys that the base refuses"
    yield from _looser_all(base.get("properties", {}), result.get("properties", {}), f"{where}.properties")
    if isinstance(base.get("items"), dict):
        yield from _looser(base["items"], result.get("items", {}), f"{where}.items")
