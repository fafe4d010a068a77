"""`cost` and `auth`, in this process: the bill adds up, an unknown price is said, and no key is shown."""

import io
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.digests import RequestDigest
from agentforge.core.events import (
    AskAnswered,
    AskFailed,
    AskLost,
    AskSent,
    Event,
    StageEntered,
    TaskCreated,
    event_to_json,
)
from agentforge.core.values import Amount, Delivery, Price, ReplyDigest, Usage
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import spell_header, spell_line
from agentforge.store.task.upcast import VERSION
from agentforge.surfaces.cli.main import main
from agentforge.system.canon import digest
from agentforge.system.secrets import known as known_secrets

JOURNALS = Path(__file__).parents[1] / "store" / "journals"
KEY = "weird/key~of~9/parts"
GPT, MINE = "openai:gpt-4o", "openai:mine"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    monkeypatch.chdir(top)
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(known_secrets, "_spellings", ())
    return top


def write(
    repo: Path, task: str, days: Sequence[tuple[str, Sequence[Event]]], price: Price | None = None
) -> None:
    """A journal of these events after the creation of the task."""
    (created,) = (
        event
        for event in read_lines(JOURNALS / "v1-small-lane.yaml")[0].events
        if isinstance(event, TaskCreated)
    )
    lines = [("2030-01-30", [TaskCreated(replace(created.spec, task_id=task, price=price))]), *days]
    data = spell_header(task, "x", "2030-01-30T00:00:00.000Z")
    prev = digest(data)
    for seq, (day, events) in enumerate(lines, 1):
        recorded: Any = [event_to_json(event) for event in events]
        body = {
            "seq": seq,
            "timestamp": f"{day}T00:00:00.000Z",
            "key": str(seq),
            "why": "so",
            "v": VERSION,
            "events": recorded,
        }
        line, prev = spell_line(body, prev)
        data += line
    place = repo / ".agentforge" / "tasks" / task / "actions.yaml"
    place.parent.mkdir(parents=True)
    place.write_bytes(data)


def call(
    number: int, model: str, usage: Usage, micro_usd: int | None, delivery: Delivery = "live"
) -> tuple[Event, Event]:
    key = f"green/1/{number}/ask/0"
    spent = Amount(1, usage.input_tokens + usage.output_tokens, micro_usd or 0)
    sent = AskSent("worker", key, RequestDigest("h", model, Amount(1, 20_000, 90_000), tier="generation"))
    reply = ReplyDigest(
        "r", usage, spent, 1, priced=micro_usd is not None, model="as-it-says", delivery=delivery
    )
    return sent, AskAnswered("worker", key, reply)


