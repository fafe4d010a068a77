"""How the document workflow is shown: what a command did, where the workflow is, and what a debate lacks."""

from collections.abc import Mapping

from agentforge.app.workflow.building import PlanBuild
from agentforge.app.workflow.criteria import SwitchCheck, WatchEnd
from agentforge.app.workflow.log import LoggedFiles
from agentforge.app.workflow.phasing import DebateVerdict, PhaseResult, Standing, WorkflowStatus
from agentforge.core.reply import Json
from agentforge.surfaces.cli.printing import table

STATUS_CODES: Mapping[Standing, int] = {"complete": 0, "in_progress": 1, "blocked": 2, "broken": 3, "none": 3}
"""As scripts of the wild read them."""

_FILES = ("debate-plan.md", "advocate.md", "skeptic.md", "operator.md", "synthesis.md")


def result_page(result: PhaseResult) -> str:
    """What a command did, what is waited for, and the next step."""
    done, state = result.advance, result.state
    opening = {
        "started": f"{state.workflow_id} has begun: {state.objective}",
        "entered": f"{state.phase} has begun.",
        "planned_debate": f"The plan of the debate {state.debate_id} is written; {state.phase} waits for it.",
        "waits_for_debate": f"{state.phase} waits for the debate {state.debate_id}.",
        "waits_for_work": f"{state.phase} is not complete.",
        "completed": f"{state.phase} is completed.",
        "nothing": f"{state.workflow_id} is in {state.phase} ({state.phase_status.replace('_', ' ')}).",
    }[done.action]
    if state.is_complete:
        opening = f"{state.workflow_id} is complete: {state.objective}"
    lines = [opening]
    if done.action == "planned_debate" and done.why:
        lines.append(f"A debate is due: {done.why}.")
    lines += [f"  {line}" for line in done.shown]
    if done.waiting and done.action != "entered":
        lines += ["", "Missing:", *(f"  {reason}" for reason in done.waiting)]
    if result.notes:
        lines += ["", *(f"note: {note}" for note in result.notes)]
    if result.written:
        lines += ["", "Written:", *(f"  {path}" for path in result.written)]
    lines += ["", _next_step(result)]
    return "\n".join(lines)


def _next_step(result: PhaseResult) -> str:
    done, state = result.advance, result.state
    if state.is_complete:
        return 'Another one begins with `agentforge phase start "objective"`.'
    if state.phase_status == "completed":
        return f"`agentforge phase continue` enters {state.next_phase}."
    if state.phase_status == "blocked":
        folder = f"docs/forge/debate/{state.debate_id}"
        return (
            f"Have the role files written in {folder}, or let your own models argue with "
            "`agentforge phase debate --run`. Then run `agentforge phase continue`."
        )
    if done.action == "waits_for_work":
        return "Write what is missing, then run `agentforge phase continue`."
    return f"Fill in docs/forge/phases/{state.phase}.md, then run `agentforge phase continue`."


def result_record(result: PhaseResult) -> dict[str, Json]:
    """The same as `--json` prints it."""
    return {
        "action": result.advance.action,
        "why": result.advance.why or None,
        "state": result.state.record(),
        "waiting": list(result.advance.waiting),
        "shown": list(result.advance.shown),
        "notes": list(result.notes),
        "written": list(result.written),
    }


def status_page(found: WorkflowStatus) -> str:
    """Where a workflow is."""
    state = found.state
    if state is None:
        return found.problem
    rows = [
        ("workflow", state.workflow_id),
        ("objective", state.objective),
        ("phase", f"{state.phase} ({state.phase_status.replace('_', ' ')})"),
        ("completed", ", ".join(state.completed_phases) or "none"),
        ("next", state.next_phase or "none"),
    ]
    if found.debate is not None:
        gate = "passed" if found.debate.complete else "blocked"
        rows.append(("debate", f"{state.debate_id} ({found.debate.status}, gate {gate})"))
    rows += [("decision", each) for each in found.decisions]
    rows += [("override", each) for each in state.overrides]
    width = max(len(name) for name, _ in rows) + 2
    lines = [f"{name.ljust(width)}{value}" for name, value in rows]
    if found.problem:
        lines += ["", found.problem]
    if found.waiting:
        lines += ["", "Missing:", *(f"  {reason}" for reason in found.waiting)]
    return "\n".join(lines)


