"""The trace of a task, made from the lines of its journal: pipeline run > task > stage > effect > request.

Nothing is measured beside the record. An effect begins with the line after which it is owed and ends with
the line that takes its outcome in; a request to a model begins when it is on record as sent. So a trace can
be made at any time, is the same each time, and a crash loses none of it. What was said to a model, and by it,
is in it only where somebody asks for that.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agentforge.core.digests import VerdictDigest
from agentforge.core.effects import Ask, Await, Effect, Judge
from agentforge.core.events import (
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AttemptFailed,
    Discarded,
    Event,
    GateJudged,
    HandedIn,
    Reverted,
    StageAccepted,
    StageEntered,
    StepClosed,
    TaskFailed,
    event_name,
)
from agentforge.core.evolve import evolve
from agentforge.core.machine import TERMINAL
from agentforge.core.pending import pending
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.values import OfRun, ReplyDigest
from agentforge.integrations.spans import Attribute, LogRecord, Measure, Severity, Span, Telemetry
from agentforge.store.task.lines import JournalLine
from agentforge.system.canon import digest

Content = Callable[[str], str]
"""The text of what the record names by hash."""

_PIPELINE, _TASK = "pipeline", "task"
_QUOTED = re.compile(r"[:\n`\"“«(]")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PROVIDERS = {"mistral": "mistral_ai", "google": "gcp.gemini"}
"""Where the conventions for traces call a provider otherwise than we do."""
_TOKENS = tuple(4**power for power in range(14))
_SECONDS = tuple(0.01 * 2**power for power in range(14))
"""The bounds that the conventions for traces recommend."""


@dataclass(slots=True)
class _OpenSpan:
    """A span that has begun."""

    id: str
    parent: str
    name: str
    start_ns: int
    attributes: dict[str, Attribute]
    asks: bool = False
    failed: str = ""


@dataclass(slots=True)
class TraceReader:
    """Follows a journal line by line, and keeps the spans that have ended and a log record of each line."""

    content: Content | None = None
    spans: list[Span] = field(default_factory=list)
    records: list[LogRecord] = field(default_factory=list)
    lines: int = 0
    """How many were taken in."""
    trace: str = ""
    state: State = field(default_factory=State)
    _open: dict[str, _OpenSpan] = field(default_factory=dict)
    _owed: dict[str, Effect] = field(default_factory=dict)
    _first_ns: int = 0
    _last_ns: int = 0
    _tokens: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _seconds: dict[str, list[float]] = field(default_factory=dict)
    _verdicts: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, line: JournalLine) -> None:
        """Takes in one more line of the journal."""
        now = _nanoseconds(line.timestamp)
        if not self.trace:
            self.trace, self._first_ns = digest(f"trace/{line.hash}".encode())[:32], now
        self.lines, self._last_ns = line.seq, now
        for event in line.events:
            self.state = evolve(self.state, event)
            self._begin_life(line.seq, now)
            self._take_event(event, line.seq, now)
        self.records.append(self._record(line, now))
        self._take_owed(line, now)
        if self.state.status in TERMINAL:
            self._end_life(now)

    def telemetry(self, *, unfinished: bool = False) -> Telemetry:
        """All that has ended; with `unfinished` what is under way, too, up to the last line."""
        left: Sequence[Span] = ()
        if unfinished:
            left = [
                _ended(span, self._last_ns, {"agentforge.unfinished": True}) for span in self._open.values()
            ]
        return Telemetry(
            self.trace,
            (*self.spans, *left),
            tuple(self.records),
            tuple(self._measures()),
            self._first_ns,
            self._last_ns,
        )

    def forget(self) -> None:
        """Drops what has been told already; measures go on."""
        self.spans.clear()
        self.records.clear()

    # ------------------------------------------------------------------ the task

    def _begin_life(self, seq: int, now: int) -> None:
        """A task that goes on after its end is one more run of its pipeline."""
        state = self.state
        if _TASK in self._open or not state.task_id or state.status in TERMINAL:
            return
        shared: dict[str, Attribute] = {
            "agentforge.pipeline": state.pipeline.name,
            "agentforge.lane": state.pipeline.lane,
            "agentforge.mode": state.pipeline.mode,
        }
        self._begin(_PIPELINE, "", f"pipeline {state.pipeline.name}", seq, now, shared)
        about: dict[str, Attribute] = {"agentforge.task": state.task_id, "agentforge.base": state.base_commit}
        if state.forked_from:
            about["agentforge.forked_from"] = state.forked_from
        if self.content is not None:
            about["agentforge.request"] = state.request
        self._begin(_TASK, _PIPELINE, f"task {state.task_id}", seq, now, about)

    def _end_life(self, now: int) -> None:
        state = self.state
        failed = "" if state.status == "completed" else self._words(state.failure) or state.status
        for key in [each for each in self._open if each not in (_PIPELINE, _TASK)]:
            self._end(key, now, {"agentforge.withdrawn": True})
        bill: dict[str, Attribute] = {
            "agentforge.status": state.status,
            "agentforge.calls": state.spent.calls + state.unaccounted.calls,
            "agentforge.tokens": state.spent.tokens,
            "agentforge.steps": state.step,
        }
        if state.is_priced:
            bill["agentforge.cost_micro_usd"] = state.spent.micro_usd + state.unaccounted.micro_usd
        if state.delivered is not None:
            bill["agentforge.branch"] = state.delivered.branch
        self._end(_TASK, now, bill, failed)
        self._end(_PIPELINE, now, {"agentforge.lane": state.pipeline.lane}, failed)

    # ------------------------------------------------------------------ stages and requests

    def _take_event(self, event: Event, seq: int, now: int) -> None:  # noqa: C901 - one arm per event
        match event:
            case StageEntered(run, stage):
                self._enter(event, f"stage {stage}", seq, now)
            case StageAccepted(run, _, result):
                self._end(f"stage/{run}", now, {"agentforge.commit": result.commit} if result.commit else {})
            case AttemptFailed(run, report):
                self._end(f"stage/{run}", now, {}, self._words(report.reason))
            case HandedIn(run):
                self._end(f"stage/{run}", now, {})
            case AskSent():
                self._ask(event, seq, now)
            case AskAnswered(_, key, reply):
                self._answered(key, reply, now)
            case AskFailed(_, key, kind, message):
                self._end(f"request/{key}", now, {"error.type": kind}, self._words(message))
            case AskLost(_, key):
                self._end(f"request/{key}", now, {"error.type": "lost"}, "its answer did not reach the disk")
            case AskPromoted(_, key):
                self._end(f"request/{key}", now, {"error.type": "late"}, "the batch was late with it")
            case Discarded(key):
                self._end(f"request/{key}", now, {"agentforge.withdrawn": True})
            case _:
                pass

    def _enter(self, event: StageEntered, name: str, seq: int, now: int) -> None:
        state, key = self.state, f"stage/{event.run}"
        self._end(key, now, {})
        run = state.find(event.run)
        about: dict[str, Attribute] = {
            "agentforge.stage": event.stage,
            "agentforge.attempt": event.attempt,
            "agentforge.run": event.run,
            "agentforge.owner": event.owner,
        }
        if run is not None:
            about["agentforge.role"] = state.stage_of(run).role or ""
        if event.skipped:
            about["agentforge.skipped"] = self._words(event.skipped)
        parent = f"stage/{event.parent}" if f"stage/{event.parent}" in self._open else _TASK
        if event.run != WORKER:
            name = f"{name} {event.run.partition('/')[2]}"
        self._begin(key, parent, name, seq, now, about)

    def _ask(self, event: AskSent, seq: int, now: int) -> None:
        sent = event.request
        provider, _, model = sent.model.partition(":")
        about: dict[str, Attribute] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model or sent.model,
            "gen_ai.conversation.id": self.state.task_id,
            "agentforge.tier": sent.tier,
            "agentforge.delivery": sent.delivery,
        }
        if sent.why:
            about["agentforge.why"] = self._words(sent.why)
        parent = f"effect/{event.key}"
        span = self._begin(f"request/{event.key}", parent, f"chat {model or sent.model}", seq, now, about)
        span.asks = True
        run = self.state.find(event.run)
        if self.content is not None and run is not None and run.context:
            span.attributes["gen_ai.input.messages"] = _message("user", self.content(run.context))

    def _answered(self, key: str, reply: ReplyDigest, now: int) -> None:
        usage = reply.usage
        found: dict[str, Attribute] = {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
        }
        if reply.model:
            found["gen_ai.response.model"] = reply.model
        if reply.priced:
            found["agentforge.cost_micro_usd"] = reply.cost.micro_usd
        if reply.mistake:
            found["agentforge.mistake"] = self._words(reply.mistake)
        if self.content is not None:
            found["gen_ai.output.messages"] = _message("assistant", self.content(reply.ref))
        span = self._open.get(f"request/{key}")
        if span is not None:
            model = str(span.attributes["gen_ai.request.model"])
            self._tokens.setdefault((model, "input"), []).append(usage.input_tokens)
            self._tokens.setdefault((model, "output"), []).append(usage.output_tokens)
            self._seconds.setdefault(model, []).append((now - span.start_ns) / 1e9)
        self._end(f"request/{key}", now, found)

    # ------------------------------------------------------------------ effects

    def _take_owed(self, line: JournalLine, now: int) -> None:
        owed = {effect.key: effect for effect in pending(self.state)}
        for key in [each for each in self._owed if each not in owed]:
            self._end_effect(key, line, now)
        for key, effect in owed.items():
            if key not in self._owed:
                self._begin_effect(effect, line.seq, now)
        self._owed = owed

    def _begin_effect(self, effect: Effect, seq: int, now: int) -> None:
        kind = _WORDS.sub(" ", type(effect).__name__).lower()
        about: dict[str, Attribute] = {"agentforge.effect": kind, "agentforge.key": effect.key}
        name, parent = kind, _TASK
        if isinstance(effect, OfRun):
            about["agentforge.run"] = effect.run
            run = self.state.find(effect.run)
            if run is not None:
                about["agentforge.step"] = run.step
            if f"stage/{effect.run}" in self._open:
                parent = f"stage/{effect.run}"
        if isinstance(effect, Judge):
            about["agentforge.gate"] = effect.gate
            name = f"judge {effect.gate}"
        if isinstance(effect, Await):
            about["agentforge.question"] = effect.escalation
        self._begin(f"effect/{effect.key}", parent, name, seq, now, about)

    def _end_effect(self, key: str, line: JournalLine, now: int) -> None:
        found: dict[str, Attribute] = {"agentforge.why": self._words(line.why)}
        failed = ""
        if line.key != key and not isinstance(self._owed[key], Await):
            found["agentforge.withdrawn"] = True
        for event in line.events if line.key == key else ():
            match event:
                case GateJudged(_, VerdictDigest(gate, status, reasons)):
                    found["agentforge.gate.status"] = status
                    if reasons:
                        found["agentforge.gate.reasons"] = tuple(map(self._words, reasons))
                    self._verdicts[gate, status] = self._verdicts.get((gate, status), 0) + 1
                    failed = "" if status == "passed" else f"gate {gate}: {status}"
                case StepClosed(_, _, outcome):
                    found["agentforge.outcome"] = outcome
                case AskFailed(message=message):
                    failed = self._words(message)
                case _:
                    pass
        if isinstance(self._owed[key], Ask):
            self._end(f"request/{key}", now, {})
        self._end(f"effect/{key}", now, found, failed)

    # ------------------------------------------------------------------ what is kept

    def _record(self, line: JournalLine, now: int) -> LogRecord:
        severity: Severity = "info"
        for event in line.events:
            match event:
                case TaskFailed():
                    severity = "error"
                case AttemptFailed() | AskFailed() | AskLost() | Reverted():
                    severity = "warning"
                case GateJudged(_, verdict) if verdict.status != "passed":
                    severity = "warning"
                case _:
                    pass
        within = next((each for each in (f"effect/{line.key}", _TASK) if each in self._open), "")
        about: dict[str, Attribute] = {
            "agentforge.task": self.state.task_id,
            "agentforge.line": line.seq,
            "agentforge.key": line.key,
            "agentforge.events": tuple(event_name(event) for event in line.events),
        }
        return LogRecord(now, self._words(line.why), severity, self._open[within].id if within else "", about)

    def _words(self, text: str) -> str:
        """A reason without what it quotes: that may be code, or the words of a person or a model."""
        return text if self.content is not None else _QUOTED.split(text, maxsplit=1)[0]

    def _measures(self) -> Iterable[Measure]:
        for (model, kind), values in self._tokens.items():
            about: dict[str, Attribute] = {"gen_ai.request.model": model, "gen_ai.token.type": kind}
            yield Measure(
                "gen_ai.client.token.usage", "{token}", values, {**_CHAT, **about}, tuple(map(float, _TOKENS))
            )
        for model, values in self._seconds.items():
            about = {**_CHAT, "gen_ai.request.model": model}
            yield Measure("gen_ai.client.operation.duration", "s", values, about, _SECONDS)
        for (gate, status), count in self._verdicts.items():
            about = {"agentforge.gate": gate, "agentforge.gate.status": status}
            yield Measure("agentforge.verdicts", "{verdict}", [count], about)
        state = self.state
        about = {"agentforge.pipeline": state.pipeline.name, "agentforge.lane": state.pipeline.lane}
        yield Measure("agentforge.steps", "{step}", [state.step], about)
        if state.is_priced:
            cost = state.spent.micro_usd + state.unaccounted.micro_usd
            yield Measure("agentforge.cost", "{micro_usd}", [cost], about)

    def _begin(
        self, key: str, parent: str, name: str, seq: int, now: int, attributes: dict[str, Attribute]
    ) -> _OpenSpan:
        """Opens a span. Its id follows from where it begins in the journal."""
        above = self._open[parent].id if parent in self._open else ""
        identity = digest(f"{self.trace}/{key}/{seq}".encode())[:16]
        self._open[key] = _OpenSpan(identity, above, name, now, attributes)
        return self._open[key]

    def _end(self, key: str, now: int, found: dict[str, Attribute], failed: str = "") -> None:
        """Closes a span, if it is open."""
        span = self._open.pop(key, None)
        if span is not None:
            span.failed = failed
            self.spans.append(_ended(span, now, found))


_CHAT: dict[str, Attribute] = {"gen_ai.operation.name": "chat"}


def trace_lines(lines: Iterable[JournalLine], content: Content | None = None) -> TraceReader:
    """A reader that has taken these lines in."""
    reader = TraceReader(content)
    for line in lines:
        reader.take(line)
    return reader


def _ended(span: _OpenSpan, now: int, found: dict[str, Attribute]) -> Span:
    attributes = {**span.attributes, **found}
    return Span(
        span.id,
        span.parent,
        span.name,
        span.start_ns,
        max(now, span.start_ns),
        attributes,
        span.failed,
        span.asks,
    )


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)


def _nanoseconds(timestamp: str) -> int:
    moment = datetime.fromisoformat(timestamp)
    return int(moment.timestamp()) * 10**9 + moment.microsecond * 1000
