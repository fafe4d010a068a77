"""Where a task stands when a command ends: branch, diff, proof, bill or question, and what to type next."""

import json
from dataclasses import dataclass
from typing import Any

from agentforge.app.deliverable import Deliverable, changes_files, following, read_deliverable
from agentforge.app.offers import offered
from agentforge.core.codec import encode
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.store.layout import TaskFiles
from agentforge.store.views import north_star_word
from agentforge.surfaces.cli.pages.words import bill, command, count
from agentforge.system.git import Git
from agentforge.system.visible import harmless, one_line

DONE, FAILED, WAITING = 0, 1, 3
TESTS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """All that an end of a command speaks of, read once."""

    state: State
    branch: str
    tip: str | None
    """The commit of the branch; None while no accepted stage has changed a file."""
    stat: str
    evidence: dict[str, Any]
    """Empty until the task is delivered."""
    changes_nothing: bool = False
    """Its pipeline ends in a document, not in a branch."""
    deliverable: Deliverable | None = None
    """That document."""


def stand(git: Git, files: TaskFiles, state: State) -> Standing:
    """Reads branch, difference and evidence of a task."""
    branch = f"agentforge/{state.task_id}"
    tip = git.read_ref(f"refs/heads/{branch}")
    stat = git.diff_stat(state.base_commit, tip) if tip else ""
    evidence = _evidence(files) if state.delivered else {}
    if changes_files(state.pipeline):
        return Standing(state, branch, tip, stat, evidence)
    return Standing(
        state, branch, tip, stat, evidence, changes_nothing=True, deliverable=read_deliverable(files, state)
    )


def exit_code(state: State) -> int:
    """What the shell is told."""
    return (
        DONE if waits_for_batch(state) else {"completed": DONE, "blocked": WAITING}.get(state.status, FAILED)
    )


def waits_for_batch(state: State) -> bool:
    """Whether a task that nobody drives has calls in a batch."""
    return state.status in ("running", "verifying") and any(
        flight.delivery == "batch" for flight in state.flights
    )


def as_json(standing: Standing) -> dict[str, Json]:
    """The same for programs."""
    state = standing.state
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
        "branch": standing.branch if standing.tip else None,
        "commit": standing.tip,
        "diff_stat": standing.stat.splitlines()[-1].strip() if standing.stat else None,
        "requirements": standing.evidence.get("requirements"),
        "review": standing.evidence.get("review"),
        "panels": standing.evidence.get("panels"),
        "deliverable": standing.deliverable.as_json() if standing.deliverable else None,
        "sandbox": state.sandbox,
        "cost": {
            "calls": state.spent.calls,
            "tokens": state.spent.tokens,
            "micro_usd": state.spent.micro_usd if not state.unpriced else None,
            "unaccounted": {"calls": lost.calls, "tokens": lost.tokens, "micro_usd": lost.micro_usd},
        },
        "failure": state.failure or None,
        "escalation": None if waiting is None else encode(waiting),
        "next": [*next_commands(standing)],
    }


def as_text(standing: Standing) -> str:
    """The last thing a person sees."""
    state = standing.state
    match state.status:
        case "completed" if standing.changes_nothing:
            parts = [f"Done: {state.task_id}", _document(standing)]
        case "completed":
            parts = [f"Done: {state.task_id}", _changes(standing), _proof(standing)]
        case "blocked" if state.open_escalation is not None:
            parts = [question(state, state.open_escalation), _so_far(standing)]
        case "failed":
            parts = [
                f"Failed: {state.task_id}\n  {one_line(state.failure or 'no reason was recorded', 1000)}",
                _so_far(standing),
            ]
        case "cancelled":
            parts = [f"Aborted: {state.task_id}. Its work is kept.", _so_far(standing)]
        case _ if waits_for_batch(state):
            parts = [
                f"{state.task_id} waits for a batch; `agentforge continue {state.task_id}` collects.",
                _so_far(standing),
            ]
        case _:
            parts = [f"{state.task_id} is {state.status}.", _so_far(standing)]
    costs = f"  cost      {bill(state)}\n  sandbox   {_sandbox(state.sandbox)}"
    following = "Next:\n" + "\n".join(f"  {line}" for line in next_commands(standing))
    return "\n".join([*parts, costs, "", following])


def next_commands(standing: Standing) -> list[str]:
    """What can be typed now."""
    state, task = standing.state, standing.state.task_id
    match state.status:
        case "completed" if standing.changes_nothing:
            return following(state, standing.deliverable)
        case "completed":
            return [
                command("git", "diff", f"{state.base_commit[:12]}..{standing.branch}"),
                command("agentforge", "verify", task),
                command("git", "merge", standing.branch),
            ]
        case "blocked" if state.open_escalation is not None:
            waiting = state.open_escalation
            whole = command("agentforge", "escalations", "show", waiting.id, "--task", task)
            denied = (
                [command("agentforge", "resolve", waiting.id, "--task", task, "--answer", "deny")]
                if waiting.question.call
                else []
            )
            return [answer_command(state, waiting), *denied, whole, command("agentforge", "abort", task)]
        case _:
            return [command("agentforge", "continue", task), command("agentforge", "inspect", task)]


