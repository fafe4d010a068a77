"""`resolve`: a person answers a question, and the task goes on."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_option
from agentforge.surfaces.cli.usage import own_words

if TYPE_CHECKING:
    from agentforge.app.people.inbox import InboxRecord

RETRY = "retry"
"""What another model is named for."""


@click.command(
    epilog="""\b
Examples:
  agentforge resolve ESC-001 --answer "Use UTC everywhere"
  agentforge resolve ESC-002 --task task-20300131-add --answer retry
  agentforge resolve ESC-003 --answer allow
  agentforge resolve ESC-001 --option 1
  agentforge resolve @1 --option 1
  agentforge resolve 2 --answer "Use UTC everywhere"
  agentforge resolve ESC-001 task-20300131-add/ESC-002 --abort
  agentforge resolve ESC-001
  agentforge resolve ESC-004 --model anthropic:NAME

To a question for permission the answers are allow, always and deny; any other text denies the call and is
passed to the model. The first answer counts. ID is the name of a question, a task that waits with one (@1 is
the newest), or a number that `agentforge inbox` has shown. Without --task, it is the one task that is waiting
for this answer; TASK/ID names a question of any of your repositories. Without an answer you are asked for
one, at a terminal. `agentforge escalations show ID` shows everything that led to the question."""
)
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@task_option
@click.option("--answer", help="One of the options, or your own words.")
@click.option("--option", type=click.IntRange(min=1), help="One of the options, by its number.")
@click.option(
    "--model", metavar="SPEC", help="PROVIDER:NAME for the rest of the task; alone it answers retry."
)
@click.option("--abort", is_flag=True, help="Answer by ending the task; its work is kept.")
@click.option(
    "--no-drive", is_flag=True, help="Only record the answer; `agentforge continue` resumes the task later."
)
@repo_option
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def resolve(  # noqa: PLR0913 - the options of the command
    *,
    names: tuple[str, ...],
    task: str | None,
    answer: str | None,
    option: int | None,
    model: str | None,
    abort: bool,
    no_drive: bool,
    as_data: bool,
) -> int:
    """Answer the questions ID, and let their tasks continue."""
    from agentforge.app.drivers.engine_view import HOST_LOST, not_in_words
    from agentforge.app.people.inbox import find_records
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.deciding import answer_and_drive
    from agentforge.surfaces.cli.flags import at_terminal

    given = sum((answer is not None, option is not None, abort))
    if model and abort:
        raise click.UsageError("An aborted task needs no other model: give --model or --abort.")
    if given > 1 or (not given and not model and (as_data or not at_terminal())):
        raise click.UsageError("Give one of --answer TEXT, --option N and --abort.")
    if answer is not None:
        own_words(answer, "answer")
    if any(name.upper() == HOST_LOST for name in names):
        raise not_in_words(task)
    records = find_records(names, task, here(), Home(home_path()))
    codes = []
    for record in records:
        said = "abort" if abort else record.option(option) if option is not None else answer
        if said is None:
            said = _tried_again(record) if model else _ask(record)
        if said is None:
            say(f"{record.escalation.id} is left for later.")
            codes.append(3)
            continue
        if model:
            _name_model(record, model)
        codes.append(
            answer_and_drive(record.task, record.escalation.id, said, no_drive=no_drive, as_data=as_data)
        )
    return max(codes)


def _ask(record: "InboxRecord") -> str | None:
    from agentforge.app.people.inbox import mark_shown
    from agentforge.app.people.messages import open_question
    from agentforge.surfaces.cli.pages.inbox import ask_answer, record_page

    open_question(record.task.state, record.escalation.id)  # says so where it is answered already
    say(record_page(record))
    mark_shown(record)
    return ask_answer(record)


def _tried_again(record: "InboxRecord") -> str:
    """The answer that naming another model alone gives."""
    from agentforge.app.people.messages import open_question
    from agentforge.core.values import STUCK

    asked = open_question(record.task.state, record.escalation.id)
    if RETRY not in asked.question.options and asked.kind not in STUCK:
        raise click.UsageError("This question is not about the model: give --answer TEXT, too.")
    return RETRY if RETRY in asked.question.options else asked.question.options[0]


def _name_model(record: "InboxRecord", model: str) -> None:
    """Puts the model on record that the rest of the task is done with."""
    from agentforge.app.models.change import change_model, model_change

    task = record.task
    change = model_change(task, model, lambda sentence: say(sentence, err=True))
    change_model(task, change)
    say(f"the model is now {change.choice.model}, named by {change.choice.by}", err=True)
