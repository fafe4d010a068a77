"""May this call run? A pure function of the call, the policy, what was granted, and the mode: allow, ask or
deny, with its reason.

Inside of the task's worktree and sandbox, what the role allows is allowed. What leaves it goes by risk and
side effect:

               low    medium  high   critical
    pure       allow  allow   ask    deny
    read       allow  ask     ask    deny
    write      ask    ask     ask    deny
    execute    allow  ask     ask    deny
    network    ask    ask     ask    deny

A tool that the repository declares is asked about until a person has seen what it is, wherever it runs. So
is a write of what acts by itself later, on a person's own machine.

Then a question may already have its answer: a person said yes to this very call, or there is a flag
(`--allow-shell`, …, which never covers what is high), a grant, or `--yes`. `--strict` leaves only the first
of these and judges the inside by the table too. Nothing makes a critical call run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from agentforge.catalog.modes import Mode
from agentforge.commands.programs import RISKS, Risk
from agentforge.commands.risks import Assessment, assess, worst
from agentforge.store.task.times import Clock, utc_now
from agentforge.store.user.grants import Grant, moment
from agentforge.store.user.start_permissions import Area, StartPermissions
from agentforge.system.globs import glob

SideEffect = Literal["pure", "read", "write", "execute", "network"]
PermissionVerdict = Literal["allow", "ask", "deny"]
Origin = Literal["builtin", "project", "web", "mcp"]
"""Where a tool comes from; `project`: the repository declares it."""

_TABLE: Mapping[SideEffect, Mapping[Risk, PermissionVerdict]] = {
    "pure": {"low": "allow", "medium": "allow", "high": "ask", "critical": "deny"},
    "read": {"low": "allow", "medium": "ask", "high": "ask", "critical": "deny"},
    "write": {"low": "ask", "medium": "ask", "high": "ask", "critical": "deny"},
    "execute": {"low": "allow", "medium": "ask", "high": "ask", "critical": "deny"},
    "network": {"low": "ask", "medium": "ask", "high": "ask", "critical": "deny"},
}
_AREAS: Mapping[SideEffect, Area] = {
    "pure": "files",
    "read": "files",
    "write": "files",
    "execute": "shell",
    "network": "network",
}

Ruling: TypeAlias = tuple[PermissionVerdict, str]


@dataclass(frozen=True, slots=True)
class ActionCall:
    """What somebody wants to do. The engine fills this in; nothing of it is a model's word."""

    tool: str
    effect: SideEffect
    risk: Risk = "low"
    """Of the tool as it is declared; a command can only raise it."""
    command: str | tuple[str, ...] | None = None
    """A line of shell, or the words of a program."""
    paths: tuple[str, ...] = ()
    """Real paths that it touches, relative to the project where they are inside of it."""
    confined: bool = True
    """True if it stays in the task's worktree and runs in a sandbox; False without a sandbox, or for other
    roots.
    """
    role_allows: bool = True
    violation: str = ""
    """Why the path resolver or the sandbox refused it; empty if it did not."""
    origin: Origin = "builtin"
    content: str = ""
    """The hash of what the repository declares."""
    consented: bool = False
    """A person has seen the tool that the repository declares, as it is now."""
    permitted: bool = False
    """A person has said yes to this very call."""
    later: str = ""
    """What it writes that acts by itself later, and that nobody asked for; empty if it does not."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the person said when they started this."""

    project: str
    now: datetime
    """For the end of grants: time is data here."""
    allow: frozenset[Area] = frozenset()
    strict: bool = False
    interactive: bool = True
    """False: nobody is asked (`--non-interactive`)."""
    yes: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides about the calls of one task beside the call itself. As it is here, nothing is allowed
    beforehand.
    """

    project: str = ""
    """The real path of the checkout."""
    permissions: StartPermissions = StartPermissions()
    now: Clock = utc_now
    grants: Callable[[], Sequence[Grant]] = tuple
    """Read when a call would be asked about, so that one that was revoked counts no more."""
    approved: Callable[[], frozenset[str]] = frozenset
    """The calls that a person on this machine allowed; what the journal says is not enough."""
    consented: Callable[[str], bool] = lambda _: False
    """Whether a person has seen the declared tool with this content."""

    def policy(self) -> Policy:
        """The permissions of the task together with the present time."""
        said = self.permissions
        return Policy(self.project, self.now(), said.allow, said.strict, said.interactive, said.yes)


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a call is allowed, asked about or denied; why; and the risk that this is about."""

    verdict: PermissionVerdict
    reason: str
    risk: Risk
    assessment: Assessment | None = None


