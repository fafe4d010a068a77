"""What the engine is made of, without a server."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from temporalio.converter import DataConverter

from agentforge.app.drivers.connection import read_temporal
from agentforge.app.setup.settings import read_settings
from agentforge.core.errors import UsageError
from agentforge.core.events import Event
from agentforge.core.inputs import Prepared
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.engines.temporal.config import Config, Tls, read_config
from agentforge.engines.temporal.server import DevServer, find_program
from agentforge.engines.temporal.worker import Seats
from agentforge.engines.temporal.workflow import ActivityReport, MessageReply, Order, Owed, Task
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.system import processes
from agentforge.system.git.repository import Git
from tests.temporal.light import found_task


def test_the_environment_comes_before_the_users_file() -> None:
    value = {
        "address": "a:1",
        "namespace": "mine",
        "queue": "q",
        "host_silence_s": 5,
        "metrics": "127.0.0.1:9464",
    }
    assert read_config({}, {}, "file") == Config()
    assert read_config(value, {}, "file") == Config("a:1", "mine", None, "", "q", 5, "127.0.0.1:9464")
    found = read_config(
        value,
        {"TEMPORAL_ADDRESS": "b:2", "TEMPORAL_NAMESPACE": "other", "TEMPORAL_API_KEY": "secret"},
        "file",
    )
    assert (found.address, found.namespace, found.api_key) == ("b:2", "other", "secret")
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"address": "grpc://here:7233"}, "cannot be the address of a Temporal server"),
        ({"address": "here"}, "cannot be the address of a Temporal server"),
        ({"api_key_env": "MY_KEY"}, "MY_KEY, which is not set"),
        ({"tls": {"cert": "a.pem"}}, "both `cert` and `key`"),
        ({"tls": {"ca": "nowhere.pem"}}, "there is no file nowhere.pem"),
    ],
)
def test_a_wrong_setting_is_named_with_its_key(value: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_config(value, {}, "file")


def test_a_key_of_another_name_and_certificates_are_taken(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.touch()
    found = read_config(
        {"api_key_env": "MY_KEY", "tls": {"ca": str(ca), "domain": "d"}}, {"MY_KEY": "k"}, "file"
    )
    assert (found.api_key, found.tls) == ("k", Tls(ca=str(ca), domain="d"))
    assert read_config({"tls": True}, {}, "file").tls == Tls()


def test_a_repository_cannot_say_where_the_server_is(home: Path, tmp_path: Path) -> None:
    subprocess.run(("git", "init", "-q", str(tmp_path)), check=True)
    settings = tmp_path / ".agentforge" / "config" / "settings.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("temporal: {address: elsewhere:1}\n", encoding="utf-8")
    subprocess.run(("git", "-C", str(tmp_path), "add", "-A"), check=True)
    subprocess.run(("git", "-C", str(tmp_path), "commit", "-qm", "x"), check=True)
    git = Git.open(tmp_path)
    with pytest.raises(UsageError, match="temporal"):
        read_settings(git, git.head(), model=None, sandbox=None, budget_usd=None)
    own = home / ".agentforge" / "config.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("temporal: {address: here:1}\n", encoding="utf-8")
    assert read_temporal().address == "here:1"


@pytest.mark.parametrize(
    ("kind", "said", "heard"),
    [
        (
            ActivityReport,
            {"length": 7, "owed": [{"key": "k", "family": "dream", "since": 3}], "mood": {}},
            ActivityReport(7, [Owed("k", "dream")]),
        ),
        (Order, {"task_id": "t", "repository": "r", "version": "9.0", "hurry": True}, Order("t", "r", "9.0")),
        (Task, {"task_id": "t", "repository": "r", "version": "9.0", "tenant": None}, Task("t", "r", "9.0")),
        (MessageReply, {"accepted": True, "by": "a newer worker"}, MessageReply(accepted=True)),
    ],
    ids=["answer", "order", "task", "told"],
)
def test_what_a_newer_program_says_more_of_is_no_trouble_for_an_older_one(
    kind: type, said: Json, heard: object
) -> None:
    converter = DataConverter.default.payload_converter
    assert converter.from_payloads(converter.to_payloads([said]), [kind]) == [heard]


def test_a_seat_that_is_left_is_taken_by_the_next_and_found_by_others(tmp_path: Path) -> None:
    one, two, three = Seats(tmp_path, "q"), Seats(tmp_path, "q"), Seats(tmp_path, "q")
    first, second = one.sit(), two.sit()
    assert first != second
    assert two.orphans() == []
    one.leave()
    assert three.sit() == first
    three.leave()
    assert two.orphans() == [first]
    assert Seats(tmp_path, "other").sit() not in (first, second)


def test_the_engine_of_a_task_is_what_was_said_last(tmp_path: Path) -> None:
    files = found_task(tmp_path)
    assert read_engine(files) == Driven("temporal")
    write_engine(files, Driven("local"))
    assert read_engine(files) == Driven("local")
    (files.root / "engine.yaml").unlink()
    assert read_engine(files) == Driven("local")
    files.task.write_text("engine: temporal\n", encoding="utf-8")
    assert read_engine(files) == Driven("temporal")
    files.task.write_text("engine: steam\n", encoding="utf-8")
    with pytest.raises(UsageError, match="steam"):
        read_engine(files)


def test_a_reader_catches_up_with_the_driver(tmp_path: Path) -> None:
    files, heard = found_task(tmp_path), list[str]()

    def listen(line: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        heard.append(f"{line['key']} {state.prepared}")

    with (
        Journal.open(files, utc_now, write=False) as reader,
        Journal.open(files, utc_now, write=True) as writer,
    ):
        reader.listeners.append(listen)
        reader.catch_up()
        writer.advance("prepare/1", Prepared("t0"))
        reader.catch_up()
        assert heard == ["prepare/1 True"]
        assert (reader.state, reader.head, reader.length, reader.size) == (
            writer.state,
            writer.head,
            writer.length,
            writer.size,
        )
        with files.journal.open("ab") as file:
            file.write(b"- {torn")
        reader.catch_up()
        assert reader.length == writer.length


def test_only_the_children_of_one_task_are_killed() -> None:
    mine, other = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_RDONLY)
    ended: dict[int, int] = {}

    def run(fd: int, seconds: str) -> None:
        done = processes.run(["sleep", seconds], cwd=Path("/"), env=os.environ, timeout_s=30, pass_fds=(fd,))
        ended[fd] = done.code

    threads = [threading.Thread(target=run, args=words) for words in ((mine, "30"), (other, "1"))]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    processes.kill_holding(mine)
    for thread in threads:
        thread.join()
    os.close(mine)
    os.close(other)
    assert ended == {mine: -9, other: 0}


def test_the_development_server_is_tuned_and_stays_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "temporal"
    with pytest.raises(UsageError, match="cannot be run"):
        find_program(str(program))
    program.touch(0o755)
    assert find_program(str(program)) == program
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == program
    words = DevServer(program, 7300, None, tmp_path / "db").words()
    assert words[words.index("--ip") + 1] == "127.0.0.1"
    assert "history.transferProcessorMaxPollRPS=1000" in words
    assert "--headless" in words
    assert "AgentForgeStage=Keyword" in words
    assert "--headless" not in DevServer(program, 7300, 8300, None).words()
