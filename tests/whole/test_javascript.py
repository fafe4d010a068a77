"""JavaScript with node's own test runner, through the installed command: a request becomes a verified branch,
and lies are caught. Nothing is installed for it.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.whole.javascript import REQUEST, WITH_NODE

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def person_in(tmp_path: Path) -> Person:
    return Person(make_repository(tmp_path / "shop", WITH_NODE.files), tmp_path / "script.json")


def start(person: Person) -> tuple[str, ...]:
    return ("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{person.script}", "--json")


@pytest.mark.slow
def test_a_request_in_javascript_killed_on_the_way_becomes_a_verified_branch_by_a_test_that_runs_the_change(
    tmp_path: Path,
) -> None:
    person = person_in(tmp_path)
    person.scripted(WITH_NODE.patch(), WITH_NODE.approve())
    person.run_and_kill_at("running the tests on the base", *start(person))
    done = person.run("continue", person.only_task(), "--json")
    assert done.code == 0, done.said
    task = person.checkout / ".agentforge/tasks" / person.only_task()
    rows = {row.get("gate"): row for row in json.loads((task / "evidence.json").read_text())["rows"]}
    identity = f"{WITH_NODE.new_test}::ten percent off"
    assert rows["red"]["tests"][identity]["outcome"] == "failed"
    assert rows["green"]["no_regressions"] is True
    assert rows["green"]["about"] == {identity: "running it"}
    assert "which lines a test runs" not in rows["green"]["not_checked"]
    outcomes = rows["green"]["runs"][0]["outcomes"]
    assert outcomes == dict.fromkeys(
        (
            identity,
            "test/price.test.js::label::names it for nothing",
            "test/price.test.js::label::names the currency",
        ),
        "passed",
    )
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said


@pytest.mark.slow
def test_init_writes_what_a_repository_of_javascript_has(tmp_path: Path) -> None:
    person = person_in(tmp_path)
    done = person.run("init")
    assert done.code == 0, done.said
    written = (person.checkout / ".agentforge/config/settings.yaml").read_text()
    assert 'test: "node --test"' in written
    assert "pytest" not in written
    assert "python:" not in written


def test_a_runner_that_nobody_here_can_judge_is_one_sentence_before_anything_is_spent(tmp_path: Path) -> None:
    package = (
        '{"name": "shop", "type": "module", "scripts": {"test": "ava"}, "devDependencies": {"ava": "^6"}}'
    )
    files = {**WITH_NODE.files, "package.json": package}
    person = Person(make_repository(tmp_path / "shop", files), tmp_path / "script.json")
    person.scripted()
    done = person.run(*start(person))
    assert done.code == 2, done.said
    assert "runs its tests with ava" in done.said
    assert "`agentforge init` writes settings for ava" in done.said
    assert "Install it" not in done.said
    assert not (person.checkout / ".agentforge/tasks").exists()
