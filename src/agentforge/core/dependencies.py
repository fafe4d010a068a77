"""What a task waits for: other tasks that must come so far, and artifacts of other repositories."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskDependency:
    """Another task that must have come so far."""

    task_id: str
    required_stage: str = "deliver"
    reason: str = ""

    @property
    def words(self) -> str:
        """What is waited for, for people."""
        return f"{self.task_id} to reach {self.required_stage}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True, slots=True)
class ArtifactDependency:
    """The newest final artifact of a registered repository whose version is in a range."""

    repo: str
    artifact: str = ""
    """Its contract; empty: that of the requirements, whatever its task calls it."""
    version: str = ""

    @property
    def words(self) -> str:
        """What is looked for, for people."""
        return f"{self.artifact or 'requirements'} {self.version}".rstrip() + f" of {self.repo}"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """All that a specification says that its task waits for."""

    tasks: tuple[TaskDependency, ...] = ()
    external: tuple[ArtifactDependency, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tasks or self.external)

    @property
    def words(self) -> tuple[str, ...]:
        """What is waited for, each for people."""
        return (*(each.words for each in self.tasks), *(each.words for each in self.external))


@dataclass(frozen=True, slots=True)
class FoundArtifact:
    """An artifact of another repository, as it was when the task went on."""

    repo: str
    artifact: str
    version: str
    task_id: str
    """The task that made it."""
    ref: str
    """Its document, in the pack."""
