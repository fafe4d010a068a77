"""The record of a task held against itself: journal, anchor, pack, and every file that the journal names or
yields.

Left out, because nothing is decided or proved by them: `lock` (who drives now), `outputs/` (long output for
people; what counted of it is in the pack), `inbox/` (messages; what they said is in the journal).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agentforge.activities.findings import Finding
from agentforge.core.digests import VerdictDigest
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.events import (
    ActionsPerformed,
    ArtifactEdited,
    AskAnswered,
    BaselineTaken,
    Checked,
    ContextAssembled,
    Event,
    ExternalArtifactImported,
    GateJudged,
    LineExtended,
    StageAccepted,
    StepOpened,
    TaskCreated,
    TaskDelivered,
    WorkspacePrepared,
)
from agentforge.core.evolve import evolve
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Escalation
from agentforge.store.layout import TaskFiles
from agentforge.store.task import archive, artifacts, views
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine, complete, spell_document
from agentforge.store.task.pack import Pack
from agentforge.store.task.times import Times
from agentforge.system import strict_yaml
from agentforge.system.canon import digest_value
from agentforge.system.git.repository import Git
from agentforge.system.signatures import without_repeats
from agentforge.system.unlinked import read_unlinked

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Moment:
    """A task after one line of its journal."""

    line: JournalLine
    state: State
    times: Times


@dataclass(frozen=True, slots=True)
class Named:
    """Everything that the events of a journal name by a hash."""

    blocks: Mapping[str, str]
    """What must be in the pack, and what it is."""
    drafts: Mapping[Path, ArtifactRef]
    finals: Mapping[Path, ArtifactRef]
    """Files of artifacts, by the last event that wrote each."""
    patches: Mapping[int, tuple[str, str]]
    """By step: the trees before and after."""
    trees: tuple[str, ...]
    commits: tuple[str, ...]


def replayed(files: TaskFiles) -> list[Moment]:
    """The journal line by line, with where each leads."""
    found: list[Moment] = []
    state, times = State(), Times()
    for line in read_lines(files.journal):
        for event in line.events:
            state = evolve(state, event)
        times = times.after(line.timestamp, line.events)
        found.append(Moment(line, state, times))
    return found


def named_by(files: TaskFiles, moments: list[Moment]) -> Named:
    """Walks every event once."""
    blocks: dict[str, str] = {}
    drafts: dict[Path, ArtifactRef] = {}
    finals: dict[Path, ArtifactRef] = {}
    patches: dict[int, tuple[str, str]] = {}
    trees: list[str] = []
    commits: list[str] = []
    steps: dict[str, int] = {}
    state = State()
    for moment in moments:
        for event in moment.line.events:
            before, state = state, evolve(state, event)
            blocks |= _blocks(event)
            new_trees, new_commits = _objects(event)
            trees += new_trees
            commits += new_commits
            match event:
                case StepOpened(run, step):
                    steps[run] = step
                case ActionsPerformed(run, done):
                    made = done.artifacts
                    drafts |= {files.version(ref.phase, ref.contract, ref.version): ref for ref in made}
                    if done.tree != before.tree:
                        patches[steps[run]] = (before.tree, done.tree)
                case GateJudged(_, VerdictDigest("delivery", "passed", finals=refs)):
                    # This gate writes what it hands in.
                    drafts |= {files.version(ref.phase, ref.contract, ref.version): ref for ref in refs}
                case ArtifactEdited(artifacts=refs):
                    drafts |= {files.version(ref.phase, ref.contract, ref.version): ref for ref in refs}
                case ExternalArtifactImported(ref=given):
                    drafts[files.version(given.phase, given.contract, given.version)] = given
                    drafts[files.external_input(given.contract)] = given
                case StageAccepted(finals=refs):
                    finals |= {files.final(ref.phase, ref.contract): ref for ref in refs}
                case _:
                    pass
    unique = (tuple(filter(None, dict.fromkeys(names))) for names in (trees, commits))
    return Named(blocks, drafts, finals, patches, *unique)


def _blocks(event: Event) -> dict[str, str]:  # noqa: C901  # one arm per event that names some
    match event:
        case TaskCreated(spec):
            said = {spec.told.ref: "what language servers said"} if spec.told else {}
            return {spec.catalogue: "the catalogue", **said}
        case LineExtended(extension):
            return {extension.catalogue: "the catalogue of a longer line"}
        case ArtifactEdited(artifacts=refs):
            return {each.hash: f"{each.contract} by hand" for each in refs}
        case ExternalArtifactImported(ref=given):
            return {given.hash: f"{given.contract} from outside"}
        case BaselineTaken(baseline):
            return {baseline.ref: "the baseline"}
        case ContextAssembled(_, context):
            return {context.ref: "a context"}
        case AskAnswered(reply=reply):
            return {reply.ref: "a reply"}
        case ActionsPerformed(_, done):
            drafts = {each.hash: f"draft {each.contract}" for each in done.artifacts}
            said = {done.told: "what language servers said"} if done.told else {}
            return {done.ref: "results of a step", **said, **drafts}
        case Checked(ref=ref):
            return {ref: "a check"}
        case GateJudged(_, verdict):
            finals = {each.hash: f"final {each.contract}" for each in verdict.finals}
            return {verdict.ref: f"the record of {verdict.gate}", **finals}
        case StageAccepted(finals=refs):
            return {each.hash: f"final {each.contract}" for each in refs}
        case _:
            return {}


def _objects(event: Event) -> tuple[list[str], list[str]]:
    match event:
        case TaskCreated(spec):
            return [spec.base_tree, *([spec.given_tree] if spec.given_tree else [])], [spec.base_commit]
        case WorkspacePrepared(tree=tree, human_commit=commit):
            return [tree], [commit]
        case StageAccepted(_, _, result):
            return [result.tree], [result.commit]
        case TaskDelivered(handover):
            return [], [handover.commit, handover.seal]
        case ActionsPerformed(_, done):
            return [done.tree], []
        case _:
            return [], []


# ------------------------------------------------------------------ the journal and its anchor


def journal_findings(files: TaskFiles, moments: list[Moment], git: Git) -> list[Finding]:
    """The chain held when it was read; here follow what the journal says of itself, and what git has of
    it.
    """
    data = read_unlinked(files.journal)
    wrong = _header_problems(files, data, moments[-1].state)
    for moment, text in zip(moments, complete(data).split(b"\n- ")[1:], strict=True):
        try:
            json.loads(text, object_pairs_hook=without_repeats)
        except ValueError as error:
            wrong.append(f"entry {moment.line.seq}: {error}")
    head = f"the chain holds; {len(moments)} entries, head {moments[-1].line.hash[:12]}"
    return [
        Finding("journal", ok=not wrong, text="; ".join(wrong[:_MOST_NAMED]) or head),
        _anchor(files, data, git),
    ]


def _header_problems(files: TaskFiles, data: bytes, state: State) -> list[str]:
    text = data[: data.index(b"\nactions:\n") + 1].decode()
    header: Any = strict_yaml.load(text, str(files.journal))
    named = {"its header": header.get("task_id"), "its first entry": state.task_id}
    wrong = [
        f"{files.journal}: {where} is about the task {str(name)[:80]}"
        for where, name in named.items()
        if name != files.task_id
    ]
    return wrong or (["its header has another request"] if header.get("request") != state.request else [])


def _anchor(files: TaskFiles, data: bytes, git: Git) -> Finding:
    """The copy that git keeps of the task: a journal only ever grows from there."""
    saved = archive.saved_journal(git, files)
    if saved is None:
        return Finding("anchor", ok=False, text=f"{archive.ref_of(files.task_id)} is missing")
    if data.startswith(saved):
        return Finding("anchor", ok=True, text="the journal holds all that git has of it")
    text = "the journal is not the one that git has a copy of"
    if saved.startswith(complete(data)):
        text = (
            f"the journal was cut: git has {saved.count(chr(10).encode(), len(complete(data)))} entries more"
        )
    return Finding("anchor", ok=False, text=f"{text} ({archive.ref_of(files.task_id)})")


# ------------------------------------------------------------------ the pack


def pack_findings(pack: Pack, named: Named) -> list[Finding]:
    """Every block of the pack, and every block that the journal or a context names."""
    try:
        wrong = pack.problems()
        for ref, what in named.blocks.items():
            wrong += _missing(pack, ref, what)
    except Unusable as error:
        wrong = [error.sentence]
    text = f"{len(named.blocks)} blocks that the journal names, each with its content"
    return [Finding(pack.path.name, ok=not wrong, text=_listed(wrong) or text)]


def _missing(pack: Pack, ref: str, what: str) -> list[str]:
    try:
        if what == "a context":
            pack.get_blocks(ref)
        else:
            json.loads(pack.get(ref), object_pairs_hook=without_repeats)
    except Unusable as error:
        return [f"{what}: {error.sentence.removeprefix(f'{pack.path}: ')}"]
    except ValueError as error:
        return [f"{what} ({ref[:12]}): {error}"]
    return []


# ------------------------------------------------------------------ files


def file_findings(files: TaskFiles, named: Named, moments: list[Moment], git: Git) -> list[Finding]:
    """Every file of the task that the journal names, or that follows from it."""
    return [
        *_inputs(files, moments),
        *(_artifact(path, ref) for path, ref in {**named.drafts, **named.finals}.items()),
        *_patches(files, named, git),
        *_views(files, moments),
    ]


def _inputs(files: TaskFiles, moments: list[Moment]) -> Iterator[Finding]:
    created = next(
        event for event in moments[0].line.events if isinstance(event, TaskCreated)
    )  # the rules begin every journal with it
    found = _document(files.task)
    engine = str(found.get("engine")) if isinstance(found, dict) else ""
    task, request = artifacts.inputs(created.spec, moments[0].line.timestamp, engine)
    known = engine in ("local", "temporal")
    yield _same(files.task, found, task if known else None, "what the journal began with")
    yield _same(files.original_request, _document(files.original_request), request, "what was asked")
    later = files.root / "engine.yaml"
    if later.exists():
        value = _document(later)
        ok = isinstance(value, dict) and value.get("engine") in ("local", "temporal")
        yield Finding(later.name, ok=ok, text="says who drove it" if ok else "is no file of ours")


def _artifact(path: Path, ref: ArtifactRef) -> Finding:
    value = _document(path)
    name = f"artifact {path.stem}"
    if isinstance(value, str):
        return Finding(name, ok=False, text=f"{path}: {value}")
    try:
        ok = digest_value(value) == ref.hash
    except TypeError:
        ok = False
    if ok:
        return Finding(name, ok=True, text=f"v{ref.version}, hash {ref.hash[:12]}")
    return Finding(name, ok=False, text=f"{path} was changed; the journal knows it by hash {ref.hash[:12]}")


def _patches(files: TaskFiles, named: Named, git: Git) -> Iterator[Finding]:
    wrong = []
    for step, (before, after) in named.patches.items():
        path = files.patch(step)
        try:
            kept = read_unlinked(path)
            # Earlier releases wrote a patch as the attributes of the checkout had it.
            if kept != git.diff_patch(before, after) and kept != git.diff_patch(
                before, after, by_attributes=True
            ):
                wrong.append(f"{path} is not what step {step} changed")
        except FileNotFoundError:
            wrong.append(f"{path} is missing")
        except Unusable as error:
            wrong.append(f"{path}: {error.sentence}")
    if named.patches:
        text = f"{len(named.patches)} as the trees differ"
        yield Finding("patches", ok=not wrong, text=_listed(wrong) or text)


def _views(files: TaskFiles, moments: list[Moment]) -> Iterator[Finding]:
    """What people read of the task must be what the journal says. A driver that was killed leaves views of an
    earlier line: then they must be what the journal said there.
    """
    shown = _document(files.state)
    seen = _shown_at(shown, moments)
    yield _view(files.state, shown, [seen], partial(_state_view, files))
    memory = _document(files.working_memory)
    yield _view(files.working_memory, memory, [seen], _memory_view)
    for escalation in seen.state.escalations:
        page = files.escalation(escalation.id)
        asked = [at for at in moments[: seen.line.seq] if _asked(at, escalation.id) is not None]
        yield _view(page, _document(page), asked, partial(_page, files, escalation.id))


def _state_view(files: TaskFiles, at: Moment) -> Json:
    return views.state_view(files, at.state, at.line.hash, at.line.seq, at.times)


def _memory_view(at: Moment) -> Json:
    return views.memory_view(at.state, at.line.hash, at.line.seq)


def _page(files: TaskFiles, identity: str, at: Moment) -> Json:
    asked = _asked(at, identity)
    return None if asked is None else views.escalation_view(files, at.state, asked, at.times)


def _asked(at: Moment, identity: str) -> Escalation | None:
    return next((item for item in at.state.escalations if item.id == identity), None)


def _shown_at(shown: Json, moments: list[Moment]) -> Moment:
    journal = shown.get("journal") if isinstance(shown, dict) else None
    length = journal.get("length") if isinstance(journal, dict) else None
    at = length if isinstance(length, int) and 0 < length <= len(moments) else len(moments)
    return moments[at - 1]


def _view(path: Path, found: Json, at: list[Moment], view: Callable[[Moment], Json]) -> Finding:
    if not path.exists():
        return Finding(path.name, ok=True, text="is not there; it is only a view")
    ok = any(found == _as_read(view(moment)) for moment in reversed(at))
    text = (
        "is what the journal says"
        if ok
        else f"{path} is not what the journal says; it is only a view, delete it"
    )
    return Finding(path.name, ok=ok, text=text)


def _as_read(value: Json) -> Json:
    return strict_yaml.load(spell_document(value).decode(), "view")


def _same(path: Path, found: Json, expected: Json, what: str) -> Finding:
    if isinstance(found, str):
        return Finding(path.name, ok=False, text=f"{path}: {found}")
    ok = expected is not None and found == _as_read(expected)
    return Finding(path.name, ok=ok, text=f"is {what}" if ok else f"{path} is not {what}")


def _document(path: Path) -> Json:
    """The value of a YAML file; a text that says what is wrong where there is none."""
    try:
        value = artifacts.parse(read_unlinked(path).decode(), path.name)
    except FileNotFoundError:
        return "is missing"
    except UnicodeDecodeError:
        return "is not text in UTF-8"
    except UsageError as error:
        return error.sentence
    return "is no document of ours" if value is None else value


def _listed(wrong: list[str]) -> str:
    more = len(wrong) - _MOST_NAMED
    return "; ".join(wrong[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
