"""A task that begins in the middle of another one and goes on with one thing changed.

The fork's journal begins with the lines of the first task, under its own name and in a chain of its own; what
they name by hash is in its pack, and the trees are held by its refs. So it does not need the first task any
more. What came before was paid there: the fork's bill begins with its own steps.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentforge.activities.task_permissions import permissions_of
from agentforge.app.evidence.replaying import free_task
from agentforge.app.models.change import change_model, model_change
from agentforge.app.people.answers import answer
from agentforge.app.people.messages import person
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.digests import ActionResults, ForkPoint, VerdictDigest
from agentforge.core.errors import PolicyError, UsageError
from agentforge.core.events import (
    ActionsPerformed,
    Event,
    ExternalArtifactImported,
    GateJudged,
    Resolved,
    Reverted,
    StageAccepted,
    StageEntered,
    StepOpened,
    TaskCreated,
    WorkspacePrepared,
    event_to_json,
)
from agentforge.core.inputs import Fork
from agentforge.core.pipeline import TIERS
from agentforge.core.reply import Json
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import TaskFiles
from agentforge.store.task import artifacts
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.lines import JournalLine, spell_header, spell_line
from agentforge.store.task.lock import DriverLock
from agentforge.store.task.pack import Pack
from agentforge.store.task.upcast import VERSION
from agentforge.store.user.start_permissions import permissions_file, write_permissions
from agentforge.system.canon import digest
from agentforge.system.files import create_exclusive

CHANGES = ("model", *(f"tier.{tier}" for tier in TIERS), "prompt", "answer")


@dataclass(frozen=True, slots=True)
class Changes:
    """What a fork is to do otherwise than the task that it begins with."""

    model: str = ""
    tiers: Mapping[str, str] = field(default_factory=dict)
    """A model for one kind of work each."""
    prompt: Path | None = None
    """A file with the words that the role of the stage under way is told instead."""
    answer: str = ""
    """Another answer to the last question that a person answered before."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The step after which the fork begins, and the lines of the journal up to it."""

    lines: Sequence[JournalLine]
    step: int
    """The last step that both share."""
    stage: str
    """The stage under way there."""
    question: str = ""
    """The question that is open there."""


def fork(
    task: OpenTask,
    from_step: int | None = None,
    changes: Changes | None = None,
    *,
    at_terminal: bool = False,
) -> OpenTask:
    """Records the fork. It does not run yet: `drive` does that. A task that has no walls is forked only where
    its walls could be taken away, too: by a person `at_terminal`, or in their own settings.
    """
    changes = changes or Changes()
    lines = read_lines(task.files.journal)
    cut = _at_question(task, lines, from_step) if changes.answer else _at_step(task, lines, from_step)
    # What could be refused is looked at first: a fork that cannot run is none.
    _check_walls(task, at_terminal=at_terminal)
    words = _read(changes.prompt) if changes.prompt else ""
    wanted = ({"": changes.model} if changes.model else {}) | dict(changes.tiers)
    models = [model_change(task, spec, lambda _: None, tier) for tier, spec in wanted.items()]
    files, forked = _record(task, cut, words)
    for model in models:
        change_model(forked, model)
    if changes.answer:
        answer(forked, cut.question, changes.answer)
    return OpenTask.open(task.site, files)


def _check_walls(task: OpenTask, *, at_terminal: bool) -> None:
    own = task.site.home.path / "config.yaml"
    if task.state.sandbox == "none" and not at_terminal and read_own_settings(own)[1].sandbox != "none":
        raise PolicyError(
            f"{task.task_id} ran without a sandbox; a fork of it that nobody watches may not.",
            f"Fork it at a terminal, or write `sandbox: none` into {own}.",
        )


def allowed_beforehand(task: OpenTask) -> list[str]:
    """The flags that allowed a task something when it was started: a fork of it does not have them."""
    said = permissions_of(task.site, task.state).permissions
    return [*(f"--allow-{area}" for area in sorted(said.allow)), *(["--yes"] if said.yes else [])]


def _at_step(task: OpenTask, lines: Sequence[JournalLine], step: int | None) -> _Cut:
    """After the line that opens the step behind `step`; without one, after the last accepted stage that left
    something to do.
    """
    opened = [
        (at, event.step)
        for at, line in enumerate(lines)
        for event in line.events
        if isinstance(event, StepOpened)
    ]
    if not opened:
        raise UsageError(
            f"{task.task_id} has no steps yet, so there is nothing to fork.",
            f"`agentforge continue {task.task_id}` runs it.",
        )
    if step is None:
        at, number = max((each for each in opened if _begins_stage(lines[each[0]])), default=opened[0])
    else:
        later = [each for each in opened if each[1] == step + 1]
        if not later:
            last = opened[-1][1]
            raise UsageError(
                f"{task.task_id} has no step after {step}; --from-step takes 0 to {last - 1}.",
                f"`agentforge inspect {task.task_id}` lists its steps.",
            )
        at, number = later[0]
    return _Cut(lines[: at + 1], number - 1, _stage_of(lines[: at + 1]))


