"""A recorded task played once more: its replies answer, and everything else is done for real.

The replay is a task like any other, beside the first: sandbox, tests and gates run again, under the rules of
today. Whatever comes out otherwise is named with its step. It is thrown away afterwards unless it is wanted.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from agentforge.activities.task_permissions import permissions_of
from agentforge.app.branches.discarding import discard
from agentforge.app.drivers.driving import drive
from agentforge.app.drivers.view_writer import ViewWriter
from agentforge.app.evidence.audits import Audit, audit_task
from agentforge.app.people.answers import answer
from agentforge.app.ports import UNWATCHED, Watcher
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.digests import VerdictDigest
from agentforge.core.errors import PolicyError, UserError
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    Checked,
    ContextAssembled,
    Escalated,
    Event,
    ExternalArtifactImported,
    GateJudged,
    Reverted,
    StageAccepted,
    TaskCreated,
    TaskDelivered,
    TaskForked,
)
from agentforge.core.inputs import Create
from agentforge.core.reply import Json
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, OfRun, Price, Told
from agentforge.sandbox.walls.ladder import choose
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task import archive, artifacts
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.user.start_permissions import permissions_file, write_permissions
from agentforge.system.files import claim_directory, write_atomic

_CHANCE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{12,64}\b|\b\d+(?:\.\d+)? ?m?s\b")
"""What differs between two runs of the same work: times, commits, hashes of what has a time in it, durations.
"""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first thing that came out otherwise."""

    step: int
    """The step of the first task; 0 before its first one."""
    stage: str
    what: str
    recorded: str
    """Empty: the first task had ended."""
    replayed: str
    """Empty: the replay had ended."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where a replay and its task differ first, and how much was compared."""

    task_id: str
    replay_id: str
    divergence: Divergence | None
    facts: int
    """How many results, verdicts, trees and documents were compared."""
    contexts: int
    """How many contexts were sent."""
    other_contexts: tuple[int, ...]
    """Steps that were shown something else: no divergence by itself."""
    state: State
    kept: bool


def replay(
    task: OpenTask, watcher: Watcher = UNWATCHED, *, keep: bool = False, as_allowed: bool = False
) -> Replayed:
    """Plays a task again and compares. Replies are matched by stage and order. What leaves the walls is done
    only `as_allowed`: then whatever let the first task do it counts again.
    """
    recorded = audit_task(task)
    again = _begin(task, recorded, as_allowed=as_allowed)
    try:
        drive(again, watcher)
        _answer_as_recorded(again, recorded, watcher, as_allowed=as_allowed)
        state = again.refresh()
        found = _compared(recorded, audit_task(again), task, again)
    finally:
        if not keep:
            discard(again)
    return replace(found, state=state, kept=keep)


def replayable(site: Site, since: str = "") -> Iterator[OpenTask]:
    """The finished tasks of a repository that began on that day or later, oldest first."""
    for name in reversed(site.task_names()):
        try:
            task = OpenTask.open(site, site.find(name))
        except UserError:
            continue  # `status` says what is wrong with it
        if task.state.status == "completed" and task.journal.times.created_at[:10] >= since:
            yield task


def _begin(task: OpenTask, recorded: Audit, *, as_allowed: bool) -> OpenTask:
    """The second task: the same request, base, pipeline and prompts, with the recorded replies as its
    model.
    """
    site, first = task.site, recorded.decisions[0]
    created = next(event for event, _ in first.happened if isinstance(event, TaskCreated))
    imports = tuple(event for event, _ in first.happened if isinstance(event, ExternalArtifactImported))
    files = free_task(site, f"{task.task_id}-replay")
    name = files.task_id
    script = files.root / "replies.json"
    with Pack(task.files.pack) as source, Pack(files.pack) as target:
        target.put(source.get(created.spec.catalogue))
        for item in imports:
            target.put(source.get(item.ref.hash))
        if (told := recorded.state.told) is not None:
            target.put(source.get(told.ref))
        target.sync()
        write_atomic(script, json.dumps({"replies": [*_replies(recorded, source)]}).encode())
    space = Workspace(site.git, site.home.trees(site.git.top, name).root, name)
    space.keep_base(created.spec.base_commit)
    if created.spec.given_tree:
        space.keep(created.spec.given_tree)
    spec = _spec(created.spec, name, f"scripted:{script}", recorded.state.told)
    said = replace(permissions_of(site, task.state).permissions, marker=spec.marker)
    if not as_allowed:
        # What was allowed may act outside: a command that only looks allows nothing a second time.
        spec = replace(spec, sandbox=_walls(spec.sandbox, task.task_id))
        said = replace(said, allow=frozenset(), yes=False, grants=False, sandbox=_kept_yes(said.sandbox))
    write_permissions(permissions_file(site.home, site.git.top, name), said)
    with Journal.create(files, Create(spec, imports), site.clock) as journal:
        artifacts.write_inputs(files, spec, journal.times.created_at, "local")
        with closing(ViewWriter(site, journal, lambda _: None)) as views:
            views.show()
    return OpenTask(site, journal)


