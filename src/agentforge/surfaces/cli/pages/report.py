"""Where a task stands when a command ends: branch, diff, proof, bill or question, and what to type next."""

from collections.abc import Sequence
from dataclasses import asdict

from agentforge.app.record.deliverable import Deliverable
from agentforge.app.record.reports import TaskReport
from agentforge.core.codec import encode
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.views import north_star_word
from agentforge.surfaces.cli.pages.answers import next_commands, question
from agentforge.surfaces.cli.pages.proof import debate_lines, proof, reviews
from agentforge.surfaces.cli.pages.words import bill, count, kept_branches
from agentforge.system.visible import brief, harmless

DONE, FAILED, WAITING = 0, 1, 3
LINES_SHOWN = 12
FLAGGED_SHOWN = 5


def _lost_money(state: State) -> int | None:
    return state.unaccounted.micro_usd if state.loss_is_priced else None


def exit_code(state: State) -> int:
    """The exit code of a command that drove a task to this state."""
    return DONE if may_be_left(state) else {"completed": DONE, "blocked": WAITING}.get(state.status, FAILED)


def may_be_left(state: State) -> bool:
    """Whether a task that nobody drives waits for what comes without anybody: a batch, or another task."""
    return waits_for_batch(state) or (state.depends and state.status in ("running", "verifying"))


def waits_for_batch(state: State) -> bool:
    """Whether a task that nobody drives has calls in a batch."""
    return state.status in ("running", "verifying") and any(
        flight.delivery == "batch" for flight in state.flights
    )


def as_json(report: TaskReport) -> dict[str, Json]:
    """The report as data for `--json`."""
    state = report.state
    waiting = state.open_escalation
    lost = state.unaccounted
    return {
        "task_id": state.task_id,
        "status": state.status,
        "state": north_star_word(state),
        "exit_code": exit_code(state),
        "pipeline": state.pipeline.name,
        "lane": state.pipeline.lane,
        "mode": state.pipeline.mode,
        "why": [*state.triage],
        "risen": [*state.risen],
        "base": state.base_commit,
        "branch": report.branch if report.tip else None,
        "commit": report.tip,
        "seal": report.seal or None,
        "signature": report.signature or None,
        "branches_kept": [*state.branches_kept],
        "changed": _changed(report),
        "proved_as": report.evidence.get("proved_as"),
        "plan": report.evidence.get("plan"),
        "assumptions": report.evidence.get("assumptions"),
        "requirements": report.evidence.get("requirements"),
        "superseded": report.evidence.get("superseded"),
        "review": report.evidence.get("review"),
        "panels": report.evidence.get("panels"),
        "debates": report.evidence.get("debates"),
        "files": {**report.files} or None,
        "named": report.evidence.get("named"),
        "flagged": [*state.flagged],
        "summary": report.summary or None,
        "deliverable": asdict(report.deliverable) if report.deliverable else None,
        "sandbox": state.sandbox,
        "added": report.evidence.get("added") or [],
        "cost": {
            "calls": state.spent.calls,
            "tokens": state.spent.tokens,
            "micro_usd": state.spent.micro_usd if not state.unpriced else None,
            "unaccounted": {"calls": lost.calls, "tokens": lost.tokens, "micro_usd": _lost_money(state)},
        },
        "failure": state.failure or None,
        "escalation": None if waiting is None else encode(waiting),
        "next": [*next_commands(report)],
    }


def _changed(report: TaskReport) -> Json:
    if report.tip is None:
        return None
    return {
        "files": len(report.lines),
        "insertions": sum(line.added for line in report.lines),
        "deletions": sum(line.removed for line in report.lines),
    }


