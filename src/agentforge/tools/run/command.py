"""The tool that runs a program: by a list of words, in the sandbox, for a bounded time. There is no shell, so
nothing in a word means more.

A command line is taken only where a shell would do nothing but split it. All else is refused with the way to
say it: a role that needs a pipe wants a script, and a script is a file that somebody can review.
"""

import re
from collections.abc import Mapping

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import (
    SandboxedProgram,
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    number_of,
    object_schema,
    text_of,
    texts_of,
)

DEFAULT_SECONDS = 120
MAX_SECONDS = 600
MAX_WORDS = 500
_WORD_CHARS = 8000

_PIECE = re.compile(
    r"""(?P<space>[ \t]+)|(?P<plain>[A-Za-z0-9_./:=@%+,^-]+)"""
    r"""|'(?P<single>[^'\n]*)'|"(?P<double>[^"\\$`!\n]*)\""""
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
# fmt: off
_NOT_PROGRAMS = frozenset((
    "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "coproc", "declare", "do",
    "done", "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for",
    "function", "getopts", "hash", "if", "in", "jobs", "let", "local", "logout", "popd", "pushd", "read",
    "readonly", "return", "select", "set", "shift", "shopt", "source", "suspend", "then", "time", "times",
    "trap", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while", ".",
))
# fmt: on
"""Words that only a shell knows. As programs they do not exist, or do nothing that lasts."""


def run_command(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Run one program. Exactly one of `argv` and `command` is given."""
    argv, line = texts_of(args, "argv"), text_of(args, "command")
    if bool(argv) == bool(line):
        raise ModelMistake(
            "bad_arguments", 'give either `argv`, a list such as ["make", "docs"], or `command`'
        )
    words = argv or words_of(line)
    check_words(words)
    seconds = max(1, min(number_of(args, "timeout", DEFAULT_SECONDS), MAX_SECONDS))
    if bench.command is None:
        return ToolResult(
            ok=False, text="run_command is not configured here; nothing was run", mistake="not_configured"
        )
    return bench.command(SandboxedProgram(words, seconds, bench.permit))


def words_of(line: str) -> tuple[str, ...]:
    """The words of one plain command. What a shell would expand, join, redirect or run is a mistake that
    names the place.
    """
    words: list[str] = []
    building: str | None = None
    text = line.strip(" \t")
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            raise _dynamic(text, at)
        at = found.end()
        if found["space"] is not None:
            words += [] if building is None else [building]
            building = None
        else:
            building = (building or "") + next(
                each for each in (found["plain"], found["single"], found["double"]) if each is not None
            )
    words += [] if building is None else [building]
    if not words:
        raise ModelMistake("bad_arguments", "`command` is empty")
    if _ASSIGNMENT.match(words[0]):
        raise ModelMistake(
            "not_plain",
            f"`{words[0][:80]}` sets a variable, which needs a shell; "
            'with argv: ["env", "NAME=value", "program"]',
        )
    if words[0] in _NOT_PROGRAMS:
        raise ModelMistake(
            "not_plain",
            f"`{words[0]}` is a word of the shell, and there is none here; "
            "name a program, and its words in `argv`",
        )
    return tuple(words)


def check_words(words: tuple[str, ...]) -> None:
    """Raises the mistake if no program can be started with these."""
    if not words[0] or words[0].startswith("-") or "=" in words[0]:
        raise ModelMistake("bad_arguments", f"{words[0][:80]!r} cannot be the name of a program")
    for word in words:
        if "\0" in word:
            raise ModelMistake("bad_arguments", "a word holds a NUL character, which no program can be given")
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelMistake(
                "bad_arguments", "a word holds a lone surrogate, which no program can be given"
            ) from None


def _dynamic(text: str, at: int) -> ModelMistake:
    return ModelMistake(
        "not_plain",
        f"character {at + 1} of `command`, at {text[at : at + 20]!r}, is one that a shell would act on, "
        "and there is no shell here. Give the words as they are in `argv`, "
        'as in ["grep", "-n", "a|b", "x.txt"]; one program a call; a pipe or a loop is a script',
    )


COMMANDS: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "run_command",
            "Run one program in the sandbox, without a shell. `argv`: its words; "
            f"`timeout`: seconds, at most {MAX_SECONDS}.",
            object_schema(
                {},
                {
                    "argv": {
                        "type": "array",
                        "items": {"type": "string", "maxLength": _WORD_CHARS},
                        "minItems": 1,
                        "maxItems": MAX_WORDS,
                    },
                    "command": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": _WORD_CHARS,
                        "description": "only a plain one; else `argv`",
                    },
                    "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS},
                },
            ),
            "execute",
            stated="high",
        ),
        run_command,
    ),
)
