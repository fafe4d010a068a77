"""Claims about a project's own catalogue files: what they may change, what they may not, and how a mistake is
told.
"""

import json
from pathlib import PurePath

import pytest

from agentforge.catalog.check import FOLDERS, examples, judge_file, place_of
from agentforge.catalog.demands import WRITERS
from agentforge.catalog.ends import Ends
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import LANES, Stage
from agentforge.tools.base import KEEPING_TOOLS, WRITING_TOOLS
from tests.rows import every

CATALOG = Catalog.packaged()
DEVELOPER = ".agentforge/agents/software_developer.yaml"
IMPLEMENT = ".agentforge/pipelines/implement.yaml"
CONFIG = ".agentforge/orchestration/stage_config.yaml"


def stages(files: dict[str, str], lane: str) -> dict[str, Stage]:
    return {
        stage.name: stage
        for stage in CATALOG.with_overrides(files).resolve("implement", lane).pipeline().stages
    }


def refusal(files: dict[str, str]) -> str:
    """What a task of any lane is told."""
    with pytest.raises(UsageError) as caught:
        start(files)
    return str(caught.value)


def start(files: dict[str, str]) -> None:
    catalog = CATALOG.with_overrides(files)
    for lane in LANES:
        catalog.resolve("implement", lane)


def faults(others: dict[str, str], place: str, text: str) -> list[str]:
    return [*judge_file(others, place, text).wrong]


def warnings(others: dict[str, str], place: str, text: str) -> list[str]:
    return [*judge_file(others, place, text).warnings]


def uncommented(text: str) -> str:
    return "".join(f"{line[2:]}\n" if line.startswith("# ") else "\n" for line in text.splitlines())


def lane(name: str, *lines: str) -> dict[str, str]:
    body = "".join(f"      {line}\n" for line in lines)
    return {IMPLEMENT: f'extends: "agentforge:implement"\npipeline:\n  lanes:\n    {name}:\n{body}'}


# What may be changed


def test_stages_are_inserted_replaced_and_removed_in_a_lane() -> None:
    found = stages(
        lane("small", "insert_after: {green: {name: refactor}}", "replace: {red: {name: red, max_steps: 3}}"),
        "small",
    )
    assert list(found) == ["frame", "red", "green", "refactor", "review", "deliver"]
    assert found["red"].max_steps == 3
    files = lane("small", "insert_before: {review: [{name: refactor}]}")
    assert list(stages(files, "small")) == list(found)
    assert list(stages(files, "hotfix")) == ["patch", "review", "deliver"]
    files[".agentforge/pipelines/middle.yaml"] = files.pop(IMPLEMENT).replace(
        "pipeline:", "pipeline:\n  name: middle"
    )
    less = "extends: middle\npipeline: {name: plain, lanes: {small: {remove: [refactor]}}}\n"
    plain = (
        CATALOG.with_overrides({**files, ".agentforge/pipelines/plain.yaml": less})
        .resolve("plain", "small")
        .pipeline()
    )
    assert [stage.name for stage in plain.stages] == ["frame", "red", "green", "review", "deliver"]


def test_what_takes_a_place_keeps_what_the_base_says_about_it() -> None:
    again = stages(
        lane(
            "hotfix", "replace: {review: {name: review, max_steps: 3}, deliver: {name: deliver, mistakes: 2}}"
        ),
        "hotfix",
    )
    assert (again["review"].returns_to, again["deliver"].role, again["deliver"].mistakes) == (
        "patch",
        None,
        2,
    )
    own = {".agentforge/stages/own_review.yaml": 'extends: "agentforge:review"\nname: own_review\n'}
    assert (
        stages(lane("hotfix", "replace: {review: {name: own_review}}") | own, "hotfix")[
            "own_review"
        ].returns_to
        == "patch"
    )


