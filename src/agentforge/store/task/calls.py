"""Every model call of a task, read from its journal: who was asked for what, when, and what it cost."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.core.events import (
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    Discarded,
    Event,
    LaneRaised,
    StageEntered,
    TaskCreated,
    TaskForked,
)
from agentforge.core.pipeline import Pipeline
from agentforge.core.runs import run_name
from agentforge.core.values import Amount, Delivery, ReplyDigest, Usage
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine

CallState = Literal["reserved", "settled", "lost", "failed"]
"""`reserved`: under way, or nobody knows; `lost`: may be on the provider's bill, at most its reservation;
`failed`: costs nothing.
"""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model, with what it was for and what it cost."""

    repo: str
    """The path of the checkout."""
    task: str
    key: str
    day: str
    """UTC, of its sending: `2030-01-31`."""
    lane: str = ""
    stage: str = ""
    role: str = ""
    tier: str = ""
    model: str = ""
    """As it was asked for: `provider:model`."""
    delivery: Delivery = "live"
    reserved: Amount = Amount()
    priced: bool = True
    """Whether the money in `reserved` is known; else it is 0 there and means nothing."""
    state: CallState = "reserved"
    usage: Usage = Usage()
    tokens: int = 0
    """Input and output; for a lost call at most so many."""
    micro_usd: int | None = None
    """None: the price is not known, or not yet what it cost."""
    ok: bool = False
    """Whether the reply could be used."""


_WANTED = frozenset(
    {
        "task_created",
        "lane_raised",
        "stage_entered",
        "ask_sent",
        "ask_answered",
        "ask_lost",
        "ask_failed",
        "ask_promoted",
        "discarded",
        "task_forked",
    }
)
"""All that `_CallCollector` follows."""


def journal_calls(path: Path, repo: str) -> tuple[ModelCall, ...]:
    """The calls of the journal at `path`; a damaged one is `Unusable`."""
    return calls_of(read_lines(path, _WANTED), repo)


def calls_of(lines: Iterable[JournalLine], repo: str) -> tuple[ModelCall, ...]:
    """The calls of a journal, in the order of their sending."""
    reader = _CallCollector(repo)
    for line in lines:
        for event in line.events:
            reader.take(event, line.timestamp[:10])
    return tuple(reader.calls.values())


class _CallCollector:
    """Follows a journal's events and keeps what they say about calls."""

    def __init__(self, repo: str) -> None:
        self.calls: dict[int, ModelCall] = {}
        self._repo = repo
        self._task = ""
        self._lane = ""
        self._stage = ""
        self._lines: dict[str, Pipeline] = {}
        self._open: dict[str, int] = {}
        self._numbers = itertools.count()
        self._priced: dict[str, bool] = {}

    def take(self, event: Event, day: str) -> None:  # noqa: C901 - one arm per event
        match event:
            case TaskCreated():
                spec = event.spec
                self._task, self._lane = spec.task_id, spec.pipeline.lane
                self._lines = {each.lane: each for each in (spec.pipeline, *spec.higher)}
                self._priced = {"": spec.price is not None} | {
                    each.tier: each.price is not None for each in spec.prices
                }
            case LaneRaised(lane):
                self._lane = lane
            case StageEntered(_, stage) if not event.parent:
                self._stage = stage
            case TaskForked():
                self.calls.clear()
                self._open.clear()
            case AskSent():
                self._sent(event, day)
            case AskAnswered():
                self._end(event.key, _settled_fields(event.reply))
            case AskLost(_, key, reserved):
                self._end(key, self._lost(key, reserved))
            case AskFailed(_, key, _, _, unaccounted) | AskPromoted(_, key, unaccounted):
                self._end(
                    key,
                    self._lost(key, unaccounted)
                    if unaccounted.calls
                    else {"state": "failed", "micro_usd": 0},
                )
            case Discarded(key, cost):
                if key in self._open:
                    done = {"state": "settled", "tokens": cost.tokens, "micro_usd": cost.micro_usd}
                    self._end(key, done if cost.calls else {"state": "failed", "micro_usd": 0})
            case _:
                pass

    def _sent(self, event: AskSent, day: str) -> None:
        number = next(self._numbers)
        self._open[event.key] = number
        role = self._role(run_name(event.run))
        sent = event.request
        base = ModelCall(
            self._repo, self._task, event.key, day, self._lane, self._stage, role, sent.tier, sent.model
        )
        priced = self._priced.get(sent.tier, self._priced.get("", False))
        self.calls[number] = replace(base, reserved=sent.reserved, priced=priced, delivery=sent.delivery)

    def _role(self, name: str) -> str:
        line = self._lines.get(self._lane)
        stage = next((each for each in line.stages if each.name == self._stage), None) if line else None
        if stage is None:
            return name
        if name == "arbiter" and stage.arbiter:
            return stage.arbiter.role
        return name or stage.role or ""

    def _lost(self, key: str, reserved: Amount) -> dict[str, object]:
        priced = key in self._open and self.calls[self._open[key]].priced
        return {
            "state": "lost",
            "tokens": reserved.tokens,
            "micro_usd": reserved.micro_usd if priced else None,
        }

    def _end(self, key: str, fields: dict[str, object]) -> None:
        number = self._open.pop(key, None)
        if number is not None:
            # fields of `ModelCall`, by name
            self.calls[number] = replace(self.calls[number], **fields)  # type: ignore[arg-type]


def _settled_fields(reply: ReplyDigest) -> dict[str, object]:
    return {
        "state": "settled",
        "usage": reply.usage,
        "tokens": reply.cost.tokens,
        "micro_usd": reply.cost.micro_usd if reply.priced else None,
        "delivery": reply.delivery,
        "ok": not reply.mistake or reply.actions > 0,
    }
