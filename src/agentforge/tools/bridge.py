"""Between a role and the tools: what it may use, where it may write. Every action passes here, and a refusal
is an answer.

The order of the questions: is there such a tool, may this role use it, may this task, are the arguments
right, and then for each path that it names, made real first: is it closed to all, and if it would change, is
it protected, locked, or outside the role's limits. A writing tool asks again about the very path that it is
about to change: nothing can be put between the question and the act.

Some tools have a second name, by which other programs know them. It opens nothing: a role may use both names
of a tool, or neither.
"""

import errno
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agentforge.catalog.fitting import read_text
from agentforge.catalog.roles import RESERVED_TOOLS
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Action, Json
from agentforge.languages.symbols import syntax_error
from agentforge.languages.table import is_code
from agentforge.system.globs import Glob, glob, matches_any
from agentforge.system.secrets.redact import redact
from agentforge.tools.base import (
    ACTS,
    RESULT_CHARS,
    Act,
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    bounded,
    text_of,
)
from agentforge.tools.change.moving import MOVING
from agentforge.tools.change.patching import PATCHING
from agentforge.tools.change.releasing import RELEASING
from agentforge.tools.change.writing import WRITING
from agentforge.tools.look.analysing import ANALYSING
from agentforge.tools.look.documentation import DOCUMENTATION
from agentforge.tools.look.git_reading import GIT_READING
from agentforge.tools.look.listing import LISTING
from agentforge.tools.look.reading import READING
from agentforge.tools.look.scanning import SCANNING
from agentforge.tools.look.searching import SEARCHING
from agentforge.tools.look.source import read_source
from agentforge.tools.paths import PathLimits, closed_to_all
from agentforge.tools.roots import Root, Spot, name_spot, refuse_read_only, spot_of
from agentforge.tools.run.checking import CHECKING
from agentforge.tools.run.command import COMMANDS
from agentforge.tools.run.declared import DeclaredTool, as_tool
from agentforge.tools.run.running import CONTROL, RUNNING, SUBMIT, shown_control, submit_name
from agentforge.tools.spelled import ARGUMENTS, ELSEWHERE

_LOOKING = (READING, LISTING, SEARCHING, DOCUMENTATION, ANALYSING, SCANNING, GIT_READING)
_TABLES = (*_LOOKING, WRITING, PATCHING, MOVING, RELEASING, RUNNING, CHECKING, COMMANDS)
TOOLS: Mapping[str, Tool] = MappingProxyType({tool.spec.name: tool for table in _TABLES for tool in table})
"""Every tool that comes with us. A project may declare more."""

_PARSED_FILES = 50
"""Files just written that are looked at for their syntax: a program may have written thousands."""

PROTECTED = (".git", ".git/**", ".agentforge", ".agentforge/**")
"""Never writable, by any role: the repository itself, and the rules and records of the work."""


class Alias(NamedTuple):
    """A second name of a tool."""

    name: str
    """The name in the table."""
    given: Mapping[str, Json] = MappingProxyType({})
    """Arguments that the second name stands for, where the call does not say otherwise."""


ALIASES: Mapping[str, Alias] = MappingProxyType(
    {
        "grep": Alias("search_codebase", MappingProxyType({"regex": True})),
        "glob": Alias("list_files"),
        "write_file": Alias("create_file"),
        "ask_user": Alias("escalate"),
    }
)

_PATH_ARGUMENTS = ("path", "paths", "source", "target")
"""The arguments that name a path, in every tool."""

_LOOKS = frozenset({"pure", "read", "control"})
"""What a read-only task may do."""

_CONTROL: Mapping[str, ToolSpec] = MappingProxyType({spec.name: spec for spec in CONTROL})

_PATH_ERRORS = frozenset(
    {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ELOOP, errno.EINVAL, errno.ENXIO}
)
"""What the operating system says about a name that cannot be. The model chose the name."""

_ROOT = Path("/")

