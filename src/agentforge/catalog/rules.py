"""The rules about catalogue files: what their meta-contracts name, and what only a whole lane can show."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

from agentforge.catalog.extends import Kind
from agentforge.catalog.roles import RESERVED_TOOLS, Role, outputs_of, predicate_named, verifications_of
from agentforge.core.pipeline import Pipeline, Predicate

Names: TypeAlias = Callable[[Kind], Collection[str]]
"""Which files of a kind there are."""

Rule: TypeAlias = Callable[[Kind, Mapping[str, Any], Names], Iterator[str]]


def _tools_do_not_overlap(_kind: Kind, value: Mapping[str, Any], _names: Names) -> Iterator[str]:
    tools = value["capabilities"]["tools"]
    allowed, forbidden = tools["allowed"], tools.get("forbidden", [])
    for name in sorted(set(allowed) & set(forbidden)):
        yield f"{name} is both allowed and forbidden"
    for name in sorted(set(allowed) & RESERVED_TOOLS):
        yield f"{name} is reserved: no role can be allowed it"
    for name in sorted(set(tools.get("path_constraints", {})) - set(allowed)):
        yield f"path_constraints limits {name}, which is not an allowed tool"


def _output_contract_exists(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    match kind:
        case "agents":
            yield from _absent(outputs_of(value), "contracts", names)
        case "stages":
            yield from _absent([item["contract"] for item in value["produces"]] + value.get("requires", []), "contracts", names)
        case "pipelines":
            yield from _absent([value["pipeline"]["exit"]["deliverable"]], "contracts", names)
        case "contracts":
            pass


def _verifications_exist(_kind: Kind, value: Mapping[str, Any], _names: Names) -> Iterator[str]:
    for name, wanted in verifications_of(value):
        if predicate_named(name) is None:
            yield f"must_verify names {name}, which is no predicate"
        elif wanted not in (True, "100%"):
            yield f"must_verify.{name} is {wanted!r}; write true, or leave it out"


def _named_roles_exist(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    if kind == "stages":
        named = [value["role"]] if value["role"] is not None else []
    else:
        orchestration = value["orchestration"]
        named = [role for key in ("receives_from", "hands_off_to", "reviewed_by", "reviews") for role in orchestration.get(key, [])]
    yield from _absent(named, "agents", names)


def _stages_exist(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    if kind == "agents":
        named = [value["orchestration"]["stage"]] if value["orchestration"]["stage"] is not None else []
    else:
        pipeline = value["pipeline"]
        entries = [*pipeline.get("stages", []), *(entry for lane in pipeline.get("lanes", {}).values() for entry in lane["stages"])]
        named = [entry["name"] for entry in entries]
    yield from _absent(named, "stages", names)


CATALOG_RULES: Mapping[Predicate, Rule] = {
    "tools_do_not_overlap": _tools_do_not_overlap,
    "output_contract_exists": _output_contract_exists,
    "verifications_exist": _verifications_exist,
    "named_roles_exist": _named_roles_exist,
    "stages_exist": _stages_exist,
}


def lane_problems(pipeline: Pipeline, roles: Mapping[str, Role]) -> Iterator[str]:
    """What is wrong with stages in this order, beyond each of them alone."""
    twice = [name for name, count in Counter(stage.name for stage in pipeline.stages).items() if count > 1]
    if twice:
        yield f"names the stage {twice[0]} twice"
    have: set[str] = set()
    before: list[str] = []
    for stage in pipeline.stages:
        for contract in stage.requires:
            if contract not in have:
                yield f"{stage.name} requires {contract}, which no earlier stage produces"
        if stage.returns_to is not None and stage.returns_to not in before:
            yield f"{stage.name} returns to {stage.returns_to}, which is not an earlier stage of this lane"
        if stage.role is not None:
            for product in stage.products:
                if product.contract not in roles[stage.role].outputs:
                    yield f"{stage.name} owes {product.contract}, which its role {stage.role} does not produce"
        have |= {product.contract for product in stage.products}
        before.append(stage.name)


def _absent(named: Collection[str], kind: Kind, names: Names) -> Iterator[str]:
    known = names(kind)
    for name in dict.fromkeys(named):
        if name not in known:
            yield f"names {name}, but there is no {kind}/{name}.yaml; there are {', '.join(sorted(known))}"
