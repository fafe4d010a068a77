"""The lightest real task: a pipeline that only reads a repository, with a scripted model; and a user's
command and workers on it.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import forked

REQUEST = "What does shout touch?"
READ: dict[str, Any] = {"actions": [{"name": "read_file", "args": {"path": "shout.py"}}], "summary": "Read."}
ASK: dict[str, Any] = {
    "actions": [
        {
            "name": "escalate",
            "args": {"question": "Which shout?", "options": ["this", "that"], "recommendation": "this"},
        }
    ],
    "summary": "One question.",
}
DONE: dict[str, Any] = {
    "artifacts": {"analysis": {"impacted_files": [{"path": "shout.py", "reason": "shout is there"}]}},
    "signal": "success",
    "summary": "Done.",
}


def script(place: Path, *replies: dict[str, Any]) -> str:
    """The model that says so; what it is called by."""
    path = place / "reading.json"
    entries = [
        {"stage": "analyze", "usage": {"input_tokens": 1000, "output_tokens": 100}, "reply": reply}
        for reply in replies
    ]
    path.write_text(json.dumps({"replies": entries}), encoding="utf-8")
    return f"scripted:{path}"


def start_words(model: str) -> tuple[str, ...]:
    return ("start", REQUEST, "--pipeline", "review", "--model", model, "--engine", "temporal")


class User:
    """Somebody with a home on this machine, at a repository."""

    def __init__(self, repo: Path, home: Path, environ: Mapping[str, str]) -> None:
        self.repo, self.home = repo, home
        self.environ = {**os.environ, **environ, "AGENTFORGE_HOME": str(home)}
        home.mkdir(parents=True, exist_ok=True)

    def configure(self, text: str) -> None:
        (self.home / "config.yaml").write_text(text, encoding="utf-8")

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return forked.run(words, self.repo, self.environ)

    @contextmanager
    def running(self, *words: str) -> Iterator["Running"]:
        """The installed command, until it is stopped; it has said its first line."""
        said = self.home / f"{words[0]}.log"
        with said.open("ab") as log:
            log.truncate(0)
            child = forked.ForkedCommand(
                [forked.COMMAND, *words], cwd=self.repo, env=self.environ, stdout=log, stderr=log
            )
        running = Running(child, said)
        try:
            until(lambda: bool(running.said()), running.said)
            yield running
        finally:
            child.kill()
            child.wait()


class Running:
    """A command that runs on."""

    def __init__(self, child: "subprocess.Popen[bytes]", log: Path) -> None:
        self._child, self._log = child, log

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def says(self, words: str) -> None:
        """Waits until it does."""
        until(lambda: words in self.said(), self.said)

    def signal(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def stop(self) -> None:
        """It ends well."""
        self._child.send_signal(signal.SIGTERM)
        assert self._child.wait(120) == 0, self.said()


def until(condition: Callable[[], bool], why: Callable[[], object] = lambda: "", seconds: float = 60) -> None:
    """Waits for something that comes true by itself; `why` tells what there was instead."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, why()
        time.sleep(0.1)
