"""The registries of a workflow: decisions, constraints, assumptions and risks.

Ids run through the whole workflow: the next one is above every one that stands in the file, whoever wrote it.
What is there already is not added again, and nothing that a person wrote is changed.
"""

import re
from dataclasses import dataclass

from agentforge.catalog.phases import Registry, workflow
from agentforge.documents.items import plain
from agentforge.documents.outline import appended, content, named, newline_of, outline
from agentforge.documents.tables import Row, spell_table, tables, with_cell, with_row
from agentforge.gates.debates.documents import AcceptedRisk, KillSwitch, read_level
from agentforge.phases.tree import KNOWLEDGE, WorkflowTree

_DECISION = re.compile(r"D[A-Z]*0*(\d+)\b\s*[:.\u2013\u2014-]?\s*(.*)", re.DOTALL)
_FIELD = re.compile(r"(?m)^[ \t]*(?:[-*][ \t]+)?\*\*([A-Za-z -]+):?\*\*:?[ \t]*(.*)$")
LEVEL_NAMES = ("", "Low", "Medium", "High")
HIGH_SCORE, MEDIUM_SCORE = 6, 3


@dataclass(frozen=True, slots=True)
class LockedDecision:
    """A decision of the registry."""

    id: str
    title: str
    status: str
    source: str
    rationale: str

    @property
    def is_in_force(self) -> bool:
        """Whether it is locked now."""
        return not self.status.lower().startswith(("superseded", "rejected", "proposed"))

    @property
    def debate_id(self) -> str:
        """The debate that it came from; empty if it came from none."""
        return self.source.partition(",")[0] if "-20" in self.source else ""


@dataclass(frozen=True, slots=True)
class NewDecision:
    """A decision that is to be recorded."""

    source: str
    """Where it comes from; the same source is recorded once."""
    phase: str
    title: str
    rationale: str = ""
    context: str = ""
    options: tuple[str, ...] = ()
    kill_switches: tuple[KillSwitch, ...] = ()
    supersedes: tuple[str, ...] = ()


def registry_path(name: str) -> str:
    """Where a registry lies."""
    return f"{KNOWLEDGE}/{name}"


def new_registry(registry: Registry, workflow_objective: str = "") -> str:
    """A registry with its headings and empty tables."""
    parts = [f"# {registry.title}"]
    for title in registry.sections:
        words = workflow_objective if title == "Objective" else registry.notes.get(title, "")
        parts += [f"## {title}", words] if words else [f"## {title}"]
    for title, columns in registry.tables.items():
        parts += [f"## {title}", spell_table(tuple(columns))]
    return "\n\n".join(parts) + "\n"


def read_decisions(text: str) -> tuple[LockedDecision, ...]:
    """Every decision of a registry, in the order of the file."""
    found = []
    superseded = named(text, "Superseded Decisions")
    for section in outline(text):
        match = _DECISION.match(plain(section.title))
        if match is None or section.level == 1:
            continue
        fields = {
            name.strip().lower(): value.strip() for name, value in _FIELD.findall(content(text, section))
        }
        status = fields.get("status", "accepted")
        if superseded is not None and superseded.start < section.start < superseded.end:
            status = "superseded"
        found.append(
            LockedDecision(
                f"D{int(match[1])}", match[2], status, fields.get("source", ""), fields.get("rationale", "")
            )
        )
    return tuple(found)


def add_decision(tree: WorkflowTree, new: NewDecision) -> str:
    """Record a decision; its id. One from the same source is there already and keeps its id."""
    path = registry_path("decisions.md")
    text = tree.get(path) or new_registry(workflow().knowledge["decisions.md"])
    known = read_decisions(text)
    for each in known:
        if each.source == new.source:
            return each.id
    number = max((int(each.id[1:]) for each in known), default=0) + 1
    title = " ".join(new.title.split())
    lines = [
        f"### D{number}: {title}",
        "",
        "- **Status:** accepted",
        f"- **Phase:** {new.phase}",
        f"- **Date:** {tree.stamp[:10]}",
        f"- **Source:** {new.source}",
        *([f"- **Supersedes:** {', '.join(new.supersedes)}"] if new.supersedes else []),
        "",
        f"**Context:** {new.context or 'see the source'}",
        "",
        "**Options Considered:**",
        "",
        *([f"{at}. {option}" for at, option in enumerate(new.options, 1)] or ["1. none on record"]),
        "",
        f"**Decision:** {title}",
        "",
        f"**Rationale:** {' '.join(new.rationale.split()) or 'not said'}",
        "",
        "**Consequences:** see the source",
        "",
        f"**Constraints Imposed:** locked; a challenge of D{number} reopens its debate",
    ]
    if new.kill_switches:
        lines += ["", "**Kill-Switch Conditions:**", ""]
        lines += [f"- [ ] {each.condition}: {each.threshold}".rstrip(": ") for each in new.kill_switches]
    text = _added(text, "Active Decisions", "\n".join(lines))
    for old in new.supersedes:
        text = _superseded(text, old, f"D{number}")
    tree.put(path, text)
    return f"D{number}"


