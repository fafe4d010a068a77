"""`start` and the seven goals: a request becomes a task, and the task is driven."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

import click

from agentforge.surfaces.cli.flags import at_terminal, permissions_of
from agentforge.surfaces.cli.repo_option import default_base, here, inside
from agentforge.surfaces.cli.request import request_argument, request_of
from agentforge.surfaces.cli.start_flags import StartFlags, start_flags

if TYPE_CHECKING:
    from agentforge.app.intake.starting import StartOptions
    from agentforge.app.intake.watching import Watching
    from agentforge.app.record.open_tasks import OpenTask
    from agentforge.core.reply import Json
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages.screen import Screen


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
@start_flags
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
@start_flags
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
@start_flags
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
@start_flags
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
@start_flags
def review(*, path: str, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Review PATH: what it contains and what is wrong with it; change nothing."""
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
@start_flags
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
@start_flags
def research(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Answer REQUEST in a document that cites its sources; change no code."""
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
@start_flags
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
@start_flags
def analyse(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Describe what data shows, with numbers that are checked; change no code."""
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
@start_flags
def curate(*, words: tuple[str, ...], file: str | None, **flags: Unpack[StartFlags]) -> int:
    """Clean or convert data as REQUEST asks, and check the result; change no code."""
    return _start(_asked(words, file, "curate", flags), flags, goal="curate")


@click.command(
    epilog="""\b
Examples:
  agentforge fix V-04b31cde217a --model openai:NAME

The answer is a branch, agentforge/TASK, on which the check that found the violation passes."""
)
@click.argument("violation", metavar="VIOLATION")
@start_flags
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
    "--options",
    metavar="NAME[: TEXT]",
    multiple=True,
    help="An option; give three or more, each with --options.",
)
@click.option("--context", metavar="TEXT", default="", help="What every debater must know.")
@click.option(
    "--constraint",
    metavar="TEXT",
    multiple=True,
    help="What no option may break; may be given several times.",
)
@start_flags
def debate(
    *,
    words: tuple[str, ...],
    file: str | None,
    options: tuple[str, ...],
    context: str,
    constraint: tuple[str, ...],
    **flags: Unpack[StartFlags],
) -> int:
    """Debate the question in REQUEST from three sides, and decide it; change nothing."""
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
    from dataclasses import replace
    from functools import partial

    from agentforge.app.drivers import driving, remote
    from agentforge.app.intake import starting
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive_and_tell, tell_handed_over

    site = Site.open(here())
    dirty = site.git.is_dirty()
    options = replace(
        _options(site, request, flags),
        pipeline=goal or pipeline,
        asked_by=f"agentforge {goal}" if goal else "",
        path=None if path is None else inside(path),
        plan=plan,
    )
    remote.check_engine(options.engine, detach=flags["detach"] and not flags["batch"])
    notices: list[str] = []
    task = starting.start(site, options, notices.append)
    if flags["detach"] and options.engine == "temporal":
        return tell_handed_over(task, remote.hand_over(task), as_data=flags["as_data"])
    left_out = []
    if request and request not in task.state.request:
        left_out.append("removed from the request: text that looks like a secret")
    if dirty:
        left_out.append(
            "uncommitted changes are not part of the task; it starts from commit "
            f"{task.state.base_commit[:12]}"
        )
    work = partial(driving.drive, detach=flags["detach"])
    opening = partial(_open_page, task, notices, left_out)
    code = drive_and_tell(task, work, as_data=flags["as_data"], opening=opening)
    if then is not None:
        then(task)
    return code


def _options(site: "Site", request: str, flags: StartFlags) -> "StartOptions":
    """What the flags say, as the value that a task is started with."""
    from agentforge.app.intake.starting import StartOptions
    from agentforge.surfaces.cli.durations import seconds

    return StartOptions(
        request,
        base=flags["base"] or default_base(site.git),
        lane=flags["lane"],
        model=flags["model"],
        sandbox=flags["sandbox"],
        budget_usd=flags["budget"],
        through=flags["through"],
        skip_to=flags["skip_to"],
        spec_file=flags["spec_file"],
        from_tests=flags["from_tests"],
        from_task=flags["from_task"],
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


def _open_page(task: "OpenTask", notices: Sequence[str], left_out: Sequence[str], screen: "Screen") -> None:
    """What is said of a task before its first line: how it will be done, and what a person should know."""
    from agentforge.app.intake.forecasts import forecast
    from agentforge.app.intake.starting import read_conventions
    from agentforge.surfaces.cli.pages.now import line_of

    state = task.state
    screen.line(task.task_id, "heading")
    screen.line(f"  {line_of(state.pipeline, state.triage)}")
    models = "models by tier" if state.model == "tiers" else f"model {state.model}"
    screen.line(f"  {models}, sandbox {state.sandbox}")
    for sentence in notices:
        screen.line(f"  {sentence}", "caught")
    if conventions := read_conventions(task.site, state.base_tree):
        screen.line(f"  conventions read: {', '.join(conventions)}", "quiet")
    if expected := forecast(task):
        screen.line(f"  {expected.sentence}", "quiet")
    for sentence in left_out:
        screen.line(f"  {sentence}", "caught")
