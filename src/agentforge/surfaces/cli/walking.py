"""Going along the steps of a task at a terminal: a key for the next one, the previous one, and each part."""

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

import click

from agentforge.app.record.steps import Step
from agentforge.surfaces.cli.printing import print_paged, say

PARTS = {"c": "context", "r": "reply", "t": "tools", "d": "diff", "g": "gate", "s": "state"}
_NEXT, _PREVIOUS = ("n", " ", "\x1b[C"), ("p", "\x1b[D")
_OVER = ("q", "\x1b", "\x03", "\x04")
_KEYS = {"n": "next", "p": "previous", "o": "overview", **PARTS, "q": "quit"}
Show = Callable[[Step, str | None], None]
"""Prints a part of a step; without a part the overview."""


def walk_along(steps: Sequence[Step], first: Step, part: str | None, show: Show) -> None:
    """Shows a step, and then whatever the person goes to, until they leave."""
    at, shown = steps.index(first), False
    keys = "  ".join(f"{key} {word}" for key, word in _KEYS.items())
    while True:
        if not shown:
            _page(show, steps[at], part)
            shown = True
        say(f"\nstep {steps[at].number} of {len(steps)}   {keys}", err=True)
        key = _key()
        if key in _OVER:
            return
        if key in _NEXT + _PREVIOUS:
            wanted = at + (1 if key in _NEXT else -1)
            if 0 <= wanted < len(steps):
                at, shown = wanted, False
            else:
                say("This is the last step." if key in _NEXT else "This is the first step.", err=True)
        elif key in PARTS or key in ("o", "\r", "\n"):
            part, shown = PARTS.get(key), False


def _key() -> str:
    try:
        return click.getchar()
    except (EOFError, KeyboardInterrupt):
        return "q"


def _page(show: Show, step: Step, part: str | None) -> None:
    text = io.StringIO()
    with redirect_stdout(text):
        show(step, part)
    print_paged(text.getvalue())
