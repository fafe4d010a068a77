"""The system prompt of a role in a stage: the same bytes at every step, and not one word from a
repository. Its words are data: `policies/wording.yaml`, the role and the stage.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from agentforge.catalog.contracts import Contract
from agentforge.catalog.policies import read_policy
from agentforge.catalog.roles import Role
from agentforge.core.pipeline import Predicate, Stage


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
) -> str:
    """Who works, by which rules, towards what, and what to do in this stage. `contracts` are what the role is
    asked for; they and the tools are described where they are offered, and nowhere else.
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
        "flow": _flow(role, stage),
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


def _flow(role: Role, stage: Stage) -> str:
    lines = []
    if role.receives_from and stage.requires:
        lines.append(f"You build on the work of: {', '.join(role.receives_from)}.")
    if role.hands_off_to:
        lines.append(f"Your work goes to: {', '.join(role.hands_off_to)}.")
    return "".join(f"{line}\n" for line in lines)