def _spec(spec: TaskSpec, name: str, model: str, told: Told | None) -> TaskSpec:
    """No language server is asked again: what was said to the first task is said at the same step."""
    return replace(
        spec,
        task_id=name,
        model=model,
        price=Price(0, 0),
        prices=(),
        delivery="live",
        deadline_s=0,
        asks_servers=False,
        told=told,
    )


def _walls(recorded: str, task_id: str) -> str:
    """The walls of a task, or those of this machine where it had none."""
    if recorded != "none":
        return recorded
    try:
        return choose("auto").name
    except UserError as error:
        raise PolicyError(
            f"{task_id} ran without a sandbox, and a replay does not: {error.sentence}",
            f"`agentforge replay {task_id} --as-allowed` runs it without them.",
        ) from None


def _kept_yes(sandbox: str) -> str:
    """What was said of the walls, but for that there may be none."""
    return "" if sandbox == "none" else sandbox


def free_task(site: Site, wanted: str) -> TaskFiles:
    """A directory for a task beside another one: of this name, or with a number behind it."""
    archived = set(archive.archived_tasks(site.git))
    found, number = wanted, 1
    while found in archived or not claim_directory(site.project.task(found).root):
        number += 1
        found = f"{wanted}-{number}"
    return site.project.task(found)


def _replies(recorded: Audit, pack: Pack) -> Iterator[dict[str, Json]]:
    """A script: every reply that was taken in, by stage and reader."""
    for decision in recorded.decisions:
        for event, state in decision.happened:
            if not isinstance(event, AskAnswered):
                continue
            run = state.find(event.run)
            value: Any = pack.get_json(event.reply.ref)
            if run is None:
                continue
            usage = event.reply.usage
            reply = value.get("reply")
            entry: dict[str, Json] = {
                "stage": run.stage,
                "reply": value.get("text") or "" if reply is None or value.get("mistake") else reply,
                "stop": value.get("stop") or "end",
                "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
            }
            yield {**entry, **({"role": run.name} if run.parent else {})}


def _answer_as_recorded(again: OpenTask, recorded: Audit, watcher: Watcher, *, as_allowed: bool) -> None:
    """What people answered then is answered now, question by question. Only a yes to a call is not, unless a
    person says so for this replay: it may act outside of the sandbox, and they said it once.
    """
    said = {item.id: item for item in recorded.state.escalations if item.answer is not None}
    asked: set[str] = set()
    while (question := again.refresh().open_escalation) is not None and question.id not in asked:
        asked.add(question.id)
        known = said.get(question.id)
        if known is None or known.kind != question.kind or known.answer is None:
            return
        if known.allows and not as_allowed:
            return
        answer(again, question.id, known.answer)
        drive(again, watcher)


# ------------------------------------------------------------------ what is compared


@dataclass(frozen=True, slots=True)
class _Fact:
    """One thing that a task came to, in a form that two runs of the same work share."""

    run: str
    step: int
    stage: str
    what: str
    value: str
    is_context: bool = False


