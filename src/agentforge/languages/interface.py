"""What others see of a file, and who checks it: public names, settings of checkers, comments that silence
them; by the language of the file.
"""

from collections import Counter
from collections.abc import Mapping

from agentforge.languages.table import LANGUAGES, language_of


def public_names(text: str, path: str) -> Mapping[str, str]:
    """The public definitions of a file, each with how it is called."""
    language = language_of(path)
    return language.measures.public_names(text) if language else {}


def silencers(text: str, path: str) -> Counter[str]:
    """How often a file silences a checker, by the word it uses."""
    language = language_of(path)
    if language is None:
        return Counter()
    return Counter(" ".join(found[0].split()) for found in language.measures.SILENCERS.finditer(text))


def checker_settings(text: str, path: str) -> Mapping[str, object]:
    """The settings of linters and type checkers that a file holds, by tool."""
    name = path.rpartition("/")[2]
    found: dict[str, object] = {}
    for language in LANGUAGES:
        if text and (read := language.measures.CHECKERS.get(name)) is not None:
            found |= read(text)
    return found
