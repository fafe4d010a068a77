"""What a session of AO runs in the tests: no model, only what a good one would do.

A role of a debate writes its file: the advocate where it was told, the skeptic in its own worktree, the operator
there and committed. Who is asked for a workflow begins one with the installed command, and calls the hook that keeps AO up to date.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

TEXT = "# {role}\n\n" + "What this role has to say about it. " * 5 + "\n"


def main() -> None:
    """Plays the part that the prompt gives."""
    asked = re.search(r"You are the (\w+) of the debate (\S+)\.", os.environ["FAKE_PROMPT"])
    if asked is not None:
        argue(asked[1], asked[2])
    elif "Begin a workflow" in os.environ["FAKE_PROMPT"]:
        tell()
    time.sleep(600)  # a session goes idle, it does not end


def tell() -> None:
    agentforge("phase", "start", "Let users log in")
    for _ in range(100):  # until the session's file is ready, and AO has written it for the last time
        agentforge("plugin", "hook", "post-tool-use")
        time.sleep(0.2)


def agentforge(*words: str) -> None:
    subprocess.run(
        [Path(sys.executable).with_name("agentforge"), *words], check=True, stdout=subprocess.DEVNULL
    )


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
