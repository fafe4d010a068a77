"""`init`: shows what was detected in a repository, and writes settings that a person can correct."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import paragraph, say
from agentforge.surfaces.cli.repo_option import here, repo_option

if TYPE_CHECKING:
    from agentforge.app.setup.configuring import Configured
    from agentforge.core.reply import Json


@click.command(
    epilog="""\b
Examples:
  agentforge init
  agentforge init --force
  agentforge init --with-catalog
  agentforge init --with-rules

Nothing is committed. Settings are read from the commit that a task starts from, so commit the file when it
is right."""
)
@click.option("--force", is_flag=True, help="Overwrite existing settings.")
@click.option(
    "--with-catalog",
    is_flag=True,
    help="Write commented examples of roles, stages, pipelines and contracts of your own.",
)
@click.option(
    "--with-rules",
    is_flag=True,
    help="Write checks for the rules in AGENTS.md and similar files that a check can test.",
)
@repo_option
@click.option("--json", "as_data", is_flag=True, help="Print what was detected as JSON.")
def init(*, force: bool, with_catalog: bool, with_rules: bool, as_data: bool) -> int:
    """Detect how this project is built and tested, and write settings you can edit."""
    from agentforge.app.setup.configuring import configure
    from agentforge.app.setup.settings import SETTINGS_FILE
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(here())
    done = configure(site, force=force, with_catalog=with_catalog, with_rules=with_rules)
    if as_data:
        examples = {"examples": done.examples, "left": done.left} if with_catalog else {}
        print_json({**_fields(done), **examples})
        return 0
    say(f"Detected in {site.git.top} at {done.head[:12]}:")
    for name, found in done.facts:
        for at, line in enumerate(found or ["none"]):
            say(paragraph(f"  {name if at == 0 else '':<14}", line))
    for text in _stated(done):
        say(text)
    for text in _written(done, SETTINGS_FILE):
        say(text)
    return 0


def _fields(done: "Configured") -> "dict[str, Json]":
    from agentforge.app.setup.settings_file import spell_command

    plan = done.plan
    return {
        "setup": [spell_command(words) for words in plan.setup],
        "tests": spell_command(plan.tests),
        "test_paths": [*plan.test_paths],
        "integration": [marked.name for marked in plan.marked],
        "not_checked": [{"name": name, "why": why} for name, why in plan.not_run],
        "import_roots": [root or "." for root in plan.import_roots],
        "linters": [*plan.linters],
        "type_checkers": [*plan.type_checkers],
        "reasons": [*plan.reasons],
        "sandbox": done.sandbox.name if done.sandbox else None,
        "models": [*done.models],
        "settings": done.settings,
        "rules": [
            {"place": rule.place, "said": rule.said, "file": rule.path, "written": done.accepted}
            for rule in done.rules
        ],
    }


def _stated(done: "Configured") -> list[str]:
    """What would be, or was, written of the rules that the project states, as a diff."""
    if not done.rules:
        return []
    told = ["", "Rules in your conventions that a check can test:"]
    for rule in done.rules:
        told += [f"--- /dev/null  {rule.place}", f"+++ b/{rule.path}"]
        told += [f"+{line}" for line in rule.text.splitlines()]
    end = (
        "Written; commit what you agree with, and delete the rest."
        if done.accepted
        else ("Nothing of this was written. Accept it with `agentforge init --with-rules`.")
    )
    return [*told, end]


def _written(done: "Configured", settings: str) -> list[str]:
    told = ["", f"Written: {done.settings}." if done.settings else f"Not changed: {settings}."]
    if done.examples:
        told += ["Wrote examples. Every line is commented out, so nothing changes yet:"]
        told += [f"  {name}" for name in done.examples]
    told += [f"Not changed: {name}." for name in done.left]
    told += ["Run state is kept out of git by .git/info/exclude; nothing was committed."]
    told += ["Next:", f"  correct {settings} if something above is wrong, and commit it"]
    told += ["  agentforge pipelines validate FILE   after uncommenting an example"] if done.examples else []
    return [*told, '  agentforge start "what you want"']
