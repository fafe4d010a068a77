"""The next line that a driver adds to a journal, in a form that compares."""

import json
import re
import threading

import pytest

from agentforge.core.events import Event
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.system import processes
from tests.engines.crash_site import Scene


class Enough(BaseException):
    """The next line is on record. No effect catches this."""


def next_line(scene: Scene) -> tuple[str, str]:
    """The key and events of the first line that an effect adds; then the driver stops as if it were
    killed.
    """
    found: list[tuple[str, str]] = []
    seen = threading.Lock()

    def listen(line: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        del events, state
        with seen:
            if str(line["key"]).startswith("driver/"):
                return
            found.append(plain(str(line["key"]), line["events"]))
        raise Enough

    with pytest.raises(Enough):
        scene.drive(listen)
    processes.kill_all()
    return found[0]


def plain(key: str, events: Json) -> tuple[str, str]:
    """Without what differs between two runs of the same: which try of a call it was, and hashes of output
    with its times.
    """
    text = json.dumps(events, sort_keys=True)
    return re.sub(r"/ask/\d+", "/ask", key), re.sub(r'"(ref|key|request_hash)": "[^"]*"', "", text)
