"""What can be counted in a file, by its language; of a file in none that we know, nothing."""

import re

from agentforge.languages.table import language_of


def complexity(text: str, path: str) -> dict[str, int]:
    """How many ways lead through each function, by its dotted name."""
    language = language_of(path)
    return language.measures.complexity(text) if language else {}


def statements(text: str, path: str) -> frozenset[int]:
    """The lines that can be executed."""
    language = language_of(path)
    return language.measures.statements(text) if language else frozenset()


def leftover(path: str) -> re.Pattern[str] | None:
    """A line that only debugging needs, in a file of that name."""
    language = language_of(path)
    return language.measures.LEFTOVER if language else None
