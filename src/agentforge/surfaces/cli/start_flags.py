"""What can be said beside a request: the options that every way to start a task has."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.flags import F, PermissionFlags, no_wait_option, permission_flags, with_options
from agentforge.surfaces.cli.repo_option import repo_option

if TYPE_CHECKING:
    from agentforge.core.values import Oversight
    from agentforge.store.task.engine import EngineName

LANES = ("hotfix", "small", "full")
MODES = ("fast", "balanced", "execute", "heavy", "debug", "architect", "offline-safe", "plan", "audit")
"""Both as the catalogue knows them, which is too heavy to load for a help text."""


class StartFlags(PermissionFlags):
    """What can be said beside a request."""

    lane: str | None
    mode: str | None
    base: str | None
    model: str | None
    sandbox: str | None
    budget: str | None
    engine: "EngineName"
    batch: bool
    deadline: str | None
    detach: bool
    no_wait: bool
    as_data: bool
    through: str | None
    skip_to: str | None
    spec_file: str | None
    from_tests: str | None
    from_task: str | None
    iterate: bool
    iterate_at: tuple[str, ...]
    no_iterate: bool
    oversight: "Oversight | None"
    approve: tuple[str, ...]
    debate: bool
    no_debate: bool
    reworks: str | None


_LINE = (
    click.option(
        "--lane", type=click.Choice(LANES), help="How many stages; by default chosen from the request."
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help="How much effort; plan and audit change no files. Default: balanced.",
    ),
    click.option(
        "--through",
        "--exit-after",
        "through",
        metavar="STAGE",
        help="End after this stage; `agentforge pipelines show NAME` draws them.",
    ),
    click.option("--skip-to", metavar="STAGE", help="Begin at this stage, with what it needs handed in."),
    click.option(
        "--spec",
        "--from-spec",
        "spec_file",
        metavar="FILE",
        help="Work from the specification in this YAML file.",
    ),
    click.option("--from-tests", metavar="PATH", help="Take in these tests, beside a specification."),
    click.option("--from-task", metavar="TASK", help="Work from what an earlier task made and proved."),
)
"""Which stages the task goes through."""

_PEOPLE = (
    click.option("--iterate", is_flag=True, help="Present each version for your feedback, where possible."),
    click.option(
        "--iterate-at",
        metavar="STAGE",
        multiple=True,
        help="Present versions of this stage only; may be given several times.",
    ),
    click.option("--no-iterate", is_flag=True, help="Present nothing; go on when the gates pass."),
    click.option("--supervised", "oversight", flag_value="supervised", help="Ask you before every stage."),
    click.option("--interactive", "oversight", flag_value="interactive", help="Ask you before every step."),
    click.option(
        "--approve",
        metavar="STAGE",
        multiple=True,
        help="Ask you to approve what this stage made; design and commit mean spec and deliver.",
    ),
    click.option("--debate", is_flag=True, help="Debate how to do it before the specification is written."),
    click.option(
        "--no-debate",
        is_flag=True,
        help="Hold no debate, even if the pipeline asks for one; this is recorded.",
    ),
)
"""Where a person is asked."""

_GROUNDS = (
    click.option("--reworks", metavar="TASK", help="Name the task whose result this one corrects."),
    click.option(
        "--base",
        metavar="REF",
        help="The commit to start from; HEAD by default, with --repo its default branch.",
    ),
    click.option("--model", metavar="SPEC", help="PROVIDER:NAME for every call; your tiers by default."),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "bubblewrap", "landlock", "container", "none"]),
        help="The sandbox that code runs in.",
    ),
    click.option("--budget", metavar="USD", help="The most the task may cost in dollars, such as 2.50."),
)
"""What the task starts from, and what it may use."""

_RUNNING = (
    click.option(
        "--engine",
        type=click.Choice(["local", "temporal"]),
        default="local",
        help="What runs the task: this command, or Temporal workers.",
    ),
    click.option(
        "--batch",
        is_flag=True,
        help="Send calls in batches where the provider has them: half the price, but it takes hours.",
    ),
    click.option(
        "--deadline",
        metavar="DURATION",
        help="Send a call live if its batch takes longer than this, such as 90m.",
    ),
    click.option(
        "--detach",
        is_flag=True,
        help="With --batch: return while batches wait. With --engine temporal: do not follow.",
    ),
    no_wait_option,
    click.option(
        "--json",
        "as_data",
        is_flag=True,
        help="Print the result as JSON; progress goes to the error stream.",
    ),
)
"""How it is run, and told of."""


def start_flags(command: F) -> F:
    """Adds them to a command, which takes `**flags: Unpack[StartFlags]`."""
    asked = with_options(command, *_LINE, *_PEOPLE, *_GROUNDS, *_RUNNING)
    return repo_option(permission_flags(asked))
