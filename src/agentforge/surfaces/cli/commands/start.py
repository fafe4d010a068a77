"""`start` and the seven goals: a request becomes a task, and the task is driven."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, Unpack

import click

from agentforge.surfaces.cli.flags import (
    PermissionFlags,
    at_terminal,
    no_wait_option,
    permission_flags,
    permissions_of,
)
from agentforge.surfaces.cli.repo_option import default_base, here, inside, repo_option
from agentforge.surfaces.cli.request import request_argument, request_of

if TYPE_CHECKING:
    from agentforge.app.intake.watching import Watching
    from agentforge.app.record.open_tasks import OpenTask
    from agentforge.core.reply import Json
    from agentforge.core.values import Oversight
    from agentforge.store.task.engine import EngineName
    from agentforge.surfaces.cli.pages.screen import Screen

F = TypeVar("F", bound=Callable[..., int])

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


def _start_flags(command: F) -> F:
    """The options that every way to start has."""
    options = (
        click.option(
            "--lane", type=click.Choice(LANES), help="How many stages; by default chosen from the request."
        ),
        click.option(
            "--mode",
            type=click.Choice(MODES),
            help="How much effort; plan and audit change no files. Usually balanced.",
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
        click.option(
            "--iterate", is_flag=True, help="Present each version for your feedback, where possible."
        ),
        click.option(
            "--iterate-at",
            metavar="STAGE",
            multiple=True,
            help="Present versions of this stage alone; more than once for several.",
        ),
        click.option("--no-iterate", is_flag=True, help="Present nothing; go on when the gates pass."),
        click.option(
            "--supervised", "oversight", flag_value="supervised", help="Ask you before every stage."
        ),
        click.option(
            "--interactive", "oversight", flag_value="interactive", help="Ask you before every step."
        ),
        click.option(
            "--approve",
            metavar="STAGE",
            multiple=True,
            help="Ask you to approve what this stage made; design and commit mean spec and deliver.",
        ),
        click.option(
            "--debate", is_flag=True, help="Have the way to do it argued and decided before it is specified."
        ),
        click.option(
            "--no-debate", is_flag=True, help="Hold no debate, even where the pipeline wants one; on record."
        ),
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
    for option in reversed(options):
        command = option(command)
    return repo_option(permission_flags(command))


@click.command(
    epilog="""\b
Examples:
  agentforge start "Add a --version flag to the command line" --model openai:NAME
  agentforge start "Fix the rounding in total()" --lane hotfix
  agentforge start "Parse fractions" --lane full --base main --budget 2.50 --json
  agentforge start "What does the date parser touch?" --mode audit
  agentforge start "Parse fractions" --through spec
  agentforge start "Parse fractions" --skip-to red --spec ./spec.yaml
  agentforge start --file request.md
  gh issue view 12 | agentforge start -

Without REQUEST your editor opens. Pipeline, lane and mode are chosen from the request unless you set them,
and shown with the reason: `design`, `review` and `document` by its first verb, else `implement`. The result
of `implement` is the branch agentforge/TASK, that of `design` a specification. Your checkout is never
touched and nothing is merged."""
)
@request_argument
@click.option(
    "--pipeline", metavar="NAME", help="The pipeline to run; `agentforge pipelines list` shows all."
)
@click.option(
    "--compare-to", metavar="TASK", help="Show beside this task how the new one went, once it is over."
)
@_start_flags
def start(
    *,
    words: tuple[str, ...],
    file: str | None,
    pipeline: str | None,
    compare_to: str | None,
    **flags: Unpack[StartFlags],
) -> int:
    """Turn REQUEST into a verified branch, or one precise question."""
    request = _asked(words, file, "start", flags)
    if compare_to is None:
        return _start(request, flags, pipeline=pipeline)
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.commands.compare import tell_comparison

    if flags["as_data"]:
        raise click.UsageError(
            f"--compare-to is for people; with --json run `agentforge compare {compare_to} @1` once the task "
            "is over."
        )
    other = open_task_or_branch(here(), compare_to)
    return _start(request, flags, pipeline=pipeline, then=lambda task: tell_comparison(other, task))


@click.command(
    epilog="""\b
Examples:
  agentforge design "Let the parser understand fractions" --model openai:NAME
  agentforge design "A plugin system" --mode heavy --budget 2.50

The same as `agentforge start --pipeline design`. The result is a file; no branch is created and nothing is
changed."""
)
@request_argument
@_start_flags
def design(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Turn REQUEST into a specification with a security review; change nothing."""
    return _start(_asked(words, file, "design", flags), flags, goal="design")


