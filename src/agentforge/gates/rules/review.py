"""Rules of reviews, and of the words that a delivery comes with."""

import re
from collections import Counter

from agentforge.gates.flags import Flag, rejected, unruled
from agentforge.gates.rules.subject import Subject, name_of, names_of, parts


def findings_block_or_approve(subject: Subject) -> list[str]:
    """The verdict follows from the findings."""
    findings = parts(subject.artifact, "findings")
    blocking = [finding for finding in findings if finding.get("blocking")]
    return _verdict(subject, blocking, "finding") + _without_remedy(blocking) + _twice(findings, "findings")


def issues_categorized(subject: Subject) -> list[str]:
    """Each issue either blocks or advises, the verdict follows, and what blocks says how to mend it."""
    blocking, advisory = (
        parts(subject.artifact, "blocking_issues"),
        parts(subject.artifact, "advisory_issues"),
    )
    return (
        _verdict(subject, blocking, "issue")
        + _without_remedy(blocking)
        + _twice([*blocking, *advisory], "issues")
    )


def flags_ruled_on(subject: Subject) -> list[str]:
    """An approval rules on everything that the engine asks about, and accepts it."""
    if subject.artifact.get("verdict") != "approve":
        return []
    missing = unruled((Flag(about, "", ruling=True) for about in subject.to_rule_on), [subject.artifact])
    return [
        *(
            f"rulings: `{about}` is not ruled on; accept or reject it by this name, with a reason"
            for about in missing
        ),
        *(f"the verdict is approve, but {line}; block, or accept it" for line in rejected(subject.artifact)),
    ]


def review_complete(subject: Subject) -> list[str]:
    """A review ends in a verdict, in words too."""
    wrong = (
        []
        if subject.artifact.get("verdict") in ("approve", "block")
        else ["there is no verdict; approve or block"]
    )
    if not _has_words(subject.artifact.get("summary")):
        wrong.append("the summary is empty; say what was looked at and what was found")
    return wrong


def documentation_complete(subject: Subject) -> list[str]:
    """What is handed over is put into words. What a draft leaves out the engine writes."""
    return [
        f"{key} says nothing; write a sentence, or leave it out and it is filled in"
        for key in ("summary", "release_notes")
        if key in subject.artifact and not _has_words(subject.artifact[key])
    ]


def changelog_generated(subject: Subject) -> list[str]:
    """The changelog entry says something."""
    if "changelog_entry" in subject.artifact and not _has_words(subject.artifact["changelog_entry"]):
        return [
            (
                "changelog_entry says nothing; write one line about the change, or leave it out and it is "
                "filled in"
            )
        ]
    return []


def _verdict(subject: Subject, blocking: list[dict[str, object]], word: str) -> list[str]:
    verdict = subject.artifact.get("verdict")
    if verdict == "approve" and blocking:
        return [
            f"the verdict is approve, but {names_of([*blocking])} is blocking; block, or make it not blocking"
        ]
    if verdict == "block" and not blocking:
        return [f"the verdict is block without a blocking {word}; say what must change, or approve"]
    return []


def _without_remedy(blocking: list[dict[str, object]]) -> list[str]:
    return [
        f"{name_of(item)} blocks without a remediation; say what to change"
        for item in blocking
        if not _has_words(item.get("remediation"))
    ]


def _twice(items: list[dict[str, object]], word: str) -> list[str]:
    counts = Counter(map(name_of, items))
    return [
        f"{name} is the id of several {word}; give each its own"
        for name, count in counts.items()
        if count > 1
    ]


def _has_words(value: object) -> bool:
    return isinstance(value, str) and re.search(r"\w", value) is not None
