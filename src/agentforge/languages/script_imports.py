"""What a file of JavaScript or TypeScript says that rules are about, read by its lines: imports, and what it
prints.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping

from agentforge.languages.readings import CheckedPlace, FileReading, ImportedName, long_lines, mark_of

SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_FROM = re.compile(
    r"""^[ \t]*(?:import|export)\b(?P<types>[ \t]+type\b)?[^'"`;()]*?"""
    r"""(?:\bfrom[ \t\n]*)?['"](?P<from>[^'"\n]+)['"]"""
    r"""|\b(?P<call>require|import)[ \t]*\([ \t]*['"](?P<called>[^'"\n]+)['"]""",
    re.MULTILINE,
)
_PRINTS = re.compile(r"^[ \t]*console\.(?:log|debug)[ \t]*\(", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|^[ \t]*//[^\n]*", re.DOTALL | re.MULTILINE)


def read_script(text: str) -> FileReading:
    """All that is known of one content."""
    lines = text.splitlines()
    # Comments become blanks of the same shape, so that lines keep their numbers.
    code = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    imports, places = [], []
    for found in _FROM.finditer(code):
        name = found["from"] or found["called"]
        start = found.start("from") if found["from"] else found.start("called")
        line = code.count("\n", 0, start) + 1
        when = "types" if found["types"] else "later" if found["call"] == "import" else "load"
        imports.append(ImportedName(line, 0, name, "", when, 0, mark_of(lines[line - 1])))  # type: ignore[arg-type]  # one of `When`
    for found in _PRINTS.finditer(code):
        line = code.count("\n", 0, found.end()) + 1
        mark = mark_of(lines[line - 1])
        places.append(CheckedPlace("no-print-statements", line, "", "`console.log` in a library", mark))
    return FileReading(len(lines), tuple(places), long_lines(lines), tuple(imports))


def resolve_script(path: str, name: str, files: Mapping[str, object]) -> Iterator[str]:
    """The file that a relative import of a file means, if it is there."""
    if not name.startswith("."):
        return
    stem = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    bare = re.sub(r"\.[cm]?jsx?$", "", stem)  # TypeScript imports `./x.js` and means `./x.ts`
    tries = [stem, *(f"{base}{suffix}" for base in (stem, bare, f"{stem}/index") for suffix in SCRIPTS)]
    yield from (each for each in tries[: 1 + 3 * len(SCRIPTS)] if each in files)
