"""The review verdict: what a panel of reviewers, or one reviewer, said about a stage's result."""

from collections.abc import Iterable, Mapping

from agentforge.core.pipeline import ReviewMode
from agentforge.core.reply import Json
from agentforge.gates.documents import objects
from agentforge.gates.verdict import Verdict

Document = Mapping[str, Json]


def judge_panel(
    mode: ReviewMode, reviews: Mapping[str, Document], arbiter: Document | None = None
) -> Verdict:
    """All approve, and it passes; all block, and it is blocked; where they differ the arbiter decides, once
    there is one.
    """
    if not reviews:
        return Verdict("not_run", ("nobody has reviewed it",), {})
    blockers = [reader for reader, document in reviews.items() if _blocks(document)]
    everybody = {**reviews, **({"arbiter": arbiter} if arbiter is not None else {})}
    split = 0 < len(blockers) < len(reviews)
    decided = arbiter if split else None
    blocked = _blocks(decided) if decided is not None else bool(blockers)
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
            if not _blocks(document)
        ]
        return Verdict("split", (*reasons, *approve), record)
    if not blocked:
        return Verdict("passed", (), record)
    return Verdict("blocked", reasons, {**record, "remedy_in": _remedy(everybody.values())})


def judge_review(review: Document) -> Verdict:
    """The verdict of a stage that is a review itself."""
    record: dict[str, Json] = {
        "verdict": "block" if _blocks(review) else "approve",
        "findings": [*findings(review)],
        "advisory": [*advisory_lines("", review)],
        "summary": review.get("summary", ""),
    }
    if not _blocks(review):
        return Verdict("passed", (), record)
    lines = tuple(blocking_lines("", review))
    return Verdict("blocked", lines, {**record, "remedy_in": _remedy([review])})


def _remedy(reviews: Iterable[Document]) -> str:
    """Where a block is to be settled: in the tests, if one finding that blocks says so."""
    said = (
        item.get("remedy_in")
        for document in reviews
        if _blocks(document)
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
    if not _blocks(document):
        return []
    lines = [
        f"{_head(reader, item)} Remedy: {item.get('remediation') or 'see the finding'}"
        for item in findings(document)
        if item.get("blocking")
    ]
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
        if _blocks(document) == blocked:
            continue
        if blocked:
            lines.append(f"{reader} approved and was overruled: {document.get('summary', '')}")
        else:
            lines += [
                f"{reader} blocked and was overruled: {line}" for line in blocking_lines(reader, document)
            ]
    return lines


def _blocks(document: Document) -> bool:
    """Anything that is not an approval."""
    return document.get("verdict") != "approve"
