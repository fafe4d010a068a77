"""Messages to a driver."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.inputs import Abort, Message, Resolution, Resume
from agentforge.store.layout import TaskFiles
from agentforge.store.task.inbox import QuestionTimes, Received, receive, refuse, send
from agentforge.system import strict_yaml


def _nothing(_: str) -> bool:
    return False


@pytest.mark.parametrize(
    "message",
    [
        Resolution("ESC-001", "yes:\n- no\n\x85 ünï", "Ada"),
        Resume("Ada"),
        Abort("Ada"),
        Abort("Ada", "enough: #1"),
    ],
)
def test_a_message_arrives_as_it_was_sent(message: Message, files: TaskFiles) -> None:
    assert send(files, message, "m-1")
    assert receive(files, _nothing, pytest.fail) == [Received("inbox/m-1", message)]


def test_the_first_answer_wins_whoever_is_fast(files: TaskFiles) -> None:
    with ThreadPoolExecutor(8) as pool:
        sent = list(
            pool.map(
                lambda number: send(files, Resolution("ESC-001", str(number), "Ada"), "ESC-001"), range(16)
            )
        )
    assert sent.count(True) == 1
    ((_, message),) = receive(files, _nothing, pytest.fail)
    assert message == Resolution("ESC-001", str(sent.index(True)), "Ada")


def test_the_record_carries_the_times_that_are_known(files: TaskFiles) -> None:
    send(
        files,
        Resolution("ESC-001", "yes", "Ada"),
        "ESC-001",
        QuestionTimes("2026-01-02T03:04:05Z", answered_at="2026-01-02T04:00:00Z"),
    )
    record = strict_yaml.load((files.inbox / "ESC-001.yaml").read_text(encoding="utf-8"), "record")
    assert isinstance(record, dict)
    assert (record["opened_at"], record["answered_at"]) == ("2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z")
    assert "shown_at" not in record
    assert receive(files, _nothing, pytest.fail)


def test_consumed_messages_stay_on_disk_and_are_not_read_again(files: TaskFiles) -> None:
    send(files, Resume("Ada"), "m-1")
    send(files, Abort("Ada"), "m-2")
    assert receive(files, {"inbox/m-1"}.__contains__, pytest.fail) == [Received("inbox/m-2", Abort("Ada"))]
    assert (files.inbox / "m-1.yaml").exists()


def test_messages_come_in_the_order_they_were_left(files: TaskFiles) -> None:
    for number, name in enumerate(("c", "a", "b")):
        send(files, Resume(name), name)
        os.utime(files.inbox / f"{name}.yaml", ns=(number, number))
    assert [key for key, _ in receive(files, _nothing, pytest.fail)] == ["inbox/c", "inbox/a", "inbox/b"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"kind: resolution\n",
        b"kind: merge\nby: Ada\n",
        b"\xff\xfe",
        b"kind: resume\nby: 3\n",
        b"- a\n",
        b"a: [\n",
        b"x" * 2_000_000,
    ],
)
def test_what_cannot_be_read_is_reported_and_moved_aside(content: bytes, files: TaskFiles) -> None:
    send(files, Resume("Ada"), "good")
    (files.inbox / "bad.yaml").write_bytes(content)
    reports: list[str] = []
    assert receive(files, _nothing, reports.append) == [Received("inbox/good", Resume("Ada"))]
    assert len(reports) == 1
    assert "bad.yaml was refused" in reports[0]
    assert (files.inbox / "bad.refused").read_bytes() == content
    assert receive(files, _nothing, pytest.fail) == [Received("inbox/good", Resume("Ada"))]


def test_a_directory_or_a_link_in_the_inbox_is_refused(files: TaskFiles) -> None:
    (files.inbox / "dir.yaml").mkdir(parents=True)
    (files.inbox / "link.yaml").symlink_to("/etc/hostname")
    reports: list[str] = []
    assert receive(files, _nothing, reports.append) == []
    assert len(reports) == 2


def test_a_refused_message_frees_its_name(files: TaskFiles) -> None:
    send(files, Resume("Ada"), "m-1")
    refuse(files, "inbox/m-1")
    assert receive(files, _nothing, pytest.fail) == []
    assert send(files, Resume("Bob"), "m-1")


def test_an_identity_cannot_leave_the_inbox(files: TaskFiles) -> None:
    with pytest.raises(UsageError):
        send(files, Resume("Ada"), "../escape")


def test_no_inbox_is_no_message(files: TaskFiles) -> None:
    assert receive(files, _nothing, pytest.fail) == []
