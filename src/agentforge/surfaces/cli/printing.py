"""Output that is data: JSON, bytes, and tables in plain columns."""

import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from agentforge.system.visible import harmless


def print_json(value: object) -> None:
    """Prints one JSON document, indented."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_last(text: str) -> None:
    """The last words of a command whose exit code counts even if nobody reads them."""
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def print_text(text: str) -> None:
    """Text from a repository or a model: as it is into a pipe, without control codes on a terminal."""
    click.echo(harmless(text) if sys.stdout.isatty() else text)


def print_bytes(data: bytes) -> None:
    """As `print_text`, for what need not be text."""
    if sys.stdout.isatty():
        click.echo(harmless(data.decode("utf-8", "replace")), nl=not data.endswith(b"\n"))
    else:
        click.echo(data, nl=False)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[str] = frozenset()
) -> str:
    """Columns as wide as they must be; on a terminal the last one is cut at its edge."""
    lines = [header, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    spelled = []
    for line in lines:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, line, widths, strict=True)
        ]
        text = "  ".join(cells).rstrip()
        spelled.append(f"{text[: edge - 1]}…" if edge and len(text) > edge else text)
    return "\n".join(spelled)
