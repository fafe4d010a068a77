"""One task on one page: its stages, artifacts, questions and bill."""

from agentforge.core.pipeline import Stage
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.times import Times
from agentforge.store.views import north_star_word
from agentforge.surfaces.cli.report import Standing, next_commands
from agentforge.surfaces.cli.words import bill, one_line


def page(standing: Standing, files: TaskFiles, times: Times) -> str:
    """The page, as text."""
    state = standing.state
    why = f" ({one_line('; '.join(state.triage), 120)})" if state.triage else ""
    lines = [
        state.task_id,
        f"  request   {one_line(state.request, 300)}",
        f"  status    {state.status} ({north_star_word(state)}), since {times.updated_at}",
        f"  lane      {state.pipeline.lane}{why}",
        f"  base      {state.base_commit[:12]}",
        f"  branch    {f'{standing.branch} at {standing.tip[:12]}' if standing.tip else 'none yet: no stage is accepted'}",
        f"  model     {state.model}",
        f"  sandbox   {state.sandbox}",
        f"  baseline  {state.baseline.summary if state.baseline else 'not taken yet'}",
        f"  cost      {bill(state)}",
    ]
    if state.failure:
        lines.append(f"  failure   {one_line(state.failure, 600)}")
    lines += ["stages", *(_stage(state, stage) for stage in state.pipeline.stages)]
    finals = [ref for item in state.accepted for ref in item.finals]
    if finals:
        lines += ["artifacts", *(f"  {files.final(ref.phase, ref.contract).relative_to(files.root)}" for ref in dict.fromkeys(finals))]
    if state.escalations:
        lines.append("escalations")
        for item in state.escalations:
            answer = f"answered: {one_line(item.answer, 60)}" if item.answer is not None else "waits for you"
            lines.append(f"  {item.id}  {item.kind}  {answer}  {one_line(item.question.text, 100)}")
    return "\n".join([*lines, "next", *(f"  {line}" for line in next_commands(standing))])


def _stage(state: State, stage: Stage) -> str:
    accepted = {item.stage: item for item in state.accepted}.get(stage.name)
    run = state.run if state.run is not None and state.run.name == stage.name else None
    if run is not None and run.point != "deliver":
        return f"  {stage.name:<10}at work: attempt {run.attempt}, step {run.steps} of {stage.max_steps}, {run.point}"
    return f"  {stage.name:<10}{f'accepted at {accepted.commit[:12]}' if accepted else 'not yet'}"
