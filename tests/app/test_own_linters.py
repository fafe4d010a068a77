"""`check` runs the linters that a project has settings of, behind the walls, and each ends in one of five ways."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from agentforge.languages.repository import find_projects
from tests.whole.checkouts import Person, make_repository

RUFF = '[tool.ruff]\nline-length = 60\n\n[tool.ruff.lint]\nselect = ["F401", "E501"]\n'
CLEAN = "def double(number: int) -> int:\n    return number * 2\n"


def person(tmp_path: Path, files: dict[str, str], *, installed: bool = True) -> Person:
    """Somebody with the linters of these tests on the path, or with nothing but git."""
    bins = tmp_path / "bin"
    bins.mkdir(parents=True)
    (bins / "git").symlink_to(shutil.which("git") or "git")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}" if installed else str(bins)
    made = make_repository(tmp_path / "shop", files)
    return Person(made, tmp_path / "script.json", {"PATH": path})


def linters(found: Person, *words: str) -> tuple[int, dict[str, str]]:
    done = found.run("check", "--json", *words)
    return done.code, {row["project"]: row["status"] for row in done.data["linters"]}


@pytest.mark.slow
def test_what_the_projects_own_linter_finds_fails_the_check_and_names_file_and_rule(tmp_path: Path) -> None:
    found = person(tmp_path, {"pyproject.toml": RUFF, "shop.py": "import os\n" + CLEAN, "more.py": CLEAN})
    done = found.run("check")
    assert done.code == 1, done.said
    assert "shop.py:1: " in done.out
    assert "[F401]" in done.out
    assert "Own linters (Python): failed, 1 finding" in done.out
    assert linters(found, "more.py") == (0, {"Python": "passed"})
    assert linters(found, "--no-linters") == (0, {})
    assert linters(found, "--since", "HEAD") == (0, {"all": "not_run"})
    names = {path.name for path in found.checkout.iterdir()} - {".agentforge"}
    assert names == {".git", "more.py", "pyproject.toml", "shop.py"}


@pytest.mark.slow
def test_what_is_not_set_up_or_not_installed_is_said_and_has_not_passed(tmp_path: Path) -> None:
    plain = person(tmp_path / "a", {"shop.py": CLEAN})
    assert linters(plain) == (0, {"all": "not_configured"})
    bare = person(tmp_path / "b", {"pyproject.toml": RUFF, "shop.py": CLEAN}, installed=False)
    assert linters(bare) == (0, {"Python": "not_available"})
    package = '{"name": "shop", "devDependencies": {"eslint": "^9"}, "scripts": {"test": "node --test"}}'
    files = {"package.json": package, "eslint.config.js": "export default [];\n", "a.js": "let a;\n"}
    assert find_projects(lambda path: files[path].encode() if path in files else None, [*files])[
        0
    ].plan.linters
    script = person(tmp_path / "c", files)
    assert linters(script) == (0, {"JavaScript": "not_available"})
    assert not (script.checkout / "node_modules").exists()
