"""The conformance checks as data: the files of `checks/`, each with its contract, its limit and its examples.

They are AgentForge's own. A project sets limits and how hard a check is in its settings, and brings checks of
its own beside these (`.agentforge/checks/`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from agentforge.system import strict_yaml

CheckContract = Literal[
    "style_contracts",
    "architecture_contracts",
    "pattern_contracts",
    "security_contracts",
    "quality_contracts",
]
CONTRACTS: tuple[CheckContract, ...] = get_args(CheckContract)
CheckSeverity = Literal["critical", "major", "minor"]
Enforcement = Literal["every_edit", "phase_end"]
Blocks = Literal["always", "when_new", "when_declared", "never"]
"""When a finding stops somebody: wherever it is, where it was not before, where the project's settings name
the check, or nowhere: then it is advice.
"""

_FOLDER = Path(__file__).parent / "checks"


@dataclass(frozen=True, slots=True)
class CodeCheck:
    """One rule about code."""

    name: str
    contract: str
    """One of the five categories; of a project's own check, what it says."""
    description: str
    severity: CheckSeverity
    enforcement: Enforcement
    blocks: Blocks
    fix_hint: str
    checked_by: Mapping[str, str]
    """What reads it, by language; under `any`, in every one."""
    limit: int | None = None
    unit: str = ""
    needs: str = ""
    """The settings without which it is not configured."""
    tests: bool = False
    """Whether tests are held to it, too."""


@cache
def own_checks() -> Mapping[str, CodeCheck]:
    """The checks that come with AgentForge, category by category."""
    found = [check_from_json(check_document(path.stem)) for path in sorted(_FOLDER.glob("*.yaml"))]
    order: dict[str, int] = {name: number for number, name in enumerate(CONTRACTS)}
    return {check.name: check for check in sorted(found, key=lambda each: order[each.contract])}


def check_document(name: str) -> Mapping[str, Any]:
    """A check as it is written, examples and all."""
    path = _FOLDER / f"{name}.yaml"
    found = strict_yaml.load(path.read_text(encoding="utf-8"), f"catalog/checks/{path.name}")
    assert isinstance(found, dict)
    return found


def check_from_json(value: Mapping[str, Any]) -> CodeCheck:
    """A check from its valid document."""
    return CodeCheck(
        value["check"],
        value["contract"],
        value["description"],
        value["severity"],
        value["enforcement"],
        value["blocks"],
        value["fix_hint"],
        value["checked_by"],
        value.get("limit"),
        value.get("unit", ""),
        value.get("needs", ""),
        value.get("tests", False),
    )