def _compared(recorded: Audit, replayed: Audit, first: OpenTask, second: OpenTask) -> Replayed:
    with Pack(first.files.pack) as one, Pack(second.files.pack) as other:
        before = [*_facts(recorded, one)]
        after = [*_facts(replayed, other)]
    divergence = _first_divergence(before, after)
    shown = _by_run([fact for fact in before if fact.is_context])
    now = _by_run([fact for fact in after if fact.is_context])
    others = [
        fact.step
        for run, facts in shown.items()
        for fact, again in zip(facts, now.get(run, ()), strict=False)
        if fact.value != again.value
    ]
    return Replayed(
        first.task_id,
        second.task_id,
        divergence,
        sum(not fact.is_context for fact in after),
        sum(fact.is_context for fact in after),
        tuple(sorted(others)),
        replayed.state,
        kept=True,
    )


def _first_divergence(before: Sequence[_Fact], after: Sequence[_Fact]) -> Divergence | None:
    """Runs beside each other may take turns otherwise: each is compared with itself."""
    found: list[tuple[int, Divergence]] = []
    old = _by_run([fact for fact in before if not fact.is_context])
    new = _by_run([fact for fact in after if not fact.is_context])
    for run in dict.fromkeys([*old, *new]):
        for one, other in zip_longest(old.get(run, ()), new.get(run, ())):
            if one is not None and other is not None and (one.what, one.value) == (other.what, other.value):
                continue
            fact = one or other
            assert fact is not None
            spelled = [f"{each.what}: {each.value}" if each else "" for each in (one, other)]
            place = before.index(one) if one is not None else len(before)
            found.append((place, Divergence(fact.step, fact.stage, fact.what, *spelled)))
            break
    return min(found, key=lambda item: item[0])[1] if found else None


def _by_run(facts: Sequence[_Fact]) -> dict[str, list[_Fact]]:
    runs: dict[str, list[_Fact]] = {}
    for fact in facts:
        runs.setdefault(fact.run, []).append(fact)
    return runs


def _facts(audit: Audit, pack: Pack) -> Iterator[_Fact]:
    # A fork's shared part has the name of the task that it was made for. A branch may have a number behind
    # its name, where somebody had that name already.
    happened = [event for decision in audit.decisions for event, _ in decision.happened]
    shared = {event.point.task for event in happened if isinstance(event, TaskForked)}
    names = sorted({audit.task_id, *shared, audit.state.branch} - {""}, key=len, reverse=True)

    def same(text: str) -> str:
        for name in names:
            text = text.replace(name, "TASK")
        return _CHANCE.sub("…", text)

    step, stage = 0, ""
    for decision in audit.decisions:
        for event, state in decision.happened:
            run = event.run if isinstance(event, OfRun) else ""
            stage = state.worker.stage if state.worker else stage
            step = state.step
            for what, value in _said(event, pack, same):
                yield _Fact(run, step, stage, what, value, isinstance(event, ContextAssembled))


def _said(event: Event, pack: Pack, same: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    match event:
        case ContextAssembled(_, context):
            yield "context", _context(context.ref, pack, same)
        case ActionsPerformed(_, done):
            names = ", ".join(f"{item.label}{'' if item.ok else ' failed'}" for item in done.results)
            yield "actions", f"{names or 'none'}, tree {done.tree}"
        case Checked(check=check):
            yield "checks", f"{check.status}: {same(check.summary)}"
        case GateJudged(_, VerdictDigest(gate, status, reasons)):
            yield f"gate {gate}", "; ".join([status, *map(same, reasons)])
        case Reverted(_, tree):
            yield "undone", f"tree {tree}"
        case StageAccepted(_, name, result, finals):
            yield "accepted", f"{name}, tree {result.tree}"
            for final in finals:
                yield "document", _document(final, pack, same)
        case Escalated(escalation):
            yield "question", f"{escalation.kind}: {same(escalation.question.text)}"
        case TaskDelivered(handover):
            yield "delivered", "a branch" if handover.branch else "no change"
        case _:
            pass


def _context(ref: str, pack: Pack, same: Callable[[str], str]) -> str:
    try:
        return same(json.dumps(pack.get_blocks(ref)))
    except UserError:
        return "cannot be read"


def _document(final: ArtifactRef, pack: Pack, same: Callable[[str], str]) -> str:
    try:
        return f"{final.contract}: {same(json.dumps(pack.get_json(final.hash), sort_keys=True))}"
    except UserError:
        return f"{final.contract}: cannot be read"
