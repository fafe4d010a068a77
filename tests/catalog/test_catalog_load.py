"""Claims about the catalogue: packaged files, a project's overrides, and resolved lanes."""

import json

import pytest

from agentforge.catalog.contracts import compile_contract, problems
from agentforge.catalog.extends import KINDS, Kind
from agentforge.catalog.load import META, Catalog, ResolvedPipeline
from agentforge.catalog.prompts import system_prompt
from agentforge.catalog.roles import RESERVED_TOOLS
from agentforge.catalog.rules import CATALOG_RULES
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import LANES, PREDICATES, Product
from agentforge.system.canon import digest_value
from tests.rows import every

CATALOG = Catalog.packaged()
EVERY_FILE = [(kind, name) for kind in KINDS for name in sorted(CATALOG.names(kind))]


@every(("kind", "name"), EVERY_FILE)
def test_every_packaged_file_is_valid_under_its_meta_contract(kind: Kind, name: str) -> None:
    document = CATALOG.document(kind, name)
    if kind in META:
        assert problems(CATALOG.contract(META[kind]), document, final=True) == []
    else:
        assert compile_contract(document, name).name == name


def test_the_catalogue_knows_the_words_of_the_rules() -> None:
    assert set(CATALOG_RULES) <= set(PREDICATES)
    assert set(CATALOG.document("pipelines", "implement")["pipeline"]["lanes"]) == set(LANES)


@every("lane", LANES)
def test_a_resolved_lane_is_complete_in_itself(lane: str) -> None:
    value = json.loads(json.dumps(CATALOG.resolve("implement", lane).to_json()))
    assert digest_value(value) == digest_value(CATALOG.resolve("implement", lane).to_json())
    kept = ResolvedPipeline.from_json(value)
    for stage in kept.pipeline().stages:
        assert all(kept.contract(product.contract).name == product.contract for product in stage.products)
        assert all(kept.contract(name).name == name for name in stage.requires)
        if stage.role is not None:
            assert kept.role(stage.role).name == stage.role
            assert kept.prompt(stage.name)


def test_the_lanes_have_their_stages_and_every_boundary() -> None:
    small, hotfix = (CATALOG.resolve("implement", lane).pipeline() for lane in ("small", "hotfix"))
    assert [stage.name for stage in small.stages] == ["frame", "red", "green", "review", "deliver"]
    assert [stage.name for stage in hotfix.stages] == ["patch", "review", "deliver"]
    owed = [[product for stage in lane.stages for product in stage.products] for lane in (small, hotfix)]
    assert owed[0] == owed[1]
    whole = {
        product.contract
        for stage in CATALOG.resolve("implement", "full").pipeline().stages
        for product in stage.products
    }
    assert {product.contract for product in owed[0]} - whole == {"review"}
    assert Product("specification", "spec") in owed[0]
    assert [
        stage.returns_to for lane in (small, hotfix) for stage in lane.stages if stage.name == "review"
    ] == ["green", "patch"]


def test_an_unknown_lane_or_pipeline_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no lane wide; its lanes are hotfix, small"):
        CATALOG.resolve("implement", "wide")
    with pytest.raises(
        UsageError,
        match="no pipelines file `agentforge:dance`; there are analyse, curate, debate, design, document, fix",
    ):
        CATALOG.resolve("dance", "small")


@every("lane", LANES)
def test_the_system_prompt_fits_its_slot_and_keeps_its_order(lane: str) -> None:
    resolved = CATALOG.resolve("implement", lane)
    for stage in resolved.pipeline().stages:
        if stage.role is None:
            continue
        role = resolved.role(stage.role)
        text = system_prompt(role, stage, resolved.contracts_of(stage), resolved.prompt(stage.name))
        assert len(text) / 4 <= 1500, stage.name
        heads = [line for line in text.splitlines() if line.startswith("#")]
        assert heads == [
            f"# Role: {role.display_name}",
            "## Who you are",
            "## What you know",
            "## How you think",
            "## Rules",
            *(["## Limits of your tools"] if role.path_constraints else []),
            "## How a step works",
            "## Judged before it counts",
            f"## This stage: {stage.name}",
        ]


def test_path_limits_are_told_in_words() -> None:
    resolved = CATALOG.resolve("implement", "small")
    red, green = (stage for stage in resolved.pipeline().stages if stage.name in {"red", "green"})
    assert "create_file takes only test files" in system_prompt(resolved.role("test_engineer"), red, ())
    assert "edit_file never takes test files" in system_prompt(resolved.role("software_developer"), green, ())


