"""A person's own editor, and what is said where it cannot be used."""

import os
import sys

import click

from agentforge.core.errors import UsageError


def edited(text: str, suffix: str, otherwise: str) -> str | None:
    """What a person made of a text; None if they left it as it was. `otherwise` ends the advice to somebody
    whose editor does not work.
    """
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not chosen and not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("An editor needs a terminal, and this is none.", f"Set EDITOR, {otherwise}")
    try:
        return click.edit(text, extension=suffix)
    except click.ClickException as error:
        why = (error.__cause__.strerror or "") if isinstance(error.__cause__, OSError) else ""
        said = f"did not start: {why.lower()}" if why else "failed"
        raise UsageError(
            f"The editor {chosen or 'that was found'} {said}.",
            f"Set EDITOR to one that works, {otherwise}",
        ) from error
