"""The flags that say beforehand what a task may do, shared by every command that starts one or goes on with
it.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

if TYPE_CHECKING:
    from agentforge.store.user.start_permissions import Area, StartPermissions

F = TypeVar("F", bound=Callable[..., int])


class PermissionFlags(TypedDict):
    """The flags, as click gives them."""

    areas: "tuple[Area, ...]"
    strict: bool
    non_interactive: bool
    yes: bool


no_wait_option = click.option(
    "--no-wait",
    is_flag=True,
    help="If a provider's quota is used up, ask at once instead of waiting.",
)


def with_options(command: F, *options: Callable[[F], F]) -> F:
    """The command with these options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def permission_flags(command: F) -> F:
    """Adds them to a command, which takes `**allowed: Unpack[PermissionFlags]`."""
    return with_options(
        command,
        *(
            click.option(
                f"--allow-{area}",
                "areas",
                flag_value=area,
                multiple=True,
                help=f"Allow {words} without asking, unless the risk is high.",
            )
            for area, words in (
                ("files", "files outside the task's worktree"),
                ("shell", "commands outside the sandbox"),
                ("network", "the network"),
                ("web", "web pages"),
                ("mcp", "MCP servers"),
            )
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Ask before every change and every command, even if it was granted.",
        ),
        click.option(
            "--non-interactive", is_flag=True, help="Never ask; deny whatever would need an answer."
        ),
        click.option(
            "--yes",
            is_flag=True,
            help="Allow whatever would need an answer; critical actions are still denied.",
        ),
    )


def permissions_of(
    areas: "tuple[Area, ...]", *, strict: bool, non_interactive: bool, yes: bool
) -> "StartPermissions":
    """The flags as the value that is kept for the task."""
    from agentforge.store.user.start_permissions import StartPermissions

    return StartPermissions(frozenset(areas), strict=strict, interactive=not non_interactive, yes=yes)


def at_terminal() -> bool:
    """Whether a person sits there: one who can read a question and type an answer. The terminal of a session
    of AO is an agent's.
    """
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    from agentforge.app.workflow.ao_session import is_under_ao

    return not is_under_ao()
