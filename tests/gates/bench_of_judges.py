"""A small project and a runner of its tests: real git, real pytest, the interpreter that runs these tests."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.outcomes import Watch
from agentforge.languages.python.testrun import SCRIPT, TestRun
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.worktree import Workspace
from agentforge.system.git.repository import Git
from agentforge.system.processes import Completed
from tests.judging import ForkedJudge
from tests.kept_runs import KeptRuns
from tests.sharing import ENVIRONMENTS

QUICK = ("python", "-m", "pytest", "--disable-plugin-autoload", "-p", "no:cacheprovider")
WHO = ("-c", "user.name=t", "-c", "user.email=t@t")


@dataclass(frozen=True, slots=True)
class AskedOnce(ForkedJudge):
    """A judge that no two tests of a session ask the same: what it judges must follow from its files."""

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        if Path(argv[1]).name != SCRIPT or json.loads(confinement.input)["coverage"]:
            return ForkedJudge.run(self, argv, confinement)
        kept = KeptRuns(Path(os.environ[ENVIRONMENTS]).with_name("judged"))
        return kept.run(argv, confinement, lambda: ForkedJudge.run(self, argv, confinement))


@dataclass(frozen=True, slots=True)
class OneRunEach(PristineRunner):
    """A runner that really runs each tree, once: for verdicts that differ in what stands beside the suite."""

    known: dict[tuple[str, tuple[str, ...], Watch | None], TestRun] = field(default_factory=dict)
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Every run that was asked for, in order."""

    def run(self, tree: str, ids: Sequence[str] = (), watch: Watch | None = None) -> TestRun:
        asked = (tree, tuple(ids), watch)
        self.asked.append(asked[:2])
        if asked not in self.known:
            self.known[asked] = PristineRunner.run(self, tree, ids, watch)
        return self.known[asked]


@dataclass(frozen=True)
class Site:
    """A repository with one commit, and trees beside it."""

    git: Git
    runner: PristineRunner
    base: str
    """The tree of that commit."""

    def tree(self, files: Mapping[str, str | None], on: str = "") -> str:
        """`on`, or the base, with some files changed, added or, with None, gone."""
        entries = {
            path: None if text is None else ("100644", self.git.hash_blob(text.encode()))
            for path, text in files.items()
        }
        return self.git.overlay_tree(on or self.base, entries)


def make_site(
    place: Path, files: Mapping[str, str], kind: type[PristineRunner] = PristineRunner, *, anew: bool = False
) -> Site:
    """`anew`: each run is one of its own, for tests that do not always end alike."""
    top = place / "checkout"
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *WHO, *words], cwd=top, check=True)
    git = Git.open(top)
    source = Path(os.environ[ENVIRONMENTS]).with_name("source")
    source.mkdir(exist_ok=True)
    env = Environment(
        Path(sys.prefix),
        Path(sys.executable),
        source,
        (".",),
        (),
        "test",
        "",
        Path(sys.base_prefix),
    )
    space = Workspace(git, place / "space", "task-1")
    runner = kind(
        space,
        ForkedJudge() if anew else AskedOnce(),
        env,
        git.head(),
        QUICK,
        place / "scratch",
        60,
        lambda path: path.startswith("tests/"),
    )
    return Site(git, runner, git.tree_of(git.head()))
