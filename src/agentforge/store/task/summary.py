"""A task in one document, with the field names of the dashboard: what lists, pages and programs show.

It holds nothing that depends on the time of reading: whoever shows it adds ages and what is left (`timed`).
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal

from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.core.reply import Json
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.store.task.iterations import round_name
from agentforge.store.task.moments import Summary, seconds_between, stamp, timed
from agentforge.store.task.progress import Progress
from agentforge.store.task.times import Times
from agentforge.store.task.views import StateWord, north_star_word, plan
from agentforge.system.git.repository import Git

__all__ = ["Summary", "changed_files", "seconds_between", "summary_of", "timed"]

_MOST_FILES = 200
_ACTIONS: dict[StateWord, tuple[str, ...]] = {
    "pending": ("continue", "abort"),
    "in_progress": ("continue", "abort"),
    "escalated": ("resolve", "abort"),
    "awaiting_decision": ("resolve", "abort"),
    "completed": ("merge", "verify", "discard"),
    "failed": ("continue", "discard"),
    "aborted": ("continue", "discard"),
}
"""The commands that make sense next, by the state of the task."""


def summary_of(state: State, times: Times, progress: Progress, files: dict[str, list[str]]) -> Summary:
    """`task_summary`, without the repository's name and without a clock. `files`: created and modified."""
    word = north_star_word(state)
    here, overall = _phase_share(state), _overall_share(state)
    bill, run, waiting = state.spent.plus(state.unaccounted), state.worker, state.open_escalation
    now = progress.current
    return {
        "task_id": state.task_id,
        "request": state.request,
        "goal": state.request,
        "goal_type": state.pipeline.name,
        "status": {
            "state": word,
            "stored": state.status,
            "phase": run.stage if run else None,
            "phase_progress": here,
            "overall_progress": overall,
        },
        "timing": {
            "started_at": times.began_at,
            "last_activity": times.updated_at,
            "ended_at": times.ended_at or None,
        },
        "steps": {
            "total": state.step,
            "by_phase": {name: phase.steps for name, phase in progress.phases.items()},
        },
        "health": {
            "tests_passing": progress.tests_passing,
            "tests_total": progress.tests_total,
            "tests_not_passing_before": progress.tests_not_passing_before,
            "conformance_passing": progress.conformance_passing,
            "conformance_total": progress.conformance_total,
            "escalations_pending": sum(item.answer is None for item in state.escalations),
            "errors_recent": progress.errors_recent(state.step),
        },
        "cost": {
            "tokens_used": bill.tokens,
            "estimated_cost_usd": bill.micro_usd / 1_000_000 if state.is_priced else None,
        },
        "files": {"created": [*files["created"]], "modified": [*files["modified"]]},
        "current_action": None
        if now is None or state.status in TERMINAL
        else {
            "step": now.step,
            "action": now.action,
            "target": now.target or None,
            "started_at": now.started_at,
        },
        "last_action": None if now is None else {"action": now.action, "at": now.started_at},
        "pipeline": _pipeline(state, overall),
        "plan": [{"stage": item.stage, "progress": item.progress} for item in plan(state)],
        "current_stage": _current_stage(state, run, word),
        "iteration_summary": _iterations(state, times),
        "available_actions": [*_actions(state, word)],
        "waiting": None
        if waiting is None
        else {
            "id": waiting.id,
            "kind": waiting.kind,
            "question": waiting.question.text,
            "opened_at": dict(times.opened).get(waiting.id),
        },
        "waits_for": _waits_for(state),
        "depends_on": [each.task_id for each in state.dependencies.tasks] if state.depends else [],
    }


def _waits_for(state: State) -> Json:
    """What the task waits for by itself, and goes on when it is there; None where nothing is waited for."""
    if state.status in TERMINAL or state.status == "blocked":
        return None
    if state.depends:
        return {"kind": "tasks", "text": "; ".join(state.dependencies.words), "until": None}
    pausing = (run.refused for run in state.runs if run.point == "pause" and run.refused is not None)
    refusals = [each for each in pausing if each.until]
    if not refusals:
        return None
    last = max(refusals, key=lambda each: each.until)
    return {"kind": "provider", "text": last.text, "until": stamp(datetime.fromtimestamp(last.until, UTC))}


def changed_files(git: Git | None, state: State) -> dict[str, list[str]]:
    """What a task has created and modified so far, of the recorded tree; nothing where git cannot say."""
    created: list[str] = []
    modified: list[str] = []
    if git is not None and state.tree and state.tree != state.base_tree:
        with suppress(UserError):  # its objects are gone; `verify` says so
            for change in git.diff_names(state.base_tree, state.tree):
                (created if change.status == "A" else modified).append(change.path)
    return {"created": created[:_MOST_FILES], "modified": modified[:_MOST_FILES]}


def _phase_share(state: State) -> float:
    """About how much of the current phase is done: by its steps, and by whether gates judge already."""
    run = state.worker
    if run is None:
        return 1.0 if state.delivered else 0.0
    if run.point in ("judge", "commit", "deliver"):
        return 0.9
    expected = max(3, state.stage_of(run).max_steps // 3)
    return round(min(0.85, run.steps / expected), 2)


def _overall_share(state: State) -> float:
    if state.delivered and state.status == "completed":
        return 1.0
    stages = plan(state)
    if not stages:
        return 0.0
    done = sum(item.progress in ("done", "covered") for item in stages)
    return round(min(0.99, (done + (_phase_share(state) if state.worker else 0)) / len(stages)), 2)


def _actions(state: State, word: StateWord) -> tuple[str, ...]:
    """What a person can do next: about a version that waits for them, what they can decide."""
    waiting = state.open_escalation
    if waiting is not None and waiting.kind == "iteration":
        return waiting.question.options
    extend = ("extend",) if word == "completed" and state.pipeline.extends_to else ()
    return (*_ACTIONS[word], *extend)


def _iterations(state: State, times: Times) -> Json:
    """The rounds of the stage that a person decides about, or decided about last."""
    if not state.iterations:
        return None
    last = state.iterations[-1]
    when = dict(times.decided)
    return {
        "stage": last.stage,
        "current": last.number + (last.decision == "revise"),
        "max": state.pipeline.stage(last.stage).max_iterations,
        "decisions": [
            {"iteration": item.number, "decision": item.decision, "at": when.get(round_name(item))}
            for item in state.iterations
            if item.stage == last.stage and item.decision
        ],
    }


def _pipeline(state: State, overall: float) -> Summary:
    stages = state.pipeline.stages
    return {
        "template": state.pipeline.name,
        "lane": state.pipeline.lane,
        "entry_stage": stages[0].name if stages else None,
        "exit_stage": stages[-1].name if stages else None,
        "progress": overall,
    }


def _current_stage(state: State, run: Run | None, word: StateWord) -> Json:
    if run is None:
        return None
    awaiting: Literal["user_decision"] | None = (
        "user_decision" if word in ("escalated", "awaiting_decision") else None
    )
    shown = state.last_shown(run.stage)
    return {
        "name": run.stage,
        "status": word if shown is None else "iterating",
        "iteration": state.revised_times(run.stage) + 1 if shown is None else shown.number,
        "awaiting": awaiting,
    }
