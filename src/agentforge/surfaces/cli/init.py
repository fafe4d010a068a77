"""`init`: shows what was detected in a repository, and writes settings that a person can correct."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.sandbox.detect import Plan
    from agentforge.store.site import Site


@click.command(
    epilog="""\b
Examples:
  agentforge init
  agentforge init --force

Nothing is committed. Settings are read from the commit that a task starts from, so commit the file when it is right."""
)
@click.option("--force", is_flag=True, help="Write the settings anew over the ones that are there.")
@click.option("--json", "as_data", is_flag=True, help="Print what was detected as JSON.")
def init(*, force: bool, as_data: bool) -> int:
    """Show what was detected here and write settings you can correct."""
    from agentforge.core.errors import UsageError
    from agentforge.settings import SETTINGS_FILE
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.surfaces.cli.settings_file import spell
    from agentforge.system.files import write_atomic
    from agentforge.wiring import EXCLUDED

    site = Site.open(Path.cwd())
    head = site.git.head()
    path = site.git.top / SETTINGS_FILE
    if path.exists() and not force:
        raise UsageError(f"{SETTINGS_FILE} is there already.", "Correct it by hand, or write it anew with `agentforge init --force`.")
    plan = _plan(site, head)
    facts = _facts(site, head, plan)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, spell(plan).encode())
    for pattern in EXCLUDED:
        site.git.exclude_locally(pattern)
    if as_data:
        print_json({**dict(facts), "settings": SETTINGS_FILE})
        return 0
    click.echo(f"Detected in {site.git.top} at {head[:12]}:")
    for name, found in facts:
        for at, line in enumerate(found or ["none"]):
            click.echo(f"  {name if at == 0 else '':<14}{line}")
    click.echo(f"\nWritten: {SETTINGS_FILE}. Run state is kept out of git by .git/info/exclude; nothing was committed.")
    click.echo(f'Next:\n  correct {SETTINGS_FILE} where the above is wrong, and commit it\n  agentforge start "what you want"')
    return 0


def _plan(site: "Site", head: str) -> "Plan":
    from agentforge.sandbox.detect import detect

    tree = site.git.tree_of(head)
    paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]
    return detect(lambda path: site.git.read_blob(tree, path), paths)


def _facts(site: "Site", head: str, plan: "Plan") -> list[tuple[str, list[str]]]:
    from agentforge.surfaces.cli.words import command_line, one_line

    return [
        ("setup", [one_line(command_line(words), 400) for words in plan.setup]),
        ("tests", [command_line(plan.tests)]),
        ("test paths", list(plan.test_paths)),
        ("import roots", [root or "." for root in plan.import_roots]),
        ("lint", [command_line(plan.lint_command)] if plan.lint else ["not configured"]),
        ("because", [one_line(reason) for reason in plan.reasons]),
        ("sandbox", _sandbox()),
        ("model", [_model(site, head)]),
    ]


def _sandbox() -> list[str]:
    from agentforge.core.errors import PolicyError
    from agentforge.sandbox.ladder import choose

    try:
        found = choose("auto")
    except PolicyError as error:
        return [error.sentence, error.next_step]
    return [found.name, *(f"{key}: {value}" for key, value in found.guarantee().items())]


def _model(site: "Site", head: str) -> str:
    from agentforge.core.errors import UsageError
    from agentforge.settings import NO_MODEL, read_settings

    try:
        return read_settings(site.git, head, model=None, sandbox=None, budget_usd=None).model or f"not configured. {NO_MODEL}"
    except UsageError as error:  # the committed settings are wrong, which is a reason to be here
        return f"not known: {error.sentence}"
