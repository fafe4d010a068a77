"""Where progress goes: plain, flushed lines in a pipe; colour and a line that moves on a terminal."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TextIO

from agentforge.app.ports import Tone
from agentforge.core.events import Event
from agentforge.core.state import State
from agentforge.surfaces.cli.pages.events import describe, tone
from agentforge.surfaces.cli.pages.now import doing
from agentforge.surfaces.cli.pages.run_events import CAUGHT
from agentforge.surfaces.cli.pages.words import age
from agentforge.surfaces.cli.safe_text import safe

if TYPE_CHECKING:
    from rich.text import Text

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
        """Prints one or more lines."""
        ...

    def now(self, text: str) -> None:
        """What is under way, replaced by the next one."""
        ...

    def still(self) -> AbstractContextManager[None]:
        """Stops the moving line, if there is one, for as long as the block takes."""
        ...


class Plain:
    """A screen that prints plain lines, for pipes and files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def line(self, text: str, tone: Tone = "plain") -> None:  # noqa: ARG002 - a pipe has no colours
        """Written and flushed at once, so that a log can be followed."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(f"{safe(text)}\n")
            self._stream.flush()

    def now(self, text: str) -> None:
        """A pipe keeps what it gets: nothing is shown."""

    def still(self) -> AbstractContextManager[None]:
        """Does nothing: a pipe has no moving line."""
        return nullcontext()


@dataclass(frozen=True, slots=True)
class _Ticking:
    """A line that is made anew whenever it is drawn."""

    line: "Callable[[], Text]"

    def __rich__(self) -> "Text":
        return self.line()


class Live:
    """A screen on a terminal, with colours and a last line that shows what happens now."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.text import Text

        self._text = Text
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._status = self._console.status("")

    def line(self, text: str, tone: Tone = "plain") -> None:
        """Prints above the last line."""
        with suppress(OSError, ValueError):
            self._console.print(self._text(safe(text), style=_STYLES[tone]))

    def now(self, text: str) -> None:
        """Puts `text` into the last line, which shows what happens now, and for how long."""
        shown, since = safe(text), monotonic()

        def line() -> "Text":
            seconds = int(monotonic() - since)
            return self._text(
                f"{shown} · {age(seconds)}", _STYLES["quiet"], no_wrap=True, overflow="ellipsis"
            )

        with suppress(OSError, ValueError):
            self._status.update(_Ticking(line))

    @contextmanager
    def still(self) -> Iterator[None]:
        """Hides the last line while this is open, so that a person can type."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Shows the last line while this is open."""
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


class ScreenWatcher:
    """Shows on a screen what happens to a task."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def notice(self, text: str, tone: Tone = "plain") -> None:
        """A sentence about the driving itself."""
        self._screen.line(text, tone)

    def happened(self, events: Sequence[Event], state: State) -> None:
        """One line of the journal was written."""
        for event in events:
            for text in (describe(event, state) or "").splitlines():
                self._screen.line(text, "caught" if text.lstrip().startswith(CAUGHT) else tone(event))
        self._screen.now(doing(state))
