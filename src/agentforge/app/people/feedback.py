"""What a person says of a version: plain words, or YAML with a place and a priority for each point."""

from typing import Any, NamedTuple

from agentforge.catalog.contracts import Contract, problems
from agentforge.catalog.load import Catalog
from agentforge.context.tokens import measured
from agentforge.core.errors import UsageError
from agentforge.core.values import CHOICES, Choice, Feedback, Issue
from agentforge.system import strict_yaml
from agentforge.system.secrets.redact import redact

LONGEST_FEEDBACK = 1500
"""Tokens: what a step can be shown whole, beside the version that it is about."""
_KEYS = frozenset({"feedback", "overall_comments", "specific_issues"})
"""A text is the YAML form if it has one of these; all else is plain words."""


class Said(NamedTuple):
    """Feedback as it was handed in, with what it says it is about."""

    feedback: Feedback
    choice: Choice = "revise"
    task_id: str = ""
    stage: str = ""
    version: str = ""
    """The name of the file that it is about, without its directories."""


def read_feedback(text: str, source: str) -> Said:
    """The feedback in a text. What is neither words nor valid under the contract is a `UsageError`."""
    text = redact(text)[0].strip()
    if not text:
        raise UsageError("The feedback is empty.", "Say what should be different.")
    document = _structured(text, source)
    said = Said(Feedback(text)) if document is None else _said(document, source)
    if (length := measured(_whole(said.feedback))) > LONGEST_FEEDBACK:
        raise UsageError(
            f"The feedback has about {length:,} tokens, and a step has room for {LONGEST_FEEDBACK:,}.",
            "Say the most important points; another round can settle the rest.",
        )
    return said


def _structured(text: str, source: str) -> dict[str, Any] | None:
    try:
        found: object = strict_yaml.load(text, source)
    except UsageError:
        if any(text.startswith(f"{key}:") for key in _KEYS):
            raise
        return None  # plain words need not be YAML
    if not isinstance(found, dict) or not _KEYS & found.keys():
        return None
    inner = found.get("feedback", found)
    if not isinstance(inner, dict):
        raise UsageError(f"{source}: `feedback` is not a mapping.")
    return inner


def _said(document: dict[str, Any], source: str) -> Said:
    if wrong := problems(_contract(), {"feedback": document}, final=True):
        raise UsageError(
            f"{source}: {wrong[0]}.", f"{len(wrong) - 1} more like this." if len(wrong) > 1 else ""
        )
    issues = tuple(
        Issue(
            " ".join(str(item["issue"]).split()),
            str(item.get("location") or ""),
            " ".join(str(item.get("suggestion") or "").split()),
            "should_consider" if item.get("priority") == "should_consider" else "must_address",
        )
        for item in document.get("specific_issues") or ()
    )
    overall = str(document.get("overall_comments") or "").strip()
    choice: Choice = next((each for each in CHOICES if each == document.get("decision")), "revise")
    if choice == "revise" and not overall and not issues:
        raise UsageError(
            f"{source} asks for changes and names none.", "Fill in overall_comments or specific_issues."
        )
    return Said(
        Feedback(overall, issues),
        choice,
        str(document.get("task_id") or ""),
        str(document.get("stage") or ""),
        str(document.get("previous_version") or "").rpartition("/")[2],
    )


def _contract() -> Contract:
    return Catalog.packaged().contract("iteration_feedback")


def _whole(feedback: Feedback) -> str:
    return "\n".join((feedback.overall, *(issue.line for issue in feedback.issues)))
