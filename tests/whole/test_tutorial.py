"""The tutorial, typed as it is printed: its files are written, its commands run, and what it shows comes out. The
model's words are those that the page about scripts shows.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import forked
from tests.project.pages import ROOT, fences, shown_in_order
from tests.sharing import share_here

PAGE, SCRIPT = ROOT / "docs/tutorial.md", ROOT / "docs/scripted.md"
FILE = re.compile(r"^# ([\w./-]+\.(?:py|toml))\n")


class Reader:
    """Somebody who types what a page says, from its first line to its last."""

    def __init__(self, place: Path, model: str) -> None:
        self.place = place
        self.said = ""
        self.environment = {**os.environ, "AGENTFORGE_MODEL": model, "UV_COMPILE_BYTECODE": "1"}

    def write(self, body: str) -> None:
        found = FILE.match(body)
        assert found, body
        (self.place / found[1]).write_text(body[found.end() :], encoding="utf-8")

    def run(self, body: str) -> None:
        self.said = ""
        for line in body.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[0] == "cd":
                self.place /= words[1]
                continue
            if words[0] == "agentforge":
                share_here(self.place)
                done = forked.run(tuple(words[1:]), self.place, self.environment)
            else:
                done = subprocess.run(
                    words, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False
                )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            self.said += done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("agentforge_home")
def test_the_tutorial_ends_with_a_merged_branch(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    (shown,) = [body for kind, body in fences(SCRIPT) if kind == "yaml"]
    script.write_text(shown, encoding="utf-8")
    reader = Reader(tmp_path, f"scripted:{script}")
    for kind, body in fences(PAGE):
        match kind:
            case "console":
                reader.run(body)
            case "text":
                assert shown_in_order(body, reader.said) == [], reader.said
            case "python" | "toml":
                reader.write(body)
            case _:
                assert kind == "sh", kind  # what needs a real model, or a person
    assert "percent // 100" in (reader.place / "shop/price.py").read_text(encoding="utf-8")
    assert "Settings for AgentForge" in reader.said
