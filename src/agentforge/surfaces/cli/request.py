"""How a person hands over a request: in quotes, from a file, from another program, or from their editor."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

import click

from agentforge.core.errors import UsageError
from agentforge.surfaces.cli.editing import edited
from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.usage import own_words
from agentforge.system.visible import without_controls

F = TypeVar("F", bound=Callable[..., int])

MOST_BYTES = 1 << 18
"""A longer text is no request: 256 KiB are fifty thousand words."""
_SAVE = "Save it as UTF-8, then try again."
_SCISSORS = "# ------------------------ >8 ------------------------"
_TEMPLATE = f"""

{_SCISSORS}
# Describe above what you want, in as many paragraphs as you need; `#` above this line is
# part of your text. An empty text starts nothing.
"""

EXAMPLES = {
    "debate": "Where do sessions live?",
    "research": "How long is a session kept, and who decides that?",
    "write": "An announcement of version 2 in news/v2.md, 300 words at most",
    "analyse": "What does data/survey.csv say about the waiting times?",
    "curate": "One row per customer in data/customers.csv, with valid countries",
    "design": "Let the parser understand fractions",
}
"""What may be asked of a command; of any other a flag."""


def example_of(command: str) -> str:
    """A request that the command can be given, as it is typed."""
    return f'agentforge {command} "{EXAMPLES.get(command, "Add a --version flag")}"'


def request_argument(command: F) -> F:
    """Adds REQUEST and --file to a command, which takes `words` and `file` and calls `request_of`."""
    command = click.option(
        "--file", metavar="FILE", help="Read the request from FILE; use `-` as REQUEST for standard input."
    )(command)
    return click.argument("words", metavar="REQUEST", nargs=-1)(command)


def request_of(words: tuple[str, ...], file: str | None, command: str) -> str:
    """The text of the request. Without one a person at a terminal gets their editor."""
    if words and file is not None:
        raise click.UsageError("Give either REQUEST or --file, not both.", _context())
    if len(words) > 1:
        line = f'agentforge {command} "{" ".join(words)}"'
        raise click.UsageError(f"Put the request in quotes: `{line}`.", _context())
    if file is not None:
        return _from_file(Path(file))
    if words == ("-",):
        return _from_stdin()
    if words:
        return _with_words(words[0], command)
    if at_terminal() and sys.stdout.isatty():
        return _from_editor()
    raise click.UsageError(f"Say what you want: `{example_of(command)}`.", _context())


def _with_words(request: str, command: str) -> str:
    if not any(map(str.isalnum, request)):
        what = "has no words" if request.strip() else "is empty"
        raise click.UsageError(f"The request {what}; say what you want: `{example_of(command)}`.", _context())
    return own_words(without_controls(request), "request")


def _context() -> click.Context | None:
    return click.get_current_context(silent=True)


def text_of(file: str, what: str = "request") -> str:
    """The text of a file that a person names; `-` is standard input. `what` it is for is said in errors."""
    return _from_stdin(what) if file == "-" else _from_file(Path(file), what)


def _from_file(path: Path, what: str = "request") -> str:
    try:
        with path.expanduser().open("rb") as file:
            return _text(file, f"`{path}`")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise click.UsageError(f"The {what} cannot be read from `{path}`: {reason}.", _context()) from error


def _from_stdin(what: str = "request") -> str:
    if sys.stdin is None:
        raise click.UsageError(f"There is no standard input to read the {what} from.", _context())
    if sys.stdin.isatty():
        say(f"Type the {what}; Ctrl-D on an empty line ends it.", err=True)
    return _text(sys.stdin.buffer, "standard input")


def _text(source: BinaryIO, name: str) -> str:
    data = source.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"The text of {name} is longer than {MOST_BYTES >> 10} KiB, which is too long for a request.",
            "Commit the details as a file, and name that file in a shorter text.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name[0].upper()}{name[1:]} is not UTF-8 text.", _SAVE) from None
    if "\0" in text:
        raise UsageError(f"{name[0].upper()}{name[1:]} contains bytes that are not text.", _SAVE)
    return without_controls(text).strip()


def _from_editor() -> str:
    otherwise = f"or put the request in quotes: `agentforge start {shlex.quote('Add a --version flag')}`."
    written = edited(_TEMPLATE, ".md", otherwise)
    text = (written or "").partition(_SCISSORS)[0].strip()
    if not text:
        raise click.UsageError("The request is empty, so nothing was started.", _context())
    return text