def test_a_pipeline_without_lanes_is_edited_at_its_top() -> None:
    text = 'extends: "agentforge:design"\npipeline:\n  replace:\n    analyze: {name: analyze, max_steps: 2}\n'
    resolved = CATALOG.with_overrides({".agentforge/pipelines/design.yaml": text}).resolve("design")
    assert [
        (stage.name, stage.max_steps) for stage in resolved.pipeline().stages if stage.name == "analyze"
    ] == [("analyze", 2)]


def test_a_stage_of_the_project_takes_the_place_of_a_packaged_one() -> None:
    own = 'extends: "agentforge:green"\nname: own_green\nmax_steps: 7\n'
    files = lane("full", "replace: {green: {name: own_green}}") | {".agentforge/stages/own_green.yaml": own}
    found = stages(files, "full")
    assert "green" not in found
    assert found["own_green"].max_steps == 7


def test_dropping_an_allowed_tool_drops_its_path_limit() -> None:
    text = (
        'extends: "agentforge:software_developer"\ncapabilities: {tools: {allowed: [read_file, '
        "edit_file, run_tests]}}\n"
    )
    role = CATALOG.with_overrides({DEVELOPER: text}).role("software_developer")
    assert role.path_constraints == {"edit_file": "!{tests}"}


def test_a_chain_of_project_files_ends_in_a_packaged_one() -> None:
    files = {
        ".agentforge/agents/backend.yaml": (
            'extends: "agentforge:software_developer"\nagent: {role: backend}\n+constraints: [Use it.]\n'
        ),
        DEVELOPER: "extends: backend\nagent: {role: software_developer}\n+constraints: [No raw SQL.]\n",
    }
    role = CATALOG.with_overrides(files).role("software_developer")
    assert role.constraints[-2:] == ("Use it.", "No raw SQL.")


def test_the_stage_configuration_gives_a_stage_its_role_and_its_reviewers() -> None:
    text = """\
stages:
  green: {primary: senior_developer}
  red: {reviewers: [reviewer], review_mode: advisory}
  spec: {+reviewers: [reviewer]}
"""
    found = stages({CONFIG: text}, "full")
    assert found["green"].role == "senior_developer"
    assert (
        [seat.role for seat in found["red"].reviewers],
        found["red"].review_mode,
        found["red"].gates[-1],
    ) == (
        ["reviewer"],
        "advisory",
        "review",
    )
    assert [seat.role for seat in found["spec"].reviewers] == ["security_architect", "reviewer"]
    assert found["spec"].arbiter is not None
    wrapped = "pipeline:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    assert stages({".agentforge/orchestration/pipeline.yaml": wrapped}, "full") == found


def test_a_file_of_comments_changes_nothing_and_an_empty_one_is_refused() -> None:
    assert CATALOG.with_overrides({DEVELOPER: "# later\n\n  # more\n"}).overrides == {}
    assert refusal({DEVELOPER: ""}).startswith(f"{DEVELOPER}:1: is not a mapping")


# What may not


@every(
    ("files", "said"),
    [
        (
            lane("small", "remove: [review]"),
            ":5: pipeline.lanes.small.remove: review is required and cannot be removed",
        ),
        (
            lane("small", "replace:", "  review: {name: refactor, returns_to: null}"),
            ":4: lane small: deliver requires review, which no earlier stage",
        ),
        (
            lane("full", "replace:", "  spec: {name: spec, review_mode: advisory}"),
            "spec.review_mode: lane full: spec: review_mode: makes a",
        ),
        (
            lane("full", "replace:", "  refactor: {name: refactor, reviewers: [reviewer]}"),
            "drops the blocking reviewer security_architect",
        ),
        (
            lane(
                "full",
                "stages:",
                *(
                    f"  - {{name: {name}}}"
                    for name in ("intake", "clarify", "analyze", "spec", "red", "green")
                ),
            ),
            "default_exit",
        ),
    ],
)
def test_a_lane_cannot_drop_what_its_base_proves(files: dict[str, str], said: str) -> None:
    assert said in refusal(files)