@click.command(
    epilog="""\b
Examples:
  agentforge implement "Let the parser understand fractions" --model openai:NAME
  agentforge implement "Fix the rounding in total()" --lane hotfix --mode fast

The same as `agentforge start --pipeline implement`. The result is the branch agentforge/TASK."""
)
@request_argument
@_start_flags
def implement(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Turn REQUEST into a verified branch, however it is worded."""
    return _start(_asked(words, file, "implement", flags), flags, goal="implement")


@click.command(
    epilog="""\b
Examples:
  agentforge test --spec ./spec.yaml --model openai:NAME
  agentforge test --from-task task-20300131-design-fractions
  agentforge test --spec ./spec.yaml "Test the error messages too"

The same as `agentforge start --pipeline test`. The answer is a branch with tests and nothing else: they fail
where the behaviour is missing, and are proved to notice mistakes where it is there."""
)
@request_argument
@_start_flags
def test(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Write the tests of a specification; change nothing else."""
    return _start(_asked(words, file, "test", flags, optional=True), flags, goal="test")


@click.command(
    epilog="""\b
Examples:
  agentforge review ./src/auth/ --model openai:NAME
  agentforge review ./src/parser "Is input from users checked?"

The answer is a file with what was found; no branch is made and nothing is changed. PATH is looked at as the
commit has it that the task starts from."""
)
@click.argument("path", metavar="PATH")
@request_argument
@_start_flags
def review(*, path: str, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Say what is in PATH and what is wrong with it; change nothing."""
    return _start(_asked(words, file, "review", flags, optional=True), flags, goal="review", path=path)


@click.command(
    epilog="""\b
Examples:
  agentforge document ./src/auth/ --model openai:NAME
  agentforge document ./src/parser "A guide for people who write plugins"

The answer is a branch, agentforge/TASK, in which documents have changed and nothing else has. Docstrings are
code: they stay as they are."""
)
@click.argument("path", metavar="PATH")
@request_argument
@_start_flags
def document(*, path: str, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Write documentation of PATH, compared with the code by a second reader."""
    return _start(_asked(words, file, "document", flags, optional=True), flags, goal="document", path=path)


@click.command(
    epilog="""\b
Examples:
  agentforge research "How long is a session kept, and who decides that?" --model openai:NAME
  agentforge research "Compare the two parsers in docs/parsers.md" --lane small

The answer is a branch, agentforge/TASK, with checks (*.checks.yaml) that failed before, and a document that
meets them. Claims cite lines of files, pages that you recorded with `agentforge sources add URL`, or DOIs."""
)
@request_argument
@_start_flags
def research(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Answer REQUEST in a document whose claims are cited; change no code."""
    return _start(_asked(words, file, "research", flags), flags, goal="research")


@click.command(
    epilog="""\b
Examples:
  agentforge write "An announcement of version 2 in news/v2.md, 300 words at most" --model openai:NAME
  agentforge write "A post about the new parser" --lane small

The answer is a branch, agentforge/TASK, with checks (*.checks.yaml) that failed before, and the text. Code
and settings stay as they are."""
)
@request_argument
@_start_flags
def write(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Write the text that REQUEST asks for, within its limits; change no code."""
    return _start(_asked(words, file, "write", flags), flags, goal="write")


@click.command(
    epilog="""\b
Examples:
  agentforge analyse "What does data/survey.csv say about the waiting times?" --model openai:NAME
  agentforge analyse "Summarise sales by region in reports/sales.md" --lane small

The answer is a branch, agentforge/TASK, with checks (*.checks.yaml) that failed before, and findings whose
numbers are computed again from the data."""
)
@request_argument
@_start_flags
def analyse(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Say what data shows, with numbers that hold; change no code."""
    return _start(_asked(words, file, "analyse", flags), flags, goal="analyse")


@click.command(
    epilog="""\b
Examples:
  agentforge curate "One row per customer in data/customers.csv, with valid countries" --model openai:NAME
  agentforge curate "Join data/a.csv and data/b.csv by id" --lane small

The answer is a branch, agentforge/TASK, with checks (*.checks.yaml) that failed before, and data that meets
them: schema, keys, completeness."""
)
@request_argument
@_start_flags
def curate(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Bring data into the form that REQUEST asks for; change no code."""
    return _start(_asked(words, file, "curate", flags), flags, goal="curate")


@click.command(
    epilog="""\b
Examples:
  agentforge fix V-04b31cde217a --model openai:NAME

The answer is a branch, agentforge/TASK, on which the check that found the violation passes."""
)
@click.argument("violation", metavar="VIOLATION")
@_start_flags
def fix(*, violation: str, **flags: Unpack[StartFlags]) -> int:
    """Fix one violation that a check has found."""
    from agentforge.app.intake.fixing import fix_request
    from agentforge.store.site import Site

    site = Site.open(here())
    named = flags["base"] or default_base(site.git)
    base = site.git.resolve(named) if named else site.git.head()
    return _start(fix_request(site, base, violation), flags, goal="fix")


@click.command(
    epilog="""\b
Examples:
  agentforge debate "Where do sessions live?" --options Redis --options Postgres --options cookies
  agentforge debate "How do we page?" --options cursors --options "keys: by id" --options offsets
  agentforge debate --file question.md --options A --options B --options C --context "10 million rows"
  agentforge debate "Should the parser be generated?" --model openai:NAME --json

An advocate, a skeptic and an operator argue side by side, none of whom sees the others; then a synthesizer
decides. At least three options; without any a role proposes them. The result is the synthesis, with what each
wrote beside it; no branch is made and nothing is changed. `agentforge continue` goes on with one that was
stopped."""
)
@request_argument
@click.option(
    "--options", metavar="NAME[: TEXT]", multiple=True, help="One of three or more; once for each of them."
)
@click.option("--context", metavar="TEXT", default="", help="What all who argue must know.")
@click.option(
    "--constraint", metavar="TEXT", multiple=True, help="What no option may break; once for each of them."
)
@_start_flags
def debate(
    *,
    words: tuple[str, ...],
    file: str | None,
    options: tuple[str, ...],
    context: str,
    constraint: tuple[str, ...],
    **flags: Unpack[StartFlags],
) -> int:
    """Have the question in REQUEST argued from three sides, and decided; change nothing."""
    from agentforge.app.workflow.debating import PIPELINE, DebateQuestion, plan_of

    topic = _asked(words, file, "debate", flags)
    plan = plan_of(DebateQuestion(topic, options, context, constraint))
    return _start(topic, flags, goal=PIPELINE, plan=plan)


def _asked(
    words: tuple[str, ...], file: str | None, command: str, flags: StartFlags, *, optional: bool = False
) -> str:
    """The request. Who hands in a specification, or names a path, may leave it out."""
    handed_in = flags["spec_file"] or flags["from_task"]
    if not words and file is None and (optional or handed_in):
        return ""
    return request_of(words, file, command)


def _watching(flags: StartFlags) -> "Watching":
    """How closely the person wants to follow the task."""
    from agentforge.app.intake.watching import Watching

    there = at_terminal() and not flags["as_data"] and not flags["non_interactive"] and not flags["detach"]
    return Watching(
        flags["iterate"],
        flags["iterate_at"],
        flags["no_iterate"],
        flags["approve"],
        flags["oversight"] or "autonomous",
        there,
    )


def _start(  # noqa: PLR0913  # what a goal says beside the flags
    request: str,
    flags: StartFlags,
    *,
    pipeline: str | None = None,
    goal: str | None = None,
    path: str | None = None,
    plan: "Mapping[str, Json] | None" = None,
    then: "Callable[[OpenTask], None] | None" = None,
) -> int:
    from functools import partial

    from agentforge.app.drivers import driving, remote
    from agentforge.app.intake import starting
    from agentforge.app.intake.forecasts import forecast
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive_and_tell, tell_handed_over
    from agentforge.surfaces.cli.durations import seconds
    from agentforge.surfaces.cli.pages.events import line_of

    site = Site.open(here())
    dirty = site.git.is_dirty()
    options = starting.StartOptions(
        request,
        base=flags["base"] or default_base(site.git),
        lane=flags["lane"],
        model=flags["model"],
        sandbox=flags["sandbox"],
        budget_usd=flags["budget"],
        pipeline=goal or pipeline,
        asked_by=f"agentforge {goal}" if goal else "",
        path=None if path is None else inside(path),
        through=flags["through"],
        skip_to=flags["skip_to"],
        spec_file=flags["spec_file"],
        from_tests=flags["from_tests"],
        from_task=flags["from_task"],
        plan=plan,
        # Who says both wants it: an argument too many costs less than one too few.
        debate="always" if flags["debate"] else "never" if flags["no_debate"] else "named",
        reworks=flags["reworks"],
        mode=flags["mode"],
        permissions=permissions_of(
            flags["areas"], strict=flags["strict"], non_interactive=flags["non_interactive"], yes=flags["yes"]
        ),
        at_terminal=at_terminal(),
        watching=_watching(flags),
        engine=flags["engine"],
        delivery="batch" if flags["batch"] else "live",
        deadline_s=seconds(flags["deadline"]) if flags["deadline"] else 0,
        no_wait=flags["no_wait"],
    )
    remote.check_engine(options.engine, detach=flags["detach"] and not flags["batch"])
    notices: list[str] = []
    task = starting.start(site, options, notices.append)
    if flags["detach"] and options.engine == "temporal":
        return tell_handed_over(task, remote.hand_over(task), as_data=flags["as_data"])

    def opening(screen: "Screen") -> None:
        state = task.state
        screen.line(task.task_id, "heading")
        screen.line(f"  {line_of(state.pipeline, state.triage)}")
        models = "models by tier" if state.model == "tiers" else f"model {state.model}"
        screen.line(f"  {models}, sandbox {state.sandbox}")
        for sentence in notices:
            screen.line(f"  {sentence}", "caught")
        if conventions := starting.read_conventions(site, state.base_tree):
            screen.line(f"  conventions read: {', '.join(conventions)}", "quiet")
        if expected := forecast(task):
            screen.line(f"  {expected.sentence}", "quiet")
        if request and request not in state.request:
            screen.line("  removed from the request: text that looks like a secret", "caught")
        if dirty:
            screen.line(
                "  uncommitted changes are not part of the task; it starts from commit "
                f"{state.base_commit[:12]}",
                "caught",
            )

    work = partial(driving.drive, detach=flags["detach"])
    code = drive_and_tell(task, work, as_data=flags["as_data"], opening=opening)
    if then is not None:
        then(task)
    return code
