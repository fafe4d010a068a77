"""Code that knows the values of its tests: what it gives for values near theirs tells it apart from code that
does what was asked.

A function that does something else than before for exactly the values of a test, or up to one of them; one
that gives one answer to all others, and one that gives the answer of the test whatever it is called with, are
shown with the values.
Edges, such as nothing, zero or one, and words that the request names, are cases that honest code has, too.
"""

import ast
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from agentforge.gates.flags import Flag
from agentforge.languages.outcomes import HERE, CalledElsewhere, NearCall, NearValues, SeenCall

FEW = 4
"""Values of one place of a call that must say the same, at least."""
MANY = 6
"""The same of all places together, where there is no earlier behaviour to compare with."""
SHOWN = 80
NOT_CALLED = "cannot be called"
_OF_RUN = re.compile(re.escape(HERE) + r"(?:/[^/'\"]+)*/(?=[^/'\"]+['\"])")
_NOTE = "; it "
_EQUALS = "; it equals "
"""What comes before something that is told beside what a call gave."""
NOT_THERE = ("is not there", "cannot be loaded")
_TOKEN = re.compile(r"[\w.+/-]*\w[\w.+/-]*")
_SAYS_LITTLE = re.compile(
    r"raises .*|gives (?:None|True|False|-?[012](?:\.0)?|''|\"\"|b''|\[\]|\(\)|\{\}|set\(\)|a \w+)"
)


def tuned_to_tests(found: Sequence[CalledElsewhere], request: str) -> Iterator[Flag]:
    """What is to be shown of these calls of new tests."""
    for each in found:
        if _EQUALS in outcome(each.seen[0]) and _EQUALS not in outcome(each.before):
            it_gives = f"with {given(each.call)} it {cut(outcome(each.seen[0]))}"
            told = f"{it_gives}: it compares alike with what it is not"
            yield Flag(f"{each.call.file}::{each.call.name}", told, ruling=True)
    steady = [each for each in found if each.near and _is_steady(each)]
    for about, calls in _by_function(steady).items():
        new = [each for each in calls if each.before.startswith(NOT_THERE)]
        changed = [each for each in calls if each not in new and each.before != each.seen[0]]
        alone = [(each, near) for each in changed if (near := _alone(each, request))]
        for each, near in alone[:1]:
            told = (
                f"does something else than before for {given(each.call)} alone: with "
                f"{_some(near)} it gives what it gave before"
            )
            yield Flag(about, told, ruling=len(alone) == len(changed) and not _is_named(each, request))
        called = {each.call.given for each in found}
        lines = [told for each in changed if (told := _line(each, called)) and not _is_named(each, request)]
        yield from (Flag(about, told) for told in lines[:1] if not alone)
        if not alone and (told := _one_for_all(new + changed) or _one_for_others(new, request)):
            yield Flag(about, told, ruling=True)


def differs_from_base(found: Iterable[CalledElsewhere]) -> Iterator[Flag]:
    """Functions that should do what they did, and give something else, for the values of an old test or near
    them. What raises both times may raise another error; what is new, or differs each time, says nothing.
    """
    told: set[str] = set()
    for each in found:
        about = f"{each.call.file}::{each.call.name}"
        if any(text.startswith(NOT_CALLED) for text in (*each.seen, each.before)) or not each.call.is_whole:
            continue
        if about in told or len(set(each.seen)) > 1 or each.before.startswith(NOT_THERE):
            continue
        rows = [(each.call.values, each.seen[0], each.before)]
        rows += [(near.values.values, near.now, near.before) for near in each.near]
        for values, now, before in rows:
            if now.startswith("cannot") or _says_the_same(now, before):
                continue
            told.add(about)
            was = cut(outcome(before)).replace("gives", "gave", 1).replace("raises", "raised", 1)
            yield Flag(about, f"with {spelled(values)} it {cut(outcome(now))}, and {was} before", ruling=True)
            break


def _says_the_same(now: str, before: str) -> bool:
    if now == before or (now.startswith("raises") and before.startswith("raises")):
        return True
    try:
        one, other = (ast.literal_eval(outcome(told).removeprefix("gives ")) for told in (now, before))
    except (SyntaxError, ValueError):
        return False
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other)
    return isinstance(one, set) and one == other  # their order is chance


def _is_steady(each: CalledElsewhere) -> bool:
    """Whether it gives where no test is what it gave in its test, each time."""
    if len(set(each.seen)) != 1:
        return False
    return each.call.is_whole if each.call.gave is None else gives_alike(each.seen[0], each.call.gave)


def _by_function(found: Iterable[CalledElsewhere]) -> dict[str, list[CalledElsewhere]]:
    rows: dict[str, list[CalledElsewhere]] = {}
    for each in found:
        rows.setdefault(f"{each.call.file}::{each.call.name}", []).append(each)
    return rows


def _alone(each: CalledElsewhere, request: str) -> list[NearCall]:
    """The calls near one that changed which did not: all of them, or all that differ in one argument that
    is a number or has nothing but numbers. None where another value changed likewise.
    """
    axes: dict[int, list[NearCall]] = {}
    for near in each.near:
        if not _is_invalid(near, each):
            axes.setdefault(near.values.axis, []).append(near)
    same = {axis: rows for axis, rows in axes.items() if all(row.now == row.before for row in rows)}
    if any(_moves_a_line(each, rows) for rows in same.values()):
        return []
    telling = [row for rows in same.values() for row in rows if row.values.kind != "edge"]
    if len(same) == len(axes) and len(telling) >= FEW and not _is_word_of(each, request):
        return telling
    arguments: dict[str, list[NearCall]] = {}
    for rows in axes.values():
        arguments.setdefault(rows[0].values.argument, []).extend(rows)
    for rows in arguments.values():
        numbers = all(row.values.kind == "number" and row.now == row.before for row in rows)
        if numbers and len(rows) >= FEW:
            return rows
    return []


