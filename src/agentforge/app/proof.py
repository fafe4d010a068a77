"""The evidence of a task, checked offline."""

from collections.abc import Callable

from agentforge.activities import verify as evidence
from agentforge.activities.task_permissions import walls_of
from agentforge.activities.verify import Finding
from agentforge.app.answering import NobodyAnswers
from agentforge.app.tasks import OpenTask
from agentforge.app.world import make_world, settings_of
from agentforge.models.router import Router


def verify(
    task: OpenTask, *, rerun: bool = False, progress: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Checks a task's evidence against everything it names; with `rerun` the recorded commands run again."""
    settings = settings_of(task.site, task.state)
    # Nothing runs unless it is asked for, so only then it matters who said that there are no walls.
    own = settings.own.sandbox if rerun else "none"
    walls = walls_of(task.site, task.state, own, settings.own.container)
    world = make_world(task.site, task.journal, settings, Router.single(NobodyAnswers()), walls, progress)
    return evidence.verify(world, task.state, rerun=rerun)
