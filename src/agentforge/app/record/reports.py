"""How a task stands: its branch, what it changed, its proof and its document, read from git and its files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentforge.activities.verifying.seal import Sealed, read_seal, signature_finding
from agentforge.app.record.deliverable import (
    Deliverable,
    changes_files,
    read_debate_files,
    read_deliverable,
    sum_up,
)
from agentforge.app.record.open_tasks import OpenTask
from agentforge.catalog.debates import debate_rules
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.user.signing import trusted_keys
from agentforge.system.git.audit import ObjectAudit
from agentforge.system.git.repository import Lines
from agentforge.system.unlinked import read_unlinked


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What can be said of a task at one moment."""

    state: State
    branch: str
    tip: str | None
    """The commit of the branch; None while no accepted stage has changed a file."""
    stat: str
    evidence: dict[str, Any]
    """Empty until the task is delivered."""
    changes_nothing: bool = False
    """Its pipeline ends in a document, not in a branch."""
    deliverable: Deliverable | None = None
    """The document that the pipeline ends in."""
    seal: str = ""
    """The commit at the tip of the branch that states what was proved; empty while there is none."""
    signature: str = ""
    """Who signed it, as this reader may believe it."""
    lines: tuple[Lines, ...] = ()
    """What the branch changes, by path."""
    summary: str = ""
    """What it hands over, in the sentence of its pipeline."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of a task that is a debate: its files by name, as Markdown."""

    @property
    def synthesis(self) -> str:
        """Of a task that is a debate: what was decided, as Markdown."""
        return self.files.get(debate_rules().synthesis.name, "")


def report(task: OpenTask) -> TaskReport:
    """How the task stands by what is on record."""
    git, files, state = task.site.git, task.files, task.state
    branch = state.branch
    tip = git.read_ref(f"refs/heads/{branch}") if branch else None
    stat = git.diff_stat(state.base_commit, tip) if tip else ""
    lines = tuple(git.numstat(state.base_commit, tip)) if tip else ()
    evidence = _evidence(files) if state.delivered else {}
    if changes_files(state.pipeline):
        seal = state.delivered.seal if state.delivered else ""
        signature = signature_of(task)
        found = TaskReport(state, branch, tip, stat, evidence, seal=seal, signature=signature, lines=lines)
    else:
        document = read_deliverable(files, state)
        argued = read_debate_files(files, state) if state.pipeline.stages[-1].makes("decision") else {}
        found = TaskReport(
            state, branch, tip, stat, evidence, changes_nothing=True, deliverable=document, files=argued
        )
    return replace(found, summary=sum_up(files, state))


def read_seal_of(task: OpenTask) -> Sealed | None:
    """The seal of a delivered task; None if it has none that can be read."""
    delivered = task.state.delivered
    if delivered is None or not delivered.seal:
        return None
    found = read_seal(ObjectAudit(task.site.git), delivered.seal)
    return None if isinstance(found, str) else found  # `verify` names what is wrong with it


def signature_of(task: OpenTask) -> str:
    """Who signed what was delivered, in words; empty where there is nothing to sign."""
    delivered = task.state.delivered
    if delivered is None or not delivered.seal:
        return ""
    seal = read_seal_of(task)
    if seal is None:
        return "the seal cannot be read; `agentforge verify` says why"
    trusted = trusted_keys(task.site.home, task.site.git) if seal.stated.envelope.signatures else []
    return signature_finding(seal.stated, trusted, signed=False).text


def _evidence(files: TaskFiles) -> dict[str, Any]:
    try:
        value = json.loads(read_unlinked(files.evidence))
    except (OSError, ValueError):
        return {}  # `verify` names what is wrong with it
    return value if isinstance(value, dict) else {}