def test_a_gate_dropped_by_a_stage_in_anothers_place_is_named() -> None:
    whole = {
        **CATALOG.document("stages", "refactor"),
        "name": "tidy",
        "gates": ["green", "contracts", "review"],
    }
    files = lane("full", "replace:", "  refactor: {name: tidy}") | {
        ".agentforge/stages/tidy.yaml": json.dumps(whole)
    }
    assert "lane full: drops the gate quality of refactor; `agentforge:implement` demands it" in refusal(
        files
    )


def test_a_role_that_may_do_more_cannot_take_a_place_by_any_way() -> None:
    free = 'extends: "agentforge:maintainer"\nagent: {role: free}\n'
    for files in (
        {CONFIG: "stages:\n  green:\n    primary: maintainer\n"},
        {".agentforge/stages/green.yaml": 'extends: "agentforge:green"\nrole: maintainer\n'},
        lane("full", "replace: {green: {name: green, role: maintainer}}"),
        lane("full", "replace: {green: {name: green, role: free}}") | {".agentforge/agents/free.yaml": free},
    ):
        assert "drops the path limit !{tests}" in refusal(files)


@every(
    ("text", "said"),
    [
        (
            "capabilities:\n  tools:\n    forbidden: [deploy]",
            ":4: capabilities.tools.forbidden: drops the forbidden tool commit",
        ),
        (
            'capabilities:\n  tools:\n    path_constraints: {edit_file: "src/**"}',
            "drops the path limit !{tests} of edit_file",
        ),
        (
            "capabilities:\n  output:\n    must_verify: [all_tests_pass]",
            ":4: capabilities.output.must_verify: drops ",
        ),
    ],
)
def test_a_role_cannot_be_given_more_than_its_base(text: str, said: str) -> None:
    assert said in refusal({DEVELOPER: f'extends: "agentforge:software_developer"\n{text}\n'})


def test_places_to_write_can_be_narrowed_and_not_widened() -> None:
    path = ".agentforge/agents/test_engineer.yaml"
    text = (
        'extends: "agentforge:test_engineer"\ncapabilities:\n  tools:\n    path_constraints:\n      '
        'create_file: "{}"\n'
    )
    assert "lets create_file write src/**" in refusal({path: text.replace("{}", "{tests}, src/**")})
    narrow = CATALOG.with_overrides({path: text.replace("{}", "{tests}, !tests/slow/**")})
    assert narrow.role("test_engineer").path_constraints["create_file"] == "{tests}, !tests/slow/**"
    assert WRITERS == WRITING_TOOLS - KEEPING_TOOLS


def test_a_whole_file_in_the_place_of_a_packaged_one_keeps_what_it_does_not_say() -> None:
    whole = json.loads(json.dumps(CATALOG.document("agents", "software_developer")))
    tools, output = whole["capabilities"]["tools"], whole["capabilities"]["output"]
    tools["path_constraints"], tools["forbidden"], output["must_verify"] = {}, [], ["all_tests_pass"]
    del whole["agent"]["tier"]
    catalog = CATALOG.with_overrides({DEVELOPER: json.dumps(whole)})
    ours, role = CATALOG.role("software_developer"), catalog.role("software_developer")
    assert (role.path_constraints, role.tier) == (ours.path_constraints, ours.tier)
    assert set(role.forbidden) == set(ours.forbidden)
    assert set(role.must_verify) == set(ours.must_verify)
    assert any("test_lock_held" in line for line in catalog.kept("agents", "software_developer"))


@every(
    ("change", "said"),
    [
        ({"allowed": ["read_file", "create_file"]}, "drops the forbidden tool create_file"),
        ({"allowed": ["read_file", "commit"], "forbidden": []}, "commit is reserved"),
        (
            {"allowed": ["edit_file"], "path_constraints": {"edit_file": "src/**"}},
            "drops the forbidden tool edit_file",
        ),
    ],
)
def test_a_whole_file_cannot_allow_what_the_packaged_one_forbids(
    change: dict[str, object], said: str
) -> None:
    whole = json.loads(json.dumps(CATALOG.document("agents", "business_analyst")))
    whole["capabilities"]["tools"] = {"allowed": ["read_file"], **change}
    files = {".agentforge/agents/business_analyst.yaml": json.dumps(whole)}
    assert said in refusal(files)


