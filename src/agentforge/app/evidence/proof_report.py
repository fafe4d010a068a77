"""What a task proved, for whoever reviews its branch: each requirement with its tests and their runs, and
what is not proved.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.activities.world import record_refs
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.reports import read_seal_of, signature_of
from agentforge.app.record.reports import report as task_report
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.statuses import spell_status
from agentforge.gates.change.documents import texts
from agentforge.gates.flags import flags_of
from agentforge.store.task.pack import Pack
from agentforge.system.signatures import unarmour


@dataclass(frozen=True, slots=True)
class ProofReport:
    """The lines of a report, as data."""

    task_id: str
    request: str
    branch: str
    base: str
    commit: str
    seal: str
    signature: str
    command: str
    requirements: list[dict[str, Any]]
    not_proved_by_test: list[str]
    superseded: list[dict[str, Any]]
    not_checked: list[str]
    assumptions: list[str]
    flags: list[dict[str, Any]]
    reviews: list[dict[str, Any]]
    same_author: bool
    cost: dict[str, Any]
    examined: list[str] = field(default_factory=list)
    """What checks of somebody who saw neither tests nor change said."""
    integration: list[str] = field(default_factory=list)
    """What the integration tests said, where the project marks any."""
    debates: list[dict[str, Any]] = field(default_factory=list)
    """What was argued about before the work, and decided."""


def proof_report(task: OpenTask) -> ProofReport:
    """What the evidence of a delivered task says, with what its gates flagged and what was assumed."""
    state = task.state
    if state.delivered is None:
        raise UsageError(
            f"{task.task_id} {spell_status(state.status)} and has delivered nothing.",
            f"`agentforge status {task.task_id}` shows its status.",
        )
    evidence = task_report(task).evidence
    if not evidence:
        raise Unusable("The evidence cannot be read.", f"`agentforge verify {task.task_id}` says why.")
    asked = state.artifact_for("questions")
    with Pack(task.files.pack) as pack:
        records: list[Any] = [pack.get_json(ref) for ref in record_refs(state).values()]
        questions: Any = pack.get_json(asked.hash) if asked else {}
    judged = [
        record for record in records if record.get("gate") in ("green", "delivery") and record.get("runs")
    ]
    return ProofReport(
        task_id=task.task_id,
        request=state.request,
        branch=state.delivered.branch,
        base=state.base_commit,
        commit=state.delivered.commit,
        seal=state.delivered.seal,
        signature=signature_of(task),
        command=judged[-1]["runs"][0]["command"] if judged else "",
        requirements=evidence.get("requirements") or [],
        not_proved_by_test=[str(line) for line in evidence.get("not_proved_by_test") or []],
        superseded=evidence.get("superseded") or [],
        not_checked=[str(line) for line in evidence.get("not_checked") or []],
        assumptions=[*texts(questions, "assumptions")],
        flags=evidence.get("named") or [dict(flag.to_json()) for flag in flags_of(records)],
        reviews=_reviews(evidence),
        same_author=bool(evidence.get("same_author")),
        cost=evidence.get("cost") or {},
        examined=[*texts(evidence, "examined")],
        integration=[*texts(evidence, "integration")],
        debates=[{"stage": stage, **debate} for stage, debate in (evidence.get("debates") or {}).items()],
    )


def write_envelope(task: OpenTask, place: Path) -> None:
    """Puts the envelope of a task's seal into a file of its own, for when its commits are squashed."""
    seal = read_seal_of(task)
    data = unarmour(seal.commit.message) if seal else None
    if data is None:
        raise UsageError(
            f"{task.task_id} has no seal.", "A task that changed files gets one when it is delivered."
        )
    try:
        place.write_bytes(data + b"\n")
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}.") from None


def _reviews(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """Who read the result and what they said."""
    found: list[dict[str, Any]] = []
    for stage, panel in (evidence.get("panels") or {}).items():
        verdicts = {**(panel.get("verdicts") or {})}
        if panel.get("arbiter"):
            verdicts["arbiter"] = panel["arbiter"]
        found += [
            {"by": f"{reader} on {stage}", "verdict": said, "text": ""} for reader, said in verdicts.items()
        ]
        for kind in ("dissent", "advisory"):
            found += [{"by": stage, "verdict": kind, "text": str(line)} for line in panel.get(kind) or []]
    review = evidence.get("review") or {}
    if review.get("verdict") and not found:
        found.append(
            {"by": "reviewer", "verdict": review["verdict"], "text": str(review.get("summary") or "")}
        )
    for finding in review.get("findings") or []:
        if isinstance(finding, dict):
            said = finding.get("description") or ""
            found.append(
                {
                    "by": str(finding.get("id") or "finding"),
                    "verdict": str(finding.get("severity") or ""),
                    "text": str(said),
                }
            )
    return found
