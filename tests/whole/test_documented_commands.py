"""Every command that a page shows is typed here as it is printed, in the shop of the tutorial with the script of
the page about scripts. What cannot run here is named below with the reason, so that nothing is left out in
silence.
"""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import forked
from tests.project.pages import ROOT, fences, shown_in_order
from tests.sharing import share_here
from tests.whole.test_tutorial import PAGE, Reader

SCRIPTED = "docs/scripted.md"
TYPED_ELSEWHERE = frozenset({"docs/tutorial.md"})
"""Pages that a test of their own types from the first line to the last."""
NOT_TYPED = {
    "README.md: make demo": "needs a package index; `make demo` is a step of the release",
    "README.md: uv tool install": "installs this program: tests/wide/test_first_hour.py",
    "README.md: make check": "is what runs this test",
    "docs/claude-code.md: claude plugin marketplace add": "needs Claude Code: tests/wide/test_claude_code.py",
    "docs/dashboard.md: agentforge dashboard": "serves until it is stopped: tests/surfaces/test_dashboard_door.py",
    "docs/debates.md: agentforge debate": "needs the replies of three roles: tests/whole/test_debates.py",
    "docs/effect.md: make effect": "needs a package index, and takes an hour",
    "docs/tasks.md: agentforge artifacts show": (
        "its lines are alternatives, each of which ends a version: tests/whole/test_iterating.py"
    ),
    "docs/temporal.md: pip install": "installs this program",
    "docs/temporal.md: agentforge server dev": "serves until it is stopped: tests/temporal",
    "docs/temporal.md: agentforge continue": "is for a host that is lost: tests/temporal",
    "docs/trouble.md: tail -f": "follows a file until it is stopped",
    "docs/traces.md: agentforge trace @1 --export": "needs a collector: tests/surfaces/test_surfaces_trace.py",
}


TIMES = re.compile(r"\d+\.\d+s|█+")
ENDS = {
    "agentforge check --fix": 2,
    "agentforge phase continue": 3,
    "agentforge phase status": 1,
    "agentforge resolve": 3,
    'agentforge start "Add user': 3,
}
"""How a line ends that does not end with success: it waits for somebody, or the shop has no linter."""
QUESTION = {"name": "escalate", "args": {"question": "Which time zone?", "options": ["UTC", "local"]}}
ASKING = [
    {"stage": stage, "reply": {"actions": [QUESTION]}}
    for stage in ("frame", "intake", "patch", "spec")
    for _ in range(2)
]
"""A model that always asks."""


class Block(NamedTuple):
    """The commands of one fence, and what the page shows of their output."""

    page: str
    commands: tuple[str, ...]
    shown: str

    @property
    def name(self) -> str:
        return f"{self.page}: {self.commands[0]}"

    @property
    def reason(self) -> str:
        """Why nobody types it here; empty if somebody does."""
        return next((why for begins, why in NOT_TYPED.items() if self.name.startswith(begins)), "")


def blocks() -> list[Block]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = []
    for page in pages:
        name = page.relative_to(ROOT).as_posix()
        if name in TYPED_ELSEWHERE:
            continue
        for kind, body in fences(page):
            if kind == "sh":
                found.append(Block(name, tuple(body.replace("\\\n", " ").splitlines()), ""))
            elif kind == "console":
                lines = body.splitlines()
                commands = tuple(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
                shown = "\n".join(line for line in lines if not line.startswith("$ "))
                found.append(Block(name, commands, shown))
    return found


def test_what_is_not_typed_is_there_and_its_reason_names_a_test_that_is() -> None:
    names = [block.name for block in blocks()]
    assert [begins for begins in NOT_TYPED if not any(name.startswith(begins) for name in names)] == []
    tests = [path for why in NOT_TYPED.values() for path in re.findall(r"tests/[\w/.]+", why)]
    assert [path for path in tests if not (ROOT / path).exists()] == []


class Shopkeeper(Reader):
    """Somebody who types what the pages say in the shop of the tutorial."""

    def run(self, body: str) -> None:
        self.said = ""
        for line in body.splitlines():
            self.type(line)

    def type(self, line: str) -> None:
        """One line; other ends than success are those that the pages speak of."""
        words = [self.meant(word) for word in shlex.split(line, comments=True)]
        share_here(self.place)
        done = (
            forked.run(tuple(words[1:]), self.place, self.environment)
            if words[0] == "agentforge"
            else subprocess.run(
                words, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False
            )
        )
        self.said += done.stdout
        end = next((code for begins, code in ENDS.items() if line.startswith(begins)), 0)
        assert done.returncode == end, f"{line} ended with {done.returncode}: {done.stdout} {done.stderr}"

    def meant(self, word: str) -> str:
        """What a reader puts in the place of a name that only stands for theirs."""
        if word.startswith("grant-"):
            listed = forked.run(("permissions", "list"), self.place, self.environment).stdout
            (word,) = re.findall(r"grant-\w+", listed)
        return word.replace("~", self.environment["HOME"])


@pytest.fixture
def reader(tmp_path: Path, agentforge_home: Path) -> Shopkeeper:
    """In the shop, with all that the pages take for granted."""
    found = Shopkeeper(tmp_path, "scripted:script.yaml")
    found.environment["HOME"] = str(tmp_path)
    for kind, body in fences(PAGE):
        if "agentforge" in body:
            break
        if kind == "console":
            Reader.run(found, body)
        else:
            found.write(body)
    (script,) = [body for kind, body in fences(ROOT / SCRIPTED) if kind == "yaml"]
    (found.place / "script.yaml").write_text(script, encoding="utf-8")
    git = ("git", "-C", str(found.place))
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    subprocess.run([*git, "branch", "develop"], check=True)
    (tmp_path / "code").mkdir()
    subprocess.run(
        ["git", "clone", "-q", "-b", "develop", str(found.place), str(tmp_path / "code/data")], check=True
    )
    return found


@pytest.mark.slow
def test_every_command_of_the_pages_works_as_it_is_printed(reader: Shopkeeper) -> None:
    wrong, asks = [], False
    for block in sorted(filter(lambda block: not block.reason, blocks()), key=in_order):
        if block.page == "docs/tasks.md" and not asks:  # from here on the model only asks
            (reader.place / "script.yaml").write_text(json.dumps({"replies": ASKING}), encoding="utf-8")
            reader.run('agentforge start "Add user times to shop/price.py"')
            asks = True
        wrong += faults(block, reader)
    assert wrong == [], "\n\n".join(wrong)


def in_order(block: Block) -> int:
    """The first task, what is said of it, then those that ask."""
    return {SCRIPTED: 0, "docs/tasks.md": 2}.get(block.page, 1)


def without_times(text: str) -> str:
    """Without what is different each time, and how wide columns are."""
    lines = (TIMES.sub("", line).split() for line in text.splitlines())
    return "\n".join(" ".join(words) for words in lines)


def faults(block: Block, reader: Reader) -> list[str]:
    """What comes out otherwise than the page says."""
    try:
        reader.run("\n".join(block.commands))
    except AssertionError as error:
        return [f"{block.name}: {error}"]
    missing = shown_in_order(without_times(block.shown), without_times(reader.said))
    return [f"{block.name}: {missing} in {reader.said}"] if missing else []
