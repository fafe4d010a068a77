"""Where text goes out: sentences, JSON, bytes, and tables in plain columns. Nothing else of the commands
writes to a stream, but the moving screen (`pages/screen.py`).

A sentence may hold names and words of a repository, a model or a server. So none leaves with a character that
a terminal would obey, and none with a secret.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import click

from agentforge.surfaces.cli.safe_text import as_it_is, safe
from agentforge.surfaces.cli.streams import OutputLost, give_up_output
from agentforge.system.visible import harmless, harmless_json, one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
else:
    RenderableType = object

json_option = click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
"""For a command that shows something: the same as data."""


def say(text: str = "", *, err: bool = False) -> None:
    """One sentence or page for a person."""
    click.echo(safe(text), err=err)


def say_prompt(text: str) -> None:
    """What stands before the place where somebody types."""
    click.echo(safe(text), nl=False, err=True)


def say_recorded(text: str) -> None:
    """A page of the records, out of which secrets were taken when they were written: no look for more."""
    click.echo(harmless(text))


def say_bold(bold: str, text: str) -> None:
    """A line whose first words stand out."""
    click.echo(f"{safe(bold) if _is_plain() else click.style(safe(bold), bold=True)}{safe(text)}")


def _is_plain() -> bool:
    """Whether a person wants no colours, or their terminal shows none."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


Tone = Literal["", "heading", "good", "caught", "quiet"]
_TONES: Mapping[Tone, Mapping[str, Any]] = {
    "": {},
    "heading": {"bold": True},
    "good": {"fg": "green"},
    "caught": {"fg": "yellow"},
    "quiet": {"dim": True},
}


def say_toned(text: str, tone: Tone) -> None:
    """A line of a page, coloured where a terminal shows it and plain in a pipe, or where colours are not
    wanted.
    """
    plain = _is_plain()
    click.echo(click.style(safe(text), **_TONES[tone]), color=False if plain else None)


def print_json(value: object) -> None:
    """Prints one JSON document, indented. What a terminal would obey is escaped: the value is the same."""
    click.echo(harmless_json(json.dumps(value, indent=2, ensure_ascii=False)))


def print_json_line(value: object) -> None:
    """One JSON document in one line, for programs that read line by line."""
    click.echo(harmless_json(json.dumps(value, ensure_ascii=False)))


def print_last(text: str, *, again: str) -> None:
    """The last words of a command whose exit code counts even if nobody reads them; `again` is the command
    that prints them once more.
    """
    try:
        sys.stdout.write(f"{safe(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OutputLost as lost:
        give_up_output()
        with suppress(OSError):
            say(f"{lost.sentence} `{again}` prints it again.", err=True)


def ring() -> None:
    """The bell of the terminal."""
    click.echo("\a", nl=False, err=True)


def print_text(text: str) -> None:
    """Text from a repository or a model: as it is into a pipe, safe on a terminal."""
    click.echo(as_it_is(text) if sys.stdout.isatty() else text)


def print_own_secret(text: str) -> None:
    """A line whose secret is made for whoever reads it here: it is not redacted."""
    click.echo(text)


def print_bytes(data: bytes) -> None:
    """As `print_text`, for what need not be text."""
    if sys.stdout.isatty():
        click.echo(as_it_is(data.decode("utf-8", "replace")), nl=not data.endswith(b"\n"))
    else:
        click.echo(data, nl=False)


def print_paged(text: str) -> None:
    """Text for a person at a terminal; what is longer than the screen goes through their pager."""
    import shutil

    told = as_it_is(text)
    if told.count("\n") >= shutil.get_terminal_size().lines - 3:
        click.echo_via_pager(told)
    else:
        click.echo(told, nl=False)


def screen_width(*, or_else: int) -> int:
    """The columns of the terminal; what is given where the output goes elsewhere."""
    if not sys.stdout.isatty():
        return or_else
    import shutil

    return shutil.get_terminal_size().columns


_NARROWEST = 12
"""Characters that a column keeps, however narrow the screen is."""


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[str] = frozenset()
) -> str:
    """Columns as wide as they must be. On a terminal the widest ones give way, but for those of numbers,
    until the line fits.
    """
    lines = [header, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    edge = screen_width(or_else=0)
    if edge:
        _narrow(widths, [at for at, name in enumerate(header) if name not in right], edge)
    spelled = []
    for line in lines:
        cells = [
            cell.rjust(width) if name in right else _fit(cell, width).ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        ]
        text = "  ".join(cells).rstrip()
        spelled.append(f"{text[: edge - 1]}…" if edge and len(text) > edge else text)
    return "\n".join(spelled)


def _narrow(widths: list[int], may_give: Sequence[int], edge: int) -> None:
    """Takes from the widest column, character by character, what is too much for the screen."""
    while sum(widths) + 2 * (len(widths) - 1) > edge and may_give:
        widest = max(may_give, key=lambda at: widths[at])
        if widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1


def _fit(cell: str, width: int) -> str:
    """A cell of at most so many characters; of a path the end is kept, which tells more."""
    if len(cell) <= width:
        return cell
    return f"…{cell[1 - width :]}" if cell.startswith("/") else f"{cell[: width - 1]}…"


def paragraph(beginning: str, text: str) -> str:
    """Text behind a beginning; on a terminal it is broken at words, and goes on below where it began."""
    edge = screen_width(or_else=0)
    if not edge or len(beginning) + _NARROWEST > edge:
        return f"{beginning}{text}"
    from textwrap import wrap

    below = " " * len(beginning)
    return "\n".join(
        wrap(
            safe(text),  # before it is broken: afterwards a phrase or a secret may be in two lines
            edge,
            initial_indent=beginning,
            subsequent_indent=below,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def on_terminal() -> bool:
    """Whether what is printed is seen by a person, on a terminal that can place characters."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def draw(page: RenderableType) -> None:
    """A page with a frame or a table of its own, once."""
    from rich.console import Console

    Console(highlight=False, markup=False, emoji=False).print(page)


def draw_again(page: Callable[[int], RenderableType], wait: Callable[[], bool]) -> None:
    """A page that fills the terminal and changes in place, for its width, until `wait` says that it is
    enough. What was on the terminal is there again afterwards.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, markup=False, emoji=False)
    with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
        live.update(page(console.width), refresh=True)
        while wait():
            live.update(page(console.width), refresh=True)