def data(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - whatever a command prints
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_bill_of_a_task_by_stage_role_model_and_day(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost, failed, flying = (
        AskSent("worker", f"green/1/{number}/ask/0", RequestDigest("h", GPT, Amount(1, 20_000, 90_000)))
        for number in (5, 6, 7)
    )
    first = [StageEntered("worker", "frame", 1, "t"), *call(1, GPT, Usage(10_000, 1000, 8000), 25_000)]
    second = [StageEntered("worker", "green", 1, "t"), *call(2, GPT, Usage(10_000, 1000), 17_500, "batch")]
    ends: list[Event] = [
        lost,
        AskLost("worker", lost.key, lost.request.reserved),
        failed,
        AskFailed("worker", failed.key, "rate_limit", "slow", Amount(), retry=True),
        flying,
    ]
    write(repo, "task-1", [("2030-01-30", first), ("2030-01-31", second), ("2030-01-31", ends)], Price(1, 1))
    found = data(capsys, "cost", "task-1")
    assert [(row["stage"], row["calls"], row["micro_usd"]) for row in found["rows"]] == [
        ("frame", 1, 25_000),
        ("green", 1, 17_500),
    ]
    assert found["total"]["micro_usd"] == 42_500
    assert (
        found["total"]["input_tokens"],
        found["total"]["cached_tokens"],
        found["total"]["output_tokens"],
    ) == (20_000, 8000, 2000)
    assert found["unaccounted"] == found["under_way"] == {"calls": 1, "tokens": 20_000, "micro_usd": 90_000}
    assert found["failed_calls"] == 1
    # 8,000 tokens at half the price; a batch at half of 2.50 and 10 dollars per million.
    assert found["saved_micro_usd"] == {"cache": 10_000, "batch": 17_500}
    kinds = {
        "role": ["software_architect", "software_developer"],
        "model": [GPT],
        "day": ["2030-01-30", "2030-01-31"],
    }
    for kind, names in kinds.items():
        assert [row[kind] for row in data(capsys, "cost", "task-1", "--by", kind)["rows"]] == names
    assert main(["cost", "task-1"]) == 0
    shown = capsys.readouterr().out
    assert "unaccounted: 1 call without an answer, at most 20,000 tokens and $0.0900" in shown
    assert "under way: 1 call, at most 20,000 tokens and $0.0900" in shown
    assert "Prompt caches saved $0.0100.\nBatches saved $0.0175." in shown


def test_an_unknown_price_is_null_and_said(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [*call(1, MINE, Usage(100, 10, 50), None), *call(2, GPT, Usage(1), 5)]
    write(repo, "task-1", [("2030-01-30", [StageEntered("worker", "green", 1, "t"), *calls])])
    found = data(capsys, "cost", "task-1", "--by", "model")
    assert [(row["model"], row["micro_usd"]) for row in found["rows"]] == [(MINE, None), (GPT, 5)]
    assert found["total"]["micro_usd"] is None
    assert found["saved_micro_usd"] == {"cache": None, "batch": 0}
    assert main(["cost", "task-1", "--by", "model"]) == 0
    shown = capsys.readouterr().out
    assert "not known\n" in shown
    assert "The price of 1 call is not known" in shown
    assert "What prompt caches saved is not known" in shown


def test_all_tasks_together_and_a_damaged_one_apart(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost"]) == 0
    assert capsys.readouterr().out == "No model calls yet.\n"
    for number in (1, 2, 3):
        write(repo, f"task-{number}", [("2030-01-30", call(1, GPT, Usage(100, 10), number))], Price(1, 1))
    journal = repo / ".agentforge" / "tasks" / "task-3" / "actions.yaml"
    journal.write_bytes(journal.read_bytes().replace(b"green/1/1", b"green/9/9"))
    assert main(["cost", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [(row["task"], row["micro_usd"]) for row in found["rows"]] == [("task-1", 1), ("task-2", 2)]
    assert (found["task"], found["total"]["calls"]) == (None, 2)
    assert err.startswith("task-3 is not counted: The journal is damaged")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.usefixtures("repo")
def test_a_key_is_kept_shown_by_its_end_and_forgotten(
    tmp_path: Path, typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed(f"{KEY}\n")
    assert main(["auth", "login", "anthropic", "--from-stdin", "--file"]) == 0
    assert (tmp_path / "home" / "keys.yaml").stat().st_mode & 0o777 == 0o600
    assert main(["auth", "status"]) == 0
    assert main(["auth", "status", "--json"]) == 0
    shown = "".join(capsys.readouterr())
    assert KEY not in shown
    assert KEY[-5:] not in shown
    rows = {row["provider"]: row for row in json.loads(shown[shown.index("[") :])}
    assert (rows["anthropic"]["source"], rows["anthropic"]["key"]) == ("file", f"…{KEY[-4:]}")
    assert (rows["openai"]["source"], rows["openai"]["key"], rows["openai"]["needed"]) == (None, None, True)
    assert main(["auth", "logout", "anthropic"]) == 0
    assert main(["auth", "logout", "anthropic"]) == 0
    assert "No key for anthropic is stored." in capsys.readouterr().out
    assert KEY not in (tmp_path / "home" / "keys.yaml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("repo")
def test_what_cannot_be_a_login_is_one_sentence(
    tmp_path: Path, typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("")
    assert main(["auth", "login", "nobody", "--from-stdin"]) == 2
    assert main(["auth", "login", "openai"]) == 2
    assert main(["auth", "login", "openai", "--from-stdin"]) == 2
    typed(f"{KEY} {KEY}")
    assert main(["auth", "login", "openai", "--from-stdin"]) == 2
    said = capsys.readouterr().err
    assert KEY not in said
    for words in (
        "'nobody' is not a provider",
        "this is not a terminal",
        "no key in what was given",
        "a character that no key has",
    ):
        assert words in said
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "keys.yaml").write_text(f"keys: {{openai: {KEY}}}\n", encoding="utf-8")
    (tmp_path / "home" / "keys.yaml").chmod(0o644)
    assert main(["auth", "status"]) == 2
    out, err = capsys.readouterr()
    assert "chmod 600" in err
    assert KEY not in out + err
