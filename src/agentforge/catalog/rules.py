"""The rules about catalogue files: what their meta-contracts name, and what only a whole lane can show."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentforge.catalog.extends import Document, Kind
from agentforge.catalog.faults import did_you_mean
from agentforge.catalog.line import Line
from agentforge.catalog.own_tools import PACKAGED_TOOLS
from agentforge.catalog.roles import RESERVED_TOOLS, Role, outputs_of, verifications_of
from agentforge.catalog.rule_words import nearest_rule, predicate_named, with_predicates
from agentforge.catalog.summaries import template_problem
from agentforge.core.conditions import KNOWN_FACTS, condition_problem, facts_in, goes_beyond
from agentforge.core.pipeline import CHECK_NAMES, GATE_NAMES, PARTS, GateName, Pipeline, Predicate, Stage

CONTRACT_ALIASES: Mapping[str, str] = {"deliverable": "implementation"}
"""Other names that stages and pipelines may call a contract by."""

Names: TypeAlias = Callable[[Kind], Collection[str]]
"""Which files of a kind there are."""

Rule: TypeAlias = Callable[[Kind, Mapping[str, Any], Names], Iterator[str]]


def _tools_do_not_overlap(_kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    tools = value["capabilities"]["tools"]
    allowed, forbidden = tools["allowed"], tools.get("forbidden", [])
    for name in sorted(set(allowed) & set(forbidden)):
        yield f"{name} is both allowed and forbidden"
    for name in sorted(set(allowed) & RESERVED_TOOLS):
        yield f"{name} is reserved: no role can be allowed it"
    for name in undeclared_tools(value, names):
        if near := did_you_mean(name, {*PACKAGED_TOOLS, *names("tools")}):
            yield f"{name} is allowed, and there is no such tool{near}"
    for name in sorted(set(tools.get("path_constraints", {})) - set(allowed)):
        yield f"path_constraints limits {name}, which is not an allowed tool"


def undeclared_tools(role: Mapping[str, Any], names: Names) -> list[str]:
    """The tools that a role may use as soon as the project declares them."""
    known = {*PACKAGED_TOOLS, *names("tools")}
    return [name for name in role["capabilities"]["tools"]["allowed"] if name not in known]


def without_undeclared_tools(role: Mapping[str, Any], names: Names) -> Document:
    """A role with the tools that there are: what nobody declares is offered to nobody."""
    tools, missing = role["capabilities"]["tools"], undeclared_tools(role, names)
    if not missing:
        return dict(role)
    there = {**tools, "allowed": [name for name in tools["allowed"] if name not in missing]}
    return {**role, "capabilities": {**role["capabilities"], "tools": there}}


def idle_readers(role: Mapping[str, Any], stages: Sequence[Document]) -> Iterator[str]:
    """Readings that a role tells of and no stage has."""
    name, said = role["agent"]["role"], role["orchestration"]
    read = {(stage["role"], reader) for stage in stages for reader in stage.get("reviewers", ())}
    of_all = {stage["role"] for stage in stages if stage.get("returns_to")}  # who reads whatever was built
    told = [("reviewed_by", (name, reader), reader) for reader in said.get("reviewed_by", ())]
    told += [("reviews", (author, name), author) for author in said.get("reviews", ())]
    for key, pair, other in told:
        if pair not in read and pair[1] not in of_all:
            yield f"orchestration.{key}: {other}: no stage has this reading; its `reviewers` say who reads"


def _output_contract_exists(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    match kind:
        case "agents":
            yield from _absent(outputs_of(value), "contracts", names)
        case "stages":
            yield from _absent(
                [item["contract"] for item in value["produces"]] + value.get("requires", []),
                "contracts",
                names,
            )
        case "pipelines":
            yield from _absent(_contracts_of_template(value["pipeline"]), "contracts", names)
        case "contracts" | "tools":
            pass


def _verifications_exist(_kind: Kind, value: Mapping[str, Any], _names: Names) -> Iterator[str]:
    for name, wanted in verifications_of(value):
        if predicate_named(name) is None:
            yield f"must_verify names {name}, which is no predicate{nearest_rule(name)}"
        elif wanted not in (True, "100%"):
            yield f"must_verify.{name} is {wanted!r}; write true, or leave it out"


def _named_roles_exist(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    if kind == "agents":
        orchestration = value["orchestration"]
        named = [
            role
            for key in ("receives_from", "hands_off_to", "reviewed_by", "reviews")
            for role in orchestration.get(key, [])
        ]
    else:
        named = [role for stage in _stages_in(kind, value) for role in _roles_of(stage)]
    yield from _absent(named, "agents", names)


def _named_judges_exist(_kind: Kind, value: Mapping[str, Any], _names: Names) -> Iterator[str]:
    for key, known in (("gates", GATE_NAMES), ("checks", CHECK_NAMES)):
        for name in value.get(key, ()):
            if name not in known:
                near = did_you_mean(name, known)
                yield f"{key}: {name!r} is no {key.removesuffix('s')}{near}; there are {', '.join(known)}"


def _stages_exist(kind: Kind, value: Mapping[str, Any], names: Names) -> Iterator[str]:
    if kind == "agents":
        named = [value["orchestration"]["stage"]] if value["orchestration"]["stage"] is not None else []
    else:
        pipeline = value["pipeline"]
        named = [entry["name"] for entry in all_entries(pipeline)]
        named += [external["skips_to"] for external in pipeline.get("accepts_external", {}).values()]
        yield from _absent(
            [pipeline["continuation"]["next_pipeline"]] if "continuation" in pipeline else [],
            "pipelines",
            names,
        )
    yield from _absent(named, "stages", names)


CATALOG_RULES: Mapping[Predicate, Rule] = {
    "tools_do_not_overlap": _tools_do_not_overlap,
    "output_contract_exists": _output_contract_exists,
    "verifications_exist": _verifications_exist,
    "named_roles_exist": _named_roles_exist,
    "named_judges_exist": _named_judges_exist,
    "stages_exist": _stages_exist,
}


JUDGED: Mapping[Predicate, GateName] = {
    "all_tests_fail": "red",
    "no_implementation_exists": "red",
    "all_tests_pass": "green",  # and once more at delivery
    "conformance_passing": "green",
    "no_regressions": "green",
    "test_lock_held": "green",
    "type_check_pass": "green",
    "complexity_acceptable": "quality",
    "no_code_smells": "quality",
    "coverage_acceptable": "quality",
    "deployment_ready": "delivery",
}
"""Rules of what the engine ran, with the gate that judges each: no artifact can meet them by what it says."""

_RUNS_IT_AGAIN: Mapping[GateName, GateName] = {"green": "delivery"}
"""A gate that judges by a run of its own what another one judged."""


def unjudged_rules(
    line: Line, rules: Mapping[str, Sequence[str]], own_roles: Collection[str]
) -> Iterator[str]:
    """Rules of a stage's artifacts, or of a project's own role in it, that none of its gates would judge:
    they would hold of anything. `rules` has those of each contract.
    """
    for stage in line.stages:
        for item in stage["produces"]:
            contract = item["contract"]
            role = _of_role(line, stage, contract) if stage["role"] in own_roles else ()
            asked = {*rules[contract], *role}
            for rule, gate in JUDGED.items():
                judges = {gate, _RUNS_IT_AGAIN.get(gate, gate)}
                if rule in asked and judges.isdisjoint(stage["gates"]):
                    who = contract if rule in rules[contract] else stage["role"]
                    yield (
                        f"{who} in {stage['name']} asks for {rule}, which the gate {gate} judges, and the "
                        "stage does not have that gate"
                    )


def with_rules_of_roles(contract: Document, lines: Sequence[Line]) -> Document:
    """A contract with what the roles that hand it in must verify, too."""
    own = contract.get("validation") or []
    asked = [
        rule
        for line in lines
        for stage in line.stages
        if any(item["contract"] == contract["contract"] for item in stage["produces"])
        for rule in _of_role(line, stage, contract["contract"])
        if rule not in JUDGED and rule not in own
    ]
    return {**contract, "validation": [*own, *dict.fromkeys(asked)]} if asked else contract


def _of_role(line: Line, stage: Document, contract: str) -> Sequence[Predicate]:
    """What the role of a stage must verify of its one artifact; one of several says it of none."""
    role = line.roles.get(stage["role"]) if stage["role"] is not None else None
    return role.must_verify if role is not None and role.outputs == (contract,) else ()


def all_entries(template: Mapping[str, Any]) -> list[Document]:
    """Every mention of a stage in a template, lane after lane."""
    return [
        *template.get("stages", []),
        *(entry for lane in template.get("lanes", {}).values() for entry in lane["stages"]),
    ]


def known_names(kind: Kind, document: Document) -> Document:
    """The same with each contract and each rule under its own name. A malformed part stays as it is: the
    meta-contract will say so.
    """
    match kind:
        case "stages" | "pipelines":
            return {key: _renamed(value, key) for key, value in document.items()}
        case "contracts":
            return {
                key: with_predicates(value) if key == "validation" else value
                for key, value in document.items()
            }
        case "agents" | "tools":
            return document


def _renamed(value: Any, key: str = "") -> Any:  # noqa: ANN401  a document is any YAML
    match value:
        case dict():
            return {name: _renamed(part, name) for name, part in value.items()}
        case list():
            return [_renamed(part, key) for part in value]
        case str() if key in {"contract", "requires", "deliverable", "provides"}:
            return CONTRACT_ALIASES.get(value, value)
        case _:
            return value


def condition_problems(kind: Kind, value: Mapping[str, Any]) -> Iterator[str]:
    """Conditions that cannot be read, or that skip what may not be skipped."""
    for part in _stages_in(kind, value):
        for key in ("skippable_if", "skip_if", "reviewers_if"):
            if key in part and (reason := condition_problem(part[key])):
                foreign = [word for word in facts_in(part[key]) if word not in KNOWN_FACTS]
                yield f"{key}: {reason}{did_you_mean(foreign[0], KNOWN_FACTS) if foreign else ''}"
                return
    facts = goes_beyond(value.get("skip_if", ""), value.get("skippable_if", "")) if kind == "stages" else None
    if facts is not None:
        may = value.get("skippable_if", "never")
        case = f"when {' and '.join(facts)} holds" if facts else "always"
        yield f"skip_if: `{value['skip_if']}` skips {value['name']} {case}; it may be skipped only if `{may}`"


def lane_problems(pipeline: Pipeline, roles: Mapping[str, Role]) -> Iterator[str]:
    """What is wrong with stages in this order, beyond each of them alone."""
    twice = [name for name, count in Counter(stage.name for stage in pipeline.stages).items() if count > 1]
    if twice:
        yield f"names the stage {twice[0]} twice"
    yield from _part_problems(pipeline)
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
                    yield (
                        f"{stage.name} owes {product.contract}, which its role {stage.role} does not produce"
                    )
        yield from _panel_problems(stage)
        yield from _heard_problems(stage)
        have |= {product.contract for product in stage.products}
        before.append(stage.name)


def _part_problems(pipeline: Pipeline) -> Iterator[str]:
    """The engine asks by part: two contracts for one part would be two answers."""
    for part in PARTS:
        products = [product for stage in pipeline.stages for product in stage.products]
        names = [*dict.fromkeys(product.contract for product in products if product.part == part)]
        if len(names) > 1:
            yield f"has two contracts for the part {part}: {' and '.join(names[:2])}"


def rise_problem(below: Pipeline, above: Pipeline) -> str:
    """Why a lane cannot rise to another: work goes on there at the implementation, and nobody goes back for
    what is missing.
    """
    made = {(product.contract, product.phase) for stage in below.stages for product in stage.products}
    names = [stage.name for stage in above.stages if stage.makes("change")]
    if not names:
        blocks = below.rises is not None and below.rises.blocks
        return (
            f"lanes.{below.lane}.rises.blocks: the lane {above.lane} has no implementation to continue with"
            if blocks
            else ""
        )
    before = above.stages[: above.index(names[0]) + 1]
    owed = [
        product
        for stage in before
        for product in stage.products
        if (product.contract, product.phase) not in made
    ]
    return (
        f"lanes.{below.lane}.rises.to: the lane {above.lane} needs {owed[0].contract}, which "
        f"{below.lane} does not make"
        if owed
        else ""
    )


def _heard_problems(stage: Stage) -> Iterator[str]:
    heard = [debater.role for debater in stage.debaters]
    if ("debate" in stage.gates) != bool(heard):
        yield f"{stage.name} has debaters and the gate debate, or neither of them"
    if heard and stage.role is None:
        yield f"{stage.name} is computed: no role weighs what its debaters say"
    if len(set(heard)) < len(heard):
        yield f"{stage.name} names a debater twice"
    if stage.role in heard:
        yield f"{stage.name} is decided by one of its debaters, {stage.role}"


def _panel_problems(stage: Stage) -> Iterator[str]:
    readers = [reader.role for reader in stage.reviewers]
    if "review" in stage.gates and not readers and stage.returns_to is None:
        yield f"{stage.name} has the gate review, and neither `reviewers` nor a stage to return to"
    if not readers:
        return
    if stage.role is None:
        yield f"{stage.name} is computed: no role works on what its reviewers find"
    if stage.returns_to is not None and not stage.makes("review"):
        yield f"{stage.name} has reviewers and returns to {stage.returns_to}; one of them, not both"
    if stage.gates[-1] != "review" and not stage.makes("review"):
        yield f"{stage.name} has reviewers, so review is the last of its gates"
    if len(set(readers)) < len(readers):
        yield f"{stage.name} names a reviewer twice"
    if stage.role in {*readers, *([stage.arbiter.role] if stage.arbiter else [])}:
        yield f"{stage.name} is reviewed by its own author, {stage.role}"


def summary_problems(template: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with how a pipeline sums up what it hands over."""
    said = template["exit"].get("summary_template")
    if said is not None and (reason := template_problem(said)):
        yield f"pipeline.exit.summary_template: {reason}"


