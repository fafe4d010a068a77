"""The journal: what it holds, what a crash leaves of it, and what it refuses."""

import json
import os
import resource
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentforge.core.errors import StateInvalid, Unusable, UsageError
from agentforge.core.events import Discarded, Event, StepClosed
from agentforge.core.evolve import evolve
from agentforge.core.inputs import Abort, Create, DriverStarted, Prepared, Resolution
from agentforge.core.pending import pending
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Amount
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.lines import JournalLine, complete, parse_lines, spell_line
from agentforge.store.task.upcast import VERSION
from agentforge.system import strict_yaml
from agentforge.system.canon import digest
from tests.fuzzing import tries

Clock = Callable[[], datetime]
Drive = Callable[[Journal, int | None], Journal]


def _reopen(files: TaskFiles, clock: Clock) -> Journal:
    return Journal.open(files, clock, write=False)


def _owed(journal: Journal) -> str:
    return pending(journal.state)[0].key


def _states(lines: list[JournalLine]) -> list[State]:
    states = [State()]
    for line in lines:
        state = states[-1]
        for event in line.events:
            state = evolve(state, event)
        states.append(state)
    return states


def test_a_whole_task_reads_back_as_it_was_decided(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    drive(journal, None)
    assert journal.state.status == "completed"
    again = _reopen(files, clock)
    assert (again.state, again.head, again.length, again.times, again.size) == (
        journal.state,
        journal.head,
        journal.length,
        journal.times,
        journal.size,
    )
    assert pending(again.state) == ()


def test_the_file_is_one_yaml_document_after_every_line(
    journal: Journal, drive: Drive, files: TaskFiles, create: Create
) -> None:
    drive(journal, None)
    text = files.journal.read_text(encoding="utf-8")
    whole = strict_yaml.load(text, "actions.yaml")
    assert isinstance(whole, dict)
    assert list(whole) == ["task_id", "request", "started_at", "format", "actions"]
    assert whole["request"] == create.spec.request
    assert whole["actions"] == [dict(line.body) for line in read_lines(files.journal)]
    lines = text.split("\n")
    for end in range(5, len(lines), 7):
        strict_yaml.load("\n".join(lines[:end]) + "\n", "actions.yaml")


def test_a_line_says_number_time_key_and_reason_first_and_is_hashed_over_its_own_text(
    journal: Journal, files: TaskFiles
) -> None:
    header, _, line = files.journal.read_bytes().partition(b"actions:\n")
    body = json.loads(line[2:])
    assert list(body) == ["seq", "timestamp", "key", "why", "v", "events", "prev", "hash"]
    assert body["prev"] == digest(header + b"actions:\n")
    text, _, _ = line[2:].rpartition(b',"hash"')
    assert body["hash"] == digest(body["prev"].encode() + text + b"}") == journal.head


def test_the_line_that_closes_a_step_holds_the_step_entry_with_what_the_step_did(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, None)
    closing = [
        line.body
        for line in read_lines(files.journal)
        if any(isinstance(event, StepClosed) for event in line.events)
    ]
    entries = [body for body in closing if "step" in body]
    assert {entry["step"] for entry in entries} == set(range(1, journal.state.step + 1))
    first = entries[0]
    assert {
        "step",
        "timestamp",
        "phase",
        "agent",
        "context_tokens",
        "action",
        "result",
        "verification",
        "llm_call",
    } <= set(first)
    assert isinstance(first["action"], dict)
    assert first["action"]["type"] == "escalate"


def test_a_known_key_changes_nothing(journal: Journal, drive: Drive) -> None:
    key = _owed(journal)
    drive(journal, 6)
    before = (journal.length, journal.head, journal.state)
    assert journal.known(key)
    assert journal.advance(key, Prepared("b" * 40)) == pending(journal.state)
    assert (journal.length, journal.head, journal.state) == before


def test_a_decision_without_events_leaves_no_line(journal: Journal) -> None:
    length = journal.length
    journal.advance("driver/1", DriverStarted())
    assert journal.length == length
    assert not journal.known("driver/1")


def test_a_discarded_outcome_is_on_record_but_its_key_is_not_known(
    journal: Journal, files: TaskFiles, clock: Clock
) -> None:
    journal.advance("prepare/7", Prepared("b" * 40))
    assert read_lines(files.journal)[-1].events == (Discarded("prepare/7", Amount()),)
    assert not journal.known("prepare/7")
    assert not _reopen(files, clock).known("prepare/7")


def test_a_refused_message_leaves_no_line_and_the_journal_usable(journal: Journal) -> None:
    with pytest.raises(StateInvalid):
        journal.advance("inbox/ESC-009", Resolution("ESC-009", "yes", "Ada"))
    journal.advance("inbox/stop", Abort("Ada", "enough"))
    assert journal.state.status == "cancelled"


def test_half_a_surrogate_pair_is_written_as_what_can_be_read_back(
    journal: Journal, files: TaskFiles, clock: Clock
) -> None:
    journal.advance("inbox/stop", Abort("Ada", "why \ud83d not"))
    last = read_lines(files.journal)[-1]
    assert "why \ufffd not" in str(last.body["events"])
    assert _reopen(files, clock).state == journal.state
    strict_yaml.load(files.journal.read_text(encoding="utf-8"), "actions.yaml")


def test_listeners_hear_the_line_that_is_on_disk(journal: Journal, files: TaskFiles) -> None:
    heard: list[tuple[dict[str, Json], tuple[Event, ...], State]] = []
    journal.listeners.append(lambda line, events, state: heard.append((line, events, state)))
    journal.advance(_owed(journal), Prepared("a" * 40))
    last = read_lines(files.journal)[-1]
    ((line, events, state),) = heard
    assert {**line, "prev": last.body["prev"]} == last.body
    assert events == last.events
    assert state == journal.state


def test_threads_that_report_at_once_get_one_line_each(journal: Journal, files: TaskFiles) -> None:
    keys = [f"late/{number}" for number in range(40)]
    threads = [threading.Thread(target=journal.advance, args=(key, Prepared("b" * 40))) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line.key for line in read_lines(files.journal)[1:]) == sorted(keys)


def test_a_task_is_created_once(journal: Journal, files: TaskFiles, create: Create, clock: Clock) -> None:
    before = files.journal.read_bytes()
    with pytest.raises(StateInvalid, match="exists already"):
        Journal.create(files, create, clock)
    assert files.journal.read_bytes() == before


def test_no_journal_is_a_sentence(files: TaskFiles, clock: Clock) -> None:
    with pytest.raises(UsageError, match="There is no journal"):
        _reopen(files, clock)


# ------------------------------------------------------------------ crashes


def test_at_every_byte_offset_a_reader_sees_the_lines_that_are_whole(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, 12)
    data = files.journal.read_bytes()
    lines = list(parse_lines(data, files.journal))
    start = data.index(b"actions:\n") + len(b"actions:\n")
    seen: dict[bytes, list[str]] = {}
    for end in range(start, len(data) + 1):
        visible = complete(data[:end])
        if visible not in seen:
            seen[visible] = [line.hash for line in parse_lines(visible, files.journal)]
        assert seen[visible] == [line.hash for line in lines[: data.count(b"\n", start, end)]]


def test_a_cut_anywhere_in_the_header_is_not_a_task(journal: Journal, files: TaskFiles, clock: Clock) -> None:
    data = files.journal.read_bytes()
    first = data.index(b"\n- ") + 1
    for end in (0, 1, 20, first - 1, first, first + 50):
        files.journal.write_bytes(data[:end])
        with pytest.raises(Unusable, match=r"damaged|holds no task"):
            _reopen(files, clock)


def test_a_torn_tail_is_invisible_to_readers_and_cut_by_the_next_writer(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    drive(journal, 8)
    journal.close()
    whole = files.journal.read_bytes()
    torn = whole + whole.splitlines()[-1][:40]
    files.journal.write_bytes(torn)
    assert _reopen(files, clock).head == journal.head
    assert files.journal.read_bytes() == torn
    with Journal.open(files, clock, write=True) as again:
        assert files.journal.read_bytes() == whole
        again.advance("inbox/stop", Abort("Ada"))
    assert _reopen(files, clock).state.status == "cancelled"


def test_a_reader_becomes_the_writer_with_all_that_was_appended_and_without_a_torn_tail(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    reader = _reopen(files, clock)
    drive(journal, 8)
    journal.close()
    whole = files.journal.read_bytes()
    files.journal.write_bytes(whole + b"- {")
    with reader.writing():
        assert (reader.state, reader.head, files.journal.read_bytes()) == (journal.state, journal.head, whole)
        reader.advance("inbox/stop", Abort("Ada"))
    assert reader._fd is None
    assert _reopen(files, clock).state == reader.state


def test_a_journal_that_is_another_one_by_now_is_not_written_to(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    drive(journal, 8)
    journal.close()
    reader = _reopen(files, clock)
    lines = files.journal.read_bytes().splitlines(keepends=True)
    for other in (b"".join(lines[:-2]), b"".join(lines[:-1]) + b"#" * (len(lines[-1]) - 1) + b"\n"):
        files.journal.write_bytes(other)
        with pytest.raises(Unusable, match="Something else wrote to"), reader.writing():
            pytest.fail("it was opened")
        assert files.journal.read_bytes() == other


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return (Path(__file__).parent / "journals" / "v1-small-lane.yaml").read_bytes()


@tries(150, HealthCheck.function_scoped_fixture)
@given(data=st.data())
def test_one_flipped_bit_is_never_another_state(data: st.DataObject, sample: bytes) -> None:
    at = data.draw(st.integers(0, len(sample) - 1))
    bit = data.draw(st.integers(0, 7))
    flipped = bytearray(sample)
    flipped[at] ^= 1 << bit
    path = Path("tasks/x/actions.yaml")
    before = list(parse_lines(sample, path))
    try:
        after = list(parse_lines(complete(bytes(flipped)), path))
    except Unusable as error:
        named = int(str(error).split("line ")[1].split(":")[0].split(",")[0])
        touched = sample.count(b"\n", 0, at) + 1
        in_header = touched <= 5
        assert named == touched or (in_header and named <= 6)
        return
    assert at == len(sample) - 1, "only the last newline can turn a line into a torn tail"
    assert _states(after) == _states(before[:-1])


def test_damage_in_the_middle_names_the_line_and_changes_nothing(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    drive(journal, 8)
    journal.close()
    lines = files.journal.read_bytes().split(b"\n")
    lines[7] = lines[7].replace(b'"why":"', b'"why":"not ')
    files.journal.write_bytes(b"\n".join(lines))
    before = files.journal.read_bytes()
    for write in (False, True):
        with pytest.raises(Unusable, match=r"actions\.yaml, line 8: its hash is wrong"):
            Journal.open(files, clock, write=write)
    assert files.journal.read_bytes() == before


@pytest.mark.parametrize("number", [6, 7, 9])
def test_a_missing_line_is_damage(
    number: int, journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    drive(journal, 8)
    lines = files.journal.read_bytes().split(b"\n")
    del lines[number - 1]
    files.journal.write_bytes(b"\n".join(lines))
    with pytest.raises(Unusable, match=f"line {number}:"):
        _reopen(files, clock)


def _append_line(files: TaskFiles, change: dict[str, Json]) -> None:
    last = read_lines(files.journal)[-1]
    body = {key: value for key, value in last.body.items() if key not in ("prev", "hash")}
    line, _ = spell_line({**body, "seq": last.seq + 1, **change}, last.hash)
    with files.journal.open("ab") as file:
        file.write(line)


@pytest.mark.parametrize(
    "change",
    [
        {"v": VERSION + 1},
        {"events": [{"type": "task_teleported"}]},
        {"events": [{"type": "moved", "before": "draft", "after": "planned", "because": "new field"}]},
    ],
)
def test_what_a_newer_version_wrote_is_not_guessed_at(
    change: dict[str, Json], journal: Journal, files: TaskFiles, clock: Clock
) -> None:
    _append_line(files, change)
    with pytest.raises(Unusable, match="written by a newer version of AgentForge"):
        _reopen(files, clock)


def test_a_newer_format_of_the_file_is_named(journal: Journal, files: TaskFiles, clock: Clock) -> None:
    files.journal.write_bytes(files.journal.read_bytes().replace(b"\nformat: 1\n", b"\nformat: 2\n"))
    with pytest.raises(Unusable, match="newer version"):
        _reopen(files, clock)


def test_a_line_that_does_not_follow_is_refused(journal: Journal, files: TaskFiles, clock: Clock) -> None:
    _append_line(files, {"events": [{"type": "moved", "before": "completed", "after": "draft"}]})
    with pytest.raises(Unusable, match="entry 2 does not follow"):
        _reopen(files, clock)


# ------------------------------------------------------------------ a world that fails


def test_a_full_disk_stops_the_journal_and_leaves_no_part_of_the_line(
    journal: Journal, files: TaskFiles, clock: Clock
) -> None:
    before = files.journal.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(Unusable):
            journal.advance(_owed(journal), Prepared("a" * 40))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files.journal.read_bytes() == before
    with pytest.raises(Unusable):
        journal.advance(_owed(journal), Prepared("a" * 40))
    assert journal.length == 1
    assert _reopen(files, clock).state == journal.state


def test_a_failed_sync_stops_the_journal(
    journal: Journal, files: TaskFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(fd: int) -> None:
        raise OSError(5, os.strerror(5))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(Unusable, match="disk failed"):
            journal.advance(_owed(journal), Prepared("a" * 40))
    with pytest.raises(Unusable, match="disk failed"):
        journal.advance(_owed(journal), Prepared("a" * 40))
    assert len(read_lines(files.journal)) == 1


def test_an_interrupt_in_the_middle_of_a_write_stops_the_journal(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(fd: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            journal.advance(_owed(journal), Prepared("a" * 40))
    with pytest.raises(Unusable):
        journal.advance(_owed(journal), Prepared("a" * 40))


@pytest.mark.parametrize("replaced", [False, True])
def test_files_removed_in_the_middle_are_noticed_before_the_next_line(
    replaced: bool, journal: Journal, files: TaskFiles
) -> None:
    data = files.journal.read_bytes()
    shutil.rmtree(files.root)
    if replaced:
        files.root.mkdir()
        files.journal.write_bytes(data)
    for _ in range(2):
        with pytest.raises(
            Unusable,
            match=r"were removed.*`agentforge continue .*` restores them from the last accepted stage",
        ):
            journal.advance(_owed(journal), Prepared("a" * 40))
    assert journal.length == 1


def test_a_second_writer_is_noticed(journal: Journal, files: TaskFiles, clock: Clock) -> None:
    with Journal.open(files, clock, write=True) as other:
        other.advance(_owed(other), Prepared("a" * 40))
    with pytest.raises(Unusable, match="Something else wrote"):
        journal.advance(_owed(journal), Prepared("a" * 40))
    assert len(read_lines(files.journal)) == 2


def test_an_append_reads_nothing_back(journal: Journal, files: TaskFiles) -> None:
    """So the cost of a line does not grow with the journal: what is in it already could be anything."""
    journal.advance(_owed(journal), Prepared("a" * 40))
    with files.journal.open("r+b") as file:
        file.write(b"\0" * journal.size)
    length = journal.length
    journal.advance("late/1", Prepared("b" * 40))
    assert journal.length == length + 1
    assert json.loads(files.journal.read_bytes().splitlines()[-1].lstrip(b"\0")[2:])["hash"] == journal.head


@pytest.mark.parametrize("name", ["task-1;touch canary", "task-$(touch${IFS}x)", "../other", "a b"])
def test_a_journal_with_a_name_that_no_task_can_have_is_not_read(
    name: str, files: TaskFiles, clock: Clock, create: Create
) -> None:
    """Such a name would stand in commands that are shown, and be pasted into a shell."""
    begin = replace(create, spec=replace(create.spec, task_id=name))
    with pytest.raises(Unusable, match="a name that no task can have"):
        Journal.create(files, begin, clock)
    with pytest.raises(Unusable, match="a name that no task can have"):
        Journal.open(files, clock, write=False)
