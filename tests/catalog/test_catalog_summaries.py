"""Claims about the sentence that sums up what a task hands over."""

from agentforge.catalog.check import judge_file
from agentforge.catalog.load import Catalog
from agentforge.catalog.summaries import summed_up, template_problem, templates
from agentforge.core.reply import Json
from tests.rows import every

PLACE = ".agentforge/pipelines/design.yaml"
SPECIFICATION: dict[str, Json] = {
    "title": "Greet the world",
    "requirements": [{"acceptance_criteria": ["a", "b"]}, {"acceptance_criteria": ["c"]}],
    "files_to_modify": ["a.py"],
}


@every("name", sorted(templates()))
def test_every_template_of_ours_can_be_filled(name: str) -> None:
    assert template_problem(name) == ""


def test_what_is_counted_has_its_noun_and_what_is_not_there_is_none() -> None:
    said = summed_up(
        "{title}: {requirements}, {criteria}, {files}, {risks} in {task}.", SPECIFICATION, {"task": "t"}
    )
    assert said == "Greet the world: 2 requirements, 3 acceptance criteria, 1 file, 0 risks in t."
    suite: dict[str, Json] = {
        "test_files": [{"tests": [{"requirement_ref": "REQ-001"}, {"requirement_ref": "REQ-001"}]}]
    }
    assert summed_up("{tests} for {requirements}", suite, {}) == "2 tests for 1 requirement"


def test_braces_in_a_document_are_text_and_nothing_of_it_is_run() -> None:
    odd: dict[str, Json] = {"title": "{task} {request} {0.__class__}"}
    assert summed_up("{title}|{task}", odd, {"task": "t"}) == "{task} {request} {0.__class__}|t"


@every(
    ("said", "wrong"),
    [
        ("design_summary", ""),
        ("All of it: {title}", ""),
        ("desing_summary", "there is no template desing_summary; did you mean design_summary?"),
        ("{titel} is done", "{titel} is nothing that can be filled in; did you mean title?"),
    ],
)
def test_a_project_names_a_template_or_writes_one(said: str, wrong: str) -> None:
    text = f'extends: "agentforge:design"\npipeline:\n  exit:\n    summary_template: "{said}"\n'
    found = judge_file({}, PLACE, text)
    if wrong:
        (fault,) = found.wrong
        assert f"{PLACE}:4: pipeline.exit.summary_template: {wrong}" in fault
    else:
        assert found.wrong == ()
        pipeline = Catalog.packaged().with_overrides({PLACE: text}).resolve("design").pipeline()
        assert pipeline.summary == templates().get(said, said)
