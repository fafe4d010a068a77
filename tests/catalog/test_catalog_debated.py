"""A debate in front of a stage: who may want one, where it stands, and what it is given."""

import json

import pytest

from agentforge.catalog.debated import Debated
from agentforge.catalog.ends import Ends
from agentforge.catalog.extending import extended, further_lines
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Stage
from tests.rows import every

CATALOG = Catalog.packaged()
NAMED = """\
extends: "agentforge:implement"
pipeline:
  lanes:
    full:
      replace:
        spec: {name: spec, required: true, gates: [debate, contracts, review]}
"""
"""A project that wants its larger changes debated."""


def _ours(pipeline: str = NAMED) -> Catalog:
    return CATALOG.with_overrides({".agentforge/pipelines/implement.yaml": pipeline})


def _names(catalog: Catalog, lane: str, debate: Debated = "named") -> list[str]:
    return [stage.name for stage in catalog.resolve("implement", lane, debate=debate).pipeline().stages]


def _stage(catalog: Catalog, lane: str, name: str, debate: Debated = "named") -> Stage:
    return catalog.resolve("implement", lane, debate=debate).pipeline().stage(name)


def test_no_packaged_pipeline_debates_unless_somebody_says_so() -> None:
    for name in CATALOG.names("pipelines") - {"debate"}:
        stages = CATALOG.resolve(name).pipeline().stages
        assert not [stage for stage in stages if stage.debaters or "debate" in stage.gates], name


def test_a_stage_that_has_the_gate_is_debated_first_and_is_given_the_decision() -> None:
    assert _names(_ours(), "full")[2:6] == ["analyze", "options", "debate", "spec"]
    spec = _stage(_ours(), "full", "spec")
    assert spec.requires[-1] == "debate_synthesis"
    assert spec.gates == ("contracts", "review")  # what judges the specification is as it was
    debate = _stage(_ours(), "full", "debate")
    assert [item.role for item in debate.debaters] == ["advocate", "skeptic", "operator"]
    assert debate.requires == ("intake_record", "clarification", "analysis", "debate_plan")
    assert len({item.tier for item in debate.debaters}) == 2


def test_what_is_named_is_held_unless_the_decision_is_minor_and_what_is_asked_for_always() -> None:
    assert {_stage(_ours(), "full", name).skip_if for name in ("options", "debate")} == {"minor_decision"}
    assert {_stage(CATALOG, "full", name, "always").skip_if for name in ("options", "debate")} == {""}


@every(("lane", "before"), [("hotfix", "patch"), ("small", "frame"), ("full", "spec")])
def test_asked_for_it_stands_before_whoever_writes_the_requirements(lane: str, before: str) -> None:
    names = _names(CATALOG, lane, "always")
    assert names[names.index(before) - 2 : names.index(before)] == ["options", "debate"]
    # What no earlier stage of the lane makes is not asked for.
    made: set[str] = set()
    for stage in CATALOG.resolve("implement", lane, debate="always").pipeline().stages:
        assert set(stage.requires) <= made
        made |= {item.contract for item in stage.products}


def test_left_out_it_is_on_record_where_the_pipeline_wanted_it_and_only_there() -> None:
    assert _names(_ours(), "full", "never") == _names(CATALOG, "full")
    assert _stage(_ours(), "full", "spec", "never").undebated == "it was left out with --no-debate"
    assert _stage(CATALOG, "full", "spec", "never").undebated == ""


def test_a_lane_that_a_task_rises_to_does_not_debate_what_is_specified() -> None:
    line = _ours().resolve("implement", "small")
    assert [stage.name for stage in line.higher()[0].stages] == _names(CATALOG, "full")


def test_a_task_that_goes_on_with_a_debating_pipeline_does_not_specify_again() -> None:
    catalog = _ours()
    design = catalog.resolve("design")
    assert further_lines(catalog, design.pipeline())[0].exits[-1] == "deliver"
    rest = extended(catalog, design, design.pipeline(), "deliver").pipeline()
    assert rest.stages[0].name == "red"


@every(
    ("pipeline", "debate", "says"),
    [
        ("review", "always", "nobody writes a specification"),
        ("document", "always", "nobody writes a specification"),
        ("debate", "never", "is a debate itself"),
    ],
)
def test_where_there_can_be_none_it_is_said_before_anything_is_paid(
    pipeline: str, debate: Debated, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        CATALOG.resolve(pipeline, debate=debate)


def test_a_specification_that_is_handed_in_is_not_debated() -> None:
    given = Ends(given=frozenset({"specification"}))
    with pytest.raises(UsageError, match="nobody writes a specification"):
        CATALOG.resolve("implement", "full", ends=given, debate="always")


def test_two_debates_in_one_line_are_refused() -> None:
    both = NAMED + "        analyze: {name: analyze, required: true, gates: [debate, contracts]}\n"
    with pytest.raises(UsageError, match="wants two debates, for analyze and spec"):
        _names(_ours(both), "full")


def test_a_project_may_hear_more_and_not_fewer() -> None:
    fewer = 'extends: "agentforge:debate"\ndebaters: [advocate, operator]\n'
    catalog = CATALOG.with_overrides({".agentforge/stages/debate.yaml": fewer})
    with pytest.raises(UsageError, match="drops the debater skeptic"):
        catalog.resolve("debate")
    skeptic = CATALOG.document("agents", "skeptic")
    own = {**skeptic, "agent": {**skeptic["agent"], "role": "cynic"}}
    more = CATALOG.with_overrides(
        {
            ".agentforge/stages/debate.yaml": 'extends: "agentforge:debate"\n+debaters: [cynic]\n',
            ".agentforge/agents/cynic.yaml": json.dumps(own),
        }
    )
    heard = more.resolve("debate").pipeline().stage("debate").debaters
    assert [item.role for item in heard] == ["advocate", "skeptic", "operator", "cynic"]


@every(
    ("change", "says"),
    [
        ("debaters: [advocate, skeptic, operator, reviewer]", "reviewer cannot be a debater"),
        ("debaters: [advocate, skeptic, operator, skeptic]", "names a debater twice"),
        ("gates: [contracts]", "drops the gate debate"),
        ("role: null", "no role weighs what its debaters say"),
    ],
)
def test_a_debate_that_cannot_work_is_refused_with_its_reason(change: str, says: str) -> None:
    text = f'extends: "agentforge:debate"\n{change}\n'
    with pytest.raises(UsageError, match=says):
        CATALOG.with_overrides({".agentforge/stages/debate.yaml": text}).resolve("debate")
