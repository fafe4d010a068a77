"""`continue`, also called `resume`: a task that was stopped goes on."""

from typing import TYPE_CHECKING, Unpack

import click

from agentforge.surfaces.cli.flags import PermissionFlags, no_wait_option, permission_flags, permissions_of
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.record.open_tasks import OpenTask
    from agentforge.store.task.engine import EngineName


@click.command(
    "continue",
    epilog="""\b
Examples:
  agentforge continue
  agentforge continue task-20300131-add-a-version-flag
  agentforge continue --strict
  agentforge continue --model anthropic:NAME
  agentforge continue task-20300131-design-fractions --extend-to deliver
  agentforge continue task-20300131-design-fractions --revise --feedback "Say what 0 means"

TASK is the beginning of a task's name, or its place in `agentforge status` (@1 or 1, @2 or 2); the newest
task by default. A task that was killed continues where it stopped; one that failed or was aborted resumes
at the first stage without an accepted result. A completed task continues only with --extend-to, which
builds on what it made, or with --revise, which presents its result again. A version that you have edited by
hand while it was presented is taken in, judged and presented again. Permission flags replace those that the
task was started with.""",
)
@task_argument
@permission_flags
@click.option("--extend-to", metavar="STAGE", help="Go on to this later stage; what is final stays as it is.")
@click.option("--revise", is_flag=True, help="Present the last result again, to change it.")
@click.option("--feedback", metavar="WORDS", help="With --revise: what should be different.")
@click.option("--model", metavar="SPEC", help="PROVIDER:NAME for the rest of the task.")
@click.option(
    "--engine",
    type=click.Choice(["local", "temporal"]),
    help="What runs the task; the same as before by default.",
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Run it from here, or on the other engine, once it is certain that nothing else runs it.",
)
@click.option(
    "--detach",
    is_flag=True,
    help="Return while it waits for a batch or another task; with Temporal: do not follow.",
)
@no_wait_option
@repo_option
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def resume(  # noqa: PLR0913 - the options of the command
    *,
    task: str | None,
    extend_to: str | None,
    revise: bool,
    feedback: str | None,
    model: str | None,
    engine: "EngineName | None",
    take_over: bool,
    detach: bool,
    no_wait: bool,
    as_data: bool,
    **allowed: Unpack[PermissionFlags],
) -> int:
    """Continue TASK, or the newest task."""
    from functools import partial

    from agentforge.app.drivers import driving, remote
    from agentforge.app.models.change import model_change, resume_with
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.driving import drive_and_tell, tell_handed_over

    if revise and extend_to is not None:
        raise click.UsageError("Give --revise or --extend-to: what is extended must be as you want it.")
    if feedback is not None and not revise:
        raise click.UsageError("--feedback says what to change with --revise.")
    permissions = permissions_of(**allowed) if any(allowed.values()) else None
    found = open_task(here(), task)
    if take_over:
        for sentence in remote.take_over(found, engine):
            say(sentence, err=True)
    else:
        remote.check_driven_by(found, engine)
    if revise:
        return _revise(found, feedback, as_data=as_data)
    if extend_to is not None:
        _extend(found, extend_to)
    change = model_change(found, model, partial(say, err=True)) if model else None
    if detach and not remote.may_be_left(found):
        problem = remote.hand_over(found, resume_with(change, no_wait=no_wait), permissions)
        return tell_handed_over(found, problem, as_data=as_data)
    work = partial(driving.resume, permissions=permissions, change=change, no_wait=no_wait, detach=detach)
    return drive_and_tell(found, work, as_data=as_data)


def _extend(task: "OpenTask", target: str) -> None:
    """A longer line; to one that waits for a decision about its last version, that is an approval."""
    from agentforge.app.intake.extending import extend_line
    from agentforge.app.people.answers import answer
    from agentforge.app.people.deciding import DECISIONS

    waiting = task.state.open_escalation
    extend_line(task, target)
    if waiting is not None and waiting.kind in DECISIONS and "extend" in waiting.question.options:
        answer(task, waiting.id, "extend")


def _revise(task: "OpenTask", words: str | None, *, as_data: bool) -> int:
    """The last result before the person again, and what they say of it."""
    from agentforge.app.people.deciding import reopen
    from agentforge.app.people.feedback import read_feedback
    from agentforge.surfaces.cli.deciding import answer_and_drive
    from agentforge.surfaces.cli.driving import drive_and_tell

    said = None if words is None else read_feedback(words, "the feedback")
    asked = reopen(task)
    if said is None:
        return drive_and_tell(task, as_data=as_data)
    return answer_and_drive(task, asked.id, said.choice, said.feedback, as_data=as_data)
