"""What a role wrote is formatted by the project's own formatter, where that changes nothing but its looks."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.activities.formatting import NOTE, format_written, noted
from agentforge.activities.prepare import take_baseline
from agentforge.catalog.load import Catalog
from agentforge.core.inputs import BaselineReady
from agentforge.core.runs import WORKER, Run
from agentforge.tools.base import ToolResult
from tests.gates.test_gates_judge import Bench, bench

__all__ = ["bench"]  # a fixture
pytestmark = pytest.mark.slow

UNTIDY = "x = { 'a':1 }\n"
SETTINGS = "[format]\n[lint]\nselect = []\n"


def worktree(bench: Bench) -> Path:
    top = bench.world.workspace.worktree
    top.mkdir(parents=True, exist_ok=True)
    return top


def written(bench: Bench, base: dict[str, str], now: dict[str, str]) -> dict[str, str]:
    """The files of the worktree after a step that wrote `now` on a base."""
    tree = bench.site.tree({"tests/test_old.py": "def test_a():\n    pass\n", **base})
    said = take_baseline(bench.world, replace(bench.state, base_tree=tree, baseline=None))
    assert isinstance(said, BaselineReady), said
    top = worktree(bench)
    for path, text in {**base, **now}.items():
        (top / path).write_text(text)
    pipeline = Catalog.packaged().resolve("implement", "small").pipeline()
    run = Run(WORKER, "green", 1, tree)
    state = replace(bench.state, base_tree=tree, baseline=said.baseline, pipeline=pipeline, runs=(run,))
    results = [ToolResult(ok=True, text=f"Created `{path}`.", wrote=(path,)) for path in now]
    formatted = format_written(bench.world, state.seen_by(WORKER), results)
    after = {path: (top / path).read_text() for path in now}
    told = {result.wrote[0] for result in results if NOTE in noted(result, formatted).text}
    assert told == {path for path in now if after[path] != now[path]}
    return after


def test_a_new_file_is_formatted_and_the_role_is_told(bench: Bench) -> None:
    assert written(bench, {"ruff.toml": SETTINGS}, {"new.py": UNTIDY}) == {"new.py": 'x = {"a": 1}\n'}


def test_a_file_that_was_never_formatted_keeps_its_looks(bench: Bench) -> None:
    base = {"ruff.toml": SETTINGS, "old.py": UNTIDY, "tidy.py": "y = 1\n"}
    now = {"old.py": f"{UNTIDY}y=2\n", "tidy.py": "y=2\n"}
    assert written(bench, base, now) == {"old.py": f"{UNTIDY}y=2\n", "tidy.py": "y = 2\n"}


def test_a_project_without_a_formatter_gets_what_was_written(bench: Bench) -> None:
    assert written(bench, {"ruff.toml": "[lint]\nselect = []\n"}, {"new.py": UNTIDY}) == {"new.py": UNTIDY}


def test_a_link_and_what_does_not_parse_stay_as_they_are(bench: Bench) -> None:
    top = worktree(bench)
    (top / "outside.py").symlink_to(top.parent / "elsewhere.py")
    (top.parent / "elsewhere.py").write_text(UNTIDY)
    now = {"broken.py": "def (\n", "outside.py": UNTIDY}
    assert written(bench, {"ruff.toml": SETTINGS}, now) == now
