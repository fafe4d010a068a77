"""What a command tells a person to type next works when it is pasted: every line under *Next:*, at each of the
ends that a task can have.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.whole.checkouts import FIX, PROJECT, Done, Person, make_repository, patch, review

ASKS = {
    "name": "escalate",
    "args": {
        "question": "Two times, or two more?",
        "options": ["two more", "two times"],
        "recommendation": "I would take two times: the name says so.",
    },
}


@pytest.fixture
def person(tmp_path: Path, agentforge_home: Path) -> Person:
    return Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")


def begin(person: Person) -> Done:
    return person.run(*(word for word in person._start() if word != "--json"))


def pasted(person: Person, lines: Sequence[str]) -> list[int]:
    return [person.paste(line).code for line in lines]


def words(lines: Sequence[str]) -> list[str]:
    """The commands without what is different each time."""
    return [" ".join(line.split()[:2]) for line in lines]


def test_after_a_question_and_after_a_delivery(person: Person) -> None:
    person.write({"tests/test_broken.py": "def test_never() -> None:\n    assert False\n"})
    person.commit_all()
    person.scripted(patch(ASKS, done=False), patch(*FIX), review())
    asked = begin(person)
    assert asked.code == 3
    answer, show, _ = asked.next
    assert answer.endswith("--answer 'two times'"), (
        "not the first option, where the recommendation names another"
    )
    assert words(asked.next) == ["agentforge resolve", "agentforge escalations", "agentforge abort"]
    assert pasted(person, [show]) == [0]

    done = person.paste(answer)
    assert done.code == 0, done.said
    assert "Tests: 2/3 (1 did not pass before)" in person.run("status").out, "no failure of the task"
    assert "tests     2 of 3 pass (1 did not pass before)" in person.run("status", "@1", "--detail").out
    assert words(done.next) == ["git diff", "agentforge verify", "agentforge merge"]
    assert pasted(person, done.next) == [0, 0, 0]
    assert "double" in person.git("log", "-1", "--format=%B", "main")
    again = person.run("continue", person.only_task())
    assert (again.code, again.next) == (0, done.next), "a finished task says the same again"


def test_after_a_question_whose_recommendation_is_none_of_the_answers(person: Person) -> None:
    person.write({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    person.commit_all()
    person.scripted(patch(*FIX), review())
    asked = begin(person)
    assert asked.code == 3
    assert "retry" not in " ".join(asked.next), "it would end the same way"
    assert words(asked.next) == ["agentforge escalations", "agentforge abort", "agentforge start"]
    (person.checkout / "pytest.ini").unlink()
    person.commit_all()
    show, abort, start = asked.next
    assert pasted(person, [show, abort]) == [0, 0]
    assert words(person.run("continue", person.only_task()).next) == words(asked.next), (
        "an abort can be undone"
    )
    begun = person.paste(start)
    assert (begun.code, words(begun.next)[-1]) == (0, "agentforge merge"), begun.said


def test_where_the_model_got_no_further_another_one_comes_before_the_same_again(person: Person) -> None:
    person.scripted(patch(done=False), patch(done=False))
    asked = begin(person)
    assert (asked.code, "is stuck: the model gave the same reply" in asked.out) == (3, True), asked.said
    assert "recommended say in your own words what should be different" in asked.out
    assert words(asked.next) == [
        "agentforge continue",
        "agentforge resolve",
        "agentforge escalations",
        "agentforge abort",
    ]
    assert "retry" not in " ".join(asked.next), "it would end the same way"
    same = person.paste(asked.next[0].replace("PROVIDER:NAME", f"scripted:{person.script}"))
    assert (same.code, same.next) == (3, asked.next), "the same model is no other one"
    person.scripted(patch(done=False), patch(done=False), patch(*FIX), review())
    other = person.script.rename(person.script.with_name("other.yaml"))
    done = person.paste(asked.next[0].replace("PROVIDER:NAME", f"scripted:{other}"))
    assert done.code == 0, done.said
    assert "retry" in person.run("escalations", "list", "--all").out


def test_after_a_failure_and_after_a_death(person: Person) -> None:
    person.scripted(patch(*FIX))
    failed = begin(person)
    assert failed.code == 1
    assert words(failed.next) == ["agentforge continue", "agentforge inspect"]
    person.scripted(patch(*FIX), review())
    assert pasted(person, failed.next) == [0, 0], "what was wrong is mended"

    person.run_and_kill_at("worktree", *person._start())
    stopped = person.run("status", "@1").out.partition("\nnext\n")[2].splitlines()
    lines = [line.strip() for line in stopped if line.startswith("  ")]
    assert words(lines) == ["agentforge continue", "agentforge inspect"]
    assert pasted(person, lines[::-1]) == [0, 0]
