"""The versions of a task's artifacts: what is presented, what a person changed in it by hand, and what there
is besides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.app.intake.importing import tree_place, without_ours
from agentforge.app.people.presented import document_of, presented
from agentforge.app.record.open_tasks import OpenTask
from agentforge.catalog.resolved import ResolvedPipeline
from agentforge.context.tokens import measured
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.events import (
    ActionsPerformed,
    ArtifactEdited,
    ExternalArtifactImported,
    StageAccepted,
    StageEntered,
)
from agentforge.core.lifecycle import artifact_state
from agentforge.core.reply import Json
from agentforge.core.values import ArtifactRef, Iteration
from agentforge.gates.finals import artifact_problems
from agentforge.gates.rules.subject import Subject
from agentforge.store.task import artifacts
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import readable
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.canon import digest_value
from agentforge.system.secrets.values import clean

LONGEST = 6000
"""Tokens of a document: what the stages that work from it can be shown whole."""
SHOWN = 8


@dataclass(frozen=True, slots=True)
class EditedVersion:
    """A document that a person wrote in the place of one that was presented."""

    before: ArtifactRef
    document: dict[str, Json]
    file: Path


def version_path(task: OpenTask, ref: ArtifactRef) -> Path:
    """The file of a version."""
    return task.files.version(ref.phase, ref.contract, ref.version)


def edited_versions(task: OpenTask, shown: Iteration) -> list[EditedVersion]:
    """What a person changed by hand in the files that are presented, if it passes its contract; else a
    `UsageError` that says what is wrong with it.
    """
    found = []
    for ref in shown.shown:
        path = version_path(task, ref)
        value = _changed(path, ref)
        if value is None:
            _check_final(task, ref, path)
            continue
        found.append(EditedVersion(ref, _checked(task, ref, value, path), path))
    return found


def keep_edited(task: OpenTask, edits: list[EditedVersion]) -> tuple[ArtifactRef, ...]:
    """Puts what a person wrote in place as the next version of each document."""
    pack, refs = Pack(task.files.pack), []
    for edit in edits:
        ref, version = edit.before, task.state.next_version(edit.before.contract)
        refs.append(artifacts.write_version(task.files, ref.contract, ref.phase, version, edit.document))
        pack.put_json(readable(edit.document))
    pack.sync()
    return tuple(refs)


def put_back(task: OpenTask) -> None:
    """Makes the files of versions that a person changed, and whose change is on record, what they were."""
    for item in task.state.iterations:
        if item.edited:
            for ref in item.shown:
                artifacts.write_version(
                    task.files, ref.contract, ref.phase, ref.version, document_of(task, ref)
                )


def _changed(path: Path, ref: ArtifactRef) -> dict[str, Json] | None:
    """The content of a version's file, if it is not what is on record."""
    try:
        text = read_bounded(path, SETTINGS_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return None  # it is made again from the pack
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}.", "Write it again as UTF-8 text.") from None
    found: object = strict_yaml.load(text, str(path))
    if not isinstance(found, dict):
        raise UsageError(f"{path} is not a mapping any more.", "Correct it, then answer again.")
    return None if digest_value(found) == ref.hash else found


def _check_final(task: OpenTask, ref: ArtifactRef, path: Path) -> None:
    """Whoever edits the copy that the gates wrote is told which file counts."""
    run = task.state.worker
    final = next((item for item in (run.finals if run else ()) if item.contract == ref.contract), None)
    if final is None:
        return
    place = task.files.final(ref.phase, ref.contract)
    if (found := _changed(place, final)) is None:
        return
    artifacts.write_final(task.files, ref.contract, ref.phase, ref.version, document_of(task, final))
    if not _is_on_record(task, digest_value(found)):  # else it is the engine's own, of another version
        raise UsageError(
            f"{place.name} was changed, and it is written by the engine; it was restored.",
            f"Edit {path}, then answer again.",
        )


def _is_on_record(task: OpenTask, name: str) -> bool:
    try:
        Pack(task.files.pack).get(name)
    except Unusable:
        return False
    return True


