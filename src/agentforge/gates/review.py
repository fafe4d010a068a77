"""The review verdict: what a panel of reviewers, or one reviewer, said about a stage's result."""

from collections.abc import Iterable, Mapping, Sequence

from agentforge.core.pipeline import ReviewMode
from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import rejected
from agentforge.gates.verdict import Verdict

Document = Mapping[str, Json]

SUMMARY_CHARS = 1000
"""As the contracts of reviews have it."""


def judge_panel(
    mode: ReviewMode, reviews: Mapping[str, Document], arbiter: Document | None = None
) -> Verdict:
    """All approve, and it passes; all block, and it is blocked; where they differ the arbiter decides, once
    there is one.
    """
    if not reviews:
        return Verdict("not_run", ("it has not been reviewed",), {})
    blockers = [reader for reader, document in reviews.items() if blocks(document)]
    everybody = {**reviews, **({"arbiter": arbiter} if arbiter is not None else {})}
    split = 0 < len(blockers) < len(reviews)
    decided = arbiter if split else None
    blocked = blocks(decided) if decided is not None else bool(blockers)
    # Where a panel only advises, what would have blocked is advice.
    advisory = (
        [line for reader, document in reviews.items() for line in blocking_lines(reader, document)]
        if mode == "advisory"
        else []
    )
    advisory += [line for reader, document in everybody.items() for line in advisory_lines(reader, document)]
    overruled = _dissent(reviews, blocked=blocked) if decided is not None and mode == "blocking" else []
    record: dict[str, Json] = {
        "mode": mode,
        "verdicts": {reader: document.get("verdict") for reader, document in reviews.items()},
        "summaries": {reader: document.get("summary", "") for reader, document in everybody.items()},
        "findings": {reader: [*findings(document)] for reader, document in everybody.items()},
        "advisory": [*advisory],
        "arbiter": decided.get("verdict") if decided is not None else None,
        "dissent": [*overruled],
    }
    if mode == "advisory":
        return Verdict("passed", (), record)
    reasons = tuple(
        dict.fromkeys(
            line
            for reader, document in reversed(everybody.items())
            for line in blocking_lines(reader, document)
        )
    )
    if split and decided is None:
        approve = [
            f"{reader} approves: {document.get('summary', '')}"
            for reader, document in reviews.items()
            if not blocks(document)
        ]
        return Verdict("split", (*reasons, *approve), record)
    if not blocked:
        return Verdict("passed", (), record)
    return Verdict("blocked", reasons, {**record, "remedy_in": _remedy(everybody.values())})


def judge_review(review: Document) -> Verdict:
    """The verdict of a stage that is a review itself."""
    record: dict[str, Json] = {
        "verdict": "block" if blocks(review) else "approve",
        "findings": [*findings(review)],
        "advisory": [*advisory_lines("", review)],
        "summary": review.get("summary", ""),
    }
    if not blocks(review):
        return Verdict("passed", (), record)
    lines = tuple(blocking_lines("", review))
    return Verdict("blocked", lines, {**record, "remedy_in": _remedy([review])})


def _remedy(reviews: Iterable[Document]) -> str:
    """Where a block is to be settled: in the tests, if one finding that blocks says so."""
    said = (
        item.get("remedy_in")
        for document in reviews
        if blocks(document)
        for item in findings(document)
        if item.get("blocking")
    )
    return "tests" if "tests" in said else "code"


def findings(document: Document) -> list[dict[str, Json]]:
    """What a review of either contract found, each with `blocking`."""
    found = [*objects(document, "findings")]
    found += [{**item, "blocking": True} for item in objects(document, "blocking_issues")]
    return found + [{**item, "blocking": False} for item in objects(document, "advisory_issues")]


def blocking_lines(reader: str, document: Document) -> list[str]:
    """What must change, a line each; a block without a finding is its summary."""
    if not blocks(document):
        return []
    lines = [
        f"{_head(reader, item)} Remedy: {item.get('remediation') or 'see the finding'}"
        for item in findings(document)
        if item.get("blocking")
    ]
    lines += [f"{reader} on {line}" if reader else line for line in rejected(document)]
    return lines or [f"{reader}: {document.get('summary') or 'blocked'}".removeprefix(": ")]


def advisory_lines(reader: str, document: Document) -> list[str]:
    """What is worth knowing and blocks nothing."""
    return [_head(reader, item) for item in findings(document) if not item.get("blocking")]


def _head(reader: str, item: Mapping[str, Json]) -> str:
    who = f"{item.get('id')} ({reader})" if reader else str(item.get("id"))
    return f"{who}: {item.get('description')}"


def _dissent(reviews: Mapping[str, Document], *, blocked: bool) -> list[str]:
    """Who was overruled, a line for each of their findings."""
    lines = []
    for reader, document in reviews.items():
        if blocks(document) == blocked:
            continue
        if blocked:
            lines.append(f"{reader} approved and was overruled: {document.get('summary', '')}")
        else:
            lines += [
                f"{reader} blocked and was overruled: {line}" for line in blocking_lines(reader, document)
            ]
    return lines


def blocks(document: Document) -> bool:
    """Anything that is not an approval, of the whole and of each thing that was ruled on."""
    return document.get("verdict") != "approve" or bool(rejected(document))


def joined(parts: Sequence[Document]) -> dict[str, Json]:
    """The reviews of the parts of one change as one review: a block of a part is a block, and the ids of the
    findings are counted through.
    """
    if len(parts) == 1:
        return dict(parts[0])
    many = [f"Part {at}: {part.get('summary', '')}" for at, part in enumerate(parts, 1)]
    found: dict[str, Json] = {
        **parts[0],
        "verdict": "block" if any(blocks(part) for part in parts) else "approve",
        "summary": " ".join(many)[:SUMMARY_CHARS],
    }
    number = 0
    for key in ("findings", "blocking_issues", "advisory_issues"):
        items: list[Json] = []
        for part in parts:
            for item in objects(part, key):
                number += 1
                items.append({**item, "id": f"{str(item.get('id', '')).partition('-')[0]}-{number:03d}"})
        if any(key in part for part in parts):
            found[key] = items
    if rulings := [item for part in parts for item in objects(part, "rulings")]:
        found["rulings"] = [*rulings]
    return found
