"""What a grant for a call would be: shown with every question for permission, so that nobody grants what they
have not read.
"""

import re
import shlex
from typing import NamedTuple, cast, get_args

from agentforge.core.values import WantedCall
from agentforge.store.user.grants import PROPOSED_DAYS, Grant, GrantRisk
from agentforge.system.visible import command_line, visible

_PATTERN = re.compile(r"[*?\[\]{}!,\s]")
"""What a path would mean more by, if it were read as a pattern."""

NO_SCOPE = "a grant covers one command or one path"


class Scope(NamedTuple):
    """The words or the path that a grant would have, and its risk: never more than what was asked about."""

    command: tuple[str, ...]
    path: str
    risk: GrantRisk


def scope_of(wanted: WantedCall) -> Scope | None:
    """None where no grant could be as narrow as the call."""
    if wanted.risk not in get_args(GrantRisk):
        return None
    risk = cast("GrantRisk", wanted.risk)
    if wanted.command:
        return Scope(wanted.command, "", risk)
    single = len(wanted.paths) == 1 and not _PATTERN.search(wanted.paths[0])
    return Scope((), wanted.paths[0], risk) if single else None


def offered(wanted: WantedCall) -> str:
    """What `always` would grant, in words."""
    scope = scope_of(wanted)
    if scope is None:
        return f"nothing beyond this task: {NO_SCOPE}"
    what = (
        f"`{command_line(scope.command)}` without further arguments"
        if scope.command
        else f"`{visible(scope.path)}`"
    )
    return f"{wanted.tool} for {what}, up to {scope.risk} risk, in this repository, for {PROPOSED_DAYS} days"


def allow_command(grant: Grant) -> str:
    """The command line that makes this grant."""
    scope = (
        ("--command", command_line(grant.command), *(["--exact"] if grant.exact else []))
        if grant.command
        else ("--path", grant.path)
    )
    return shlex.join(("agentforge", "permissions", "allow", grant.tool, *scope, "--risk", grant.risk))
