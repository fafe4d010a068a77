"""`approve`, `reject` and `feedback`: a person decides about a version, and the task goes on."""

import click

from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument, task_argument
from agentforge.surfaces.cli.usage import own_words

_NO_DRIVE = click.option(
    "--no-drive", is_flag=True, help="Only record it; `agentforge continue` resumes the task later."
)
_JSON = click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)


@click.command(
    epilog="""\b
Examples:
  agentforge approve
  agentforge approve task-20300131-design-fractions
  agentforge approve task-20300131-design-fractions --exit

If you have edited the file that is presented, your version is first judged like any other. Then the task
goes on, or is done if nothing comes after."""
)
@task_argument
@click.option("--exit", "leave", is_flag=True, help="End the task here, with this version as its result.")
@repo_option
@_NO_DRIVE
@_JSON
def approve(*, task: str | None, leave: bool, no_drive: bool, as_data: bool) -> int:
    """Approve what TASK presents, and let it go on."""
    from agentforge.app.people.deciding import decision_awaited
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.deciding import answer_and_drive

    found = open_task(here(), task)
    asked = decision_awaited(found)
    words = "exit" if leave else "approve"
    return answer_and_drive(found, asked.id, words, no_drive=no_drive, as_data=as_data)


@click.command(
    epilog="""\b
Examples:
  agentforge reject task-20300131-design-fractions "It is about the wrong parser"

The stage before works again and is told why; then another version is made of what you rejected. Where a
result can only be approved or refused, the task ends and its work is kept."""
)
@named_task_argument
@click.argument("reason", metavar="[REASON]", nargs=-1)
@repo_option
@_NO_DRIVE
@_JSON
def reject(*, task: str, reason: tuple[str, ...], no_drive: bool, as_data: bool) -> int:
    """Reject what TASK presents: it goes back to the stage before."""
    from agentforge.app.people.deciding import decision_awaited
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.deciding import answer_and_drive

    found = open_task(here(), task)
    asked = decision_awaited(found)
    words = own_words(" ".join(reason), "reason").strip() if reason else ""
    answer = f"reject: {words}" if words else "reject"
    return answer_and_drive(found, asked.id, answer, no_drive=no_drive, as_data=as_data)


@click.command(
    epilog="""\b
Examples:
  agentforge feedback task-20300131-design-fractions "Say what happens to a denominator of 0"
  agentforge feedback task-20300131-design-fractions --file feedback.yaml
  agentforge feedback task-20300131-design-fractions --edit

FILE holds plain text, or YAML with overall_comments and specific_issues (location, issue, suggestion and
priority: must_address or should_consider). With --edit you change the version itself in your editor; it is
then judged and presented again."""
)
@named_task_argument
@click.argument("words", metavar="[WORDS]", nargs=-1)
@click.option("--file", metavar="FILE", help="Read the feedback from FILE; `-` is standard input.")
@click.option("--edit", is_flag=True, help="Edit what is presented, instead of asking for changes.")
@repo_option
@_NO_DRIVE
@_JSON
def feedback(
    *, task: str, words: tuple[str, ...], file: str | None, edit: bool, no_drive: bool, as_data: bool
) -> int:
    """Ask for changes in what TASK presents; the next version is then made."""
    from agentforge.app.people.deciding import EDIT, check_about, decision_awaited
    from agentforge.app.people.feedback import read_feedback
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.deciding import answer_and_drive

    if sum((bool(words), file is not None, edit)) != 1:
        raise click.UsageError("Give one of WORDS, --file FILE and --edit.")
    found = open_task(here(), task)
    asked = decision_awaited(found)
    if edit:
        from agentforge.surfaces.cli.asking import edit_presented

        edit_presented(found)
        return answer_and_drive(found, asked.id, EDIT, no_drive=no_drive, as_data=as_data)
    if file is not None:
        from agentforge.surfaces.cli.request import text_of

        said = read_feedback(text_of(file, "feedback"), file)
    else:
        said = read_feedback(own_words(" ".join(words), "feedback"), "the feedback")
    check_about(found, said)
    return answer_and_drive(found, asked.id, said.choice, said.feedback, no_drive=no_drive, as_data=as_data)
