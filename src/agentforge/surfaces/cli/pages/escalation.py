"""One question on one page: what is asked, the plan so far, what was tried, what is understood, and what to
type.
"""

from collections.abc import Iterator

from agentforge.app.people.offers import offered
from agentforge.app.record.reports import TaskReport
from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.store.layout import TaskFiles
from agentforge.store.task.times import Times
from agentforge.store.task.views import asking, plan, reports, specification
from agentforge.surfaces.cli.pages.answers import helpful_answers
from agentforge.surfaces.cli.pages.task import stage_rows
from agentforge.surfaces.cli.pages.words import allowance, command
from agentforge.system.visible import brief, harmless

_LABEL = 14


def escalation_page(report: TaskReport, files: TaskFiles, times: Times, escalation: Escalation) -> str:
    """The page, as text; `.agentforge/escalations` holds the same fields as YAML."""
    state = report.state
    opened = dict(times.opened).get(escalation.id, "")
    waits = "needs your answer" if escalation.answer is None else "is answered"
    pipeline = state.pipeline
    parts = [
        (
            f"{escalation.id} of {state.task_id} {waits} ({escalation.kind}, stage "
            f"{escalation.stage}){f', asked {opened}' if opened else ''}"
        ),
        *_section("Question", _question(escalation)),
        *_section(
            f"Plan so far: {pipeline.name}, lane {pipeline.lane}, mode {pipeline.mode}",
            stage_rows(state, plan(state)),
        ),
        *_section("What was tried", _tried(state, escalation)),
        *_section("What AgentForge understands", _understood(files, state, escalation)),
        *_section("Branch so far", [_branch(report)]),
        *_section(
            "What you can type" if escalation.answer is None else "Answer", _answers(state, escalation)
        ),
    ]
    return "\n".join(parts)


def _section(title: str, lines: "Iterator[str] | list[str]") -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)]


def _question(escalation: Escalation) -> Iterator[str]:
    yield from harmless(escalation.question.text).splitlines()
    for option in escalation.question.options:
        yield _row("option", option)
    if escalation.question.call is not None:
        yield _row("always", f"grants {offered(escalation.question.call)}")
    if escalation.question.recommendation:
        yield _row("recommended", escalation.question.recommendation)


def _tried(state: State, escalation: Escalation) -> Iterator[str]:
    found = reports(state, escalation)
    for failed in found:
        yield (f"attempt {failed.attempt} of {failed.stage}, step {failed.step}: {brief(failed.reason, 600)}")
        yield from (f"  {brief(line, 300)}" for line in failed.last)
    if not found:
        yield "no attempt at this stage has failed"
    run = asking(state, escalation)
    known = {line for report in found for line in report.last}
    yield from (
        _row("did not work", line)
        for line in (run.tried[-6:] if run is not None else ())
        if line not in known
    )


def _understood(files: TaskFiles, state: State, escalation: Escalation) -> Iterator[str]:
    yield _row("request", state.request)
    for reason in state.triage:
        yield _row("why this way", reason)
    for reason in state.risen:
        yield _row("lane rose", reason)
    agreed = specification(files, state)
    yield _row("specification", str(agreed["title"]) if agreed else "none accepted yet")
    wanted = agreed.get("requirements")
    yield from (_row("", str(item)) for item in (wanted if isinstance(wanted, list) else []))
    yield _row("baseline", state.baseline.summary if state.baseline else "not run yet")
    run = asking(state, escalation)
    if run is not None and run.check is not None:
        yield _row("last check", run.check.summary)
    told = run.feedback if run is not None else ()
    known = {line for report in reports(state, escalation) for line in report.last}
    yield from (_row("told last", line) for line in told if line not in known)
    yield from (_row("finding", line) for line in state.findings if line not in told)
    yield from (
        _row("revised", f"{stage}, {times} times" if times > 1 else f"{stage}, once")
        for stage, times in state.revised
    )
    yield from (_row("undone", line) for line in state.reverts)
    yield from (_row("your commit", commit[:12]) for commit in state.human_commits)
    if state.facts:
        yield _row("facts", ", ".join(state.facts))
    yield _row("budget", allowance(state))


def _branch(report: TaskReport) -> str:
    state = report.state
    if report.tip is None:
        return "none yet: no accepted stage has changed a file"
    last = report.stat.splitlines()[-1].strip() if report.stat else "no change yet"
    return f"{report.branch} at {report.tip[:12]}, from {state.base_commit[:12]}: {last}"


def _answers(state: State, escalation: Escalation) -> list[str]:
    if escalation.answer is not None:
        return [f"{brief(escalation.answer, 600)} (by {escalation.by})"]
    base = ("agentforge", "resolve", escalation.id, "--task", state.task_id)
    options = [
        command(*base, "--answer", brief(option))
        for option in escalation.question.options
        if option != "abort"
    ]
    return list(dict.fromkeys([*helpful_answers(state, escalation), *options, command(*base, "--abort")]))


def _row(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{brief(text, 600)}"
