"""An answer on record, and the task driven on: what every command does that lets a person answer."""

from agentforge.app.drivers.remote import tell_workers
from agentforge.app.people.answers import answer
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.values import Feedback
from agentforge.surfaces.cli.driving import drive_and_tell, tell
from agentforge.surfaces.cli.printing import say


def answer_and_drive(
    task: OpenTask,
    identity: str,
    words: str,
    feedback: Feedback | None = None,
    *,
    no_drive: bool = False,
    as_data: bool = False,
) -> int:
    """Answers a question and drives on, unless another process does; returns the exit code."""
    free, notes = answer(task, identity, words, feedback)
    for note in notes:
        say(note, err=as_data)
    ended = task.refresh().status == "cancelled"
    if free and not no_drive and not ended:
        return drive_and_tell(task, as_data=as_data)
    if not no_drive and (note := tell_workers(task)):
        say(note, err=True)
    if as_data:
        tell(task, as_data=True)
    elif ended:
        say(f"{identity} answered: {task.task_id} is aborted; its work is kept.")
    elif free:
        say(f"{identity} answered. `agentforge continue {task.task_id}` resumes the task.")
    else:
        say(f"{identity} answered; the process that runs {task.task_id} continues.")
    return 0