def test_places_of_a_whole_file_cannot_be_wider_than_those_of_the_packaged_one() -> None:
    whole = json.loads(json.dumps(CATALOG.document("agents", "test_engineer")))
    limits = whole["capabilities"]["tools"]["path_constraints"]
    path = ".agentforge/agents/test_engineer.yaml"
    limits["create_file"] = "tests/**/*"
    role = CATALOG.with_overrides({path: json.dumps(whole)}).role("test_engineer")
    assert role.path_constraints["create_file"] == "tests/**/*"
    limits["create_file"] = "tests/**/*,src/**"
    assert "lets create_file write src/**" in refusal({path: json.dumps(whole)})


def test_a_reviewer_that_may_be_left_out_is_on_record_and_no_other_may() -> None:
    fewer = "stages:\n  refactor:\n    reviewers: [security_architect]\n"
    found = stages({CONFIG: fewer}, "full")["refactor"]
    assert ([seat.role for seat in found.reviewers], found.left_out) == (
        ["security_architect"],
        ("reviewer",),
    )
    assert stages({}, "full")["refactor"].left_out == ()
    stage = ".agentforge/stages/refactor.yaml"
    open_up = 'extends: "agentforge:refactor"\noptional_reviewers: [reviewer, security_architect]\n'
    assert "optional_reviewers: says other reviewers than the base" in refusal({stage: open_up})
    hide = 'extends: "agentforge:refactor"\nreviewers: [security_architect]\noptional_reviewers: []\n'
    assert "optional_reviewers: says other reviewers than the base" in refusal({stage: hide})
    assert "drops the blocking reviewer security_architect" in refusal(
        {CONFIG: "stages:\n  refactor:\n    reviewers: [reviewer]\n"}
    )
    assert "makes a blocking review advisory" in refusal(
        {CONFIG: "stages:\n  refactor:\n    reviewers: [security_architect]\n    review_mode: advisory\n"}
    )


def test_a_stage_configuration_says_where_a_task_may_begin_end_and_skip() -> None:
    text = """\
stages:
  refactor: {skippable_if: trivial_change, prerequisites: [deliverable], output_contract: implementation}
  green: {skippable_if: never}
  deliver: {skippable_if: never}
  clarify: {exit_point: true}
"""
    found = stages({CONFIG: text}, "full")
    assert (found["refactor"].skip_if, found["deliver"].skip_if) == ("trivial_change OR only_tests", "")
    assert found["green"].skip_if == "only_tests"  # where nothing is owed there is nothing to work on
    early = CATALOG.with_overrides({CONFIG: text}).resolve("design", ends=Ends(leave="clarify"))
    assert early.pipeline().exit_stage == "clarify"
    with pytest.raises(UsageError, match="cannot end at clarify"):
        CATALOG.resolve("design", ends=Ends(leave="clarify"))
    for key, said in (
        ("output_contract: review", "output_contract: review is not what this stage makes: implementation"),
        ("prerequisites: [nothing]", "prerequisites: there is no contract nothing"),
        ("skippable_if: lazy", "skippable_if: `lazy` is not a known condition"),
    ):
        assert said in refusal({CONFIG: f"stages:\n  refactor:\n    {key}\n"})


@every(
    ("schema", "said"),
    [
        (
            "verdict:\n    enum: [approve, block, shrug]",
            ":4: schema.verdict.enum: takes values that the base refuses",
        ),
        ("dissent:\n    filled: false", ":4: schema.dissent.filled: changes what the base demands"),
        ("verdict:\n    required: false", ":4: schema.verdict.required: drops what the base demands"),
        ("summary:\n    max_length: 9000", ":4: schema.summary.max_length: asks for less than 1000"),
        ("summary:\n    type: [string, 'null']", "schema.summary: takes other types"),
        ("summary:\n    typ: string", ":4: schema.summary.typ is not known here"),
    ],
)
def test_a_contract_cannot_be_loosened(schema: str, said: str) -> None:
    path = ".agentforge/contracts/review.yaml"
    assert said in refusal({path: f'extends: "agentforge:review"\nschema:\n  {schema}\n'})
    tighter = 'extends: "agentforge:review"\nschema:\n  summary: {max_length: 500}\n'
    assert CATALOG.with_overrides({path: tighter}).contract("review").name == "review"


