"""What people read of a task: made from the journal, never read back by the program, deletable at any
time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal, assert_never

from agentforge.core.codec import encode
from agentforge.core.errors import Unusable
from agentforge.core.events import ExternalArtifactImported
from agentforge.core.machine import TERMINAL
from agentforge.core.pipeline import Stage
from agentforge.core.reply import Json
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Escalation, FailureReport
from agentforge.store.layout import TaskFiles
from agentforge.store.task.artifacts import read
from agentforge.store.task.iterations import history_files, rounds
from agentforge.store.task.lines import spell_document
from agentforge.store.task.times import Times, stamp
from agentforge.system.files import disk_errors, write_atomic
from agentforge.system.unlinked import read_unlinked

Progress = Literal["done", "covered", "under_way", "left"]
StateWord = Literal[
    "pending", "in_progress", "escalated", "awaiting_decision", "completed", "failed", "aborted"
]

_DECISIONS = frozenset({"budget", "permission", "replan", "iteration", "approval"})
"""Questions that no work can answer: a person chooses. The other kinds mean that the work is stuck."""


def north_star_word(state: State) -> StateWord:
    """The task's status in the words of the dashboard."""
    match state.status:
        case "draft" | "planned" | "approved" | "scheduled":
            return "pending"
        case "running" | "verifying":
            return "in_progress"
        case "blocked":
            waiting = state.open_escalation
            return "awaiting_decision" if waiting is not None and waiting.kind in _DECISIONS else "escalated"
        case "completed" | "failed":
            return state.status
        case "cancelled":
            return "aborted"
        case _:
            assert_never(state.status)


@dataclass(frozen=True, slots=True)
class Planned:
    """One stage of a task's plan."""

    stage: str
    progress: Progress
    commit: str = ""
    artifacts: tuple[ArtifactRef, ...] = ()
    """Finals of what is done, drafts of what is under way."""
    skipped: str = ""
    """Why nobody was asked to work on it."""
    by: tuple[str, ...] = ()
    """The stages of a lower lane that made what this one owes."""


def plan(state: State) -> tuple[Planned, ...]:
    """Every stage of the lane and how far it is, after those of a lower lane that the task rose from."""
    stages = state.pipeline.stages
    run = state.worker
    run = run if run is not None and run.point != "deliver" else None
    here = len(stages) if run is None else state.pipeline.index(run.stage)
    done = {
        item.stage: Planned(item.stage, "done", item.commit, item.finals, item.skipped)
        for item in state.accepted
    }  # one that was revised is accepted again
    makers = {(ref.contract, ref.phase): (item.stage, ref) for item in state.accepted for ref in item.finals}

    def place(position: int, stage: Stage) -> Planned:
        if run is not None and position == here:
            return Planned(stage.name, "under_way", artifacts=run.finals or run.drafts, skipped=run.skipped)
        if position > here:
            return Planned(stage.name, "left")  # even if it was accepted before: it comes again
        made = [makers.get((product.contract, product.phase)) for product in stage.products]
        found = [item for item in made if item is not None]
        if stage.name not in done and found and len(found) == len(made):
            by = tuple(dict.fromkeys(name for name, _ in found))
            return Planned(stage.name, "covered", artifacts=tuple(ref for _, ref in found), by=by)
        return done.get(stage.name, Planned(stage.name, "left"))

    names = {stage.name for stage in stages}
    earlier = [item for item in done.values() if item.stage not in names]
    return (*earlier, *(place(position, stage) for position, stage in enumerate(stages)))


def dollars(micro_usd: int) -> str:
    """An amount in dollars with all six decimals, such as `0.012300`."""
    return f"{micro_usd // 1_000_000}.{micro_usd % 1_000_000:06d}"


