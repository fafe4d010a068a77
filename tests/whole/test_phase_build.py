"""The plan of a workflow, built by our own pipelines through the installed command, and what it proves."""

from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.phases import PHASES
from agentforge.phases import advance
from tests.depth import shown_by
from tests.phases.desk import Desk, argue, fill
from tests.surfaces.shapes import conform
from tests.whole.checkouts import (
    ADDED,
    EDITED,
    FIX,
    PAPERS,
    PROJECT,
    Person,
    make_repository,
    patch,
    review,
)
from tests.whole.debates import OPTIONS, argued, decided

PLAN = "docs/forge/phases/plan.md"
SECOND = "tests/test_triple.py"
BUILT = "Design tokens: triple triples its number"
"""It begins as the request for a design does, and is to be built all the same."""


@pytest.fixture
def person(tmp_path: Path, agentforge_home: Path) -> Person:
    return Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")


def _ready_to_build() -> dict[str, str]:
    """A workflow whose phases before `build` are over."""
    desk = Desk()
    desk.do(lambda tree: advance.start(tree, "Numbers that grow"))
    for phase in PHASES[1 : PHASES.index("build")]:
        desk.do(advance.resume)
        fill(desk.files, phase)
        if phase == "plan":
            desk.files[PLAN] = desk.files[PLAN].replace("The token expires", BUILT)
        done = desk.do(advance.resume)
        if done.action == "planned_debate":
            argue(desk.files, done.state.debate_id)
            done = desk.do(advance.resume)
        assert done.action == "completed", done.waiting
    return desk.files


def _second() -> dict[str, Any]:
    """What the model says for the second item, which begins where the first one ended."""
    papers = {
        **PAPERS,
        "specification": {
            **PAPERS["specification"],
            "title": "triple triples",
            "description": "triple returns three times its argument",
            "requirements": [
                {
                    "id": "REQ-001",
                    "description": "three times the argument",
                    "acceptance_criteria": ["triple(2) is 6"],
                }
            ],
        },
        "test_suite": {
            "test_files": [
                {"path": SECOND, "tests": [{"name": "test_two_becomes_six", "requirement_ref": "REQ-001"}]}
            ]
        },
        "implementation": {"summary": "triple is double and one more"},
    }
    test = "from calc import triple\n\n\ndef test_two_becomes_six() -> None:\n    assert triple(2) == 6\n"
    old = "    return number * 2\n"
    new = f'{old}\n\ndef triple(number: int) -> int:\n    """Three times the number."""\n    return double(number) + number\n'
    actions = [
        {"name": "create_file", "args": {"path": SECOND, "content": test}},
        {"name": "edit_file", "args": {"path": EDITED, "old": old, "new": new}},
    ]
    return {"stage": "patch", "reply": {"actions": actions, "artifacts": papers, "signal": "success"}}


def _first_by_hand(person: Person) -> None:
    """A person builds the first item on a branch of their own, and notes it."""
    person.git("checkout", "-q", "-b", "feat/one")
    code = PROJECT[EDITED].replace("return number", "return number * 2")
    person.write({EDITED: code, ADDED: FIX[0]["args"]["content"]})
    person.commit_all()
    person.git("checkout", "-q", "-")
    person.write(_ready_to_build())
    assert person.run("phase", "continue").code == 0
    log = person.checkout / "docs/forge/phases/build.md"
    rule = "|------|------|--------|--------|----------|\n"
    row = f"| P1 | by hand | feat/one | done | {ADDED} |\n"
    log.write_text(log.read_text().replace(rule, rule + row))