def answer_command(state: State, escalation: Escalation) -> str:
    """The exact words that answer a question."""
    proposed = (
        escalation.question.recommendation
        if escalation.question.recommendation in escalation.question.options
        else ""
    )
    proposed = proposed or next((option for option in escalation.question.options if option != "abort"), "")
    return command(
        "agentforge",
        "resolve",
        escalation.id,
        "--task",
        state.task_id,
        "--answer",
        one_line(proposed) or "YOUR ANSWER",
    )


def question(state: State, escalation: Escalation) -> str:
    """A question, with what led to it."""
    lines = [
        f"{escalation.id} of {state.task_id} waits for you ({escalation.kind}, stage {escalation.stage})",
        *(f"  {line}" for line in harmless(escalation.question.text).splitlines()),
    ]
    lines += [f"  option      {one_line(option)}" for option in escalation.question.options]
    if escalation.question.call is not None:
        lines.append(f"  always      grants {offered(escalation.question.call)}")
    if escalation.question.recommendation:
        lines.append(f"  recommended {one_line(escalation.question.recommendation, 600)}")
    for report in escalation.reports:
        lines.append(
            f"  attempt {report.attempt} of {report.stage}, step {report.step}: "
            f"{one_line(report.reason, 400)}"
        )
        lines += [f"    {one_line(last)}" for last in report.last]
    if escalation.answer is not None:
        lines.append(f"  answered by {escalation.by}: {one_line(escalation.answer, 600)}")
    return "\n".join(lines)


def _changes(standing: Standing) -> str:
    state = standing.state
    assert state.delivered is not None
    stat = (
        "\n".join(f"            {line.strip()}" for line in standing.stat.splitlines())
        or "            nothing"
    )
    where = f"{standing.branch} at {state.delivered.commit[:12]}, from {state.base_commit[:12]}"
    return f"  branch    {where}\n  changed\n{stat}"


def _document(standing: Standing) -> str:
    told = (
        standing.deliverable.as_text()
        if standing.deliverable
        else "  result    cannot be read; `agentforge verify` says more"
    )
    read = "".join(f"\n  review    {line}" for line in _reviews(standing.evidence))
    return f"{told}{read}\n  branch    none: the pipeline {standing.state.pipeline.name} changes no file"


def _so_far(standing: Standing) -> str:
    if standing.changes_nothing:
        return f"  branch    none: the pipeline {standing.state.pipeline.name} changes no file"
    if standing.tip is None:
        return "  branch    none yet: no accepted stage has changed a file"
    last = standing.stat.splitlines()[-1].strip() if standing.stat else "no change yet"
    return f"  branch    {standing.branch} at {standing.tip[:12]}, as far as it came: {last}"


def _proof(standing: Standing) -> str:
    evidence = standing.evidence
    if not evidence:
        return "  proof     the evidence cannot be read; `agentforge verify` says more"
    lines = []
    for item in evidence.get("requirements", []):
        lines.append(f"{item['id']} {one_line(str(item.get('description') or ''), 100)}")
        tests = item.get("tests", [])
        lines += [
            f"  {test['red']} → {test['green']}  {test['id']}{' (guard)' if test['red'] == 'passed' else ''}"
            for test in tests[:TESTS_SHOWN]
        ]
        if len(tests) > TESTS_SHOWN:
            lines.append(f"  and {len(tests) - TESTS_SHOWN} more tests")
    lines += _reviews(evidence)
    if evidence.get("same_author"):
        lines.append("one role wrote both the test and the change")
    lines += [f"not checked: {one_line(str(item))}" for item in evidence.get("not_checked") or []]
    return "  proof     " + "\n            ".join(lines)


def _reviews(evidence: dict[str, Any]) -> list[str]:
    """Who read the result and what they said; one line for each panel, or for the one reviewer."""
    lines = []
    panels = evidence.get("panels") or {}
    for stage, panel in panels.items():
        said = ", ".join(f"{seat} {verdict}" for seat, verdict in (panel.get("verdicts") or {}).items())
        lines.append(
            f"panel on {stage}: {said}"
            + (f"; the arbiter decided: {panel['arbiter']}" if panel.get("arbiter") else "")
        )
        lines += [f"  dissent: {one_line(str(line))}" for line in panel.get("dissent") or []]
        lines += [f"  note: {one_line(str(line))}" for line in panel.get("advisory") or []]
    review = evidence.get("review") or {}
    if review.get("verdict") and not panels:
        findings = len(review.get("findings") or [])
        lines.append(
            f"review: {review['verdict']}, {count(findings, 'finding')}: "
            f"{one_line(str(review.get('summary') or ''), 200)}"
        )
    return lines


def _sandbox(name: str) -> str:
    """Which walls stood. What each of them guarantees is in the evidence, and `agentforge init` says it."""
    return {
        "none": "none: asked for with --sandbox none",
        "landlock": "landlock (bubblewrap, where it works, is stronger)",
    }.get(name, name)


def _evidence(files: TaskFiles) -> dict[str, Any]:
    try:
        value = json.loads(files.evidence.read_bytes())
    except (OSError, ValueError):
        return {}  # `verify` names what is wrong with it
    return value if isinstance(value, dict) else {}
