"""What a verdict costs: how many runs it takes, and how long that is in plain runs of the same suite."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentforge.core.reply import Json
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import TestRun
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.sandbox.worktree import Workspace
from agentforge.system.git.repository import Git
from bench.report import Row

WHOLE_RUNS = 3
"""Beyond the suite of the base, which is kept: with the new tests, on the new code, and the base's own tests."""
SIZES = {"a demo of 3 tests": 3, "a library of 500 tests": 500}
PLAIN = ("python", "-m", "pytest", "--disable-plugin-autoload", "-p", "no:cacheprovider")
NEW = "import shop\n\n\ndef test_sub():\n    assert shop.sub(3, 1) == 2\n"
BEFORE = "def add(a, b):\n    return a + b\n"
AFTER = f"{BEFORE}\n\ndef sub(a, b):\n    return a - b\n"
SUITE: dict[str, Json] = {
    "test_files": [
        {"path": "tests/test_sub.py", "tests": [{"name": "test_sub", "requirement_ref": "REQ-001"}]}
    ]
}


def measure_verdicts(place: Path) -> Iterator[Row]:
    """Red and green of one small change, on suites of two sizes."""
    for name, size in SIZES.items():
        runner, base = _project(place / str(size), size)
        plain = _plain(place / str(size) / "checkout")
        baseline = runner.run(base)
        runner.runs.clear()
        started = time.perf_counter()
        _verdicts(runner, base, baseline)
        took = time.perf_counter() - started
        whole = sum(1 for row in runner.runs if not row["ids"])
        yield Row(name, "whole runs", whole, "", WHOLE_RUNS)
        yield Row(name, "runs of single tests", len(runner.runs) - whole, "")
        yield Row(name, "red and green", took, "s")
        yield Row(name, "in plain runs", took / plain, "x")
        yield Row(name, "one run against a plain one", baseline.duration_ms / 1000 / plain, "x")


def _verdicts(runner: PristineRunner, base: str, baseline: TestRun) -> None:
    red = _tree(runner, base, {"tests/test_sub.py": NEW})
    proof = prove_red(
        runner,
        RedCase(
            base,
            red,
            SUITE,
            {},
            same_author=False,
            old=frozenset(baseline.results),
            baseline=baseline,
        ),
    )
    _expect(proof)
    tree = _tree(runner, red, {"shop.py": AFTER})
    clean = CheckRun("ran")
    _expect(
        judge_green(runner, GreenCase(base, tree, proof.record, SUITE, baseline, frozenset(), clean, clean))
    )


def _expect(verdict: Verdict) -> None:
    if verdict.status != "passed":
        raise AssertionError(f"an honest change was refused: {verdict.reasons}")


def _tree(runner: PristineRunner, on: str, files: Mapping[str, str]) -> str:
    git = runner.workspace.git
    return git.overlay_tree(
        on, {path: ("100644", git.hash_blob(text.encode())) for path, text in files.items()}
    )


def _project(place: Path, size: int) -> tuple[PristineRunner, str]:
    top = place / "checkout"
    (top / "tests").mkdir(parents=True)
    (place / "source").mkdir()
    (top / "shop.py").write_text(BEFORE)
    tests = "".join(
        f"\n\ndef test_{number}():\n    assert shop.add({number}, 1) == {number + 1}\n"
        for number in range(size)
    )
    (top / "tests/test_old.py").write_text(f"import shop\n{tests}")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *who, *words], cwd=top, check=True)
    git = Git.open(top)
    program = Path(sys.executable)
    env = Environment(
        Path(sys.prefix), program, place / "source", (".",), (), "bench", "", Path(sys.base_prefix)
    )
    space = Workspace(git, place / "space", "bench")
    runner = PristineRunner(
        space,
        NoSandbox(),
        env,
        git.head(),
        PLAIN,
        place / "scratch",
        600,
        lambda path: path.startswith("tests/"),
    )
    return runner, git.tree_of(git.head())


def _plain(top: Path) -> float:
    """One run of the suite without us."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *PLAIN[1:], "-q"], cwd=top, check=True, capture_output=True)
    return time.perf_counter() - started
