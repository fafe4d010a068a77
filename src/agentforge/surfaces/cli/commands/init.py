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
  agentforge init --with-catalog

Nothing is committed. Settings are read from the commit that a task starts from, so commit the file when it
is right."""
)
@click.option("--force", is_flag=True, help="Write the settings anew over the ones that are there.")
@click.option(
    "--with-catalog",
    is_flag=True,
    help="Write commented examples of roles, stages, pipelines and contracts of your own.",
)
@click.option("--json", "as_data", is_flag=True, help="Print what was detected as JSON.")
def init(*, force: bool, with_catalog: bool, as_data: bool) -> int:
    """Show what was detected here and write settings you can correct."""
    from agentforge.app.driver import EXCLUDED
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(Path.cwd())
    head = site.git.head()
    plan = _plan(site, head)
    settings = _write_settings(site, plan, force=force, or_leave=with_catalog)
    written, left = _write_examples(site) if with_catalog else ([], [])
    for pattern in EXCLUDED:
        site.git.exclude_locally(pattern)
    facts = _facts(site, head, plan)
    if as_data:
        print_json(
            {
                **dict(facts),
                "settings": settings,
                **({"examples": written, "left": left} if with_catalog else {}),
            }
        )
        return 0
    click.echo(f"Detected in {site.git.top} at {head[:12]}:")
    for name, found in facts:
        for at, line in enumerate(found or ["none"]):
            click.echo(f"  {name if at == 0 else '':<14}{line}")
    for text in _told(settings, written, left):
        click.echo(text)
    return 0


def _write_settings(site: "Site", plan: "Plan", *, force: bool, or_leave: bool) -> str | None:
    """The path of the settings, if they were written; what is there already is somebody's."""
    from agentforge.app.settings import SETTINGS_FILE
    from agentforge.app.settings_file import spell
    from agentforge.core.errors import UsageError
    from agentforge.system.files import write_atomic

    path = site.git.top / SETTINGS_FILE
    if path.exists() and not force:
        if or_leave:
            return None
        raise UsageError(
            f"{SETTINGS_FILE} is there already.",
            "Correct it by hand, or write it anew with `agentforge init --force`.",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, spell(plan).encode())
    return SETTINGS_FILE


def _write_examples(site: "Site") -> tuple[list[str], list[str]]:
    """Which examples were written, and which were left because a file is there. None is ever written over,
    `--force` or not.
    """
    from agentforge.catalog.check import examples
    from agentforge.system.files import write_atomic

    written, left = [], []
    for name, text in examples().items():
        path = site.git.top / name
        if path.exists() or path.is_symlink():
            left.append(name)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
        written.append(name)
    return written, left


def _told(settings: str | None, written: list[str], left: list[str]) -> list[str]:
    from agentforge.app.settings import SETTINGS_FILE

    told = ["", f"Written: {settings}." if settings else f"Left as it is: {SETTINGS_FILE}."]
    if written:
        told += [
            "Examples written, every line a comment, so nothing changes yet:",
            *(f"  {name}" for name in written),
        ]
    told += [f"Left as it is: {name}." for name in left]
    told += ["Run state is kept out of git by .git/info/exclude; nothing was committed."]
    told += ["Next:", f"  correct {SETTINGS_FILE} where the above is wrong, and commit it"]
    told += ["  agentforge pipelines validate FILE   after you uncommented an example"] if written else []
    return [*told, '  agentforge start "what you want"']


def _plan(site: "Site", head: str) -> "Plan":
    from agentforge.sandbox.detect import detect

    tree = site.git.tree_of(head)
    paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]
    return detect(lambda path: site.git.read_blob(tree, path), paths)


def _facts(site: "Site", head: str, plan: "Plan") -> list[tuple[str, list[str]]]:
    from agentforge.surfaces.cli.pages.words import command_line
    from agentforge.system.visible import one_line

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
    from agentforge.app.settings import read_own_settings
    from agentforge.core.errors import PolicyError
    from agentforge.sandbox.ladder import choose
    from agentforge.store.site import home_path

    try:
        found = choose("auto", read_own_settings(home_path() / "config.yaml")[1].container)
    except PolicyError as error:
        return [error.sentence, error.next_step]
    return [found.name, *(f"{key}: {value}" for key, value in found.guarantee().items())]


def _model(site: "Site", head: str) -> str:
    from agentforge.app.settings import NO_MODEL, read_settings
    from agentforge.core.errors import UsageError

    try:
        specs = read_settings(site.git, head, model=None, sandbox=None, budget_usd=None).tiers.specs
    except UsageError as error:  # the committed settings are wrong, which is a reason to be here
        return f"not known: {error.sentence}"
    return ", ".join(specs) or f"not configured. {NO_MODEL}"
