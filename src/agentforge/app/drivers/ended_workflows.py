"""Who ended the workflow of a task on its server: we, with a code that only this user can make for that very
run, or somebody else. The task is not harmed by it; that it happened is said.
"""

from typing import TYPE_CHECKING

from agentforge.app.record.open_tasks import OpenTask
from agentforge.store.user.task_tokens import PROOF, signed_message
from agentforge.system.visible import one_line

if TYPE_CHECKING:
    from agentforge.engines.temporal.look import Look

_NAMED = 60
"""Letters of a stranger's own name that are shown."""


def end_reason(task: OpenTask, run: str, why: str) -> str:
    """What we tell the server when we end a run: why, and the code by which we know it again."""
    return f"{why} [{_code(task, run)}]"


def ended_by_stranger(task: OpenTask, look: "Look") -> str:
    """That somebody else ended the last run, as the beginning of a sentence; empty if nobody did."""
    if look.ended is None or look.ended.reason.endswith(f"[{_code(task, look.run)}]"):
        return ""
    who = one_line(look.ended.identity)[:_NAMED]
    named = f" ({who})" if who else ""
    return f"somebody without the task's token{named} ended its workflow on the server"


def _code(task: OpenTask, run: str) -> str:
    said = {"kind": "end", "run": run}
    return signed_message(task.site.home, str(task.site.git.top), task.task_id, said)[PROOF]
