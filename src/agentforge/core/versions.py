"""Versions and the ranges that they satisfy: `>=1.2.0`, `>=1.2, <2`, `^1.2`, `~1.2`, `==1.2.*`, `*`."""

import re
from typing import TypeAlias

Version: TypeAlias = tuple[int, ...]

_VERSION = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){0,5})(?:[-+][0-9A-Za-z.+-]*)?")
_TERM = re.compile(r"(>=|<=|==|!=|~=|>|<|=|\^|~)?\s*v?(\d{1,9}(?:\.\d{1,9}){0,5})(\.\*)?")


def read_version(text: str) -> Version | None:
    """The numbers of a version; None for anything else. What follows a hyphen or a plus does not count."""
    found = _VERSION.fullmatch(text.strip())
    return None if found is None else tuple(int(part) for part in found[1].split("."))


def satisfies(version: Version, wanted: str) -> bool:
    """Whether a version is in a range that `range_problem` has nothing against."""
    terms = _terms(wanted)
    return terms is not None and all(_holds(version, *term) for term in terms)


def range_problem(wanted: str) -> str:
    """What is wrong with a range; empty if nothing is."""
    return "" if _terms(wanted) is not None else f"{wanted[:40]!r} is no range of versions, such as >=1.2.0"


def _terms(wanted: str) -> list[tuple[str, Version, bool]] | None:
    text = wanted.strip()
    if text in ("", "*"):
        return []
    found = []
    for part in re.split(r"\s*,\s*|\s+(?=[<>=!~^])", text):
        term = _TERM.fullmatch(part.strip())
        if term is None or (term[3] and (term[1] or "==") not in ("==", "=", "!=")):
            return None
        found.append((term[1] or "==", tuple(int(item) for item in term[2].split(".")), bool(term[3])))
    return found


def _holds(version: Version, sign: str, wanted: Version, open_end: bool) -> bool:  # noqa: FBT001
    length = max(len(version), len(wanted))
    have, want = _padded(version, length), _padded(wanted, length)
    same = have[: len(wanted)] == wanted if open_end else have == want
    match sign:
        case "==" | "=":
            return same
        case "!=":
            return not same
        case ">=":
            return have >= want
        case "<=":
            return have <= want
        case ">":
            return have > want
        case "<":
            return have < want
        case "^":
            first = next((at for at, number in enumerate(wanted) if number), len(wanted) - 1)
            return have >= want and have[: first + 1] == want[: first + 1]
        case _:  # ~ and ~=: the last number that is written may grow, and what is behind it
            fixed = max(1, len(wanted) - 1)
            return have >= want and have[:fixed] == want[:fixed]


def _padded(version: Version, length: int) -> Version:
    return (*version, *(0,) * (length - len(version)))
