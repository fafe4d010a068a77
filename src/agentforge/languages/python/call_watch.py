"""Which calls tests make of the functions of some files, with what they give and get: plain values only.

Part of the judge of a watched run, like `line_watch.py`: copied beside the run, loaded before the judged tree
can be imported, importing nothing of ours, for Python from 3.8. The same calls are made again elsewhere
(`plain_calls.py`), where no test is.
"""

from __future__ import annotations

import ast
import math
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CALLS = 40
"""Of one test; what is beyond is said to be there."""
MOST_CHARS = 2000
DEPTH = 5
ATOMS = (int, bool, str, bytes, type(None))
OPTIMIZED = 1
"""The flag of code that is a function's, not a module's or class's."""
VARARGS, VARKEYWORDS = 4, 8
"""Flags of code that takes any number of arguments, or any by name."""
PASSING_ON = {"cache", "lru_cache", "final", "override", "deprecated"}
"""Decorators that give a function what they are given, and give back what it gives."""
LATER = 0x20 | 0x80 | 0x200
"""Flags of code that does not work when it is called, but when its result is used."""


def plain(value: Any, depth: int = DEPTH) -> bool:  # noqa: ANN401 - whatever it is
    """Whether a value is all there is to it: it can be written down and read again elsewhere."""
    kind = type(value)
    if kind in ATOMS:
        return True
    if kind is float:
        return math.isfinite(value)
    if depth and kind in (list, tuple):
        return all(plain(each, depth - 1) for each in value)
    if depth and kind is dict:
        return all(plain(key, 0) and plain(each, depth - 1) for key, each in value.items())
    return bool(depth) and kind is set and bool(value) and all(plain(each, 0) for each in value)


def written(value: Any) -> str | None:  # noqa: ANN401 - as above
    """A plain value as text; none for any other, or where that is long."""
    if not plain(value):
        return None
    text = "{" + ", ".join(sorted(map(repr, value))) + "}" if type(value) is set else repr(value)
    return text if len(text) <= MOST_CHARS else None


class CallWatch:
    """Sees calls of functions of the files, made from elsewhere than these files. What they were called with
    is known of those that a file defines at its top, or in a class there whose objects are plain values.
    """

    def __init__(self, root: str, files: list[str]) -> None:
        self._files = {os.path.realpath(os.path.join(root, file)): file for file in files}  # noqa: PTH118
        self._tops = {path: top_functions(path) for path in self._files}
        self._known: dict[int, tuple[Any, str, str]] = {}
        self._open: dict[int, tuple[dict[str, Any], list[Any]]] = {}
        self._rows: list[dict[str, Any]] = []
        self._realpath, self._profile = os.path.realpath, sys.setprofile
        self._on: Callable[..., None] = self._event

    def begin(self) -> None:
        """See calls, unless somebody else measures them already."""
        self._rows, self._open = [], {}
        if sys.getprofile() is None:
            self._profile(self._on)

    def end(self) -> list[dict[str, Any]]:
        """Stop; the calls that were seen, in the order in which they were made."""
        kept = sys.getprofile() is self._on
        if kept:
            self._profile(None)
        return self._rows if kept else []

    def _event(self, frame: Any, event: str, value: object) -> None:  # noqa: ANN401 - a frame
        if event == "return":
            begun = self._open.pop(id(frame), None)
            if begun is not None:
                row, was = begun
                row["gave"] = None if value is None else written(value)
                row["after"] = written(was)
            return
        if event != "call":
            return
        file, name = self._place(frame.f_code)
        if not name or self._place(frame.f_back.f_code if frame.f_back else None)[0]:
            return
        if len(self._rows) >= MOST_CALLS:
            self._rows[-1]["gave"] = None
            return
        code = frame.f_code
        tops = self._tops[self._realpath(code.co_filename)]
        dotted = tops.get((code.co_name, code.co_firstlineno))
        given = None if dotted is None else with_state(arguments(frame), dotted)
        told = None if given is None else written(given)
        row = {"file": file, "name": dotted or name, "given": told, "gave": None, "after": None}
        self._rows.append(row)
        if told is not None and given is not None:
            self._open[id(frame)] = (row, given)

    def _place(self, code: Any) -> tuple[str, str]:  # noqa: ANN401 - a code object
        """The file of code, if it is one of ours, and its name, if it is a function's."""
        if code is None:
            return "", ""
        found = self._known.get(id(code))
        if found is None:
            path = self._realpath(code.co_filename)
            file = self._files.get(path, "")
            name = code.co_name if file and code.co_flags & OPTIMIZED else ""
            found = self._known[id(code)] = (
                code,
                file,
                name,
            )  # the code is kept, so that its number stays its own
        return found[1:]


def top_functions(path: str) -> dict[tuple[str, int], str]:
    """The functions that a file defines at its top, if nothing decorates them that changes their calls, and
    the methods and properties of its classes there: by name and first line, with the name that leads to each.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - strings, as everywhere here
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found = {}
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        above = node.name + "." if isinstance(node, ast.ClassDef) else ""
        for each in inner:
            if not isinstance(each, ast.FunctionDef):
                continue
            by = each.decorator_list
            names = {last_word(one) for one in by}
            if names <= PASSING_ON or (above and names == {"property"}):
                found[each.name, (by[0] if by else each).lineno] = above + each.name
    return found


def last_word(node: Any) -> str:  # noqa: ANN401 - what decorates
    """The last part of the name of a decorator."""
    node = node.func if isinstance(node, ast.Call) else node
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def with_state(given: list[Any] | None, dotted: str) -> list[Any] | None:
    """Arguments, where the object of a method is told by its values: with these it can be made again."""
    owner, _, method = dotted.rpartition(".")
    if given is None or not owner:
        return given
    by_place, by_name = given
    if method.startswith("__") or not by_place or type(by_place[0]).__name__ != owner:
        return None
    state = getattr(by_place[0], "__dict__", None)
    return None if type(state) is not dict else [[state, *by_place[1:]], by_name]


def arguments(frame: Any) -> list[Any] | None:  # noqa: ANN401 - a frame
    """What a function was called with: by place, then by name; none where that cannot be told."""
    code, known = frame.f_code, frame.f_locals
    if code.co_flags & LATER:
        return None
    names = code.co_varnames
    count, named = code.co_argcount, code.co_kwonlyargcount
    try:
        by_place = [known[name] for name in names[:count]]
        by_name = {name: known[name] for name in names[count : count + named]}
        at = count + named
        if code.co_flags & VARARGS:
            by_place += known[names[at]]
            at += 1
        if code.co_flags & VARKEYWORDS:
            by_name.update(known[names[at]])
    except KeyError:  # a variable of a closure
        return None
    return [by_place, by_name]
