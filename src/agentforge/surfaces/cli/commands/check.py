"""`check`: what the conformance checks find in the files of this repository."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.checks.checking import CheckRequest
    from agentforge.store.site import Site


@click.command(
    epilog="""\b
Examples:
  agentforge check
  agentforge check src/shop --all
  agentforge check --staged
  agentforge check --since origin/main --format sarif
  agentforge check --list

Runs nothing of the project but its own linters, and the commands of its own checks (.agentforge/checks)
that you agreed to; both in the sandbox. What a project declares in .agentforge/config/settings.yaml under
`conformance` blocks; compared with a commit, so does what is new or worse. Everything else is advice, which
--all shows in full. Exit codes: 0 nothing blocks, 1 violations, 2 usage."""
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--since", metavar="COMMIT", default="", help="Count only what is new or worse since COMMIT.")
@click.option("--staged", is_flag=True, help="Check what is staged, compared with the last commit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@json_option
@click.option("--all", "everything", is_flag=True, help="Print advice in full, too.")
@click.option("--fix", "mends", is_flag=True, help="First let the project's own tools correct what they can.")
@click.option(
    "--allow-commands",
    "agree",
    is_flag=True,
    help="Agree to the commands of this project's own checks, as they are now; they run in the sandbox.",
)
@click.option("--no-linters", is_flag=True, help="Leave out the project's own linters; only our checks run.")
@click.option(
    "--list", "listing", is_flag=True, help="List the checks, and what reads each in each language."
)
def check(  # noqa: PLR0913  each is an option
    *,
    paths: tuple[Path, ...],
    since: str,
    staged: bool,
    form: str,
    as_data: bool,
    everything: bool,
    mends: bool,
    agree: bool,
    no_linters: bool,
    listing: bool,
) -> int:
    """Check the code of this repository: style, architecture, patterns, security and quality."""
    from agentforge.app.checks.checking import CheckRequest, list_checks
    from agentforge.app.checks.checking import check as run
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages import checks as pages
    from agentforge.surfaces.cli.printing import print_json

    if since and staged:
        raise click.UsageError(
            "--staged compares with the last commit, and --since with another one: give one."
        )
    form = "json" if as_data else form
    site = Site.open(Path.cwd())
    if listing:
        listed = list_checks(site)
        if form == "json":
            print_json(pages.listed_fields(listed))
        else:
            say(pages.listed_page(listed))
        return 0
    request = CheckRequest(paths, since, staged, not no_linters, agree)
    if mends:
        _mend(site, request, staged=staged)
    done = run(site, request)
    if form == "json":
        print_json(pages.checked_fields(done))
    elif form == "sarif":
        print_json(pages.sarif(done))
    elif form == "github":
        say("\n".join(pages.github_lines(done)))
    else:
        say(pages.checked_page(done, everything=everything))
    return 0 if done.clean else 1


def _mend(site: "Site", request: "CheckRequest", *, staged: bool) -> None:
    """Shows the diff of what the project's own tools correct, and writes it."""
    from agentforge.app.checks.checking import chosen_files
    from agentforge.app.checks.mending import mend
    from agentforge.surfaces.cli.pages.words import count
    from agentforge.surfaces.cli.printing import print_text

    if staged:
        raise click.UsageError("--fix changes files, and --staged looks at what is staged: give one.")
    done = mend(site, chosen_files(site, request), lambda diff: print_text(diff.rstrip()) if diff else None)
    names = " and ".join(done.programs)
    what = f"corrected {count(done.files, 'file')}" if done.files else "had nothing to correct"
    say(f"{names} {what}.", err=True)
