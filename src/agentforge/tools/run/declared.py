"""Tools that a project declares: a program, a schema of its arguments, and where each argument goes. They run
as commands do.

An argument fills a word, or a place in a word, and nothing else. One that would begin a word with a dash is
refused, because the program would take it for an option, unless the word before it is `--`, after which there
are none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from agentforge.catalog.own_tools import filled, slots
from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Action, Json
from agentforge.system.canon import digest_value
from agentforge.tools.base import Effect, Risk, SandboxedProgram, Tool, ToolResult, ToolSpec, Workbench
from agentforge.tools.run.command import MAX_WORDS, check_words

_WORD_CHARS = 8000
_LOOKS = frozenset({"pure", "read"})


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """One declaration, valid under its contract."""

    name: str
    description: str
    argv: tuple[str, ...]
    schema: Mapping[str, Json]
    effect: Effect
    risk: Risk
    seconds: int
    digest: str
    """Of everything above: consent is given to this, and to nothing that differs from it."""


@dataclass(frozen=True, slots=True)
class DeclaredCall:
    """What a person is asked about: the tool as it is declared, and the words that would run."""

    tool: DeclaredTool
    words: tuple[str, ...]


def declared_from_json(value: Mapping[str, Json]) -> DeclaredTool:
    """A tool from its validated YAML form."""
    schema = {**cast("dict[str, Json]", value["input"]), "additionalProperties": False}
    return DeclaredTool(
        name=str(value["name"]),
        description=str(value["description"]).strip(),
        argv=tuple(str(word) for word in cast("list[Json]", value["argv"])),
        schema=schema,
        effect=cast("Effect", value["effect"]),
        risk=cast("Risk", value["risk"]),
        seconds=int(cast("int", value["timeout_s"])),
        digest=digest_value(dict(value)),
    )


def declared_tools(values: Mapping[str, Mapping[str, Json]]) -> dict[str, DeclaredTool]:
    """The declared tools of a task, from its own copy of the catalogue."""
    return {name: declared_from_json(value) for name, value in values.items()}


def called(tools: Mapping[str, DeclaredTool], action: Action) -> DeclaredCall | None:
    """The declared tool that an action names, with the words it would run; None for every other tool. Raises
    as `words_of` does.
    """
    tool = tools.get(action.name)
    return None if tool is None else DeclaredCall(tool, words_of(tool, action.args))


def as_tool(declared: DeclaredTool) -> Tool:
    """The declaration as a row of the table."""
    spec = ToolSpec(
        declared.name, declared.description, declared.schema, declared.effect, stated=declared.risk
    )
    return Tool(spec, partial(_run, declared))


def words_of(declared: DeclaredTool, args: Mapping[str, Json]) -> tuple[str, ...]:
    """The words that a call runs. A word whose argument was left out is left out."""
    words: list[str] = []
    after_options = False
    for word in declared.argv:
        named = slots(word)
        given = [args[name] for name in named if args.get(name) is not None]
        if len(given) < len(named):
            continue
        whole = len(named) == 1 and word == f"{{{named[0]}}}"
        if whole and isinstance(given[0], list):
            added = [_text(each, named[0]) for each in given[0]]
        else:
            added = [
                filled(word, {name: _text(value, name) for name, value in zip(named, given, strict=True)})
            ]
        if named and not after_options:
            _refuse_options(added, word, named[0])
        words += added
        after_options = word == "--" or (after_options and whole)
    if len(words) > MAX_WORDS:
        raise ModelMistake("bad_arguments", f"these arguments make {len(words)} words; at most {MAX_WORDS}")
    check_words(tuple(words))
    return tuple(words)


def _run(declared: DeclaredTool, args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    words = words_of(declared, args)
    if bench.command is None:
        return ToolResult(
            ok=False,
            text=f"{declared.name} is not configured here; nothing was run",
            mistake="not_configured",
        )
    effect = declared.effect
    return bench.command(
        SandboxedProgram(
            words, declared.seconds, bench.permit, writes=effect not in _LOOKS, network=effect == "network"
        )
    )


def _refuse_options(added: list[str], word: str, name: str) -> None:
    """Only what an argument begins counts: a dash that the declaration itself wrote is its own."""
    if (
        word.startswith("{")
        and not word.startswith("{{")
        and (wrong := next((each for each in added if each.startswith("-")), None))
    ):
        raise ModelMistake(
            "bad_arguments",
            f"`{name}` may not begin with a dash, and {wrong[:80]!r} does: it would be taken for an option",
        )


def _text(value: Json, name: str) -> str:
    match value:
        case bool():
            text = "true" if value else "false"
        case str() | int():
            text = str(value)
        case _:
            raise ModelMistake("bad_arguments", f"`{name}` is text, a whole number, or true or false")
    if len(text) > _WORD_CHARS:
        raise ModelMistake(
            "bad_arguments", f"`{name}` has {len(text)} characters; at most {_WORD_CHARS} fit into a word"
        )
    return text