def write_views(files: TaskFiles, state: State, head: str, length: int, times: Times) -> None:
    """Bring `state.yaml`, `working_memory.yaml` and the pages of the task's questions up to date."""
    with disk_errors():
        # Without waiting for the disk: what a power loss takes is made again.
        write_atomic(
            files.state, spell_document(state_view(files, state, head, length, times)), durable=False
        )
        write_atomic(files.working_memory, spell_document(memory_view(state, head, length)), durable=False)
        for escalation in state.escalations:
            _update(
                files.escalation(escalation.id),
                spell_document(escalation_view(files, state, escalation, times)),
            )
        for path, document in history_files(files, state, times).items():
            _update(path, spell_document(document))


def state_view(files: TaskFiles, state: State, head: str, length: int, times: Times) -> dict[str, Json]:
    """The content of `state.yaml`."""
    wanted = state.artifact_for("requirements")
    bill = state.spent.plus(state.unaccounted)
    return {
        "task": {
            "id": state.task_id,
            "goal": state.request,
            "goal_type": state.pipeline.goal or state.pipeline.name,
        },
        "status": state.status,
        "state": north_star_word(state),
        "outcome": _outcome(state),
        "started_at": times.created_at,
        "updated_at": times.updated_at,
        "completed_at": times.ended_at or None,
        "total_steps": state.step,
        "total_tokens": bill.tokens,
        "total_cost_usd": dollars(bill.micro_usd) if state.is_priced else None,
        "unaccounted_cost_usd": dollars(state.unaccounted.micro_usd) if state.loss_is_priced else None,
        "unpriced_calls": state.unpriced,
        "journal": {"length": length, "head": head},
        "success_criteria": [state.request]
        if wanted is None
        else _criteria(files, wanted) or [state.request],
        "pipeline": _pipeline(state, times),
        "external_inputs": {item.artifact_type: _external(item, times) for item in state.imports},
        "escalations": [
            {"id": item.id, "kind": item.kind, "open": item.answer is None} for item in state.escalations
        ],
        "failure": state.failure or None,
        "delivered": None if state.delivered is None else encode(state.delivered),
        "continuation": {
            "can_extend": bool(state.pipeline.extends_to),
            "extends_to": [*state.pipeline.extends_to],
            "available_pipelines": [state.pipeline.continues_with] if state.pipeline.continues_with else [],
            "provides_artifacts": [*sorted({ref.contract for item in state.accepted for ref in item.finals})],
        },
    }


def memory_view(state: State, head: str, length: int) -> Json:
    """`working_memory.yaml`: what the next step is told of the ones before."""
    run = state.worker
    view: dict[str, Json] = {
        "task_id": state.task_id,
        "journal": {"length": length, "head": head},
        "step": state.step,
        "phase": run.stage if run else None,
        "attempt": run.attempt if run else None,
        "notes": run.notes if run else "",
        "recent_actions": list(run.recent) if run else [],
        "feedback": list(run.feedback) if run else [],
        "tried": list(run.tried) if run else [],
        "working_set": encode(run.working) if run else [],
        "verification_status": encode(run.check) if run and run.check else None,
    }
    return view


def escalation_view(files: TaskFiles, state: State, escalation: Escalation, times: Times) -> Json:
    """One page: the question, the plan so far, what was tried, what is understood, and how to answer."""
    open_now = escalation.answer is None
    command = f"agentforge resolve {escalation.id} --task {state.task_id}"
    stages = plan(state)
    view: dict[str, Json] = {
        "id": escalation.id,
        "task_id": state.task_id,
        "request": state.request,
        "status": "open" if open_now else "answered",
        "kind": escalation.kind,
        "stage": escalation.stage,
        "opened_at": dict(times.opened).get(escalation.id),
        "question": escalation.question.text,
        "options": list(escalation.question.options),
        "recommendation": escalation.question.recommendation or None,
        "plan": [_planned(item) for item in stages],
        "done": [_planned(item) for item in stages if item.progress == "done"],
        "left": [item.stage for item in stages if item.progress == "left"],
        "reports": [encode(report) for report in reports(state, escalation)],
        "understanding": _understanding(files, state, escalation),
        "branch": _branch(state),
        "expires_at": expires_at(escalation, times),
        "unless_answered": escalation.unless_answered or None,
        "answer_with": f"{command} --answer …" if open_now else None,
        "abort_with": f"{command} --abort" if open_now else None,
        "answer": escalation.answer,
        "answered_by": escalation.by or None,
        "answered_at": dict(times.answered).get(escalation.id),
    }
    return view


