"""The working set: the symbols and line ranges a role has open, read again from the current tree at every
step. Pure.

Ranges are remembered, never their text, so what a step shows cannot be stale. A symbol is found again by its
name after edits above it. The set is bounded; what leaves it is named, so that the role can open it again.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from agentforge.core.replacing import replace
from agentforge.languages.symbols import find_symbol, outline
from agentforge.tools.base import OpenedRange
from agentforge.tools.look.source import lines_of, plain

_PLACE = attrgetter("path", "start", "end", "symbol")

SEEDED = 0
"""The step of what nobody asked for: it was put there before the first one."""
MAX_ITEMS = 24
MAX_LINES = 400

Read = Callable[[str], str | None]
"""The text of a file in the current tree; None if there is none."""


@dataclass(frozen=True, slots=True)
class WorkingSetItem:
    """A part of a file that is open. Lines count from 1, both ends included."""

    path: str
    symbol: str
    start: int
    end: int
    step: int
    """The step that last opened it."""
    pinned: bool = False
    """Edited in this stage, or failing now: the last to leave."""


class Left(NamedTuple):
    """Something that was open and is not any more."""

    path: str
    symbol: str


class ItemText(NamedTuple):
    """An item where it is now, with its text as the file has it: what is copied into an edit fits."""

    item: WorkingSetItem
    text: str


def merge(
    items: Iterable[WorkingSetItem], opened: Iterable[OpenedRange], step: int, pinned: Collection[str] = ()
) -> tuple[tuple[WorkingSetItem, ...], tuple[Left, ...]]:
    """The set after a step. `pinned` are the paths that were edited in this stage or fail now; it is judged
    anew each time.
    """
    merged: list[WorkingSetItem] = list(items)
    for each in opened:
        merged = _added(merged, WorkingSetItem(each.path, each.symbol, each.start, each.end, step))
    by_worth = sorted((_judged(item, pinned) for item in merged), key=_worth)
    kept, out = by_worth[:MAX_ITEMS], by_worth[MAX_ITEMS:]
    return in_order(kept), tuple(Left(item.path, item.symbol) for item in in_order(out))


def merge_each(
    items: Iterable[WorkingSetItem], opened: Iterable[OpenedRange], pinned: Collection[str] = ()
) -> tuple[tuple[WorkingSetItem, ...], tuple[Left, ...]]:
    """The same as one `merge` per opened part, each a step later than the one before, at the price of one."""
    groups: dict[str, list[WorkingSetItem]] = {}
    for item in in_order(_judged(item, pinned) for item in items):
        groups.setdefault(item.path, []).append(item)
    size = sum(map(len, groups.values()))
    left: list[Left] = []
    for step, each in enumerate(opened, 1):
        # Only parts of the same file can touch.
        before = groups.get(each.path, [])
        new = WorkingSetItem(each.path, each.symbol, each.start, each.end, step, each.path in pinned)
        groups[each.path] = group = list(in_order(_added(before, new))) if before else [new]
        size += len(group) - len(before)
        while size > MAX_ITEMS:
            out = max(chain.from_iterable(groups.values()), key=_worth)
            groups[out.path] = [item for item in groups[out.path] if item is not out]
            size -= 1
            left.append(Left(out.path, out.symbol))
    return in_order(chain.from_iterable(groups.values())), tuple(left)


def in_order(items: Iterable[WorkingSetItem]) -> tuple[WorkingSetItem, ...]:
    """By place, not by time: a step that opens one more thing leaves the text before it as it was."""
    return tuple(sorted(items, key=_PLACE))


def item_texts(items: Iterable[WorkingSetItem], read: Read) -> tuple[tuple[ItemText, ...], tuple[Left, ...]]:
    """Every item as it is in the current tree, and what is not there any more. Lines behind the end of a file
    are not missed where something else of it is shown.
    """
    by_path: dict[str, list[WorkingSetItem]] = {}
    for item in in_order(items):
        by_path.setdefault(item.path, []).append(item)
    found: list[ItemText] = []
    left: list[Left] = []
    for path, group in by_path.items():
        text = read(path)
        if text is None:
            left += [Left(path, item.symbol) for item in group]
            continue
        places = _places(text, path, {item.symbol for item in group if item.symbol})
        shown = []
        for item in _merged_group([_moved(item, places) for item in group]):
            end, lines = _lines(text, item.start, item.end)
            if lines:
                shown.append(ItemText(item if end == item.end else replace(item, end=end), lines))
        found += shown
        if not shown:
            left.append(Left(path, ""))
    return tuple(found), tuple(left)


def signatures(item: WorkingSetItem, read: Read) -> str:
    """What a part of a file defines, a line for each with where it stands; empty where that would not be
    shorter.
    """
    text = read(item.path)
    return _signatures(text, item.path, item.start, item.end) if text else ""


@lru_cache(maxsize=4 * MAX_ITEMS)  # what had no room has none at the next step either
def _signatures(text: str, path: str, start: int, end: int) -> str:
    inside = [
        symbol for symbol in outline(text, path) if start <= symbol.start <= end and symbol.kind != "variable"
    ]
    if len(inside) * 2 > end - start:
        return ""
    return "\n".join(f"{each.start}-{each.end}|{each.signature or each.name}" for each in inside)


def label(item: WorkingSetItem) -> str:
    """How an item is named to the model."""
    return (
        f"{item.path} {item.symbol} (lines {item.start}-{item.end})"
        if item.symbol
        else f"{item.path} (lines {item.start}-{item.end})"
    )


def _worth(item: WorkingSetItem) -> tuple[bool, int, str, int]:
    """Sort key: items with the smallest keys stay in the set."""
    return (not item.pinned, -item.step, item.path, item.start)


def _judged(item: WorkingSetItem, pinned: Collection[str]) -> WorkingSetItem:
    is_pinned = item.path in pinned
    return item if item.pinned == is_pinned else replace(item, pinned=is_pinned)


@lru_cache(maxsize=4 * MAX_ITEMS)  # most of what is open is the same at the next step
def _lines(text: str, start: int, end: int) -> tuple[int, str]:
    """The last line that is there, and the lines up to it; no lines if the text ends before `start`."""
    lines = lines_of(text)
    last = min(end, len(lines))
    return last, plain(lines[start - 1 : last])


def _places(text: str, path: str, names: set[str]) -> dict[str, tuple[int, int]]:
    """Where the named symbols are now. One parse finds nearly all; only nested functions are looked up one by
    one.
    """
    outlined = _outlined(text, path) if names else {}
    places = {name: outlined[name] for name in names if name in outlined}
    for name in sorted(names - places.keys()):
        if (found := find_symbol(text, name, path)) is not None:
            places[name] = (found.start, found.end)
    return places


@lru_cache(
    maxsize=2 * MAX_ITEMS
)  # most open files are the same at the next step, and parsing is what a step's context costs
def _outlined(text: str, path: str) -> Mapping[str, tuple[int, int]]:
    places: dict[str, tuple[int, int]] = {}
    for symbol in outline(text, path):
        start, end = places.get(symbol.name, (symbol.start, symbol.end))
        # A property and its setter share a name, and belong together.
        places[symbol.name] = (min(start, symbol.start), max(end, symbol.end))
    return places


def _moved(item: WorkingSetItem, places: dict[str, tuple[int, int]]) -> WorkingSetItem:
    """A symbol at its present place. One that was renamed or removed keeps its lines: what stands there now
    is what matters.
    """
    if not item.symbol:
        return item
    if item.symbol not in places:
        return replace(item, symbol="")
    start, end = places[item.symbol]
    return replace(item, start=start, end=end)


def _merged_group(items: Sequence[WorkingSetItem]) -> tuple[WorkingSetItem, ...]:
    if len(items) == 1:
        return tuple(items)
    merged: list[WorkingSetItem] = []
    for item in sorted(items, key=lambda each: each.step):
        merged = _added(merged, item)
    return in_order(merged)


def _added(items: Sequence[WorkingSetItem], new: WorkingSetItem) -> list[WorkingSetItem]:
    """The items with one more, newest last; what overlaps it becomes one item, or is trimmed where that would
    grow too long.
    """
    if new.path not in [item.path for item in items]:
        return [*items, new]
    rest: list[WorkingSetItem] = []
    for position, item in enumerate(items):
        if item.path == new.path and item.symbol and item.symbol == new.symbol:
            continue  # the same thing, perhaps moved by an edit above it
        if item.path != new.path or item.end < new.start or new.end < item.start:
            rest.append(item)
            continue
        if item.step == SEEDED < new.step:
            rest += _without(item, new)  # what was asked for stays as it was asked for
            continue
        start, end = min(item.start, new.start), max(item.end, new.end)
        whole = next((each for each in (new, item) if (each.start, each.end) == (start, end)), None)
        if whole is not None or end - start < MAX_LINES:
            symbol = whole.symbol if whole is not None else ""
            union = WorkingSetItem(
                new.path, symbol, start, end, max(item.step, new.step), item.pinned or new.pinned
            )
            # It has grown, so it may now touch what it did not touch before.
            return _added([*rest, *items[position + 1 :]], union)
        rest.append(
            replace(item, symbol="", end=new.start - 1)
            if item.start < new.start
            else replace(item, symbol="", start=new.end + 1)
        )
    return [*rest, new]


def _without(item: WorkingSetItem, taken: WorkingSetItem) -> list[WorkingSetItem]:
    """What is left of an item before and behind lines that another one shows."""
    return [
        replace(item, symbol="", start=start, end=end)
        for start, end in ((item.start, taken.start - 1), (taken.end + 1, item.end))
        if start <= end
    ]
