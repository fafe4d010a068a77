"""The outbox and its way to the provider: one batch for many, one submission whatever dies, and nothing kept for nobody."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.activities.batches import BatchOutbox, Pace, item_of, trouble_in
from agentforge.core.state import Flight, State
from agentforge.core.values import Amount
from agentforge.models.known.providers import Wire
from agentforge.store.user.outbox import KEPT_MS, Outbox
from agentforge.testing import SERVERS
from agentforge.testing.batches import BATCHES, AnthropicBatches
from tests.activities.batch_scene import (
    PACE,
    TASK,
    Deadly,
    Killed,
    Moment,
    item_until,
    kill,
    outbox_at,
    provider,
    put,
)
from tests.depth import SOAK
from tests.models.wire_talk import KEY, REPLY, REQUEST

MOMENTS: tuple[Moment, ...] = ("before submit", "after submit", "before results")


def test_siblings_of_several_tasks_share_one_batch(tmp_path: Path) -> None:
    siblings = 50 if SOAK else 12
    batches = AnthropicBatches(lambda _: REPLY)
    together = threading.Barrier(siblings)
    with provider(batches) as batcher:

        def now_ms() -> int:
            """The window is over when all have come, however slow this machine is."""
            return time.time_ns() // 1_000_000 + (3_600_000 if together.broken else 0)

        def ask(number: int) -> str:
            batch_outbox = BatchOutbox(
                Outbox(tmp_path / "batches", now_ms), pace=Pace(window_s=600, first_s=0.1, last_s=0.1)
            )
            box, name = put(
                batch_outbox, batcher, f"review/{number}/ask/0", replace(TASK, task_id=f"task-{number % 5}")
            )
            batch_outbox.work(box, batcher.carrier)
            with suppress(threading.BrokenBarrierError):
                if together.wait() == 0:
                    together.abort()
            return batcher.codec.decode(item_of(item_until(batch_outbox, batcher, box, name)), REQUEST).text  # type: ignore[arg-type]  # JSON

        with ThreadPoolExecutor(siblings) as pool:
            texts = set(pool.map(ask, range(siblings)))
    assert len(texts) == 1
    assert [len(job.items) for job in batches.jobs.values()] == [siblings]


@pytest.mark.parametrize("wire", tuple(BATCHES))
@pytest.mark.parametrize("moment", MOMENTS)
def test_whoever_dies_with_a_batch_it_is_submitted_once(wire: Wire, moment: Moment, tmp_path: Path) -> None:
    batches = BATCHES[wire](lambda _: REPLY)
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, first = put(batch_outbox, batcher, "green/1/1/ask/0")
        _, second = put(batch_outbox, batcher, "green/1/2/ask/0")
        with pytest.raises(Killed):
            item_until(
                batch_outbox, replace(batcher, carrier=Deadly(batcher.carrier, moment, kill)), box, first
            )
        heir = outbox_at(tmp_path)
        assert put(heir, batcher, "green/1/1/ask/0") == (box, first)
        for name in (first, second):
            assert (
                batcher.codec.decode(item_of(item_until(heir, batcher, box, name)), REQUEST).reply is not None  # type: ignore[arg-type]
            )
    assert batches.submissions == 1


def test_a_submission_whose_answer_was_lost_is_looked_up_and_not_repeated(tmp_path: Path) -> None:
    batches = BATCHES["openai-responses"](lambda _: REPLY, lost=1)
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, name = put(batch_outbox, batcher, "green/1/1/ask/0")
        assert item_until(batch_outbox, batcher, box, name)["status"] == "succeeded"
    assert batches.submissions == 1


def test_a_batch_that_could_be_the_lost_one_is_waited_for_before_another_is_made(tmp_path: Path) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    batches.hold = True
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, name = put(batch_outbox, batcher, "green/1/1/ask/0")
        with pytest.raises(Killed):
            batch_outbox.work(box, Deadly(batcher.carrier, "after submit", kill))
        for _ in range(5):
            batch_outbox.work(box, batcher.carrier)
            batch_outbox.off.wait(0.02)
        assert batches.submissions == 1
        batches.hold = False
        assert item_until(batch_outbox, batcher, box, name)["status"] == "succeeded"
    assert batches.submissions == 1


def test_a_refused_batch_is_the_trouble_of_each_of_its_requests(tmp_path: Path) -> None:
    with provider(AnthropicBatches(lambda _: REPLY, refusals=[429, 401])) as batcher:
        batch_outbox = outbox_at(tmp_path)
        seen = []
        for key in ("a/ask/0", "b/ask/0"):
            box, name = put(batch_outbox, batcher, key)
            trouble = trouble_in(item_until(batch_outbox, batcher, box, name))  # type: ignore[arg-type]  # JSON
            assert trouble is not None
            seen.append((trouble.kind, trouble.retryable, trouble.maybe_billed))
    assert seen == [("rate_limit", True, False), ("auth", False, False)]


def test_a_batch_that_nobody_is_let_into_any_more_is_told_in_the_end_and_stays_on_the_bill(
    tmp_path: Path,
) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, name = put(batch_outbox, batcher, "a/ask/0")
        batch_outbox.work(box, batcher.carrier)
        batches.jobs.clear()
        trouble = trouble_in(item_until(batch_outbox, batcher, box, name))  # type: ignore[arg-type]  # JSON
    assert trouble is not None
    assert (trouble.retryable, trouble.maybe_billed) == (False, True)


def test_a_request_that_is_given_up_takes_its_batch_with_it_only_if_it_is_alone(tmp_path: Path) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    batches.hold = True
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, first = put(batch_outbox, batcher, "a/ask/0")
        _, second = put(batch_outbox, batcher, "b/ask/0")
        _, unsent = put(batch_outbox, batcher, "c/ask/0")
        assert not batch_outbox.give_up(box, batcher.carrier, unsent)
        batch_outbox.work(box, batcher.carrier)
        assert batch_outbox.give_up(box, batcher.carrier, first)
        assert batches.cancels == []
        assert batch_outbox.give_up(box, batcher.carrier, second)
        assert batches.cancels == [*batches.jobs]
    assert (box.requests(), box.batches()) == ([], [])


def test_a_result_is_kept_until_its_task_has_it_on_record_and_then_nothing_is_left(tmp_path: Path) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, name = put(batch_outbox, batcher, "a/ask/0")
        _, other = put(batch_outbox, batcher, "a/ask/0", replace(TASK, marker="m2"))
        waiting = replace(TASK, flights=(Flight("a/ask/0", Amount(1), "worker", delivery="batch"),))
        item_until(batch_outbox, batcher, box, name)
        batch_outbox.tidy(waiting)
        assert box.waits_for(name)
        batch_outbox.tidy(TASK)
        assert (box.waits_for(name), box.waits_for(other)) == (False, True)
        batch_outbox.tidy(State(task_id="task-1", marker="m2"))
        batch_outbox.work(box, batcher.carrier)
    assert [path for path in box.root.rglob("*") if path.is_file() and path.name != "lock"] == []


def test_what_nobody_comes_back_for_is_dropped_when_no_provider_has_it_any_more(tmp_path: Path) -> None:
    with provider(AnthropicBatches(lambda _: REPLY)) as batcher:
        box, _ = put(outbox_at(tmp_path), batcher, "a/ask/0")
    later = Outbox(tmp_path / "batches", lambda: box.now_ms() + KEPT_MS + 1000)
    BatchOutbox(later, pace=PACE).tidy(State(task_id="another"))
    assert box.requests() == []


def test_the_outbox_is_private_and_holds_no_key(tmp_path: Path) -> None:
    with provider(AnthropicBatches(lambda _: REPLY)) as batcher:
        batch_outbox = outbox_at(tmp_path)
        box, name = put(batch_outbox, batcher, "a/ask/0")
        item_until(batch_outbox, batcher, box, name)
    assert stat.S_IMODE(box.root.stat().st_mode) == 0o700
    assert not any(KEY.encode() in path.read_bytes() for path in box.root.rglob("*") if path.is_file())


def test_the_pace_doubles_up_to_a_minute_unless_the_environment_says_otherwise() -> None:
    assert [Pace.of({}).pause_ms(looks) for looks in (0, 1, 2, 9)] == [1000, 2000, 4000, 60000]
    assert Pace.of({"AGENTFORGE_BATCH_POLL_S": "0.05"}).pause_ms(9) == 50


@pytest.fixture
def quick_disk(tmp_path: Path) -> Iterator[Path]:
    """Where it costs nothing to have thousands of files safely written, if there is such a place."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as place:
        yield Path(place)


@pytest.mark.slow
def test_many_batches_take_no_more_memory_than_one(quick_disk: Path) -> None:
    # A body that stays in memory after its batch is more than the allowance.
    most, size, allowed_kb = (10_000, 2000, 24_000) if SOAK else (2000, 8000, 6000)
    batches = AnthropicBatches(lambda _: {"thought": "x" * 200, "actions": []})
    with SERVERS["anthropic"](routes=[batches.route]) as server:
        words = (
            sys.executable,
            "-m",
            "tests.activities.batch_many",
            str(quick_disk),
            server.base_url,
            str(size),
            "1000",
            str(most),
        )
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ},
        )
    few, many = [json.loads(line) for line in done.stdout.splitlines()]
    assert (few["answered"], many["answered"]) == (1000, most)
    assert [len(job.items) for job in batches.jobs.values()] == [1000] * (1 + most // 1000)
    assert many["peak_kb"] < few["peak_kb"] + allowed_kb, (few, many)
