"""The files of a workflow: where each lies, what is in it now, and what shall be written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agentforge.catalog.phases import PhaseId
from agentforge.core.errors import UsageError
from agentforge.documents import front_matter

STATE = ".claude/forge/active-workflow.md"
CONFIG = ".claude/forge/config.json"
SNAPSHOTS = ".claude/forge/snapshots"
ARCHIVE = ".claude/forge/archive"
DOCS = "docs/forge"
KNOWLEDGE = f"{DOCS}/knowledge"
HANDOFFS = f"{DOCS}/handoffs"
DEBATES = f"{DOCS}/debate"
PHASE_DOCUMENTS = f"{DOCS}/phases"
WORKFLOW = "workflows/forge-workflow.json"

ROOTS = (".claude/forge", "docs/forge", "workflows")
"""Nothing is written anywhere else."""


@dataclass(slots=True)
class WorkflowTree:
    """The files as they were read, and those that shall be different."""

    files: Mapping[str, str]
    now: datetime
    branch: str = ""
    """The branch that is checked out."""
    written: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What a person should be told."""

    def get(self, path: str) -> str | None:
        """A file as it is, or shall be; None if there is none."""
        return self.written.get(path, self.files.get(path))

    def need(self, path: str) -> str:
        """A file that must be there. One that is not is named."""
        text = self.get(path)
        if text is None or not text.strip():
            what = "is empty" if text is not None else "is missing"
            raise MissingFile(
                f"{path} {what}.", "Restore it, for example from git, and run the command again."
            )
        return text

    def put(self, path: str, text: str) -> None:
        """Let a file be this; nothing happens if it is already."""
        if not path.startswith(tuple(f"{root}/" for root in ROOTS)):
            message = f"{path} is outside of what a workflow writes"
            raise ValueError(message)
        if self.get(path) == text:
            return
        if self.files.get(path) == text:
            self.written.pop(path, None)
        else:
            self.written[path] = text

    def below(self, folder: str) -> Iterator[str]:
        """The paths of the files below a directory, in order."""
        known = {path for path in (*self.files, *self.written) if path.startswith(f"{folder}/")}
        yield from sorted(known)

    @property
    def stamp(self) -> str:
        """This moment, as documents write it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"

    @property
    def compact(self) -> str:
        """This moment, as names of files have it."""
        return f"{self.now:%Y%m%d-%H%M%S}"

    def claim(self, path: str, workflow_id: str) -> str | None:
        """A document of this workflow. One that an earlier workflow left is set aside first."""
        text = self.get(path)
        if text is None:
            return None
        try:
            owner = front_matter.read(text, path).get("workflow_id")
        except UsageError:
            return text
        if not isinstance(owner, str) or owner == workflow_id or not _is_name(owner):
            return text
        self.put(f"{DOCS}/archive/{owner}/{path.removeprefix(f'{DOCS}/')}", text)
        return None


class MissingFile(UsageError):
    """A file that the workflow needs is not there."""


class BrokenState(UsageError):
    """The file that holds the state cannot be read."""


def working_document(phase: PhaseId) -> str:
    """The path of the document that a phase works on."""
    return f"{PHASE_DOCUMENTS}/{phase}.md"


def handoff(before: PhaseId, after: PhaseId) -> str:
    """What one phase tells the next."""
    return f"{HANDOFFS}/{before}-to-{after}.md"


def debate_folder(debate_id: str) -> str:
    """Where the files of a debate lie."""
    return f"{DEBATES}/{debate_id}"


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 120 and all(letter.isalnum() or letter in "-_" for letter in text)