def test_no_role_may_run_what_is_reserved_and_writers_are_limited() -> None:
    roles = {name: CATALOG.role(name) for name in CATALOG.names("agents")}
    for role in roles.values():
        assert not set(role.allowed) & RESERVED_TOOLS
        assert set(role.forbidden) >= RESERVED_TOOLS
    assert set(roles["test_engineer"].path_constraints.items()) == {
        (tool, "{tests}") for tool in ("create_file", "edit_file", "delete_file")
    }
    assert set(roles["software_developer"].path_constraints.values()) == {"!{tests}"}
    assert not {"create_file", "edit_file", "delete_file", "run_tests"} & set(roles["reviewer"].allowed)


DEVELOPER = ".agentforge/agents/software_developer.yaml"


def with_file(path: str, text: str) -> Catalog:
    return CATALOG.with_overrides({path: text})


def test_an_override_extends_merges_and_appends() -> None:
    catalog = with_file(
        DEVELOPER,
        'extends: "agentforge:software_developer"\nidentity:\n  expertise: [Django, SQL, '
        "HTTP]\n+constraints: [Use the ORM.]\n",
    )
    role, base = catalog.role("software_developer"), CATALOG.role("software_developer")
    assert role.expertise == ("Django", "SQL", "HTTP")
    assert role.constraints == (*base.constraints, "Use the ORM.")
    assert role.forbidden == base.forbidden
    assert catalog.resolve("implement", "small").role("software_developer") == role
    assert CATALOG.role("software_developer") == base


@every(
    ("text", "said"),
    [
        ("capabilities: {tools: {forbidden: [deploy]}}", "drops the forbidden tool commit"),
        (
            'capabilities: {tools: {path_constraints: {edit_file: "**"}}}',
            "drops the path limit !{tests} of edit_file",
        ),
        ("capabilities: {tools: {+allowed: [commit]}}", "commit is both allowed and forbidden"),
        ("capabilities: {output: {must_verify: [looks_nice]}}", "must_verify names looks_nice"),
        ("orchestration: {hands_off_to: [nobody]}", "names nobody, but there is no agents/nobody.yaml"),
        ("capabilities: {output: {contract: poem}}", "names poem, but there is no contracts/poem.yaml"),
        ("nonsense: 1", "nonsense: unknown key; allowed: agent, identity"),
        ("agent: {role: other}", "calls itself 'other'"),
        ("+agent: [x]", "`+agent` appends to a list"),
        ("constraints: [a]\n+constraints: [b]", "says both `constraints` and `+constraints`"),
    ],
)
def test_a_bad_override_is_refused_and_named(text: str, said: str) -> None:
    catalog = with_file(DEVELOPER, f'extends: "agentforge:software_developer"\n{text}\n')
    with pytest.raises(UsageError) as caught:
        catalog.role("software_developer")
    assert str(caught.value).startswith(DEVELOPER)
    assert said in str(caught.value)


def test_a_circular_extends_names_its_cycle() -> None:
    catalog = CATALOG.with_overrides(
        {".agentforge/agents/a.yaml": "extends: b", ".agentforge/agents/b.yaml": "extends: a"}
    )
    with pytest.raises(UsageError, match="circular extends in agents: a -> b -> a"):
        catalog.role("a")
    with pytest.raises(UsageError, match="circular extends in agents: a -> a"):
        with_file(".agentforge/agents/a.yaml", "extends: a").role("a")


def test_an_unknown_base_is_named() -> None:
    with pytest.raises(UsageError, match="no agents file `agentforge:ghost`"):
        with_file(".agentforge/agents/a.yaml", "extends: agentforge:ghost").role("a")
    with pytest.raises(UsageError, match=r"no agents file `agentforge:\.\./contracts/review`"):
        with_file(".agentforge/agents/a.yaml", "extends: agentforge:../contracts/review").role("a")


@every("text", ["agent: [", "a: 1\na: 2", "- a\n- b", "", "agent: {role: 1.5}"])
def test_corrupt_yaml_is_a_sentence_that_names_the_file(text: str) -> None:
    with pytest.raises(UsageError, match=r"\.agentforge/agents/software_developer\.yaml"):
        with_file(DEVELOPER, text).role("software_developer")


