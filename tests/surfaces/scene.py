"""A throw-away repository, a script for its model, and the command as a process."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import forked
from tests.sharing import ENVIRONMENTS, SAME_DATE, share_environments
from tests.surfaces.shapes import command_of, conform

COMMAND = str(forked.COMMAND)
_OF_THE_PERSON = ("AGENTFORGE_", "GIT_", "OPENAI_", "PYTHON", "XDG_")

CODE = 'def greet(name):\n    """A greeting."""\n    return "Hello " + name\n'
TEST = 'from greeting import greet\n\n\ndef test_it_greets():\n    assert greet("Ada") == "Hello Ada"\n'
NEW_TEST = (
    'from greeting import greet\n\n\ndef test_nobody_is_the_world():\n    assert greet("") == "Hello world"\n'
)
SPECIFICATION = {
    "title": "greet the world",
    "description": "An empty name is the world.",
    "requirements": [
        {
            "id": "REQ-001",
            "description": "An empty name greets the world",
            "priority": "must",
            "acceptance_criteria": ["greet of an empty name is Hello world"],
            "verification_method": "test",
        }
    ],
    "files_to_modify": ["greeting.py"],
    "trace_to_request": "The request asks for it.",
}
PATCH = {
    "actions": [
        {"name": "create_file", "args": {"path": "tests/test_world.py", "content": NEW_TEST}},
        {
            "name": "edit_file",
            "args": {"path": "greeting.py", "old": '"Hello " + name', "new": '"Hello " + (name or "world")'},
        },
    ],
    "artifacts": {
        "intake_record": {
            "extracted_intent": {"action": "modify", "target": "greet", "scope": "file"},
            "initial_complexity": "trivial",
            "identified_ambiguities": [],
        },
        "specification": SPECIFICATION,
        "test_suite": {
            "test_files": [
                {
                    "path": "tests/test_world.py",
                    "tests": [{"name": "test_nobody_is_the_world", "requirement_ref": "REQ-001"}],
                }
            ]
        },
        "implementation": {"summary": "An empty name falls back to world."},
    },
    "signal": "success",
    "summary": "An empty name greets the world.",
}
QUESTION: dict[str, Any] = {
    "actions": [
        {
            "name": "escalate",
            "args": {
                "question": "Who is greeted by an empty name?",
                "options": ["world", "nobody"],
                "recommendation": "world",
            },
        }
    ],
    "summary": "One question.",
}
REVIEW = {
    "artifacts": {"review": {"verdict": "approve", "findings": [], "summary": "It does what was asked."}},
    "signal": "success",
    "summary": "Approved.",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A repository and the environment that commands run in."""

    top: Path
    environ: Mapping[str, str]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """The installed command, to its end."""
        return forked.run(words, self.top, {**self.environ, **more})

    def data(self, *words: str) -> Any:  # noqa: ANN401 - whatever a command prints
        """What a command prints as JSON, which is as its schema says."""
        done = self.run(*words, "--json")
        return conform(command_of(words), done.stdout)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.top, env=dict(self.environ), capture_output=True, text=True, check=True
        ).stdout

    def script(self, *replies: tuple[str, dict[str, Any]]) -> str:
        """A model that says this, stage by stage."""
        path = self.top.parent / "script.yaml"
        path.write_text(
            json.dumps({"replies": [{"stage": stage, "reply": reply} for stage, reply in replies]}),
            encoding="utf-8",
        )
        return f"scripted:{path}"

    @property
    def task(self) -> str:
        """The only task."""
        (found,) = (self.top / ".agentforge" / "tasks").iterdir()
        return found.name


def make_scene(root: Path, files: Mapping[str, str] | None = None, *, alone: bool = False) -> Scene:
    """A repository with one commit of `files`, and a home that shares the environments of others, unless it is
    to be `alone`.
    """
    top = root / "a repository"
    top.mkdir(parents=True)
    cache = os.environ.get("UV_CACHE_DIR") or str(
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_PERSON)} | {
        "HOME": str(root),
        "AGENTFORGE_HOME": str(root / "home"),
        "UV_CACHE_DIR": cache,
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "PIP_NO_INDEX": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "Ada"), ("EMAIL", "ada@example.invalid"))
        },
    }
    if not alone and files:
        (root / "home").mkdir(mode=0o700)
        (root / "home" / "cache").symlink_to(os.environ[ENVIRONMENTS])
        share_environments(root / "home", top)
    scene = Scene(top, environ)
    scene.git("init", "--quiet", "--initial-branch=main")
    for name, text in (files or {}).items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    if files:
        scene.git("add", "--all")
        dated = Scene(top, environ | SAME_DATE)
        dated.git("commit", "--quiet", "--message", "First")
    return scene
