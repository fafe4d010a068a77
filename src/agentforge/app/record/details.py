"""One phase and one step of a task, with the field names of the dashboard."""

from collections.abc import Mapping
from typing import Any

from agentforge.app.record.listed import is_left
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.steps import (
    Step,
    mark_interrupted,
    pick,
    read_context,
    read_reply,
    read_results,
    steps_of,
)
from agentforge.catalog.resolved import ResolvedPipeline
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.state import State
from agentforge.store.task.pack import Pack
from agentforge.store.task.progress import PhaseProgress
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.views import north_star_word, plan
from agentforge.system.unlinked import read_unlinked

Detail = dict[str, Any]
_STATUS = {"passed": "passed", "failed": "failing", "blocked": "failing"}
_MOST_PATCH = 200_000


def phase_detail(task: OpenTask, phase: str) -> Detail:
    """`phase_detail`: what a phase is for, what it must meet to end, what it touched and did last."""
    state, progress = task.state, task.journal.progress
    planned = {item.stage: item for item in plan(state)}
    if phase not in planned:
        raise UsageError(f"{task.task_id} has no phase {phase!r}; it has {', '.join(planned) or 'none yet'}.")
    known = progress.phases.get(phase)
    done = planned[phase].progress in ("done", "covered")
    under_way = "failed" if state.status == "failed" else north_star_word(state)
    status = "completed" if done else under_way if planned[phase].progress == "under_way" else "pending"
    return {
        "task_id": task.task_id,
        "phase": phase,
        "status": status,
        "started_at": known.started_at if known else None,
        "ended_at": (known.ended_at or None) if known else None,
        "objective": _objective(task, phase),
        "exit_criteria": _criteria(state, phase, known),
        "files_touched": _touched(task, known) if known else [],
        "steps": {
            "total": known.steps if known else 0,
            "recent": [
                {
                    "step": line.step,
                    "action": line.action,
                    "target": line.target or None,
                    "result": line.result,
                    "summary": line.summary,
                }
                for line in (known.recent if known else ())
            ],
        },
    }


def _objective(task: OpenTask, phase: str) -> str:
    """The first sentence of what its role is told."""
    try:
        with Pack(task.files.pack) as pack:
            value: Any = pack.get_json(task.state.catalogue)
    except UserError:
        return ""
    text = " ".join(ResolvedPipeline.from_json(value).prompt(phase).split())
    return text.partition(". ")[0].rstrip(".") + ("." if text else "")


def _criteria(state: State, phase: str, known: PhaseProgress | None) -> list[Detail]:
    stage = next((item for item in state.pipeline.stages if item.name == phase), None)
    if stage is None:
        return []
    rows: list[Detail] = []
    check = known.check if known else None
    if stage.checks:
        status = "pending" if check is None else _STATUS.get(check.status, "not_run")
        row: Detail = {"name": "checks", "status": status}
        if check is not None:
            row |= {"details": check.summary}
        if status == "failing" and check is not None:
            row |= {"blocking": True, "failures": [_failure(line) for line in check.failures]}
        rows.append(row)
    for gate in stage.gates:
        verdict = known.gates.get(gate) if known else None
        row = {
            "name": gate,
            "status": "pending" if verdict is None else _STATUS.get(verdict.status, "not_run"),
        }
        if verdict is not None and verdict.status != "passed":
            row |= {"blocking": True, "failures": [_failure(line) for line in verdict.reasons]}
        rows.append(row)
    return rows


def _failure(line: str) -> Detail:
    """A line about a test begins with its id."""
    head, colon, rest = line.partition(": ")
    return {"test": head, "error": rest} if colon and "::" in head else {"test": None, "error": line}


def _touched(task: OpenTask, known: PhaseProgress) -> list[Detail]:
    after = known.tree or task.state.tree
    if not known.entry_tree or not after or known.entry_tree == after:
        return []
    try:
        lines = task.site.git.numstat(known.entry_tree, after)
    except Unusable:
        return []  # its objects are gone; `verify` says so
    return [
        {
            "path": item.path,
            "changes": item.added + item.removed,
            "last_modified": known.touched.get(item.path) or known.ended_at or known.started_at,
        }
        for item in lines
    ]


def step_detail(task: OpenTask, number: int) -> Detail:
    """`step_detail`: what the model saw, what it said, what came of it."""
    steps = steps_of(task.files)
    if is_left(task.files, task.state.status):
        mark_interrupted(steps)
    step = pick(steps, number, task.task_id)
    results = read_results(task.files, step)
    said = _reply(task, step)
    return {
        "task_id": task.task_id,
        "step": step.number,
        "phase": step.stage,
        "role": step.role,
        "timestamp": step.started,
        "duration_seconds": seconds_between(step.started, step.ended) if step.outcome != "open" else None,
        "action": {
            "type": ", ".join(item.name for item in step.actions) or None,
            "target": ", ".join(item.target for item in step.actions if item.target) or None,
            "parameters": {"actions": said.get("actions", [])},
        },
        "llm_call": {
            "model": step.model or None,
            "prompt_tokens": step.usage.input_tokens,
            "completion_tokens": step.usage.output_tokens,
        },
        "context_sent": _context(task, step),
        "llm_response": {
            "reasoning": said.get("thought") or step.summary,
            "action_chosen": step.actions[0].name if step.actions else None,
        },
        "result": {
            "success": _succeeded(step),
            "outcome": step.outcome,
            "output": [
                {"action": item.get("name"), "ok": item.get("ok"), "text": item.get("text")}
                for item in results
            ],
        },
        "state_after": {"verification_status": step.check or None},
        "diff": _diff(task, step.number),
    }


def _context(task: OpenTask, step: Step) -> Detail | None:
    """Each block that was sent, by its name in one word."""
    if not step.context:
        return None
    return {name.replace(" ", "_"): text for name, text in read_context(task.files, step)}


def _succeeded(step: Step) -> bool:
    """Whether the reply could be used, its actions went well, and no gate refused what they left."""
    refused = step.outcome in ("open", "interrupted") or step.outcome.startswith(("gate_", "reverted"))
    return not refused and not step.mistake and all(item.ok for item in step.actions)


def _reply(task: OpenTask, step: Step) -> Mapping[str, Any]:
    record: Any = read_reply(task.files, step) if step.reply else None
    reply = record.get("reply") if isinstance(record, dict) else None
    return reply if isinstance(reply, dict) else {}


def _diff(task: OpenTask, number: int) -> Detail | None:
    path = task.files.patch(number)
    try:
        patch = read_unlinked(path)[:_MOST_PATCH].decode("utf-8", "replace")
    except OSError:
        return None
    files = [
        line.split(" b/", 1)[1]
        for line in patch.splitlines()
        if line.startswith("diff --git ") and " b/" in line
    ]
    return {"file": ", ".join(files), "patch": patch}