def _superseded(text: str, old: str, by: str) -> str:
    """The registry in which one decision gives way to another: its status says so, its words stay."""
    for section in outline(text):
        match = _DECISION.match(plain(section.title))
        if match and f"D{int(match[1])}" == old and section.level > 1:
            inner = content(text, section)
            changed = re.sub(
                r"(?m)^(- \*\*Status:\*\* )accepted[ \t]*$", rf"\1superseded by {by}", inner, count=1
            )
            text = text[: section.body] + changed + text[section.end :]
            return _added(text, "Superseded Decisions", f"- {old}, superseded by {by}")
    return text


def add_constraint(tree: WorkflowTree, decision_id: str, words: str, phase: str, debate_id: str) -> None:
    """A decision becomes a constraint that cites it."""
    locked = f"{phase} (locked by debate {debate_id})" if debate_id else phase
    row = {"Derived From": decision_id, "Constraint": words, "Locked By Phase": locked}
    _add_row(tree, "constraints.md", "Derived Constraints", "DC", row, same=("Derived From",))


def add_hard_constraint(tree: WorkflowTree, words: str, phase: str) -> None:
    """A constraint that a phase named."""
    row = {"Constraint": words, "Source": f"{phase} document", "Phase Introduced": phase}
    _add_row(tree, "constraints.md", "Hard Constraints", "C", row, same=("Constraint",))


def add_assumption(tree: WorkflowTree, words: str, phase: str) -> None:
    """An assumption that a phase named."""
    row = {"Assumption": words, "Phase Introduced": phase, "Status": "open"}
    _add_row(tree, "assumptions.md", "Active Assumptions", "A", row, same=("Assumption",))


def add_risk(tree: WorkflowTree, risk: AcceptedRisk, status: str) -> None:
    """A risk with its owner and its score."""
    row = {
        "Risk": risk.risk,
        "Probability": LEVEL_NAMES[risk.probability],
        "Impact": LEVEL_NAMES[risk.impact],
        "Score": str(risk.score) if risk.score else "",
        "Owner": risk.owner or "unassigned",
        "Mitigation": risk.mitigation,
        "Status": status,
    }
    _add_row(tree, "risks.md", "Active Risks", "R", row, same=("Risk",))


def settle_assumption(tree: WorkflowTree, assumption_id: str, row: Row, phase: str) -> None:
    """An assumption turned out true or false: its row says so, and the table of its kind gets one."""
    path = registry_path("assumptions.md")
    text = tree.get(path) or ""
    result = row.get("Result").lower()
    valid = not result.startswith(("invalid", "false", "no"))
    for active in _rows(text, "Active Assumptions"):
        if active.get("ID") != assumption_id or not is_open(active):
            continue
        column = next((name for name in active.cells if name.casefold() == "status"), "Status")
        tree.put(path, with_cell(text, active, column, "validated" if valid else "invalidated"))
        words = {"ID": assumption_id, "Assumption": active.get("Assumption", "Description")}
        if valid:
            more = {"Validated In": phase, "Evidence": row.get("Evidence"), "Validated At": tree.stamp[:10]}
            _add_row(tree, "assumptions.md", "Validated Assumptions", "", {**words, **more}, same=("ID",))
        else:
            more = {
                "Invalidated In": phase,
                "Impact": row.get("Evidence"),
                "Mitigation": row.get("Mitigation"),
            }
            _add_row(tree, "assumptions.md", "Invalidated Assumptions", "", {**words, **more}, same=("ID",))
        return