@every(
    ("text", "said"),
    [
        (
            "stages:\n  spec:\n    reviewers: []",
            ":3: stages.spec.reviewers: drops the blocking reviewer security_architect",
        ),
        (
            "stages:\n  spec:\n    review_mode: advisory",
            ":3: stages.spec.review_mode: makes a blocking review advisory",
        ),
        ("stages:\n  dance: {}", ":2: stages.dance: there is no such stage; there are analyze"),
        ("stages:\n  red:\n    primary: nobody", ":3: stages.red.primary: there is no role nobody"),
        (
            "stages:\n  red:\n    reviewers: [reviewer, nobody]",
            ":3: stages.red.reviewers: there is no role nobody",
        ),
        (
            "stages:\n  red:\n    primary: reviewer",
            ":3: stages.red.primary: reviewer does not produce test_suite",
        ),
        ("stages:\n  red:\n    boss: x", ":3: stages.red.boss: unknown key"),
        ("stages:\n  red:\n    review_mode: maybe", ":3: stages.red.review_mode: 'maybe' does not fit"),
        ("stages: 3", ":1: stages: 3 does not fit"),
        ("stages: {red: {reviewers: [reviewer", ":2:1: "),
    ],
)
def test_a_wrong_stage_configuration_is_refused_with_its_line_and_key(text: str, said: str) -> None:
    assert refusal({CONFIG: f"{text}\n"}).startswith(f"{CONFIG}{said}")


def test_there_is_one_stage_configuration() -> None:
    both = {CONFIG: "stages: {}", ".agentforge/orchestration/pipeline.yaml": "pipeline: {stages: {}}"}
    assert "one of them must go" in refusal(both)
    assert "a file here is named stage_config.yaml or pipeline.yaml" in refusal(
        {".agentforge/orchestration/other.yaml": "stages: {}"}
    )


@every(
    ("files", "said"),
    [
        (
            {
                IMPLEMENT: 'extends: "agentforge:implement"\npipeline: {lanes: {full: {rises: {to: hotfix}}}}\n'
            },
            "rise in a circle: hotfix -> full -> hotfix",
        ),
        (
            lane("small", "replace:", "  red: {name: red, returns_to: green}"),
            "red returns to green, which is not an earlier stage",
        ),
        (lane("small", "insert_after: {green: {name: red}}"), "names the stage red twice"),
        (
            lane("small", "replace:", "  red: {name: red, requires: [intake_record, specification, review]}"),
            "red requires review, which no earlier stage produces",
        ),
    ],
)
def test_a_pipeline_that_goes_in_a_circle_is_refused(files: dict[str, str], said: str) -> None:
    assert said in refusal(files)


# How a mistake is told


@every(
    ("text", "said"),
    [
        ("nonsense: 1", ":2: nonsense: unknown key; allowed: agent"),
        ("identity:\n  expertise: 3", ":3: identity.expertise: 3 does not fit"),
        ("agent:\n  role: other", ":3: agent.role: calls itself 'other'"),
        (
            "orchestration:\n  hands_off_to:\n    - reviewer\n    - nobody",
            ":5: orchestration.hands_off_to[1]: names nobody, but there is no",
        ),
        (
            "capabilities:\n  tools:\n    +allowed:\n      - commit",
            ":5: capabilities.tools.+allowed[0]: commit is both allowed",
        ),
        ("identity: [", ":3:1: "),
        ("identity: {}\nidentity: {}", ":3:1: the key `identity` is there twice (first in line 2)"),
        ("constraints: [a]\n+constraints: [b]", ":2: +constraints: says both"),
    ],
)
def test_a_mistake_names_file_line_and_key(text: str, said: str) -> None:
    assert refusal({DEVELOPER: f'extends: "agentforge:software_developer"\n{text}\n'}).startswith(
        f"{DEVELOPER}{said}"
    )


