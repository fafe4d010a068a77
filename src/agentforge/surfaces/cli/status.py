"""`status`: the tasks of a repository, or one of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.core.reply import Json
    from agentforge.core.state import State
    from agentforge.store.index import Row
    from agentforge.store.layout import TaskFiles
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
    from agentforge.store.index import Index
    from agentforge.surfaces.cli.printing import print_json, table

    for name in site.restore_archived():
        click.echo(f"restored from git: {name}", err=True)
    with Index(site.home.index, lambda text: click.echo(text, err=True)) as index:
        rows = index.rows(site.git.top)
    if as_data:
        print_json([_data(site, row) for row in rows])
    elif not rows:
        click.echo('There is no task in this repository yet. Start one with `agentforge start "…"`.')
    else:
        header = ("task", "status", "state", "lane", "stage", "step", "tokens", "cost", "request")
        click.echo(table(header, [_cells(row) for row in rows], right=frozenset({"step", "tokens", "cost"})))
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


def _engine(site: "Site", files: "TaskFiles", state: "State") -> "dict[str, Json]":
    """Who drives it, where, and, if a server has to do with it, what holds it up. A task that is over needs no server."""
    from agentforge.core.state import TERMINAL
    from agentforge.store.engine import read_engine

    driven = read_engine(files)
    says: list[Json] = []
    if driven.engine == "temporal" and state.status not in TERMINAL:
        from agentforge.surfaces.cli.remote import standing

        says += [line.strip() for line in standing(site, files)[1:]]
    return {"engine": driven.engine, "host": driven.host or None, "engine_says": says}


def _cells(row: "Row") -> tuple[str, ...]:
    from agentforge.surfaces.cli.words import money, one_line

    counts = (str(row.step), f"{row.tokens:,}", money(row.micro_usd))
    return (row.task_id, row.status, row.word, row.lane or "-", row.stage or "-", *counts, one_line(row.request, 60))


def _one(site: "Site", task: str, *, as_data: bool) -> int:
    from agentforge.store.engine import read_engine
    from agentforge.store.views import state_view
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.surfaces.cli.report import stand
    from agentforge.surfaces.cli.task_page import page

    files = site.find(task)
    journal = site.read(files)
    if as_data:
        view = state_view(files, journal.state, journal.head, journal.length, journal.times)
        print_json({**view, **_engine(site, files, journal.state)})
    else:
        click.echo(page(stand(site.git, files, journal.state), files, journal.times))
        if read_engine(files).engine == "temporal":
            from agentforge.surfaces.cli.remote import standing

            click.echo("\n".join(standing(site, files)))
    return 0
