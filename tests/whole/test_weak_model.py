"""A model that makes a weak model's usual mistakes: it gets through, or the task ends in a sentence that says
where it got lost.
"""

from pathlib import Path

import pytest

from agentforge.models.base import parse_reply_text
from tests.depth import telling
from tests.rows import every
from tests.whole.checkouts import Done, Person, make_repository
from tests.whole.plays import finished
from tests.whole.weak_model import APPROVAL, READ, REQUEST, RIGHT, TAKEN, TOLD, Lost, sample

Said = tuple[str, str, str, str]
"""The stage, the reply, why it ended, and what the context must show before it."""


@pytest.fixture
def pantry(tmp_path: Path, agentforge_home: Path) -> Person:
    return Person(make_repository(tmp_path / "checkout", sample()), tmp_path / "script.yaml")


def played(pantry: Person, *mistakes: Lost, tries: int = 1) -> Done:
    """The mistakes in a row, each answered at the next step, then the right reply."""
    entries = []
    told = ""
    for each in (*mistakes, *[Lost(RIGHT, "")] * tries):
        expects = {"expects": [f"(?s){told}"]} if told else {}
        entries.append({"stage": "patch", "reply": each.text, "stop": each.stop, **expects})
        told = each.told
    pantry.scripted(*entries, {"stage": "review", "reply": APPROVAL})
    return pantry.run("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{pantry.script}", "--json")


@every("spelling", list(READ))
def test_a_spelling_that_can_mean_one_thing_only_is_the_right_reply(spelling: str) -> None:
    right = parse_reply_text(RIGHT).reply
    assert right is not None
    reply, mistake = parse_reply_text(READ[spelling])
    assert reply is not None, mistake
    assert reply.actions == right.actions
    assert mistake is None


@pytest.mark.slow
@pytest.mark.parametrize("mistake", telling(list(TAKEN), 2))
def test_what_can_only_be_meant_one_way_costs_no_call(pantry: Person, mistake: str) -> None:
    done = finished(played(pantry, Lost(TAKEN[mistake], ""), tries=0))
    assert done["cost"]["calls"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("mistake", telling(list(TOLD), 1))
def test_each_mistake_alone_costs_one_call_and_its_cause_is_shown(pantry: Person, mistake: str) -> None:
    done = finished(played(pantry, TOLD[mistake]))
    assert done["cost"]["calls"] == 3


@pytest.mark.slow
def test_several_mistakes_in_a_row_end_in_a_verified_branch(pantry: Person) -> None:
    row = [
        TOLD[name]
        for name in (
            "prose",
            "documents without the work",
            "an invented file",
            "a cut reply",
            "an invented test",
        )
    ]
    done = finished(played(pantry, *row))
    assert done["cost"]["calls"] == len(row) + 2


@pytest.mark.slow
def test_a_model_that_never_finds_its_way_ends_in_a_sentence_that_says_where(pantry: Person) -> None:
    done = played(pantry, *[TOLD["an invented file"]] * 3, tries=0)
    assert done.code == 3, done.said
    question = done.data["escalation"]["question"]["text"]
    assert "Stage patch is stuck: the model gave the same reply twice" in question
    assert "there is no file `src/pantry/quantities.py`; did you mean `src/pantry/quantity.py`?" in question