@shown_by(
    "tests/whole/test_phase_build.py::test_two_items_are_built_by_two_tasks_in_a_row_and_both_are_the_evidence"
)
def test_each_item_is_built_on_the_branch_of_the_one_before_and_its_proof_is_the_evidence(
    person: Person,
) -> None:
    _first_by_hand(person)
    head = person.git("rev-parse", "HEAD")
    build = ("phase", "build", PLAN, "--lane", "hotfix", "--model", f"scripted:{person.script}", "--yes")
    person.scripted(_second())
    stopped = person.run(*build, "--budget", "1", "--sandbox", "auto")
    assert stopped.code == 1, stopped.said
    log = person.checkout / "docs/forge/phases/build.md"
    assert "| P1 | by hand | feat/one | done |" in log.read_text()
    assert "| failed |" in log.read_text()  # nobody reviewed it

    person.scripted(_second(), review())
    done = person.run(*build, "--json")
    assert done.code == 0, done.said
    found = conform("phase build", done.out)
    assert [item["status"] for item in found["items"]] == ["done", "delivered"]
    assert "1 requirement proved, seal " in found["items"][1]["evidence"]
    assert found["action"] == "completed"
    person.git("merge-base", "--is-ancestor", "feat/one", found["items"][1]["branch"])
    assert len(list((person.checkout / ".agentforge/tasks").iterdir())) == 1  # it went on with the one it had

    built = log.read_text()
    log.write_text(built.replace("| by hand |", "| task-20300131-nobody |"))  # it never was
    invented = person.run("phase", "validate")
    assert invented.code == 3, invented.said
    assert "P1: double doubles its number" in invented.out
    log.write_text(built)
    validated = person.run("phase", "validate", "--json")
    assert validated.code == 0, validated.said
    assert conform("phase validate", validated.out)["action"] == "completed"
    report = (person.checkout / "docs/forge/validation-report.md").read_text()
    assert f"{SECOND}::test_two_becomes_six (error before, passed after)" in report
    assert "| by hand |" in report
    assert "test_two_becomes_six" in (person.checkout / "docs/forge/knowledge/traceability.md").read_text()
    assert person.git("rev-parse", "HEAD") == head


@pytest.mark.slow
def test_two_items_are_built_by_two_tasks_in_a_row_and_both_are_the_evidence(person: Person) -> None:
    person.write(_ready_to_build())
    person.scripted(patch(*FIX), review(), _second(), review())
    build = ("phase", "build", "--lane", "hotfix", "--model", f"scripted:{person.script}", "--yes", "--json")
    done = person.run(*build)
    assert done.code == 0, done.said
    one, two = conform("phase build", done.out)["items"]
    assert (one["status"], two["status"]) == ("delivered", "delivered")
    assert one["task"] != two["task"]
    base = person.git("merge-base", one["branch"], two["branch"])
    assert base == person.git("rev-parse", one["branch"])  # the second begins where the first one ended
    assert person.git("diff", "--name-only", one["branch"], two["branch"]).split() == [EDITED, SECOND]
    validated = person.run("phase", "validate", "--json")
    assert validated.code == 0, validated.said
    report = (person.checkout / "docs/forge/validation-report.md").read_text()
    assert f"{ADDED}::test_two_becomes_four (failed before, passed after)" in report
    assert f"{SECOND}::test_two_becomes_six (error before, passed after)" in report
    assert f"| {one['task']} |" in report
    assert f"| {two['task']} |" in report
    again = person.run(*build)
    assert again.code == 2, again.said  # it is built: nothing is started
    assert len(list((person.checkout / ".agentforge/tasks").iterdir())) == 2


def test_our_own_models_argue_and_the_gate_judges_what_they_wrote(person: Person) -> None:
    desk = Desk()
    desk.do(lambda tree: advance.start(tree, "Sessions"))
    desk.do(advance.resume)
    fill(desk.files, "brainstorm")
    options = "docs/forge/brainstorm-options.md"
    for number, name in enumerate(OPTIONS):
        old = ("JWT with refresh tokens", "Server sessions", "External provider")[number]
        desk.files[options] = desk.files[options].replace(old, name)
    debate_id = desk.do(advance.resume).state.debate_id
    person.write(desk.files)
    person.scripted(*argued(), decided())
    done = person.run("phase", "debate", "--run", "--model", f"scripted:{person.script}", "--json")
    assert done.code == 0, done.said
    assert done.data["option"] == "Postgres"
    folder = person.checkout / "docs/forge/debate" / debate_id
    assert {path.name for path in folder.iterdir()} == {
        "debate-plan.md",
        "advocate.md",
        "skeptic.md",
        "operator.md",
        "synthesis.md",
    }
    again = person.run("phase", "debate", "--run", "--model", "scripted:nowhere.yaml", "--json")
    assert again.code == 0, again.said  # it is over: nobody is asked
    assert person.run("phase", "continue").code == 0
    assert "### D1: Postgres" in (person.checkout / "docs/forge/knowledge/decisions.md").read_text()
