"""`status`: the tasks of a repository or of all, at a glance or as they go; or one of them, as deep as one
likes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.record.open_tasks import OpenTask
    from agentforge.store.task.moments import Summary

_EVERY_S = 2.0
_QUIET_S = 6.0
"""How often a watched list is looked at: while tasks move, and while none does, which costs nothing."""


@click.command(
    epilog="""\b
Examples:
  agentforge status
  agentforge status --all --watch
  agentforge status @1 --detail
  agentforge status @1 --phase green
  agentforge status @1 --step 3
  agentforge status --json

In a pipe there is one line for each task."""
)
@task_argument
@click.option("--all", "everywhere", is_flag=True, help="The tasks of all repositories.")
@click.option("--watch", is_flag=True, help="Keep the list up to date until Ctrl-C.")
@click.option("--detail", is_flag=True, help="With TASK: its progress, steps and files too.")
@click.option("--phase", help="With TASK: one of its phases.")
@click.option(
    "--step", "number", type=click.IntRange(min=1), help="With TASK: one of its steps, with its context."
)
@repo_option
@json_option
def status(  # noqa: PLR0913 - the options of the seed
    *,
    task: str | None,
    everywhere: bool,
    watch: bool,
    detail: bool,
    phase: str | None,
    number: int | None,
    as_data: bool,
) -> int:
    """List the tasks of this repository, newest first, or show TASK."""
    if task is None and (detail or phase or number):
        raise click.UsageError("--detail, --phase and --step need a TASK; `@1` is the newest one.")
    if task is not None and (everywhere or watch):
        raise click.UsageError(f"--all and --watch list tasks; `agentforge logs {task} -f` follows one.")
    if task is not None:
        from agentforge.app.record.open_tasks import open_task

        found = open_task(here(), task)
        if phase or number:
            return _show_part(found, phase, number, as_data=as_data)
        return _show_one(found, detail=detail, as_data=as_data)
    if watch and not as_data:
        return _watch(everywhere=everywhere)
    return _show_list(everywhere=everywhere, as_data=as_data)


def _show_list(*, everywhere: bool, as_data: bool) -> int:
    from agentforge.store.task.moments import utc_now
    from agentforge.surfaces.cli.pages.board import NARROWEST, board, pipe_lines
    from agentforge.surfaces.cli.printing import draw, on_terminal, print_json, say_recorded, screen_width

    if everywhere:
        summaries, lost = _everywhere(), None
        for sentence in _missing_repositories():
            say(sentence, err=True)
    else:
        from agentforge.app.record.of_repository import list_tasks
        from agentforge.app.record.rows import summaries_of
        from agentforge.store.site import Site

        site = Site.open(here())
        found = list_tasks(site, lambda text: say(text, err=True))
        for name in found.restored:
            say(f"restored from git: {name}", err=True)
        summaries, lost = summaries_of(site.home, found.rows), found.lost
    if as_data:
        names = {item.task.task_id for item in lost.found} if lost else set()
        asked = lost.asked if lost else frozenset[str]()
        print_json(
            [
                {**item, "host_lost": item["task_id"] in names if item["task_id"] in asked else None}
                for item in summaries
            ]
        )
    elif not summaries:
        where = "on this machine" if everywhere else "in this repository"
        say(f'No tasks {where} yet. Start one with `agentforge start "…"`.')
    elif on_terminal() and screen_width(or_else=80) >= NARROWEST:
        draw(board(summaries, utc_now(), screen_width(or_else=80)))
    else:
        say_recorded("\n".join(pipe_lines(summaries, utc_now())))
    for item in lost.found if lost and not as_data else ():
        say(f"{item.task.task_id} needs your decision. {item.holdup.text}")
    if lost and lost.note:
        say(lost.note, err=True)
    return 0


def _everywhere() -> "list[Summary]":
    from agentforge.app.record.rows import list_all_tasks, summaries_of
    from agentforge.store.home import home_path
    from agentforge.store.layout import Home

    home = Home(home_path())
    return summaries_of(home, list_all_tasks(home, lambda text: say(text, err=True)))


def _missing_repositories() -> list[str]:
    from agentforge.app.record.rows import are_all_there
    from agentforge.store.home import home_path
    from agentforge.store.layout import Home

    home = Home(home_path())
    if are_all_there(home):
        return []
    from agentforge.app.setup.repositories import lost_repositories

    return lost_repositories(home)


def _here() -> "list[Summary]":
    from agentforge.app.record.rows import summaries_of
    from agentforge.store.site import Site
    from agentforge.store.user.index import Index

    site = Site.open(here())
    with Index(site.home.task_index, lambda _: None) as index:
        return summaries_of(site.home, index.rows(site.git.top))


def _watch(*, everywhere: bool) -> int:
    import time

    from agentforge.store.task.moments import utc_now
    from agentforge.surfaces.cli.pages.board import board, pipe_lines
    from agentforge.surfaces.cli.printing import draw_again, on_terminal

    list_now: Callable[[], list[Summary]] = _everywhere if everywhere else _here
    seen: list[tuple[str, str, bool]] = []
    pause = _EVERY_S

    def look() -> "list[Summary]":
        nonlocal seen, pause
        found = list_now()
        now = [(item["task_id"], item["timing"]["last_activity"], item["stopped"]) for item in found]
        pause = _QUIET_S if now == seen else _EVERY_S
        seen = now
        return found

    def wait() -> bool:
        time.sleep(pause)
        return True

    try:
        if on_terminal():
            draw_again(lambda width: board(look(), utc_now(), width), wait)
        said: dict[str, str] = {}
        while wait():  # a pipe gets a line for each task that has moved
            summaries = look()
            for summary, line in zip(summaries, pipe_lines(summaries, utc_now()), strict=True):
                moved = f"{summary['timing']['last_activity']} {summary['stopped']}"
                if said.get(summary["task_id"]) != moved:
                    said[summary["task_id"]] = moved
                    say(line)
    except KeyboardInterrupt:
        return 0
    return 0


def _show_part(task: "OpenTask", phase: str | None, number: int | None, *, as_data: bool) -> int:
    from agentforge.app.record.details import phase_detail, step_detail
    from agentforge.surfaces.cli.pages.details import phase_lines, step_lines
    from agentforge.surfaces.cli.printing import print_json

    if phase and number:
        raise click.UsageError("Give either --phase or --step.")
    if phase:
        found = phase_detail(task, phase)
        lines = [] if as_data else phase_lines(found)
    else:
        assert number is not None
        found = step_detail(task, number)
        lines = [] if as_data else step_lines(found)
    if as_data:
        print_json(found)
    else:
        say("\n".join(lines))
    return 0


def _show_one(task: "OpenTask", *, detail: bool, as_data: bool) -> int:
    from agentforge.app.drivers.engine_view import engine_view
    from agentforge.app.record.document import task_document
    from agentforge.app.record.listed import summary_of_task
    from agentforge.app.record.reports import report
    from agentforge.surfaces.cli.pages.details import summary_lines
    from agentforge.surfaces.cli.pages.engine import engine_lines
    from agentforge.surfaces.cli.pages.task import page
    from agentforge.surfaces.cli.printing import print_json

    if as_data:
        print_json(task_document(task))
        return 0
    summary, engine = summary_of_task(task), engine_view(task)
    say("\n".join([page(report(task), task.files, task.journal.times), *engine_lines(engine)]))
    if detail:
        say("\n".join(summary_lines(summary)))
    if awaited := summary["waits_for"]:
        until = f" until {awaited['until']}" if awaited["until"] else ""
        say(f"waiting{until}: {awaited['text']}")
    if summary["stopped"]:
        say(f"stopped: no process is running it; `agentforge continue {task.task_id}` resumes it")
    return 0
