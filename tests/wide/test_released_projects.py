"""Released projects with four runners of JavaScript and one in C, through the installed command: a request ends in a
verified branch however often the command is killed, and no cheat does.
"""

import json
import random
from pathlib import Path

import pytest

from tests.wide.released_java import jsoup
from tests.wide.released_works import RELEASED
from tests.wide.test_compiled_languages import delivered, kill_after, person_with, start, told

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(1800)]
PROJECTS = {**RELEASED, "jsoup with Maven": jsoup}
FRAUDS = {name: 7 if name == "cJSON with CTest" else 5 for name in PROJECTS}
"""How many cheats there are on each."""
REQUEST = "Add a function twice to the package, which doubles a number"
COUNT = "Add a function jsmn_count to jsmn.h, which counts the tokens of a text"


@pytest.mark.parametrize("name", PROJECTS)
def test_a_request_to_a_released_project_ends_in_a_verified_branch_however_often_it_is_killed(
    name: str, tmp_path: Path
) -> None:
    work = PROJECTS[name]()
    person = person_with(work, tmp_path, work.replies())
    chance = random.Random(name)
    command = start(person, COUNT if "jsmn.h" in work.files else REQUEST)
    for _ in range(2):
        if not kill_after(person, chance.randint(5, 20), *command):
            break
        if (person.checkout / ".agentforge/tasks").is_dir():
            command = ("continue", person.only_task(), "--json")
    proof = delivered(person.run(*command), person)
    ran = [run for row in proof["rows"] for run in row.get("runs", ())]
    assert "passed" in {run["outcomes"].get(work.id) for run in ran}, json.dumps(proof)[:4000]


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, count in FRAUDS.items() for number in range(count)]
)
def test_no_cheat_on_a_released_project_is_delivered(name: str, number: int, tmp_path: Path) -> None:
    work = PROJECTS[name]()
    fraud = work.frauds[number]
    person = person_with(work, tmp_path, work.replies(fraud))
    done = person.run(*start(person, COUNT if "jsmn.h" in work.files else REQUEST))
    assert done.code != 0, (fraud.name, done.said)
    assert fraud.caught in done.said + told(person), (fraud.name, done.said)
