"""What people read of a task: made from the journal, never read back by the program, deletable at any time."""

import contextlib
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Literal, assert_never

from agentforge.core.codec import encode
from agentforge.core.errors import Unusable
from agentforge.core.pipeline import Stage
from agentforge.core.reply import Json
from agentforge.core.state import TERMINAL, Accepted, State
from agentforge.core.values import ArtifactRef, Escalation
from agentforge.store.artifacts import read
from agentforge.store.layout import TaskFiles
from agentforge.store.lines import spell_document
from agentforge.store.times import Times
from agentforge.system.files import disk_errors

Word = Literal["pending", "in_progress", "escalated", "awaiting_decision", "completed", "failed", "aborted"]

_DECISIONS = frozenset({"budget", "replan"})
"""Questions that no work can answer: a person chooses. The other kinds mean that the work is stuck."""


def north_star_word(state: State) -> Word:
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


def dollars(micro_usd: int) -> str:
    """Money as exact text."""
    return f"{micro_usd // 1_000_000}.{micro_usd % 1_000_000:06d}"


def write_views(files: TaskFiles, state: State, head: str, length: int, times: Times) -> None:
    """Bring `state.yaml`, `working_memory.yaml` and the pages of the task's questions up to date."""
    with disk_errors():
        _replace(files.state, spell_document(state_view(files, state, head, length, times)))
        _replace(files.working_memory, spell_document(memory_view(state, head, length)))
        for escalation in state.escalations:
            _update(files.escalation(escalation.id), spell_document(escalation_view(state, escalation, times)))


def state_view(files: TaskFiles, state: State, head: str, length: int, times: Times) -> Json:
    """`state.yaml`."""
    specification = state.artifact("specification")
    bill = state.spent.plus(state.unaccounted)
    view: dict[str, Json] = {
        "task": {"id": state.task_id, "goal": state.request, "goal_type": state.pipeline.name},
        "status": state.status,
        "state": north_star_word(state),
        "outcome": _outcome(state),
        "started_at": times.created_at,
        "updated_at": times.updated_at,
        "completed_at": times.ended_at or None,
        "total_steps": state.step,
        "total_tokens": bill.tokens,
        "total_cost_usd": dollars(bill.micro_usd),
        "unaccounted_cost_usd": dollars(state.unaccounted.micro_usd),
        "unpriced_calls": state.unpriced,
        "journal": {"length": length, "head": head},
        "success_criteria": [state.request] if specification is None else _criteria(files, specification) or [state.request],
        "pipeline": _pipeline(state, times),
        "external_inputs": {},
        "escalations": [{"id": item.id, "kind": item.kind, "open": item.answer is None} for item in state.escalations],
        "failure": state.failure or None,
        "delivered": None if state.delivered is None else encode(state.delivered),
        "continuation": {
            "can_extend": state.status == "completed",
            "available_pipelines": [],
            "provides_artifacts": [*sorted({ref.contract for item in state.accepted for ref in item.finals})],
        },
    }
    return view


def memory_view(state: State, head: str, length: int) -> Json:
    """`working_memory.yaml`: what the next step is told of the ones before."""
    run = state.run
    view: dict[str, Json] = {
        "task_id": state.task_id,
        "journal": {"length": length, "head": head},
        "step": state.step,
        "phase": run.name if run else None,
        "attempt": run.attempt if run else None,
        "notes": run.notes if run else "",
        "recent_actions": list(state.recent),
        "feedback": list(run.feedback) if run else [],
        "tried": list(run.tried) if run else [],
        "working_set": encode(run.working) if run else [],
        "verification_status": encode(run.check) if run and run.check else None,
    }
    return view


def escalation_view(state: State, escalation: Escalation, times: Times) -> Json:
    """One page: the question, what was tried, what is done, and how to answer."""
    open_now = escalation.answer is None
    command = f"agentforge resolve {escalation.id} --task {state.task_id} --answer …"
    done: list[Json] = [{"stage": item.stage, "commit": item.commit} for item in _newest(state).values()]
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
        "reports": [encode(report) for report in escalation.reports],
        "done": done,
        "answer_with": command if open_now else None,
        "answer": escalation.answer,
        "answered_by": escalation.by or None,
        "answered_at": dict(times.answered).get(escalation.id),
    }
    return view


def _outcome(state: State) -> Json:
    return {"completed": "success", "failed": "failed", "cancelled": "aborted"}[state.status] if state.status in TERMINAL else None


def _pipeline(state: State, times: Times) -> Json:
    stages = state.pipeline.stages
    done = _newest(state)
    when = dict(times.accepted)
    view: dict[str, Json] = {
        "template": state.pipeline.name,
        "lane": state.pipeline.lane,
        "entry_stage": stages[0].name if stages else None,
        "exit_stage": stages[-1].name if stages else None,
        "current_stage": state.run.name if state.run else None,
        "stages": {stage.name: _stage(state, stage, done.get(stage.name), when.get(stage.name)) for stage in stages},
        "skipped": [],
    }
    return view


def _stage(state: State, stage: Stage, accepted: Accepted | None, completed_at: str | None) -> Json:
    run = state.run if state.run and state.run.name == stage.name else None
    over = accepted is not None and (run is None or run.point == "deliver")
    if over and accepted is not None:
        finals: list[Json] = [f"artifacts/phases/{ref.phase}/{ref.contract}_final.yaml" for ref in accepted.finals]
        return {"status": "completed", "artifacts": finals, "commit": accepted.commit, "completed_at": completed_at}
    if run is None:
        return {"status": "pending"}
    status = "failed" if state.status == "failed" else north_star_word(state)
    drafts: list[Json] = [f"artifacts/phases/{ref.phase}/{ref.contract}_v{ref.version}.yaml" for ref in run.drafts]
    return {"status": status, "artifacts": drafts, "attempt": run.attempt, "steps": run.steps, "max_steps": stage.max_steps}


def _newest(state: State) -> dict[str, Accepted]:
    """The last acceptance of each stage; one that was revised is accepted again."""
    return {item.stage: item for item in state.accepted}


def _criteria(files: TaskFiles, specification: ArtifactRef) -> list[Json]:
    try:
        return list(_read_criteria(files, specification))
    except Unusable:
        return []  # a view is no place to find damage: the stage that needs the artifact does


@lru_cache(maxsize=8)
def _read_criteria(files: TaskFiles, specification: ArtifactRef) -> tuple[str, ...]:
    """Read once per specification: its content cannot change under its hash."""
    requirements = read(files, specification).get("requirements")
    found = [item.get("acceptance_criteria") for item in requirements if isinstance(item, dict)] if isinstance(requirements, list) else []
    return tuple(str(text) for texts in found if isinstance(texts, list) for text in texts)


def _update(path: Path, data: bytes) -> None:
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all, but without waiting for the disk: what a power loss takes is made again."""
    temporary = path.parent / f".tmp-{secrets.token_hex(8)}"
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
