"""The shape of a tool: a function from arguments and a workbench to a result, with a description a model can read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json

Effect = Literal["read", "write", "execute", "control"]

RESULT_CHARS = 6000
"""No result is longer: a step's context has a fixed size, and one answer may not take it all."""

WRITING_TOOLS = frozenset({"create_file", "edit_file", "delete_file"})
"""The tools that path limits bind. A test holds this equal to the table's own `effect`."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A part of a file that a tool brought to light; it belongs in the working set. Lines count from 1, both ends included."""

    path: str
    start: int
    end: int
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of one action. A mistake is a result like any other: it is fed back and counted."""

    ok: bool
    text: str
    mistake: str = ""
    """The kind of mistake, when not ok."""
    opened: tuple[Opened, ...] = ()
    wrote: tuple[str, ...] = ()
    """Repository-relative real paths that were created, changed or deleted."""
    created: tuple[str, ...] = ()
    """Those of `wrote` that did not exist before."""
    failures: tuple[str, ...] = ()
    """Failing tests, one line each: file, line, message."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool, and what the bridge must know of it."""

    name: str
    description: str
    schema: Mapping[str, Json]
    effect: Effect
    writes: tuple[str, ...] = ()
    """The arguments that name a path this tool changes."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """Where tools work: a tree, and a way to run its tests."""

    root: Path
    run_tests: Callable[[Sequence[str]], ToolResult]
    created: frozenset[str] = frozenset()
    """Paths that this role created in this stage: it may overwrite those."""

    def after(self, result: ToolResult) -> "Workbench":
        """The bench for the next action of the same role."""
        return replace(self, created=self.created | set(result.created)) if result.created else self


Call: TypeAlias = Callable[[Mapping[str, Json], Workbench], ToolResult]


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table."""

    spec: ToolSpec
    call: Call


def object_schema(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """The schema of a tool's arguments: unknown names are refused."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def text_of(args: Mapping[str, Json], key: str, default: str = "") -> str:
    """A text argument. Arguments are checked against the schema before; this keeps a tool safe on its own."""
    value = args.get(key, default)
    if not isinstance(value, str):
        raise ModelMistake("bad_arguments", f"`{key}` is text")
    return value


def number_of(args: Mapping[str, Json], key: str, default: int) -> int:
    """A whole number argument."""
    value = args.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ModelMistake("bad_arguments", f"`{key}` is a whole number")
    return value


def bounded(text: str, limit: int = RESULT_CHARS) -> str:
    """The text, or its beginning and end with a note on how much is missing between."""
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text) - limit + 60} characters cut here …]\n"
    keep = max(0, limit - len(note))
    head = keep * 2 // 3
    return text[:head] + note + text[len(text) - (keep - head) :]
