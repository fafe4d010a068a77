"""What can be counted in a file, by its language; of a file in none that we know, nothing."""

import re
from collections.abc import Collection

from agentforge.languages.grammars import measured as by_grammar
from agentforge.languages.grammars.mutants import mutants as mutants_by_grammar
from agentforge.languages.table import language_of
from agentforge.languages.values import ChangedCode, Mutant


def complexity(text: str, path: str) -> dict[str, int]:
    """How many ways lead through each function, by its dotted name."""
    language = language_of(path)
    if language is None:
        return {}
    found = language.measures.complexity(text)
    return by_grammar.complexity(text, path) if found is None else found


def counts_complexity(path: str) -> bool:
    """Whether `complexity` can say anything of a file like this."""
    language = language_of(path)
    if language is None:
        return False
    return language.measures.complexity("") is not None or by_grammar.can_read(path)


def statements(text: str, path: str) -> frozenset[int]:
    """The lines that can be executed."""
    language = language_of(path)
    found = language.measures.statements(text) if language else frozenset()
    return by_grammar.statements(text, path) if found is None else found


def same_code(before: str, after: str, path: str) -> bool:
    """Whether two texts of a file are one program up to comments, documentation and formatting."""
    language = language_of(path)
    if before == after or language is None:
        return before == after
    found = language.measures.same_code(before, after)
    return by_grammar.same_code(before, after, path) if found is None else found


def changed_code(before: str, after: str, path: str) -> ChangedCode | None:
    """What is new, different or gone in a file; None where that cannot be read."""
    language = language_of(path)
    found = language.measures.changed_code(before, after) if language else None
    return by_grammar.changed_code(before, after, path) if found is None and language else found


def mutants(text: str, path: str, lines: Collection[int], *, limit: int, seed: str) -> list[Mutant]:
    """Small wrong versions of a file, each wrong in one of `lines`; none of a language that is not ours."""
    language = language_of(path)
    found = language.measures.mutants(text, lines, limit=limit, seed=seed) if language else []
    return mutants_by_grammar(text, path, lines, limit=limit, seed=seed) if found is None else found


def emptied(
    text: str, path: str, functions: Collection[str], *, answer: bool, always: bool = False
) -> str | None:
    """A file whose functions of these names do nothing once it is loaded, or `always`, and give one answer to
    every question; None where that cannot be written.
    """
    if (language := language_of(path)) is None:
        return None
    found = language.measures.emptied(text, functions, answer=answer, always=always)
    return by_grammar.emptied(text, path, functions, answer=answer, always=always) if found is None else found


def other_numbers(text: str, path: str, functions: Collection[str], *, raising: bool) -> str | None:
    """A file whose functions of these names give back numbers that are a little other, or raise where they
    would give one; None where that cannot be written.
    """
    language = language_of(path)
    return language.measures.other_numbers(text, functions, raising=raising) if language else None


def leftover(path: str) -> re.Pattern[str] | None:
    """A line that only debugging needs, in a file of that name."""
    language = language_of(path)
    return language.measures.LEFTOVER if language else None
