"""What a Python project is, and its environment: `Projects` for Python."""

from collections.abc import Sequence

from agentforge.languages.described import Read, words
from agentforge.languages.plain.answers import outermost
from agentforge.languages.python.detect import detect, lock_hash
from agentforge.languages.python.environment import build, run_env
from agentforge.languages.python.layout import TEST_FILE
from agentforge.languages.python.packaging import describe
from agentforge.languages.python.strangers import strangers
from agentforge.languages.values import Plan

__all__ = [
    "BUILD_FILES",
    "LOCKS",
    "build",
    "describe",
    "detect",
    "lock_hash",
    "missing",
    "roots",
    "run_env",
    "strangers",
]

BUILD_FILES = words(
    "pyproject.toml setup.py setup.cfg MANIFEST.in tox.ini noxfile.py hatch.toml meson.build "
    "uv.toml pip.conf pip.ini poetry.toml pdm.toml Pipfile environment.yml .python-version"
)
LOCKS = words("uv.lock poetry.lock pdm.lock Pipfile.lock pylock.toml")
_AT_THE_TOP = words("pyproject.toml setup.py setup.cfg requirements.txt tox.ini noxfile.py Pipfile")
_OF_TESTED_CODE = words(
    "requirements.txt requirements-dev.txt dev-requirements.txt requirements-test.txt test-requirements.txt "
    "pytest.ini tox.ini setup.cfg Pipfile manage.py"
)
"""Beside the two that describe a package, these make a folder a project where it holds code and its tests."""


_NO_CODE = words("__init__.py conftest.py")


def roots(read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    """The top, where it is described or tests lie outside of every folder that is; else these folders."""
    del read
    code = [path for path in paths if path.endswith(".py")]
    nested = [
        root
        for root in outermost(paths, words("pyproject.toml setup.py"))
        if root and any(path.startswith(f"{root}/") for path in code)
    ]
    nested += [
        root
        for root in outermost(paths, _OF_TESTED_CODE)
        if root
        and not any(_is_in(root, other) or _is_in(other, root) for other in nested)
        and _is_tested(root, code)
    ]
    outside = [path for path in code if not path.startswith(tuple(f"{root}/" for root in nested))]
    described = bool(code) and not _AT_THE_TOP.isdisjoint(paths)
    if described or any(path.rpartition("/")[2].startswith(("test_", "conftest.py")) for path in outside):
        return ("",)
    return tuple(nested)


def _is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it."""
    return path == folder or path.startswith(f"{folder}/")


def _is_tested(root: str, code: Sequence[str]) -> bool:
    """Whether a folder holds tests, and code beside them."""
    own = [path.rpartition("/")[2] for path in code if path.startswith(f"{root}/")]
    tests = [name for name in own if TEST_FILE.fullmatch(name)]
    return bool(tests) and any(name not in tests and name not in _NO_CODE for name in own)


def missing(plan: Plan) -> str:
    """Nothing: AgentForge itself runs on Python, and the interpreter is looked for when it is known."""
    del plan
    return ""
