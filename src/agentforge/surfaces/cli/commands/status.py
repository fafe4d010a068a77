"""`status`: the tasks of a repository, or one of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.core.reply import Json
    from agentforge.store.index import Row
    from agentforge.store.site import Site


@click.command(
    epilog="""\b
Examples:
  agentforge status
  agentforge status task-20300131-add-a-version-flag
  agentforge status --json"""
)
@click.argument("task", required=False)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def status(*, task: str | None, as_data: bool) -> int:
    """List the tasks of this repository, newest first, or show TASK."""
    from agentforge.store.site import Site

    site = Site.open(Path.cwd())
    return _one(site, task, as_data=as_data) if task else _all(site, as_data=as_data)


def _all(site: "Site", *, as_data: bool) -> int:
    from agentforge.app.engine_view import find_lost
    from agentforge.store.index import Index
    from agentforge.surfaces.cli.printing import print_json, table

    for name in site.restore_archived():
        click.echo(f"restored from git: {name}", err=True)
    with Index(site.home.index, lambda text: click.echo(text, err=True)) as index:
        rows = index.rows(site.git.top)
    lost = find_lost(site, rows)
    if as_data:
        names = {item.files.task_id for item in lost.found}
        print_json(
            [
                {**_data(site, row), "host_lost": row.task_id in names if row.task_id in lost.asked else None}
                for row in rows
            ]
        )
    elif not rows:
        click.echo('There is no task in this repository yet. Start one with `agentforge start "…"`.')
    else:
        header = ("task", "status", "state", "lane", "stage", "step", "tokens", "cost", "request")
        click.echo(table(header, [_cells(row) for row in rows], right=frozenset({"step", "tokens", "cost"})))
        for item in lost.found:
            click.echo(f"{item.files.task_id} waits for you. {item.holdup.text}")
    if lost.note:
        click.echo(lost.note, err=True)
    return 0


def _data(site: "Site", row: "Row") -> "dict[str, Json]":
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
        "engine": _engine_name(site, row),
    }


def _engine_name(site: "Site", row: "Row") -> str | None:
    """Who drives it; None where that cannot be read, as little as the task."""
    from agentforge.core.errors import UserError
    from agentforge.store.engine import read_engine

    try:
        return read_engine(site.project.task(row.task_id)).engine
    except UserError:
        return None


def _cells(row: "Row") -> tuple[str, ...]:
    from agentforge.surfaces.cli.pages.words import money
    from agentforge.system.visible import one_line

    counts = (str(row.step), f"{row.tokens:,}", money(row.micro_usd))
    return (
        row.task_id,
        row.status,
        row.word,
        row.lane or "-",
        row.stage or "-",
        *counts,
        one_line(row.request, 60),
    )


def _one(site: "Site", task: str, *, as_data: bool) -> int:
    from agentforge.app.engine_view import engine_says
    from agentforge.store.views import state_view
    from agentforge.surfaces.cli.pages.report import stand
    from agentforge.surfaces.cli.pages.task import page
    from agentforge.surfaces.cli.printing import print_json

    files = site.find(task)
    journal = site.read(files)
    said = engine_says(site, journal)
    if as_data:
        view = state_view(files, journal.state, journal.head, journal.length, journal.times)
        print_json({**view, **said.fields()})
    else:
        click.echo(
            "\n".join([page(stand(site.git, files, journal.state), files, journal.times), *said.text()])
        )
    return 0
