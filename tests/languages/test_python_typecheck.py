"""The project's type checker, run for real where this environment has it."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.ratchets import worse
from agentforge.languages.python.typecheck import configured, typecheck
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.walls.none import NoSandbox
from tests.depth import SOAK


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return Environment(
        Path(sys.prefix), Path(sys.executable), tmp_path, (".",), (), "test", "", Path(sys.base_prefix)
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("file", "text", "checkers"),
    [
        ("pyproject.toml", "[tool.mypy]\nstrict = true\n", ("mypy",)),
        ("mypy.ini", "[mypy]\n", ("mypy",)),
        (".mypy.ini", "[mypy]\n", ("mypy",)),
        ("setup.cfg", "[mypy]\nfiles = src\n", ("mypy",)),
        ("setup.cfg", "[metadata]\n", ()),
        ("pyproject.toml", "[tool.pyright]\n", ("pyright",)),
        ("pyrightconfig.json", "{}", ("pyright",)),
        ("pyproject.toml", "[tool.mypy]\n[tool.pyright]\n", ("mypy", "pyright")),
        ("pyproject.toml", "[tool\n", ()),
    ],
)
def test_each_place_of_configuration_is_known(
    tree: Path, file: str, text: str, checkers: tuple[str, ...]
) -> None:
    (tree / file).write_text(text)
    assert configured(tree) == checkers


def test_without_a_checker_nothing_is_configured(tree: Path, env: Environment) -> None:
    assert typecheck(NoSandbox(), env, tree, ["a.py"]).status == "not_configured"


def test_a_configured_checker_that_is_missing_is_not_run(tree: Path, env: Environment) -> None:
    (tree / "mypy.ini").write_text("[mypy]\n")
    run = typecheck(NoSandbox(), replace(env, program=tree / "python"), tree, ["a.py"])
    assert (run.status, run.reason) == ("not_run", "the project uses mypy, but its environment has none")
    assert run.missing == {"mypy": run.reason}


def test_nothing_to_check_is_clean(tree: Path, env: Environment) -> None:
    (tree / "mypy.ini").write_text("[mypy]\n")
    assert typecheck(NoSandbox(), env, tree, ["gone.py", "README.md"]) == CheckRun(
        "ran", "no Python file to check"
    )


def test_settings_that_ask_for_several_workers_need_no_cache(tree: Path, env: Environment) -> None:
    (tree / "mypy.ini").write_text("[mypy]\nnum_workers = 2\n")
    (tree / "a.py").write_text("a: int = 'b'\n")
    run = typecheck(NoSandbox(), env, tree, ["a.py"])
    assert (run.status, len(run.findings)) == ("ran", 1), run.reason


def test_a_source_with_a_stub_is_typed_by_the_stub(tree: Path, env: Environment) -> None:
    (tree / "mypy.ini").write_text("[mypy]\ndisallow_untyped_calls = True\n")
    (tree / "greeting.py").write_text("def greet(name):\n    return name\n")
    (tree / "greeting.pyi").write_text("def greet(name: str) -> str: ...\n")
    (tree / "test_greeting.py").write_text(
        "from greeting import greet\n\n\ndef test_it() -> None:\n    assert greet('a')\n"
    )
    run = typecheck(NoSandbox(), env, tree, ["greeting.py", "test_greeting.py"])
    assert (run.status, dict(run.findings)) == ("ran", {})


@pytest.mark.slow
def test_only_new_findings_count_and_no_module_of_the_tree_takes_the_place_of_the_checker(
    tree: Path, env: Environment
) -> None:
    (tree / "mypy.ini").write_text("[mypy]\n")
    (tree / "mypy").mkdir()
    (tree / "mypy/__init__.py").write_text("")
    (tree / "mypy/__main__.py").write_text("def console_entry():\n    raise SystemExit(0)\n")
    (tree / "sitecustomize.py").write_text("raise SystemExit(0)\n")
    file = tree / "a.py"
    file.write_text("x: int = ''\n")
    before = typecheck(NoSandbox(), env, tree, ["a.py", "gone.py"])
    assert (before.status, dict(before.findings)) == ("ran", {("a.py", "assignment"): 1})
    file.write_text("\n\nx: int = ''\ny: int = ''\nz.w\n")
    first, second = worse(before, typecheck(NoSandbox(), env, tree, ["a.py"]))
    assert first.startswith("a.py:3: Incompatible types")
    assert first.endswith("(assignment, 2 now, 1 before)")
    assert "name-defined, 1 now, 0 before" in second
    file.write_text("def (\n")
    broken = typecheck(NoSandbox(), env, tree, ["a.py"])
    assert broken.status == "not_run"
    assert broken.reason.startswith("mypy stopped: a.py:1: error:")


@pytest.mark.slow
def test_what_the_project_selects_is_checked_whole_and_callers_are_seen(tree: Path, env: Environment) -> None:
    (tree / "pyproject.toml").write_text('[tool.mypy]\nfiles = ["src"]\n')
    (tree / "src").mkdir()
    (tree / "src/lib.py").write_text("def f(a: int) -> int:\n    return a\n")
    (tree / "src/caller.py").write_text("from lib import f\n\nf(1)\n")
    (tree / "elsewhere.py").write_text("x: int = ''\n")
    rooted = replace(env, import_roots=("src",))
    if SOAK:
        assert typecheck(NoSandbox(), rooted, tree, ["src/lib.py"]) == CheckRun("ran")
    (tree / "src/lib.py").write_text("def f(a: str) -> str:\n    return a\n")
    after = typecheck(NoSandbox(), rooted, tree, ["src/lib.py"])
    assert list(after.findings) == [("src/caller.py", "arg-type")]


def fake_pyright(folder: Path, said: str, code: int) -> Path:
    folder.mkdir()
    program = folder / "pyright"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {code}\n")
    program.chmod(0o755)
    return folder / "python"


def test_pyright_is_read_by_its_json(tree: Path, env: Environment, tmp_path: Path) -> None:
    (tree / "pyrightconfig.json").write_text("{}")
    rows = [
        {
            "file": str(tree / "a.py"),
            "severity": severity,
            "message": "bad\nmore",
            "rule": "reportX",
            "range": {"start": {"line": 4}},
        }
        for severity in ("error", "error", "warning")
    ]
    python = fake_pyright(tmp_path / "bin", json.dumps({"generalDiagnostics": rows}), 1)
    run = typecheck(NoSandbox(), replace(env, program=python), tree, ["a.py"])
    assert run == CheckRun("ran", "", {("a.py", "reportX"): 2}, {("a.py", "reportX"): "5: bad"})


def test_pyright_that_says_something_else_did_not_run(tree: Path, env: Environment, tmp_path: Path) -> None:
    (tree / "pyrightconfig.json").write_text("{}")
    python = fake_pyright(tmp_path / "bin", "no node here", 3)
    assert typecheck(NoSandbox(), replace(env, program=python), tree, []).status == "not_run"


@pytest.mark.slow
def test_what_is_remembered_from_edit_to_edit_hides_nothing_and_lies_outside_of_the_tree(
    tree: Path, env: Environment, tmp_path: Path
) -> None:
    (tree / "mypy.ini").write_text("[mypy]\n")
    (tree / "lib.py").write_text("def f(a: int) -> int:\n    return a\n")
    (tree / "caller.py").write_text("from lib import f\n\nx: int = f(1)\n")
    cache = tmp_path / "kept"

    def found() -> dict[tuple[str, str], int]:
        run = typecheck(NoSandbox(), env, tree, ["lib.py", "caller.py"], cache=cache)
        assert run.status == "ran", run.reason
        return dict(run.findings)

    assert found() == {}
    assert any(path.is_file() for path in cache.rglob("*"))
    assert sorted(path.name for path in tree.iterdir()) == ["caller.py", "lib.py", "mypy.ini"]
    (tree / "lib.py").write_text("def f(a: int) -> str:\n    return str(a)\n")
    assert found() == {("caller.py", "assignment"): 1}
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(b"{]")
    assert found() == {("caller.py", "assignment"): 1}
