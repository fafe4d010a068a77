"""What a Python project is, and its environment: `Projects` for Python."""

from collections.abc import Sequence

from agentforge.languages.described import Read, words
from agentforge.languages.plain.answers import outermost
from agentforge.languages.python.detect import detect, lock_hash
from agentforge.languages.python.environment import build, run_env
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


def roots(read: Read, paths: Sequence[str]) -> tuple[str, ...]:
    """The top, where it is described or tests lie outside of every folder that is; else these folders."""
    del read
    code = [path for path in paths if path.endswith(".py")]
    nested = [
        root
        for root in outermost(paths, words("pyproject.toml setup.py"))
        if root and any(path.startswith(f"{root}/") for path in code)
    ]
    outside = [path for path in code if not path.startswith(tuple(f"{root}/" for root in nested))]
    described = bool(code) and not _AT_THE_TOP.isdisjoint(paths)
    if described or any(path.rpartition("/")[2].startswith(("test_", "conftest.py")) for path in outside):
        return ("",)
    return tuple(nested)


def missing(plan: Plan) -> str:
    """Nothing: AgentForge itself runs on Python, and the interpreter is looked for when it is known."""
    del plan
    return ""
