"""Tests by the language of their file: which files are tests, which tests one has, what made one weaker."""

from collections.abc import Collection, Sequence

from agentforge.languages.table import LANGUAGES, language_of
from agentforge.languages.values import Liveness

TEST_FOLDERS = frozenset({"test", "tests"})


def looks_like_test(path: str) -> bool:
    """By its name or folder. Only the weight of a finding hangs on it, never a permission."""
    *folders, name = path.split("/")
    return any(language.tests.is_test_name(name) for language in LANGUAGES) or bool(
        TEST_FOLDERS & set(folders)
    )


def shares_fixtures(path: str) -> bool:
    """Whether a file is one that the tests around it share, and no test itself."""
    return any(path.rpartition("/")[2] in language.tests.FIXTURES for language in LANGUAGES)


def is_run(path: str) -> bool:
    """Whether its runner looks for tests in a file of the tests, by its name."""
    language = language_of(path)
    return language is not None and language.tests.is_run(path)


def test_ids(text: str, path: str) -> list[str]:
    """The ids of the tests of a file, read without running it; without parameters."""
    language = language_of(path)
    return language.tests.test_ids_in_source(text, path) if language else []


test_ids.__test__ = False  # type: ignore[attr-defined]  # a test runner would take the function for a test


def source_of_test(text: str, identity: str) -> str | None:
    """A test of a file as normalised text; None where the file does not define it."""
    language = language_of(identity.partition("::")[0])
    return language.tests.source_of_test(text, identity) if language else None


def asserts(text: str, identity: str) -> bool:
    """Whether a test of a file has an assertion of its own that can fail."""
    language = language_of(identity.partition("::")[0])
    return language is not None and language.tests.asserts(text, identity)


def liveness(text: str, identity: str) -> Liveness:
    """Whether a test of a file can fail; of a language that is not ours, nothing is said."""
    language = language_of(identity.partition("::")[0])
    return language.tests.liveness(text, identity) if language else Liveness()


def made_to_fail(text: str, path: str, ids: Collection[str]) -> tuple[str, frozenset[str]]:
    """A file in which these tests fail wherever they would have ended well, and which of them it defines."""
    language = language_of(path)
    return language.tests.made_to_fail(text, ids) if language else (text, frozenset())


def without_tests(text: str, path: str, ids: Collection[str]) -> str:
    """A file without these tests, and without what it needs for them alone."""
    language = language_of(path)
    return language.tests.without_tests(text, ids) if language else text


def test_doubts(text: str, identity: str) -> list[str]:
    """What makes a reader look twice at a test of a file."""
    language = language_of(identity.partition("::")[0])
    return language.tests.test_doubts(text, identity) if language else []


test_doubts.__test__ = False  # type: ignore[attr-defined]  # as above


def code_doubts(text: str, path: str, lines: Collection[int], tests: Sequence[str]) -> list[str]:
    """What makes a reader look twice at these lines of a file, beside the texts of its tests."""
    language = language_of(path)
    return language.tests.code_doubts(text, lines, tests) if language else []


def replaced_names(text: str, path: str) -> list[str]:
    """The names in whose place a file of tests puts something else for a while."""
    language = language_of(path)
    return language.tests.replaced_names(text) if language else []


def weakened(before: str, after: str, path: str) -> list[str]:
    """How an edit weakened old tests, one sentence each; empty when it did not."""
    language = language_of(path)
    return language.tests.weakened(before, after, path) if language else []


def inputs(text: str, path: str) -> tuple[str, ...]:
    """The files that the tests of a file compare with, and that stay as they are with them."""
    language = language_of(path)
    return language.tests.inputs(text) if language else ()


def missing_import(error: str, path: str, promised: Sequence[str]) -> str | None:
    """Why a test file could not be loaded, if what it lacks is one of the promised files; else None."""
    language = language_of(path)
    return language.tests.missing_import(error, promised) if language else None
