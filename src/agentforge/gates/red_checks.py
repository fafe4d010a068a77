"""What RED's test files are held to beside their proof: the lint of GREEN, and its types but for errors that
name something the specification creates. Those are judged at GREEN.
"""

import re
from collections.abc import Callable, Mapping

from agentforge.core.reply import Json
from agentforge.gates.ratchets import worse
from agentforge.languages.values import CheckRun

_QUOTED = re.compile(r"[\"'`“]([A-Za-z_][\w.]*)[\"'`”]")
_WORD = re.compile(r"[A-Za-z_]\w*")


def check_problems(
    lint: tuple[CheckRun, CheckRun],
    types: tuple[CheckRun, CheckRun],
    specification: Mapping[str, Json],
    is_test: Callable[[str], bool],
) -> list[str]:
    """What is new in the test files since the base. What could not run is judged at GREEN."""
    promised = frozenset(_words(dict(specification)))
    found = [f"lint: {line}" for line in worse(lint[0], _of_tests(lint[1], is_test))]
    excused = _without(_of_tests(types[1], is_test), promised)
    return found + [f"types: {line}" for line in worse(types[0], excused)]


def _of_tests(run: CheckRun, is_test: Callable[[str], bool]) -> CheckRun:
    if run.status != "ran":
        return CheckRun(run.status, run.reason)
    kept = {place: count for place, count in run.findings.items() if is_test(place[0])}
    return CheckRun("ran", run.reason, kept, run.samples)


def _without(run: CheckRun, promised: frozenset[str]) -> CheckRun:
    """The findings that name nothing the specification speaks of."""
    kept = {
        place: count
        for place, count in run.findings.items()
        if not any(
            word in promised for name in _QUOTED.findall(run.samples[place]) for word in _WORD.findall(name)
        )
    }
    return CheckRun(run.status, run.reason, kept, run.samples)


def _words(value: Json) -> list[str]:
    if isinstance(value, dict):
        return [word for part in value.values() for word in _words(part)]
    if isinstance(value, list):
        return [word for part in value for word in _words(part)]
    return _WORD.findall(value) if isinstance(value, str) else []
