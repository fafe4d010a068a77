"""The audit of a task: who decided what and why, in one value that any surface can render.

It is a view of the journal and of what the journal names by hash, up to a line: the same lines give the same
audit, whoever reads it and whenever. So a report made from it can be checked by making it again.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.steps import Step, collect
from agentforge.core.digests import VerdictDigest
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.events import (
    ActionLeft,
    AttemptFailed,
    Escalated,
    Event,
    ExternalArtifactImported,
    GateJudged,
    LaneRaised,
    RedReopened,
    Resolved,
    Reverted,
    RevisionAsked,
    StageAccepted,
    StageEntered,
    StepOpened,
    event_name,
)
from agentforge.core.evolve import evolve
from agentforge.core.runs import run_name
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef
from agentforge.store.task.calls import ModelCall, calls_of
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.times import Times
from agentforge.system.canon import digest
from agentforge.system.files import write_atomic
from agentforge.system.unlinked import read_unlinked


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """One line of the journal."""

    seq: int
    timestamp: str
    why: str
    hash: str
    happened: tuple[tuple[Event, State], ...]
    """Each event, and where it led."""


@dataclass(slots=True)
class StageRow:
    """One attempt at a stage by the one who works, or a reading of its result."""

    stage: str
    who: str
    attempt: int
    started: str
    skipped: str
    """Why nobody was asked to work on it."""
    steps: int = 0
    ended: str = ""
    """Empty while it is under way, or where it was given up."""
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    """Gate and verdict, in order."""
    finals: tuple[ArtifactRef, ...] = ()
    commit: str = ""


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """A question to a person, and what became of it."""

    id: str
    kind: str
    stage: str
    text: str
    options: tuple[str, ...]
    recommendation: str
    command: str
    """The call that waits for a yes, where the question is for permission."""
    opened: str
    answered: str
    waited_s: int | None
    answer: str | None
    by: str


@dataclass(frozen=True, slots=True)
class RefusedWork:
    """What was not let through: a verdict, an edit that was undone, an attempt, a reply of no use."""

    timestamp: str
    stage: str
    what: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """A task for somebody who was not there."""

    task_id: str
    state: State
    times: Times
    lines: int
    head: str
    decisions: tuple[RecordedDecision, ...]
    steps: tuple[Step, ...]
    stages: tuple[StageRow, ...]
    questions: tuple[AuditedQuestion, ...]
    refusals: tuple[RefusedWork, ...]
    turns: tuple[tuple[str, str, tuple[str, ...]], ...]
    """When work went back, was reopened or rose to another lane: time, what, why."""
    imports: tuple[ExternalArtifactImported, ...]
    left: tuple[tuple[str, ActionLeft], ...]
    """What left the sandbox, and when."""
    calls: tuple[ModelCall, ...]
    evidence: dict[str, Any]
    """Empty where nothing is delivered, or where the file is not the one that the journal names."""
    evidence_fault: str
    patch: bytes
    """What the task changed, of the recorded trees."""
    patch_fault: str


def audit_task(task: OpenTask, lines: int | None = None) -> Audit:
    """The audit of a task as of its last line, or of an earlier one."""
    found = read_lines(task.files.journal, most=lines if lines and lines > 0 else None)
    if lines is not None and len(found) != lines:
        raise UsageError(
            f"The journal of {task.task_id} has {len(found)} lines, and not {lines}.",
            f"`agentforge audit {task.task_id}` makes a report of what there is.",
        )
    decisions = tuple(_decisions(found))
    state = decisions[-1].happened[-1][1]
    times = Times()
    for line in found:
        times = times.after(line.timestamp, line.events)
    steps = tuple(collect(found))
    evidence, evidence_fault = _evidence(task, state)
    patch, patch_fault = _patch(task, state)
    happened = [(each.timestamp, event, after) for each in decisions for event, after in each.happened]
    return Audit(
        task_id=task.task_id,
        state=state,
        times=times,
        lines=len(found),
        head=found[-1].hash,
        decisions=decisions,
        steps=steps,
        stages=tuple(_stages(happened)),
        questions=tuple(_questions(state, times)),
        refusals=tuple(_refusals(happened, steps)),
        turns=tuple(_turns(happened)),
        imports=state.imports,
        left=tuple((when, event) for when, event, _ in happened if isinstance(event, ActionLeft)),
        calls=calls_of(found, str(task.site.git.top)),
        evidence=evidence,
        evidence_fault=evidence_fault,
        patch=patch,
        patch_fault=patch_fault,
    )


def keep_audit(task: OpenTask, data: bytes, suffix: str, place: Path | None = None) -> Path:
    """Writes a report where the reports of a project are kept, or where a person wants it."""
    if place is None:
        place = task.site.project.audit(task.task_id, suffix)
        write_atomic(place, data)
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}.") from None
    return place


def event_counts(audit: Audit) -> dict[str, int]:
    """How often each kind of event is on record, in the order of their first."""
    counts: dict[str, int] = {}
    for decision in audit.decisions:
        for event, _ in decision.happened:
            counts[event_name(event)] = counts.get(event_name(event), 0) + 1
    return counts


def _decisions(lines: Sequence[JournalLine]) -> Iterator[RecordedDecision]:
    state = State()
    for line in lines:
        happened = []
        for event in line.events:
            state = evolve(state, event)
            happened.append((event, state))
        yield RecordedDecision(line.seq, line.timestamp, line.why, line.hash, tuple(happened))


_Happened = Sequence[tuple[str, Event, State]]


def _stages(happened: _Happened) -> Iterator[StageRow]:
    """Attempts in the order of their beginning; what a gate says belongs to the attempt of its run."""
    rows: list[StageRow] = []
    now: dict[str, StageRow] = {}
    for when, event, state in happened:
        match event:
            case StageEntered(run, stage, attempt):
                reader = run_name(run)
                who = f"{reader} (reads)" if reader else state.stage_of(state.run_of(run)).role or "engine"
                now[run] = StageRow(stage, who, attempt, when, event.skipped)
                rows.append(now[run])
            case StepOpened(run) if run in now:
                now[run].steps += 1
            case GateJudged(run, verdict) if run in now:
                now[run].verdicts.append((verdict.gate, verdict.status))
            case StageAccepted(run, _, result, finals) if run in now:
                now[run].ended, now[run].commit, now[run].finals = when, result.commit, finals
            case _:
                pass
    yield from rows


def _questions(state: State, times: Times) -> Iterator[AuditedQuestion]:
    opened, answered = dict(times.opened), dict(times.answered)
    for item in state.escalations:
        asked, said = opened.get(item.id, ""), answered.get(item.id, "")
        call = item.question.call
        yield AuditedQuestion(
            item.id,
            item.kind,
            item.stage,
            item.question.text,
            item.question.options,
            item.question.recommendation,
            " ".join(call.command) if call else "",
            asked,
            said,
            seconds_between(asked, said) if said else None,
            item.answer,
            item.by,
        )


def _refusals(happened: _Happened, steps: Sequence[Step]) -> Iterator[RefusedWork]:
    found: list[RefusedWork] = []
    for when, event, state in happened:
        stage = state.worker.stage if state.worker else ""
        match event:
            case GateJudged(_, VerdictDigest(gate, status, reasons)) if status != "passed":
                found.append(RefusedWork(when, stage, f"gate {gate}: {status.replace('_', ' ')}", reasons))
            case Reverted(_, _, reasons):
                found.append(RefusedWork(when, stage, "an edit was undone", reasons))
            case AttemptFailed(_, report):
                what = f"attempt {report.attempt} was given up"
                found.append(RefusedWork(when, report.stage, what, (report.reason, *report.last)))
            case _:
                pass
    for step in steps:
        if step.mistake:
            what = f"the reply of step {step.number} could not be used"
            found.append(RefusedWork(step.ended or step.started, step.stage, what, (step.mistake,)))
        wrong = [f"{item.label}: {item.text}" for item in step.actions if not item.ok]
        if wrong:
            what = f"actions of step {step.number} failed"
            found.append(RefusedWork(step.ended or step.started, step.stage, what, tuple(wrong)))
    yield from sorted(found, key=lambda item: item.timestamp)


def _turns(happened: _Happened) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for when, event, _ in happened:
        match event:
            case RevisionAsked(stage, revision, findings):
                yield when, f"the work goes back to {stage}, revision {revision}", findings
            case RedReopened(stage, why):
                yield when, f"the locked tests are opened again in {stage}, by {why.by}", (why.reason,)
            case LaneRaised(lane, why):
                yield when, f"the lane rises to {lane}", (why,)
            case Escalated(escalation):
                yield when, f"{escalation.id} is asked", ()
            case Resolved(identity, answer, by):
                yield when, f"{identity} is answered by {by}", (answer,)
            case _:
                pass


def _evidence(task: OpenTask, state: State) -> tuple[dict[str, Any], str]:
    if state.delivered is None:
        return {}, ""
    try:
        text = read_unlinked(task.files.evidence)
        value = json.loads(text)
    except (OSError, ValueError):
        return {}, "evidence.json cannot be read"
    if not isinstance(value, dict) or digest(text.removesuffix(b"\n")) != state.delivered.evidence:
        return {}, "evidence.json is not the one that the journal names"
    return value, ""


def _patch(task: OpenTask, state: State) -> tuple[bytes, str]:
    if not state.tree or state.tree == state.base_tree:
        return b"", ""
    try:
        return task.site.git.diff_patch(state.base_tree, state.tree), ""
    except Unusable as error:
        return b"", f"the change cannot be shown: {error.sentence}"
