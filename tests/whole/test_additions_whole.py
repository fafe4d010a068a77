"""A project that brings no test runner: what we add is pinned, and named wherever the task is looked at."""

import json
from pathlib import Path

import pytest

from tests.wheels import PINNED
from tests.whole.checkouts import Person, make_repository
from tests.whole.plays import REQUEST, SHOP, patch, review

pytestmark = pytest.mark.slow


def test_what_we_add_to_the_environment_stands_in_the_evidence_and_on_every_page(
    tmp_path: Path, agentforge_home: Path
) -> None:
    bare = SHOP | {"pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n'}
    person = Person(make_repository(tmp_path / "checkout", bare), tmp_path / "script.yaml")
    person.scripted(patch(), review())
    done = person.run("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{person.script}")
    (wheel,) = PINNED.glob("pytest-*.whl")
    named = f"pytest {wheel.name.split('-')[1]}"
    assert f"added     {named} and 4 packages that it needs, pinned by hash" in done.said
    (task,) = (person.checkout / ".agentforge/tasks").iterdir()
    assert json.loads((task / "evidence.json").read_text())["added"][0] == named
    person.run("audit")
    (audit,) = (person.checkout / ".agentforge/audit").glob("*.md")
    assert named in audit.read_text(encoding="utf-8")
    assert person.run("verify").code == 0
