"""A task as a scripted sequence of inputs: enough of one to fill a journal with every kind of line."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Handover,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskStarted,
    AskTrouble,
    Assembled,
    BaselineReady,
    CheckRan,
    CommitMade,
    Create,
    DeliveryMade,
    DriverStarted,
    Elapsed,
    Judged,
    Outcome,
    Prepared,
    Resolution,
)
from agentforge.core.pipeline import Pipeline, Product, Stage
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    Baseline,
    Budget,
    CheckDigest,
    Opened,
    Price,
    Question,
    ReplyDigest,
    Usage,
)
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import Journal

TASK = "task-20260102-rename-the-flag"
IMPLEMENTATION = ArtifactRef("implementation", "green", 1, "4" * 64)
SPECIFICATION = ArtifactRef("specification", "spec", 1, "5" * 64)


def _stages() -> tuple[Stage, ...]:
    return (
        Stage("frame", "software_architect", (Product("specification", "spec"),), gates=("contracts",)),
        Stage(
            "green",
            "software_developer",
            (Product("implementation", "green"),),
            gates=("green",),
            checks=("syntax", "tests"),
            needs_environment=True,
        ),
        Stage("deliver", None, (), gates=("delivery",), verifying=True),
    )


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """One second per look."""
    ticks = iter(range(10**9))
    start = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return lambda: start + timedelta(seconds=next(ticks))


@pytest.fixture
def files(tmp_path: Path) -> TaskFiles:
    return TaskFiles(tmp_path / "repo" / ".agentforge" / "tasks" / TASK)


@pytest.fixture
def create() -> Create:
    return Create(
        TaskSpec(
            task_id=TASK,
            request='Rename the flag: "--größe" → `--size`\n\x85 next line, \u2028 and 😀',
            base_commit="c" * 40,
            base_tree="a" * 40,
            model="scripted:demo",
            sandbox="none",
            catalogue="9" * 64,
            pipeline=Pipeline("implement", "small", _stages()),
            budget=Budget(),
            price=Price(3_000_000, 15_000_000),
            triage=("one module",),
        )
    )


class Script:
    """What the world answers, in order; one trouble, one failing check, one question on the way."""

    def __init__(self) -> None:
        self.asked = 0
        self.checked = 0
        self.troubled = False

    def outcome(self, effect: Effect, step: int) -> Outcome:  # noqa: C901  # one arm per effect is the point
        match effect:
            case Prepare():
                return Prepared("a" * 40, ("the checkout is dirty; the task starts from its commit",))
            case TakeBaseline():
                return BaselineReady(Baseline("b" * 64, "env", "none", 12, 11, 1, 0, "11 of 12 pass"))
            case Assemble():
                return Assembled(ContextDigest(f"{step:064d}", 7000 + step))
            case Ask():
                return self._answer(effect)
            case Pause():
                return Elapsed()
            case Act():
                return self._act(effect, step)
            case Check():
                self.checked += 1
                failing = self.checked == 1
                return CheckRan(
                    CheckDigest("failed" if failing else "passed", "1 failing" if failing else "12 pass"),
                    "d" * 64,
                )
            case Judge(gate=gate):
                return Judged(
                    VerdictDigest(
                        gate, "passed", (), "e" * 64, (SPECIFICATION,) if gate == "contracts" else ()
                    )
                )
            case Commit():
                return CommitMade(StageResult(f"{step:040d}", f"{step:040x}"))
            case Deliver():
                return DeliveryMade(Handover(f"agentforge/{TASK}", "f" * 40, "0" * 64))
            case _:
                raise AssertionError(effect)

    def _answer(self, effect: Ask) -> Outcome:
        if not self.troubled:
            self.troubled = True
            return AskTrouble("rate_limit", "too many requests", retryable=True, maybe_billed=False)
        self.asked += 1
        return Answered(
            ReplyDigest(
                f"{self.asked:064x}",
                Usage(6000, 400, 5000),
                Amount(1, 6400, 24000),
                1,
                summary=f"did {effect.key}",
            )
        )

    def _act(self, effect: Act, step: int) -> Outcome:
        stage = effect.key.split("/")[0]
        if stage == "frame" and self.asked == 1:
            question = Question("Keep the old flag as an alias?", ("yes", "no"), "yes")
            return Acted(
                ActionResults("1" * 64, "a" * 40, (ActionDigest("escalate", ok=True),)), question=question
            )
        if stage == "frame":
            return Acted(
                ActionResults(
                    "2" * 64,
                    "a" * 40,
                    (ActionDigest("submit_artifact", ok=True, target="specification"),),
                    (SPECIFICATION,),
                )
            )
        edit = ActionDigest("edit_file", ok=True, target="src/größe.py")
        handed = (IMPLEMENTATION,) if self.checked else ()
        opened = (Opened("src/größe.py", "parse"),)
        return Acted(
            ActionResults("3" * 64, f"{step:040d}", (edit,), handed, opened, notes="the flag is in one place")
        )


def _drive(journal: Journal, until: int | None = None) -> Journal:
    """Performs what is owed, by the script, until nothing is or the journal has `until` lines."""
    script = Script()
    owed = journal.advance("driver/1", DriverStarted())
    while owed and (until is None or journal.length < until):
        effect = (
            owed[-1]
            if isinstance(owed[0], TakeBaseline) and len(owed) > 1 and journal.length % 2
            else owed[0]
        )
        if isinstance(effect, Await):
            owed = journal.advance(f"inbox/{effect.escalation}", Resolution(effect.escalation, "yes", "Ada"))
            continue
        if isinstance(effect, Ask):
            journal.advance(
                f"{effect.key}/sent",
                AskStarted(RequestDigest("7" * 64, "scripted:demo", Amount(1, 16000, 150_000))),
            )
        owed = journal.advance(effect.key, script.outcome(effect, journal.state.step))
    return journal


@pytest.fixture
def drive() -> Callable[[Journal, int | None], Journal]:
    return _drive


@pytest.fixture
def journal(files: TaskFiles, create: Create, clock: Callable[[], datetime]) -> Iterator[Journal]:
    with Journal.create(files, create, clock) as opened:
        yield opened