def expires_at(escalation: Escalation, times: Times) -> str | None:
    """When an open question is answered by itself; None: never."""
    opened = dict(times.opened).get(escalation.id)
    if escalation.answer is not None or not escalation.timeout_s or not opened:
        return None
    return stamp(datetime.fromisoformat(opened) + timedelta(seconds=escalation.timeout_s))


def reports(state: State, escalation: Escalation) -> tuple[FailureReport, ...]:
    """What failed before a question: what it brought along, else the last two attempts of its stage."""
    return (
        escalation.reports
        or tuple(report for report in state.failures if report.stage == escalation.stage)[-2:]
    )


def asking(state: State, escalation: Escalation) -> Run | None:
    """The run that a question came from, as far as it is still under way."""
    found = state.find(escalation.run) or state.worker
    return found if found is not None and found.label == escalation.stage else None


def specification(files: TaskFiles, state: State) -> dict[str, Json]:
    """What the accepted specification says, in short; empty while there is none that can be read."""
    ref = state.artifact_for("requirements")
    if ref is None:
        return {}
    try:
        title, wanted, _ = _read_specification(files, ref)
    except Unusable:
        return {}  # a view is no place to find damage: the stage that needs the artifact does
    return {"title": title, "requirements": [*wanted], "file": final_name(ref)}


def final_name(ref: ArtifactRef) -> str:
    """Where the accepted artifact is, from the task's directory."""
    return f"artifacts/phases/{ref.phase}/{ref.contract}_final.yaml"


def _understanding(files: TaskFiles, state: State, escalation: Escalation) -> Json:
    """What the engine knows, for somebody who has to decide."""
    used, cap, run = state.spent.plus(state.unaccounted), state.budget, asking(state, escalation)
    return {
        "pipeline": state.pipeline.name,
        "lane": state.pipeline.lane,
        "mode": state.pipeline.mode,
        "why": [*state.triage],
        "risen": [*state.risen],
        "specification": specification(files, state) or None,
        "baseline": state.baseline.summary if state.baseline else None,
        "facts": [*state.facts],
        "last_check": run.check.summary if run and run.check else None,
        "told_last": [*run.feedback] if run else [],
        "findings": [*state.findings],
        "revisions": dict(state.revised),
        "undone": [*state.reverts],
        "commits_of_people": [*state.human_commits],
        "budget": {
            "calls": {"used": used.calls, "cap": cap.calls},
            "tokens": {"used": used.tokens, "cap": cap.tokens},
            "usd": {
                "used": dollars(used.micro_usd) if state.is_priced else None,
                "cap": None if cap.micro_usd is None else dollars(cap.micro_usd),
            },
        },
    }


def _planned(item: Planned) -> Json:
    known: dict[str, Json] = {"stage": item.stage, "progress": item.progress}
    known |= {"commit": item.commit} if item.commit else {}
    known |= {"artifacts": [*dict.fromkeys(ref.contract for ref in item.artifacts)]} if item.artifacts else {}
    known |= {"skipped": item.skipped} if item.skipped else {}
    return known | ({"made_by": [*item.by]} if item.by else {})


def _branch(state: State) -> Json:
    if not state.branch:
        return None
    return {"name": state.branch, "commit": state.branch_at, "base": state.base_commit}


def _outcome(state: State) -> Json:
    return (
        {"completed": "success", "failed": "failed", "cancelled": "aborted"}[state.status]
        if state.status in TERMINAL
        else None
    )


