"""A lane drawn as text: a box for each stage, arrows from one to the next, and the ways back."""

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from agentforge.app.ports import Tone
from agentforge.core.pipeline import Pipeline, Rise, Stage
from agentforge.surfaces.cli.pages.words import count

_LABEL, _WIDTH = 10, 62
"""A box with its way back fits beside a screen's edge of 80 columns; the words on the way need a few more."""


class GraphRow(NamedTuple):
    """One line of the drawing and how it is coloured."""

    text: str
    tone: Tone


def draw(pipeline: Pipeline) -> list[GraphRow]:
    """The stages of a lane from top to bottom."""
    boxes = [
        (stage, [line for label, text in _facts(stage) for line in _wrapped(label, text)])
        for stage in pipeline.stages
    ]
    width = max(len(text) for stage, facts in boxes for text in (f"─ {stage.name} ──", *facts)) + 2
    rows: list[GraphRow] = []
    titles: dict[str, int] = {}
    for position, (stage, facts) in enumerate(boxes):
        titles[stage.name] = len(rows)
        last = position == len(boxes) - 1
        edge = "─" * width
        rows.append(GraphRow(f"┌{f'─ {stage.name} '.ljust(width, '─')}┐", "heading"))
        rows += [GraphRow(f"│ {fact.ljust(width - 2)} │", "plain") for fact in facts]
        rows.append(
            GraphRow(f"└{edge}┘" if last else f"└{edge[: width // 2]}┬{edge[width // 2 + 1 :]}┘", "plain")
        )
        if not last:
            rows.append(GraphRow(f"{' ' * (width // 2 + 1)}▼".ljust(width + 2), "quiet"))
    for stage in pipeline.stages:
        if stage.returns_to is not None:
            rows = _with_way_back(
                rows, titles[stage.returns_to] + 1, titles[stage.name] + 1, f" blocked, {_times(stage)}"
            )
    return [
        *rows,
        *(
            [GraphRow(f"\nrises to {pipeline.rises.to}: {_too_much(pipeline.rises)}", "caught")]
            if pipeline.rises
            else []
        ),
    ]


def _facts(stage: Stage) -> Iterator[tuple[str, str]]:
    yield "role", stage.role or "none: computed by the engine"
    yield "makes", ", ".join(dict.fromkeys(product.contract for product in stage.products))
    yield "gates", " → ".join(stage.gates)
    if stage.debaters:
        yield (
            "hears",
            " + ".join(debater.role for debater in stage.debaters) + ", side by side, before it works",
        )
    if stage.undebated:
        yield "debate", f"none: {stage.undebated}"
    if stage.reviewers:
        yield "read by", " + ".join(reviewer.role for reviewer in stage.reviewers)
        advisory = stage.review_mode == "advisory"
        yield (
            "",
            "advisory: findings are kept, nothing is blocked"
            if advisory
            else f"↺ blocked: back to this stage, {_times(stage)}",
        )
    if stage.left_out:
        yield "not by", f"{', '.join(stage.left_out)}: left out by the project"
    if stage.arbiter is not None:
        yield "arbiter", f"{stage.arbiter.role}, if they disagree"
    if stage.skip_if:
        yield "skipped", f"if {stage.skip_if}; its gates still apply"
    if stage.reverts:
        yield "undoes", "an edit that makes anything worse"


def _wrapped(label: str, text: str) -> list[str]:
    head = f"{label:<{_LABEL}}"
    return textwrap.wrap(
        text, _WIDTH, initial_indent=head, subsequent_indent=" " * _LABEL, break_long_words=False
    ) or [head]


def _times(stage: Stage) -> str:
    return f"at most {count(stage.max_revisions, 'time')}"


def _with_way_back(rows: list[GraphRow], to: int, start: int, said: str) -> list[GraphRow]:
    """An arrow on the right, from a review up to the stage that works on its findings; further ones are drawn
    outside.
    """
    edge = max(len(row.text) for row in rows[to : start + 1])
    out = list(rows)
    for at in range(to, start + 1):
        text = rows[at].text
        line = "◀" if at == to else "─" if at == start else " "
        joined = text + line + ("─" if at in (to, start) else " ") * (edge - len(text) + 2)
        out[at] = rows[at]._replace(text=joined + ("┐" if at == to else f"┘{said}" if at == start else "│"))
    return out


def _too_much(rises: Rise) -> str:
    size = [
        count(number, thing)
        for number, thing in ((rises.files, "changed file"), (rises.lines, "changed line"))
        if number
    ]
    parts = [f"more than {' or '.join(size)}, tests aside"] if size else []
    parts += [f"{count(rises.blocks, 'blocking review')}"] if rises.blocks else []
    return ", or ".join(parts)
