"""Progress in words: `describe` is total, and says what a person must know."""

import io
import operator
import re
import sys
from dataclasses import MISSING, fields
from functools import reduce
from typing import Any, get_args, get_type_hints

import pytest

from agentforge.app.setup.settings_file import spell_command
from agentforge.core.codec import Inlined, decode
from agentforge.core.digests import ActionResults, VerdictDigest
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    BaselineTaken,
    Event,
    GateJudged,
    StageEntered,
    StepOpened,
)
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import ActionDigest, Amount, Baseline, ReplyDigest, Usage
from agentforge.surfaces.cli.pages.events import describe, tone
from agentforge.surfaces.cli.pages.now import doing
from agentforge.surfaces.cli.pages.screen import Live
from agentforge.surfaces.cli.pages.words import bill, money
from agentforge.surfaces.cli.printing import paragraph
from agentforge.surfaces.cli.safe_text import safe
from agentforge.system.visible import brief, harmless
from tests.core.scenes import begun


def smallest(hint: Any) -> Json:  # noqa: ANN401 - annotations are data here
    """The smallest JSON value of a type."""
    if hasattr(hint, "__dataclass_fields__"):
        hints = get_type_hints(hint)
        owed = {field.name: hints[field.name] for field in fields(hint) if field.default is MISSING}
        carried = [kind for kind in owed.values() if isinstance(kind, type) and issubclass(kind, Inlined)]
        own = {name: smallest(kind) for name, kind in owed.items() if kind not in carried}
        return reduce(operator.or_, map(smallest, carried), own)
    if hint is int:
        return 0
    if hint is bool:
        return False
    if hint is str:
        return "x"
    arguments = get_args(hint)
    if hint.__class__.__name__ == "_LiteralGenericAlias":
        return str(arguments[0])
    return None if type(None) in arguments else []


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_can_be_described_in_any_state(kind: type[Event]) -> None:
    event = decode(kind, smallest(kind))
    text = describe(event, State())
    assert text is None or text.strip()
    assert tone(event)


def test_an_answer_tells_step_tokens_and_cost() -> None:
    event = AskAnswered(
        "worker",
        "k",
        ReplyDigest("r", Usage(1200, 80, 1000), Amount(1, 1280, 12_300), 1, summary="Looked around."),
    )
    assert (
        describe(event, State(step=3))
        == "  step 3: 1,200 tokens in (1,000 cached), 80 out, $0.0123: Looked around."
    )


def test_a_price_nobody_knows_is_not_zero() -> None:
    event = AskAnswered("worker", "k", ReplyDigest("r", Usage(1, 1), Amount(1, 2), 1, priced=False))
    assert "price not known" in (describe(event, State()) or "")
    assert "price not known" in bill(State(unpriced=1))


def test_a_refused_action_is_shown_as_caught_with_its_reason() -> None:
    event = ActionsPerformed(
        "worker",
        ActionResults(
            "r",
            "t",
            (
                ActionDigest("read_file", True, "a.py"),
                ActionDigest("edit_file", False, "t.py", "test_lock", "is locked"),
            ),
        ),
    )
    assert (describe(event, State()) or "").splitlines() == [
        "    read_file a.py",
        "    edit_file t.py",
        "    caught, fed back (test_lock): is locked",
    ]


def test_a_gate_that_did_not_run_is_not_called_passed() -> None:
    event = GateJudged("worker", VerdictDigest("green", "not_run", ("a", "b", "c", "d"), "r"))
    text = describe(event, State()) or ""
    assert "gate green could not run, so it has not passed" in text
    assert text.endswith("and 1 more")
    assert tone(event) == "caught"


def test_a_second_attempt_says_so_and_a_step_that_opens_says_nothing() -> None:
    assert describe(StageEntered("worker", "red", 2, "t"), State()) == "stage red, attempt 2"
    assert describe(StepOpened("worker", 1), State()) is None


def test_text_of_a_model_cannot_steer_the_terminal() -> None:
    event = AskAnswered(
        "worker", "k", ReplyDigest("r", Usage(), Amount(), 0, summary="\x1b[2Jgone\r\nback\x9b1m")
    )
    assert not {"\x1b", "\x9b", "\r"} & set(describe(event, State()) or "")
    assert harmless("a\tb\nc\x07") == "a\tb\nc\ufffd"


@pytest.mark.parametrize(
    ("micro", "spelled"),
    [(0, "$0.00"), (150, "$0.0002"), (12_345, "$0.0123"), (1_000_000, "$1.00"), (2_345_678, "$2.35")],
)
def test_money_is_spelled_for_its_size(micro: int, spelled: str) -> None:
    assert money(micro) == spelled


def test_calls_without_an_answer_stay_on_the_bill() -> None:
    text = bill(State(spent=Amount(2, 900, 0), unaccounted=Amount(1, 24_000, 500_000)))
    assert (
        text
        == "2 calls, 900 tokens, $0.00; unaccounted: 1 call without an answer, at most 24,000 tokens and "
        "$0.5000"
    )


def test_the_moving_line_is_there_from_the_first_moment() -> None:
    assert doing(State()).startswith("preparing the worktree")
    assert doing(State(status="completed")).startswith("saving the result")


class Terminal(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self) -> bool:
        return True


def test_the_moving_line_says_which_step_of_how_many_what_it_waits_for_for_how_long_and_the_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    live = Live(stream)
    task = begun()
    with live.moving():
        live.now(doing(task.state))
    step = r"\w+ · step 1 of at most \d+ · assembling the context · 0 tokens, \$0.00 · \ds"
    assert re.search(step, stream.getvalue()), stream.getvalue()


def test_the_baseline_names_what_fails_counts_the_rest_and_says_where_it_is_from() -> None:
    base = Baseline(
        "r", "e", "none", 9, 3, 4, 0, "3 of 9 tests pass on the base, 4 fail, 2 skipped", ("a::b",), kept=True
    )
    assert describe(BaselineTaken(base), State()) == (
        "baseline: 3 of 9 tests pass on the base, 4 fail, 2 skipped (sandbox: none)\n"
        "  fails on the base: a::b\n"
        "  and 3 more\n"
        "  taken from an earlier task on this commit; what failed then was run again"
    )


def test_a_command_line_keeps_its_placeholders_readable() -> None:
    assert (
        spell_command(["{uv}", "pip", "install", "-e", ".[test]", "a b"])
        == "{uv} pip install -e .[test] 'a b'"
    )


def test_a_long_text_is_cut_in_one_line() -> None:
    assert brief("a\n b " + "c" * 50, 10) == "a b ccccc…"


def test_a_sentence_that_is_broken_for_the_terminal_still_names_the_settings_by_their_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENTFORGE_HOME", "/somewhere/of/mine")
    for width in range(30, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr(sys, "stdout", Terminal())
        said = safe(paragraph("  ", "Run `agentforge setup`, or write a model into your config.yaml."))
        assert "/somewhere/of/mine/config.yaml" in said, width
