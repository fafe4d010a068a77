"""Where progress goes: plain, flushed lines in a pipe; colour and a line that moves on a terminal."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TextIO

from agentforge.core.events import Event
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.surfaces.cli.pages.events import CAUGHT, Tone, describe, doing, tone
from agentforge.system.visible import harmless

_STYLES: dict[Tone, str] = {
    "plain": "",
    "heading": "bold",
    "good": "green",
    "caught": "yellow",
    "bad": "bold red",
    "quiet": "dim",
}


class Screen(Protocol):
    """Takes lines; a reader that went away never stops a task."""

    def line(self, text: str, tone: Tone = "plain") -> None:
        """One or more lines that stay."""
        ...

    def now(self, text: str) -> None:
        """What is under way, replaced by the next one."""
        ...


class Plain:
    """Lines without any control codes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def line(self, text: str, tone: Tone = "plain") -> None:  # noqa: ARG002 - a pipe has no colours
        """Written and flushed at once, so that a log can be followed."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(f"{harmless(text)}\n")
            self._stream.flush()

    def now(self, text: str) -> None:
        """A pipe keeps what it gets: nothing is shown."""


class Live:
    """A terminal."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.text import Text

        self._text = Text
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._status = self._console.status("")

    def line(self, text: str, tone: Tone = "plain") -> None:
        """Printed above the line that moves."""
        with suppress(OSError, ValueError):
            self._console.print(self._text(harmless(text), style=_STYLES[tone]))

    def now(self, text: str) -> None:
        """The line that moves."""
        with suppress(OSError, ValueError):
            self._status.update(
                self._text(harmless(text), style=_STYLES["quiet"], no_wrap=True, overflow="ellipsis")
            )

    @contextmanager
    def moving(self) -> Iterator[None]:
        """While this is open the last line moves."""
        with self._status:
            yield


@contextmanager
def open_screen(*, json: bool = False) -> Iterator[Screen]:
    """The screen of a command; where its output is data, progress goes to the error stream."""
    stream = sys.stderr if json else sys.stdout
    if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        live = Live(stream)
        with live.moving():
            yield live
    else:
        yield Plain(stream)


class Watcher:
    """A listener of the journal that tells a screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def __call__(self, _: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        """One line of the journal was written."""
        for event in events:
            for text in (describe(event, state) or "").splitlines():
                self._screen.line(text, "caught" if text.lstrip().startswith(CAUGHT) else tone(event))
        self._screen.now(doing(state))
