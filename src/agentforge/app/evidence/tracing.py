"""Telling a collector of traces what a task does: while it runs, where the user's `otel:` names one, or at
any time afterwards.

A task never waits for it: what could not be delivered is in the journal, and is sent with the next run of the
task or by `agentforge trace --export`.
"""

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentforge
from agentforge.app.evidence.traces import Content, TraceReader, trace_lines
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.events import Event
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.integrations.spans import Telemetry
from agentforge.store.layout import Home
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine
from agentforge.store.task.pack import Pack
from agentforge.system.files import write_atomic
from agentforge.system.installation import install_command
from agentforge.system.visible import brief

if TYPE_CHECKING:
    from agentforge.integrations.otel import Collector

_EVERY_S = 2.0
_CLOSING_S = 8.0
_MOST_KEPT = 20_000
"""Spans that wait for a collector; beyond, they are left to the record."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The spans and figures that were sent, and the collector that has them."""

    endpoint: str
    telemetry: Telemetry


def read_trace(task: OpenTask, *, content: bool = False) -> Telemetry:
    """The trace of a task so far; with `content` also what models were told and said."""
    text = _texts(task) if content else None
    return trace_lines(read_lines(task.files.journal), text).telemetry(unfinished=True)


def export_trace(
    task: OpenTask, endpoint: str = "", *, content: bool = False, environ: Mapping[str, str] = os.environ
) -> Exported:
    """Sends the whole trace of a task so far to a collector."""
    said: Mapping[str, Any] = _own(task.site.home)
    where = endpoint or said.get("endpoint", "") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    if not where:
        raise UsageError(
            "There is no collector to send the trace to.",
            "Name one with `--endpoint http://127.0.0.1:4318`, "
            f"or as `otel: {{endpoint: ADDRESS}}` in {task.site.home.path / 'config.yaml'}.",
        )
    if not where.startswith(("http://", "https://")):
        raise UsageError(
            f"{where} is not the address of a collector, which begins with http:// or https://.",
            "Name one with `--endpoint http://127.0.0.1:4318`.",
        )
    collector = _collector(where)
    telemetry = read_trace(task, content=content or bool(said.get("content")))
    problem = collector.send(telemetry)
    if problem:
        raise Unusable(
            f"{where} did not take the trace: {brief(problem, 200).rstrip('.')}.",
            f"`agentforge trace {task.task_id} --export --endpoint {where}` sends it again.",
        )
    return Exported(where, telemetry)


@contextmanager
def telling_collector(task: OpenTask, notice: Callable[[str], None]) -> Iterator[None]:
    """While the block runs, the user's collector is told what the task does. Never in the way of the task."""
    try:
        said = _own(task.site.home)
        live = (
            _LiveTrace(task, _collector(said["endpoint"]), content=bool(said.get("content")))
            if said
            else None
        )
    except UserError as error:
        notice(f"no trace is sent: {error}")
        live = None
    if live is None:
        yield
        return
    with live.listening():
        yield
    if live.problem:
        notice(
            f"The collector did not take the whole trace: {brief(live.problem, 200)}. "
            f"`agentforge trace {task.task_id} --export` sends it later."
        )


class _LiveTrace:
    """Follows the journal of a task that is driven here, and sends what has ended every two seconds."""

    def __init__(self, task: OpenTask, collector: "Collector", *, content: bool) -> None:
        self._task, self._collector = task, collector
        self.problem = ""
        self._new: deque[JournalLine] = deque()
        self._over = threading.Event()
        self._reader = TraceReader(_texts(task) if content else None)
        self._told = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        self._task.journal.listeners.append(self._listen)
        thread = threading.Thread(target=self._run, name="trace", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._task.journal.listeners.remove(self._listen)
            self._over.set()
            thread.join(_CLOSING_S)
            if thread.is_alive():
                self.problem = "it takes too long to answer"

    def _listen(self, line: dict[str, Json], events: tuple[Event, ...], _: State) -> None:
        self._new.append(JournalLine(dict(line), events))

    def _run(self) -> None:
        try:
            self._catch_up()
            while not self._over.wait(_EVERY_S):
                while self._new:
                    self._take(self._new.popleft())
                self._send()
            self._catch_up()  # what another process wrote, too
            self._send()
        except (OSError, UserError) as error:  # the task goes on without a trace
            self.problem = str(error)

    def _catch_up(self) -> None:
        for line in read_lines(self._task.files.journal):
            self._take(line)

    def _take(self, line: JournalLine) -> None:
        if line.seq <= self._reader.lines:
            return
        self._reader.take(line)
        if line.seq == 1:
            self._told = _told(self._mark)
        if line.seq <= self._told:
            self._reader.forget()

    def _send(self) -> None:
        if self._reader.lines <= self._told or len(self._reader.spans) > _MOST_KEPT:
            return
        self.problem = self._collector.send(self._reader.telemetry())
        if not self.problem:
            self._told = self._reader.lines
            self._reader.forget()
            self._mark.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(self._mark, json.dumps({"lines": self._told}).encode())

    @property
    def _mark(self) -> Path:
        """How much of the journal the collector has."""
        return self._task.site.home.path / "traces" / f"{self._reader.trace}.json"


def _told(mark: Path) -> int:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(mark.read_bytes())["lines"])
    return 0


def _own(home: Home) -> Mapping[str, Any]:
    _, own = read_own_settings(home.path / "config.yaml")
    return own.otel


def _collector(endpoint: str) -> "Collector":
    try:
        from agentforge.integrations.otel import Collector
    except ModuleNotFoundError:
        raise UsageError(
            "Sending traces needs an optional part that is not installed.", f"Run: {install_command('otel')}"
        ) from None
    return Collector(endpoint, agentforge.__version__)


def _texts(task: OpenTask) -> Content:
    """What is in the pack under a hash, as text. It was redacted on its way in."""

    def read(ref: str) -> str:
        with Pack(task.files.pack) as pack:
            value = pack.get_json(ref)
            if isinstance(value, dict) and "blocks" in value:
                return "\n\n".join(text for _, text in pack.get_blocks(ref))
            return json.dumps(value, ensure_ascii=False)

    return read