def test_a_gate_or_a_rule_of_the_base_cannot_be_dropped() -> None:
    stage = with_file(".agentforge/stages/red.yaml", 'extends: "agentforge:red"\ngates: [contracts]\n')
    with pytest.raises(UsageError, match="drops the gate"):
        stage.resolve("implement", "small")
    contract = with_file(
        ".agentforge/contracts/review.yaml", 'extends: "agentforge:review"\nvalidation: []\n'
    )
    with pytest.raises(UsageError, match="drops the rule findings_block_or_approve"):
        contract.resolve("implement", "small")


def test_a_contract_can_be_extended_with_a_field() -> None:
    text = 'extends: "agentforge:review"\nschema:\n  effort:\n    type: string\n    required: true\n'
    contract = (
        with_file(".agentforge/contracts/review.yaml", text).resolve("implement", "small").contract("review")
    )
    assert problems(contract, {"verdict": "approve", "summary": "s"}, final=False) == [
        "effort: is missing; it is text"
    ]


def test_a_contract_about_our_own_files_cannot_be_replaced() -> None:
    with pytest.raises(UsageError, match="cannot be replaced"):
        with_file(".agentforge/contracts/settings.yaml", "contract: settings")


def test_a_project_can_ask_more_of_its_own_roles_and_not_less() -> None:
    place, role = ".agentforge/contracts/agent_definition.yaml", ".agentforge/agents/software_developer.yaml"
    more = 'extends: "agentforge:agent_definition"\nschema: {constraints: {min_items: 9}}\n'
    own = 'extends: "agentforge:software_developer"\n'
    catalog = CATALOG.with_overrides({place: more, role: own})
    with pytest.raises(
        UsageError, match=r"constraints: a list of 5 does not fit; it is a list with at least 9"
    ):
        catalog.role("software_developer")
    assert catalog.role("test_engineer").name == "test_engineer"  # ours are held to ours
    less = 'extends: "agentforge:agent_definition"\nschema: {constraints: {min_items: 0}}\n'
    with pytest.raises(UsageError, match="asks for less than 1"):
        with_file(place, less).contract("agent_definition")


def test_other_files_of_the_project_are_ignored_and_bad_names_are_not() -> None:
    assert with_file(".agentforge/config/settings.yaml", "x: [").names("agents") == CATALOG.names("agents")
    with pytest.raises(UsageError, match=r"ends in \.yaml"):
        with_file(".agentforge/agents/Developer.yml", "")


IMPLEMENT = """\
pipeline:
  name: implement
  description: Ours
  goal_type: implement
  lanes:
    small:
      stages: {stages}
  exit: {{stage: deliver, deliverable: delivery_report}}
"""


@every(
    ("stages", "said"),
    [
        (
            "[{name: red}, {name: deliver, default_exit: true}]",
            "red requires specification, which no earlier stage produces",
        ),
        (
            "[{name: frame}, {name: frame}, {name: deliver, default_exit: true}]",
            "names the stage frame twice",
        ),
        ("[{name: dance}]", "names dance, but there is no stages/dance.yaml"),
        (
            "[{name: patch}, {name: review}, {name: deliver, default_exit: true}]",
            "review returns to green, which is not an earlier stage",
        ),
        ("[{name: patch}, {name: review, returns_to: patch}, {name: deliver}]", "is the `default_exit`"),
        (
            "[{name: patch, gates: [contracts]}, {name: review, returns_to: patch}, {name: deliver, role: null, default_exit: true}]",
            "drops the gate red",
        ),
        (
            "[{name: patch, max_steps: 1000}]",
            "max_steps: 1000 does not fit; it is a whole number from 1, up to 100",
        ),
    ],
)
def test_a_lane_that_cannot_work_is_refused_before_it_starts(stages: str, said: str) -> None:
    catalog = with_file(".agentforge/pipelines/implement.yaml", IMPLEMENT.format(stages=stages))
    with pytest.raises(UsageError) as caught:
        catalog.resolve("implement", "small")
    assert said in str(caught.value)


def test_a_lane_may_change_the_numbers_of_a_stage() -> None:
    stages = (
        "[{name: patch, max_steps: 3}, {name: review, returns_to: patch}, {name: deliver, "
        "default_exit: true}]"
    )
    catalog = with_file(".agentforge/pipelines/implement.yaml", IMPLEMENT.format(stages=stages))
    assert catalog.resolve("implement", "small").pipeline().stages[0].max_steps == 3
