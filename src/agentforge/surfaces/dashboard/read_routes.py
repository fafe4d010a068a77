"""What can be read: the same documents that the commands print with `--json`."""

from dataclasses import asdict, replace
from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response

from agentforge import __version__
from agentforge.core.machine import TERMINAL
from agentforge.store.task.lines import spell_document
from agentforge.surfaces.dashboard.parts import Known, Repo, StepNumber, TaskName
from agentforge.surfaces.dashboard.reader import counts, mark_of
from agentforge.surfaces.dashboard.replies import ERRORS, reply

_RECENT = 12
_MOST_SHOWN = 200

router = APIRouter(prefix="/api", responses=ERRORS, default_response_class=JSONResponse)


@router.get("/status")
def status(reader: Known) -> Response:
    """The board: what runs, what waits for somebody, and what ended last."""
    rows = reader.rows()
    active = [
        row for row in rows if row.status not in TERMINAL and row.status not in ("blocked", "unreadable")
    ]
    waiting = [row for row in rows if row.status == "blocked"]
    ended = [row for row in rows if row.status in TERMINAL or row.status == "unreadable"][:_RECENT]
    return reply(
        {
            "version": __version__,
            "counts": counts(rows),
            "total": len(rows),
            "active": reader.summaries(active[:_MOST_SHOWN]),
            "attention": reader.summaries(waiting[:_MOST_SHOWN]),
            "recent": reader.summaries(ended),
            "mark": max(map(mark_of, rows), default=0),
        }
    )


