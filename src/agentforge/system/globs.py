"""Patterns of paths: `**` stands for any number of directories, `*` stays within one name. Pure."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glob:
    """One pattern, ready to match. A part is a compiled name, or None for `**`."""

    pattern: str
    parts: tuple[re.Pattern[str] | None, ...]

    def matches(self, path: str) -> bool:
        """True if the whole path is what the pattern describes. At most pattern times path steps: no
        backtracking.
        """
        names = path.split("/")
        reached = {0}
        for part in self.parts:
            if not reached:
                return False
            if part is None:
                reached = set(range(min(reached), len(names) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(names) and part.match(names[at])}
        return len(names) in reached


def glob(pattern: str) -> Glob:
    """Compile one pattern. A directory (`docs/`) means all below it."""
    text = pattern.removeprefix("./").strip("/")
    parts: list[re.Pattern[str] | None] = []
    for name in text.split("/"):
        if name != "**":
            parts.append(re.compile(fnmatch.translate(name)))
        elif not parts or parts[-1] is not None:
            parts.append(None)
    if pattern.endswith("/") or (parts and parts[-1] is None):
        # `docs/**` is what lies below `docs`, not `docs` itself.
        parts = [*(parts if parts[-1] is None else [*parts, None]), re.compile(fnmatch.translate("*"))]
    return Glob(pattern, tuple(parts))


def matches_any(globs: Sequence[Glob], path: str) -> Glob | None:
    """The first pattern that matches, if any."""
    return next((each for each in globs if each.matches(path)), None)
