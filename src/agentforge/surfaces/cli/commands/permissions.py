"""`permissions`: what was granted, granting more, and what would be decided about a command, without running
it.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.store.grants import Grant, GrantRisk
    from agentforge.store.layout import Home
    from agentforge.store.wishes import Area
    from agentforge.tools.permissions import Decision

_OPERATORS = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<", "<<"})
_ACTIVE = re.compile(r"[$`;<>(){}'\"]")
"""What makes a word more than a word in a shell. A lone `|` or `*` within a word is mostly a pattern that
somebody looks for.
"""


@click.group(
    epilog="""\b
Examples:
  agentforge permissions list
  agentforge permissions allow run_command --command 'make docs'
  agentforge permissions revoke grant-1a2b3c4d5e
  agentforge permissions explain -- git push --force origin main
  agentforge permissions explain --mode audit --json -- 'curl -s example | sh'

Grants are yours, not the repository's; what is critical is blocked whatever is granted."""
)
def permissions() -> None:
    """List, make and revoke grants, and explain what would be decided about a command."""


@permissions.command(
    "list",
    epilog="""\b
Examples:
  agentforge permissions list
  agentforge permissions list --all --json""",
)
@click.option("--all", "everything", is_flag=True, help="Of every project, ended ones too.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def list_(*, everything: bool, as_data: bool) -> int:
    """List the grants of this repository, and what could be one because you allowed it three times."""
    from dataclasses import asdict

    from agentforge.app.offers import allow_command
    from agentforge.store.approvals import approvals_file, read_approvals
    from agentforge.store.grants import grants_file, moment, proposals, read_grants
    from agentforge.surfaces.cli.printing import print_json, print_text, table

    read = read_grants(grants_file(_home()))
    now, project = _now(), _project()
    found = [
        grant
        for grant in read.grants
        if everything or (grant.project == project and moment(grant.expires) > now)
    ]
    approvals = [
        item.approval for item in read_approvals(approvals_file(_home())) if item.approval.project == project
    ]
    proposed = proposals(approvals, read.grants, now)
    if read.problem:
        click.echo(read.problem, err=True)
    if as_data:
        listed = [
            {**asdict(grant), "ended": moment(grant.expires) <= now, "proposed": False} for grant in found
        ]
        print_json([*listed, *({**asdict(grant), "ended": False, "proposed": True} for grant in proposed)])
        return 2 if read.problem else 0
    if found:
        rows = [
            (grant.id, grant.tool, _scope(grant), grant.risk, grant.expires, grant.project) for grant in found
        ]
        click.echo(table(("id", "tool", "what", "up to", "until", "project"), rows))
    elif not read.problem:
        click.echo(
            "Nothing is granted."
            if everything
            else "Nothing is granted here; --all shows the grants of other projects."
        )
    for grant in proposed:
        print_text(
            f"You allowed this three times or more: {grant.tool} {_scope(grant)}. To grant it:\n  "
            f"{allow_command(grant)}"
        )
    return 2 if read.problem else 0


@permissions.command(
    "allow",
    epilog="""\b
Examples:
  agentforge permissions allow run_command --command 'make docs' --days 7
  agentforge permissions allow run_command --command 'git fetch origin' --exact --risk high
  agentforge permissions allow create_file --path '/srv/shared/docs/**'

The grant holds for this repository. A command is granted by its first words, and with --exact only as it
is.""",
)
@click.argument("tool")
@click.option("--command", "line", metavar="WORDS", help="The first words of the command, as one text.")
@click.option("--exact", is_flag=True, help="These words and no more.")
@click.option(
    "--path", "pattern", metavar="PATTERN", default="", help="The paths, as patterns of roles have them."
)
@click.option(
    "--risk",
    type=click.Choice(["low", "medium", "high"]),
    default="medium",
    show_default=True,
    help="The highest risk.",
)
@click.option(
    "--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How long it holds."
)
def allow(*, tool: str, line: str | None, exact: bool, pattern: str, risk: "GrantRisk", days: int) -> int:
    """Grant TOOL beforehand: for a command, or for paths."""
    from datetime import timedelta

    from agentforge.store.grants import Grant, add_grant, grants_file
    from agentforge.store.times import stamp
    from agentforge.surfaces.cli.printing import print_text

    words = _words(line)
    name = _granted_tool(tool, words, pattern)
    now = _now()
    wanted = Grant(
        _project(), name, stamp(now + timedelta(days=days)), words, exact=exact, path=pattern, risk=risk
    )
    grant = add_grant(grants_file(_home()), wanted, now)
    print_text(
        f"Granted {grant.id}: {grant.tool} {_scope(grant)}, up to {grant.risk} risk, until {grant.expires}."
    )
    return 0


def _words(line: str | None) -> tuple[str, ...]:
    import shlex

    try:
        words = tuple(shlex.split(line)) if line is not None else ()
    except ValueError as error:
        raise click.UsageError(f"--command cannot be read: {error}.") from None
    if line is not None and not words:
        raise click.UsageError("--command is empty.")
    return words


def _granted_tool(tool: str, words: tuple[str, ...], pattern: str) -> str:
    """The tool by its own name, if a grant like this can mean anything for it."""
    from agentforge.tools.bridge import TOOLS, real_name

    if words and pattern:
        raise click.UsageError("Give either --command or --path.")
    name = real_name(tool)
    known = TOOLS.get(name)
    runs = known is None or name == "run_command"  # one of a repository is a program
    if known is None and not tool.isidentifier():
        raise click.UsageError(f"{tool!r} is not the name of a tool.")
    if runs and not words:
        raise click.UsageError(f"{name} runs a program: say which with --command.")
    if not runs and words:
        raise click.UsageError(f"{name} runs no command: say where with --path.")
    if known is not None and known.spec.effect == "write" and not pattern:
        raise click.UsageError(f"{name} writes files: say which with --path.")
    return name


@permissions.command(
    "revoke",
    epilog="""\b
Examples:
  agentforge permissions revoke grant-1a2b3c4d5e
  agentforge permissions revoke grant-1a2b""",
)
@click.argument("identity", metavar="ID")
def revoke(*, identity: str) -> int:
    """Take the grant ID away: its name, or an unambiguous beginning of it."""
    from agentforge.store.grants import grants_file, revoke_grant
    from agentforge.surfaces.cli.printing import print_text

    grant = revoke_grant(grants_file(_home()), identity)
    print_text(f"Revoked {grant.id}: {grant.tool} {_scope(grant)}.")
    return 0


@permissions.command(
    "explain",
    epilog="""\b
Examples:
  agentforge permissions explain -- rm -rf build
  agentforge permissions explain --allow-shell -- make test
  agentforge permissions explain --sandboxed -- 'X=rm; $X -rf /'
  agentforge permissions explain --mode plan --json -- git status

One word is read as a line of shell. Several are the words of one program, unless an operator of the shell
is among them. Where a
shell would act on one of them, they are read as a line too, and the worse of both is shown.""",
)
@click.option("--mode", "mode_name", default="balanced", show_default=True, help="The mode it would run in.")
@click.option(
    "--sandboxed",
    is_flag=True,
    help="As an agent's command in the task's sandbox; else as one that leaves it.",
)
@click.option("--allow-files", "areas", flag_value="files", multiple=True, help="As if this flag were given.")
@click.option("--allow-shell", "areas", flag_value="shell", multiple=True, help="As if this flag were given.")
@click.option(
    "--allow-network", "areas", flag_value="network", multiple=True, help="As if this flag were given."
)
@click.option("--strict", is_flag=True, help="As if this flag were given.")
@click.option("--non-interactive", is_flag=True, help="As if this flag were given.")
@click.option("--yes", is_flag=True, help="As if this flag were given.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
def explain(  # noqa: PLR0913  each is an option
    *,
    mode_name: str,
    sandboxed: bool,
    areas: tuple["Area", ...],
    strict: bool,
    non_interactive: bool,
    yes: bool,
    as_data: bool,
    command: tuple[str, ...],
) -> int:
    """Show the parts of COMMAND, the risk of each, and what would be decided. Nothing is run."""
    from agentforge.catalog.modes import mode_named
    from agentforge.store.grants import grants_file, read_grants
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.tools.permissions import Call, Policy, decide

    mode = mode_named(mode_name)
    read = read_grants(grants_file(_home()))
    if read.problem:
        click.echo(read.problem, err=True)
    policy = Policy(_project(), _now(), frozenset(areas), strict, not non_interactive, yes)
    call = Call("run_command", "execute", command=meant(command), confined=sandboxed)
    decision = decide(call, policy, read.grants, mode)
    if as_data:
        print_json(
            {**_as_data(decision, mode.name), "read_as": "line" if isinstance(call.command, str) else "words"}
        )
        return 0
    if isinstance(call.command, str) and len(command) > 1:
        click.echo("read as a line of shell")
    _print(decision)
    return 0


def meant(command: tuple[str, ...]) -> "str | tuple[str, ...]":
    """A line, or the words of one program. The quotes are gone that would have told; where both can be meant,
    the worse is.
    """
    from agentforge.tools.risks import RISKS, assess

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


def _print(decision: "Decision") -> None:
    from agentforge.surfaces.cli.printing import print_text
    from agentforge.system.visible import one_line

    assessment = decision.assessment
    assert assessment is not None
    for number, each in enumerate(assessment.parts, 1):
        via = (
            f"  (run by {' > '.join(each.part.via)})"
            if each.part.via
            else "  (substituted)"
            if each.part.relation == "substitution"
            else ""
        )
        operator = f"{each.part.before} ".replace("\n", "") if each.part.before else ""
        print_text(
            f"{number:>3}  {each.risk:<8}  {operator}{one_line(each.part.text, 120) or '(nothing)'}{via}"
        )
        for reason in each.reasons:
            print_text(f"               {one_line(reason, 160)}")
    if assessment.line.problem:
        print_text(f"     not a proper line: {assessment.line.problem}")
    print_text(f"risk      {decision.risk}")
    print_text(f"decision  {decision.verdict}: {one_line(decision.reason, 300)}")


def _as_data(decision: "Decision", mode: str) -> dict[str, object]:
    assessment = decision.assessment
    assert assessment is not None
    parts = [
        {
            "argv": [arg.text for arg in each.part.argv],
            "assignments": {name: arg.text for name, arg in each.part.assignments},
            "redirections": [
                {"operator": item.operator, "target": item.target.text} for item in each.part.redirections
            ],
            "operator": each.part.before,
            "relation": each.part.relation,
            "via": list(each.part.via),
            "dynamic": sorted(each.part.marks),
            "risk": each.risk,
            "reasons": list(each.reasons),
        }
        for each in assessment.parts
    ]
    return {
        "parts": parts,
        "problem": assessment.line.problem or None,
        "risk": decision.risk,
        "network": assessment.network,
        "mode": mode,
        "decision": decision.verdict,
        "reason": decision.reason,
    }


def _scope(grant: "Grant") -> str:
    from agentforge.surfaces.cli.pages.words import command_line

    if grant.command:
        return f"{command_line(grant.command)}{'' if grant.exact else ' …'}"
    return grant.path or "-"


def _home() -> "Home":
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path

    return Home(home_path())


def _now() -> datetime:
    from agentforge.store.times import utc_now

    return utc_now()


def _project() -> str:
    """The real path of this checkout; outside of one, of this directory."""
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site

    try:
        return str(Site.open(Path.cwd()).git.top.resolve())
    except UsageError:
        return str(Path.cwd().resolve())
