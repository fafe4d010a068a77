"""A task driven in front of a person: progress while it runs, and how it stands at the end."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from agentforge.app.drivers.driving import drive
from agentforge.app.drivers.notifying import notify_ways
from agentforge.app.intake.extending import extend_line
from agentforge.app.ports import Ask, Watcher
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.reports import report
from agentforge.core.errors import UserError
from agentforge.core.state import State
from agentforge.surfaces.cli.asking import ask_here, ask_to_go_on
from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.interrupt import naming
from agentforge.surfaces.cli.pages.answers import next_commands
from agentforge.surfaces.cli.pages.report import as_json, as_text, exit_code
from agentforge.surfaces.cli.pages.screen import Screen, ScreenWatcher, open_screen
from agentforge.surfaces.cli.printing import print_last, ring


class Drive(Protocol):
    """`drive` or `resume`, with the options of a command."""

    def __call__(self, task: OpenTask, watcher: Watcher, /, *, ask: Ask | None) -> State:
        """Drives until the task is over or waits for somebody."""


def drive_and_tell(
    task: OpenTask,
    work: Drive = drive,
    *,
    as_data: bool = False,
    opening: Callable[[Screen], None] = lambda _: None,
) -> int:
    """Drives, tells how the task stands, and returns the exit code. A person who sits there is asked for
    permissions on the way.
    """
    with open_screen(json=as_data) as screen, naming(task.task_id):
        opening(screen)
        may_ask = not as_data and at_terminal()
        ask = partial(ask_here, screen, task) if may_ask else None
        before = task.state.status
        state = work(task, ScreenWatcher(screen), ask=ask)
        if may_ask and before != state.status == "completed" and ask_to_go_on(screen, task):
            extend_line(task)
            drive(task, ScreenWatcher(screen), ask=ask)
    if may_ask:
        _ring(task)
    return tell(task, as_data=as_data)


def _ring(task: OpenTask) -> None:
    """The bell of the terminal, where the person wants it."""
    with suppress(UserError):  # what is wrong with the settings was said before
        if notify_ways(task.site.home).bell:
            ring()


def tell_handed_over(task: OpenTask, problem: UserError | None, *, as_data: bool) -> int:
    """That workers have the task; and what is in their way, if anything is."""
    again = f"agentforge status {task.task_id}"
    if as_data and problem is None:
        tell(task, as_data=True)
        return 0
    if not as_data:
        print_last(f"{task.task_id} was handed to the workers. `{again}` shows its status.", again=again)
    if problem is not None:
        raise problem
    return 0


def tell(task: OpenTask, *, as_data: bool = False) -> int:
    """The result of a task as the last words of a command, with the commands that come next."""
    found, again = report(task), f"agentforge continue {task.task_id}"
    if as_data:
        print_last(json.dumps(as_json(found), indent=2, ensure_ascii=False), again=f"{again} --json")
    else:
        print_last(f"\n{as_text(found, next_commands(found))}", again=again)
    return exit_code(found.state)