def decide(call: ActionCall, policy: Policy, grants: Sequence[Grant], mode: Mode) -> Permission:
    """Decides about a call. Nothing else in the code allows one."""
    assessment = None if call.command is None else assess(call.command)
    risk = call.risk if assessment is None else worst((call.risk, assessment.risk))
    effect: SideEffect = "network" if assessment is not None and assessment.network else call.effect
    verdict, reason = _never_allowed(call, risk, effect, mode, assessment) or _by_the_table(
        call, risk, effect, policy
    )
    if verdict == "ask":
        verdict, reason = _allowed_beforehand(call, risk, effect, policy, grants, assessment) or (
            verdict,
            reason,
        )
    if verdict == "ask" and not policy.interactive:
        verdict, reason = (
            "deny",
            f"{reason}; this would be asked, and --non-interactive denies what would be asked",
        )
    return Permission(verdict, reason, risk, assessment)


def _never_allowed(
    call: ActionCall, risk: Risk, effect: SideEffect, mode: Mode, assessment: Assessment | None
) -> Ruling | None:
    """The denial of a call that no flag, grant or person can allow; None if it is not such a call."""
    if risk == "critical":
        why = (
            assessment.reason
            if assessment is not None and assessment.risk == "critical"
            else f"`{call.tool}` is declared critical"
        )
        return "deny", f"critical, which is always blocked: {why}"
    if call.violation:
        return "deny", f"blocked by the sandbox: {call.violation}"
    if not call.role_allows:
        return "deny", f"the role may not use `{call.tool}` for this"
    if not mode.writes and (call.effect in ("write", "execute") or effect in ("write", "execute")):
        return "deny", f"the mode {mode.name} changes nothing"
    if mode.local_only and effect == "network":
        return "deny", f"the mode {mode.name} stays on this machine"
    return None


def _by_the_table(call: ActionCall, risk: Risk, effect: SideEffect, policy: Policy) -> Ruling:
    """By who declared the tool and where the call acts; else by the table of effects and risks."""
    if call.origin == "project" and not call.consented:
        return (
            "ask",
            (
                f"the repository declares `{call.tool}`, and you have not approved it in its current form; "
                f"{risk} risk, {effect}"
            ),
        )
    if call.later:
        return "ask", f"{call.later} once you have this branch, and the request does not name it"
    writes_elsewhere = call.origin == "mcp" and effect in ("write", "execute")
    if call.confined and effect != "network" and not writes_elsewhere and not policy.strict:
        return "allow", "inside of the task's worktree and sandbox, and the role allows it"
    verdict = _TABLE[effect][risk]
    if policy.strict:
        where = "strict"
    elif effect == "network":
        where = "uses the network"
    else:
        where = "leaves the task's worktree and sandbox"
    if writes_elsewhere:
        verdict, where = "ask", "changes something through MCP"
    return verdict, f"{where}; {risk} risk, {effect}"


def _allowed_beforehand(
    call: ActionCall,
    risk: Risk,
    effect: SideEffect,
    policy: Policy,
    grants: Sequence[Grant],
    assessment: Assessment | None,
) -> Ruling | None:
    """The answer that a person, a flag or a grant gave before the question; None if there is none."""
    if call.permitted:
        return "allow", "a person allowed exactly this call"
    if policy.strict:
        return None
    if call.origin == "project" and not call.consented:
        return ("allow", "answered by --yes") if policy.yes else None
    needed = _area(call, effect)
    if needed in policy.allow and risk != "high":
        return "allow", f"--allow-{needed}; {risk} risk"
    grant = next((each for each in grants if covers(each, call, risk, policy, assessment)), None)
    if grant is not None:
        return "allow", f"granted until {grant.expires} ({grant.id or 'not saved'})"
    if policy.yes:
        return "allow", f"answered by --yes; {risk} risk"
    return None


def _area(call: ActionCall, effect: SideEffect) -> Area:
    if call.origin == "mcp":
        return "mcp"
    return "web" if call.origin == "web" else _AREAS[effect]


def covers(grant: Grant, call: ActionCall, risk: Risk, policy: Policy, assessment: Assessment | None) -> bool:
    """Whether a grant is about this very call: same project and tool, not ended, not above its risk, and all
    of the words or paths.
    """
    if grant.project != policy.project or grant.tool != call.tool or moment(grant.expires) <= policy.now:
        return False
    if RISKS.index(risk) > RISKS.index(grant.risk) or grant.risk not in RISKS[:3]:
        return False
    if call.command is not None:
        argv = assessment.line.plain_argv if assessment is not None else None
        if not grant.command or argv is None or argv[: len(grant.command)] != grant.command:
            return False
        return not (grant.exact and len(argv) > len(grant.command)) and _paths_covered(grant, call)
    if grant.command:
        return False
    return bool(call.paths) == bool(grant.path) and _paths_covered(grant, call)


def _paths_covered(grant: Grant, call: ActionCall) -> bool:
    if not grant.path:
        return True
    pattern = glob(grant.path)
    rooted = grant.path.startswith("/")
    return bool(call.paths) and all(
        path.startswith("/") == rooted and ".." not in path.split("/") and pattern.matches(path.strip("/"))
        for path in call.paths
    )
