"""The events of `go test -json`, one JSON object on a line."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentforge.languages.outcomes import Outcome
from agentforge.languages.reports.ends import PANIC, End

_ENDS: Mapping[str, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_PLACE = re.compile(r"^\s*(?P<file>[\w.\-]+_test\.go):(?P<line>\d+): ?(?P<said>.*)", re.DOTALL)
_FRAME = re.compile(r"^\s*(?:=== |--- |PASS|FAIL|ok )")
_BUILD = re.compile(r"^(?P<file>[^\s:#]+\.go):(?P<line>\d+):(?:\d+:)? (?P<said>.*)")
MOST_OUTPUT = 40


def events(text: str) -> Iterator[dict[str, Any]]:
    """The events of a run; whatever else is on a line is skipped."""
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("Action"), str):
                yield event


def read_go(text: str) -> tuple[list[End], list[str]]:
    """The tests of every package that ended, and those that began, each as `package::Test` or
    `package::Test[sub/test]`.
    """
    ends: list[End] = []
    began: list[str] = []
    said: dict[str, list[str]] = {}
    for event in events(text):
        package, test = str(event.get("Package", "")), event.get("Test")
        if not isinstance(test, str) or not test:
            continue
        identity = test_id(package, test)
        action = event["Action"]
        if action == "run":
            began.append(identity)
        elif action == "output":
            said.setdefault(identity, []).append(str(event.get("Output", "")))
        elif action in _ENDS:
            ends.append(_end(identity, _ENDS[action], said.get(identity, [])))
    return _own_ends(ends), began


def test_id(package: str, test: str) -> str:
    """A subtest is a case of its test."""
    name, _, rest = test.partition("/")
    return f"{package}::{name}[{rest}]" if rest else f"{package}::{name}"


def _end(identity: str, outcome: Outcome, output: list[str]) -> End:
    if outcome != "failed":
        return End(identity, outcome)
    lines = [line for line in output[-MOST_OUTPUT:] if line.strip() and not _FRAME.match(line)]
    panic = next((line for line in lines if line.startswith("panic: ")), "")
    place = next((found for line in lines if (found := _PLACE.match(line))), None)
    if panic:
        return End(identity, outcome, panic.removeprefix("panic: ").removesuffix(" [recovered]\n"), PANIC)
    if place is None:
        return End(identity, outcome, " ".join(lines[:3]))
    at = lines.index(place.string)
    message = " ".join((place["said"], *lines[at + 1 : at + 3]))
    return End(identity, outcome, message, "", place["file"], int(place["line"]))


def _own_ends(ends: list[End]) -> list[End]:
    """A test with cases ends by them: its own end counts if it fails and none of its cases does."""
    cases = [end for end in ends if end.id.endswith("]")]
    with_cases = {end.id.partition("[")[0] for end in cases}
    failed = {end.id.partition("[")[0] for end in cases if end.outcome == "failed"}
    return [
        end for end in ends if end.id not in with_cases or (end.outcome == "failed" and end.id not in failed)
    ]


def broken_files(text: str) -> dict[str, str]:
    """The files that did not compile, from the output of the build, with all that was said of each."""
    found: dict[str, list[str]] = {}
    outputs = [str(event.get("Output", "")) for event in events(text) if event["Action"] == "build-output"]
    plain = [line for line in text.splitlines() if not line.startswith("{")]  # before Go 1.24
    for line in (*"".join(outputs).splitlines(), *plain):
        if (place := _BUILD.match(line)) is not None:
            file = place["file"].removeprefix("./")
            found.setdefault(file, []).append(f"{file}:{place['line']}: {place['said']}")
    return {file: "\n".join(lines) for file, lines in found.items()}
