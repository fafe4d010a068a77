"""Lists of what is built, as far as they say how tests are run: what the base says of its tests stays.

A list may grow: a new test has to be named in one. So the list of the base cannot simply be put back, as a
file of tests is; it is compared statement by statement. Which tests are listed may change; what decides how
they end is a setting.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from agentforge.catalog.policies import read_policy
from agentforge.languages.described import words

BUILD_FILES = words("Makefile GNUmakefile CMakeLists.txt meson.build configure configure.ac Makefile.am")
"""Files that list what is built and run: a test that one of them names stands elsewhere."""
_COMMENT = re.compile(r"#[^\n]*")
_RULE = re.compile(
    r"^(?P<name>[\w./%$(){} -]*\b(?:check|tests?|run)\b[^:=\n]*):(?!=)[^\n]*(?:\n\t[^\n]*)*", re.MULTILINE
)
_FIRST_VARIABLE = re.compile(r"(?m)^\t[@+-]*\$[({](\w+)[)}]")
_NO_ASSERTIONS = re.compile(r"(?mi)^.*NDEBUG\b.*$")
_DECIDES = re.compile(
    r"\bset_(?:tests_properties|property)\s*\([^)]*\b(?:WILL_FAIL|DISABLED|\w*REGULAR_EXPRESSION|SKIP_\w+)\b[^)]*\)"
    r"|\bset\s*\([^)]*(?:EMULATOR|LAUNCHER)[^)]*\)",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"(?<=\()\s+|\s+(?=[()])")
_NOTHING = frozenset({"NAME", "TEST", "COMMAND", "PROPERTIES", "PROPERTY"})


def is_list(path: str) -> bool:
    """Whether a file lists what is built."""
    return path.rpartition("/")[2] in BUILD_FILES


def lost_statements(before: str, after: str, path: str) -> list[str]:
    """Which statements about tests a list had and has no more, a sentence for each; the first word is where
    it stood, and the test that it is about as far as that can be told.
    """
    left = Counter(_statements(before, path))
    left.subtract(_statements(after, path))
    return [
        f"{path}::{_about(said)} is run otherwise: `{said[:100]}` is in {path} no more; put it back and add "
        "a statement beside it for a new test"
        for said in +left
    ]


def _statements(text: str, path: str) -> Iterator[str]:
    pattern = _pattern(path.rpartition("/")[2])
    if pattern is not None:
        found = (each[0] for each in pattern.finditer(_COMMENT.sub("", text)))
        yield from (" ".join(_BLANKS.sub("", said).split()) for said in found)


def _about(said: str) -> str:
    """The first word that names something."""
    inside = re.findall(r"[\w.$\{\}-]+", said.partition("(")[2])
    return next((word for word in inside if word not in _NOTHING), "")


@lru_cache(maxsize=8)
def _pattern(name: str) -> re.Pattern[str] | None:
    row = next((row for row in read_policy("runners")["listed"] if name in row["of"]), None)
    if row is None:
        return None
    beginning, end = "|".join(map(re.escape, row["words"])), re.escape(row["ended_by"])
    return re.compile(rf"(?<![\w.])(?:{beginning})\s*\([^{end}]*{end}", re.IGNORECASE)


def settings_of_makefile(text: str) -> object:
    """The rules that run tests, what their commands begin with, and what turns assertions off."""
    rules = [found[0] for found in _RULE.finditer(text)]
    begin = sorted({name for rule in rules for name in _FIRST_VARIABLE.findall(rule)})
    set_to = [re.findall(rf"(?m)^\s*{name}\s*[:?+!]*=.*$", text) for name in begin]
    return [*rules, *set_to, *_NO_ASSERTIONS.findall(text)]


def settings_of_list(text: str) -> object:
    """What says in CMake and Meson that a test must fail, is run by something else, or asserts nothing."""
    text = _COMMENT.sub("", text)
    return [*_DECIDES.findall(text), *_NO_ASSERTIONS.findall(text)]
