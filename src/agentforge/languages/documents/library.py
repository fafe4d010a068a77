"""The files that documents are held against: those of one tree, and nothing beyond it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MOST_BYTES = 32_000_000


class Shelf(Protocol):
    """Where files are found."""

    def data(self, path: str) -> bytes | None:
        """What a file holds; None if there is none."""

    def is_there(self, path: str) -> bool:
        """Whether this is a file or a folder."""

    def called(self, name: str) -> list[str]:
        """The paths of all files of this name."""


@dataclass(frozen=True, slots=True)
class TreeShelf:
    """A checkout. Links may lead anywhere; what they lead to counts only inside of it."""

    top: Path

    def data(self, path: str) -> bytes | None:
        """A file that is not too long to be a document."""
        place = self._inside(path)
        if place is None or not place.is_file() or place.stat().st_size > MOST_BYTES:
            return None
        return place.read_bytes()

    def is_there(self, path: str) -> bool:
        """Whether the tree has it."""
        place = self._inside(path)
        return place is not None and place.exists()

    def called(self, name: str) -> list[str]:
        """Wherever it lies, in order."""
        found = (path for path in self.top.rglob(name) if ".git" not in path.parts)
        inside = (path.relative_to(self.top).as_posix() for path in found)
        return sorted(path for path in inside if self._inside(path) is not None)

    def _inside(self, path: str) -> Path | None:
        try:
            place = (self.top / path).resolve()
        except (OSError, ValueError, RuntimeError):
            return None
        return place if place.is_relative_to(self.top.resolve()) else None


@dataclass(frozen=True, slots=True)
class ListedShelf:
    """Files that somebody lists with what they hold."""

    files: Mapping[str, bytes]

    def data(self, path: str) -> bytes | None:
        """What the list says."""
        return self.files.get(path)

    def is_there(self, path: str) -> bool:
        """Whether it is listed, or a folder of what is."""
        return path in self.files or any(each.startswith(f"{path.rstrip('/')}/") for each in self.files)

    def called(self, name: str) -> list[str]:
        """Those of the list."""
        return sorted(path for path in self.files if path.rpartition("/")[2] == name)


@dataclass(slots=True)
class Library:
    """A shelf, with what was taken from it."""

    shelf: Shelf
    opened: set[str] = field(default_factory=set)
    _texts: dict[str, str | None] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """A file as text; None if there is none."""
        self.opened.add(path)
        if path not in self._texts:
            data = self.shelf.data(path)
            self._texts[path] = None if data is None else data.decode("utf-8-sig", "replace")
        return self._texts[path]

    def data(self, path: str) -> bytes | None:
        """A file as it is."""
        self.opened.add(path)
        return self.shelf.data(path)
