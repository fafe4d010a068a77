"""What Rust's own test programs print: their list, and one JSON object for each event."""

import json
import re
from collections.abc import Mapping
from typing import Any

from agentforge.languages.outcomes import Outcome
from agentforge.languages.reports.ends import End

_ENDS: Mapping[str, Outcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
_PANIC = re.compile(
    r"panicked at (?P<file>[^\n:]+):(?P<line>\d+):\d+:\n"
    r"(?P<said>(?:(?!stack backtrace|note: run with)[^\n]*\n?){0,4})"
)


def read_list(text: str) -> list[str]:
    """The tests of a program, as `--list --format terse` names them."""
    return [line.removesuffix(": test") for line in text.splitlines() if line.endswith(": test")]


def read_libtest(text: str) -> tuple[list[End], list[str]]:
    """The tests that ended and those that began, by their paths in the crate."""
    ends: list[End] = []
    began: list[str] = []
    for line in text.splitlines():
        event = _event(line)
        if event.get("type") != "test" or not isinstance(name := event.get("name"), str):
            continue
        if event.get("event") == "started":
            began.append(name)
        elif event.get("event") in _ENDS:
            ends.append(_end(name, _ENDS[str(event["event"])], event))
    return ends, began


def _event(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _end(name: str, outcome: Outcome, event: Mapping[str, Any]) -> End:
    if outcome != "failed":
        return End(name, outcome, str(event.get("message", "")))
    said = str(event.get("stdout") or event.get("message") or "")
    found = _PANIC.search(said)
    if found is None:
        return End(name, outcome, str(event.get("message") or said))
    return End(name, outcome, found["said"], "panicked", found["file"], int(found["line"]))
