"""What was built for each item of the plan, and what that proves: tables of `build.md` and `validate.md`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentforge.catalog.phases import PhaseId, workflow
from agentforge.documents.items import items
from agentforge.documents.outline import appended, named
from agentforge.documents.tables import Row, spell_table, tables, with_cell, with_row
from agentforge.phases import knowledge
from agentforge.phases.rules import DONE, plan_items, rows_of
from agentforge.phases.tree import WorkflowTree, working_document


@dataclass(frozen=True, slots=True)
class BuiltItem:
    """An item of the plan, and the task that built it or shall."""

    id: str
    words: str
    task: str = ""
    branch: str = ""
    status: str = ""
    evidence: str = ""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to build."""
        return self.status.lower() in DONE


def built_items(tree: WorkflowTree, plan: str = "") -> list[BuiltItem]:
    """Every item of the plan with what the log says of it, in the order in which they are built."""
    rows = {row.get("Item"): row for row in rows_of(tree, working_document("build"), "Build Log")}
    found = []
    for item in plan_items(tree, plan):
        row = rows.get(item.id)
        said = [row.get(name) for name in ("Task", "Branch", "Status", "Evidence")] if row else [""] * 4
        found.append(BuiltItem(item.id, item.words, *said))
    return found


def note_built(tree: WorkflowTree, item: BuiltItem) -> None:
    """Put an item into the log, in the row that it has or in a new one."""
    cells = {"Task": item.task, "Branch": item.branch, "Status": item.status, "Evidence": item.evidence}
    _note(tree, "build", "Build Log", ("Item", item.id), cells)
    if all(each.is_done for each in built_items(tree)):
        _tick(tree, "build")


def note_evidence(tree: WorkflowTree, rows: Iterable[Mapping[str, str]]) -> None:
    """Put what was proved into the report of evidence, and into the registry that traces it."""
    for row in rows:
        cells = {name: row[name] for name in ("Task", "Evidence", "Status")}
        there = _row(tree.need(working_document("validate")), "Evidence", ("Requirement", row["Requirement"]))
        given = there.get("Evidence") if there is not None and there.get("Task") == row["Task"] else ""
        if given and not row["Evidence"]:
            continue  # a person gave what the task has not
        _note(tree, "validate", "Evidence", ("Requirement", row["Requirement"]), cells)
        traced = {name: row.get(name, "") for name in ("Requirement", "Plan Item", "Task", "Evidence")}
        knowledge.add_row(tree, "traceability.md", "Requirements", traced, same=("Requirement", "Task"))
    known = rows_of(tree, working_document("validate"), "Evidence")
    if known and all(row.get("Evidence") and row.get("Status").lower() in DONE for row in known):
        _tick(tree, "validate")


def _note(
    tree: WorkflowTree, phase: PhaseId, title: str, key: tuple[str, str], cells: Mapping[str, str]
) -> None:
    path = working_document(phase)
    text = tree.need(path)
    if named(text, title) is None:
        newline = "" if text.endswith("\n") else "\n"
        text = f"{text}{newline}\n## {title}\n"
    section = named(text, title)
    assert section is not None
    if not tables(text, section.body, section.end):
        columns = workflow().phases[phase].tables[title]
        text = appended(text, section, spell_table(tuple(columns)))
    for column, value in cells.items():
        row = _row(text, title, key)
        if row is None:
            section = named(text, title)
            assert section is not None
            table = tables(text, section.body, section.end)[0]
            text = with_row(text, table, {key[0]: key[1], **cells})
            break
        text = with_cell(text, row, column, value)
    tree.put(path, text)


def _row(text: str, title: str, key: tuple[str, str]) -> Row | None:
    section = named(text, title)
    if section is None:
        return None
    wanted = " ".join(key[1].split())
    for table in tables(text, section.body, section.end):
        for row in table.rows:
            if row.get(key[0]) == wanted:
                return row
    return None


def _tick(tree: WorkflowTree, phase: PhaseId) -> None:
    """Tick what the catalogue asked of the phase: it was done by the command, not by a person."""
    path = working_document(phase)
    text = tree.need(path)
    todo = named(text, "TODO")
    if todo is None:
        return
    for item in reversed(items(text, todo.body, todo.end)):
        if item.ticked is False and item.text in workflow().phases[phase].todo:
            at = text.index("[ ]", item.start)
            text = f"{text[:at]}[x]{text[at + 3 :]}"
    tree.put(path, text)
