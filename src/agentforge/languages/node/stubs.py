"""Bodies that only fail, for names that a new test file imports from modules which do not have them yet: its
tests then fail by an outcome, and not because their file cannot be loaded.

A module that is not there at all is not stood in for: whether it is one that the change promises, who judges
the error can say.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agentforge.languages.node.imports import resolved

_LOADS = re.compile(
    r"""^[ \t]*import\s+(?P<clause>[^'"`;()]+?)\s+from\s*['"](?P<module>\.{1,2}/[^'"\n]{1,200})['"]""",
    re.MULTILINE,
)
_LACKS = "does not provide an export named"
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_EXPORTS = re.compile(
    r"\bexport\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+([\w$]+)|\bexport\s*\{([^}]*)\}"
)
_TYPED = (".ts", ".mts", ".cts", ".tsx")


def stand_ins(tree: Path, test: str, error: str, made: Mapping[str, str]) -> dict[str, str]:
    """Files of a tree with stubs for what one of its test files lacks, as it says in the error, beside those
    that are `made` already; none where nothing of it can be stood in for.
    """
    place = tree / test
    if _LACKS not in error or not place.is_file() or not place.resolve().is_relative_to(tree):
        return {}
    found: dict[str, str] = {}
    for load in _LOADS.finditer(place.read_text(encoding="utf-8", errors="replace")):
        path = resolved(test, load["module"], lambda path: (tree / path).is_file())
        if path is None or not (tree / path).resolve().is_relative_to(tree):
            continue
        old = made.get(path) or found.get(path) or (tree / path).read_text(encoding="utf-8", errors="replace")
        if missing := [name for name in _imported(load["clause"]) if name not in _exported(old)]:
            found[path] = "\n".join([old, *(_stub(name, path) for name in missing), ""])
    return found


@contextmanager
def laid_texts(tree: Path, texts: Mapping[str, str]) -> Iterator[None]:
    """These texts in place of files of a tree for as long as it takes."""
    before = {path: (tree / path).read_bytes() for path in texts}
    try:
        for path, text in texts.items():
            (tree / path).write_text(text, encoding="utf-8")
        yield
    finally:
        for path, data in before.items():
            (tree / path).write_bytes(data)


def _imported(clause: str) -> list[str]:
    """The names that are taken from a module one by one."""
    braces = re.search(r"\{([^}]*)\}", clause)
    parts = [part.strip().removeprefix("type ") for part in braces[1].split(",")] if braces else []
    return [name for part in parts if _NAME.fullmatch(name := re.split(r"\s+as\s+", part)[0])]


def _exported(text: str) -> set[str]:
    found: set[str] = set()
    for name, several in _EXPORTS.findall(text):
        found |= {name} if name else {re.split(r"\s+as\s+", part.strip())[-1] for part in several.split(",")}
    return found


def _stub(name: str, path: str) -> str:
    given = "(...given: any[]): any" if path.endswith(_TYPED) else "(...given)"
    return f'export function {name}{given} {{ throw new Error("{name} is not there yet"); }}'
