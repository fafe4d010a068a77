"""What a Python project is, and its environment: `Projects` for Python."""

from agentforge.languages.python.detect import detect, lock_hash
from agentforge.languages.python.environment import build, run_env
from agentforge.languages.python.packaging import describe

__all__ = ["build", "describe", "detect", "lock_hash", "run_env"]
