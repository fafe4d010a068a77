"""Which files of a Python project are about tests, and what makes one weaker: `Tests` for Python."""

import re
from collections.abc import Callable, Sequence

from agentforge.languages.described import read_ini, read_toml, table, words
from agentforge.languages.python.doubts import code_doubts, test_doubts
from agentforge.languages.python.examples import examples_of
from agentforge.languages.python.imports import module_name
from agentforge.languages.python.layout import test_globs
from agentforge.languages.python.left_out import without_tests
from agentforge.languages.python.liveness import liveness
from agentforge.languages.python.made_to_fail import made_to_fail
from agentforge.languages.python.meddling import replaced_names
from agentforge.languages.python.shadows import shadows
from agentforge.languages.python.testguard import asserts, source_of_test, test_ids_in_source, weakened
from agentforge.languages.values import Sections

__all__ = [
    "CALLABLE",
    "FIXTURES",
    "HELD_OUT",
    "MISCALLED",
    "RUNNER",
    "SECTIONS",
    "SETTINGS",
    "asserts",
    "code_doubts",
    "examples_of",
    "inputs",
    "is_run",
    "is_test_name",
    "liveness",
    "made_to_fail",
    "missing_import",
    "replaced_names",
    "shadows",
    "source_of_test",
    "test_doubts",
    "test_globs",
    "test_ids_in_source",
    "weakened",
    "without_tests",
]

RUNNER = "pytest"
FIXTURES = frozenset({"conftest.py"})
MISCALLED = words("AttributeError ImportError ModuleNotFoundError NameError TypeError UnboundLocalError")
CALLABLE = True
HELD_OUT = "test_held_out_by_agentforge.py"
SETTINGS = FIXTURES | words(
    "pytest.ini .pytest.ini pytest.toml .pytest.toml sitecustomize.py usercustomize.py"
)


def is_test_name(name: str) -> bool:
    """Whether a file of that name is there for tests."""
    return name.startswith(("test_", "conftest")) or name.endswith("_test.py")


def inputs(text: str) -> tuple[str, ...]:  # noqa: ARG001 - the port
    """Not read: what tests open lies among them."""
    return ()


def is_run(path: str) -> bool:
    """Whether the runner looks for tests in a file of the tests, by its name."""
    return path.rpartition("/")[2].startswith("test") and "conftest" not in path


def missing_import(error: str, promised: Sequence[str]) -> str | None:
    """The import error, if it names something of the promised files; else None."""
    modules = [module_name(path) for path in promised if path.endswith(".py")]
    for pattern in (
        r"ModuleNotFoundError: No module named '([\w.]+)'",
        r"ImportError: cannot import name '\w+' from '([\w.]+)'",
    ):
        if (found := re.search(pattern, error)) is not None:
            wanted = found.group(1)
            if any(
                name == wanted or name.endswith(f".{wanted}") or name.startswith(f"{wanted}.")
                for name in modules
            ):
                return found.group(0)
    return None


def _of_toml(text: str) -> object:
    data = read_toml(text)
    return "unreadable" if data is None else table(data, "tool").get("pytest")


def _of_ini(section: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        parser = read_ini(text)
        if parser is None:
            return "unreadable"
        return dict(parser[section]) if parser.has_section(section) else None

    return read


SECTIONS: Sections = {
    "pyproject.toml": _of_toml,
    "tox.ini": _of_ini("pytest"),
    "setup.cfg": _of_ini("tool:pytest"),
}
"""Where pytest's settings may stand beside others, and how to take them out."""
