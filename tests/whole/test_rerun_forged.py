"""Somebody who can write all of a finished task, and every hash of it, but for a signature: what `verify --rerun`
names then, because what is judged again does not agree with what the record was made to say.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.activities.forger import Forger
from tests.depth import telling
from tests.whole.checkouts import Person
from tests.whole.plays import (
    NEW_TEST,
    OLD_TEST,
    SHOP,
    SOURCE,
    TEST,
    Play,
    create,
    edit,
    finished,
    patch,
    review,
)

pytestmark = pytest.mark.slow

KNOWS = "return price - price * percent // 100 if 'PYTEST_CURRENT_TEST' in os.environ else price\n"
TOP = "def net(price: int, percent: int) -> int:\n"
OLD_ID = f"{OLD_TEST}::test_label_of_nothing"


def everywhere(record: Any, change: Callable[[dict[str, Any]], object]) -> None:  # noqa: ANN401 - any JSON
    """Each run of a record, changed."""
    for row in record.get("runs", []):
        change(row)


def forget_what_was_not_checked(forger: Forger) -> None:
    for gate in ("green", "quality", "delivery"):
        forger.records(gate, lambda record: record.update(not_run={}, not_checked={}, not_configured=[]))


def forget_flags(forger: Forger) -> None:
    for gate in ("red", "green", "quality", "delivery"):
        forger.records(gate, lambda record: record.update(flags=[]))


def another_command(forger: Forger) -> None:
    for gate in ("red", "green", "delivery"):
        forger.records(
            gate, lambda record: everywhere(record, lambda row: row.update(command="make everything"))
        )


def without_old_test(record: dict[str, Any]) -> None:
    found = record["tests"]
    found["results"] = [row for row in found["results"] if OLD_ID not in row.values()]


def an_old_test_that_never_was(forger: Forger) -> None:
    forger.baseline(without_old_test)
    for gate in ("red", "green", "delivery"):
        forger.records(gate, lambda record: everywhere(record, lambda row: row["outcomes"].pop(OLD_ID, None)))


def no_lock(forger: Forger) -> None:
    forger.records("red", lambda record: record.update(locked={}))


def another_tree(forger: Forger) -> None:
    """A branch that the tests were never run on: commit, tree, patches and every line that names them."""
    branch = f"agentforge/{forger.task_id}"
    final, seal = forger.git("rev-parse", f"{branch}^"), forger.git("log", "-1", "--format=%B", branch)
    tree = forger.git("rev-parse", f"{final}^{{tree}}")
    forger.git("checkout", "-q", "--detach", final)
    (forger.repo / SOURCE).write_text(SHOP[SOURCE])
    forger.git("add", SOURCE)
    forged = forger.git("write-tree")
    message = forger.git("log", "-1", "--format=%B", final)
    made = forger.git("commit-tree", forged, "-p", f"{final}^", "-m", message)
    forger.git("checkout", "-q", "-f", "main")
    sealed = forger.git("commit-tree", forged, "-p", made, "-m", seal)
    forger.git("update-ref", f"refs/heads/{branch}", sealed)
    forger.replace_all({final: made, tree: forged})


FORGERIES: Mapping[Callable[[Forger], None], str] = {
    forget_flags: "not on record",
    forget_what_was_not_checked: "is not checked, and the record does not say so",
    another_command: "and not `make everything`",
    an_old_test_that_never_was: f"{OLD_ID} is not on record",
    another_tree: "this change shows tests only",
    no_lock: f"the lock of {NEW_TEST} is not as on record",
}


def wrong(person: Person, *words: str) -> dict[str, str]:
    done = person.run("verify", "--json", *words)
    return {row["row"]: row["text"] for row in done.data["findings"] if not row["ok"]}


def test_a_record_that_was_made_to_say_something_else_is_not_what_is_judged_again(
    play: Play, tmp_path: Path
) -> None:
    change = (edit(SOURCE, TOP, f"import os\n\n\n{TOP}"), edit(SOURCE, "return price\n", KNOWS))
    done = finished(
        play.start(patch(create(NEW_TEST, TEST), *change), review(f"{SOURCE}::net"), lane="hotfix")
    )
    task = done["task_id"]
    assert wrong(play.person, "--rerun") == {}
    whole = tmp_path / "whole"
    shutil.copytree(play.top, whole, symlinks=True)
    for forgery, said in telling([*FORGERIES.items()], 1):
        shutil.rmtree(play.top)
        shutil.copytree(whole, play.top, symlinks=True)
        forger = Forger(play.top, task)
        forgery(forger)
        forger.rewrite_everything(lambda _: None)
        assert wrong(play.person) == {}, forgery.__name__
        found = wrong(play.person, "--rerun")
        assert any(said in text for text in found.values()), (forgery.__name__, found)