@every(
    ("files", "said"),
    [
        (
            lane("small", "insert_after:", "  dance: {name: refactor}"),
            ":6: pipeline.lanes.small.insert_after.dance: there is no stage dance",
        ),
        (
            lane("small", "insert_after:", "  green: {name: dance}"),
            ":6: pipeline.lanes.small.insert_after.green.name: names dance, but",
        ),
        (
            lane("small", "insert_after:", "  green: refactor"),
            ":6: pipeline.lanes.small.insert_after.green: is an entry such as",
        ),
        (lane("small", "insert_after: [green]"), ":5: pipeline.lanes.small.insert_after: is a mapping"),
        (
            lane("small", "insert_after:", "  red: {name: refactor, nonsense: 3}"),
            ":6: pipeline.lanes.small.insert_after.red.nonsense: unknown",
        ),
        (
            lane("small", "insert_after: {red: {name: refactor}}", "stages: []"),
            ":6: pipeline.lanes.small.stages: says both",
        ),
        (
            lane("wide", "insert_after: {red: {name: refactor}}"),
            ":4: pipeline.lanes.wide: the base has no stages here",
        ),
        (
            {IMPLEMENT: "pipeline:\n  replace: {red: {name: red}}\n"},
            ":2: pipeline.replace: edits the stages of a base, and this file",
        ),
    ],
)
def test_a_wrong_edit_of_stages_names_its_line_and_key(files: dict[str, str], said: str) -> None:
    assert refusal(files).startswith(f"{IMPLEMENT}{said}")


def test_a_mistake_in_what_a_file_builds_on_is_told_of_that_file() -> None:
    files = {
        ".agentforge/agents/backend.yaml": 'extends: "agentforge:software_developer"\nnonsense: 1\n',
        DEVELOPER: "extends: backend\n",
    }
    assert refusal(files).startswith(".agentforge/agents/backend.yaml:2: nonsense: unknown key")
    files[".agentforge/agents/backend.yaml"] = "\nextends: ghost\n"
    assert refusal(files).startswith(
        ".agentforge/agents/backend.yaml:2: extends: there is no agents file `ghost`"
    )
    files[".agentforge/agents/backend.yaml"] = "\nextends: software_developer\n"
    said = refusal(files)
    assert said.startswith(
        ".agentforge/agents/backend.yaml:2: extends: circular extends in agents: software_developer -> "
        "backend -> software"
    )


GREEN_STAGE = ".agentforge/stages/green.yaml"


