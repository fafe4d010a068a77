"""A server as production has it: TLS in front, certificates on both sides, a key; and what the development
server is started with.
"""

import asyncio
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agentforge.engines.temporal.config import Config, Tls
from agentforge.engines.temporal.connection import connect
from agentforge.engines.temporal.server import find_program, listens
from agentforge.store.layout import ProjectFiles
from agentforge.store.task.journal import read_lines
from agentforge.surfaces.cli.main import main
from tests import forked
from tests.engines.crash_site import PROJECT, found
from tests.temporal.certificates import Authority, Pair
from tests.temporal.gateway import Gateway, with_tls
from tests.temporal.reading import DONE, READ, User, script, start_words
from tests.temporal.servers import Server, free_port

pytestmark = pytest.mark.slow

NAME = "temporal.test"
KEY = "not-a-real-key.of-nobody_0123456789"


@dataclass(frozen=True, slots=True)
class Secured:
    """A gateway in front of the server, and what a user needs to get through it."""

    gateway: Gateway
    server: Server
    authority: Authority
    stranger: Authority
    mine: Pair

    @property
    def tls(self) -> Tls:
        return Tls(str(self.mine.cert), str(self.mine.key), str(self.authority.ca), NAME)


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that does not fit."""

    words: str
    code: int
    tls: Tls | None
    key: str = KEY
    address: str = ""
    says: tuple[str, ...] = field(default=())


@pytest.fixture
def secured(server: Server, tmp_path: Path) -> Iterator[Secured]:
    place = tmp_path / "certificates"
    place.mkdir()
    authority, stranger = Authority(place, "authority"), Authority(place, "stranger")
    with Gateway(server.port, with_tls(authority.sign(NAME), str(authority.ca)), KEY) as gateway:
        yield Secured(gateway, server, authority, stranger, authority.sign("ada"))


def config_of(address: str, tls: Tls | None, more: str = "") -> str:
    files = (
        {}
        if tls is None
        else {name: getattr(tls, name) for name in ("cert", "key", "ca", "domain") if getattr(tls, name)}
    )
    spelled = (
        f"  tls: {{{', '.join(f'{name}: {value}' for name, value in files.items())}}}\n" if files else ""
    )
    return f"temporal:\n  address: '{address}'\n{spelled}{more}"


def metrics_of(port: int) -> list[str]:
    """The lines of a worker's metrics that are about the queue of this file."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=120) as answer:
        metrics = answer.read().decode()
    return [line for line in metrics.splitlines() if 'task_queue="secured@' in line]


def all_slots_are_free(shown: list[str]) -> bool:
    return any(
        line.startswith("temporal_worker_task_slots_available{") and line.endswith(" 16") for line in shown
    )


def test_a_task_runs_behind_tls_with_certificate_and_key_and_the_worker_shows_its_metrics(
    secured: Secured, tmp_path: Path, home: Path
) -> None:
    scene, port = found(tmp_path / "site", PROJECT), free_port()
    ada = User(scene.repo, home / ".agentforge", {"FORGE_KEY": KEY})
    more = f"  queue: secured\n  api_key_env: FORGE_KEY\n  metrics: 127.0.0.1:{port}\n"
    ada.configure(config_of(secured.gateway.address, secured.tls, more))
    with ada.running("worker") as worker:
        done = ada.run(*start_words(script(tmp_path, READ, DONE)))
        assert done.returncode == 0, done.stderr
        assert secured.gateway.let_in > 20
        patience = time.monotonic() + 120  # the last slot is given back a moment after the task has ended
        while not all_slots_are_free(shown := metrics_of(port)):
            assert time.monotonic() < patience, shown
            time.sleep(0.1)
        assert any(line.startswith("temporal_activity_schedule_to_start_latency_count{") for line in shown)

        secured.gateway.key = "another"  # the key is called back while the worker runs
        worker.says("does not let us in: Request unauthorized. See that FORGE_KEY holds a key that is good")
        refused = ada.run("continue", "--take-over", "--detach")
        assert refused.returncode == 4, refused.stderr
        secured.gateway.key = KEY
        worker.says("the server answers again")
        worker.stop()
        said = worker.said()
    (task,) = (scene.repo / ".agentforge" / "tasks").iterdir()
    keys = [line.key for line in read_lines(ProjectFiles(scene.repo).task(task.name).journal)]
    assert keys[-1] == "deliver/1"
    assert len(set(keys)) == len(keys)
    assert "Traceback" not in said
    everything = [said, done.stdout, done.stderr, refused.stderr]
    everything += [
        path.read_text(errors="replace")
        for root in (scene.root, ada.home)
        for path in root.rglob("*")
        if path.is_file()
    ]
    assert not any(KEY in text for text in everything)