def _checked(task: OpenTask, ref: ArtifactRef, value: Mapping[str, Json], path: Path) -> dict[str, Json]:
    state = task.state
    kept: Any = Pack(task.files.pack).get_json(state.catalogue)
    resolved = ResolvedPipeline.from_json(kept)
    contract = resolved.contract(ref.contract)
    document = clean(readable(without_ours(contract, value)))
    assert isinstance(document, dict)
    if (length := measured(strict_yaml.dump(document))) > LONGEST:
        raise UsageError(
            f"{path.name} has about {length:,} tokens now, and a step can be shown {LONGEST:,} of it.",
            "Shorten it, then answer again.",
        )
    others = {
        part: document_of(task, other)
        for item in state.accepted
        for other in item.finals
        if (part := resolved.part(other.contract)) is not None and other.contract != ref.contract
    }
    place = tree_place(task.site, state.base_tree, state.request)
    subject = Subject(document, resolved.part(ref.contract), others, place.request, place.files, place.read)
    if wrong := artifact_problems(contract, document, subject, final=False):
        more = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        raise UsageError(
            f"{path.name}, as you edited it, does not pass the contract {ref.contract}: "
            f"{'; '.join(wrong[:SHOWN])}{more}.",
            f"Correct {path} and answer again; `agentforge artifacts show {task.task_id} {ref.contract}` "
            "prints what was presented.",
        )
    return document


# ------------------------------------------------------------------ all of them


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of an artifact, or the final of it."""

    ref: ArtifactRef
    state: str
    """`draft`, `pending_review`, `approved`, `final`, or `superseded` by a later one."""
    file: str
    """From the top of the repository."""
    by: str
    """The role that wrote it, a person, or `engine`."""
    final: bool = False


def list_versions(task: OpenTask) -> list[VersionRow]:
    """Every version and every final that is on record, in the order in which they were made."""
    rows = [*_versions(task)]
    newest = {(row.ref.contract, row.ref.phase, row.final): at for at, row in enumerate(rows)}
    return [
        row
        if newest[row.ref.contract, row.ref.phase, row.final] == at
        else VersionRow(row.ref, "superseded", row.file, row.by, row.final)
        for at, row in enumerate(rows)
    ]


def _versions(task: OpenTask) -> Iterator[VersionRow]:
    state, top = task.state, task.files.root.parents[2]
    roles: dict[str, str] = {}

    def row(ref: ArtifactRef, by: str, *, final: bool = False) -> VersionRow:
        place = task.files.final(ref.phase, ref.contract) if final else version_path(task, ref)
        now = artifact_state(state, ref.contract, ref.phase) or "draft"
        return VersionRow(ref, now, place.relative_to(top).as_posix(), by, final)

    for line in read_lines(task.files.journal):
        for event in line.events:
            match event:
                case StageEntered(run=run, stage=stage):
                    named = [each for each in state.pipeline.stages if each.name == stage]
                    own = run.partition("/")[2]
                    roles[run] = own or (named[0].role if named and named[0].role else "engine")
                case ActionsPerformed(run, done):
                    yield from (row(ref, roles.get(run, "engine")) for ref in done.artifacts)
                case ArtifactEdited(artifacts=refs, by=by):
                    yield from (row(ref, by) for ref in refs)
                case ExternalArtifactImported(ref=ref):
                    yield row(ref, "outside")
                case StageAccepted(finals=refs, approved_by=by):
                    yield from (row(ref, by or "automatic", final=True) for ref in refs)
                case _:
                    pass


def find_version(task: OpenTask, contract: str | None, version: int | None) -> VersionRow:
    """The version that a person means: the final of a contract, else its newest version; without a contract
    what the task ends in, or what is presented.
    """
    rows = list_versions(task)
    if not rows:
        raise UsageError(
            f"{task.task_id} has made no document yet.",
            f"`agentforge status {task.task_id}` shows how far it is.",
        )
    wanted = contract or _usual(task, rows)
    mine = [row for row in rows if row.ref.contract == wanted]
    if not mine:
        known = ", ".join(dict.fromkeys(row.ref.contract for row in rows))
        raise UsageError(f"{task.task_id} has no {wanted}; it has {known}.")
    if version is not None:
        numbered = [row for row in mine if row.ref.version == version and not row.final]
        if not numbered:
            there = ", ".join(dict.fromkeys(f"v{row.ref.version}" for row in mine if not row.final))
            raise UsageError(f"There is no v{version} of the {wanted}; there is {there or 'only the final'}.")
        return numbered[-1]
    shown = presented(task.state)
    if shown is not None and any(ref.contract == wanted for ref in shown.shown):
        return next(row for row in reversed(mine) if not row.final)
    return next((row for row in reversed(mine) if row.final), mine[-1])


def _usual(task: OpenTask, rows: list[VersionRow]) -> str:
    shown = presented(task.state)
    if shown is not None:
        return shown.shown[0].contract
    products = task.state.pipeline.stages[-1].products
    known = [row.ref.contract for row in rows]
    return next((item.contract for item in products if item.contract in known), known[-1])
