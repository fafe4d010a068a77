"""The suite of the base is run once for a commit, its environment and its command."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.activities.prepare import take_baseline
from agentforge.core.inputs import BaselineReady
from agentforge.store.baselines import read_kept
from tests.gates.test_gates_judge import Bench, bench
from tests.judging import ForkedJudge

__all__ = ["bench"]  # a fixture
pytestmark = pytest.mark.slow


def taken(bench: Bench, tests: str) -> tuple[str, bool, int]:
    """The summary, whether it was kept, and how many whole runs of that tree are in the record."""
    bench.world.sandbox = (
        ForkedJudge()
    )  # these tests look at more than their files: none is answered from a record
    base = bench.site.tree({"tests/test_old.py": tests})
    said = take_baseline(bench.world, replace(bench.state, base_tree=base, baseline=None))
    assert isinstance(said, BaselineReady), said
    record: Any = bench.world.pack.get_json(said.baseline.ref)
    return said.baseline.summary, record["kept"], sum(not row["ids"] for row in record["runs"])


def test_a_second_task_on_a_commit_does_not_run_its_suite_again_unless_what_was_kept_is_damaged(
    bench: Bench, tmp_path: Path
) -> None:
    machine = tmp_path / "machine"
    tests = f"import os\ndef test_a(): pass\ndef test_b(): assert os.path.exists({str(machine)!r})\n"
    assert taken(bench, tests) == ("1 of 2 tests pass on the base, 1 fail", False, 1)
    assert taken(bench, tests) == ("1 of 2 tests pass on the base, 1 fail", True, 1)
    machine.touch()  # what failed because of the machine passes now
    assert taken(bench, tests) == ("2 of 2 tests pass on the base", False, 1)
    assert taken(bench, tests) == ("2 of 2 tests pass on the base", True, 1)
    folder = bench.world.cache / "test" / "baselines"
    (file,) = folder.iterdir()
    whole = json.loads(file.read_bytes())
    forged = {**whole, "body": {**whole["body"], "flaky": ["tests/test_old.py::test_a"]}}
    older = {**whole, "format": 0}
    for damage in (
        b"",
        file.read_bytes()[:-9],
        json.dumps(older).encode(),
        b"[]",
        json.dumps(forged).encode(),
    ):
        file.write_bytes(damage)
        assert read_kept(folder, whole["about"]) is None
    assert taken(bench, tests) == ("2 of 2 tests pass on the base", False, 1)


def test_what_a_linter_says_of_stubs_is_known_from_the_base(bench: Bench) -> None:
    files = {"tests/test_old.py": "def test_a(): pass\n", "ruff.toml": "", "greeting.pyi": "import os\n"}
    base = bench.site.tree(files)
    said = take_baseline(bench.world, replace(bench.state, base_tree=base, baseline=None))
    assert isinstance(said, BaselineReady), said
    record: Any = bench.world.pack.get_json(said.baseline.ref)
    assert [row[:2] for row in record["lint"]["findings"]] == [["greeting.pyi", "F401"]]