def _pipeline(state: State, times: Times) -> Json:
    when = dict(times.accepted)
    planned = plan(state)
    view: dict[str, Json] = {
        "template": state.pipeline.name,
        "lane": state.pipeline.lane,
        "mode": state.pipeline.mode,
        "risen": [*state.risen],
        "entry_stage": state.pipeline.entry_stage or None,
        "exit_stage": state.pipeline.exit_stage or None,
        "current_stage": state.worker.stage if state.worker else None,
        "stages": {item.stage: _stage(state, item, times, when.get(item.stage)) for item in planned},
        "skipped": [
            {"stage": stage, "reason": reason}
            for stage, reason in (
                *state.pipeline.passed_over,
                *((item.stage, item.skipped) for item in planned if item.skipped),
            )
        ],
    }
    return view


def _external(item: ExternalArtifactImported, times: Times) -> Json:
    return {
        "source": item.source,
        "path": item.source_path,
        **({"task_id": item.task_id} if item.task_id else {}),
        "imported_at": times.created_at,
        "validated_at": times.created_at,
        "validation_hash": item.validation.hash,
        "validation": {
            "contract": item.validation.contract,
            "status": item.validation.status,
            "hash": item.validation.hash,
        },
    }


def _stage(state: State, item: Planned, times: Times, completed_at: str | None) -> Json:
    skipped: dict[str, Json] = {"skipped": item.skipped} if item.skipped else {}
    found = rounds(state, item.stage, times)
    iteration: dict[str, Json] = {"iteration": found} if found else {}
    finals: list[Json] = [final_name(ref) for ref in item.artifacts]
    if item.progress == "done":
        return {
            "status": "completed",
            "artifacts": finals,
            "commit": item.commit,
            "completed_at": completed_at,
            "approved_by": _approver(state, item.stage),
            **iteration,
            **skipped,
        }
    if item.progress == "covered":
        return {"status": "completed", "artifacts": finals, "made_by": [*item.by]}
    run = state.worker
    if item.progress == "left" or run is None:
        return {"status": "pending"}
    stage = state.stage_of(run)
    status = "failed" if state.status == "failed" else north_star_word(state)
    drafts: list[Json] = [
        f"artifacts/phases/{ref.phase}/{ref.contract}_v{ref.version}.yaml" for ref in run.drafts
    ]
    seats: dict[str, Json] = {
        each.name: {"handed_in": each.point == "handed_in", "steps": each.steps} for each in state.panel
    }
    heard = any(each.rules.heard for each in state.panel)
    reviewers: dict[str, Json] = {"debaters" if heard else "reviewers": seats} if seats else {}
    known: dict[str, Json] = {
        "status": status,
        "artifacts": drafts,
        "attempt": run.attempt,
        "steps": run.steps,
        "max_steps": stage.max_steps,
    }
    if iteration:
        known |= {"status": "iterating" if known["status"] != "failed" else "failed"}
        known |= {"artifact": drafts[0]} if drafts else {}
    return {**known, **iteration, **skipped, **reviewers}


def _approver(state: State, stage: str) -> Json:
    """Who decided that the result of a stage stands."""
    return next((item.approved_by for item in reversed(state.accepted) if item.stage == stage), "") or None


def _criteria(files: TaskFiles, ref: ArtifactRef) -> list[Json]:
    try:
        return [*_read_specification(files, ref)[2]]
    except Unusable:
        return []  # as above


@lru_cache(maxsize=8)
def _read_specification(files: TaskFiles, ref: ArtifactRef) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Title, requirements and criteria; read once per specification, whose content cannot change under its
    hash.
    """
    document = read(files, ref)
    found = document.get("requirements")
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    criteria = [texts for item in items if isinstance(texts := item.get("acceptance_criteria"), list)]
    wanted = tuple(f"{item.get('id')} {item.get('description') or ''}".strip() for item in items)
    return str(document.get("title") or ""), wanted, tuple(str(text) for texts in criteria for text in texts)


def _update(path: Path, data: bytes) -> None:
    if not path.is_file() or read_unlinked(path) != data:
        write_atomic(path, data, durable=False)