def _begins_stage(line: JournalLine) -> bool:
    kinds = {type(event) for event in line.events}
    return {StageAccepted, StageEntered, StepOpened} <= kinds


def _at_question(task: OpenTask, lines: Sequence[JournalLine], step: int | None) -> _Cut:
    """Before the line of the last answer, or of the last one before a step."""
    found, number = None, 0
    for at, line in enumerate(lines):
        for event in line.events:
            if isinstance(event, StepOpened):
                number = event.step
            if isinstance(event, Resolved) and (step is None or number <= step):
                found = (at, number, event.id)
    if found is None:
        raise UsageError(
            f"Nobody answered a question of {task.task_id} there, so there is no other answer to give.",
            f"`agentforge audit {task.task_id}` writes down what was asked.",
        )
    at, number, question = found
    return _Cut(lines[:at], number, _stage_of(lines[:at]), question)


def _stage_of(lines: Sequence[JournalLine]) -> str:
    entered = [
        event.stage
        for line in lines
        for event in line.events
        if isinstance(event, StageEntered) and not event.parent
    ]
    return entered[-1] if entered else ""


def _read(prompt: Path) -> str:
    try:
        return prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{prompt} cannot be read: {error}.", "Name a text file.") from None


def _record(task: OpenTask, cut: _Cut, words: str) -> tuple[TaskFiles, OpenTask]:
    site = task.site
    files = free_task(site, f"{task.task_id}-fork")
    name = files.task_id
    shutil.copyfile(task.files.pack, files.pack)
    catalogue = _catalogue(task, files, cut, words) if words else ""
    events = [event for line in cut.lines for event in line.events]
    _copy_documents(task.files, files, cut, events)
    _hold(task, name, events)
    # What was allowed beforehand was allowed to the first task; how strictly it asks stays.
    said = replace(
        permissions_of(site, task.state).permissions, marker=task.state.marker, allow=frozenset(), yes=False
    )
    write_permissions(permissions_file(site.home, site.git.top, name), said)
    data = _spell(cut.lines, name, task.state.request, catalogue)
    create_exclusive(files.journal, data)
    with DriverLock(files.lock, site.clock), Journal.open(files, site.clock, write=True) as journal:
        point = ForkPoint(task.task_id, cut.step, cut.lines[-1].hash, person())
        journal.advance("fork", Fork(point))
        artifacts.write_inputs(files, journal.state, journal.times.created_at, "local")
    return files, OpenTask.open(site, files)


def _spell(lines: Sequence[JournalLine], name: str, request: str, catalogue: str) -> bytes:
    """The shared lines under another name: the same events, times and reasons, chained anew."""
    data = spell_header(name, request, lines[0].timestamp)
    prev = digest(data)
    for line in lines:
        body = {key: value for key, value in line.body.items() if key not in ("prev", "hash")}
        events: list[Json] = [event_to_json(_renamed(event, name, catalogue)) for event in line.events]
        text, prev = spell_line({**body, "v": VERSION, "events": events}, prev)
        data += text
    return data


def _renamed(event: Event, name: str, catalogue: str) -> Event:
    if not isinstance(event, TaskCreated):
        return event
    own = event.spec
    return TaskCreated(replace(own, task_id=name, catalogue=catalogue or own.catalogue))


def _catalogue(task: OpenTask, files: TaskFiles, cut: _Cut, words: str) -> str:
    """The task's own copy of the catalogue, with other words for the stage under way."""
    with Pack(files.pack) as pack:
        value: Any = pack.get_json(task.state.catalogue)
        value["prompts"] = {**value["prompts"], cut.stage: words}
        ref = pack.put(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
        pack.sync()
    return ref


def _copy_documents(source: TaskFiles, target: TaskFiles, cut: _Cut, events: Sequence[Event]) -> None:
    """What people read of the shared part: documents of accepted stages, what was handed in, and patches."""
    places = [source.patch(number) for number in range(1, cut.step + 1)]
    for event in events:
        match event:
            case ActionsPerformed(_, ActionResults(artifacts=made)) | GateJudged(
                _, VerdictDigest(finals=made)
            ):
                places += [source.version(each.phase, each.contract, each.version) for each in made]
            case StageAccepted(finals=made):
                places += [source.version(each.phase, each.contract, each.version) for each in made]
                places += [source.final(each.phase, each.contract) for each in made]
            case ExternalArtifactImported(artifact_type=contract):
                places.append(source.external_input(contract))
            case _:
                pass
    for place in places:
        if place.is_file() and not place.is_symlink():
            copy = target.root / place.relative_to(source.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, copy)


def _hold(task: OpenTask, name: str, events: Sequence[Event]) -> None:
    """Every tree and commit that the shared lines name, under the refs of the fork."""
    site = task.site
    space = Workspace(site.git, site.home.trees(site.git.top, name).root, name)
    for event in events:
        match event:
            case TaskCreated(spec):
                space.keep_base(spec.base_commit)
            case StageAccepted(_, _, result):
                space.keep(result.tree, result.commit)
            case ActionsPerformed(_, done):
                space.keep(done.tree)
            case Reverted(tree=tree) | WorkspacePrepared(tree=tree):
                space.keep(tree)
            case _:
                pass
