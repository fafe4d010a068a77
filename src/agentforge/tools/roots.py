"""Where a path that a role names lies: in the task's tree, or in a directory beside it that the user opened.
Every tool asks here.

A path of the tree is relative; one of an opened directory is absolute. Both are made real in the same way, so
that nothing leads out of its root. Directories are opened in the user's own configuration only, and a call
that touches one leaves the task's tree: it is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.core.errors import ModelMistake, UsageError
from agentforge.sandbox.base import SHARED_MEMORY
from agentforge.system.files import relative_to, resolve_inside

_NEVER = ("/dev", "/etc", "/proc", "/sys")
"""What a machine runs on: no configuration opens it to a role."""


@dataclass(frozen=True, slots=True)
class Root:
    """A directory outside of the tree that the user lets tools see."""

    path: Path
    """Its real place."""
    write: bool = False
    name: str = ""
    """As the user wrote it, where a link makes that another path."""

    def rest_of(self, given: str) -> str | None:
        """What of an absolute path is below this directory, as given; None if it is not in it."""
        for top in dict.fromkeys((str(self.path), self.name)):
            if top and (given == top or given.startswith(f"{top.rstrip('/')}/")):
                return given[len(top) :].lstrip("/") or "."
        return None


@dataclass(frozen=True, slots=True)
class Spot:
    """A real path, as seen from the root that holds it."""

    root: Path
    path: str
    outer: Root | None = None
    """The opened directory; None for the tree."""

    @property
    def shown(self) -> str:
        """The path as rules and people read it: relative in the tree, absolute elsewhere."""
        return self.path if self.outer is None else str(self.real)

    @property
    def real(self) -> Path:
        """The absolute path on this machine."""
        return self.root if self.path == "." else self.root / self.path


def read_roots(entries: Iterable[Mapping[str, Any]], source: str) -> tuple[Root, ...]:
    """The `roots` of the user's configuration, valid under its contract: each an existing directory, or one
    sentence that says what is wrong.
    """
    return tuple(_root(entry, f"{source}: roots[{number}]") for number, entry in enumerate(entries))


def spot_of(top: Path, roots: Sequence[Root], given: str) -> Spot:
    """Where a path leads, links followed. What leaves its root is a mistake of the model."""
    outer, rest = _holder(roots, given)
    root = top if outer is None else outer.path
    return Spot(root, relative_to(root, resolve_inside(root, rest)), outer)


def name_spot(top: Path, roots: Sequence[Root], given: str) -> Spot:
    """Where the name itself lies: its directory made real, its last part as given. Differs from `spot_of` for
    a link.
    """
    outer, rest = _holder(roots, given)
    root = top if outer is None else outer.path
    return Spot(root, relative_to(root, link_place(root, rest)), outer)


def link_place(root: Path, relative: str) -> Path:
    """The place of a link itself, under one root."""
    parts = [part for part in relative.split("/") if part not in {"", "."}]
    if not parts or parts[-1] == "..":
        return resolve_inside(root, relative)
    return (resolve_inside(root, "/".join(parts[:-1])) if parts[:-1] else root.resolve()) / parts[-1]


def named_in(roots: Sequence[Root], words: Iterable[str]) -> tuple[Root, ...]:
    """The opened directories that the words of a command speak of. A command is given these, and no
    others.
    """
    text = "\n".join(words)
    return tuple(
        root for root in roots if any(_speaks_of(text, top) for top in {str(root.path), root.name} if top)
    )


def _speaks_of(text: str, top: str) -> bool:
    at = text.find(top)
    while at >= 0:
        after = text[at + len(top) : at + len(top) + 1]
        if not (after.isalnum() or after in {"-", "_", "."}):
            return True
        at = text.find(top, at + 1)
    return False


def _holder(roots: Sequence[Root], given: str) -> tuple[Root | None, str]:
    if not given.startswith("/"):
        return None, given
    found = [(root, rest) for root in roots if (rest := root.rest_of(given)) is not None]
    if not found:
        return None, given  # refused with every other absolute path
    return min(found, key=lambda each: len(each[1]))


def _root(entry: Mapping[str, Any], where: str) -> Root:
    given = entry["path"]
    if not given.startswith("/") or "\0" in given or ".." in PurePosixPath(given).parts:
        raise UsageError(f"{where}.path: {given!r} is not an absolute path.")
    real = Path(given).resolve()
    of_the_machine = any(real.is_relative_to(place) for place in _NEVER) and SHARED_MEMORY not in real.parents
    if real == Path("/") or of_the_machine:
        raise UsageError(f"{where}.path: {given!r} is what the machine runs on; no role is let in there.")
    if not real.is_dir():
        raise UsageError(
            f"{where}.path: there is no directory {given!r}.", "Make it, or take the entry away."
        )
    return Root(real, entry.get("write", False), "" if str(real) == given.rstrip("/") else given.rstrip("/"))


def refuse_read_only(spot: Spot) -> None:
    """A mistake of the model, if the user opened this directory for reading only."""
    if spot.outer is not None and not spot.outer.write:
        raise ModelMistake("path", f"`{spot.shown}` is in a read-only directory")
