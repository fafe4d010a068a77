"""What is under way in a task, in a line. Pure."""

from agentforge.core.pipeline import Pipeline
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.statuses import TERMINAL
from agentforge.surfaces.cli.pages.words import count, money

_POINTS = {
    "assemble": "assembling the context",
    "ask": "asking the model",
    "pause": "waiting before the next try",
    "act": "carrying out the reply",
    "check": "checking the edit",
    "judge": "judging on a pristine checkout",
    "commit": "committing the stage",
    "deliver": "writing the evidence",
    "handed_in": "handed in",
}
"""What a run does at a point, where its name alone does not say it."""


def doing(state: State) -> str:
    """What is under way, for a line that is overwritten."""
    total = (
        f"{count(state.spent.tokens, 'token')}, "
        f"{money(state.spent.micro_usd) if not state.unpriced else 'price not known'}"
    )
    run = state.worker
    if state.status in TERMINAL:
        return f"saving the result · {total}"
    if run is None:
        return f"preparing the worktree · {total}"
    if state.stage_of(run).needs_environment and state.baseline is None:
        return f"{run.stage} · waiting for the project's environment and its baseline · {total}"
    if any(each.point != "handed_in" for each in state.panel):
        return f"{run.stage} · {', '.join(map(reviewer_now, state.panel))} · {total}"
    most = state.stage_of(run).max_steps
    return f"{run.stage} · step {run.steps or 1} of at most {most} · {work_at(run)} · {total}"


def reviewer_now(run: Run) -> str:
    """Somebody beside the worker, and what it does now."""
    return f"{run.name}: {work_at(run)}"


def work_at(run: Run) -> str:
    """What a run does now, in words."""
    return _POINTS.get(run.point, run.point)


def line_of(pipeline: Pipeline, triage: tuple[str, ...]) -> str:
    """Pipeline, lane and mode of a task, and why they were chosen."""
    why = f" ({'; '.join(triage)})" if triage else ""
    return f"pipeline {pipeline.line}, lane {pipeline.lane}, mode {pipeline.mode}{why}"