Check = Callable[[Mapping[str, Json], Json], list[str]]
"""From a JSON schema and a value to the problems of the value, each a sentence."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """Runs a role's actions: checks name, arguments and paths, then calls the tool."""

    name: str
    allowed: tuple[str, ...]
    forbidden: frozenset[str]
    limits: PathLimits
    locked: Mapping[str, str]
    """Test files by path, with their hashes, that RED has proved and nobody may change since."""
    protected: tuple[Glob, ...]
    check: Check
    read_only: bool = False
    """Nothing may be written or run in this task, whatever the role may do elsewhere."""
    tools: Mapping[str, Tool] = field(default_factory=lambda: TOOLS)
    """The table: ours, and what the project declares."""
    submits: tuple[ToolSpec, ...] = ()
    """One tool for each artifact that the role is asked for."""
    contracts: frozenset[str] = frozenset()
    """Every artifact of the stage: also one that nobody is asked for may be handed in."""

    @classmethod
    def of(  # noqa: PLR0913 - one place puts all of this together
        cls,
        role: Mapping[str, Json],
        limits: PathLimits,
        check: Check,
        *,
        locked: Mapping[str, str] | None = None,
        protected: tuple[str, ...] = PROTECTED,
        read_only: bool = False,
        declared: Mapping[str, DeclaredTool] | None = None,
        submits: tuple[ToolSpec, ...] = (),
        contracts: Iterable[str] = (),
    ) -> "Bridge":
        """The bridge of a role, from its agent definition. `declared` are the tools of the project; none
        takes the place of ours.
        """
        said = _object(_object(role, "capabilities"), "tools")
        forbidden = frozenset(map(real_name, _names(said, "forbidden")))
        allowed = tuple(
            dict.fromkeys(name for name in map(real_name, _names(said, "allowed")) if name not in forbidden)
        )
        name = str(_object(role, "agent").get("role", "this role"))
        closed = tuple(glob(each.casefold()) for each in protected)
        own = {
            name: as_tool(tool)
            for name, tool in (declared or {}).items()
            if name not in {*TOOLS, *ALIASES, *_CONTROL, *RESERVED_TOOLS}
        }
        tools = MappingProxyType({**TOOLS, **own}) if own else TOOLS
        return cls(
            name,
            allowed,
            forbidden,
            limits,
            dict(locked or {}),
            closed,
            check,
            read_only,
            tools,
            submits,
            frozenset(contracts),
        )

    def specs(self) -> tuple[ToolSpec, ...]:
        """What this role is shown: its tools, then the control actions."""
        own = [self.tools[name].spec for name in self.allowed if name in self.tools]
        shown = [spec for spec in own if not self._is_closed(spec)]
        reopens = bool(self.locked) and any(spec.effect == "write" for spec in shown)
        return (*shown, *shown_control(self.allowed, self.submits, reopens=reopens))

    def real(self, action: Action) -> Action:
        """The action by the tool's own name: `submit_NAME` with a document is the artifact NAME handed in."""
        contract = action.name.removeprefix("submit_")
        if action.name not in self.tools and submit_name(contract) == action.name in self._submit_names():
            return Action(SUBMIT.name, {"contract": contract, "artifact": dict(action.args)})
        if action.name in self.contracts and action.name not in self.tools:
            return Action(SUBMIT.name, {"contract": action.name, "artifact": dict(action.args)})
        if action.name == SUBMIT.name and isinstance(text := action.args.get("artifact"), str):
            return Action(action.name, {**action.args, "artifact": read_text(text)})
        if action.name not in self.tools:
            action = Action(ELSEWHERE.get(action.name, action.name), action.args)
        return real_action(action)

    def _unknown(self, action: Action) -> list[str]:
        """The arguments of a look that its tool does not have. They are left out: one more word cannot make
        it mean something else. What writes or runs is refused with them, because there it could, and so is
        an argument that is given by two of its names.
        """
        tool = self.tools.get(action.name)
        if tool is None or tool.spec.effect not in ("pure", "read"):
            return []
        known = {*_object(tool.spec.schema, "properties"), *ARGUMENTS.get(action.name, ())}
        return [key for key in action.args if key not in known]

    def _submit_names(self) -> frozenset[str]:
        return frozenset(map(submit_name, self.contracts))

    def _is_closed(self, spec: ToolSpec) -> bool:
        return self.read_only and spec.effect not in _LOOKS

    def refusal(self, action: Action, bench: Workbench) -> ToolResult | None:
        """Why the action may not be done; None if it may. For control actions this is the whole check."""
        action = self.real(action)
        try:
            return (
                self._refused_tool(action)
                or self._refused_arguments(action)
                or self._refused_paths(action, bench)
            )
        except ModelMistake as mistake:
            return _mistaken(mistake)
        except OSError as error:
            return _impossible_name(error)

    def perform(self, action: Action, bench: Workbench) -> ToolResult:
        """Do the action, or say why not. Control actions are not performed here."""
        if action.name in _CONTROL:
            raise ValueError(f"{action.name} is a control action: the caller performs it")
        if (action := self.real(action)).name in _CONTROL:
            return _refused("unknown_tool", f"call {action.name} by this name")
        if (refused := self.refusal(action, bench)) is not None:
            return refused
        if self.read_only:
            # A reading tool may let the engine run something for it; here it may not.
            bench = replace(bench, runs={}, command=None)
        bench = replace(bench, permit=partial(self._permit, bench.roots))
        unknown = self._unknown(action)
        try:
            result = self.tools[action.name].call(_without(action, unknown), bench)
        except ModelMistake as mistake:
            return _mistaken(mistake)
        except OSError as error:
            return _impossible_name(error)
        notes = _broken_syntax(result, bench) + _left_out(action.name, unknown)
        return _fitted(replace(result, text=result.text + notes), bench)

    def _refused_tool(self, action: Action) -> ToolResult | None:
        name = action.name
        if name in _CONTROL:
            return None
        if name in self.tools and self._is_closed(self.tools[name].spec):
            return _refused(
                "forbidden_tool",
                f"this task is read-only: its mode does not allow {name}, which would write or run something",
            )
        if name in self.allowed and name in self.tools:
            return None
        offered = ", ".join(spec.name for spec in self.specs())
        if name in self.forbidden or name in self.tools or name in RESERVED_TOOLS:
            return _refused("forbidden_tool", f"{name} is not for {self.name}; allowed: {offered}")
        return _refused("unknown_tool", f"there is no tool {name[:80]!r}; allowed: {offered}")

    def _refused_arguments(self, action: Action) -> ToolResult | None:
        spec = _CONTROL.get(action.name) or self.tools[action.name].spec
        if not self.check(spec.schema, _without(action, self._unknown(action))):
            return None
        # An argument that is missing is often there by a wrong name: all that is wrong is said.
        problems = self.check(spec.schema, dict(action.args))
        return _refused("bad_arguments", "\n".join([f"{action.name} cannot be called like this:", *problems]))

    def _refused_paths(self, action: Action, bench: Workbench) -> ToolResult | None:
        if action.name in _CONTROL:
            return None
        tool = self.tools[action.name]
        if tool.spec.name not in TOOLS:
            return None  # its arguments are words; what it changes is asked about when it has run
        for given in _paths_named(action):
            if closed := closed_to_all(bench.spot(given).shown):
                return _refused("path_limit", closed)
        named = [text_of(action.args, argument) for argument in tool.spec.writes]
        for given in (*named, *(tool.targets(action.args, bench) if tool.targets is not None else ())):
            # A link has two places: where its name lies and what it leads to. Both must be free.
            for spot in dict.fromkeys((bench.spot(given), name_spot(bench.root, bench.roots, given))):
                if (refused := self._refused_spot(action.name, spot)) is not None:
                    return refused
        return None

    def _refused_spot(self, tool: str, spot: Spot) -> ToolResult | None:
        path = spot.shown
        if closed := closed_to_all(path):
            return _refused("path_limit", closed)
        refuse_read_only(spot)
        if matches_any(self.protected, spot.path.casefold()):
            return _refused("path_limit", f"`{path}` is never written by a tool")
        if path in self.locked:
            return _refused(
                "test_lock",
                f"`{path}` is locked since RED; if it is wrong, say so and why with reopen_tests",
            )
        reason = self.limits.allows(tool, path)
        return _refused("path_limit", f"{tool}: {reason}") if reason else None

    def _permit(self, roots: Sequence[Root], act: Act, path: str) -> None:
        """The last question, asked by the tool itself. An act is held to the limits of the plain tool for it,
        and forbidden with it.
        """
        tool = ACTS[act]
        if tool in self.forbidden:
            raise ModelMistake(
                "forbidden_tool",
                f"{tool} is not for {self.name}, by no other tool either: `{path}` stays as it is",
            )
        # The path is real already: it is only split into its root and the rest.
        spot = spot_of(_ROOT, roots, path) if path.startswith("/") else Spot(_ROOT, path)
        if (refused := self._refused_spot(tool, spot)) is not None:
            raise ModelMistake(refused.mistake, refused.text)


