"""The languages that there are, and which of them a repository or a file is written in."""

from collections.abc import Iterable, Mapping, Sequence

from agentforge.languages.compiled.languages import GO, JAVA, RUST
from agentforge.languages.documents.language import DOCUMENTS
from agentforge.languages.documents.outline import is_document
from agentforge.languages.generic.language import GENERIC
from agentforge.languages.node.language import NODE
from agentforge.languages.plain.answers import is_of_others
from agentforge.languages.port import Language
from agentforge.languages.python import check_reader as python_checks
from agentforge.languages.python.language import PYTHON
from agentforge.languages.readings import CheckReader

LANGUAGES: tuple[Language, ...] = (PYTHON, NODE, GO, RUST, JAVA, DOCUMENTS, GENERIC)
FOUND = tuple(language for language in LANGUAGES if not language.declared)
"""Those that a repository shows by its files."""
CHECK_READERS: Mapping[str, CheckReader] = {PYTHON.name: python_checks}
"""What checks ask of a language, by its name."""
DEFAULT = PYTHON
"""What a repository without code is taken for: a request may be for its first file."""
CACHES = frozenset({"node_modules"}).union(*(language.caches for language in LANGUAGES))
"""Directories that no reader wants to see: caches of tools, and packages of others."""
NO_CACHES = {name: value for language in LANGUAGES for name, value in language.no_caches.items()}
CODE = tuple(suffix for language in LANGUAGES for suffix in language.suffixes)
"""Suffixes of files with code that runs."""
_DECLARATIONS = tuple(ending for language in LANGUAGES for ending in language.declarations)
OTHER_CODE = GENERIC.suffixes
"""Suffixes of code whose tests only its project knows how to run."""
_NAMED = [language.name for language in FOUND if language.runs_code]
NAMES = " or ".join((", ".join(_NAMED[:-1]), _NAMED[-1]))


def languages_of(paths: Iterable[str], known: Sequence[Language] = FOUND) -> tuple[Language, ...]:
    """The languages that a repository has code of its own in, the one with the most files first. None: there
    is no language that tests can be run for.
    """
    counts = {language.name: 0 for language in known}
    for path in paths:
        for language in () if is_of_others(path) else known:
            counts[language.name] += path.endswith(language.suffixes)
    found = [language for language in known if counts[language.name]]
    return tuple(sorted(found, key=lambda language: -counts[language.name]))


def language_of(path: str) -> Language | None:
    """The language that a path belongs to; None if no language of ours has it."""
    return next((each for each in LANGUAGES if path.endswith((*each.suffixes, *each.declarations))), None)


def is_source(path: str) -> bool:
    """Whether a file is written in a language that we know."""
    return language_of(path) is not None


def is_read(path: str) -> bool:
    """Whether somebody's linter may have something to say of it: source, and documents."""
    return is_source(path) or is_document(path)


def is_code(path: str) -> bool:
    """Whether a file is source with code that runs."""
    return path.endswith(CODE) and not path.endswith(_DECLARATIONS)


def is_declaration(path: str) -> bool:
    """Whether a file only says what others define, as stubs do."""
    return path.endswith(_DECLARATIONS)


def is_other_code(path: str) -> bool:
    """Whether a file is code in a language that only its project knows."""
    language = language_of(path)
    return path.endswith(OTHER_CODE) and (language is None or language.declared)


def without_suffix(path: str) -> str:
    """A path without the suffix of its language."""
    return path.removesuffix(next((each for each in CODE if path.endswith(each)), ""))
