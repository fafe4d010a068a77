"""Tasks that an earlier version recorded, each in a bundle with its repository: they go on, end and verify."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentforge.store.site import Site
from tests.sharing import start_as_before
from tests.whole.checkouts import Done, Person, git
from tests.whole.full_plays import SECURITY, approves
from tests.whole.plays import ask
from tests.whole.test_batches import provider

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).with_name("recorded")


def unpacked(name: str, place: Path) -> tuple[Person, str]:
    """A checkout that holds a recorded task in its refs, as a clone of them all would."""
    place.mkdir()
    git(place, "init", "-q", "-b", "elsewhere")
    git(place, "fetch", "-q", str(RECORDED / f"{name}.bundle"), "refs/*:refs/*")
    branch = next(
        line for line in git(place, "branch", "--format=%(refname:short)").split() if "/" not in line
    )
    git(place, "checkout", "-q", branch)
    (ref,) = git(place, "for-each-ref", "--format=%(refname)", "refs/agentforge/*/state").splitlines()
    return Person(place, place / "script.yaml"), ref.split("/")[2]


def approve() -> dict[str, Any]:
    return approves("spec", SECURITY, "Good.")


def model_allowed(person: Person, task: str, asked: Done) -> Done:
    """A record that came with a clone names no model by itself: its person is asked, and says yes."""
    assert (asked.code, asked.data["escalation"]["kind"]) == (3, "model"), asked.said
    waiting = asked.data["escalation"]["id"]
    return person.run("resolve", waiting, "--task", task, "--answer", "allow", "--json")


def test_a_delivered_task_of_the_first_release_still_proves_itself(
    tmp_path: Path, agentforge_home: Path
) -> None:
    person, task = unpacked("v1-full-arbiter", tmp_path / "checkout")
    done = person.run("verify", task)
    assert done.code == 0, done.said
    shown = person.run("status", task, "--json")
    assert (shown.code, json.loads(shown.out)["status"]["stored"]) == (0, "completed"), shown.said


def test_a_question_of_a_reviewer_asked_by_the_first_release_is_answered_and_the_task_ends(
    tmp_path: Path, agentforge_home: Path
) -> None:
    person, task = unpacked("v1-design-reviewer-asks", tmp_path / "checkout")
    asked = {**ask("spec", "Who may call it?"), "role": SECURITY}
    person.scripted(asked, {**approve(), "expects": ["Who may call it", "Anybody"]})
    done = person.run("resolve", "ESC-001", "--task", task, "--answer", "Anybody.", "--json")
    done = model_allowed(person, task, done)
    assert (done.code, done.data["status"]) == (0, "completed"), done.said
    verified = person.run("verify", task)
    assert verified.code == 0, verified.said


def test_a_batch_that_the_first_release_left_open_for_a_reviewer_ends(
    tmp_path: Path, agentforge_home: Path
) -> None:
    person, task = unpacked("v1-design-open-batch", tmp_path / "checkout")
    site = Site.open(person.checkout)
    start_as_before(site, site.find(task))
    with provider("anthropic", agentforge_home, [approve()["reply"]]) as (batches, server):
        done = person.run("continue", task, "--json")
    assert (done.code, done.data["status"]) == (0, "completed"), done.said
    assert (batches.submissions, len(server.requests)) == (0, 1), "its outbox is gone: it is asked live"
    verified = person.run("verify", task)
    assert verified.code == 0, verified.said
