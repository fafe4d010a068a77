"""One task in one document: its state as on record, the summary that lists show, and what drives it."""

from typing import Any

from agentforge.app.drivers.engine_view import engine_fields, engine_view
from agentforge.app.record.listed import summary_of_task
from agentforge.app.record.open_tasks import OpenTask
from agentforge.store.task.views import state_view


def task_document(task: OpenTask) -> dict[str, Any]:
    """What `status TASK --json` prints, and what every other surface shows of a task."""
    journal = task.journal
    summary = summary_of_task(task)
    view = state_view(task.files, journal.state, journal.head, journal.length, journal.times)
    stages = view["pipeline"]
    assert isinstance(stages, dict)
    pipeline = {**stages, **summary["pipeline"]}
    engine = engine_fields(engine_view(task))
    return {**view, **summary, "pipeline": pipeline, **engine, "stopped": summary["stopped"]}
