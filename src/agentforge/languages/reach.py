"""What a change to given files can reach: what they define, what they import, who imports them, which tests
run them. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.languages.imports import ImportGraph, loads_with, outside_imports
from agentforge.languages.symbols import outline
from agentforge.languages.table import is_code

_NAMES_SHOWN = 12
_FILES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class FileReach:
    """A file of the project, with what it imports and what imports it."""

    path: str
    symbols: tuple[str, ...]
    """Its top definitions, `kind name`, in order, the private ones last."""
    imports: tuple[str, ...]
    """Files of the project that it imports."""
    outside: tuple[str, ...]
    """Top names of what it imports from elsewhere, the standard library left out."""
    importers: tuple[str, ...]
    """Files that import it directly, tests left out."""
    tests: tuple[str, ...]
    """Test files that import it, directly or through others."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The files asked for, each with what it reaches."""

    files: tuple[FileReach, ...]

    @property
    def tests(self) -> tuple[str, ...]:
        """Every test file that one of the files reaches."""
        return tuple(sorted({test for file in self.files for test in file.tests}))

    @property
    def importers(self) -> tuple[str, ...]:
        """Every other file that imports one of the files directly."""
        asked = {file.path for file in self.files}
        return tuple(sorted({path for file in self.files for path in file.importers} - asked))


def change_facts(
    graph: ImportGraph, texts: Mapping[str, str], paths: Sequence[str], tests: Iterable[str]
) -> Reach:
    """The facts of each path. `texts` is the tree's code by path; `tests` are its test files."""
    test_files = frozenset(tests)
    own = tuple(texts)
    forward = imported_by(graph)
    return Reach(
        tuple(
            _facts(path, graph, forward, texts.get(path, ""), own, test_files)
            for path in dict.fromkeys(paths)
        )
    )


def imported_by(graph: ImportGraph) -> dict[str, frozenset[str]]:
    """The graph the other way round: file to the files that it imports."""
    turned: dict[str, set[str]] = {}
    for target, importers in graph.importers.items():
        for importer in importers:
            turned.setdefault(importer, set()).add(target)
    return {path: frozenset(found) for path, found in turned.items()}


def _facts(
    path: str,
    graph: ImportGraph,
    forward: Mapping[str, frozenset[str]],
    text: str,
    own: Sequence[str],
    tests: frozenset[str],
) -> FileReach:
    symbols = sorted(
        (each for each in outline(text, path) if "." not in each.name),
        key=lambda each: each.name.startswith("_"),
    )
    importers = graph.importers.get(path, frozenset())
    return FileReach(
        path=path,
        symbols=tuple(dict.fromkeys(f"{each.kind} {each.name}" for each in symbols)),
        imports=tuple(sorted(each for each in forward.get(path, frozenset()) if not loads_with(each, path))),
        outside=outside_imports(text, path, own),
        importers=tuple(
            sorted(each for each in importers if each not in tests and not loads_with(path, each))
        ),
        tests=graph.reaches(tests, [path]),
    )


def render(reach: Reach, limit: int, *, names: bool = True) -> str:
    """Lines for a reader, at most `limit` characters in all; files that do not fit are counted. Without
    `names` for one who is shown elsewhere what they define.
    """
    lines: list[str] = []
    room = limit
    for at, file in enumerate(reach.files):
        block = "\n".join(_lines(file, names=names))
        note = f"and {len(reach.files) - at} more files"
        is_last = at + 1 == len(reach.files)
        if len(block) + 1 + (0 if is_last else len(note) + 1) > room:
            return "\n".join([*lines, note])[: max(limit, 0)]
        lines.append(block)
        room -= len(block) + 1
    return "\n".join(lines)


def _lines(file: FileReach, *, names: bool) -> Iterator[str]:
    yield f"{file.path}: {_listed(file.symbols, _NAMES_SHOWN) or 'defines nothing'}" if names else file.path
    for label, files in (
        ("imports", (*file.imports, *file.outside)),
        ("imported by", file.importers),
        ("tests that reach it", file.tests),
    ):
        if files:
            yield f"  {label}: {_listed(files, _FILES_SHOWN)}"
    if not file.tests and is_code(file.path):
        yield "  tests that reach it: none"


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