@router.get("/tasks")
def tasks(
    reader: Known,
    state: Annotated[str | None, Query(max_length=40)] = None,
    repo: Repo = None,
    query: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """The tasks of all repositories, newest first."""
    wanted, rows = query.casefold(), reader.rows()
    found = [
        row
        for row in rows
        if state in (None, row.word)
        and repo in (None, row.repo)
        and (not wanted or wanted in f"{row.task_id} {row.request}".casefold())
    ]
    end = offset + limit
    return reply(
        {
            "tasks": reader.summaries(found[offset:end]),
            "total": len(found),
            "next": end if end < len(found) else None,
            "counts": counts(rows),
        }
    )


@router.get("/tasks/{task_id}")
def task(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """One task, as `agentforge status TASK --json` prints it."""
    from agentforge.app.drivers.driver_words import last_words
    from agentforge.app.record.document import task_document

    with reader.reading(task_id, repo) as found:
        document = task_document(found)
        stopped = document["stopped"]
        said = last_words(reader.home, found.site.git.top, found.task_id) if stopped else ""
        return reply({**document, "offset": found.journal.size, "driver_said": said or None})


@router.get("/tasks/{task_id}/phases/{phase}")
def phase(
    reader: Known, task_id: TaskName, phase: Annotated[str, Path(max_length=80)], repo: Repo = None
) -> Response:
    """One phase: what it must meet to end, what it touched, and its last steps."""
    from agentforge.app.record.details import phase_detail

    with reader.reading(task_id, repo) as found:
        return reply(phase_detail(found, phase))


@router.get("/tasks/{task_id}/steps")
def steps(
    reader: Known,
    task_id: TaskName,
    repo: Repo = None,
    before: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
) -> Response:
    """The steps, newest first, as `agentforge inspect TASK --json` prints them."""
    from agentforge.app.record.listed import is_left
    from agentforge.app.record.steps import mark_interrupted, step_fields

    with reader.reading(task_id, repo) as found:
        known = reader.steps(found)
        if is_left(found.files, found.state.status):
            known = [replace(step) for step in known]
            mark_interrupted(known)
    older = [step for step in reversed(known) if before is None or step.number < before]
    return reply(
        {
            "steps": [step_fields(step) for step in older[:limit]],
            "total": len(known),
            "more": len(older) > limit,
        }
    )


@router.get("/tasks/{task_id}/steps/{step}")
def step(reader: Known, task_id: TaskName, step: StepNumber, repo: Repo = None) -> Response:
    """One step: what the model saw block by block, what it said, and what came of it."""
    from agentforge.app.record.contexts import context_fields, recorded_context
    from agentforge.app.record.details import step_detail
    from agentforge.app.record.steps import pick, read_verdicts

    with reader.reading(task_id, repo) as found:
        detail = step_detail(found, step)
        known = pick(reader.steps(found), step, found.task_id)
        sent = context_fields(recorded_context(found.files, step), whole=True) if known.context else None
        verdicts = read_verdicts(found.files, known)
    return reply({**detail, "context": sent, "verdicts": verdicts, "feedback": [*known.feedback]})


@router.get("/tasks/{task_id}/diff")
def diff(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """What the task has changed so far, as `agentforge diff TASK --json` prints it."""
    from agentforge.app.record.diffs import diff_fields

    with reader.reading(task_id, repo) as found:
        if not found.state.tree or found.state.tree == found.state.base_tree:
            return reply({"task_id": found.task_id, "files": [], "diff": ""})
        return reply(diff_fields(found, stat=False))


@router.get("/tasks/{task_id}/evidence")
def evidence(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """What is proved, requirement by requirement, and what is not."""
    from agentforge.app.evidence.proof_report import proof_report

    with reader.reading(task_id, repo) as found:
        if found.state.delivered is None:
            return reply({"task_id": found.task_id, "delivered": False})
        return reply({"delivered": True, **asdict(proof_report(found))})


@router.get("/tasks/{task_id}/escalations")
def escalations(reader: Known, task_id: TaskName, repo: Repo = None) -> Response:
    """The questions of a task, as `agentforge inbox --json` prints them, and what they are about."""
    from agentforge.app.people.inbox import record_fields, record_of
    from agentforge.app.people.offers import offered
    from agentforge.app.people.presented import document_of, presented
    from agentforge.app.people.questions import AskedQuestion
    from agentforge.system.visible import command_line

    with reader.reading(task_id, repo) as found:
        records: list[dict[str, Any]] = []
        for asked in found.state.escalations:
            fields = record_fields(record_of(AskedQuestion(found, asked)))
            call = asked.question.call
            fields["command"] = command_line(call.command) if call and call.command else None
            fields["always_grants"] = offered(call) if call else None
            records.append(fields)
        shown = presented(found.state)
        versions = [
            {
                "file": f"{ref.contract}_v{ref.version}.yaml",
                "contract": ref.contract,
                "version": ref.version,
                "text": spell_document(document_of(found, ref)).decode(),
            }
            for ref in (shown.shown if shown else ())
        ]
    return reply({"escalations": records, "presented": versions})


@router.get("/tasks/{task_id}/audit")
def audit(
    reader: Known,
    task_id: TaskName,
    repo: Repo = None,
    kind: Annotated[Literal["html", "md", "json"], Query()] = "html",
) -> Response:
    """The report of `agentforge audit TASK`, to be kept."""
    from agentforge.surfaces.dashboard.replies import report_of

    where, name = reader.find(task_id, repo)
    return report_of(where, name, kind)


@router.get("/metrics")
def metrics(
    reader: Known,
    since: Annotated[date | None, Query()] = None,
    by: Annotated[Literal["repo", "lane", "model", "week"] | None, Query()] = None,
) -> Response:
    """How well tasks go, as `agentforge metrics --json` prints it, with the words of each figure."""
    from agentforge.app.evidence.metrics import FIGURES, measure, metrics_fields

    found = metrics_fields(measure(reader.home, since.isoformat() if since else "", by))
    words = {name: {"words": figure.words, "is_share": figure.is_share} for name, figure in FIGURES.items()}
    return reply({**found, "figures": words})


@router.get("/repositories")
def repositories(reader: Known) -> Response:
    """Where a task can be started, first where the server is."""
    from pathlib import Path as FilePath

    from agentforge.store.user.repositories import names_by_path

    names = names_by_path(reader.home)
    paths = reader.repositories()
    return reply({"repositories": [{"path": at, "name": names.get(at, FilePath(at).name)} for at in paths]})