def debate_page(name: str, verdict: DebateVerdict) -> str:
    """What a debate has and what it lacks."""
    missing = "missing, or too short"
    rows = [(file, missing if file in verdict.missing else "there") for file in _FILES]
    count = sum(1 for _, word in rows if word == "there")
    word = "COMPLETE" if verdict.complete else "INCOMPLETE"
    lines = [f"{name}: {word}, {count}/5 files, gate {'PASSED' if verdict.complete else 'BLOCKED'}", ""]
    lines.append(table(("file", "state"), rows))
    if verdict.reasons:
        lines += ["", *verdict.reasons]
    if verdict.warnings:
        lines += ["", *(f"warning: {each}" for each in verdict.warnings)]
    if verdict.complete:
        lines += ["", f"Decided: {verdict.synthesis.option}"]
    return "\n".join(lines)


def build_page(found: PlanBuild) -> str:
    """What became of each item of the plan, and where the workflow is."""
    rows = [(item.id, item.status or "open", item.branch or item.task, item.words) for item in found.items]
    lines = [table(("item", "status", "branch or task", "what"), rows), ""]
    if found.end == "waiting":
        lines += [
            f"{found.stopped_at} waits for an answer: `agentforge inbox`, then `agentforge phase build`."
        ]
        return "\n".join(lines)
    if found.end == "failed":
        how = f"`agentforge status {found.stopped_at}` says why; `agentforge phase build` tries again."
        return "\n".join([*lines, f"{found.stopped_at} delivered nothing. {how}"])
    return "\n".join([*lines, result_page(found.result)])


def build_record(found: PlanBuild) -> dict[str, Json]:
    """The same as `--json` prints it."""
    items: list[Json] = [
        {
            "item": item.id,
            "words": item.words,
            "task": item.task or None,
            "branch": item.branch or None,
            "status": item.status or None,
            "evidence": item.evidence or None,
        }
        for item in found.items
    ]
    stopped: dict[str, Json] = {"end": found.end, "stopped_at": found.stopped_at or None}
    return {"items": items, **stopped, **result_record(found.result)}


def log_page(found: LoggedFiles) -> str:
    """What each command changed, and what was changed since."""
    if not found.log.lines and not found.log.broken:
        return "Nothing is logged here yet."
    rows = [
        (line.at, line.command, line.did.replace("_", " "), line.phase, str(len(line.files)), line.why)
        for line in found.log.lines
    ]
    lines = [table(("at", "command", "did", "phase", "files", "why"), rows)]
    if found.changed:
        lines += ["", "Changed since, by somebody else:", *(f"  {path}" for path in found.changed)]
    if found.gone:
        lines += ["", "Gone since:", *(f"  {path}" for path in found.gone)]
    if found.log.broken:
        lines += ["", f"This log was changed: {found.log.broken}."]
    return "\n".join(lines)


def log_record(found: LoggedFiles) -> dict[str, Json]:
    """The same as `--json` prints it."""
    return {
        "lines": [line.record() for line in found.log.lines],
        "broken": found.log.broken or None,
        "changed": list(found.changed),
        "gone": list(found.gone),
    }


_ENDS: Mapping[WatchEnd, str] = {
    "fired": "CAME TRUE",
    "holds": "not yet",
    "not_run": "could not be checked",
    "person": "for a person",
}


def switches_page(found: SwitchCheck) -> str:
    """Every criterion with how it stands, and what was reopened."""
    if not found.switches:
        return "No decision in force has a criterion to abort."
    rows = []
    for each in found.switches:
        switch = each.watch.switch
        words = f"{switch.condition}: {switch.threshold}".rstrip(": ")
        rows.append((each.decision, words, _ENDS[each.end], each.detail or switch.detection))
    lines = [table(("decision", "criterion", "status", "detail"), rows)]
    lines += [
        f"Fallback of “{each.watch.switch.condition}”: {each.watch.switch.fallback}"
        for each in found.fired
        if each.watch.switch.fallback
    ]
    if found.reopened is not None and found.reopened.advance.action == "planned_debate":
        lines += ["", result_page(found.reopened)]
    if found.problem:
        lines += ["", found.problem]
    return "\n".join(lines)


def switches_record(found: SwitchCheck) -> dict[str, Json]:
    """The same as `--json` prints it."""
    reopened = found.reopened.state.debate_id if found.reopened is not None else None
    return {
        "switches": [each.record() for each in found.switches],
        "fired": len(found.fired),
        "reopened": reopened,
        "problem": found.problem or None,
    }
