"""Two tasks beside each other, for a screen, a page and programs."""

from collections.abc import Iterable

from agentforge.app.evidence.comparing import Comparison, Side
from agentforge.core.reply import Json
from agentforge.surfaces.cli.pages.document import Cell, Code, Document, Patch, Prose, ReportSection, Table
from agentforge.surfaces.cli.pages.words import age, count, money
from agentforge.surfaces.cli.printing import table
from agentforge.system.git.repository import Lines
from agentforge.system.visible import brief

_MOST_PATCH = 200_000


def compare_page(found: Comparison) -> str:
    """For a terminal."""
    first, second = found.first, found.second
    rows = [(label, one, other) for label, one, other in _rows(found) if one or other]
    parts = [
        f"A  {first.task_id}\n   {brief(first.request)}\nB  {second.task_id}\n   {brief(second.request)}",
        table(("", "A", "B"), rows),
        *_conclusions(found),
    ]
    if found.between:
        parts.append(_files("What B left differs from what A left:", found.between))
    return "\n\n".join(parts)


def compare_fields(found: Comparison) -> dict[str, Json]:
    """For a program."""
    parting = found.parting
    return {
        "first": _fields(found.first),
        "second": _fields(found.second),
        "same_base": found.same_base,
        "same_result": found.same_result,
        "parted_at": None
        if parting is None
        else {"step": parting.step, "first": parting.first or None, "second": parting.second or None},
        "between": [_lines(item) for item in found.between],
    }


def compare_document(found: Comparison) -> Document:
    """For a file that can be sent around."""
    first, second = found.first, found.second
    rows: list[tuple[Cell, ...]] = [(label, one, other) for label, one, other in _rows(found) if one or other]
    changed = [(Code(item.path), f"+{item.added}", f"-{item.removed}") for item in found.between]
    return Document(
        f"{first.task_id} and {second.task_id}",
        [
            ReportSection("The requests", [Prose(f"A: {first.request}"), Prose(f"B: {second.request}")]),
            ReportSection("Beside each other", [Table(("", "A", "B"), rows)]),
            ReportSection("Where they parted", [Prose("\n".join(_conclusions(found)))]),
            ReportSection(
                "What B left differs from what A left",
                [Table(("file", "added", "removed"), changed)],
                "Nothing.",
            ),
            ReportSection(f"The change of A, {first.task_id}", [Patch(first.patch[:_MOST_PATCH])], "None."),
            ReportSection(f"The change of B, {second.task_id}", [Patch(second.patch[:_MOST_PATCH])], "None."),
        ],
        "agentforge-compare",
    )


def _rows(found: Comparison) -> Iterable[tuple[str, str, str]]:
    first, second = found.first, found.second
    yield "outcome", first.outcome, second.outcome
    yield "base", first.base[:12], second.base[:12]
    yield "pipeline", f"{first.pipeline}, {first.lane}", f"{second.pipeline}, {second.lane}"
    yield "model", first.model, second.model
    yield "calls", f"{first.calls:,}", f"{second.calls:,}"
    yield "tokens", f"{first.tokens:,}", f"{second.tokens:,}"
    yield "cost", money(first.micro_usd), money(second.micro_usd)
    yield "time", age(first.seconds), age(second.seconds)
    yield "questions", str(first.questions), str(second.questions)
    for name in dict.fromkeys([*dict(first.stages), *dict(second.stages)]):
        yield f"stage {name}", _steps(first, name), _steps(second, name)
    for gate in dict.fromkeys(row[0] for side in (first, second) for row in side.gates):
        yield f"gate {gate}", _verdicts(first, gate), _verdicts(second, gate)
    yield "files", _changed(first), _changed(second)


def _steps(side: Side, stage: str) -> str:
    steps = dict(side.stages).get(stage)
    return "-" if steps is None else count(steps, "step")


def _verdicts(side: Side, gate: str) -> str:
    said = [(status.replace("_", " "), number) for name, status, number in side.gates if name == gate]
    return ", ".join(status if number == 1 else f"{status} {number}x" for status, number in said) or "-"


def _changed(side: Side) -> str:
    if not side.files:
        return "-"
    added, removed = sum(item.added for item in side.files), sum(item.removed for item in side.files)
    return f"{len(side.files)} (+{added} -{removed})"


def _conclusions(found: Comparison) -> list[str]:
    said = []
    if not found.same_base:
        said.append("They began from different code.")
    if found.parting is None:
        said.append("Both took the same steps.")
    else:
        part = found.parting
        said.append(
            f"They part at step {part.step}:\n  A  {part.first or 'had ended'}\n  "
            f"B  {part.second or 'had ended'}"
        )
    if found.same_result:
        said.append("Both left the same tree.")
    return said


def _files(title: str, lines: Iterable[Lines]) -> str:
    rows = [(f"+{item.added}", f"-{item.removed}", item.path) for item in lines]
    return f"{title}\n" + table(("added", "removed", "file"), rows, right=frozenset({"added", "removed"}))


def _lines(item: Lines) -> Json:
    return {"path": item.path, "added": item.added, "removed": item.removed}


def _fields(side: Side) -> dict[str, Json]:
    return {
        "task_id": side.task_id,
        "request": side.request,
        "state": side.outcome,
        "base": side.base,
        "pipeline": side.pipeline,
        "lane": side.lane,
        "model": side.model,
        "steps": side.steps,
        "calls": side.calls,
        "tokens": side.tokens,
        "micro_usd": side.micro_usd,
        "seconds": side.seconds,
        "questions": side.questions,
        "stages": [{"stage": name, "steps": steps} for name, steps in side.stages],
        "gates": [{"gate": gate, "status": status, "times": number} for gate, status, number in side.gates],
        "files": [_lines(item) for item in side.files],
    }
