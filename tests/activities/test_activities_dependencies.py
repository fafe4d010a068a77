"""What a specification waits for: read, refused where it cannot be, found in the right version."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentforge.activities.dependencies import (
    FinalArtifact,
    declared,
    depend,
    dependency_problems,
    has_reached,
    newest,
)
from agentforge.core.dependencies import ArtifactDependency, Dependencies, TaskDependency
from agentforge.core.errors import UsageError
from agentforge.core.inputs import DependenciesReady, DependencyLost, Parked
from agentforge.core.reply import Json
from agentforge.core.state import Accepted, State
from agentforge.core.values import ArtifactRef, Status
from agentforge.core.versions import range_problem, read_version, satisfies
from tests.core.scenes import SMALL
from tests.rows import every


@dataclass
class Tasks:
    """Tasks as values, where the real ones are journals of other repositories."""

    states: dict[str, State] = field(default_factory=dict)
    made: Sequence[FinalArtifact] = ()
    waits_here: bool = False

    @property
    def neighbours(self) -> "Tasks":
        return self

    def keep(self, document: dict[str, Json]) -> str:
        return f"kept {document.get('version')}"

    def task(self, task_id: str) -> State | None:
        if task_id == "task-twice":
            raise UsageError("task-twice is a task of 2 repositories: /a, /b.")
        return self.states.get(task_id)

    def knows(self, repo: str) -> bool:
        return repo == "data-layer"

    def finals(self, repo: str, artifact: str) -> Sequence[FinalArtifact]:
        return self.made if (repo, artifact) == ("data-layer", "events") else ()


def under_way(name: str, *waits_for: str, status: Status = "running") -> State:
    awaited = Dependencies(tuple(map(TaskDependency, waits_for)))
    return replace(State(task_id=name, pipeline=SMALL, status=status), dependencies=awaited)


def waiting(*names: str, external: tuple[ArtifactDependency, ...] = ()) -> State:
    awaited = Dependencies(tuple(map(TaskDependency, names)), external)
    return replace(State(task_id="task-own"), dependencies=awaited)


def look(tasks: Tasks, state: State) -> object:
    return depend(tasks, state, threading.Event())


def final(version: str | None, at: str = "", number: int = 1) -> FinalArtifact:
    document: Mapping[str, Json] = {} if version is None else {"version": version}
    return FinalArtifact(f"task-{version}", at, document, number)


def test_names_bind_nothing_and_the_object_is_read_with_its_defaults() -> None:
    assert declared({"dependencies": ["REQ-002 -> REQ-001", "libfoo"]}) == Dependencies()
    said: dict[str, Json] = {
        "external": [{"repo": "data-layer", "artifact": "events", "version": ">=1.2.0"}, {"repo": "other"}],
        "tasks": [{"task_id": "task-a"}, {"task_id": "task-b", "required_stage": "spec", "reason": "first"}],
    }
    assert declared({"dependencies": said}) == Dependencies(
        (TaskDependency("task-a", "deliver"), TaskDependency("task-b", "spec", "first")),
        (ArtifactDependency("data-layer", "events", ">=1.2.0"), ArtifactDependency("other")),
    )


@every(
    ("task", "stage", "words"),
    [
        ("task-own", "deliver", "is this task itself"),
        ("task-gone", "deliver", "there is no task task-gone"),
        ("task-twice", "deliver", "a task of 2 repositories"),
        ("task-a", "golden", "task-a has no stage golden; it has frame, intake, spec, red"),
        ("task-c", "deliver", "task-c waits for task-b waits for task-own is a circle"),
        ("task-a", "spec", ""),
        ("task-over", "deliver", ""),
    ],
)
def test_a_circle_and_what_is_not_there_are_refused_when_they_are_declared(
    task: str, stage: str, words: str
) -> None:
    tasks = Tasks(
        {
            "task-a": under_way("task-a"),
            "task-b": under_way("task-b", "task-a", "task-own"),
            "task-c": under_way("task-c", "task-b"),
            "task-over": under_way("task-over", "task-own", status="completed"),
        }
    )
    said: dict[str, Json] = {"dependencies": {"tasks": [{"task_id": task, "required_stage": stage}]}}
    found = dependency_problems(said, tasks, "task-own")
    assert words in " ".join(found)
    assert bool(found) == bool(words)


def test_two_that_declared_each_other_at_the_same_moment_are_asked_about() -> None:
    tasks = Tasks({"task-a": under_way("task-a", "task-own")})
    outcome = look(tasks, waiting("task-a"))
    assert isinstance(outcome, DependencyLost)
    assert "task-own waits for task-a waits for task-own" in outcome.sentence


def test_what_failed_is_gone_or_ended_without_the_stage_is_lost_and_the_rest_is_waited_for() -> None:
    tasks = Tasks({"task-a": under_way("task-a"), "task-b": under_way("task-b", status="failed")})
    assert look(tasks, waiting("task-a")) == Parked()
    for name, words in (("task-b", "task-b failed without it"), ("task-gone", "not there any more")):
        outcome = look(tasks, waiting("task-a", name))
        assert isinstance(outcome, DependencyLost)
        assert words in outcome.sentence


def test_a_merged_stage_has_reached_every_phase_that_it_made() -> None:
    ref = ArtifactRef("specification", "spec", 1, "hash")
    state = replace(under_way("task-a"), accepted=(Accepted("frame", "t", "c", (ref,), ()),))
    assert (has_reached(state, "frame"), has_reached(state, "spec")) == (True, True)
    assert not has_reached(state, "red")
    assert not has_reached(state, "deliver")
    assert has_reached(replace(state, status="completed"), "deliver")


def test_the_newest_final_in_the_range_is_taken() -> None:
    made = (
        final("1.10.0", "2030"),
        final("1.9.0", "2031"),
        final("2.0", "2032"),
        final("no number"),
        final(None),
    )
    wanted = ArtifactDependency("data-layer", "events", ">=1.2.0, <2")
    outcome = look(Tasks(made=made), waiting(external=(wanted,)))
    assert isinstance(outcome, DependenciesReady)
    assert [(each.version, each.ref) for each in outcome.found] == [("1.10.0", "kept 1.10.0")]
    best = newest((final("1.0", "2030"), final("1.0.0", "2031")), "")
    assert best is not None
    assert best.accepted_at == "2031"
    lost = look(Tasks(), waiting(external=(wanted,)))
    assert isinstance(lost, DependencyLost)
    assert lost.sentence == "There is no final events >=1.2.0, <2 of data-layer."


@every(
    ("version", "wanted", "fits"),
    [
        ("1.2.0", ">=1.2.0", True),
        ("1.2", "==1.2.0", True),
        ("1.1.9", ">=1.2", False),
        ("2.0", ">=1.2 <2", False),
        ("1.10", ">1.9", True),
        ("1.9.9", "^1.2", True),
        ("2.0", "^1.2", False),
        ("0.3.1", "^0.3", True),
        ("0.4.0", "^0.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~=1.2.3", False),
        ("1.2.9", "==1.2.*", True),
        ("1.3", "!=1.2.*", True),
        ("v3", "*", True),
        ("1.0-beta+7", "1.0", True),
    ],
)
def test_a_range_takes_the_versions_that_it_says(version: str, wanted: str, *, fits: bool) -> None:
    numbers = read_version(version)
    assert numbers is not None
    assert not range_problem(wanted)
    assert satisfies(numbers, wanted) is fits


@every("wanted", ["newest", ">=", ">1.*", "1..2", "=>1", ">=1.2.0; rm", "1" * 40])
def test_what_is_no_range_is_said_and_takes_nothing(wanted: str) -> None:
    assert range_problem(wanted)
    assert not satisfies((1, 2), wanted)