@every(
    ("path", "text", "said"),
    [
        (GREEN_STAGE, "+checks: [tpyes]", ":2: checks: 'tpyes' is no check; did you mean types?; there are"),
        (
            GREEN_STAGE,
            "+gates: [qualty]",
            ":2: gates: 'qualty' is no gate; did you mean quality?; there are",
        ),
        (GREEN_STAGE, "skip_if: trivial_chnge", "`trivial_chnge` is not a known condition; use one of"),
        (GREEN_STAGE, "skip_if: trivial_chnge", "; did you mean trivial_change?"),
        (
            DEVELOPER,
            "capabilities:\n  output:\n    must_verify:\n      all_test_pass: true",
            "must_verify names all_test_pass, which is no predicate; did you mean all_tests_pass?",
        ),
        (DEVELOPER, "orchestration:\n  stage: gren", "stages/gren.yaml; did you mean green?"),
        (
            ".agentforge/contracts/review.yaml",
            "+validation: [review_complet]",
            "'review_complet', which is no predicate; did you mean review_complete?",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(path: str, text: str, said: str) -> None:
    name = path.rpartition("/")[2].removesuffix(".yaml")
    refused = refusal({path: f'extends: "agentforge:{name}"\n{text}\n'})
    assert refused.startswith((f"{path}:2: ", f"{path}:3: ", f"{path}:5: "))
    assert said in refused


def test_all_mistakes_of_a_file_are_told_together() -> None:
    text = 'extends: "agentforge:software_developer"\nidentity:\n  expertise: 3\n  mood: good\n'
    assert [fault.split(" ")[0] for fault in faults({}, DEVELOPER, text)] == [
        f"{DEVELOPER}:3:",
        f"{DEVELOPER}:4:",
    ]


@pytest.mark.slow
@every(
    ("path", "text", "said"),
    [
        (GREEN_STAGE, "iterable: true\nmax_iterations: 3", ()),
        (".agentforge/stages/clarify.yaml", "skip_if: external_spec_provided", ()),
        (".agentforge/stages/clarify.yaml", "skip_if: no_ambiguities", ()),
        (
            DEVELOPER,
            "orchestration:\n  reviews: [software_developer]",
            (":3: orchestration.reviews: software_developer: no stage",),
        ),
    ],
)
def test_what_has_no_effect_yet_loads_with_a_warning_of_the_file_that_says_it(
    path: str, text: str, said: tuple[str, ...]
) -> None:
    name = path.rpartition("/")[2].removesuffix(".yaml")
    whole = f'extends: "agentforge:{name}"\n{text}\n'
    assert faults({}, path, whole) == []
    found = warnings({}, path, whole)
    assert len(found) == len(said)
    for line, start in zip(found, said, strict=True):
        assert line.startswith(f"{path}{start}")
        assert line.endswith(("has no effect yet.", "never holds yet.", "say who reads."))


TICKET = ".agentforge/contracts/ticket.yaml"
FRAME = """\
extends: "agentforge:frame"
produces:
  - {contract: intake_record, phase: intake}
  - {contract: clarification, phase: clarify}
  - {contract: analysis, phase: analyze}
  - {contract: ticket, phase: spec}
"""


def test_a_contract_of_another_name_takes_a_packaged_ones_place_only_if_it_builds_on_it() -> None:
    stage = ".agentforge/stages/frame.yaml"
    own = 'extends: "agentforge:specification"\ncontract: ticket\n'
    files = {stage: FRAME, TICKET: own}
    kept = CATALOG.with_overrides(files)
    assert kept.document("stages", "frame")["produces"][-1]["contract"] == "ticket"
    assert kept.contract("ticket").part == "requirements"
    both = {
        **files,
        stage: f"{FRAME}  - {{contract: specification, phase: spec}}\n",
        ".agentforge/agents/software_architect.yaml": (
            'extends: "agentforge:software_architect"\ncapabilities: {output: {+contract: [ticket]}}\n'
        ),
    }
    with pytest.raises(UsageError, match="two contracts for the part requirements: ticket and specification"):
        CATALOG.with_overrides(both).resolve("implement", "small")
    poor = "contract: ticket\npart: requirements\nversion: '1.0'\ndescription: Poor.\nschema: {a: {type: string}}\n"
    with pytest.raises(UsageError, match="drops the artifact specification"):
        CATALOG.with_overrides({**files, TICKET: poor}).document("stages", "frame")
    with pytest.raises(UsageError, match=r"ticket.yaml:3: part: changes what the base is to the work"):
        CATALOG.with_overrides({TICKET: f"{own}part: report\n"}).contract("ticket")
    with pytest.raises(UsageError, match=r"part: 'reprot' is no part of the work; did you mean report\?"):
        CATALOG.with_overrides({TICKET: f"{own}part: reprot\n"}).contract("ticket")


# Other broken files


def test_other_broken_files_are_named_apart_and_not_held_against_a_file() -> None:
    others = {
        ".agentforge/agents/test_engineer.yaml": 'extends: "agentforge:test_engineer"\nnonsense: 1\n',
        ".agentforge/agents/backend.yaml": "agent: [\n",
        ".agentforge/agents/frontend.yaml": "extends: backend\nagent: {role: frontend}\n",
        ".agentforge/contracts/review.yaml": 'extends: "agentforge:review"\nvalidation: [shiny]\n',
        CONFIG: "stages: {dance: {}}\n",
        ".agentforge/pipelines/own.yaml": (
            'extends: "agentforge:design"\npipeline: {name: own, remove: [spec]}\n'
        ),
    }
    good = judge_file(others, DEVELOPER, 'extends: "agentforge:software_developer"\n')
    assert good.wrong == ()
    named = [fault.partition(":")[0] for fault in good.elsewhere]
    assert sorted(named) == sorted(set(others) - {".agentforge/agents/frontend.yaml"})
    bad = judge_file(others, DEVELOPER, 'extends: "agentforge:software_developer"\nnonsense: 1\n')
    assert [fault.partition(":")[0] for fault in bad.wrong] == [DEVELOPER]
    assert bad.elsewhere == good.elsewhere
    builds = judge_file(others, DEVELOPER, "extends: backend\nagent: {role: software_developer}\n")
    (fault,) = builds.wrong
    assert fault.startswith(f"{DEVELOPER}:1: extends: there is no agents file `backend`")
    assert ".agentforge/agents/backend.yaml is broken itself" in fault


def test_a_file_that_others_need_is_broken_for_them_too_and_told_once() -> None:
    others = {".agentforge/agents/backend.yaml": "extends: software_developer\nagent: {role: backend}\n"}
    found = judge_file(others, DEVELOPER, 'extends: "agentforge:software_developer"\nnonsense: 1\n')
    assert ([fault.partition(":")[0] for fault in found.wrong], found.elsewhere) == ([DEVELOPER], ())


# Examples, and files that lie elsewhere


@pytest.mark.slow
@every("path", examples())
def test_every_example_is_inert_and_valid_once_uncommented(path: str) -> None:
    text = examples()[path]
    assert CATALOG.with_overrides({path: text}) == CATALOG
    bare = uncommented(text)
    assert (faults({}, path, bare), warnings({}, path, bare)) == ([], [])
    kind, own = path.split("/")[1:]
    changed = CATALOG.with_overrides({path: bare})
    if kind == "orchestration":
        assert changed.orchestration.stages
    else:
        name = own.removesuffix(".yaml")
        assert any(of == kind and known == name for of, known in changed.overrides)


def test_there_is_an_example_of_every_kind_and_they_work_together() -> None:
    bare = {path: uncommented(text) for path, text in examples().items()}
    assert {path.split("/")[1] for path in bare} == set(FOLDERS)
    found = stages(bare, "small")
    assert list(found) == ["frame", "red", "green", "refactor", "review", "deliver"]
    assert found["green"].max_steps == 30
    assert found["red"].reviewers


@every(
    ("text", "place"),
    [
        ("agent: {role: x}", ".agentforge/agents/x.yaml"),
        ('extends: "agentforge:reviewer"', ".agentforge/agents/reviewer.yaml"),
        ('extends: "agentforge:green"\n+gates: []', ".agentforge/stages/green.yaml"),
        ("pipeline: {name: mine, lanes: {}}", ".agentforge/pipelines/mine.yaml"),
        ("pipeline: {stages: {}}", ".agentforge/orchestration/pipeline.yaml"),
        ("stages: {}", CONFIG),
        ("contract: poem", ".agentforge/contracts/poem.yaml"),
    ],
)
def test_the_kind_of_a_file_is_told_by_what_it_says(text: str, place: str) -> None:
    assert place_of(PurePath("drafts/some.yaml"), text) == place


def test_a_file_that_says_nothing_of_its_kind_is_asked_about() -> None:
    assert place_of(PurePath("agents/a.yaml"), "x: 1") == ".agentforge/agents/a.yaml"
    with pytest.raises(UsageError, match="does not say what kind of file it is"):
        place_of(PurePath("a.yaml"), "x: 1")
