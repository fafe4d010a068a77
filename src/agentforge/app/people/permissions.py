"""A user's grants: listed, made and revoked; and what would be decided about a command that is not run."""

import re
import shlex
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from agentforge.activities.task_permissions import project_of
from agentforge.catalog.modes import mode_named
from agentforge.commands.permissions import ActionCall, Permission, Policy, decide
from agentforge.commands.programs import RISKS
from agentforge.commands.risks import assess
from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.site import Site, home_path
from agentforge.store.task.times import stamp, utc_now
from agentforge.store.user.approvals import approvals_file, read_approvals
from agentforge.store.user.grants import (
    Grant,
    GrantRisk,
    add_grant,
    grants_file,
    moment,
    proposals,
    read_grants,
    revoke_grant,
)
from agentforge.store.user.start_permissions import StartPermissions
from agentforge.tools.bridge import TOOLS, real_name

_OPERATORS = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<", "<<"})
_ACTIVE = re.compile(r"[$`;<>(){}'\"]")
"""What makes a word more than a word in a shell. A lone `|` or `*` within a word is mostly a pattern that
somebody looks for.
"""
_HOW = "`agentforge permissions allow --help` shows how."


@dataclass(frozen=True, slots=True)
class GrantList:
    """What is granted, and what could be."""

    grants: tuple[Grant, ...]
    ended: frozenset[str]
    """The ids of those whose time is over."""
    proposed: tuple[Grant, ...]
    """What was allowed three times or more, as the grant that it would be."""
    problem: str
    """What is wrong with the file of grants; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would be decided about a command."""

    decision: Permission
    mode: str
    line: bool
    """Whether the words were read as a line of shell."""
    problem: str
    """What is wrong with the file of grants; empty if nothing is."""


def list_grants(where: Path, *, everything: bool = False) -> GrantList:
    """The grants of the repository around `where`; with `everything` all of every project, ended ones too."""
    read = read_grants(grants_file(_home()))
    now, project = utc_now(), project_at(where)
    ended = frozenset(grant.id for grant in read.grants if moment(grant.expires) <= now)
    found = [
        grant for grant in read.grants if everything or (grant.project == project and grant.id not in ended)
    ]
    known = [item.approval for item in read_approvals(approvals_file(_home()))]
    mine = [approval for approval in known if approval.project == project]
    return GrantList(tuple(found), ended, tuple(proposals(mine, read.grants, now)), read.problem)


def grant(  # noqa: PLR0913 - what a grant is made of
    where: Path,
    tool: str,
    *,
    command: str | None = None,
    exact: bool = False,
    path: str = "",
    risk: GrantRisk = "medium",
    days: int = 30,
) -> Grant:
    """Allows a tool beforehand in the repository around `where`: for the commands that begin with these
    words, or for paths.
    """
    words = _words(command)
    name = _granted_tool(tool, words, path)
    now = utc_now()
    until = stamp(now + timedelta(days=days))
    wanted = Grant(project_at(where), name, until, words, exact=exact, path=path, risk=risk)
    return add_grant(grants_file(_home()), wanted, now)


def revoke(identity: str) -> Grant:
    """Takes a grant away: by its id, or an unambiguous beginning of it."""
    return revoke_grant(grants_file(_home()), identity)


def explain(
    where: Path,
    command: tuple[str, ...],
    permissions: StartPermissions,
    *,
    mode: str = "balanced",
    sandboxed: bool = False,
) -> Explanation:
    """What would be decided about a command, as one that leaves the sandbox or, `sandboxed`, stays in it."""
    chosen = mode_named(mode)
    read = read_grants(grants_file(_home()))
    policy = Policy(
        project_at(where),
        utc_now(),
        permissions.allow,
        permissions.strict,
        permissions.interactive,
        permissions.yes,
    )
    call = ActionCall("run_command", "execute", command=meant(command), confined=sandboxed)
    decision = decide(call, policy, read.grants, chosen)
    return Explanation(decision, chosen.name, isinstance(call.command, str), read.problem)


def meant(command: tuple[str, ...]) -> str | tuple[str, ...]:
    """A line, or the words of one program. The quotes are gone that would have told; where both can be meant,
    the worse is.
    """
    line = " ".join(command)
    if len(command) == 1 or any(word in _OPERATORS for word in command):
        return line
    # A blank within a word was quoted, so the words have come as they were meant.
    if any(map(str.isspace, "".join(command))) or not any(map(_ACTIVE.search, command)):
        return command
    read = assess(line)
    return (
        line
        if not read.line.problem and RISKS.index(read.risk) > RISKS.index(assess(command).risk)
        else command
    )


def project_at(where: Path) -> str:
    """How grants call the repository around `where`; outside of one, this directory."""
    try:
        return project_of(Site.open(where))
    except UsageError:
        return str(where.resolve())


def _words(line: str | None) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line)) if line is not None else ()
    except ValueError as error:
        raise UsageError(f"--command cannot be read: {error}.", _HOW) from None
    if line is not None and not words:
        raise UsageError("--command is empty.", _HOW)
    return words


def _granted_tool(tool: str, words: tuple[str, ...], pattern: str) -> str:
    """The tool by its own name, if a grant like this can mean anything for it."""
    if words and pattern:
        raise UsageError("Give either --command or --path.", _HOW)
    name = real_name(tool)
    known = TOOLS.get(name)
    runs = known is None or name == "run_command"  # one of a repository is a program
    if known is None and not tool.isidentifier():
        raise UsageError(f"{tool!r} is not the name of a tool.", _HOW)
    if runs and not words:
        raise UsageError(f"{name} runs a program: name it with --command.", _HOW)
    if not runs and words:
        raise UsageError(f"{name} runs no command: name its files with --path.", _HOW)
    if known is not None and known.spec.effect == "write" and not pattern:
        raise UsageError(f"{name} writes files: name them with --path.", _HOW)
    return name


def _home() -> Home:
    return Home(home_path())
