"""The shape of a tool: a function from arguments and a workbench to a result, with a description a model can
read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.secrets.redact import redact
from agentforge.tools.roots import Root, Spot, spot_of

Effect = Literal["pure", "read", "write", "execute", "network", "control"]
"""What a tool does to the world. `pure` looks at nothing but its arguments; `control` changes the task and
not the tree.
"""

Risk = Literal["low", "medium", "high", "critical"]
"""How much a call can spoil, as far as a tool alone can know. A command line has a risk of its own on top.
What is critical never runs.
"""

Act = Literal["create", "edit", "delete"]
"""What can be done to a file. A role's path limits speak of these by the name of the plain tool that does
them.
"""

ACTS: Mapping[Act, str] = MappingProxyType(
    {"create": "create_file", "edit": "edit_file", "delete": "delete_file"}
)

RESULT_CHARS = 6000
"""No result is longer: a step's context has a fixed size, and one answer may not take it all."""

KEEPING_TOOLS = frozenset({"generate_changelog", "create_release_notes"})
"""Writing tools that know their own files: they add to one that exists, of one kind. A role is given them to
touch just that, so what it
may otherwise write does not bind them; what is closed to it does."""

WRITING_TOOLS = frozenset({"create_file", "edit_file", "delete_file"}) | KEEPING_TOOLS
"""The tools that path limits are written for."""


@dataclass(frozen=True, slots=True)
class OpenedRange:
    """A part of a file that a tool brought to light; it belongs in the working set. Lines count from 1, both
    ends included.
    """

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
    opened: tuple[OpenedRange, ...] = ()
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
    stated: Risk | None = None
    """The risk, where it is not the usual one of its effect."""

    @property
    def risk(self) -> Risk:
        """The stated risk, else the usual one of the tool's effect."""
        return self.stated or _USUAL_RISK[self.effect]


_USUAL_RISK: Mapping[Effect, Risk] = MappingProxyType(
    {
        "pure": "low",
        "read": "low",
        "control": "low",
        "write": "medium",
        "execute": "medium",
        "network": "high",
    }
)


Run: TypeAlias = Callable[[Mapping[str, Json]], ToolResult]
"""A check that the engine runs for a tool, from the tool's arguments."""


Permit: TypeAlias = Callable[[Act, str], None]
"""Raises the mistake if the role may not do this to this path."""


@dataclass(frozen=True, slots=True)
class SandboxedProgram:
    """What is to be run in the sandbox. Its input is empty."""

    words: tuple[str, ...]
    seconds: int
    """After these it and all that it started are ended."""
    permit: Permit
    """Asked about every path that it has changed; one that is refused takes all of its changes back."""
    writes: bool = True
    """False: it can read the tree and not change it."""
    network: bool = False
    """True: it may go where the user's own configuration lets programs go. Else there is no network for it.
    """


Command: TypeAlias = Callable[[SandboxedProgram], ToolResult]
"""Runs a program to its end."""

Keep: TypeAlias = Callable[[str], str]
"""Puts a text that is too long to be shown where people find it whole; the answer is the name of that place.
"""


@dataclass(frozen=True, slots=True)
class GitPort:
    """What the git tools see of the task's repository."""

    run: Callable[[Sequence[str]], ToolResult]
    """A git command that only reads, from its words after `git`. No shell, no pager, no colour."""
    base: str
    """The commit that the task began from."""
    now: Callable[[], str]
    """The tree or commit that holds the worktree as it is at this moment."""
    branch: str
    """The branch that the task will hand over."""


def _nothing() -> Sequence[str]:
    return ()


def _anything(_act: Act, _path: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Workbench:
    """Where tools work: a tree, a way to run its tests and checks, and what else the engine can do for a
    tool.
    """

    root: Path
    run_tests: Callable[[Sequence[str]], ToolResult]
    created: frozenset[str] = frozenset()
    """Paths that this role created in this stage: it may overwrite those."""
    runs: Mapping[str, Run] = field(default_factory=dict)
    """By tool: the checks that the engine can run here. A tool whose check is missing says "not configured".
    """
    changed: Callable[[], Sequence[str]] = _nothing
    """The paths that differ from the base of the task; asked only by the tools that need them."""

    git: GitPort | None = None
    """The task's repository; without it the git tools say "not configured"."""
    command: Command | None = None
    """How a program is run; without it `run_command` says "not configured"."""
    keep: Keep | None = None
    """Where the whole of a text goes that is shown only in part; without it the rest is lost."""
    roots: tuple[Root, ...] = ()
    """Directories beside the tree that the user opened, reached by absolute paths."""
    permit: Permit = _anything
    """Asked by a writing tool about the real path that it is about to change, whatever was asked before. The
    bridge sets it.
    """

    def spot(self, given: str) -> Spot:
        """The place that a path of an action leads to, links followed."""
        return spot_of(self.root, self.roots, given)

    def after(self, result: ToolResult) -> "Workbench":
        """The bench for the next action of the same role."""
        return replace(self, created=self.created | set(result.created)) if result.created else self


Call: TypeAlias = Callable[[Mapping[str, Json], Workbench], ToolResult]
Targets: TypeAlias = Callable[[Mapping[str, Json], Workbench], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what the model is told about it, and the function that does it."""

    spec: ToolSpec
    call: Call
    targets: Targets | None = None
    """The paths that a call would change, for a writing tool that finds them itself. The bridge asks before
    the call.
    """


def object_schema(
    required: Mapping[str, Json], optional: Mapping[str, Json] | None = None
) -> dict[str, Json]:
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
    """The whole number under `key`, or the default; a mistake that is fed back if it is none."""
    value = args.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ModelMistake("bad_arguments", f"`{key}` is a whole number")
    return value


def texts_of(args: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """A list of texts; empty when it is left out."""
    value = args.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ModelMistake("bad_arguments", f"`{key}` is a list of texts")
    return tuple(str(each) for each in value)


def bounded(text: str, limit: int = RESULT_CHARS, place: str = "") -> str:
    """The text, or its beginning and end with a note on how much is missing between, and where the whole of
    it is. Secrets go before the cut: half of one has no shape.
    """
    text = redact(text)[0] if len(text) > limit else text
    if len(text) <= limit:
        return text
    where = f"; people find the whole in {place}" if place else ""
    note = f"\n[… {len(text) - limit + 60 + len(where)} characters cut here{where} …]\n"
    keep = max(0, limit - len(note))
    head = keep * 2 // 3
    return text[:head] + note + text[len(text) - (keep - head) :]
