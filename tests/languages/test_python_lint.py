import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.ratchets import worse
from agentforge.languages.python.lint import configured, lint
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.walls.none import NoSandbox


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return Environment(
        Path(sys.prefix), Path(sys.executable), tmp_path, (".",), (), "test", "", Path(sys.base_prefix)
    )


def test_a_project_without_a_linter_is_not_configured(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert not configured(tmp_path)
    assert lint(NoSandbox(), env, tmp_path, ["a.py"]).status == "not_configured"


def test_a_configured_linter_that_is_missing_did_not_run(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "ruff.toml").write_text("")
    missing = replace(env, program=tmp_path / "python")
    assert lint(NoSandbox(), missing, tmp_path, ["a.py"]).status == "not_run"


def test_only_new_findings_count(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff.lint]\nselect = ['F']\n")
    file = tmp_path / "a.py"
    file.write_text("import os\n")
    before = lint(NoSandbox(), env, tmp_path, ["a.py", "gone.py", "README.md"])
    assert (before.status, dict(before.findings)) == ("ran", {("a.py", "F401"): 1})
    file.write_text("\n\nimport os\n")
    assert worse(before, lint(NoSandbox(), env, tmp_path, ["a.py"])) == []
    file.write_text("import os\nimport sys\nprint(unknown)\n")
    first, second = worse(before, lint(NoSandbox(), env, tmp_path, ["a.py"]))
    assert first.startswith("a.py:1: ")
    assert first.endswith("(F401, 2 now, 1 before)")
    assert "F821" in second
    file.write_text("def (\n")
    assert [key for key in lint(NoSandbox(), env, tmp_path, ["a.py"]).findings if key[1] == "invalid-syntax"]


def test_a_configuration_that_ruff_refuses_is_not_run(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "ruff.toml").write_text("nonsense = 1\n")
    (tmp_path / "a.py").write_text("")
    run = lint(NoSandbox(), env, tmp_path, ["a.py"])
    assert run.status == "not_run"
    assert run.reason.startswith("ruff failed:")
    assert run.missing == {"ruff": run.reason}


def test_nothing_to_check_is_clean(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "ruff.toml").write_text("")
    assert lint(NoSandbox(), env, tmp_path, ["gone.py"]) == CheckRun("ran", "no Python file to check")


def test_a_stub_is_given_to_no_linter_that_would_not_look_for_it(tmp_path: Path, env: Environment) -> None:
    (tmp_path / ".flake8").write_text("[flake8]\n")
    (tmp_path / "greeting.pyi").write_text("def greet(name: str) -> str: ...\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "flake8").write_text("#!/bin/sh\necho 'greeting.pyi:1:1: E704 one line'\nexit 1\n")
    (programs / "flake8").chmod(0o755)
    run = lint(NoSandbox(), replace(env, program=programs / "python"), tmp_path, ["greeting.pyi"])
    assert (run.status, dict(run.findings)) == ("ran", {})
