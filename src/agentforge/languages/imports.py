"""Which files import which, whatever they are written in, and which tests a change can reach."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentforge.languages.table import LANGUAGES, is_code, language_of


@dataclass(frozen=True, slots=True)
class ImportGraph:
    """Importer edges between the files of one tree."""

    importers: Mapping[str, frozenset[str]]
    """File to the files that import it directly."""

    @classmethod
    def build(cls, files: Mapping[str, str], roots: Sequence[str] = ("",)) -> "ImportGraph":
        """Read the imports of `files` (path to text), each language its own. `roots` are the folders on the
        import path, such as `src`.
        """
        found: dict[str, frozenset[str]] = {}
        for language in LANGUAGES:
            own = {path: text for path, text in files.items() if path.endswith(language.suffixes)}
            found |= language.imports.importers(own, roots)
        return cls(found)

    def reaches(self, test_paths: Iterable[str], changed_paths: Iterable[str]) -> tuple[str, ...]:
        """The test files that import a changed file, directly or through others, or are changed
        themselves.
        """
        seen = set(changed_paths)
        queue = deque(seen)
        while queue:
            for importer in self.importers.get(queue.popleft(), ()):
                if importer not in seen:
                    seen.add(importer)
                    queue.append(importer)
        return tuple(sorted(path for path in set(test_paths) if path in seen))


def outside_imports(text: str, path: str, own: Sequence[str]) -> tuple[str, ...]:
    """Top names that a file imports and that are neither its language's own nor the project's. `own` are the
    project's paths.
    """
    language = language_of(path) if is_code(path) else None
    return language.imports.outside_imports(text, own) if language else ()


def imported_names(text: str, path: str) -> frozenset[str]:
    """The top names of everything that a file imports."""
    language = language_of(path)
    return language.imports.imported_names(text) if language else frozenset()


def loads_with(package: str, path: str) -> bool:
    """Whether the first is loaded with every file like the second: its author did not choose it."""
    language = language_of(package)
    return language is not None and language.imports.loads_with(package, path)


def is_package(path: str) -> bool:
    """Whether a file speaks for the package that it is in."""
    language = language_of(path)
    return language is not None and language.imports.is_package(path)
