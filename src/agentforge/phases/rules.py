"""What must be true before a phase is entered, and before it ends. Each rule that is not met says what to
do.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count

from agentforge.catalog.phases import PhaseDefinition, PhaseRule, workflow
from agentforge.documents.items import items, plain
from agentforge.documents.outline import body, content, named
from agentforge.documents.tables import Row, tables
from agentforge.gates.debates.documents import is_blank
from agentforge.phases import knowledge
from agentforge.phases.tree import DOCS, WorkflowTree, working_document

DONE = frozenset(
    {"done", "complete", "completed", "delivered", "built", "passed", "pass", "proved", "ok", "yes"}
)
"""Words by which a table says that something is finished."""


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One item of the plan."""

    id: str
    words: str
    ticked: bool


def plan_items(tree: WorkflowTree, path: str = "") -> list[PlanItem]:
    """The items of the plan, in the order in which they are built. One without an id of its
    own gets a free one: no item stands for another.
    """
    for place in (path, working_document("plan"), f"{DOCS}/plan.md"):
        text = tree.get(place) if place else None
        section = named(text, "Plan Items") if text else None
        if text and section is not None:
            break
    else:
        return []
    listed = items(text, section.body, section.end)
    said = [re.match(r"(P\d+)\s*[:.)-]?\s*(.+)", plain(item.text), re.DOTALL) for item in listed]
    taken = {match[1] for match in said if match}
    found: dict[str, PlanItem] = {}
    for number, (item, match) in enumerate(zip(listed, said, strict=True), 1):
        name, words = (match[1], match[2]) if match else ("", plain(item.text))
        if not words or is_blank(words):
            continue
        if not name or name in found:
            name = next(free for at in count(number) if (free := f"P{at}") not in taken)
            taken.add(name)
        found[name] = PlanItem(name, words, item.ticked is True)
    return list(found.values())


def rows_of(tree: WorkflowTree, path: str, title: str) -> list[Row]:
    """The rows that say something in the table of a section."""
    text = tree.get(path) or ""
    section = named(text, title)
    if section is None:
        return []
    return [row for table in tables(text, section.body, section.end) for row in table.filled()]


def unmet(tree: WorkflowTree, rules: tuple[PhaseRule, ...]) -> list[str]:
    """Which of these rules are not met, each as a sentence."""
    return [problem for rule in rules for problem in _RULES[rule](tree)]


def open_work(tree: WorkflowTree, phase: PhaseDefinition) -> list[str]:
    """What of the phase's own work is still to be done."""
    path = working_document(phase.id)
    text = tree.get(path) or ""
    found = []
    for title in phase.sections:
        section = named(text, title)
        if section is None:
            found.append(f"{path} has no section `{title}`")
        elif is_blank(content(text, section)):
            found.append(f"`{title}` in {path} says nothing yet")
    todo = named(text, "TODO")
    if todo is not None:
        found += [
            f"not ticked in {path}: {item.text}"
            for item in items(text, todo.body, todo.end)
            if item.ticked is False
        ]
    for name in phase.documents:
        if is_blank(_sections_only(tree.get(f"{DOCS}/{name}") or "")):
            found.append(f"{DOCS}/{name} says nothing yet")
    return found + unmet(tree, phase.exit)


def _sections_only(text: str) -> str:
    """What stands below the headings of a document."""
    return "\n".join(line for line in body(text).splitlines() if not line.startswith("#"))


def _knowledge_files(tree: WorkflowTree) -> list[str]:
    paths = [knowledge.registry_path(name) for name in workflow().knowledge]
    return [f"{path} is missing" for path in paths if tree.get(path) is None]


def _assumptions_settled(tree: WorkflowTree) -> list[str]:
    told = {row.get("ID") for row in rows_of(tree, working_document("research"), "Assumption Results")}
    return [
        f"the assumption {row.get('ID')} is open: say what became of it in `Assumption Results` of "
        f"{working_document('research')}, or in {knowledge.registry_path('assumptions.md')}"
        for row in knowledge.open_assumptions(tree)
        if row.get("ID") not in told
    ]


def _layers_in_order(tree: WorkflowTree) -> list[str]:
    text = tree.get(working_document("design")) or ""
    first, second = named(text, "System Design"), named(text, "UI/UX Design")
    if first is not None and second is not None and first.start > second.start:
        return ["`System Design` comes before `UI/UX Design`"]
    return []


def _design_document(tree: WorkflowTree) -> list[str]:
    return [] if tree.get(working_document("design")) else [f"{working_document('design')} is missing"]


def _plan_has_items(tree: WorkflowTree) -> list[str]:
    if plan_items(tree):
        return []
    return [f"`Plan Items` in {working_document('plan')} has no item, such as `- [ ] P1: one change`"]


def _test_strategy(tree: WorkflowTree) -> list[str]:
    return [] if tree.get(f"{DOCS}/test-strategy.md") else [f"{DOCS}/test-strategy.md is missing"]


def _cases_cover_plan(tree: WorkflowTree) -> list[str]:
    path = working_document("test")
    said = " ".join(row.get("Plan Item", "Item") for row in rows_of(tree, path, "Test Cases"))
    covered = set(re.findall(r"\w+", said))
    return [
        f"no row of `Test Cases` in {path} is for {item.id}"
        for item in plan_items(tree)
        if item.id not in covered
    ]


def _plan_is_built(tree: WorkflowTree) -> list[str]:
    path = working_document("build")
    rows = {row.get("Item"): row for row in rows_of(tree, path, "Build Log")}
    found = []
    for item in plan_items(tree):
        row = rows.get(item.id)
        if row is None or row.get("Status").lower() not in DONE:
            found.append(f"{item.id} is not built: `agentforge phase build` builds it, or note it in {path}")
        elif not row.get("Evidence"):
            found.append(f"{item.id} has no evidence in `Build Log` of {path}")
    return found


def _requirements_have_evidence(tree: WorkflowTree) -> list[str]:
    path = working_document("validate")
    rows = rows_of(tree, path, "Evidence")
    if not rows:
        return [f"`Evidence` in {path} has no row; `agentforge phase validate` fills it from what was built"]
    return [
        f"“{row.get('Requirement')}” in {path} needs its evidence, and a status such as `passed`"
        for row in rows
        if not row.get("Evidence") or row.get("Status").lower() not in DONE
    ]


def _checklist_done(tree: WorkflowTree) -> list[str]:
    path = working_document("review")
    text = tree.get(path) or ""
    section = named(text, "Review Checklist")
    boxes = items(text, section.body, section.end) if section is not None else []
    if not boxes:
        return [f"{path} has no `Review Checklist`"]
    return [f"not ticked in {path}: {item.text}" for item in boxes if item.ticked is not True]


_RULES: Mapping[PhaseRule, Callable[[WorkflowTree], list[str]]] = {
    "knowledge_files": _knowledge_files,
    "assumptions_settled": _assumptions_settled,
    "layers_in_order": _layers_in_order,
    "design_document": _design_document,
    "plan_has_items": _plan_has_items,
    "cases_cover_plan": _cases_cover_plan,
    "test_strategy": _test_strategy,
    "plan_is_built": _plan_is_built,
    "requirements_have_evidence": _requirements_have_evidence,
    "checklist_done": _checklist_done,
}
