"""Where a process that drives a task apart from a terminal leaves its output, and what it said last."""

import json
from contextlib import suppress
from pathlib import Path

from agentforge.core.errors import UserError
from agentforge.store.layout import Home, repo_name
from agentforge.store.user.own_files import read_own

_LAST_WORDS = 64_000


def last_words(home: Home, repo: Path, task_id: str) -> str:
    """Why the last process of a task ended with an error; empty if it did not, or if there was none."""
    with suppress(OSError, ValueError, KeyError, TypeError, UserError):  # only a hint
        data = read_own(driver_log(home, repo, task_id)) or b""
        told = json.loads(data[-_LAST_WORDS:])["error"]
        return " ".join(str(part) for part in (told["message"], told["next"]) if part)
    return ""


def driver_log(home: Home, repo: Path, task_id: str) -> Path:
    """Where the process that drives a task apart from a terminal leaves its output."""
    return home.path / "drivers" / f"{repo_name(repo)}-{task_id}.json"
