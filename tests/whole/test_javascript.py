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
def test_a_request_in_javascript_becomes_a_verified_branch_and_says_what_is_not_measured(
    tmp_path: Path,
) -> None:
    person = person_in(tmp_path)
    person.scripted(WITH_NODE.patch(), WITH_NODE.approve())
    done = person.run(*start(person))
    assert done.code == 0, done.said
    task = person.checkout / ".agentforge/tasks" / person.only_task()
    evidence = json.loads((task / "evidence.json").read_text())
    print(json.dumps(evidence, indent=1)[:6000])
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said
