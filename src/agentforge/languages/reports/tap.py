"""TAP, the lines that many small test programs print: a plan, and one line for each test."""

import re
from dataclasses import dataclass

from agentforge.languages.outcomes import Outcome

_LINE = re.compile(
    r"(?P<not>not )?ok\b(?: +(?P<number>\d+))?(?: +-)? *(?P<name>[^#]*)(?:# *(?P<mark>\w+)\S*(?P<why>.*))?"
)
_PLAN = re.compile(r"1\.\.(\d+)\s*(?:#.*)?$")
_BAIL = re.compile(r"Bail out!\s*(.*)")


@dataclass(frozen=True, slots=True)
class TapLine:
    """One result line of a TAP report."""

    name: str
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class Tap:
    """A TAP report: what one program printed."""

    lines: tuple[TapLine, ...]
    trouble: str = ""
    """Why it counts for nothing: no plan, not as many tests as planned, numbers that come twice, an end
    before the end.
    """


def read_tap(text: str) -> Tap:
    """The lines at the margin: what is indented belongs to a test above it, or is its output."""
    lines: list[TapLine] = []
    numbers: list[int] = []
    plans: list[int] = []
    for raw in text.splitlines():
        if (found := _PLAN.match(raw)) is not None:
            plans.append(int(found[1]))
        elif (found := _BAIL.match(raw)) is not None:
            return Tap(tuple(lines), f"it bailed out: {found[1]}".rstrip(": "))
        elif (found := _LINE.match(raw)) is not None:
            numbers.append(int(found["number"] or len(numbers) + 1))
            name = found["name"].replace("\\", "").strip() or f"test {numbers[-1]}"
            lines.append(TapLine(name, *_outcome(found)))
        elif raw.startswith("#") and lines and lines[-1].outcome == "failed":
            last = lines[-1]
            lines[-1] = TapLine(last.name, last.outcome, f"{last.message} {raw[1:].strip()}".strip()[:500])
    return Tap(tuple(lines), _trouble(plans, numbers))


def _outcome(found: re.Match[str]) -> tuple[Outcome, str]:
    mark, why = (found["mark"] or "").upper(), (found["why"] or "").strip()
    if mark == "SKIP":
        return "skipped", why
    if mark == "TODO":
        return ("xfailed" if found["not"] else "xpassed"), why
    return ("failed" if found["not"] else "passed"), ""


def _trouble(plans: list[int], numbers: list[int]) -> str:
    if len(plans) != 1:
        return "it has no plan" if not plans else "it has more than one plan"
    if sorted(numbers) != list(range(1, plans[0] + 1)):
        return f"it planned {plans[0]} tests and numbers {len(numbers)}, each of which must come once"
    return ""
