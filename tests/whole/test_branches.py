"""The task's branch and a person's own: what somebody else put on a branch is never dropped from it."""

import json
from pathlib import Path

import pytest

from tests.whole.checkouts import FIX, PROJECT, QUESTION, Person, make_repository, patch, review
from tests.whole.plays import Play, ask, asked, finished, frame, green, red
from tests.whole.plays import review as read


@pytest.fixture
def person(tmp_path: Path, agentforge_home: Path) -> Person:
    return Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")


def test_a_persons_own_branch_of_that_name_is_kept_and_the_work_gets_another_name(person: Person) -> None:
    person.scripted(patch(QUESTION, done=False), patch(*FIX), review())
    paused = person.start()
    assert paused.data["branch"] is None
    task, base = person.only_task(), person.git("rev-parse", "HEAD")
    person.git("branch", f"agentforge/{task}")
    # Told on the screen as it happens, and at the end.
    shown = person.run("resolve", paused.data["escalation"]["id"], "--answer", "times two")
    assert shown.code == 0, shown.said
    kept = f"agentforge/{task} at {base[:12]}"
    assert f"{kept} is not where this task left it" in shown.out
    assert f"the work is on agentforge/{task}-2" in shown.out
    assert f"agentforge merge {task}" in shown.out
    evidence = json.loads((person.checkout / ".agentforge/tasks" / task / "evidence.json").read_bytes())
    assert (evidence["result"]["branch"], evidence["branches_kept"]) == (f"agentforge/{task}-2", [kept])
    assert person.git("rev-parse", f"agentforge/{task}") == base
    assert person.git("branch", "--list", "agentforge/*", "--format=%(refname:short)").split() == [
        f"agentforge/{task}",
        f"agentforge/{task}-2",
    ]
    verified = person.run("verify", f"agentforge/{task}-2", "--json")
    assert (verified.code, verified.data["task_id"]) == (0, task)


def test_a_persons_commit_on_the_branch_between_two_stages_stays_reachable_and_is_named(play: Play) -> None:
    paused = play.start(frame(), red(), ask("green"), green(), read())
    asked(paused)
    person, task = play.person, paused.data["task_id"]
    branch = f"agentforge/{task}"
    person.git("checkout", "-q", branch)
    person.write({"note.txt": "mine\n"})
    person.commit_all()
    theirs = person.git("rev-parse", "HEAD")
    person.git("checkout", "-q", "main")
    done = finished(play.answer(paused, "the first"))
    assert (done["branch"], done["branches_kept"]) == (f"{branch}-2", [f"{branch} at {theirs[:12]}"])
    assert person.git("rev-parse", branch) == theirs
    assert person.git("rev-parse", f"{branch}-2") == done["commit"]
