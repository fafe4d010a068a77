"""Files as a reader of the specification writes them: each is valid by itself, and a project that is made of
nothing else runs.
"""

from pathlib import Path

import pytest

from agentforge.catalog.check import judge_file, place_of
from tests.whole.full_plays import (
    SECURITY,
    analyze,
    approves,
    clarify,
    deliver,
    evidence,
    final,
    intake,
    newest,
    open_points,
    refactor,
    spec,
    start,
    steps,
)
from tests.whole.plays import NEW_TEST, SOURCE, Play, edit, finished, green, red

FOLDER = Path(__file__).parents[1] / "catalog/specified"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yaml"))}
PLACES = {name: place_of(FOLDER / name, text) for name, text in FILES.items()}
CATALOGUE = [name for name, place in PLACES.items() if place.startswith(".agentforge/")]
SECOND_OF_ITS_PLACE = (
    "12_13_override_software_developer.yaml",
    "12_2_agent_test_engineer.yaml",
    "13_4_stages.yaml",
)
"""Files that another one stands in the place of; a project has one of them."""


def project(*preferred: str) -> dict[str, str]:
    """Every file in its place; of two for one place, the preferred one."""
    left_out = {name for name in SECOND_OF_ITS_PLACE if name not in preferred}
    taken = {PLACES[name] for name in preferred} | ({CONFIGS[1]} if CONFIGS[0] in preferred else set())
    return {
        PLACES[name]: FILES[name]
        for name in CATALOGUE
        if name in preferred or (name not in left_out and PLACES[name] not in taken)
    }


CONFIGS = ("13_4_stages.yaml", ".agentforge/orchestration/pipeline.yaml")


def test_every_file_is_valid_through_the_command(play: Play) -> None:
    assert len(FILES) == 24
    for name in FILES:
        done = play.person.run("pipelines", "validate", str(FOLDER / name))
        assert (done.code, f"{name}: valid as {PLACES[name]}." in done.out) == (0, True), done.said


def test_all_of_them_are_valid_beside_one_another() -> None:
    for files in (project(), project(*SECOND_OF_ITS_PLACE)):
        for place, text in files.items():
            found = judge_file({path: other for path, other in files.items() if path != place}, place, text)
            assert (found.wrong, found.elsewhere) == ((), ()), place


def given(play: Play, files: dict[str, str]) -> Play:
    play.person.write(files)
    play.person.commit_all()
    return play


@pytest.mark.slow
def test_a_project_of_nothing_else_goes_from_a_request_to_a_branch(play: Play) -> None:
    entries = [
        intake(expects=("extract clear, actionable requirements",)),
        clarify(),  # the pipeline skips it only where a specification is handed in
        analyze(expects=("You design software solutions",)),
        spec(),
        approves("spec", SECURITY, expects=("You assume malicious input",)),
        red(expects=("Your tests define the expected behavior",)),
        green(expects=("You write the minimum code needed",)),
        refactor(),
        approves("refactor", SECURITY),
        deliver(),
    ]
    data = finished(start(given(play, project()), *entries, words=()))
    assert (data["pipeline"], data["cost"]["calls"]) == ("implement", len(entries))
    changed = play.person.git("diff", "--name-only", data["base"], data["branch"]).splitlines()
    assert sorted(changed) == [SOURCE, NEW_TEST]
    gone = "refactor was not read by reviewer: the project leaves this reviewer out"
    assert gone in open_points(play.top)
    assert gone in evidence(play.top)["not_checked"]
    verification = final(play.top, "refactor", "implementation")["verification"]
    assert (verification["all_tests_pass"], verification["test_lock_held"]) == (True, True)
    assert play.person.run("verify", data["task_id"]).code == 0


@pytest.mark.slow
def test_its_design_is_tested_and_built_and_each_pipeline_is_the_projects_own(play: Play) -> None:
    given(play, project(*SECOND_OF_ITS_PLACE))
    model = ("--model", f"scripted:{play.person.script}", "--json")
    play.person.scripted(intake(), analyze(), spec(), approves("spec", SECURITY))
    designed = finished(play.person.run("design", "net must take the discount off the price", *model))
    task = designed["task_id"]
    play.person.scripted(analyze(expects=("the discount is off",)), red())
    tested = finished(play.person.run("test", "--from-task", task, *model))
    assert [change.path for change in play.person.changes(tested["base"], tested["branch"])] == [NEW_TEST]
    play.person.scripted(
        red(),
        green(edit("tests/test_price.py", "3 EUR", "4 EUR"), expects=("Django framework", "Use Django ORM")),
        green(expects=("closed to this role", {"not": "run_django_migrations"})),
        refactor(),
        approves("refactor", SECURITY),
        deliver(),
    )
    built = finished(play.person.run("implement", "--from-task", task, *model))
    assert built["cost"]["calls"] == 6
    assert {step["agent"]["role"] for step in steps(play.top)} == {
        *("test_engineer", "software_developer", "senior_developer", "security_architect", "devops_engineer")
    }
    state = (newest(play.top) / "state.yaml").read_text(encoding="utf-8")
    assert "template: implement" in state
    assert "reason: spec_provided" in state
