"""The ten phases of the document workflow: `policies/phases.yaml` as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_args

from agentforge.catalog.debates import Trigger
from agentforge.catalog.policies import check_keys, read_policy, refusal

PhaseId = Literal[
    "init", "brainstorm", "research", "design", "plan", "test", "build", "validate", "review", "learn"
]
PHASES: tuple[PhaseId, ...] = get_args(PhaseId)
PhaseRule = Literal[
    "knowledge_files",
    "assumptions_settled",
    "layers_in_order",
    "design_document",
    "plan_has_items",
    "cases_cover_plan",
    "test_strategy",
    "plan_is_built",
    "requirements_have_evidence",
    "checklist_done",
]
ColumnKind = Literal["text", "id", "level", "state", "count"]


@dataclass(frozen=True, slots=True)
class PhaseDebate:
    """Whether a phase has a debate, unless the project's own file says otherwise."""

    enabled: bool = False
    trigger: Trigger = "never"
    required: bool = False


@dataclass(frozen=True, slots=True)
class PhaseDefinition:
    """One phase, as its row says."""

    id: PhaseId
    name: str
    command: str
    description: str
    work: str
    """What its first task is called."""
    artifact: str = ""
    """Its final document below docs/forge; empty for the first phase, which has none."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Further documents below docs/forge, each with its title."""
    sections: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, ColumnKind]] = field(default_factory=dict)
    checklist: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    debate: PhaseDebate = field(default_factory=PhaseDebate)
    needs: tuple[PhaseRule, ...] = ()
    exit: tuple[PhaseRule, ...] = ()
    todo: tuple[str, ...] = ()

    @property
    def next(self) -> "PhaseId | None":
        """The phase behind it; None behind the last."""
        at = PHASES.index(self.id) + 1
        return PHASES[at] if at < len(PHASES) else None

    @property
    def previous(self) -> "PhaseId | None":
        """The phase before it; None before the first."""
        at = PHASES.index(self.id)
        return PHASES[at - 1] if at else None


@dataclass(frozen=True, slots=True)
class Registry:
    """A file of knowledge: its headings, and the columns of its tables."""

    name: str
    title: str
    sections: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, ColumnKind]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workflow:
    """The whole of it."""

    phases: Mapping[PhaseId, PhaseDefinition]
    offered: Mapping[str, str]
    knowledge: Mapping[str, Registry]


@cache
def workflow() -> Workflow:
    """The workflow, read when first asked for."""
    return workflow_from(read_policy("phases"))


def workflow_from(document: Any) -> Workflow:  # noqa: ANN401  a document is any YAML
    """The workflow of a document: all ten phases, in their order, and only rules that there are."""
    if tuple(document["phases"]) != PHASES:
        raise refusal("phases.yaml", f"the phases are {', '.join(PHASES)}, in this order")
    phases = {name: _phase(name, document["phases"][name]) for name in PHASES}
    knowledge = {}
    for name, entry in document["knowledge"].items():
        check_keys(f"phases.yaml: {name}", entry, {"title", "sections", "notes", "tables"})
        knowledge[name] = Registry(name, **{**entry, "sections": tuple(entry.get("sections", ()))})
    return Workflow(phases, document["offered"], knowledge)


def _phase(name: PhaseId, entry: Mapping[str, Any]) -> PhaseDefinition:
    check_keys(f"phases.yaml: {name}", entry, {item.name for item in fields(PhaseDefinition)} - {"id"})
    rules = (*entry.get("needs", ()), *entry.get("exit", ()))
    check_keys(f"phases.yaml: {name}", rules, get_args(PhaseRule))
    lists = {key: tuple(entry.get(key, ())) for key in ("needs", "exit", "todo")}
    checklist = {title: tuple(boxes) for title, boxes in entry.get("checklist", {}).items()}
    debate = PhaseDebate(**entry.get("debate", {}))
    return PhaseDefinition(name, **{**entry, **lists, "checklist": checklist, "debate": debate})
