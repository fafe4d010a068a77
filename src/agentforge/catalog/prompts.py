"""The system prompt of a role in a stage: the same bytes at every step, and not one word from a
repository. Its words are data: `policies/wording.yaml`, the role and the stage.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from agentforge.catalog.contracts import Contract
from agentforge.catalog.policies import read_policy
from agentforge.catalog.roles import Role
from agentforge.core.pipeline import Pipeline, Predicate, Stage
from agentforge.core.values import Owner


@cache
def packaged_wording() -> Mapping[str, Any]:
    """The wording that comes with us; a task keeps the one that it was started with."""
    found: Mapping[str, Any] = read_policy("wording")
    return found


def system_prompt(
    role: Role,
    stage: Stage,
    contracts: Sequence[Contract],
    instructions: str = "",
    wording: Mapping[str, Any] | None = None,
    flow: str = "",
) -> str:
    """Who works, by which rules, towards what, and what to do in this stage. `contracts` are what the role is
    asked for; they and the tools are described where they are offered, and nowhere else. `flow` tells who
    works before and after (`flow_of`).
    """
    wording = wording or packaged_wording()
    words = {
        "name": role.display_name,
        "who": role.description.strip(),
        "knows": "; ".join(role.expertise),
        "thinks": role.thinking_style.strip(),
        "rules": _list(role.constraints),
        "limits": _list(f"{tool} {_places(paths)}" for tool, paths in role.path_constraints.items()),
        "judged": _judged(role, contracts, wording["rules"]),
        "stage": stage.name,
        "flow": flow,
        "told": instructions.strip(),
    }
    parts = [_filled(part, words) for part in wording["parts"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _filled(part: str, words: Mapping[str, str]) -> str:
    """A part with its words in their places; empty if it is about words that are not there."""
    used = [name for name in words if f"{{{name}}}" in part]
    if used and not any(words[name] for name in used):
        return ""
    for name in used:
        part = part.replace(f"{{{name}}}", words[name])
    return part


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _places(patterns: str) -> str:
    """Path limits in words; what the repository calls its tests stays out of this prompt."""
    parts = [
        part.strip().replace("{tests}", "test files").replace("{docs}", "documentation")
        for part in patterns.split(",")
    ]
    inside = [part for part in parts if not part.startswith("!")]
    outside = [part[1:] for part in parts if part.startswith("!")]
    said = [f"takes only {', '.join(inside)}"] if inside else []
    return ", ".join([*said, *(f"never takes {part}" for part in outside)])


def _judged(role: Role, contracts: Sequence[Contract], said: Mapping[str, str]) -> str:
    return ", ".join(said.get(name, name.replace("_", " ")) for name in _verified(role, contracts))


def _verified(role: Role, contracts: Sequence[Contract]) -> list[Predicate]:
    """What the role answers for here: one that writes several artifacts, only for those of this stage."""
    rules = {rule for contract in contracts for rule in contract.rules}
    return [name for name in role.must_verify if len(role.outputs) == 1 or name in rules]


def flow_of(pipeline: Pipeline, stage: Stage, owner: Owner = "worker") -> str:
    """Who works before and after a stage in this pipeline, as its role is told, or whoever is beside it."""
    at, own = pipeline.index(stage.name), pipeline.stage(stage.name)
    makers = [
        earlier.role
        for earlier in pipeline.stages[:at]
        if earlier.role not in (None, own.role)
        and any(product.contract in own.requires for product in earlier.products)
    ]
    match owner:
        case "reviewer":  # where the stage itself is a review, what is read is what that judges
            return f"You read the work of: {_named(makers) if own.makes('review') else own.role}.\n"
        case "debater":
            return f"You are heard before the work of: {own.role}.\n"
        case "worker":
            return _flow_of_work(pipeline, stage, [*makers, *(debater.role for debater in stage.debaters)])


def _flow_of_work(pipeline: Pipeline, stage: Stage, makers: Sequence[str | None]) -> str:
    at = pipeline.index(stage.name)
    lines = [f"You build on the work of: {_named(makers)}."] if makers else []
    if stage.reviewers and not stage.makes("review"):
        lines.append(f"It is read by: {_named(reader.role for reader in stage.reviewers)}.")
    after = _after(pipeline.stages[at + 1 :])
    if after:
        lines.append(f"Your work goes to: {_named(after)}.")
    elif at + 1 < len(pipeline.stages):
        lines.append("Nobody works on it after you: the engine checks it and hands it over.")
    else:
        lines.append("Your work ends this task: a person reads it.")
    return "".join(f"{line}\n" for line in lines)


def _after(stages: Sequence[Stage]) -> list[str]:
    """The roles that may get the work next: one that may be skipped, and whoever comes after it."""
    found: list[str] = []
    for stage in stages:
        if stage.role is not None:
            found += [*(debater.role for debater in stage.debaters), stage.role]
            if not stage.skip_if:
                break
    return found


def _named(roles: Iterable[str | None]) -> str:
    return ", ".join(dict.fromkeys(role for role in roles if role is not None))
