"""What a wrong command line is told: click's own errors in plain words, and empty values that are refused."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

_RANGES = (
    (re.compile(r"in the range x>=(\S+?)\.?$"), r"a number from \1 on"),
    (re.compile(r"in the range (\S+?)<=x<=(\S+?)\.?$"), r"a number from \1 to \2"),
    (re.compile(r"a valid (?:integer|float)(?: range)?\.?$"), "a number"),
)
_REFUSES_EMPTY = "agentforge.refuses_empty"


_STANDS_FOR_WORDS = frozenset(
    {"…", "...", "REQUEST", "WHAT SHOULD BE DIFFERENT", "WHY", "WORDS", "YOUR ANSWER", "what you want"}
)
"""What our own sentences write where a person's words belong: pasted as it is, it is none."""


def own_words(text: str, what: str) -> str:
    """The text, if somebody wrote it; else a usage error that calls it `what`."""
    if not text.strip():
        raise click.UsageError(f"The {what} is empty.", click.get_current_context(silent=True))
    if text.strip() in _STANDS_FOR_WORDS:
        raise click.UsageError(
            f"{text.strip()!r} stands for the {what}: write your own words in its place.",
            click.get_current_context(silent=True),
        )
    return text


def sentence_of(error: click.ClickException) -> str:
    """What was wrong, as one sentence."""
    if isinstance(error, click.NoSuchOption):
        return f"No such option {error.option_name!r}.{_meant(error.option_name, error.possibilities)}"
    if isinstance(error, click.exceptions.NoSuchCommand):
        return f"No such command {error.command_name!r}.{_meant(error.command_name, error.possibilities)}"
    said = " ".join(error.format_message().split())
    for pattern, words in _RANGES:
        said = pattern.sub(words, said)
    return said.rstrip(".").replace("?.", "?") + ("" if said.endswith("?") else ".")


def _meant(given: str, known: Iterable[str] | None) -> str:
    near = " or ".join(map(repr, _near(given, known or (), 2)))
    return f" Did you mean {near}?" if near else ""


def refuse_empty_values(command: click.Command) -> click.Command:
    """The command, whose options take no empty text: `--base "$REF"` with no REF set must not mean HEAD.
    An option whose default is the empty text may be given as such.
    """
    if isinstance(command, click.Group):
        for each in command.commands.values():
            refuse_empty_values(each)
    for option in command.params:
        is_text = isinstance(option, click.Option) and isinstance(option.type, click.types.StringParamType)
        if is_text and option.default != "" and not getattr(option.callback, _REFUSES_EMPTY, False):
            option.callback = _checked(option.callback)
    return command


def _checked(then: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: click.Context, option: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's
        given = value if isinstance(value, tuple) else (value,)
        if any(isinstance(each, str) and not each.strip() for each in given):
            raise click.UsageError(f"{option.opts[0]} is empty; give it a value or leave it out.", context)
        return value if then is None else then(context, option, value)

    setattr(check, _REFUSES_EMPTY, True)
    return check


def near_command(name: str, group: Mapping[str, object]) -> str:
    """The command that was probably meant: the one that begins so, else the one most like it, if any is."""
    word = name.lower()
    begun = [each for each in group if each.startswith(word)]
    return begun[0] if len(begun) == 1 else next(iter(_near(word, group, 1)), "")


def _near(word: str, known: Iterable[str], most: int) -> list[str]:
    import difflib  # not before something is wrong: commands are quick

    return difflib.get_close_matches(word, known, n=most)