def open_assumptions(tree: WorkflowTree) -> list[Row]:
    """The assumptions that nobody has settled."""
    text = tree.get(registry_path("assumptions.md")) or ""
    return [row for row in _rows(text, "Active Assumptions") if is_open(row)]


def is_open(row: Row) -> bool:
    """Whether an assumption still waits."""
    return row.get("Status").lower() in ("", "open", "active", "pending")


def constraints(tree: WorkflowTree) -> list[tuple[str, str, str, str]]:
    """Every constraint: its id, its words, where it comes from, and what a violation triggers."""
    text = tree.get(registry_path("constraints.md")) or ""
    found = [
        (row.get("ID"), row.get("Constraint"), row.get("Source"), trigger)
        for title, trigger in (("Hard Constraints", "Review"), ("Soft Constraints", "Discussion"))
        for row in _rows(text, title)
    ]
    found += [
        (row.get("ID"), row.get("Constraint"), row.get("Derived From"), "Reopen debate")
        for row in _rows(text, "Derived Constraints")
    ]
    return found


def active_risks(tree: WorkflowTree, *, accepted: bool = True) -> list[tuple[str, int]]:
    """The risks that are not gone, each with its score; those that a debate accepted only if wanted."""
    text = tree.get(registry_path("risks.md")) or ""
    found = []
    for row in _rows(text, "Active Risks"):
        if not accepted and row.get("Status").lower().startswith(("accepted", "closed", "mitigated")):
            continue
        written = re.match(r"\d+", row.get("Score"))
        score = read_level(row.get("Probability", "Likelihood")) * read_level(row.get("Impact"))
        found.append((row.get("Risk"), int(written[0]) if written else score))
    return found


def highest_risk(tree: WorkflowTree) -> int:
    """The highest score of an open risk; 0 where there is none."""
    return max((score for _, score in active_risks(tree)), default=0)


def risk_level(score: int) -> str:
    """A score in a word."""
    return "high" if score >= HIGH_SCORE else "medium" if score >= MEDIUM_SCORE else "low"


def _rows(text: str, title: str) -> list[Row]:
    section = named(text, title)
    if section is None:
        return []
    return [row for table in tables(text, section.body, section.end) for row in table.filled()]


def add_row(tree: WorkflowTree, name: str, title: str, row: dict[str, str], same: tuple[str, ...]) -> None:
    """A row without an id of ours in the table of a registry, unless it is there."""
    _add_row(tree, name, title, "", row, same=same)


def _add_row(
    tree: WorkflowTree, name: str, title: str, letters: str, row: dict[str, str], *, same: tuple[str, ...]
) -> None:
    """A row in the table of a registry, unless one with the same cells is there."""
    path = registry_path(name)
    registry = workflow().knowledge[name]
    text = tree.get(path) or new_registry(registry)
    wanted = [_flat(row[column]) for column in same]
    if any([_flat(each.get(column)) for column in same] == wanted for each in _rows(text, title)):
        return
    section = named(text, title)
    if section is None or not tables(text, section.body, section.end):
        text = _added(text, title, spell_table(tuple(registry.tables[title])))
        section = named(text, title)
    assert section is not None
    table = tables(text, section.body, section.end)[0]
    if letters:
        numbers = re.findall(rf"(?<![A-Za-z]){letters}0*(\d+)\b", text)
        filled = {int(number) for number in numbers if f"{letters}{number}" in _used(text, title)}
        row = {"ID": f"{letters}{max(filled, default=0) + 1}", **row}
    tree.put(path, with_row(text, table, row))


def _used(text: str, title: str) -> set[str]:
    return {row.get("ID") for row in _rows(text, title)}


def _flat(cell: str) -> str:
    return " ".join(cell.casefold().split())


def _added(text: str, title: str, addition: str) -> str:
    """The document with a text at the end of a section, which is made if it is not there."""
    section = named(text, title)
    if section is not None:
        return appended(text, section, addition)
    newline = newline_of(text)
    head = text if not text or text.endswith(("\n", "\r")) else text + newline
    return f"{head}{newline}## {title}{newline}{newline}{addition.replace(chr(10), newline)}{newline}"
