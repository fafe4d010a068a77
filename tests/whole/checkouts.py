"""A person with a checkout and the installed command: what they had before, what they have afterwards, and
what came out.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests import forked
from tests.sharing import SAME_DATE, share_here
from tests.wheels import version_at_hand

COMMAND = forked.COMMAND

# In the versions that run these very tests, of pygments what they use of it: whoever can run them has the packages
# in the cache, so no index is asked.
PACKAGES = ("iniconfig", "packaging", "pluggy", "pygments", "pytest")
PINNED = ", ".join(f'"{name}=={version_at_hand(name)}"' for name in PACKAGES)
PROJECT = {
    "pyproject.toml": f'[project]\nname = "calc"\nversion = "1.0"\n\n[dependency-groups]\ntest = [{PINNED}]\n',
    "calc/__init__.py": 'def double(number: int) -> int:\n    """Twice the number."""\n    return number\n',
    "tests/test_calc.py": "from calc import double\n\n\ndef test_zero() -> None:\n    assert double(0) == 0\n",
}
EDITED, ADDED = "calc/__init__.py", "tests/test_double.py"
FIX: list[dict[str, Any]] = [
    {
        "name": "create_file",
        "args": {
            "path": ADDED,
            "content": (
                "from calc import double\n\n\ndef test_two_becomes_four() -> None:\n    assert "
                "double(2) == 4\n"
            ),
        },
    },
    {"name": "edit_file", "args": {"path": EDITED, "old": "return number", "new": "return number * 2"}},
]
PAPERS: dict[str, Any] = {
    "intake_record": {"extracted_intent": {"action": "fix", "target": "double", "scope": "file"}},
    "specification": {
        "title": "double doubles",
        "description": "double returns twice its argument",
        "requirements": [
            {"id": "REQ-001", "description": "twice the argument", "acceptance_criteria": ["double(2) is 4"]}
        ],
        "files_to_modify": [EDITED],
    },
    "test_suite": {
        "test_files": [
            {"path": ADDED, "tests": [{"name": "test_two_becomes_four", "requirement_ref": "REQ-001"}]}
        ]
    },
    "implementation": {"summary": "double multiplies by two"},
}
QUESTION = {"name": "escalate", "args": {"question": "Two times, or two more?"}}
APPROVAL = {"artifacts": {"review": {"verdict": "approve", "summary": "as asked"}}, "signal": "success"}
OURS = re.compile(r"(.*/)?(\.agentforge|\.git/(.*/)?(objects|refs/agentforge|(logs/)?refs/heads/agentforge))")
"""All of a checkout that a task may write to; and lines in `.git/info/exclude`, which hide the first."""
EXCLUDED = b"".join(
    b".agentforge/%s/\n" % name for name in (b"tasks", b"escalations", b"violations", b"audit")
)

Picture = dict[str, tuple[str, ...]]


def patch(*actions: dict[str, Any], done: bool = True, expects: tuple[str, ...] = ()) -> dict[str, Any]:
    """A reply of the stage `patch`: some actions and, with `done`, all that the stage owes."""
    reply: dict[str, Any] = {"actions": list(actions)} if actions else {}
    return {
        "stage": "patch",
        "reply": reply | ({"artifacts": PAPERS, "signal": "success"} if done else {}),
        "expects": list(expects),
    }


def review() -> dict[str, Any]:
    return {"stage": "review", "reply": APPROVAL}


class Change(NamedTuple):
    """A path that differs between base and branch, and its modes there."""

    status: str
    path: str
    before: str
    after: str


USUAL = [Change("M", EDITED, "100644", "100644"), Change("A", ADDED, "000000", "100644")]


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return f"{self.out}\n{self.err}"

    @property
    def next(self) -> list[str]:
        """The lines that the end of the output tells a person to type."""
        _, _, after = self.out.partition("\nNext:\n")
        return [line.strip() for line in after.splitlines() if line.startswith("  ")]

    @property
    def data(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass
class Person:
    """Somebody at a terminal in a checkout."""

    checkout: Path
    script: Path
    """What the model will say."""
    variables: dict[str, str] = field(default_factory=dict)

    def git(self, *words: str) -> str:
        return git(self.checkout, *words)

    def commit_all(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "more")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        write(self.checkout, files)

    def scripted(self, *replies: dict[str, Any]) -> None:
        # JSON is YAML.
        self.script.write_text(json.dumps({"replies": list(replies)}))

    def run(self, *words: str) -> Done:
        share_here(self.checkout)
        done = forked.run(words, self.checkout, self.environment())
        assert "Traceback" not in done.stderr, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def paste(self, line: str) -> Done:
        """A line as it was printed, in the shell of somebody who has the command installed."""
        if line.startswith("agentforge "):
            return self.run(*shlex.split(line)[1:])
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.checkout,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self) -> Done:
        return self.run(*self._start())

    def run_and_kill_at(self, words: str, *command: str) -> None:
        """Starts a command and ends it, unasked, when it has said these words."""
        share_here(self.checkout)
        with forked.ForkedCommand(
            [COMMAND, *command],
            cwd=self.checkout,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert any(words in line for line in process.stderr)
            process.kill()

    def _start(self) -> tuple[str, ...]:
        return (
            "start",
            "double must double",
            "--lane",
            "hotfix",
            "--model",
            f"scripted:{self.script}",
            "--json",
        )

    def environment(self) -> dict[str, str]:
        # Bytecode is compiled at set-up: the tests of the project start in half the time.
        return {**os.environ, "UV_COMPILE_BYTECODE": "1", **self.variables}

    def worktree(self, task: str) -> Path:
        (found,) = Path(os.environ["AGENTFORGE_HOME"]).glob(f"trees/*/{task}/worktree")
        return found

    def only_task(self) -> str:
        (found,) = (self.checkout / ".agentforge/tasks").iterdir()
        return found.name

    def changes(self, base: str, tip: str) -> list[Change]:
        fields = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", base, tip).split("\0")[:-1]
        pairs = [
            (meta.lstrip(":").split(), path) for meta, path in zip(fields[::2], fields[1::2], strict=True)
        ]
        return [Change(status, path, before, after) for (before, after, _, _, status), path in pairs]


def git(where: Path, *words: str, **variables: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=where, env={**os.environ, **variables}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return os.fsdecode(done.stdout).strip("\n")


def write(top: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(content.encode() if isinstance(content, str) else content)


def make_repository(top: Path, files: Mapping[str, str | bytes], *options: str) -> Path:
    top.mkdir(parents=True)
    git(top, "init", "-q", *options)
    write(top, files)
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first", **SAME_DATE)
    share_here(top)
    return top


def photograph(top: Path) -> Picture:
    """Everything below `top` that is the person's, to the byte and to the time it was written."""
    return {name: _entry(path, name) for path, name in _walk(top, top)}


def differences(before: Picture, after: Picture) -> list[str]:
    """The names of what came, went or changed between two pictures."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _walk(directory: Path, top: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(directory.iterdir()):
        name = path.relative_to(top).as_posix()
        if not OURS.fullmatch(name):
            yield path, name
            if path.is_dir() and not path.is_symlink():
                yield from _walk(path, top)


def _entry(path: Path, name: str) -> tuple[str, ...]:
    facts = path.lstat()
    if path.is_symlink():
        return "link", str(path.readlink())
    if path.is_dir():
        return "directory", oct(facts.st_mode)
    data = path.read_bytes()
    if name.endswith("info/exclude"):
        return "file", oct(facts.st_mode), hashlib.sha256(data.removesuffix(EXCLUDED)).hexdigest()
    return "file", oct(facts.st_mode), str(facts.st_mtime_ns), hashlib.sha256(data).hexdigest()
