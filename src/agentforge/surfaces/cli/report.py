"""Where a task stands when a command ends: branch, diff, proof, bill or question, and what to type next."""

import json
from dataclasses import dataclass
from typing import Any

from agentforge.core.codec import encode
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.store.layout import TaskFiles
from agentforge.store.views import north_star_word
from agentforge.surfaces.cli.words import bill, command, count, harmless, one_line
from agentforge.system.git import Git

DONE, FAILED, WAITING = 0, 1, 3
TESTS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """All that an end of a command speaks of, read once."""

    state: State
    branch: str
    tip: str | None
    """The commit of the branch; None while no stage is accepted."""
    stat: str
    evidence: dict[str, Any]
    """Empty until the task is delivered."""


def stand(git: Git, files: TaskFiles, state: State) -> Standing:
    """Reads branch, difference and evidence of a task."""
    branch = f"agentforge/{state.task_id}"
    tip = git.read_ref(f"refs/heads/{branch}")
    stat = git.diff_stat(state.base_commit, tip) if tip else ""
    return Standing(state, branch, tip, stat, _evidence(files) if state.delivered else {})


def exit_code(state: State) -> int:
    """What the shell is told."""
    return {"completed": DONE, "blocked": WAITING}.get(state.status, FAILED)


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
        "lane": state.pipeline.lane,
        "base": state.base_commit,
        "branch": standing.branch if standing.tip else None,
        "commit": standing.tip,
        "diff_stat": standing.stat.splitlines()[-1].strip() if standing.stat else None,
        "requirements": standing.evidence.get("requirements"),
        "review": standing.evidence.get("review"),
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
        case "completed":
            parts = [f"Done: {state.task_id}", _changes(standing), _proof(standing)]
        case "blocked" if state.open_escalation is not None:
            parts = [question(state, state.open_escalation), _so_far(standing)]
        case "failed":
            parts = [f"Failed: {state.task_id}\n  {one_line(state.failure or 'no reason was recorded', 1000)}", _so_far(standing)]
        case "cancelled":
            parts = [f"Aborted: {state.task_id}. Its work is kept.", _so_far(standing)]
        case _:
            parts = [f"{state.task_id} is {state.status}.", _so_far(standing)]
    costs = f"  cost      {bill(state)}\n  sandbox   {_sandbox(state.sandbox)}"
    following = "Next:\n" + "\n".join(f"  {line}" for line in next_commands(standing))
    return "\n".join([*parts, costs, "", following])


def next_commands(standing: Standing) -> list[str]:
    """What can be typed now."""
    state, task = standing.state, standing.state.task_id
    match state.status:
        case "completed":
            return [
                command("git", "diff", f"{state.base_commit[:12]}..{standing.branch}"),
                command("agentforge", "verify", task),
                command("git", "merge", standing.branch),
            ]
        case "blocked" if state.open_escalation is not None:
            return [answer_command(state, state.open_escalation), command("agentforge", "abort", task)]
        case _:
            return [command("agentforge", "continue", task), command("agentforge", "inspect", task)]


def answer_command(state: State, escalation: Escalation) -> str:
    """The exact words that answer a question."""
    proposed = escalation.question.recommendation if escalation.question.recommendation in escalation.question.options else ""
    proposed = proposed or next((option for option in escalation.question.options if option != "abort"), "")
    return command("agentforge", "resolve", escalation.id, "--task", state.task_id, "--answer", one_line(proposed) or "YOUR ANSWER")


def question(state: State, escalation: Escalation) -> str:
    """A question, with what led to it."""
    lines = [
        f"{escalation.id} of {state.task_id} waits for you ({escalation.kind}, stage {escalation.stage})",
        *(f"  {line}" for line in harmless(escalation.question.text).splitlines()),
    ]
    lines += [f"  option      {one_line(option)}" for option in escalation.question.options]
    if escalation.question.recommendation:
        lines.append(f"  recommended {one_line(escalation.question.recommendation, 600)}")
    for report in escalation.reports:
        lines.append(f"  attempt {report.attempt} of {report.stage}, step {report.step}: {one_line(report.reason, 400)}")
        lines += [f"    {one_line(last)}" for last in report.last]
    if escalation.answer is not None:
        lines.append(f"  answered by {escalation.by}: {one_line(escalation.answer, 600)}")
    return "\n".join(lines)


def _changes(standing: Standing) -> str:
    state = standing.state
    assert state.delivered is not None
    stat = "\n".join(f"            {line.strip()}" for line in standing.stat.splitlines()) or "            nothing"
    where = f"{standing.branch} at {state.delivered.commit[:12]}, from {state.base_commit[:12]}"
    return f"  branch    {where}\n  changed\n{stat}"


def _so_far(standing: Standing) -> str:
    if standing.tip is None:
        return "  branch    none yet: no stage is accepted"
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
    review = evidence.get("review") or {}
    findings = len(review.get("findings") or [])
    lines.append(f"review: {review.get('verdict')}, {count(findings, 'finding')}: {one_line(str(review.get('summary') or ''), 200)}")
    if evidence.get("same_author"):
        lines.append("one role wrote both the test and the change")
    lines += [f"not checked: {one_line(str(item))}" for item in evidence.get("not_checked") or []]
    return "  proof     " + "\n            ".join(lines)


def _sandbox(name: str) -> str:
    """Which walls stood. What each of them guarantees is in the evidence, and `agentforge init` says it."""
    return {"none": "none: asked for with --sandbox none", "landlock": "landlock (bubblewrap, where it works, is stronger)"}.get(name, name)


def _evidence(files: TaskFiles) -> dict[str, Any]:
    try:
        value = json.loads(files.evidence.read_bytes())
    except (OSError, ValueError):
        return {}  # `verify` names what is wrong with it
    return value if isinstance(value, dict) else {}
