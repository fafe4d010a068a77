"""What a file says, where nothing but its grammar or its lines can be asked: the parts of the port that read.

Most answers are None, which sends the question on to the grammar of the file and then to its lines
(`languages/symbols.py`, `measures.py`, `names.py`).
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from agentforge.languages.values import ChangedCode, Docstring, Mutant, Risk, Symbol, Words

NEVER = re.compile(r"(?!)")
_DEFINES = r"(?:class|const|def|enum|fn|func|function\*?|interface|let|mod|struct|trait|type|var)"


class PlainSource:
    """`SourceReader` of any text."""

    def symbols(self, text: str, /, *, nested: bool = False) -> list[Symbol] | None:
        """Not known here."""
        return None

    def syntax_error(self, text: str, path: str, /) -> tuple[int, str] | None:
        """Not known here: a grammar may be older than the language."""
        return None

    def docstrings(self, text: str, /) -> tuple[Docstring, ...]:
        """Not read."""
        return ()

    def decode(self, data: bytes, /) -> str:
        """As UTF-8, which most languages demand."""
        return data.decode("utf-8", "replace")

    def reads_otherwise(self, data: bytes, /) -> str:
        """No file declares an encoding."""
        return ""

    def definitions(self, names: Sequence[str], /) -> re.Pattern[str]:
        """After a word that begins a definition."""
        return re.compile(rf"\b{_DEFINES}\s+(?:\([^()\n]*\)\s*)?({'|'.join(names)})\b") if names else NEVER


class PlainImports:
    """`Imports` of a language whose imports nobody follows."""

    def importers(self, files: Mapping[str, str], roots: Sequence[str], /) -> Mapping[str, frozenset[str]]:
        """Not known here."""
        return {}

    def outside_imports(self, text: str, own: Sequence[str], /) -> tuple[str, ...]:
        """Not known here."""
        return ()

    def imported_names(self, text: str, /) -> frozenset[str]:
        """Not known here."""
        return frozenset()

    def loads_with(self, package: str, path: str, /) -> bool:
        """Never, as far as is known: a file is loaded by whoever imports it."""
        return False

    def is_package(self, path: str, /) -> bool:
        """Never, as far as is known: no file stands for its package."""
        return False


class PlainNames:
    """`Names` of a language that is read by its grammar."""

    BUILTINS: frozenset[str] = frozenset()

    def public_names(self, text: str, /) -> Mapping[str, str] | None:
        """Not known here."""
        return None

    def renamed(self, text: str, names: Mapping[str, str], modules: Mapping[str, str], /) -> str:
        """Word for word."""
        pairs = {**names, **modules}
        if not pairs:
            return text
        wanted = "|".join(map(re.escape, pairs))
        return re.sub(rf"(?<![\w$])(?:{wanted})(?![\w$])", lambda found: pairs[found[0]], text)

    def module_of(self, path: str, /) -> str:
        """By its path."""
        return path

    def references(self, text: str, /) -> list[tuple[str, int]] | None:
        """Not known here."""
        return None


class PlainMeasures:
    """`Measures` of a language that is read by its grammar."""

    LEFTOVER: re.Pattern[str] = NEVER
    RULES: Mapping[str, tuple[str, str]] = {}
    SILENCERS: re.Pattern[str] = NEVER
    CHECKERS: Mapping[str, Callable[[str], Mapping[str, object]]] = {}

    def complexity(self, text: str, /) -> dict[str, int] | None:
        """Not known here."""
        return None

    def code_lines(self, text: str, /) -> list[tuple[int, Words]] | None:
        """Not known here."""
        return None

    def statements(self, text: str, /) -> frozenset[int] | None:
        """By the grammar of the file."""
        return None

    def same_code(self, before: str, after: str, /) -> bool | None:
        """Not known here."""
        return None

    def changed_code(self, before: str, after: str, /) -> ChangedCode | None:
        """Not known here."""
        return None

    def mutants(self, text: str, lines: Collection[int], /, *, limit: int, seed: str) -> list[Mutant] | None:
        """By the grammar of the file."""
        return None

    def emptied(
        self, text: str, functions: Collection[str], /, *, answer: bool, always: bool = False
    ) -> str | None:
        """Not known here."""
        return None

    def other_numbers(self, text: str, functions: Collection[str], /, *, raising: bool) -> str | None:
        """Not known here."""
        return None

    def public_names(self, text: str, /) -> Mapping[str, str]:
        """Not known here."""
        return {}

    def risks(self, text: str, /, *, is_test: bool) -> Iterator[Risk]:
        """Not looked for."""
        return iter(())
