"""Somebody is told that a task waits: signed, without a secret, and nothing is lost when nobody listens."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentforge.app.drivers.notifying import announce
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.state import State
from agentforge.core.values import WantedCall
from agentforge.integrations.notify import TRIES, Webhook, post
from agentforge.store.layout import Home
from agentforge.store.user.notifications import Notifications
from tests.app.test_app_answers import Desk, desk
from tests.posts import taking_posts

__all__ = ["desk"]
SECRET = "sk-ant-api03-" + "a1B2" * 20


@dataclass
class Listener:
    """A server on the loopback that refuses so many messages first."""

    refuse: int = 0
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    asked: int = 0
    url: str = ""


@contextmanager
def listening(refuse: int = 0) -> Iterator[Listener]:
    found = Listener(refuse)

    def take(_: str, headers: dict[str, str], body: bytes) -> int:
        found.asked += 1
        if found.asked <= found.refuse:
            return 503
        found.got.append((headers, body))
        return 204

    with taking_posts(take) as address:
        found.url = f"{address}/hook?team=1"
        yield found


def test_a_message_is_tried_again_under_the_same_name_and_signed() -> None:
    waits: list[float] = []
    with listening(refuse=2) as listener:
        assert post(Webhook(listener.url, "shared"), "id-1", b"{}", waits.append) == ""
        ((headers, body),) = listener.got
        assert (listener.asked, waits) == (3, sorted(waits))
    signed = headers["X-AgentForge-Timestamp"].encode() + b"." + body
    expected = hmac.new(b"shared", signed, hashlib.sha256).hexdigest()
    assert headers["X-AgentForge-Signature"] == f"sha256={expected}"
    assert headers["X-AgentForge-Delivery"] == "id-1"
    waits.clear()
    with listening(refuse=99) as deaf:
        assert post(Webhook(deaf.url), "id-2", b"{}", waits.append) == "it answered 503"
        assert (deaf.asked, len(waits)) == (TRIES, TRIES - 1)


@pytest.mark.slow
def test_what_five_tries_could_not_deliver_is_kept_and_goes_with_the_next_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = desk.site.home
    monkeypatch.setenv("HOOK_SECRET", "shared")
    first = desk.ask(WantedCall("d" * 64, "edit_file", "medium", paths=("a",)), f"Use {SECRET} as the key?")
    said: list[str] = []
    with listening(refuse=TRIES) as listener:
        home.path.mkdir(parents=True, exist_ok=True)
        config = home.path / "config.yaml"
        config.write_text(
            f"notify: {{webhook: {{url: '{listener.url}', secret_env: HOOK_SECRET}}}}\n", "utf-8"
        )
        config.chmod(0o600)
        task = OpenTask.open(desk.site, desk.files)
        announce(task, State(), said.append)
        (kept,) = Notifications(home).left()
        assert (kept.failures, kept.body["escalation"]) == (1, first)
        assert "could not be delivered: it answered 503" in said[0]
        assert task.state.open_escalation is not None  # and the question waits all the same
        announce(task, State(), said.append)
        assert [*Notifications(home).left()] == []
        ((_, body),) = listener.got
    told = json.loads(body)
    assert (told["event"], told["kind"], told["escalation"]) == ("question", "permission", first)
    assert SECRET not in body.decode()
    assert told["answer_with"] == f"agentforge resolve {task.task_id}/{first}"
    announce(task, task.state, said.append)  # nothing is new
    assert [*Notifications(home).left()] == []


def test_a_program_gets_the_message_and_one_that_fails_is_tried_again(desk: Desk, tmp_path: Path) -> None:
    desk.ask(WantedCall("d" * 64, "edit_file", "medium", paths=("a",)), "May it?")
    out = tmp_path / "told.json"
    config = desk.site.home.path / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"notify: {{command: [tee, '{out}']}}\n", "utf-8")
    config.chmod(0o600)
    task = OpenTask.open(desk.site, desk.files)
    announce(task, State(), pytest.fail)
    assert json.loads(out.read_text("utf-8"))["question"] == "May it?"
    config.write_text("notify: {command: ['false']}\n", "utf-8")
    said: list[str] = []
    announce(task, State(), said.append)
    assert "it ended with code 1" in said[0]
    assert len([*Notifications(Home(config.parent)).left()]) == 1
