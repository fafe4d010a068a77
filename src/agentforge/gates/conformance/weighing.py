"""Which findings stop somebody, and which are advice: what is new since a base or a baseline, and what a
person has exempted. Pure.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agentforge.gates.conformance.engine import CheckReport
from agentforge.gates.conformance.findings import CodeFinding, fresh


@dataclass(frozen=True, slots=True)
class Weighed:
    """The findings of a run, by what follows from them."""

    blocking: tuple[CodeFinding, ...]
    advice: tuple[CodeFinding, ...]
    exempt: tuple[CodeFinding, ...] = ()
    """What would block, had no person exempted it."""
    known: tuple[CodeFinding, ...] = ()
    """What would block, were it not in the baseline."""


def weighed(
    report: CheckReport,
    *,
    before: Sequence[CodeFinding] | None = None,
    baseline: Collection[str] | None = None,
    exempted: Collection[str] = (),
    strict: bool = False,
) -> Weighed:
    """Compared with the findings of a base, only what is new or worse counts; with a baseline, what it does
    not name. `strict`: all of it, wherever it was before.
    """
    findings = list(report.findings)
    if before is not None and not strict:
        findings = fresh(before, findings)
    compared = before is not None or baseline is not None
    parts: dict[str, list[CodeFinding]] = {"blocking": [], "advice": [], "exempt": [], "known": []}
    for each in findings:
        blocks = each.blocks == "always" or (each.blocks == "when_new" and compared)
        if not blocks:
            parts["advice"].append(each)
        elif each.identity in exempted:
            parts["exempt"].append(each)
        elif baseline is not None and each.identity in baseline and not strict:
            parts["known"].append(each)
        else:
            parts["blocking"].append(replace(each, blocks="always"))
    return Weighed(**{name: tuple(found) for name, found in parts.items()})
