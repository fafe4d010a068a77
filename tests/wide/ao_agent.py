"""What a session of AO runs in the tests: no model, only what a good one would do.

A role of a debate writes its file: the advocate where it was told, the skeptic in its own worktree, the operator
there and committed. Everybody else tells AO of a workflow, as soon as the session's file is ready.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from agentforge.integrations.ao import WorkflowKeys, sync

TEXT = "# {role}\n\n" + "What this role has to say about it. " * 5 + "\n"


def main() -> None:
    """Plays the part that the prompt gives."""
    asked = re.search(r"You are the (\w+) of the debate (\S+)\.", os.environ["FAKE_PROMPT"])
    if asked is None:
        tell()
    else:
        argue(asked[1], asked[2])
    time.sleep(600)  # a session goes idle, it does not end


def tell() -> None:
    keys = WorkflowKeys("brainstorm", "in_progress", "research", "Auth", branch="main", version="2.0.0")
    for _ in range(200):
        if sync(keys, os.environ).outcome in ("written", "unchanged"):
            return
        time.sleep(0.05)
    sys.exit("the session's file was never ready")


def argue(role: str, debate: str) -> None:
    told = re.search(r"Write your result to (\S+) in one piece", os.environ["FAKE_PROMPT"])
    assert told is not None
    near = Path("docs/forge/debate") / debate / Path(told[1]).name
    file = Path(told[1]) if role == "advocate" else near
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT.format(role=role), encoding="utf-8")
    if role == "operator":
        subprocess.run(["git", "add", "--all"], check=True)
        subprocess.run(["git", "commit", "--quiet", "--message", "Operator"], check=True)


main()
