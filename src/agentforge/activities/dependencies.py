"""`Depend`: what a specification says that its task waits for, read, held against what there is, and waited
for.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentforge.core.dependencies import ArtifactDependency, Dependencies, FoundArtifact, TaskDependency
from agentforge.core.errors import UserError
from agentforge.core.inputs import DependenciesReady, DependencyLost, Parked
from agentforge.core.machine import TERMINAL
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.versions import Version, range_problem, read_version, satisfies
from agentforge.gates.change.documents import objects
from agentforge.system.canon import digest_value

LOOK_S = 2.0
"""How often another task is looked at: its journal's size and time, no more."""
DELIVER = "deliver"
_MOST = 20


@dataclass(frozen=True, slots=True)
class FinalArtifact:
    """A final artifact of another task."""

    task_id: str
    accepted_at: str
    document: Mapping[str, Json]
    number: int
    """Which version of its task it is."""

    @property
    def version(self) -> str:
        """The version that an artifact states itself, else its number."""
        meta = self.document.get("metadata")
        said = self.document.get("version") or (meta.get("version") if isinstance(meta, dict) else None)
        return str(said) if said else str(self.number)

    @property
    def numbers(self) -> Version | None:
        """The numbers of a version such as 1.2.0, which can be compared; None for any other text."""
        return read_version(self.version)


class Neighbours(Protocol):
    """The other tasks of this user, wherever they are."""

    def task(self, task_id: str) -> State | None:
        """Where a task is now; None if there is none of that name. Raises `UserError` if it cannot be
        said.
        """

    def knows(self, repo: str) -> bool:
        """Whether a repository is registered under that name."""

    def finals(self, repo: str, artifact: str) -> Sequence[FinalArtifact]:
        """The final artifacts under a contract that the tasks of a registered repository made; their
        requirements, where none is named.
        """


class NoNeighbours:
    """For whoever only looks at one task."""

    def task(self, task_id: str) -> State | None:  # noqa: ARG002  # the port's own names
        """None: other tasks are not looked at."""
        return None

    def knows(self, repo: str) -> bool:  # noqa: ARG002  # the port's own names
        """No: other tasks are not looked at."""
        return False

    def finals(self, repo: str, artifact: str) -> Sequence[FinalArtifact]:  # noqa: ARG002  # the port's own names
        """None: other tasks are not looked at."""
        return ()


def declared(specification: Mapping[str, Json]) -> Dependencies:
    """What a specification says that its task waits for. A list of names binds nothing."""
    said = specification.get("dependencies")
    if not isinstance(said, dict):
        return Dependencies()
    tasks = tuple(
        TaskDependency(
            str(item["task_id"]), str(item.get("required_stage") or DELIVER), str(item.get("reason") or "")
        )
        for item in objects(said, "tasks")[:_MOST]
        if item.get("task_id")
    )
    external = tuple(
        ArtifactDependency(str(item["repo"]), str(item.get("artifact") or ""), str(item.get("version") or ""))
        for item in objects(said, "external")[:_MOST]
        if item.get("repo")
    )
    return Dependencies(tasks, external)


def dependency_problems(
    specification: Mapping[str, Json], neighbours: Neighbours, own: str = ""
) -> list[str]:
    """What is wrong with what a specification waits for, before anybody waits: a task that is not there, a
    stage that it does not have, a circle, a repository that nobody registered.
    """
    wanted = declared(specification)
    return [
        *(problem for each in wanted.tasks if (problem := _task_problem(each, neighbours, own))),
        *(problem for each in wanted.external if (problem := _artifact_problem(each, neighbours))),
    ]


def _task_problem(wanted: TaskDependency, neighbours: Neighbours, own: str) -> str:
    name = wanted.task_id
    if name == own:
        return f"dependencies.tasks: {name} is this task itself; leave it out"
    try:
        state = neighbours.task(name)
    except UserError as error:
        return f"dependencies.tasks: {error.sentence}"
    if state is None:
        return (
            f"dependencies.tasks: there is no task {name} on this machine; leave it out or name one that is"
        )
    stages = stages_of(state)
    if wanted.required_stage not in stages:
        return f"dependencies.tasks: {name} has no stage {wanted.required_stage}; it has {', '.join(stages)}"
    if circle := circle_of(name, neighbours, own):
        return f"dependencies.tasks: {' waits for '.join((*circle, own))} is a circle; leave {name} out"
    return ""


