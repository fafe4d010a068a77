"""Where a task stands when a command ends: branch, diff, proof, bill or question, and what to type next."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agentforge.app.people.offers import offered
from agentforge.app.record.deliverable import Deliverable
from agentforge.app.record.reports import TaskReport
from agentforge.core.codec import encode
from agentforge.core.pipeline import Pipeline
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import STUCK, Escalation, Question
from agentforge.store.task.views import north_star_word
from agentforge.surfaces.cli.pages.decisions import built_on, decision_commands
from agentforge.surfaces.cli.pages.words import bill, command, count, kept_branches
from agentforge.system.visible import brief, harmless

DONE, FAILED, WAITING = 0, 1, 3
TESTS_SHOWN = 8
LINES_SHOWN = 12
NAMED_SHOWN = 10
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
            parts = [f"Done: {state.task_id}", *_summary(report), _changes(report), _proof(report)]
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


def next_commands(report: TaskReport) -> list[str]:
    """The commands that make sense next."""
    state, task = report.state, report.state.task_id
    match state.status:
        case "completed" if report.changes_nothing:
            return _after_document(state, report.deliverable)
        case "completed":
            last = command("agentforge", "merge", task) if is_judged(state.pipeline) else built_on(state)
            return [
                command("git", "diff", f"{state.base_commit[:12]}..{report.branch}"),
                command("agentforge", "verify", task),
                last,
            ]
        case "blocked" if state.open_escalation is not None:
            return _after_question(state, state.open_escalation)
        case _:
            return [command("agentforge", "continue", task), command("agentforge", "inspect", task)]


def _after_question(state: State, waiting: Escalation) -> list[str]:
    """The answer that is recommended, or what is recommended instead of an answer; then all that led to it,
    and the way out.
    """
    if waiting.kind in ("iteration", "approval"):
        return decision_commands(state, waiting)
    base = ("agentforge", "resolve", waiting.id, "--task", state.task_id)
    leave = [command("agentforge", "abort", state.task_id)]
    first = helpful_answers(state, waiting)
    if not first:
        leave = [*leave, _again(state)]
    denied = [command(*base, "--answer", "deny")] if waiting.question.call else []
    whole = command("agentforge", "escalations", "show", waiting.id, "--task", state.task_id)
    return [*first, *denied, whole, *leave]


def helpful_answers(state: State, waiting: Escalation) -> list[str]:
    """What to type first, if any answer helps: the recommended one. Where the model cannot be used or got no
    further, another model comes first.
    """
    asked = waiting.question
    another = command("agentforge", "continue", state.task_id, "--model", "PROVIDER:NAME")
    answer = [answer_command(state, waiting)]
    if waiting.kind == "model" and asked.recommendation not in asked.options:
        return [another, *(answer if proposed(asked) else [])]
    if waiting.kind in STUCK and not proposed(asked):
        return [another, *answer]
    return answer if proposed(asked) or not asked.options else []


def _again(state: State) -> str:
    """The same request as a new task."""
    model = ("--model", state.model) if ":" in state.model else ()
    return command("agentforge", "start", " ".join(state.request.split()), *model)


def is_judged(pipeline: Pipeline) -> bool:
    """Whether the last stage of a line judges everything before it, so that its branch may be merged."""
    return "delivery" in pipeline.stages[-1].gates


def proposed(question: Question) -> str:
    """The option to offer first: the recommended one, or the first that the recommendation names. Empty where
    it names none: then it speaks against them all.
    """
    options = [option for option in question.options if option != "abort"]
    said = question.recommendation
    if said in question.options or not options:
        return said if said in question.options else ""
    if not said:
        return options[0]
    words = said.lower()
    return next(
        (each for each in options if re.search(rf"(?<!\w){re.escape(each.lower())}(?!\w)", words)), ""
    )


def answer_command(state: State, escalation: Escalation) -> str:
    """The exact words that answer a question."""
    return command(
        "agentforge",
        "resolve",
        escalation.id,
        "--task",
        state.task_id,
        "--answer",
        brief(proposed(escalation.question)) or "YOUR ANSWER",
    )


def question(state: State, escalation: Escalation) -> str:
    """A question, with what led to it."""
    lines = [
        f"{escalation.id} of {state.task_id} needs your answer ({escalation.kind}, stage {escalation.stage})",
        *(f"  {line}" for line in harmless(escalation.question.text).splitlines()),
    ]
    lines += [f"  option      {brief(option)}" for option in escalation.question.options]
    if escalation.question.call is not None:
        lines.append(f"  always      grants {offered(escalation.question.call)}")
    if escalation.question.recommendation:
        lines.append(f"  recommended {brief(escalation.question.recommendation, 600)}")
    for failed in escalation.reports:
        lines.append(
            f"  attempt {failed.attempt} of {failed.stage}, step {failed.step}: {brief(failed.reason, 400)}"
        )
        lines += [f"    {brief(last)}" for last in failed.last]
    if escalation.answer is not None:
        lines.append(f"  answered by {escalation.by}: {brief(escalation.answer, 600)}")
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
    read = "".join(f"\n  review    {line}" for line in _reviews(report.evidence))
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


def _after_document(state: State, deliverable: Deliverable | None) -> list[str]:
    """What to type after a task that changed nothing."""
    read = [command("cat", deliverable.file)] if deliverable else []
    request = " ".join(state.request.split())
    specified = state.artifact_for("requirements") is not None
    if state.artifact_for("decision") is not None and not specified:  # a question was asked, and answered
        return [*read, command("agentforge", "inspect", state.task_id)]
    if specified or state.pipeline.extends_to:
        after = built_on(state)
    else:
        after = command("agentforge", "design", request)
    return [*read, after, command("agentforge", "inspect", state.task_id)]


def _so_far(report: TaskReport) -> str:
    if report.changes_nothing:
        return f"  branch    none: the pipeline {report.state.pipeline.name} changes no file"
    if report.tip is None:
        return "  branch    none yet: no accepted stage has changed a file"
    last = report.stat.splitlines()[-1].strip() if report.stat else "no change yet"
    return f"  branch    {report.branch} at {report.tip[:12]}, so far: {last}{_kept(report.state)}"


def _kept(state: State) -> str:
    return "".join(f"\n            {line}" for line in kept_branches(state.branches_kept))


def _proof(report: TaskReport) -> str:
    evidence = report.evidence
    if not evidence:
        return "  proof     the evidence cannot be read; `agentforge verify` says why"
    lines = _kind(evidence)
    for item in evidence.get("requirements", []):
        lines.append(f"{item['id']} {brief(str(item.get('description') or ''), 100)}")
        tests = item.get("tests", [])
        lines += [
            f"  {_flip(test)}  {test['id']}{' (guard)' if test['red'] == 'passed' else ''}"
            for test in tests[:TESTS_SHOWN]
        ]
        if len(tests) > TESTS_SHOWN:
            lines.append(f"  and {len(tests) - TESTS_SHOWN} more tests")
    lines += [
        f"not proved by a test: {brief(str(line))}" for line in evidence.get("not_proved_by_test") or []
    ]
    lines += [brief(str(line)) for line in evidence.get("mutants") or []]
    lines += [brief(line, 400) for line in _runs(evidence)]
    lines += [brief(str(line), 200) for line in evidence.get("examined") or []]
    lines += [brief(str(line), 200) for line in evidence.get("integration") or []]
    lines += [
        f"old test dropped: {brief(str(row['id']))} ({row['after']}), for {row['requirement']}: "
        f"{brief(str(row['reason']), 200)}"
        for row in evidence.get("superseded") or []
    ]
    lines += not_judged(report.state.pipeline)
    lines += [f"debate: {line}" for line in debate_lines(evidence)]
    lines += _reviews(evidence)
    lines += _named(evidence)
    if evidence.get("same_author"):
        lines.append("one role wrote both the test and the change")
    lines += [f"assumed: {brief(str(line), 200)}" for line in evidence.get("assumptions") or []]
    for item in evidence.get("not_checked") or []:
        said = (
            str(item) if ": " in str(item) else f"{item}: not run: not configured"
        )  # older evidence: a name
        lines.append(brief(f"not checked: {said}"))
    return "  proof     " + "\n            ".join(lines)


def _flip(test: dict[str, Any]) -> str:
    """What a test did before the change and with it; with no change there is only the first."""
    return str(test["red"]) if test["green"] == "missing" else f"{test['red']} → {test['green']}"


def not_judged(pipeline: Pipeline) -> list[str]:
    """What a task that ends before its delivery leaves open, a line each."""
    if is_judged(pipeline):
        return []
    gates = {gate for stage in pipeline.stages for gate in stage.gates}
    if "green" not in gates:
        return ["not proved yet: no change makes these tests pass; that is what they are for"]
    return (
        [f"not reviewed: the task ends at {pipeline.exit_stage}, before anybody reads the change"]
        if "review" not in gates
        else []
    )


def _kind(evidence: dict[str, Any]) -> list[str]:
    """The kind of proof, first of all; and why less than new behaviour will do, if it is less."""
    found = evidence.get("proved_as") or {}
    if not found:
        return []
    asked = found.get("asked") or {}
    why = (
        f" (the request: {brief(str(asked.get('why') or ''), 120)})"
        if found["kind"] != "new_behaviour"
        else ""
    )
    return [f"proved as {brief(str(found['proved_as']), 300)}{why}"]


def _runs(evidence: dict[str, Any]) -> list[str]:
    """Which runs the verdicts rest on, and which of the plan were left out and why."""
    rows = evidence.get("plan") or []
    made = ", ".join(f"{row['name']} {row['made']}x" for row in rows if row["made"])
    left = [f"not run: {row['name']} ({row['why']})" for row in rows if row["why"]]
    return [f"runs: {made}", *left] if made else []


def _named(evidence: dict[str, Any]) -> list[str]:
    """What the engine named and did not decide, each with what the reviewer ruled on it."""
    found = evidence.get("named") or []
    lines = []
    for item in found[:NAMED_SHOWN]:
        ruled = (
            f" (reviewer: {item['verdict']}, {brief(str(item.get('reason') or ''), 80)})"
            if item.get("verdict")
            else ""
        )
        lines.append(
            f"look at {brief(str(item.get('about')), 120)}: {brief(str(item.get('text')), 200)}{ruled}"
        )
    more = len(found) - NAMED_SHOWN
    return lines + ([f"and {more} more to look at, in the report"] if more > 0 else [])


def _reviews(evidence: dict[str, Any]) -> list[str]:
    """Who read the result and what they said; one line for each panel, or for the one reviewer."""
    lines = []
    panels = evidence.get("panels") or {}
    for stage, panel in panels.items():
        said = ", ".join(f"{reader} {verdict}" for reader, verdict in (panel.get("verdicts") or {}).items())
        lines.append(
            f"panel on {stage}: {said}"
            + (f"; the arbiter decided: {panel['arbiter']}" if panel.get("arbiter") else "")
        )
        lines += [f"  dissent: {brief(str(line))}" for line in panel.get("dissent") or []]
        lines += [f"  note: {brief(str(line))}" for line in panel.get("advisory") or []]
    review = evidence.get("review") or {}
    if review.get("verdict") and not panels:
        findings = len(review.get("findings") or [])
        lines.append(
            f"review: {review['verdict']}, {count(findings, 'finding')}: "
            f"{brief(str(review.get('summary') or ''), 200)}"
        )
    return lines


def debate_lines(evidence: dict[str, Any]) -> list[str]:
    """What was argued about and decided, or why nobody argued; a line for each debate."""
    lines = []
    for debate in (evidence.get("debates") or {}).values():
        if not debate.get("held"):
            lines.append(f"none was held: {brief(str(debate.get('why') or ''), 200)}")
            continue
        others = [str(name) for name in debate.get("options") or [] if name != debate.get("option")]
        over = f", not {', '.join(others)}" if others else ""
        chosen = brief(f"{debate.get('option')}{over}", 200)
        lines.append(f"{chosen}: {brief(str(debate.get('decision') or ''), 200)}")
    return lines


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
