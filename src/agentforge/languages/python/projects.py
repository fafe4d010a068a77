"""What a Python project is, and its environment: `Projects` for Python."""

from agentforge.languages.described import words
from agentforge.languages.python.detect import detect, lock_hash
from agentforge.languages.python.environment import build, run_env
from agentforge.languages.python.packaging import describe

__all__ = ["BUILD_FILES", "LOCKS", "build", "describe", "detect", "lock_hash", "run_env"]

BUILD_FILES = words(
    "pyproject.toml setup.py setup.cfg MANIFEST.in tox.ini noxfile.py hatch.toml meson.build "
    "uv.toml pip.conf pip.ini poetry.toml pdm.toml Pipfile environment.yml .python-version"
)
LOCKS = words("uv.lock poetry.lock pdm.lock Pipfile.lock pylock.toml")
