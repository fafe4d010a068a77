"""One task on one page: its stages, artifacts, questions and bill."""

from collections.abc import Sequence
from pathlib import Path

from agentforge.app.record.reports import TaskReport
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.task.artifacts import is_derived
from agentforge.store.task.times import Times
from agentforge.store.task.views import Planned, north_star_word, plan
from agentforge.surfaces.cli.pages.answers import next_commands
from agentforge.surfaces.cli.pages.now import reviewer_now, work_at
from agentforge.surfaces.cli.pages.words import bill, skip_reason
from agentforge.system.visible import brief


def page(report: TaskReport, files: TaskFiles, times: Times) -> str:
    """The whole page as text, with the commands that make sense next."""
    state = report.state
    why = f" ({brief('; '.join(state.triage), 200)})" if state.triage else ""
    mode = state.pipeline.mode + ("" if state.pipeline.writes else ": changes nothing")
    lines = [
        state.task_id,
        f"  request   {brief(state.request, 300)}",
        f"  status    {_both_words(state)}, since {_second(times.updated_at)}",
        f"  pipeline  {state.pipeline.name}, lane {state.pipeline.lane}, mode {mode}{why}",
        *(f"  rose      to {state.pipeline.lane}: {brief(reason)}" for reason in state.risen),
        f"  base      {state.base_commit[:12]}",
        f"  branch    {_branch(report)}",
        f"  model     {state.model}",
        f"  sandbox   {state.sandbox}",
        f"  baseline  {_baseline(state)}",
        f"  cost      {bill(state)}",
    ]
    if state.failure:
        lines.append(f"  failure   {brief(state.failure, 600)}")
    lines += [f"  undone    {brief(reason)}" for reason in state.reverts]
    lines += [f"  reopened  {brief(why.reason)}" for why in state.reopenings]
    lines += [f"  settled   {brief(line)}" for line in state.settled]
    lines += [f"  asked     {brief(line)}" for line in state.blocked_for]
    lines += ["stages", *(f"  {row}" for row in stage_rows(state, plan(state)))]
    finals = [ref for item in state.accepted for ref in item.finals]
    if finals:
        paths = dict.fromkeys(files.final(ref.phase, ref.contract) for ref in finals)
        lines += ["artifacts", *(f"  {path.relative_to(files.root)}{_derived(path)}" for path in paths)]
    if state.escalations:
        lines.append("escalations")
        for item in state.escalations:
            answer = f"answered: {brief(item.answer, 60)}" if item.answer is not None else "needs your answer"
            lines.append(f"  {item.id}  {item.kind}  {answer}  {brief(item.question.text, 100)}")
    return "\n".join([*lines, "next", *(f"  {line}" for line in next_commands(report))])


def _derived(path: Path) -> str:
    """What is said of a document that is not required."""
    return " (derived)" if is_derived(path) else ""


def stage_rows(state: State, planned: Sequence[Planned]) -> list[str]:
    """A row for each stage, and one for each reviewer who reads."""
    width = max([10, *(len(item.stage) + 2 for item in planned)])
    rows: list[str] = []
    for item in planned:
        rows.append(f"{item.stage:<{width}}{_progress(state, item)}")
        if item.progress == "under_way":
            rows += [f"{'':<{width}}  {reviewer_now(run)}, step {run.steps}" for run in state.panel]
    return rows


def _progress(state: State, item: Planned) -> str:
    made = ", ".join(dict.fromkeys(ref.contract for ref in item.artifacts))
    match item.progress:
        case "done":
            head = f"skipped ({skip_reason(item.skipped)}), accepted" if item.skipped else "accepted"
            where = "" if item.commit == state.base_commit else f" at {item.commit[:12]}"
            return f"{head}{where}" + (f": {made}" if made else "")
        case "covered":
            return f"made by {', '.join(item.by)}: {made}"
        case "left":
            return "not yet"
        case "under_way":
            run = state.worker
            assert run is not None
            revised = state.revised_times(item.stage)
            parts = [f"attempt {run.attempt}", f"step {run.steps} of {state.stage_of(run).max_steps}"]
            parts = [f"skipped ({skip_reason(item.skipped)})"] if item.skipped else parts
            parts += [f"revision {revised}"] if revised else []
            head = {"blocked": "needs your answer", "failed": "stopped", "cancelled": "stopped"}.get(
                state.status, "running"
            )
            parts += [work_at(run)] if head == "running" else []
            return f"{head}: {', '.join(parts)}"


def _baseline(state: State) -> str:
    if state.baseline:
        return state.baseline.summary
    return "not taken" if state.delivered else "not run yet"


def _branch(report: TaskReport) -> str:
    if report.changes_nothing:
        return "none: this pipeline changes no file"
    return (
        f"{report.branch} at {report.tip[:12]}"
        if report.tip
        else "none yet: no accepted stage has changed a file"
    )


def _second(moment: str) -> str:
    """A moment as people read it: 2026-11-19 06:14:26 UTC."""
    return f"{moment[:10]} {moment[11:19]} UTC" if moment.endswith("Z") else moment


def _both_words(state: State) -> str:
    """The stored status, and the word that lists use where that is another."""
    word = north_star_word(state)
    return state.status if word == state.status else f"{state.status} ({word})"
