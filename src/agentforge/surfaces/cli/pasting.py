"""Commands in sentences as they work in the shell of whoever reads them: with the path of this copy where the
name alone starts nothing or another copy, and with the repository that `--repo` named. The demo, which has a
home of its own, has a program of its own for that (`app/intake/sample.py`).
"""

import importlib
import os
import re
import shlex
from pathlib import Path

import click

from agentforge.surfaces.cli.command_list import COMMANDS
from agentforge.system.installation import STARTED_FOR, this_program
from agentforge.system.visible import command_line

_NAMED = "_AGENTFORGE_REPO"
_BEGINS = r"(?m)(?:(?<=`)|(?<=: )|(?<=^  ))"
"""Where in a text a command begins: in quotes, behind a colon, on a line of its own."""
_OURS = re.compile(_BEGINS + r"agentforge ([a-z-]+)(?![a-z-])( [a-z][a-z-]*(?![\w-]))?(?! --repo)")
_GIT = re.compile(_BEGINS + r"git (?=[a-z])(?!config|init)")
_WHOLE = re.compile(r"(?m)((?<=`)|^  )(?:agentforge|git) (?:(?!   )[^`\n])*")
_OBEYED = re.compile(r"""'[^']*'|"[^"$]*"|\\.|[;&|<>$()]""")
"""What a shell would take for more than a word, unless it is quoted. No command in our own words has it."""


def reads_elsewhere(name: str, top: Path) -> None:
    """From now on what is printed is about the repository of that name, which the shell is not in."""
    if not Path.cwd().is_relative_to(top):
        os.environ.update({_NAMED: name, STARTED_FOR: str(top)})


def pasteable(text: str) -> str:
    """The text, its commands as they can be pasted: a name in them, whoever chose it, starts nothing else."""
    text = _WHOLE.sub(lambda command: _OBEYED.sub(_taken_literally, command[0]), text)
    if "agentforge " in text:
        text = _OURS.sub(_spelled, text)
    if "git " in text and (top := os.environ.get(STARTED_FOR)):
        text = _GIT.sub(lambda _: f"git -C {command_line((top,))} ", text)
    return text


def _taken_literally(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else f"\\{found[0]}"


def _spelled(found: re.Match[str]) -> str:
    """The program as it starts here, the words of the command, and the repository if it takes one."""
    name, below = found[1], found[2] or ""
    if name not in COMMANDS:
        return found[0]
    words = command_line((*this_program(), name))
    repository = os.environ.get(_NAMED)
    if repository is None:
        return words + below
    module, _, attribute = COMMANDS[name].target.partition(":")
    command: click.Command = getattr(importlib.import_module(module), attribute)
    if isinstance(command, click.Group):
        command, words, below = command.commands.get(below.strip(), command), words + below, ""
    takes = any(option.name == "repo" for option in command.params)
    return f"{words} --repo {shlex.quote(repository)}{below}" if takes else words + below