def wrongs(secured: Secured) -> list[Wrong]:
    """What can be wrong between a user and a server, and what is said of it."""
    good, plain = secured.tls, secured.server.address
    old, other = secured.authority.sign("old", lasts=-timedelta(days=1)), secured.stranger.sign("eve")
    return [
        Wrong(
            "was not signed by", 2, replace(good, ca=str(secured.stranger.ca)), says=("`temporal.tls.ca`",)
        ),
        Wrong(
            "was not signed by anyone this machine trusts", 2, Tls(domain=NAME), says=("`temporal.tls.ca`",)
        ),
        Wrong(
            f"is not for elsewhere.test, but for {NAME}",
            2,
            replace(good, domain="elsewhere.test"),
            says=("`temporal.tls.domain`",),
        ),
        Wrong(
            "wants a certificate, and we have none",
            4,
            replace(good, cert="", key=""),
            says=("`cert` and `key`",),
        ),
        Wrong(
            "it is out of date", 4, replace(good, cert=str(old.cert), key=str(old.key)), says=(str(old.cert),)
        ),
        Wrong(
            "does not take our certificate",
            4,
            replace(good, cert=str(other.cert), key=str(other.key)),
            says=(str(other.cert),),
        ),
        Wrong("do not belong together", 2, replace(good, key=str(other.key)), says=("`temporal.tls.key`",)),
        Wrong("holds no private key", 2, replace(good, key=good.cert), says=("PEM",)),
        Wrong("holds no certificate", 2, replace(good, ca=good.key), says=("PEM",)),
        Wrong(
            "does not let us in: Request unauthorized",
            4,
            good,
            key="guessed",
            says=("See that TEMPORAL_API_KEY",),
        ),
        Wrong(
            "does not let us in: Request unauthorized",
            4,
            good,
            key="",
            says=("Export its key as TEMPORAL_API_KEY",),
        ),
        Wrong("holds no key", 2, good, key="one\ntwo", says=("Export TEMPORAL_API_KEY again",)),
        Wrong(
            "has no TLS, and a key is sent only with it",
            2,
            None,
            address=plain,
            says=("unset TEMPORAL_API_KEY",),
        ),
        Wrong("has no TLS", 2, good, address=plain, says=("Take `tls` out",)),
        Wrong(
            "is no Temporal server without TLS", 1, None, key="", says=("`tls: true`", "`temporal.address`")
        ),
        Wrong(
            "No Temporal server answers",
            1,
            good,
            address=f"127.0.0.1:{free_port()}",
            says=("Start it", "`temporal.address`"),
        ),
        Wrong(
            "cannot be the address of a Temporal server",
            2,
            good,
            address="127.0.0.1",
            says=("host and port",),
        ),
    ]


