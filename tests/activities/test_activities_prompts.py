"""What every role of every shipped lane is shown at a step with more to show than there is room: its rules, its
task and what it owes are all there, whole, and nothing is told twice.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.check import lanes_of
from agentforge.catalog.contracts import schema_problems
from agentforge.catalog.load import Catalog
from agentforge.catalog.policies import read_policy
from agentforge.catalog.prompts import flow_of, packaged_wording, system_prompt
from agentforge.catalog.resolved import ResolvedPipeline
from agentforge.catalog.skeleton import keys_of, offered_schema
from agentforge.context.assemble import StepView, assemble
from agentforge.context.working_set import WorkingSetItem
from agentforge.core.pipeline import Stage, reviewer_name
from agentforge.system import strict_yaml
from agentforge.system.canon import digest_value
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.paths import PathLimits
from agentforge.tools.run.running import submit_tool

CATALOG = Catalog.packaged()
LANES = [
    (pipeline, lane)
    for pipeline in sorted(CATALOG.names("pipelines"))
    for lane in lanes_of(CATALOG, pipeline)
]
REQUEST = "Let parse understand fractions, and say which line was wrong when it cannot. " * 10
LONG = "".join(f"def function_{number}(argument):\n    return argument\n\n\n" for number in range(2000))


def at_work(resolved: ResolvedPipeline) -> Iterator[tuple[str, Stage, str]]:
    """Every role at work: its name, its stage as it sees it, and its instructions."""
    for stage in resolved.pipeline().stages:
        if stage.role is None:
            continue
        yield stage.name, stage, resolved.prompt(stage.name)
        for reader in (*stage.debaters, *stage.reviewers, *((stage.arbiter,) if stage.arbiter else ())):
            name = reviewer_name(reader, stage)
            yield f"{stage.name}/{name}", stage.read_by(name), resolved.review_prompt(stage.name, name)


def every_role() -> Iterator[Any]:
    """Each role as it is told to work, once: pipelines that build on another one tell most of theirs the same."""
    seen = set()
    for pipeline, lane in LANES:
        resolved = CATALOG.resolve(pipeline, lane)
        for name, stage, told in at_work(resolved):
            key = (stage.role, told, stage.products, stage.requires, stage.context_tokens)
            if key not in seen:
                seen.add(key)
                yield pytest.param(resolved, stage, told, id=f"{pipeline}-{lane}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("resolved", "stage", "told"), [*every_role()])
def test_a_crowded_step_of_every_role_shows_its_rules_and_all_that_it_owes_whole(
    resolved: ResolvedPipeline, stage: Stage, told: str
) -> None:
    assert stage.role is not None
    contracts = resolved.contracts_of(stage)
    limits = PathLimits.compile(resolved.role(stage.role).path_constraints, ("tests/**",), ("docs/**",))
    submits = tuple(submit_tool(item.name, item.description, offered_schema(item)) for item in contracts)
    bridge = Bridge.of(resolved.value["roles"][stage.role], limits, schema_problems, submits=submits)
    system = system_prompt(resolved.role(stage.role), stage, contracts, told)
    assert not [spec.name for spec in bridge.specs() if spec.description in system]
    crowded = StepView(
        "task-20300131-let-parse-understand-fractions",
        REQUEST,
        stage.name,
        "9f86d081884c7d65",
        system=system,
        success_criteria=tuple(f"parse('1/{number}') is a fraction" for number in range(2, 12)),
        artifacts=tuple((name, LONG) for name in stage.requires),
        repository_map=LONG,
        facts=LONG,
        working=tuple(
            WorkingSetItem(f"src/m{number}.py", "", 1, 400, number, pinned=True) for number in range(9)
        ),
        read=lambda _: LONG,
        tried=("edit_file src/m1.py: the text to replace occurs twice",) * 20,
        failures=("E   AssertionError: " + "x" * 400,) * 20,
        recent=(LONG,) * 3,
        owed=f"Hand in {', '.join(spec.name for spec in submits)}.",
        feedback=("Gate green failed:", *("tests/test_parse.py::test_half fails: assert 1 == 2",) * 10),
    )
    packed = assemble(crowded, stage.context_tokens)
    shown = {block.name: block.text for block in packed.blocks}
    assert packed.total <= stage.context_tokens
    for name in ("system", "task_frame", "owed", "feedback"):
        assert "…" not in shown[name]
    assert system.strip() in shown["system"]
    offered = {spec.name: spec.schema for spec in bridge.specs()}
    for contract in contracts:
        assert set(required(contract.document["schema"])) == set(keys_of(offered[f"submit_{contract.name}"]))
    assert "signal" not in system.lower()
    assert "submit_artifact" not in system


def required(
    schema: Any,  # noqa: ANN401 - as it was read
    above: tuple[str, ...] = (),
) -> Iterator[tuple[str, ...]]:
    """Every key that a model has to write, also those of entries in lists."""
    for name, node in schema.items():
        if node.get("filled") == "only":
            continue
        if node.get("required") and not node.get("filled"):
            yield (*above, name)
        inner: Mapping[str, Any] = node.get("properties") or node.get("items", {}).get("properties", {})
        yield from required(inner, (*above, name))


WORDING = {
    "2": "dde290f4cbbc8a20",
    "3": "36046710c95058f4",
    "4": "04a2a930d23c75e0",
    "5": "1a72366f39ea7ae7",
    "6": "1f9aaf8fd1c5b3ff",
    "7": "39cd04748baaf512",
    "8": "efde2fd0268d3f10",
}
"""The words of the prompts, by their version: whoever changes a word raises the version, and adds a row."""


def test_a_change_of_a_prompt_raises_the_version_of_the_wording() -> None:
    wording = packaged_wording()
    stages = {name: CATALOG.document("stages", name).get("prompt", "") for name in CATALOG.names("stages")}
    roles = {name: CATALOG.document("agents", name) for name in CATALOG.names("agents")}
    told = {
        "wording": dict(wording),
        "stages": stages,
        "roles": roles,
        "reviews": read_policy("review_prompts"),
    }
    assert WORDING.get(wording["version"]) == digest_value(told)[:16]


def prompt_of(resolved: ResolvedPipeline, name: str, stage: Stage, told: str) -> str:
    """All that a role is told at every step of a stage, and the names of what it can do."""
    assert stage.role is not None
    contracts = resolved.contracts_of(stage)
    submits = tuple(submit_tool(item.name, item.description, offered_schema(item)) for item in contracts)
    limits = PathLimits.compile(resolved.role(stage.role).path_constraints, ("tests/**",), ("docs/**",))
    bridge = Bridge.of(
        resolved.value["roles"][stage.role],
        limits,
        schema_problems,
        submits=submits,
        locked={"tests/test_a.py": "1"},
    )
    heard = stage.role in [debater.role for debater in resolved.pipeline().stage(stage.name).debaters]
    flow = flow_of(
        resolved.pipeline(), stage, "debater" if heard else "reviewer" if "/" in name else "worker"
    )
    tools = "".join(f"tool: {spec.name}\n" for spec in bridge.specs())
    return system_prompt(resolved.role(stage.role), stage, contracts, told, flow=flow) + tools


@cache
def every_prompt() -> dict[str, tuple[ResolvedPipeline, Stage, str]]:
    return {
        f"{pipeline}-{lane}-{name}": (resolved, stage, prompt_of(resolved, name, stage, told))
        for pipeline, lane in LANES
        for resolved in [CATALOG.resolve(pipeline, lane)]
        for name, stage, told in at_work(resolved)
    }


PAIRS: Any = strict_yaml.load_file(Path(__file__).with_name("contradictions.yaml"))


def test_no_two_sentences_of_what_a_role_is_told_contradict_each_other() -> None:
    found = [
        f"{name}: {row['why']}"
        for name, (_, _, text) in every_prompt().items()
        for row in PAIRS["pairs"]
        if re.search(row["one"], text) and re.search(row["other"], text)
    ]
    assert found == []


def test_a_pair_is_found_where_it_stands() -> None:
    told = "You read the work of: reviewer.\nJudge the work that you are shown.\nChange nothing.\ntool: edit_file\n"
    found = [row for row in PAIRS["pairs"] if re.search(row["one"], told) and re.search(row["other"], told)]
    assert len(found) == 2


def test_a_role_is_told_of_no_tool_that_it_does_not_have_and_of_nothing_twice() -> None:
    known = {*TOOLS, "escalate", "reopen_tests"}
    for name, (_, _, text) in every_prompt().items():
        offered = set(re.findall(r"tool: (\w+)", text))
        named = set(re.findall(r"`(\w+)`", text)) & known
        assert named <= offered, name
        sentences = [each.strip() for each in re.split(r"(?<=[.:])\s+", text) if len(each.strip()) > 25]
        assert not [each for each in set(sentences) if sentences.count(each) > 1], name


def test_a_role_is_told_of_no_document_that_nobody_writes() -> None:
    for name, (resolved, stage, text) in every_prompt().items():
        written = {product.contract for each in resolved.pipeline().stages for product in each.products}
        named = set(re.findall(r"`(\w+)`", text)) & set(CATALOG.names("contracts"))
        read = {product.contract for product in stage.products} | set(stage.requires)
        assert named <= written | read, name