def real_name(name: str) -> str:
    """The name of a tool in the table, from any name it has."""
    return ALIASES[name].name if name in ALIASES else name


def real_action(action: Action) -> Action:
    """The action by the tool's own name and with its own arguments. What the tool does not know stays."""
    alias = ALIASES.get(action.name) or Alias(action.name)
    names = ARGUMENTS.get(alias.name, {})
    args: dict[str, Json] = {}
    for key, value in action.args.items():
        own = names.get(key, key)
        args[key if own in action.args or own in args else own] = value
    return Action(alias.name, {**alias.given, **args})


def _without(action: Action, unknown: Collection[str]) -> dict[str, Json]:
    return {key: value for key, value in action.args.items() if key not in unknown}


def _left_out(tool: str, unknown: Collection[str]) -> str:
    """The sentence about arguments that a look did without; empty if there are none."""
    return f"\nLeft out, because {tool} has no such argument: {', '.join(unknown)[:200]}." if unknown else ""


def _paths_named(action: Action) -> list[str]:
    found: list[str] = []
    for value in map(action.args.get, _PATH_ARGUMENTS):
        found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    return found


def _broken_syntax(result: ToolResult, bench: Workbench) -> str:
    """A sentence for every file of code just written that does not parse: cheap to know now, dear to learn a
    step later.
    """
    notes = []
    for path in result.wrote[:_PARSED_FILES]:
        if is_code(path) and (bench.root / path).is_file():
            broken = syntax_error(read_source(bench.root, path).text, path)
            if broken is not None:
                notes.append(f"\nSyntax error in `{path}`, line {broken[0]}: {broken[1]}")
    return "".join(notes)


def _fitted(result: ToolResult, bench: Workbench) -> ToolResult:
    """A result that fits into an answer. Secrets go before the cut: half of one would not be known for what
    it is.
    """
    if len(result.text) <= RESULT_CHARS:
        return result
    whole = redact(result.text)[0]
    return replace(
        result,
        text=bounded(
            whole, place=bench.keep(whole) if bench.keep is not None and len(whole) > RESULT_CHARS else ""
        ),
    )


def _refused(kind: str, text: str) -> ToolResult:
    return ToolResult(ok=False, text=bounded(text), mistake=kind)


def _mistaken(mistake: ModelMistake) -> ToolResult:
    return _refused("path_limit" if mistake.kind == "path" else mistake.kind, mistake.text)


def _impossible_name(error: OSError) -> ToolResult:
    if error.errno not in _PATH_ERRORS:
        raise error
    return _refused("path_limit", f"no file can be reached by that path: {error.strerror}")


def _object(value: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _names(value: Mapping[str, Json], key: str) -> list[str]:
    found = value.get(key)
    return [str(each) for each in found] if isinstance(found, list) else []
