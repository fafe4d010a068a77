"""A task driven by a process of its own, which outlives whoever started it.

The process is the command `agentforge continue`; its last words are kept in the user's directory until the
next one is started.
"""

import json
import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from agentforge.app.answers import Taken, answer
from agentforge.app.remote import tell_workers
from agentforge.app.tasks import OpenTask
from agentforge.core.errors import Unusable, UserError
from agentforge.core.machine import TERMINAL
from agentforge.core.values import Feedback
from agentforge.store.layout import Home, repo_name
from agentforge.store.task.engine import read_engine
from agentforge.store.user.own_files import read_own
from agentforge.system.files import disk_errors, make_own_directory
from agentforge.system.installation import own_command

_LAST_WORDS = 64_000


def continue_apart(task: OpenTask) -> None:
    """Starts a process that drives the task until it is over or waits for a person. If another one does so
    already, the new one says so and ends.
    """
    words = ["continue", task.task_id, "--json"]
    if read_engine(task.files).engine == "temporal":
        words.append("--detach")
    place = driver_log(task.site.home, task.site.git.top, task.task_id)
    make_own_directory(place.parent)
    with disk_errors():
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        child = subprocess.Popen(
            own_command(*words),
            cwd=task.site.git.top,
            stdin=subprocess.DEVNULL,
            stdout=fd,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise Unusable(f"No process could be started: {error.strerror}.", _by_hand(task)) from error
    finally:
        os.close(fd)
    threading.Thread(target=child.wait, daemon=True).start()  # nobody else hears of its end


def answer_apart(task: OpenTask, identity: str, words: str, feedback: Feedback | None = None) -> Taken:
    """Answers a question; where nobody drives the task, a process of its own does from now on."""
    taken = answer(task, identity, words, feedback)
    if taken.free and task.refresh().status not in TERMINAL:
        continue_apart(task)
        return taken
    note = tell_workers(task)
    return Taken(taken.free, (*taken.notes, note)) if note else taken


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


def _by_hand(task: OpenTask) -> str:
    return f"`agentforge continue {task.task_id}` resumes it."
