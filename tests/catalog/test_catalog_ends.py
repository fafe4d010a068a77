"""Claims about the keys by which a template says where its tasks begin and end, and what they are given."""

import pytest

from agentforge.catalog.ends import Ends
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Pipeline
from tests.rows import every

CATALOG = Catalog.packaged()
PLACE = ".agentforge/pipelines/own.yaml"
OWN = """\
pipeline:
  name: own
  description: Ours
  goal_type: implement
  accepts_external:
    what_to_build: {contract: specification, skips_to: red}
    how_to_prove_it: {contract: test_suite, skips_to: green, requires: [specification]}
  stages:
    - {name: intake, required: true, skip_if: "external_spec_provided"}
    - {name: clarify, required: true, skip_if: "no_ambiguities OR spec_provided"}
    - {name: analyze, required: true}
    - {name: spec, required: true}
    - {name: red, required: true, purpose: prove that it is missing.}
    - {name: green, required: true}
    - {name: refactor, required: true}
    - {name: deliver, required: true, default_exit: true}
  exit: {stage: deliver, deliverable: delivery_report}
"""


WHOLE = Ends()
SPECIFICATION = frozenset({"specification"})


def line(ends: Ends = WHOLE, text: str = OWN) -> Pipeline:
    return CATALOG.with_overrides({PLACE: text}).resolve("own", ends=ends).pipeline()


def test_what_is_accepted_from_outside_leads_to_its_stage_and_what_came_before_is_passed_over() -> None:
    whole = line()
    assert (whole.entry_stage, whole.exit_stage, whole.passed_over) == ("intake", "deliver", ())
    told = line(Ends(given=SPECIFICATION))
    assert (told.entry_stage, told.stages[0].name) == ("red", "entry")
    assert told.passed_over == tuple(
        (name, "spec_provided") for name in ("intake", "clarify", "analyze", "spec")
    )
    derived = {product.contract: product.derived for product in told.stages[0].products}
    assert derived == {"intake_record": True, "clarification": True, "analysis": True, "specification": False}
    proved = line(Ends(given=SPECIFICATION | {"test_suite"}))
    assert (proved.entry_stage, proved.stages[0].gates) == ("green", ("red", "contracts"))


@every(
    ("text", "ends", "said"),
    [
        (
            OWN,
            Ends(given=frozenset({"test_suite"})),
            "A test_suite from outside needs its specification too.",
        ),
        (
            OWN,
            Ends(given=frozenset({"analysis"})),
            "takes no analysis from outside; it takes specification and test_suite",
        ),
        (OWN, Ends(leave="clarify"), "cannot end at clarify; it can end at analyze, spec, red, green"),
        (OWN, Ends("green"), "cannot begin at green; it can begin at intake, analyze, red (with a "),
        (OWN, Ends("red", "analyze", SPECIFICATION), "begins at red cannot end at analyze"),
        (
            OWN.replace(", default_exit: true", ""),
            Ends(),
            "its last stage, and no other, is the `default_exit`",
        ),
        (OWN.replace("stage: deliver,", "stage: spec,"), Ends(), "`exit.stage` names it"),
        (OWN.replace("delivery_report", "analysis"), Ends(), "does not produce the deliverable analysis"),
        (
            OWN.replace("external_spec_provided", "external_spec"),
            Ends(),
            "did you mean external_spec_provided?",
        ),
        (OWN.replace("skips_to: red", "skips_to: rde"), Ends(), "did you mean red?"),
    ],
)
def test_a_wrong_end_names_the_legal_ones(text: str, ends: Ends, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        line(ends, text)
    assert said in str(caught.value)


def test_what_a_pipeline_cannot_begin_without_is_shown_to_all_of_its_stages() -> None:
    needs = "  requires_external: {it: {contract: specification, source: user_provided}}\n  stages:\n"
    text = (
        "pipeline:\n  name: own\n  description: Ours\n  goal_type: test\n"
        f"{needs}    - {{name: analyze}}\n    - {{name: red, default_exit: true}}\n"
        "  exit: {stage: red, deliverable: test_suite}\n"
    )
    found = line(Ends(given=SPECIFICATION), text)
    assert [(stage.name, "specification" in stage.requires) for stage in found.stages[1:]] == [
        ("analyze", True),
        ("red", True),
    ]


def test_a_purpose_is_told_and_a_required_stage_cannot_be_removed() -> None:
    catalog = CATALOG.with_overrides({PLACE: OWN})
    assert catalog.resolve("own").prompt("red").endswith("In this task: prove that it is missing.\n")
    less = "extends: own\npipeline: {name: less, remove: [refactor]}\n"
    with pytest.raises(UsageError, match="refactor is required and cannot be removed"):
        CATALOG.with_overrides({PLACE: OWN, ".agentforge/pipelines/less.yaml": less}).resolve("less")
    loose = OWN.replace("{name: refactor, required: true}", "{name: refactor}")
    files = {PLACE: loose, ".agentforge/pipelines/less.yaml": less}
    assert "refactor" not in [
        stage.name for stage in CATALOG.with_overrides(files).resolve("less").pipeline().stages
    ]
