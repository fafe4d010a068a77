"""The ledger: one day has one cap, whoever spends; what is set aside stays so until somebody knows; and the
journals can make it again.
"""

import inspect
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentforge.core.digests import RequestDigest
from agentforge.core.errors import Unusable
from agentforge.core.events import AskSent
from agentforge.core.values import Amount, Usage
from agentforge.store.layout import ProjectFiles
from agentforge.store.task import calls
from agentforge.store.task.calls import ModelCall, calls_of
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.lines import JournalLine
from agentforge.store.user.day_cap import DayCap, Refusal
from agentforge.store.user.ledger import Ledger
from tests.fuzzing import tries

JOURNALS = Path(__file__).parent / "journals"
DAY = "2030-01-31"
CALL = ModelCall(
    "/r",
    "task-1",
    "green/1/1/ask/0",
    DAY,
    "small",
    tier="generation",
    model="openai:x",
    reserved=Amount(1, 10, 100),
)
NONE = DayCap()
ENDS = ("settle", "lost", "release", "die")


def numbered(number: int, **changes: object) -> ModelCall:
    # fields of a call
    return replace(CALL, key=f"green/1/{number}/ask/0", **changes)  # type: ignore[arg-type]


def finish(ledger: Ledger, call: ModelCall, end: str, part: int) -> None:
    """End a call in one of the ways in which a call can end; one that is left alone stays set aside."""
    match end:
        case "settle":
            ledger.settle(
                call, Usage(call.reserved.tokens * part // 100, 0), call.reserved.micro_usd * part // 100
            )
        case "lost":
            ledger.lost(call)
        case "release":
            ledger.release(call)
        case _:
            pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger(path, tuple, pytest.fail) as found:
        yield found


def test_the_call_that_would_pass_the_cap_is_refused_and_the_one_that_just_fits_is_not(
    ledger: Ledger,
) -> None:
    cap = DayCap(micro_usd=250)
    assert ledger.reserve(numbered(1), cap) is None
    assert ledger.reserve(numbered(2), cap) is None
    refused = ledger.reserve(numbered(3), cap)
    assert refused == Refusal(
        "The cap of the day is $0.0002: $0.0002 are spent or set aside, and the next call may cost $0.0001."
    )
    assert ledger.reserve(numbered(3, reserved=Amount(1, 10, 50)), cap) is None
    assert ledger.reserve(numbered(4, day="2030-02-01"), cap) is None
    assert ledger.used(DAY) == Amount(3, 30, 250)


def test_tokens_have_a_cap_of_their_own(ledger: Ledger) -> None:
    assert ledger.reserve(numbered(1), DayCap(tokens=19)) is None
    refused = ledger.reserve(numbered(2), DayCap(tokens=19))
    assert refused == Refusal(
        "The cap of the day is 19 tokens: 10 are used or set aside, and the next call may take 10."
    )


def test_a_model_without_a_price_is_not_asked_under_a_cap_of_dollars(ledger: Ledger) -> None:
    unknown = replace(CALL, priced=False, reserved=Amount(1, 10, 0))
    refused = ledger.reserve(unknown, DayCap(micro_usd=1_000_000))
    assert refused == Refusal("There is a daily cap in dollars, and the price of openai:x is not known.")
    assert ledger.reserve(unknown, DayCap(tokens=10)) is None


def test_what_a_call_cost_takes_the_place_of_what_was_set_aside(ledger: Ledger) -> None:
    for number in range(1, 5):
        assert ledger.reserve(numbered(number), NONE) is None
    ledger.settle(numbered(1), Usage(3, 2, 1), 40, "batch")
    ledger.lost(numbered(2))
    ledger.release(numbered(3))
    assert ledger.used(DAY) == Amount(4, 5 + 10 + 0 + 10, 40 + 100 + 0 + 100)
    (total,) = ledger.tasks(Path("/r"))
    assert (total.task, total.lane, total.calls, total.tokens, total.micro_usd) == (
        "task-1",
        "small",
        2,
        15,
        140,
    )
    ledger.settle(numbered(4), Usage(1, 1), None)
    assert ledger.tasks(Path("/r"))[0].micro_usd is None


def test_a_process_that_died_frees_nothing(path: Path) -> None:
    cap = DayCap(micro_usd=100)
    with Ledger(path, tuple, pytest.fail) as first:
        assert first.reserve(CALL, cap) is None
    with Ledger(path, tuple, pytest.fail) as second:
        assert isinstance(second.reserve(numbered(9), cap), Refusal)


@tries(15, HealthCheck.function_scoped_fixture)
@given(st.lists(st.tuples(st.integers(0, 90), st.sampled_from(ENDS), st.integers(0, 100)), max_size=12))
def test_no_sequence_of_calls_passes_the_cap(tmp_path: Path, steps: list[tuple[int, str, int]]) -> None:
    place = tmp_path / "one.db"
    place.unlink(missing_ok=True)
    with Ledger(place, tuple, pytest.fail) as ledger:
        for number, (worst, end, part) in enumerate(steps):
            call = numbered(number, reserved=Amount(1, worst, worst))
            if ledger.reserve(call, DayCap(100, 100)) is None:
                finish(ledger, call, end, part)
            used = ledger.used(DAY)
            assert used.tokens <= 100
            assert used.micro_usd <= 100


@tries(5, HealthCheck.function_scoped_fixture)
@given(
    st.integers(0, 3000),
    st.lists(
        st.tuples(st.integers(0, 90), st.sampled_from(ENDS), st.integers(0, 100)), min_size=100, max_size=100
    ),
)
def test_a_hundred_threads_at_once_never_pass_the_cap(
    tmp_path: Path, most: int, steps: list[tuple[int, str, int]]
) -> None:
    place = tmp_path / "hundred.db"
    place.unlink(missing_ok=True)
    seen: list[int] = []
    gate = threading.Barrier(100)
    with Ledger(place, tuple, pytest.fail) as ledger:

        def take(number: int, worst: int, end: str, part: int) -> None:
            gate.wait()
            call = numbered(number, reserved=Amount(1, 1, worst))
            if ledger.reserve(call, DayCap(micro_usd=most)) is None:
                seen.append(ledger.used(DAY).micro_usd)
                finish(ledger, call, end, part)
            seen.append(ledger.used(DAY).micro_usd)

        threads = [threading.Thread(target=take, args=(number, *step)) for number, step in enumerate(steps)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(seen) >= 100
    assert max(seen) <= most


WORKER = """
import sys, threading
from pathlib import Path
from agentforge.core.values import Amount
from agentforge.store.task.calls import ModelCall
from agentforge.store.user.day_cap import DayCap
from agentforge.store.user.ledger import Ledger
taken = []
with Ledger(Path(sys.argv[1]), tuple, sys.exit) as ledger:
    def take(number):
        call = ModelCall("/r", sys.argv[2], str(number), "2030-01-31", reserved=Amount(1, 10, 100))
        if ledger.reserve(call, DayCap(micro_usd=3000)) is None:
            taken.append(number)
    threads = [threading.Thread(target=take, args=(number,)) for number in range(25)]
    print("ready", flush=True)
    sys.stdin.readline()
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(len(taken))
"""


@pytest.mark.slow
def test_four_processes_at_once_take_exactly_what_is_there(path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), f"task-{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    taken = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(taken) == 30


def test_a_damaged_ledger_is_built_again_from_the_journals(tmp_path: Path, path: Path) -> None:
    repo = tmp_path / "repo"
    files = ProjectFiles(repo).task("task-20260102-rename-the-flag")
    files.root.mkdir(parents=True)
    files.journal.write_bytes((JOURNALS / "v1-small-lane.yaml").read_bytes())
    said: list[str] = []
    with Ledger(path, lambda: (repo,), said.append) as ledger:
        before = ledger.tasks(repo)
        assert before
        assert ledger.used("2026-01-02").micro_usd > 0
    assert said == []
    path.write_bytes(b"this is no database at all" * 400)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    with Ledger(path, lambda: (repo,), said.append) as ledger:
        assert isinstance(ledger.reserve(replace(CALL, day="2026-01-02"), DayCap(micro_usd=100)), Refusal)
        assert ledger.tasks(repo) == before
    assert len(said) == 1
    assert "rebuilt" in said[0]


def test_a_ledger_that_is_removed_while_it_is_open_is_built_again(path: Path, ledger: Ledger) -> None:
    assert ledger.reserve(CALL, NONE) is None
    path.unlink()
    assert ledger.used(DAY) == Amount()
    # The call was made all the same.
    ledger.settle(CALL, Usage(3, 2), 40)
    assert ledger.used(DAY) == Amount(1, 5, 40)


def test_a_ledger_that_cannot_be_written_refuses_only_where_there_is_a_cap(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the directory should be")
    said: list[str] = []
    with Ledger(tmp_path / "home" / "ledger.db", tuple, said.append) as ledger:
        assert ledger.reserve(CALL, NONE) is None
        assert len(said) == 1
        with pytest.raises(Unusable, match="cannot be made"):
            ledger.reserve(CALL, DayCap(tokens=100))


def test_a_ledger_is_private_whatever_the_umask_and_never_behind_a_link(path: Path, ledger: Ledger) -> None:
    old = os.umask(0o002)
    try:
        assert ledger.reserve(CALL, DayCap(tokens=100)) is None
    finally:
        os.umask(old)
    assert {file.stat().st_mode & 0o777 for file in path.parent.glob("ledger.db*")} == {0o600}
    ledger.close()
    elsewhere = path.parent / "elsewhere"
    path.replace(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(Unusable, match="a symbolic link"):
        ledger.reserve(numbered(2), DayCap(tokens=100))


def test_a_full_disk_refuses_the_call(path: Path, ledger: Ledger) -> None:
    assert ledger.reserve(CALL, DayCap(tokens=10**9)) is None
    database = ledger._database()
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Unusable, match="disk is full"):
        ledger.reserve(numbered(1, task="x" * 100_000), DayCap(tokens=10**9))


def test_the_journal_says_how_a_call_ended_that_was_left_behind(tmp_path: Path, path: Path) -> None:
    repo = tmp_path / "repo"
    files = ProjectFiles(repo).task("task-20260102-rename-the-flag")
    files.root.mkdir(parents=True)
    files.journal.write_bytes((JOURNALS / "v1-small-lane.yaml").read_bytes())
    known = calls_of(read_lines(files.journal), str(repo))
    answered = next(call for call in known if call.state == "settled")
    with Ledger(path, tuple, pytest.fail) as ledger:
        left = replace(answered, state="reserved", micro_usd=None, tokens=0, usage=Usage())
        assert ledger.reserve(left, NONE) is None
        assert ledger.reserve(replace(left, key="nobody/knows/this"), NONE) is None
        ledger.catch_up(repo, files)
        with closing(sqlite3.connect(path)) as database:
            found = dict(database.execute("SELECT key, state FROM calls").fetchall())
    assert found == {call.key: call.state for call in known} | {"nobody/knows/this": "lost"}


def test_a_call_without_an_end_in_the_journal_stays_set_aside() -> None:
    sent = AskSent(
        "worker", "green/1/1/ask/0", RequestDigest("h", "openai:x", Amount(1, 10, 100), tier="generation")
    )
    (call,) = calls_of([JournalLine({"timestamp": f"{DAY}T00:00:00.000Z"}, (sent,))], "/r")
    assert (call.state, call.day, call.tier, call.reserved) == (
        "reserved",
        DAY,
        "generation",
        Amount(1, 10, 100),
    )


def test_success_is_counted_by_tier_and_model(ledger: Ledger) -> None:
    ledger.record("generation", "openai:x", ok=True)
    ledger.record("generation", "openai:x", ok=False)
    ledger.record("reasoning", "openai:x", ok=True)
    assert ledger.rates() == {("generation", "openai:x"): (1, 2), ("reasoning", "openai:x"): (1, 1)}


def test_a_journal_is_read_for_every_kind_of_event_that_calls_follow() -> None:
    followed = set(
        re.findall(r"case .*?\b([A-Z]\w+)\(|\| ([A-Z]\w+)\(", inspect.getsource(calls._CallCollector.take))
    )
    names = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for pair in followed for name in pair if name}
    assert names == calls._WANTED


@pytest.mark.parametrize("path", sorted(JOURNALS.iterdir()), ids=lambda path: path.stem)
def test_the_calls_of_a_journal_add_up_to_its_bill(
    path: Path, tmp_path: Path, clock: Callable[[], datetime]
) -> None:
    files = ProjectFiles(tmp_path).task("task-x")
    files.root.mkdir(parents=True)
    files.journal.write_bytes(path.read_bytes())
    state = Journal.open(files, clock, write=False).state
    found = calls_of(read_lines(path), "r")
    spent = [call for call in found if call.state == "settled"]
    lost = [call for call in found if call.state == "lost"]
    assert (len(spent), sum(call.tokens for call in spent)) == (state.spent.calls, state.spent.tokens)
    assert sum(call.micro_usd or 0 for call in spent) == state.spent.micro_usd
    assert (len(lost), sum(call.tokens for call in lost)) == (
        state.unaccounted.calls,
        state.unaccounted.tokens,
    )