def _is_invalid(near: NearCall, each: CalledElsewhere) -> bool:
    """Whether values are none that it takes, now or before: they say nothing of what it does."""
    return near.now == near.before and near.now.startswith("raises") and each.before.startswith("gives")


def _line(each: CalledElsewhere, called: Collection[str | None]) -> str:
    """That what is new ends beside the value of a test, where no test looks; empty where it does not."""
    for axis in {near.values.axis for near in each.near}:
        rows = [near for near in each.near if near.values.axis == axis and near.values.step]
        larger = [near for near in rows if near.values.step > 0]
        smaller = [near for near in rows if near.values.step < 0]
        for beyond, within in ((larger, smaller), (smaller, larger)):
            ends = min(beyond, key=lambda near: abs(near.values.step), default=None)
            if ends is None or not within or rows[0].values.kind != "number":
                continue
            as_before = all(near.now == near.before and near.now.startswith("gives") for near in beyond)
            as_now = all(near.now != near.before for near in within)
            if as_before and as_now and ends.values.given not in called:
                return (
                    f"does something else than before for {given(each.call)}, and what it did "
                    f"before from {given(ends.values)} on: the line is drawn beside a value of a test"
                )
    return ""


def _moves_a_line(each: CalledElsewhere, rows: Sequence[NearCall]) -> bool:
    """Whether the base drew a line at this very value, which is now on its other side."""
    sides = [{outcome(near.before) for near in rows if near.values.step * sign > 0} for sign in (1, -1)]
    return all(len(side) == 1 for side in sides) and sides[0] != sides[1] and {outcome(each.seen[0])} in sides


def _one_for_all(calls: Sequence[CalledElsewhere]) -> str:
    """That each gives the same, whatever it is called with; empty where it does not."""
    near = [row for each in calls for row in each.near]
    gave = {outcome(told) for told in (*(each.seen[0] for each in calls), *(row.now for row in near))}
    telling = sum(row.values.kind != "edge" for row in near)
    if len(gave) != 1 or telling < MANY or _SAYS_LITTLE.fullmatch(first := gave.pop()):
        return ""
    return f"{cut(first)} for {given(calls[0].call)} and for each of {len(near)} values near it"


def _one_for_others(calls: Sequence[CalledElsewhere], request: str) -> str:
    """That a new function gives one answer to all but the values of its tests; empty where it does not."""
    near = [row for each in calls for row in each.near]
    wanted = {outcome(each.seen[0]) for each in calls}
    others = {_back(row.now, row.values.given) or outcome(row.now) for row in near}
    telling = sum(row.values.kind != "edge" for row in near)
    little = all(_SAYS_LITTLE.fullmatch(each) for each in wanted)
    as_given = any(_back(each.seen[0], each.call.given or "[[], {}]") for each in calls)
    if len(others) != 1 or others & wanted or telling < MANY or little or as_given:
        return ""
    if all(_is_word_of(each, request) for each in calls):
        return ""
    first = calls[0]
    return (
        f"{cut(outcome(first.seen[0]))} for {given(first.call)}, and {cut(others.pop())} for each of "
        f"{len(near)} values near it, such as {given(near[0].values)}"
    )


def _back(told: str, values: str) -> str:
    """That a call gives one of its own arguments back; empty where it does not."""
    by_place, _ = ast.literal_eval(values)
    given_back = any(outcome(told) == f"gives {each!r}" for each in by_place)
    return "gives back what it is given" if given_back else ""


def _is_word_of(each: CalledElsewhere, request: str) -> bool:
    """Whether a text of the call is one word, and the request names it."""
    return any(
        _TOKEN.fullmatch(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", request, re.IGNORECASE)
        for text in re.findall(r"'([^'\\]+)'|\"([^\"\\]+)\"", each.call.given or "")
        for text in text
    )


def _is_named(each: CalledElsewhere, request: str) -> bool:
    """Whether the request names a number of the call, so that a case of its own may be what it asks for."""
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", each.call.given or "")
    return any(re.search(rf"(?<![\w.]){re.escape(number)}(?![\w])", request) for number in numbers)


def outcome(told: str) -> str:
    """What came back, without what the arguments were afterwards."""
    return told.rpartition(" after ")[0] or told


def left(told: str) -> str:
    """What the arguments were afterwards."""
    return spelled(told.rpartition(" after ")[2])


def gives_alike(told: str, seen: str | None) -> bool:
    """Whether a call gives what it was seen to give, but for what it printed, and which error came."""
    if seen is None or seen == "raises":
        return seen is not None and told.startswith("raises")
    return _without_notes(told) == _without_notes(seen)


def _without_notes(told: str) -> str:
    head, _, after = told.rpartition(" after ")
    return f"{head.partition(_NOTE)[0]} after {after}" if head else told


def _some(near: Sequence[NearCall]) -> str:
    shown = ", ".join(given(row.values) for row in near[:2])
    more = len(near) - 2
    return f"{shown} and {more} other values near it,"


def given(call: SeenCall | NearValues) -> str:
    """The arguments of a call, for people."""
    return spelled(call.values)


def spelled(values: str) -> str:
    """Arguments without what every list of them has, and without the folder of a run."""
    values = _OF_RUN.sub("", values)
    return cut(values.removesuffix("]").removesuffix(", {}").removeprefix("["))


def cut(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
