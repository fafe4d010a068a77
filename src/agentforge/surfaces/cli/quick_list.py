"""`status --all` in a pipe, as scripts ask for it again and again: from the index to one line for each task,
without what reads a command line.
"""

from agentforge.app.record.rows import are_all_there, list_all_tasks, summaries_of
from agentforge.core.errors import UserError
from agentforge.store.home import home_path
from agentforge.store.layout import Home
from agentforge.store.task.moments import utc_now
from agentforge.surfaces.cli.pages.board import pipe_lines
from agentforge.system.visible import harmless


def list_in_pipe() -> str | None:
    """The lines; None where more has to be said than these, which the command itself does."""
    try:
        home = Home(home_path())
        if not are_all_there(home):
            return None
        found = summaries_of(home, list_all_tasks(home, _notice))
        return "".join(f"{harmless(line)}\n" for line in pipe_lines(found, utc_now())) or None
    except (UserError, OSError, LookupError, TypeError, ValueError):
        return None  # the command meets it again, and says what it is


def _notice(text: str) -> None:
    from agentforge.surfaces.cli.printing import say

    say(text, err=True)
