"""The programs of a Python project that mend by themselves what they find, and how each is asked."""

from collections.abc import Mapping
from pathlib import Path

from agentforge.languages.python.checkers import project_at, used
from agentforge.languages.readings import Mender

SETTINGS = (
    *("pyproject.toml", "ruff.toml", ".ruff.toml", "setup.cfg", "tox.ini", ".isort.cfg"),
    ".editorconfig",
)
"""Files that tell them how; they are laid beside what is mended."""
_ASKED: Mapping[str, tuple[str, ...]] = {
    "ruff": ("check", "--fix", "--exit-zero", "--quiet", "--no-cache", "--force-exclude"),
    "ruff format": ("format", "--quiet", "--no-cache", "--force-exclude"),
    "isort": ("--quiet", "--filter-files"),
    "black": ("--quiet",),
}


def menders(top: Path, files: tuple[str, ...]) -> list[Mender]:
    """The linters and formatters of the project that can fix what they find."""
    wanted = (each for each in used(project_at(top), "lint") if each.name in _ASKED)
    return [Mender(each.program, _ASKED[each.name], files, SETTINGS) for each in wanted]
