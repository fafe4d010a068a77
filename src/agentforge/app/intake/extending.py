"""A task that goes further than it was meant to: its line gets longer, and what it made is not made again."""

import json
from typing import Any

from agentforge.activities.dependencies import declared
from agentforge.app.drivers.driver import open_driver
from agentforge.app.drivers.world import settings_of
from agentforge.app.intake.preflight import check_projects
from agentforge.app.people.messages import person
from agentforge.app.record.open_tasks import OpenTask
from agentforge.catalog.extending import extended, further_lines, longer, targets
from agentforge.catalog.load import Catalog
from agentforge.catalog.resolved import ResolvedPipeline
from agentforge.core.dependencies import Dependencies
from agentforge.core.digests import Extension
from agentforge.core.errors import StateInvalid, UsageError
from agentforge.core.inputs import Extend
from agentforge.core.pipeline import Pipeline
from agentforge.core.state import State
from agentforge.core.statuses import spell_status
from agentforge.store.task import artifacts
from agentforge.store.task.pack import Pack


def catalog_of(task: OpenTask) -> Catalog:
    """The catalogue as the task's base commit has it."""
    return Catalog.packaged().with_overrides(settings_of(task.site, task.state).overrides)


def usual_target(task: OpenTask) -> str:
    """Where a task goes that is extended without a word: to the end of the pipeline that continues it, or of
    its own.
    """
    lines = further_lines(catalog_of(task), task.state.pipeline)
    if not lines:
        raise UsageError(f"{task.task_id} ends at {task.state.pipeline.exit_stage}; nothing comes after it.")
    return lines[-1].exits[-1]


def extend_line(task: OpenTask, target: str = "") -> None:
    """Puts a longer line on record: of a completed task, which can then be driven on, or of one on its way. A
    `UsageError` names the legal targets.
    """
    state = task.state
    target = catalog_of(task).stage_called(target) if target else usual_target(task)
    if state.status in ("failed", "cancelled"):
        raise UsageError(
            f"{task.task_id} {spell_status(state.status)}, so nothing of it is final yet.",
            f"`agentforge continue {task.task_id}` resumes it; it can be extended when it is done.",
        )
    _check_ahead(state, target)
    pipeline, resolved = _longer_line(task, target)
    data = json.dumps(resolved.to_json(), ensure_ascii=False, separators=(",", ":")).encode()
    with open_driver(task) as driver:
        pack = Pack(task.files.pack)
        catalogue = pack.put(data)
        pack.sync()
        try:
            wanted = Extend(Extension(pipeline, catalogue, person()), _waits_for(task))
            driver.tell(f"extend/{driver.journal.length}", wanted)
        except StateInvalid as error:
            raise UsageError(error.sentence, error.next_step) from None


def _waits_for(task: OpenTask) -> Dependencies:
    """What the accepted specification says; a task that ends with it waits for nothing."""
    ref = task.state.artifact_for("requirements")
    return declared(artifacts.read(task.files, ref)) if ref is not None else Dependencies()


def _longer_line(task: OpenTask, target: str) -> tuple[Pipeline, ResolvedPipeline]:
    state, catalog = task.state, catalog_of(task)
    kept: Any = Pack(task.files.pack).get_json(state.catalogue)
    resolved = extended(catalog, ResolvedPipeline.from_json(kept), state.pipeline, target)
    line = longer(state.pipeline, resolved.pipeline(), ())
    project = settings_of(task.site, state).project
    check_projects(task.site.git, state.base_tree, line, state.request, project)
    return longer(state.pipeline, resolved.pipeline(), targets(catalog, line)), resolved


def _check_ahead(state: State, target: str) -> None:
    names = [stage.name for stage in state.pipeline.stages]
    if target in names:
        legal = ", ".join(state.pipeline.extends_to)
        further = f"It can be extended to {legal}." if legal else "Nothing comes after it; start a new task."
        raise UsageError(
            f"{target} is already a stage of {state.task_id}, which goes up to {names[-1]}.",
            further,
        )