def as_text(report: TaskReport, commands: Sequence[str] | None = None) -> str:
    """The text that a command ends with: result, cost and next commands, unless others are given."""
    state = report.state
    match state.status:
        case "completed" if report.files:
            decided = harmless(report.synthesis)
            parts = [decided, f"Done: {state.task_id}", *_summary(report), _document(report)]
        case "completed" if report.changes_nothing:
            parts = [f"Done: {state.task_id}", *_summary(report), _document(report)]
        case "completed":
            parts = [f"Done: {state.task_id}", *_summary(report), _changes(report), proof(report)]
        case "blocked" if state.open_escalation is not None:
            parts = [question(state, state.open_escalation), _so_far(report)]
        case "failed":
            parts = [
                f"Failed: {state.task_id}\n  {brief(state.failure or 'no reason was recorded', 1000)}",
                _so_far(report),
            ]
        case "cancelled":
            parts = [f"Aborted: {state.task_id}. Its work is kept.", _so_far(report)]
        case _ if waits_for_batch(state):
            parts = [
                f"{state.task_id} is waiting for a batch; `agentforge continue {state.task_id}` collects it.",
                _so_far(report),
            ]
        case _ if may_be_left(state):
            awaited = brief("; ".join(state.dependencies.words), 400)
            again = f"`agentforge continue {state.task_id}` resumes it then."
            parts = [f"{state.task_id} is waiting for {awaited}; {again}", _so_far(report)]
        case _:
            parts = [f"{state.task_id} is {state.status}.", _so_far(report)]
    if state.flagged:
        parts.append(_flagged(state))
    costs = f"  cost      {bill(state)}\n  sandbox   {_sandbox(state.sandbox)}{_added(report)}"
    offer = f"{state.pipeline.continue_prompt}\n" if state.status == "completed" else ""
    next_lines = f"{offer.lstrip()}Next:\n" + "\n".join(
        f"  {line}" for line in commands or next_commands(report)
    )
    return "\n".join([*parts, costs, "", next_lines])


def _flagged(state: State) -> str:
    """What the roles were shown that reads like an instruction to them."""
    more = len(state.flagged) - FLAGGED_SHOWN
    lines = [
        "  flagged   text that reads like an instruction; it was shown as data:",
        *(f"            {brief(flag, 160)}" for flag in state.flagged[:FLAGGED_SHOWN]),
        *([f"            and {more} more, in the evidence"] if more > 0 else []),
    ]
    return "\n".join(lines)


def _summary(report: TaskReport) -> list[str]:
    return [f"  summary   {report.summary}"] if report.summary else []


def _changes(report: TaskReport) -> str:
    state = report.state
    assert state.delivered is not None
    stat = (
        "\n".join(f"            {line.strip()}" for line in report.stat.splitlines()) or "            nothing"
    )
    where = f"{report.branch} at {state.delivered.commit[:12]}, from {state.base_commit[:12]}"
    seal = f"\n  seal      {report.seal[:12]}: {report.signature}" if report.seal else ""
    return f"  branch    {where}{_kept(state)}{seal}\n  changed\n{stat}"


def _document(report: TaskReport) -> str:
    told = (
        _deliverable(report.deliverable)
        if report.deliverable
        else "  result    cannot be read; `agentforge verify` says why"
    )
    read = "".join(f"\n  review    {line}" for line in reviews(report.evidence))
    read += "".join(f"\n  debate    {line}" for line in debate_lines(report.evidence))
    return f"{told}{read}\n  branch    none: the pipeline {report.state.pipeline.name} changes no file"


def _deliverable(found: Deliverable) -> str:
    more = len(found.lines) - LINES_SHOWN
    shown = [*found.lines[:LINES_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    body = "".join(f"\n            {line}" for line in shown)
    return f"  result    {found.contract}: {found.title}{body}\n  file      {found.file}"


def nothing_changed(state: State) -> str:
    """The plain sentence for a task without a branch."""
    return (
        f"{state.task_id} runs the pipeline {state.pipeline.name}, which changes no file: it has no "
        "branch and no difference."
    )


def _so_far(report: TaskReport) -> str:
    if report.changes_nothing:
        return f"  branch    none: the pipeline {report.state.pipeline.name} changes no file"
    if report.tip is None:
        return "  branch    none yet: no accepted stage has changed a file"
    last = report.stat.splitlines()[-1].strip() if report.stat else "no change yet"
    return f"  branch    {report.branch} at {report.tip[:12]}, so far: {last}{_kept(report.state)}"


def _kept(state: State) -> str:
    return "".join(f"\n            {line}" for line in kept_branches(state.branches_kept))


def _added(report: TaskReport) -> str:
    """What the project's environment has from us; the evidence names the rest of it."""
    first, *rest = report.evidence.get("added") or [""]
    if not first:
        return ""
    more = f" and {count(len(rest), 'package')} that it needs" if rest else ""
    return f"\n  added     {brief(str(first))}{more}, pinned by hash: the project brings none"


def _sandbox(name: str) -> str:
    """Which walls stood. What each of them guarantees is in the evidence, and `agentforge init` says it."""
    return {
        "none": "none, because of --sandbox none",
        "landlock": "landlock (bubblewrap, where it works, is stronger)",
    }.get(name, name)
