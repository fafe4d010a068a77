"""Where things stand in a YAML file: the line of every key and entry, so that a mistake can name it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import yaml

Path: TypeAlias = tuple[str | int, ...]
"""Keys of mappings and positions in lists, from the root."""


class YamlPlace(NamedTuple):
    """Where one key of a mapping, or one entry of a list, is in its document."""

    path: Path
    line: int
    text: str
    """A scalar as it is written, without its quotes; empty for a list or a mapping."""


def places(text: str) -> Iterator[YamlPlace]:
    """Every place of a document in the order of the file. Only for text that `strict_yaml.load` has read."""
    path: list[str | int | None] = []  # None: a key comes next
    lines: list[int] = []
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.ScalarEvent() if path and path[-1] is None:
                path[-1], lines[-1] = str(event.value), line
            case yaml.ScalarEvent():
                if path:
                    yield _place(path, lines, line, str(event.value))
                _advance(path)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if path:
                    yield _place(path, lines, line, "")
                path.append(None if isinstance(event, yaml.MappingStartEvent) else 0)
                lines.append(line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                path.pop()
                lines.pop()
                _advance(path)
            case _:
                pass


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of one key or entry; None if the document has no such thing."""
    wanted = tuple(path)
    return next((place.line for place in places(text) if place.path == wanted), None)


def spell(path: Sequence[str | int]) -> str:
    """A path as people write it, such as `a.b[0].c`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _place(path: list[str | int | None], lines: list[int], line: int, text: str) -> YamlPlace:
    """A key's place is its own line; an entry of a list stands where its value starts."""
    return YamlPlace(
        tuple(part for part in path if part is not None),
        lines[-1] if isinstance(path[-1], str) else line,
        text,
    )


def _advance(path: list[str | int | None]) -> None:
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
