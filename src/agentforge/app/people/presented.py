"""The version of an artifact that waits for a person's decision, and what was put on record of a version."""

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Iteration
from agentforge.store.task.pack import Pack


def document_of(task: OpenTask, ref: ArtifactRef) -> dict[str, Json]:
    """The content of a version, from the pack: what was put on record, whatever its file says now."""
    value = Pack(task.files.pack).get_json(ref.hash)
    assert isinstance(value, dict)
    return value


def presented(state: State) -> Iteration | None:
    """The version that waits for a person's decision; None if none does."""
    waiting, run = state.open_escalation, state.worker
    if (
        waiting is None
        or run is None
        or waiting.kind not in ("iteration", "approval")
        or run.point != "commit"
    ):
        return None
    return state.last_shown(run.stage)