def ends_problems(
    end: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], stages: Sequence[Document]
) -> Iterator[str]:
    """What is wrong with where a line starts and ends."""
    first, last = stages[0], stages[-1]
    yield from (
        f"{stage['name']} has a role and no prompt"
        for stage in stages
        if stage["role"] is not None and not stage.get("prompt")
    )
    if not first.get("entry_point"):
        yield f"cannot start at {first['name']}, which is no entry point"
    exits = [entry["name"] for entry in entries if entry.get("default_exit")]
    if exits != [last["name"]] or end["stage"] != last["name"]:
        yield "its last stage, and no other, is the `default_exit`, and `exit.stage` names it"
    elif not last.get("exit_point"):
        legal = [stage["name"] for stage in stages if stage.get("exit_point")]
        yield f"cannot end at {last['name']}; it may end at {', '.join(legal) or 'none of its stages'}"
    elif end["deliverable"] not in [item["contract"] for item in last["produces"]]:
        yield f"its last stage does not produce the deliverable {end['deliverable']}"


def _stages_in(kind: Kind, value: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    match kind:
        case "stages":
            return [value]
        case "pipelines":
            return all_entries(value["pipeline"])
        case "agents" | "contracts" | "tools":
            return []


def _roles_of(stage: Mapping[str, Any]) -> list[str]:
    beside = [*stage.get("reviewers", []), stage.get("arbiter"), *stage.get("debaters", [])]
    named = [stage.get("role"), *beside]
    return [name for name in named if name is not None]


def _contracts_of_template(template: Mapping[str, Any]) -> list[str]:
    taken = [*template.get("accepts_external", {}).values(), *template.get("requires_external", {}).values()]
    named: list[str] = [
        template["exit"]["deliverable"],
        *(name for item in taken for name in [item["contract"], *item.get("requires", [])]),
    ]
    named += [name for entry in all_entries(template) for name in entry.get("requires", [])]
    return [*named, *template.get("continuation", {}).get("provides", [])]


def _absent(named: Collection[str], kind: Kind, names: Names) -> Iterator[str]:
    known = names(kind)
    for name in dict.fromkeys(named):
        if name not in known:
            yield (
                f"names {name}, but there is no {kind}/{name}.yaml{did_you_mean(name, known)}; there are "
                f"{', '.join(sorted(known))}"
            )
