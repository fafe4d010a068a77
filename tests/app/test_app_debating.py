"""A debate as a function: its files by name, the same debate for the same question, and a question where one
must be answered.
"""

from pathlib import Path

import pytest

from agentforge.app.intake.starting import StartOptions
from agentforge.app.workflow.debating import DebateQuestion, plan_of, run_debate
from agentforge.core.errors import Unanswered, UsageError
from agentforge.gates.debates.files import judge_debate
from tests.whole.checkouts import Person, make_repository
from tests.whole.debates import OPTIONS, QUESTION, argued, decided

ASKED = DebateQuestion(QUESTION, OPTIONS, "Ten thousand roses", ("Old clients go on",))


@pytest.fixture
def garden(tmp_path: Path, home: Path) -> Person:
    return Person(make_repository(tmp_path / "garden", {"roses.txt": "red\n"}), tmp_path / "script.yaml")


def run(garden: Person, question: DebateQuestion = ASKED) -> dict[str, str]:
    return run_debate(garden.checkout, question, options=StartOptions("", model=f"scripted:{garden.script}"))


def test_the_files_of_a_debate_pass_the_gate_and_the_same_question_is_not_argued_again(
    garden: Person, capfd: pytest.CaptureFixture[str]
) -> None:
    garden.scripted(*argued(), decided())
    files = run(garden)
    assert judge_debate(files).complete
    assert "Ten thousand roses" in files["debate-plan.md"]
    garden.scripted()  # whoever were asked now would have nothing to say
    assert run(garden) == files
    garden.only_task()
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_debate_that_waits_for_a_person_says_for_what_and_goes_on_from_there(garden: Person) -> None:
    asks = {"name": "escalate", "args": {"question": "Who pays for the servers?"}}
    first, *rest = argued()
    stuck = {"stage": "debate", "role": "advocate", "reply": {"actions": [asks]}}
    garden.scripted(stuck, first, *rest, decided())
    with pytest.raises(Unanswered, match="Who pays for the servers") as waiting:
        run(garden)
    assert waiting.value.exit_code == 3
    task = garden.only_task()
    assert garden.run("resolve", "ESC-001", "--task", task, "--answer", "we do").code == 0
    assert judge_debate(run(garden)).complete
    assert garden.only_task() == task


def test_a_secret_in_a_question_goes_to_nobody() -> None:
    token = "ghp_" + "a1B2" * 9
    plan = plan_of(DebateQuestion(f"Use {token}?", ("a", f"b: {token}", "c"), token, (token,)))
    assert token not in str(plan)


def test_without_options_somebody_is_asked_for_them_and_two_are_no_debate() -> None:
    assert plan_of(DebateQuestion(QUESTION)) is None
    with pytest.raises(UsageError, match="3 options or more, and this one 2"):
        plan_of(DebateQuestion(QUESTION, ("a", "b")))
    plan = plan_of(DebateQuestion(QUESTION, ("a", "b: about b", "c: d: e")))
    assert plan is not None
    assert plan["options"] == [
        {"name": "a", "description": "a"},
        {"name": "b", "description": "about b"},
        {"name": "c", "description": "d: e"},
    ]
