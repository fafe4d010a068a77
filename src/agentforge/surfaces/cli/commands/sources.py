"""`sources`: pages that documents may cite, recorded by a person."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option


@click.group(
    epilog="""\b
Examples:
  agentforge sources add URL
  agentforge sources add URL --from spec.html
  agentforge sources list"""
)
def sources() -> None:
    """Record pages that documents may cite, with their hash."""


@sources.command(
    epilog="""\b
Examples:
  agentforge sources add URL
  agentforge sources add URL --from spec.html

The copy and its row in sources/sources.yaml are yours to commit; a task cannot change them."""
)
@click.argument("url", metavar="URL")
@click.option(
    "--from", "saved", type=click.Path(path_type=Path), help="A file that holds the page; nothing is fetched."
)
@json_option
@repo_option
def add(*, url: str, saved: Path | None, as_data: bool) -> int:
    """Fetch the page at URL and keep it in sources/, with its hash."""
    from agentforge.app.checks.sources import add_source
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    made = add_source(Site.open(here()), url, saved)
    if as_data:
        print_json(made.to_json())
        return 0
    say(f"{made.url} is recorded as {made.file}. Commit the folder sources, so that tasks may cite it.")
    return 0


@sources.command(
    name="list",
    epilog="""\b
Examples:
  agentforge sources list
  agentforge sources list --json

Ends with 1 if a copy is missing or was changed.""",
)
@json_option
@repo_option
def list_(*, as_data: bool) -> int:
    """List the recorded pages, and whether their copies are as they were."""
    from agentforge.app.checks.sources import list_sources
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    found = list_sources(Site.open(here()))
    if as_data:
        print_json({"sources": [source.to_json() for source in found]})
    else:
        for source in found:
            say(f"{source.state:8} {source.url}  {source.file}")
        if not found:
            say("No page is recorded. `agentforge sources add URL` records one.")
    return 0 if all(source.state == "kept" for source in found) else 1
