"""`status`: the tasks of a repository, or one of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.tasks import OpenTask
    from agentforge.core.reply import Json
    from agentforge.store.site import Site
    from agentforge.store.user.index import TaskRow


_WIDE = ("", "task", "status", "state", "lane", "stage", "step", "tokens", "cost", "request")
_NARROW = ("", "state", "stage", "cost", "request")
"""What fits 80 columns: a task goes by its place there, and every command takes that."""
_WIDE_FROM = 140


@click.command(
    epilog="""\b
Examples:
  agentforge status
  agentforge status @1
  agentforge status task-20300131-add-a-version-flag
  agentforge status --json"""
)
@task_argument
@json_option
def status(*, task: str | None, as_data: bool) -> int:
    """List the tasks of this repository, newest first, or show TASK."""
    from agentforge.app.tasks import open_task
    from agentforge.store.site import Site

    here = Path.cwd()
    if task:
        return _show_one(open_task(here, task), as_data=as_data)
    return _show_all(Site.open(here), as_data=as_data)


def _show_all(site: "Site", *, as_data: bool) -> int:
    from agentforge.app.task_list import is_stopped, list_tasks
    from agentforge.surfaces.cli.printing import print_json, screen_width, table

    found = list_tasks(site, lambda text: say(text, err=True))
    for name in found.restored:
        say(f"restored from git: {name}", err=True)
    lost = found.lost
    if as_data:
        names = {item.task.task_id for item in lost.found}
        print_json(
            [
                {**_data(site, row), "host_lost": row.task_id in names if row.task_id in lost.asked else None}
                for row in found.rows
            ]
        )
    elif not found.rows:
        say('No tasks in this repository yet. Start one with `agentforge start "…"`.')
    else:
        header = _WIDE if screen_width(or_else=_WIDE_FROM) >= _WIDE_FROM else _NARROW
        rows = [
            _cells(place, row, header, stopped=is_stopped(site, row.task_id, row.status))
            for place, row in enumerate(found.rows, 1)
        ]
        say(table(header, rows, right=frozenset({"step", "tokens", "cost"})))
        for item in lost.found:
            say(f"{item.task.task_id} needs your decision. {item.holdup.text}")
    if lost.note:
        say(lost.note, err=True)
    return 0


def _data(site: "Site", row: "TaskRow") -> "dict[str, Json]":
    from agentforge.app.task_list import engine_name, is_stopped

    return {
        "task_id": row.task_id,
        "status": row.status,
        "state": row.word,
        "lane": row.lane or None,
        "stage": row.stage or None,
        "step": row.step,
        "tokens": row.tokens,
        "micro_usd": row.micro_usd,
        "request": row.request,
        "updated_at": row.updated,
        "engine": engine_name(site, row),
        "stopped": is_stopped(site, row.task_id, row.status),
    }


def _cells(place: int, row: "TaskRow", header: tuple[str, ...], *, stopped: bool) -> tuple[str, ...]:
    from agentforge.surfaces.cli.pages.words import money
    from agentforge.system.visible import brief

    spelled = {
        "": f"@{place}",
        "task": row.task_id,
        "status": row.status,
        "state": "stopped" if stopped else row.word,
        "lane": row.lane or "-",
        "stage": row.stage or "-",
        "step": str(row.step),
        "tokens": f"{row.tokens:,}",
        "cost": money(row.micro_usd),
        "request": brief(row.request, 60),
    }
    return tuple(spelled[name] for name in header)


def _show_one(task: "OpenTask", *, as_data: bool) -> int:
    from agentforge.app.engine_view import engine_view
    from agentforge.app.reports import report
    from agentforge.app.task_list import is_stopped
    from agentforge.store.task.views import state_view
    from agentforge.surfaces.cli.pages.engine import engine_fields, engine_lines
    from agentforge.surfaces.cli.pages.task import page
    from agentforge.surfaces.cli.printing import print_json

    journal, engine = task.journal, engine_view(task)
    stopped = is_stopped(task.site, task.task_id, task.state.status)
    if as_data:
        view = state_view(task.files, journal.state, journal.head, journal.length, journal.times)
        print_json({**view, **engine_fields(engine), "stopped": stopped})
    else:
        say("\n".join([page(report(task), task.files, journal.times), *engine_lines(engine)]))
        if stopped:
            say(f"stopped: no process is running it; `agentforge continue {task.task_id}` resumes it")
    return 0
