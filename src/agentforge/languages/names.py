"""Names that others may use of a file, by its language; of a file in none that we know, none."""

from collections.abc import Mapping

from agentforge.languages.grammars import reader
from agentforge.languages.grammars.table import grammar_of
from agentforge.languages.table import LANGUAGES, language_of
from agentforge.languages.values import IMPORTED

__all__ = ["BUILTINS", "IMPORTED", "is_package", "module_of", "public_names", "references", "renamed"]


BUILTINS: frozenset[str] = frozenset().union(*(language.names.BUILTINS for language in LANGUAGES))
"""Names that a file has without anybody defining them."""


def references(text: str, path: str) -> list[tuple[str, int]]:
    """Every name that the code of a file uses, with its line; none where nothing can parse it."""
    language = language_of(path)
    if language is not None and (found := language.names.references(text)) is not None:
        return found
    grammar = grammar_of(path)
    return (reader.references(text, grammar) or []) if grammar else []


def public_names(text: str, path: str) -> Mapping[str, str]:
    """Every public name with how it is called; none where the file cannot be read."""
    language = language_of(path)
    return (language.names.public_names(text) or {}) if language else {}


def renamed(text: str, path: str, names: Mapping[str, str], modules: Mapping[str, str]) -> str:
    """The text with identifiers renamed; as it is, in a language that we do not know."""
    language = language_of(path)
    return language.names.renamed(text, names, modules) if language else text


def is_package(path: str) -> bool:
    """Whether a file speaks for the package that it is in."""
    language = language_of(path)
    return language is not None and language.imports.is_package(path)


def module_of(path: str) -> str:
    """The dotted name that a file is imported by; empty for one that cannot be imported."""
    language = language_of(path)
    return language.names.module_of(path) if language else ""
