"""What a step costs beside the model: time, bytes and tokens, early in a task, late, and very late."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.core.digests import ActionResults, ContextDigest, RequestDigest
from agentforge.core.effects import Act, Ask, Assemble, Effect
from agentforge.core.inputs import Acted, Answered, AskStarted, Assembled, Outcome
from agentforge.core.pending import pending, worst_case
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import ActionDigest, Amount, Opened, ReplyDigest, Usage
from bench.model import READ_LINES, Work, module_path
from bench.scene import Scene
from bench.timed import Appends, Spent, median_ms, timed_syncs, without_syncs

POINTS = (10, 1_000, 10_000)
WINDOWS: tuple[tuple[Work, int], ...] = (("read", 30), ("edit", 10))
ALONE = 60
MISSES = 4
"""Every so many skipped steps one fails, so that what was tried is as long as it ever gets."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some real steps of one kind, at one point of a task; medians per step."""

    point: int
    work: Work
    total_ms: float
    git_ms: float
    git_calls: float
    sync_ms: float
    syncs: float
    cpu_ms: float
    """Time on a processor, of this process: what a busy machine cannot stretch by making it wait."""
    append_ms: float
    """One fsynced append, measured between the steps of this window: what the disk does to one it does to the
    other.
    """
    appends: float
    """What is ours, all steps together, in multiples of as many of those appends."""
    journal_bytes: int
    pack_bytes: int
    context_tokens: int

    @property
    def ours_ms(self) -> float:
        """All but git: our own computing, and our own waits for the disk."""
        return self.total_ms - self.git_ms


@dataclass(frozen=True, slots=True)
class _Mark:
    wall: float
    cpu: float
    git: float
    sync: float


@dataclass(slots=True)
class _Watch:
    """Notes the clocks when a step begins and ends, with one append in between."""

    git: Spent
    syncs: Spent
    appends: Appends
    begins: list[_Mark] = field(default_factory=list)
    ends: list[_Mark] = field(default_factory=list)
    state: State = field(default_factory=State)

    def __call__(self, state: State) -> None:
        self.state = state
        self.ends.append(self._now())
        self.appends.append()
        self.begins.append(self._now())

    def spans(self) -> list[_Mark]:
        """What each step took."""
        pairs = zip(self.begins, self.ends[1:], strict=False)
        return [
            _Mark(end.wall - begin.wall, end.cpu - begin.cpu, end.git - begin.git, end.sync - begin.sync)
            for begin, end in pairs
        ]

    def _now(self) -> _Mark:
        return _Mark(time.perf_counter(), time.process_time(), self.git.seconds, self.syncs.seconds)


def measure_steps(scene: Scene, place: Path) -> Iterator[Window]:
    """Every kind of step at every point. Between the points steps are not performed, only recorded."""
    for point in POINTS:
        if scene.journal.state.step + 100 < point:
            skip_to(scene, point - 5)
        scene.model.work = "read"
        scene.drive_to(point)
        for work, steps in WINDOWS:
            yield _window(scene, place, work, steps, point)


@dataclass(frozen=True, slots=True)
class Alone:
    """Steps whose four effects do nothing, at one point of a task: the engine, the rules, the journal with
    its waits for the disk, and the views. Medians per step.
    """

    point: int
    total_ms: float
    cpu_ms: float
    sync_ms: float


def measure_engine(scene: Scene, place: Path) -> Iterator[Alone]:
    """The engine alone at every point, after some real steps; the lines between are recorded as fast as can
    be.
    """
    scene.drive_to(POINTS[0])
    for point in POINTS:
        if scene.journal.state.step + 100 < point:
            skip_to(scene, point - 5)
        with timed_syncs() as syncs:
            watch = _Watch(scene.git.spent, syncs, Appends(place / "append.bench"))
            scene.drive_to(
                scene.journal.state.step + ALONE, watch, lambda effect, _: _outcome_of(scene, effect)
            )
        spans = watch.spans()
        yield Alone(
            point,
            median_ms([span.wall for span in spans]),
            median_ms([span.cpu for span in spans]),
            median_ms([span.sync for span in spans]),
        )


def _window(scene: Scene, place: Path, work: Work, steps: int, point: int) -> Window:
    journal, pack = scene.journal, scene.journal.files.pack
    scene.model.work = work
    begin = journal.state.step + 1
    scene.drive_to(begin)  # what the change of work costs is not the window's
    sizes, calls = (journal.size, pack.stat().st_size), scene.git.spent.calls
    with timed_syncs() as syncs:
        watch = _Watch(scene.git.spent, syncs, Appends(place / "append.bench"))
        scene.drive_to(begin + steps, watch)
    spans, appends = watch.spans(), watch.appends.times
    assert watch.state.worker is not None
    return Window(
        point=point,
        work=work,
        total_ms=median_ms([span.wall for span in spans]),
        git_ms=median_ms([span.git for span in spans]),
        git_calls=(scene.git.spent.calls - calls) / steps,
        sync_ms=median_ms([span.sync for span in spans]),
        syncs=(syncs.calls - len(appends)) / steps,
        cpu_ms=median_ms([span.cpu for span in spans]),
        append_ms=median_ms(appends),
        appends=sum(span.wall - span.git for span in spans) / len(spans) / (sum(appends) / len(appends)),
        journal_bytes=(journal.size - sizes[0]) // steps,
        pack_bytes=(pack.stat().st_size - sizes[1]) // steps,
        context_tokens=watch.state.worker.context_tokens,
    )


def skip_to(scene: Scene, step: int) -> None:
    """Lines without work: outcomes of earlier steps are recorded again, as fast as the rules and the journal
    allow.
    """
    journal = scene.journal
    with without_syncs(), _unheard(scene):
        while journal.state.step < step:
            (owed,) = pending(journal.state)
            _record(scene, owed)


def _record(scene: Scene, owed: Effect) -> None:
    scene.journal.advance(owed.key, _outcome_of(scene, owed))


def _outcome_of(scene: Scene, owed: Effect) -> Outcome:
    """What an effect came to that did nothing; the line before a call is written as always."""
    journal, state = scene.journal, scene.journal.state
    run = state.worker
    assert run is not None
    match owed:
        case Assemble():
            return Assembled(ContextDigest(run.context, run.context_tokens))
        case Ask():
            journal.advance(
                f"{owed.key}/sent", AskStarted(RequestDigest("0" * 64, "plain", worst_case(state, run)))
            )
            reply = ReplyDigest(
                run.reply.ref, Usage(1000, 100), Amount(1, 1100, 0), 1, summary=f"step {state.step}"
            )
            return Answered(reply)
        case Act():
            return _acted(state, run)
        case _:
            raise AssertionError(f"a skipped step owes {owed}")


def _acted(state: State, run: Run) -> Acted:
    path, start = module_path(state.step), 1 + state.step % 60
    missed = state.step % MISSES == 0
    text = f"`{path}` has no line {state.step}" if missed else ""
    digest = ActionDigest("read_file", not missed, path, "no_such_line" if missed else "", text)
    opened = () if missed else (Opened(path, "", start, start + READ_LINES - 1),)
    mark = (f"{state.step:016x}",)
    return Acted(ActionResults(run.acts[-1], state.tree, (digest,), opened=opened, seen=mark, came=mark))


@contextmanager
def _unheard(scene: Scene) -> Iterator[None]:
    """Nobody is told of the lines that are skipped: views and index belong to real steps."""
    listeners, scene.journal.listeners = scene.journal.listeners, []
    try:
        yield
    finally:
        scene.journal.listeners = listeners
