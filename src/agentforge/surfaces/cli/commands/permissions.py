"""`permissions`: what was granted, granting more, and what would be decided about a command, without running
it.
"""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.flags import permissions_of
from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option

if TYPE_CHECKING:
    from agentforge.store.user.grants import GrantRisk
    from agentforge.store.user.start_permissions import Area


@click.group(
    epilog="""\b
Examples:
  agentforge permissions list
  agentforge permissions allow run_command --command 'make docs'
  agentforge permissions revoke grant-1a2b3c4d5e
  agentforge permissions explain -- git push --force origin main
  agentforge permissions explain --mode audit --json -- 'curl -s example | sh'

Grants are yours, not the repository's. Critical actions stay blocked whatever is granted."""
)
def permissions() -> None:
    """List, add and revoke grants, and explain whether a command would be allowed."""


@permissions.command(
    "list",
    short_help="List the grants for this repository.",
    epilog="""\b
Examples:
  agentforge permissions list
  agentforge permissions list --all --json""",
)
@click.option("--all", "everything", is_flag=True, help="Include other projects and expired grants.")
@repo_option
@json_option
def list_(*, everything: bool, as_data: bool) -> int:
    """List the grants for this repository, and suggest one for whatever you allowed three times."""
    from dataclasses import asdict

    from agentforge.app.people.offers import allow_command
    from agentforge.app.people.permissions import list_grants
    from agentforge.surfaces.cli.pages.permissions import grant_scope
    from agentforge.surfaces.cli.printing import print_json, print_text, table

    found = list_grants(here(), everything=everything)
    if found.problem:
        say(found.problem, err=True)
    code = 2 if found.problem else 0
    if as_data:
        listed = [
            {**asdict(each), "ended": each.id in found.ended, "proposed": False} for each in found.grants
        ]
        proposed = [{**asdict(each), "ended": False, "proposed": True} for each in found.proposed]
        print_json([*listed, *proposed])
        return code
    if found.grants:
        rows = [
            (each.id, each.tool, grant_scope(each), each.risk, each.expires, each.project)
            for each in found.grants
        ]
        say(table(("id", "tool", "what", "up to", "until", "project"), rows))
    elif not found.problem:
        say(
            "No grants."
            if everything
            else "No grants for this repository; --all shows those of other projects."
        )
    for each in found.proposed:
        print_text(
            f"You allowed this three times or more: {each.tool} {grant_scope(each)}. To grant it:\n  "
            f"{allow_command(each)}"
        )
    return code


@permissions.command(
    "allow",
    epilog="""\b
Examples:
  agentforge permissions allow run_command --command 'make docs' --days 7
  agentforge permissions allow run_command --command 'git fetch origin' --exact --risk high
  agentforge permissions allow create_file --path '/srv/shared/docs/**'

The grant applies to this repository. A command is granted by its first words; with --exact, only exactly as
given.""",
)
@click.argument("tool")
@click.option(
    "--command", "line", metavar="WORDS", help="The first words of the command, as one quoted argument."
)
@click.option("--exact", is_flag=True, help="Only this exact command, without further arguments.")
@click.option(
    "--path", "pattern", metavar="PATTERN", default="", help="The paths, as a pattern such as /srv/docs/**."
)
@click.option(
    "--risk",
    type=click.Choice(["low", "medium", "high"]),
    default="medium",
    show_default=True,
    help="The highest risk to allow.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="Days until the grant expires.",
)
@repo_option
@json_option
def allow(  # noqa: PLR0913  each is an option
    *, tool: str, line: str | None, exact: bool, pattern: str, risk: "GrantRisk", days: int, as_data: bool
) -> int:
    """Grant TOOL in advance, for a command or for paths."""
    from dataclasses import asdict

    from agentforge.app.people.permissions import grant
    from agentforge.surfaces.cli.pages.permissions import grant_scope
    from agentforge.surfaces.cli.printing import print_json, print_text

    made = grant(here(), tool, command=line, exact=exact, path=pattern, risk=risk, days=days)
    if as_data:
        print_json(asdict(made))
        return 0
    print_text(
        f"Granted {made.id}: {made.tool} {grant_scope(made)}, up to {made.risk} risk, until {made.expires}."
    )
    return 0


@permissions.command(
    "revoke",
    epilog="""\b
Examples:
  agentforge permissions revoke grant-1a2b3c4d5e
  agentforge permissions revoke grant-1a2b""",
)
@click.argument("identity", metavar="ID")
@json_option
def revoke(*, identity: str, as_data: bool) -> int:
    """Revoke the grant ID. The beginning of its name is enough."""
    from dataclasses import asdict

    from agentforge.app.people.permissions import revoke as take_away
    from agentforge.surfaces.cli.pages.permissions import grant_scope
    from agentforge.surfaces.cli.printing import print_json, print_text

    grant = take_away(identity)
    if as_data:
        print_json(asdict(grant))
    else:
        print_text(f"Revoked {grant.id}: {grant.tool} {grant_scope(grant)}.")
    return 0


@permissions.command(
    "explain",
    epilog="""\b
Examples:
  agentforge permissions explain -- rm -rf build
  agentforge permissions explain --allow-shell -- make test
  agentforge permissions explain --sandboxed -- 'X=rm; $X -rf /'
  agentforge permissions explain --mode plan --json -- git status

A single argument is read as a shell line. Several are read as one command with its arguments, unless one of
them is a shell operator. If a shell would change one of them, they are read as a shell line as well, and the
worse result is shown.""",
)
@click.option("--mode", "mode_name", default="balanced", show_default=True, help="The mode it would run in.")
@click.option(
    "--sandboxed",
    is_flag=True,
    help="As an agent's command inside the sandbox, not as one that leaves it.",
)
@click.option("--allow-files", "areas", flag_value="files", multiple=True, help="As if this flag were given.")
@click.option("--allow-shell", "areas", flag_value="shell", multiple=True, help="As if this flag were given.")
@click.option(
    "--allow-network", "areas", flag_value="network", multiple=True, help="As if this flag were given."
)
@click.option("--strict", is_flag=True, help="As if this flag were given.")
@click.option("--non-interactive", is_flag=True, help="As if this flag were given.")
@click.option("--yes", is_flag=True, help="As if this flag were given.")
@repo_option
@json_option
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
    """Show the parts of COMMAND, the risk of each, and whether it would be allowed. Nothing is run."""
    from agentforge.app.people.permissions import explain as find_out
    from agentforge.surfaces.cli.pages.permissions import decision_fields, print_decision
    from agentforge.surfaces.cli.printing import print_json

    given = permissions_of(areas, strict=strict, non_interactive=non_interactive, yes=yes)
    found = find_out(here(), command, given, mode=mode_name, sandboxed=sandboxed)
    if found.problem:
        say(found.problem, err=True)
    if as_data:
        read_as = "line" if found.line else "words"
        print_json({**decision_fields(found.decision, found.mode), "read_as": read_as})
        return 0
    if found.line and len(command) > 1:
        say("read as a shell line")
    print_decision(found.decision)
    return 0
