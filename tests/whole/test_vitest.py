"""TypeScript with vitest and tsc, through the installed command: installed through the proxy, killed at random,
continued, delivered, verified.
"""

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.whole.javascript import REQUEST, WITH_VITEST

pytestmark = [
    pytest.mark.wide,
    pytest.mark.network,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]
MOMENTS = (
    "worktree ready",
    "building the project",
    "running the tests on the base",
    "running the whole suite",
)


def test_a_request_in_typescript_killed_at_random_becomes_a_verified_branch(tmp_path: Path) -> None:
    person = Person(make_repository(tmp_path / "shop", WITH_VITEST.files), tmp_path / "script.json")
    person.scripted(WITH_VITEST.patch(), WITH_VITEST.approve())
    first, second = sorted(random.sample(range(len(MOMENTS)), 2))
    start = ("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{person.script}", "--json")
    person.run_and_kill_at(MOMENTS[first], *start)
    person.run_and_kill_at(MOMENTS[second], "continue", person.only_task(), "--json")
    done = person.run("continue", person.only_task(), "--json")
    assert done.code == 0, (MOMENTS[first], MOMENTS[second], done.said)
    task = person.checkout / ".agentforge/tasks" / person.only_task()
    rows = {row.get("gate"): row for row in json.loads((task / "evidence.json").read_text())["rows"]}
    identity = f"{WITH_VITEST.new_test}::ten percent off"
    assert rows["red"]["tests"][identity]["outcome"] == "failed"
    assert rows["green"]["runs"][0]["outcomes"][identity] == "passed"
    assert "types" not in rows["green"]["not_run"]
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said


def test_an_error_of_types_in_the_change_is_refused(tmp_path: Path) -> None:
    person = Person(make_repository(tmp_path / "shop", WITH_VITEST.files), tmp_path / "script.json")
    wrong = {
        "name": "edit_file",
        "args": {
            "path": WITH_VITEST.source,
            "old": "return price;",
            "new": "const odd: string = 1;\n  return price - (price * percent) / 100;",
        },
    }
    stuck = {
        "stage": "patch",
        "reply": {"actions": [{"name": "escalate", "args": {"question": "What now?"}}]},
        "expects": ["TS2322"],
    }
    person.scripted(WITH_VITEST.patch(wrong), stuck)
    done = person.run("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{person.script}", "--json")
    assert done.code == 3, done.said
    assert "What now?" in done.said
