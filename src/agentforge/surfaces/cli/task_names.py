"""TASK on the command line: its argument, and the names that a shell completes it with."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from agentforge.surfaces.cli.repo_option import here

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., int])

_MOST_OFFERED = 50


def task_argument(command: F) -> F:
    """TASK, for commands that mean the newest task where it is left out."""
    return click.argument("task", required=False, shell_complete=task_names)(command)


def named_task_argument(command: F) -> F:
    """TASK, for commands that must be told which task is meant."""
    return click.argument("task", shell_complete=task_names)(command)


def task_option(command: F) -> F:
    """`--task`, for commands about a question."""
    words = "The task, or the beginning of its name."
    return click.option("--task", help=words, shell_complete=task_names)(command)


def target_argument(command: F) -> F:
    """TASK, a branch or a file, for commands that take each of them; the newest task if left out."""
    return click.argument("target", metavar="[TASK|BRANCH|FILE]", required=False, shell_complete=task_names)(
        command
    )


def task_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The tasks of this repository, newest first. A shell that asks is never told of an error."""
    from click.shell_completion import CompletionItem

    from agentforge.core.errors import UserError
    from agentforge.store.site import Site

    try:
        names = Site.open(here()).task_names()
    except UserError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)][:_MOST_OFFERED]