def test_what_does_not_fit_between_a_user_and_a_server_is_one_sentence_and_nothing_is_recorded(
    secured: Secured,
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scene = found(tmp_path / "site", PROJECT)
    ada = User(scene.repo, home / ".agentforge", {})
    start = start_words(script(tmp_path, DONE))
    monkeypatch.chdir(scene.repo)
    for wrong in wrongs(secured):
        ada.configure(config_of(wrong.address or secured.gateway.address, wrong.tls))
        monkeypatch.setenv("TEMPORAL_API_KEY", wrong.key)
        code, said = main(list(start)), capsys.readouterr()
        assert code == wrong.code, (wrong, said.err)
        sentence, next_step = said.err.splitlines()
        assert sentence.startswith("error: ")
        assert wrong.words in sentence
        assert all(each in sentence + next_step for each in wrong.says), said.err
        assert not wrong.key or wrong.key not in said.out + said.err
    assert not (scene.repo / ".agentforge" / "tasks").exists()

    # The installed command, as loud as it can be: the key is nowhere even then.
    ada.configure(config_of(secured.gateway.address, secured.tls))
    environ = {
        **ada.environ,
        "TEMPORAL_API_KEY": "guessed-by-eve",
        "AGENTFORGE_DEBUG": "1",
        "RUST_LOG": "trace",
    }
    loud = subprocess.run(
        [forked.COMMAND, "worker"],
        cwd=scene.repo,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert loud.returncode == 4
    assert "guessed-by-eve" not in loud.stdout + loud.stderr


def test_the_development_server_says_what_keeps_it_from_starting(
    server: Server, tmp_path: Path, home: Path
) -> None:
    ada, free = User(tmp_path, home / ".agentforge", {}), str(free_port())
    taken = ada.run("server", "dev", "--port", str(server.port))
    assert (taken.returncode, taken.stderr.splitlines()[0]) == (2, f"error: Port {server.port} is in use.")
    nowhere = ada.run("server", "dev", "--port", free, "--db", "/dev/null/below/try.db")
    assert nowhere.returncode == 2
    assert "No database can be at /dev/null/below/try.db: " in nowhere.stderr
    (tmp_path / "bad.db").write_text("This is a letter.\n", encoding="utf-8")
    for words, line in (
        (("--ui-port", str(server.port)), "can't set UI port"),
        (("--db", "bad.db"), "file is not a database"),
    ):
        ended = ada.run("server", "dev", "--port", free, *words)
        assert ended.returncode == 1
        assert line in ended.stderr
        assert "error: The development server did not start" in ended.stderr

    letter = tmp_path / "letter"
    for path, line in ((tmp_path, "which cannot be run"), (letter, "which cannot be run")):
        ada.configure(f"temporal: {{program: {path}}}\n")
        wrong = ada.run("server", "dev", "--port", free)
        assert wrong.returncode == 2
        assert line in wrong.stderr
    letter.write_text("Dear Ada,\n", encoding="utf-8")
    letter.chmod(0o755)
    assert "cannot be run: Exec format error" in ada.run("server", "dev", "--port", free).stderr


def test_the_development_server_is_the_one_on_the_path_with_its_database_in_the_users_directory(
    tmp_path: Path, home: Path
) -> None:
    real, words, port = find_program(), tmp_path / "words", free_port()
    own = tmp_path / "bin" / "temporal"
    own.parent.mkdir()
    own.write_text(f'#!/bin/sh\necho "$@" > {words}\nexec {real} "$@"\n', encoding="utf-8")
    own.chmod(0o755)
    ada = User(
        tmp_path,
        home / ".agentforge",
        {"PATH": f"{own.parent}:{os.environ['PATH']}", "TEMPORAL_NAMESPACE": "mine"},
    )
    with ada.running("server", "dev", "--port", str(port)) as running:
        running.says("next, `agentforge worker`")
        assert (
            f"server: 127.0.0.1:{port}, namespace mine, database {ada.home / 'temporal.db'}" in running.said()
        )
        assert f"export TEMPORAL_ADDRESS=127.0.0.1:{port}" in running.said()
        assert "server start-dev --ip 127.0.0.1" in words.read_text(encoding="utf-8")
        assert (ada.home / "temporal.db").stat().st_mode & 0o077 == 0
        assert asyncio.run(connect(Config(f"127.0.0.1:{port}", "mine"))).namespace == "mine"
        running.stop()
    assert not listens(port)


def test_the_development_server_listens_where_the_configuration_says(tmp_path: Path, home: Path) -> None:
    ada, port = User(tmp_path, home / ".agentforge", {}), free_port()
    ada.configure(f"temporal: {{address: '127.0.0.1:{port}'}}\n")
    with ada.running("server", "dev") as running:
        running.says("next, `agentforge worker`")
        assert f"server: 127.0.0.1:{port}, namespace default" in running.said()
        assert "TEMPORAL_ADDRESS" not in running.said()  # everybody finds it there anyway
        assert listens(port)
        running.stop()
    ada.configure("temporal: {address: '192.0.2.1:7233'}\n")
    elsewhere = ada.run("server", "dev")
    assert elsewhere.returncode == 2
    assert "192.0.2.1:7233, which is not an address of this machine" in elsewhere.stderr
