"""`violations`: what checks have found here, and what persons have said about it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.checks.violations import Violation


@click.group(
    epilog="""\b
Examples:
  agentforge violations list
  agentforge violations show V-04b31cde217a
  agentforge violations exempt V-04b31cde217a --reason "the old client needs it" --days 30
  agentforge violations baseline"""
)
def violations() -> None:
    """List what checks have found, and decide what may stay."""


@violations.command(
    "list",
    epilog="""\b
Examples:
  agentforge violations list
  agentforge violations list --json

`agentforge check` records what it finds; `agentforge fix V-…` fixes one.""",
)
@json_option
def list_(*, as_data: bool) -> int:
    """List the violations on record, those that are open first."""
    from agentforge.app.checks.violations import list_violations
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json, table

    found = list_violations(Site.open(Path.cwd()))
    if as_data:
        print_json([_fields(each) for each in found])
        return 0
    if not found:
        say("No violations on record. `agentforge check` looks for some.")
        return 0
    rows = [
        (
            each.fields["id"],
            each.status,
            each.fields["check_id"],
            f"{each.fields['file']}:{each.fields['line']}",
        )
        for each in found
    ]
    say(table(("violation", "state", "check", "place"), rows))
    return 0


@violations.command(
    "show",
    epilog="""\b
Examples:
  agentforge violations show V-04b31cde217a
  agentforge violations show V-04b31cde217a --json""",
)
@click.argument("violation", metavar="VIOLATION")
@json_option
def show(*, violation: str, as_data: bool) -> int:
    """Show one violation: where it is, what is wrong, and what to do."""
    from agentforge.app.checks.violations import show_violation
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    found = show_violation(Site.open(Path.cwd()), violation)
    if as_data:
        print_json(_fields(found))
        return 0
    each = found.fields
    where = f" in {each['symbol']}" if each.get("symbol") else ""
    lines = [
        f"{each['id']} ({found.status}): {each['check_id']}, {each['severity']}, {each['contract']}",
        f"{each['file']}:{each['line']}{where}: {each['message']}",
        str(each["fix_hint"]),
        f"First seen {each['first_seen']}.",
    ]
    if found.exemption is not None:
        leave = found.exemption
        lines.append(f"Exempt until {leave.expires}, by {leave.approved_by}: {leave.reason}")
    elif found.status == "open":
        lines.append(f"`agentforge fix {each['id']}` fixes it.")
    say("\n".join(lines))
    return 0


@violations.command(
    "exempt",
    epilog="""\b
Examples:
  agentforge violations exempt V-04b31cde217a --reason "the old client needs it" --days 30
  agentforge violations exempt --check line-length --path 'src/tables/**' --reason "rows of a table"

It is written to .agentforge/config/exemptions.yaml under your name, to be committed. When its time is over,
the violation is open again. No agent can grant one: agents cannot write there.""",
)
@click.argument("violation", metavar="[VIOLATION]", required=False, default="")
@click.option(
    "--check", "check_name", metavar="CHECK", default="", help="All findings of this check instead."
)
@click.option("--path", "paths", metavar="PATTERN", multiple=True, help="The files, with --check.")
@click.option("--reason", required=True, help="Why it may stay.")
@click.option(
    "--days", type=click.IntRange(1, 365), default=90, show_default=True, help="Days until it is open again."
)
@json_option
def exempt(
    *, violation: str, check_name: str, paths: tuple[str, ...], reason: str, days: int, as_data: bool
) -> int:
    """Allow a violation for a while, with a reason and under your name."""
    from agentforge.app.checks.violations import exempt as allow
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(Path.cwd())
    made = allow(site, violation=violation, check=check_name, paths=paths, reason=reason, days=days)
    if as_data:
        print_json(
            {
                "scope": made.scope,
                "reason": made.reason,
                "approved_by": made.approved_by,
                "expires": made.expires.isoformat(),
            }
        )
        return 0
    until = f"Exempt until {made.expires}, by {made.approved_by}"
    say(f"{until}: {made.scope}. Commit .agentforge/config/exemptions.yaml.")
    return 0


@violations.command(
    "baseline",
    epilog="""\b
Examples:
  agentforge violations baseline
  agentforge violations baseline --json

It is written to .agentforge/config/baseline.yaml, to be committed: from then on only findings that it does
not list block.""",
)
@json_option
def baseline(*, as_data: bool) -> int:
    """Accept everything found now as known, so that only new findings block."""
    from agentforge.app.checks.checking import set_baseline
    from agentforge.app.checks.violations import BASELINE_FILE
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages.words import count
    from agentforge.surfaces.cli.printing import print_json

    number = set_baseline(Site.open(Path.cwd()))
    if as_data:
        print_json({"violations": number, "file": BASELINE_FILE})
        return 0
    say(f"{count(number, 'finding')} known from now on. Commit {BASELINE_FILE}.")
    return 0


def _fields(each: "Violation") -> dict[str, Any]:
    return {**each.fields, "status": each.status}