def _artifact_problem(wanted: ArtifactDependency, neighbours: Neighbours) -> str:
    if problem := range_problem(wanted.version):
        return f"dependencies.external: {problem}"
    if not neighbours.knows(wanted.repo):
        return (
            f"dependencies.external: no repository is registered as {wanted.repo}; leave it out, or ask a "
            "person to register it"
        )
    return ""


def stages_of(state: State) -> list[str]:
    """The stages that a task can reach: its own, and those whose artifacts one of them makes."""
    lines = (state.pipeline, *state.higher)
    found = [
        name
        for line in lines
        for stage in line.stages
        for name in (stage.name, *(product.phase for product in stage.products))
    ]
    return [*dict.fromkeys((*found, DELIVER))]


def circle_of(name: str, neighbours: Neighbours, own: str) -> list[str]:
    """The tasks from `name` on, each waiting for the next, if the last one waits for `own`."""
    paths, seen = [[name]], {name}
    while paths:
        path = paths.pop()
        try:
            state = neighbours.task(path[-1])
        except UserError:
            continue
        if state is None or state.status in TERMINAL:
            continue
        for each in state.dependencies.tasks:
            if each.task_id == own and own:
                return path
            if each.task_id not in seen:
                seen.add(each.task_id)
                paths.append([*path, each.task_id])
    return []


def has_reached(state: State, stage: str) -> bool:
    """Whether a task has a stage behind it: its own, or one whose artifact a merged stage made."""
    if stage == DELIVER:
        return state.status == "completed"
    return any(
        item.stage == stage or any(ref.phase == stage for ref in item.finals) for item in state.accepted
    )


class DependingWorld(Protocol):
    """The part of the world that `Depend` needs."""

    @property
    def neighbours(self) -> Neighbours:
        """The other tasks of this user."""

    @property
    def waits_here(self) -> bool:
        """Whether this process may sit and wait."""

    def keep(self, document: dict[str, Json]) -> str:
        """Puts a document into the pack; the answer is its reference."""


def depend(
    world: DependingWorld, state: State, off: threading.Event
) -> DependenciesReady | DependencyLost | Parked:
    """Waits until all is there. Whoever may not wait here looks once, and again later."""
    while True:
        outcome = _look(world, state)
        if outcome is not None:
            return outcome
        if not world.waits_here or off.wait(LOOK_S):
            return Parked()


def _look(world: DependingWorld, state: State) -> DependenciesReady | DependencyLost | None:
    """All is there, or something will not come; None: not yet."""
    waits = False
    for each in state.dependencies.tasks:
        lost, there = _task_now(each, world.neighbours, state.task_id)
        if lost is not None:
            return lost
        waits = waits or not there
    if waits:
        return None
    found = []
    for wanted in state.dependencies.external:
        best = newest(world.neighbours.finals(wanted.repo, wanted.artifact), wanted.version)
        if best is None:
            return DependencyLost(
                f"There is no final {wanted.words}.",
                f"make it with a task of {wanted.repo}, then retry",
            )
        ref = world.keep(dict(best.document))
        found.append(FoundArtifact(wanted.repo, wanted.artifact, best.version, best.task_id, ref))
    return DependenciesReady(tuple(found))


def _task_now(wanted: TaskDependency, neighbours: Neighbours, own: str) -> tuple[DependencyLost | None, bool]:
    name = wanted.task_id
    try:
        state = neighbours.task(name)
    except UserError as error:
        advice = f"correct that first, then retry. {error.next_step}".strip()
        return DependencyLost(f"This task waits for {name}: {error.sentence}", advice), False
    if state is None:
        return DependencyLost(f"This task waits for {name}, which is not there any more.", "abort"), False
    if has_reached(state, wanted.required_stage):
        return None, True
    if state.status in TERMINAL:
        how = {"failed": "failed", "cancelled": "was aborted"}.get(state.status, "is completed")
        sentence = f"This task waits for {wanted.words}, and {name} {how} without it."
        advice = f"`agentforge continue {name}` resumes it; then retry"
        return DependencyLost(sentence, advice), False
    if circle := circle_of(name, neighbours, own):
        words = " waits for ".join((own, *circle, own))
        return DependencyLost(f"These tasks wait for one another: {words}.", "go on without"), False
    return None, False


def newest(finals: Sequence[FinalArtifact], wanted: str) -> FinalArtifact | None:
    """The final of the highest version in a range; of equal ones the latest."""
    fitting = [
        (numbers, each.accepted_at, digest_value(dict(each.document)), each)
        for each in finals
        if (numbers := each.numbers) is not None and satisfies(numbers, wanted)
    ]
    return max(fitting, key=lambda item: item[:3])[3] if fitting else None
