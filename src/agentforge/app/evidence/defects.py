"""A fault that somebody found in what was delivered: kept in the task's own journal, and counted."""

from agentforge.app.drivers.driver import open_driver
from agentforge.app.people.messages import person
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError
from agentforge.core.inputs import NoteDefect
from agentforge.system.secrets.redact import redact

_LONGEST = 4000


def note_defect(task: OpenTask, note: str) -> None:
    """Puts a defect on record."""
    words = redact(note.strip())[0]
    if not words:
        raise UsageError("Say what is wrong.", f'`agentforge defect {task.task_id} --note "…"` keeps it.')
    if len(words) > _LONGEST:
        raise UsageError(
            f"A note has at most {_LONGEST:,} characters.", "Say it in short, and name where the rest is."
        )
    with open_driver(task) as driver:
        driver.tell(f"defect/{driver.journal.length}", NoteDefect(words, person()))
