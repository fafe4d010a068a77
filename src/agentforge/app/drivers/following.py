"""Following a task that workers drive: the journal is what is told; the server is only asked why nothing
happens.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.app.drivers.holdups import SLOW_S, Case, Holdup, holdups, idle_s, rests
from agentforge.app.ports import Watcher
from agentforge.core.errors import Unusable, UserError
from agentforge.core.state import State
from agentforge.store.task.engine import read_engine
from agentforge.store.task.journal import Journal
from agentforge.store.task.lock import DriverLock, LockTaken
from agentforge.store.task.times import utc_now

if TYPE_CHECKING:
    from agentforge.engines.temporal.client import Connection
    from agentforge.engines.temporal.look import Look

TICK_S = 0.2
LOOK_S = 2.0
MISSES = 2
"""Looks in a row without an answer, until the server counts as away: one may just have been slow."""
_WITHIN_S = 1.5
"""A look must not keep us from the journal."""


@dataclass(slots=True)
class Follower:
    """Shows what workers do with a task, and notices when nobody works on it."""

    journal: Journal
    line: "Connection"
    name: str
    """The id of the workflow."""
    watcher: Watcher
    hand_over_again: Callable[[], None]
    """Starts a workflow on the journal, where the server has none."""
    ended_by_stranger: Callable[["Look"], str] = lambda _: ""
    """That somebody else ended the workflow, as the beginning of a sentence; empty if nobody did."""
    _now: Holdup | None = None
    _since: float = 0.0
    _served: bool = False
    """Whether there ever was a worker while we looked."""
    _back: float = 0.0
    """When the server was back: whoever works needs a moment to find it, too."""
    _misses: int = 0
    _progress: str = ""

    def follow(self) -> State:
        """Until the task is over or waits for a person. What mends itself is said and waited for."""
        seen, look_at = self.journal.length, time.monotonic() + LOOK_S / 2
        while True:
            self._read()
            if rests(self.journal.state) and self._is_free():
                self._read()
                return self.journal.state
            if self.journal.length != seen:
                seen, look_at = self.journal.length, time.monotonic() + LOOK_S
                self._moved()
            elif time.monotonic() > look_at:
                self._look()
                look_at = time.monotonic() + LOOK_S
            time.sleep(TICK_S)

    def _read(self) -> None:
        try:
            self.journal.catch_up()
        except FileNotFoundError:
            task = self.journal.files.task_id
            raise Unusable(
                f"The files of {task} are missing.", f"`agentforge continue {task}` restores what was saved."
            ) from None

    def _moved(self) -> None:
        """Somebody works; whether the server is there, this does not tell."""
        self._served, self._since = True, time.monotonic()
        if self._now is not None and self._now.kind != "away":
            self._hold(None)

    def _look(self) -> None:
        try:
            look = self.line.look(self.name, _WITHIN_S)
            workers = self._works(look)
        except UserError as error:
            self._served = True  # as far as we know
            self._misses += 1
            if self._misses >= MISSES:
                self._hold(self._away(error))
            return
        self._misses = 0
        if self._now is not None and self._now.kind == "away":
            self._back = time.monotonic()
            self._hold(None)
        self._judge(look, workers=workers)

    def _works(self, look: "Look") -> bool:
        """Somebody who has work of ours is there, and is not asked for."""
        return look.is_taken or bool(self.line.pollers(self.line.config.queue, _WITHIN_S))

    def _judge(self, look: "Look", *, workers: bool) -> None:
        """What cannot mend itself ends the command."""
        task = self.journal.files.task_id
        driven = read_engine(self.journal.files)
        if driven.engine != "temporal":
            raise Unusable(
                f"{task} was taken over by the engine {driven.engine}.",
                f"`agentforge status {task}` shows its status.",
            )
        if look.found == "failed":
            failure = self.line.failure(self.name)
            self.watcher.notice(f"{task} stopped. `agentforge continue {task}` resumes it.", "bad")
            raise failure
        if look.found == "none":
            self._start_another()
        elif look.found == "ended":
            self._read()
            if not rests(self.journal.state):
                why = self.ended_by_stranger(look)
                sentence = f"{task}: {why}." if why else f"The workflow of {task} was ended."
                raise Unusable(sentence, f"`agentforge continue {task}` starts another one.")
        else:
            case = Case(task, driven, self.line.config, idle_s(self.journal.times, utc_now))
            found = holdups(case, look, workers=workers)
            if found and (found[0].kind == "host_lost" or (found[0].kind == "nobody" and not self._served)):
                raise found[0].error()
            self._served = self._served or workers
            if found and found[0].kind in ("nobody", "silent") and time.monotonic() < self._back + SLOW_S:
                return
            self._hold(found[0] if found else None)
            self._tell_progress(look)

    def _start_another(self) -> None:
        """The server was lost with its database. The journal was not."""
        where, task = self.line.config.address, self.journal.files.task_id
        self.watcher.notice(
            f"  The server at {where} no longer has a workflow for {task}: starting another one.", "caught"
        )
        try:
            self.hand_over_again()
        except Unusable as error:
            self._hold(self._away(error))

    def _away(self, error: UserError) -> Holdup:
        silent = f"The server at {self.line.config.address} does not answer."
        return Holdup(
            "away",
            silent if isinstance(error, Unusable) else error.sentence,
            error.next_step,
            type(error).__name__,
        )

    def _hold(self, holdup: Holdup | None) -> None:
        """Says once what has changed; ends when nothing has moved for longer than a host may be silent."""
        before, self._now = self._now, holdup
        if holdup is None:
            if before is not None and before.kind != "tried":
                self.watcher.notice(
                    "  The server answers again."
                    if before.kind == "away"
                    else "  A worker has picked it up again."
                )
            return
        if before is None or (before.kind == "away") != (holdup.kind == "away"):
            self._since = time.monotonic()
        elif time.monotonic() - self._since > self.line.config.host_silence_s:
            raise holdup.error()
        if before is None or (before.kind, before.subject) != (holdup.kind, holdup.subject):
            text = (
                f"{holdup.sentence} The task continues when it does."
                if holdup.kind == "away"
                else holdup.text
            )
            self.watcher.notice(f"  {text}", "caught")

    def _tell_progress(self, look: "Look") -> None:
        """As the local engine does, for what takes long enough."""
        said = next((each.progress for each in look.flights if each.taken and each.progress), "")
        if said and said != self._progress:
            self.watcher.notice(f"  {said}", "quiet")
        self._progress = said

    def _is_free(self) -> bool:
        """Whether the worker has put the task away."""
        try:
            with DriverLock(self.journal.files.lock):
                return True
        except LockTaken:
            return False
