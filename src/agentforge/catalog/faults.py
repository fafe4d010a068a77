"""Where a mistake in a project's file stands: a sentence about a file becomes one about its line and key.

What finds mistakes knows keys and names, not lines: it may look at a document that several files were merged
into.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from agentforge.core.errors import UsageError
from agentforge.system.yaml_places import Path, YamlPlace, places, spell

_KEYS = re.compile(r"`?(\+?[A-Za-z_$][\w$-]*(?:\.\+?[\w$-]+|\[\d+\])*)`?(?=[:\s])")
_LANE = re.compile(r"lane (\w+): ")
_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_WORD = re.compile(r"[\w.:/!*{}$-]*[\w}*]")


def placed(error: UsageError, files: Mapping[str, str]) -> UsageError:
    """The error with line and key, if it is about one of these files and says no line yet.

    `files` are texts by name: the one that was asked for first, then those it builds on.
    """
    source = next((name for name in files if error.sentence.startswith(f"{name}: ")), None)
    if source is None:
        return error
    problem = error.sentence.removeprefix(f"{source}: ")
    near = {source: files[source], **files}
    for name, text in near.items():
        if found := _exact(text, problem):
            return UsageError(f"{name}:{found.line}: {_with_key(found, problem)}", error.next_step)
    return UsageError(f"{source}:{_nearest(files[source], problem)}: {problem}", error.next_step)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The nearest known name, as the end of a sentence about an unknown one; empty where none is near."""
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _with_key(place: YamlPlace, problem: str) -> str:
    """The problem behind its key, which is named once and as the file spells it."""
    own = _KEYS.match(problem)
    if own and _keys(problem) == _plain(place.path):
        return problem
    merged_key = own and any(isinstance(part, int) for part in _keys(problem))
    return (
        f"{spell(place.path)}: {problem[own.end() :].removeprefix(': ') if own and merged_key else problem}"
    )


def _exact(text: str, problem: str) -> YamlPlace | None:
    """The key that a problem starts with; else what it names among the values, then among the keys."""
    known, wanted = list(places(text)), _keys(problem)
    if place := next((place for place in known if wanted and _plain(place.path) == wanted), None):
        return place
    if "is missing" in problem:  # what is named is not there
        return None
    if any(isinstance(part, int) for part in wanted):  # lists that were merged have other positions
        named = [place for place in known if _plain(place.path)[-1] == wanted[-1]]
        return max(named, key=lambda place: sum(part in wanted for part in place.path), default=None)
    words = set(_WORD.findall(problem.partition(";")[0]))  # what follows tells what would be right
    named = [place for place in known if place.text and place.text in words]
    named = named or [
        place for place in known if "_" in (key := str(_plain(place.path)[-1])) and key in words
    ]
    return max(named, key=lambda place: sum(part in words for part in place.path), default=None)


def _nearest(text: str, problem: str) -> int:
    """The line of the innermost mapping or list on the way to a key; the first line if there is none."""
    wanted, line = _keys(problem), 1
    longest = 0
    for place in places(text):
        if longest < len(place.path) <= len(wanted) and _plain(place.path) == wanted[: len(place.path)]:
            line, longest = place.line, len(place.path)
    return line


def _keys(problem: str) -> Path:
    if lane := _LANE.match(problem):
        return ("pipeline", "lanes", lane[1], "")
    found = _KEYS.match(problem)
    return tuple(_parts(found[1])) if found else ()


def _parts(keys: str) -> Iterator[str | int]:
    for name, position in _PART.findall(keys):
        yield int(position) if position else name.removeprefix("+")


def _plain(path: Path) -> Path:
    """As the merged document has it: `+key` is `key`."""
    return tuple(part.removeprefix("+") if isinstance(part, str) else part for part in path)
