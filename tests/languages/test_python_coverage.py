"""Real coverage, in the interpreter that runs these tests, on small projects."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from agentforge.gates.coverage import covered, uncovered
from agentforge.languages.python.coverage import measure, statements
from agentforge.languages.values import CoverageRun, Environment
from agentforge.sandbox.walls.ladder import choose
from tests.judging import ForkedJudge
from tests.languages.test_python_testrun import WITH_XDIST as QUICK

CODE = '''\
"""What it is for."""

def sign(number):
    """Says."""
    if number < 0:
        return "minus"
    return "plus"
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    (place / "tests").mkdir(parents=True)
    (place / "signs.py").write_text(CODE)
    (place / "tests" / "test_signs.py").write_text(
        "import signs\n\n\ndef test_plus():\n    assert signs.sign(1) == 'plus'\n"
    )
    return place


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    (tmp_path / "source").mkdir()
    return Environment(
        Path(sys.prefix),
        Path(sys.executable),
        tmp_path / "source",
        (".",),
        (),
        "test",
        "",
        Path(sys.base_prefix),
    )


def run(env: Environment, tree: Path, *paths: str, command: tuple[str, ...] = QUICK) -> CoverageRun:
    return measure(
        ForkedJudge(), env, tree, paths, command=command, scratch=tree.parent / "scratch", timeout_s=60
    )


def test_lines_that_no_test_runs_are_named_wherever_the_projects_own_settings_would_have_the_data(
    tree: Path, env: Environment
) -> None:
    (tree / "pyproject.toml").write_text('[tool.coverage.run]\nomit = ["signs.py"]\ndata_file = "there"\n')
    (tree / "alone.py").write_text("a = 1\nb = 2\n")
    found = run(env, tree, "signs.py", "alone.py")
    assert (found.status, found.reason) == ("ran", "")
    assert found.missing["signs.py"] == {6}
    assert {3, 5, 7} <= found.executed["signs.py"]
    part = covered(found, {"signs.py": statements(CODE)}, {"signs.py": [4, 5, 6]})
    assert (part.lines, part.run, part.percent) == (2, 1, 50)
    assert uncovered(part) == [
        (
            "signs.py: no test runs line 6; tests run 50% of the changed lines, 80% are needed: take out "
            "what no test needs"
        )
    ]
    assert uncovered(covered(found, {"signs.py": statements(CODE)}, {"signs.py": [5, 7]})) == []
    assert covered(found, {"signs.py": statements(CODE)}).percent == 75
    assert not list((tree.parent / "scratch").iterdir())
    assert not (tree / "there").exists()
    # A file that no test loads is missing as a whole.
    part = covered(found, {"alone.py": statements("a = 1\nb = 2\n")}, {"alone.py": [1, 2]})
    assert (part.percent, dict(part.missing)) == (0, {"alone.py": (1, 2)})


def test_code_that_only_a_child_process_runs_counts_and_so_do_lines_of_a_test_that_fails(
    tree: Path, env: Environment
) -> None:
    (tree / "tests" / "test_signs.py").write_text(
        dedent("""
        import subprocess, sys

        def test_it(tmp_path):
            subprocess.run([sys.executable, "-c", "import signs; signs.sign(-1)"], check=True, cwd=tmp_path)
        """)
    )
    (tree / "more.py").write_text(CODE)
    (tree / "tests" / "test_more.py").write_text(
        "import more\n\n\ndef test_minus():\n    assert more.sign(-1) == 'x'\n"
    )
    # Nor does a file that cannot be loaded here keep the others from being measured: the base has it, too.
    (tree / "tests" / "test_lost.py").write_text("import nowhere\n")
    assert run(env, tree, "signs.py", "more.py").missing == {"signs.py": {7}, "more.py": {7}}


def test_a_run_that_breaks_is_not_run(tree: Path, env: Environment) -> None:
    found = run(env, tree, "signs.py", command=(*QUICK, "--no-such-option"))
    assert found.status == "not_run"
    assert "exit code 4" in found.reason


def test_files_of_the_tree_with_the_names_of_the_tools_measure_nothing(tree: Path, env: Environment) -> None:
    for name in ("coverage.py", "pytest.py", "json.py", "sitecustomize.py", "sqlite3.py"):
        (tree / name).write_text("import os\n\nos._exit(0)\n")
    found = run(env, tree, "signs.py")
    assert (found.status, found.reason) == ("ran", "")
    assert found.missing["signs.py"] == {6}


def test_without_coverage_nothing_is_configured(tree: Path, env: Environment, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    bare = replace(env, path=tmp_path / "bare", program=tmp_path / "bare" / "bin" / "python")
    assert run(bare, tree, "signs.py").status == "not_configured"
    assert run(env, tree, "signs.py", command=("make", "test")).status == "not_configured"


def test_it_runs_inside_the_walls(tree: Path, env: Environment) -> None:
    found = measure(
        choose("auto"), env, tree, ["signs.py"], command=QUICK, scratch=tree.parent / "scratch", timeout_s=60
    )
    assert found.missing == {"signs.py": {6}}, found


def test_what_can_be_executed_is_statements_without_documentation() -> None:
    assert statements(CODE) == {3, 5, 6, 7}
    assert statements("def (") == frozenset()


def test_a_project_that_turns_plugins_off_is_measured_all_the_same(tree: Path, env: Environment) -> None:
    found = run(env, tree, "signs.py", command=(*QUICK, "-p", "no:xdist"))
    assert found.status == "ran"
    assert found.missing["signs.py"] == {6}
