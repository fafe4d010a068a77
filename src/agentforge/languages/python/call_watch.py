"""Which calls tests make of the functions of some files, with what they give and get.

Part of the judge of a watched run, like `line_watch.py`: copied beside the run, loaded before the judged tree
can be imported, importing nothing of ours, for Python from 3.8. The same calls are made again elsewhere
(`plain_calls.py`), where no test is.
"""

from __future__ import annotations

import ast
import opcode
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_CALLS = 40
"""Of one test; what is beyond is said to be there."""
OPTIMIZED = 1
"""The flag of code that is a function's, not a module's or class's."""
VARARGS, VARKEYWORDS = 4, 8
"""Flags of code that takes any number of arguments, or any by name."""
LATER = 0x20 | 0x80 | 0x200
"""Flags of code that does not work when it is called, but when its result is used."""
GIVES_BACK = ("RETURN_VALUE", "RETURN_CONST", "INSTRUMENTED_RETURN_VALUE", "INSTRUMENTED_RETURN_CONST")


class CallWatch:
    """Sees calls of functions of the files, made from elsewhere than these files. What they were called with
    is known of those that a name of their file leads to, and where the values can be written down: `values`
    is the module that does so.
    """

    def __init__(self, root: str, files: list[str], values: Any) -> None:  # noqa: ANN401 - a module
        self._files = {os.path.realpath(os.path.join(root, file)): file for file in files}  # noqa: PTH118
        self._tops = {path: top_functions(path) for path in self._files}
        self._values = values
        self._known: dict[int, tuple[Any, str, str]] = {}
        self._open: dict[int, tuple[dict[str, Any], list[Any]]] = {}
        self._begun: dict[int, Any] = {}
        self._rows: list[dict[str, Any]] = []
        self._realpath, self._profile = os.path.realpath, sys.setprofile
        self._returns = returning()
        self._on: Callable[..., None] = self._event

    def begin(self) -> None:
        """See calls, unless somebody else measures them already."""
        self._rows, self._open, self._begun = [], {}, {}
        if sys.getprofile() is None:
            self._profile(self._on)

    def end(self) -> list[dict[str, Any]]:
        """Stop; the calls that were seen, in the order in which they were made."""
        kept = sys.getprofile() is self._on
        if kept:
            self._profile(None)
        self._begun = {}
        return self._rows if kept else []

    def _event(self, frame: Any, event: str, value: object) -> None:  # noqa: ANN401 - a frame
        if event == "return":
            begun = self._open.pop(id(frame), None)
            if begun is not None:
                row, was = begun
                raised = value is None and frame.f_code.co_code[frame.f_lasti] not in self._returns
                row["gave"] = "" if raised else self._values.shown(value)
                row["after"] = "" if raised else self._values.shown(was, partly=True)
            return
        if event != "call":
            return
        file, name = self._place(frame.f_code)
        if not name or self._place(frame.f_back.f_code if frame.f_back else None)[0]:
            return
        later = frame.f_code.co_flags & LATER
        if id(frame) in self._begun:
            return  # it goes on
        if len(self._rows) >= MOST_CALLS:
            self._rows[-1]["gave"] = None
            return
        if later:
            self._begun[id(frame)] = frame  # kept, so that its number stays its own
        self._note(frame, file, name, bool(later))

    def _note(self, frame: Any, file: str, name: str, later: bool) -> None:  # noqa: ANN401, FBT001 - a frame
        code = frame.f_code
        tops = self._tops[self._realpath(code.co_filename)]
        dotted = tops.get((code.co_name, code.co_firstlineno)) or name_of(frame)
        given = None if dotted is None else arguments(frame)
        told = None if given is None else self._values.written(given, partly=True)
        row = {
            "file": file,
            "name": dotted or name,
            "code": code.co_name,
            "given": told,
            "shown": None,
            "gave": None,
            "after": None,
        }
        self._rows.append(row)
        if told is None or given is None:
            return
        row["shown"] = self._values.as_people_write(self._values.structure(given, partly=True))
        if not later:
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


def returning() -> frozenset[int]:
    """The instructions with which a function gives something back: one that ends otherwise has raised."""
    return frozenset(opcode.opmap[name] for name in GIVES_BACK if name in opcode.opmap)


def top_functions(path: str) -> dict[tuple[str, int], str]:
    """The functions that a file defines at its top, and those of its classes there: by name and first line,
    with the name that leads to each.
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
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                by = each.decorator_list
                found[each.name, (by[0] if by else each).lineno] = above + each.name
    return found


def name_of(frame: Any) -> str | None:  # noqa: ANN401 - a frame
    """The name by which its file has a function that something made, such as one around another."""
    for holder, above in holders(frame.f_globals):
        for name, value in list(holder.items()):
            function = getattr(value, "__func__", value)
            if getattr(function, "__code__", None) is frame.f_code and same_cells(function, frame):
                return str(above + name)
    return None


def holders(known: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """The names of a module, and those of its classes."""
    yield known, ""
    for name, value in list(known.items()):
        if type(value) is type and value.__module__ == known.get("__name__"):
            yield vars(value), name + "."


def same_cells(function: Any, frame: Any) -> bool:  # noqa: ANN401 - as above
    """Whether a function holds what a running one does."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())  # noqa: B905 - Python 3.8
    try:
        return all(frame.f_locals.get(name) is cell.cell_contents for name, cell in cells)
    except ValueError:  # nothing in it yet
        return False


def arguments(frame: Any) -> list[Any] | None:  # noqa: ANN401 - a frame
    """What a function was called with: by place, then by name; none where that cannot be told."""
    code, known = frame.f_code, frame.f_locals
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
