"""One watcher for everybody who listens: it hears of changed files, reads the task that changed once, and
tells all the same words.

Only what can move is watched: the directories in which tasks appear, and those of tasks that are not over. A
process that was killed changes no file, so that locks are looked at now and then.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio import to_thread
from watchfiles import awatch

from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.layout import ProjectFiles
from agentforge.store.user.index import Index, TaskRow
from agentforge.surfaces.dashboard.reader import Key, Reader

_GROUP_MS = 100
_LOOK_MS = 3_000
"""How often locks, and repositories that are new, are looked for."""
_PAUSE_S = 0.1
"""Between two readings: whatever is written meanwhile is read at once."""
_MOST_WATCHED = 2_000
_MOST_WAITING = 300
"""What a listener may leave unread before it is told to read everything anew."""
_QUIET = Path(__file__).parent
"""A directory in which nothing happens: there must be one to watch."""
RELOAD = json.dumps({"type": "reload"})


@dataclass(slots=True, eq=False)
class Listener:
    """Somebody who wants to know: the newest word about each task, however slowly it is taken."""

    only: Key | None = None
    waiting: dict[Key, str] = field(default_factory=dict)
    lost: bool = False
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, key: Key, text: str) -> None:
        """A newer word replaces an older one about the same task."""
        if self.only not in (None, key):
            return
        self.waiting.pop(key, None)
        self.waiting[key] = text
        if len(self.waiting) > _MOST_WAITING:
            self.waiting.clear()
            self.lost = True
        self.ready.set()

    async def next(self) -> list[str]:
        """What is new, as soon as there is anything."""
        await self.ready.wait()
        self.ready.clear()
        texts = [RELOAD] if self.lost else []
        texts += self.waiting.values()
        self.waiting.clear()
        self.lost = False
        return texts


class Watcher:
    """Tells listeners which tasks have moved."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._listeners: set[Listener] = set()
        self._dirty: set[Key] = set()
        self._wake = asyncio.Event()
        self._stopped: dict[Key, bool] = {}
        self._repos: frozenset[str] = frozenset()
        self._active: frozenset[Key] = frozenset()
        self._looked_at = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return len(self._listeners)

    @asynccontextmanager
    async def listen(self, only: Key | None = None) -> AsyncIterator[Listener]:
        """A listener until the end of the block. The first one starts the watching, the last one ends it."""
        listener = Listener(only)
        self._listeners.add(listener)
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._read())]
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners:
                self.close()

    def close(self) -> None:
        """Ends the watching."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _watch(self) -> None:
        """Watches until what there is to be watched has changed, and begins anew."""
        while True:
            self._remember(await to_thread.run_sync(self._reader.rows))
            before, over = (self._repos, self._active), asyncio.Event()
            async for events in awatch(
                *self._places(),
                watch_filter=None,
                debounce=_GROUP_MS,
                step=20,
                stop_event=over,  # type: ignore[arg-type]  # an event of asyncio has what is asked of it
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            ):
                appeared = [self._heard(Path(path)) for _, path in events]
                if any(appeared) or self._looked_at + _LOOK_MS / 1000 < time.monotonic():
                    await to_thread.run_sync(self._look_around)
                if (self._repos, self._active) != before:
                    over.set()
                self._wake.set()

    def _places(self) -> Iterator[Path]:
        yield _QUIET
        for repo in self._repos:
            tasks = ProjectFiles(Path(repo)).tasks
            if tasks.is_dir():
                yield tasks
        for repo, task_id in sorted(self._active, key=lambda key: key[1], reverse=True)[:_MOST_WATCHED]:
            root = ProjectFiles(Path(repo)).task(task_id).root
            if root.is_dir():
                yield root

    def _heard(self, path: Path) -> bool:
        """Notes the task that a file is of. True for a directory of a task that is new or gone."""
        appeared = path.parent.name == "tasks"
        tasks = path.parent if appeared else path.parent.parent
        if tasks.name != "tasks" or tasks.parent.name != ".agentforge":
            return False
        self._reader.forget_rows()
        self._dirty.add((str(tasks.parent.parent), (path if appeared else path.parent).name))
        return appeared

    def _remember(self, rows: list[TaskRow]) -> None:
        self._repos = frozenset(row.repo for row in rows)
        self._active = frozenset((row.repo, row.task_id) for row in rows if row.status not in TERMINAL)

    def _look_around(self) -> None:
        """What no event tells: a driver that died, and the first task of a repository."""
        self._looked_at = time.monotonic()
        with Index(self._reader.home.index, lambda _: None) as index:
            if not self._repos >= set(index.repos()):
                self._reader.forget_rows()
        rows = self._reader.rows_if_changed()
        before = self._active
        self._remember(rows)
        self._dirty |= self._active - before
        moving = [row for row in rows if (row.repo, row.task_id) in self._active]
        for summary in self._reader.summaries(moving[:_MOST_WATCHED]):
            key = (summary["repo_path"], summary["task_id"])
            if self._stopped.get(key, summary["stopped"]) != summary["stopped"]:
                self._dirty.add(key)
            self._stopped[key] = summary["stopped"]

    async def _read(self) -> None:
        """Reads what has changed and passes it on; what changes meanwhile waits for the next round."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            dirty, self._dirty = self._dirty, set()
            for key in sorted(dirty):
                text = await to_thread.run_sync(self._word, key)
                for listener in self._listeners:
                    listener.tell(key, text)
            await asyncio.sleep(_PAUSE_S)

    def _word(self, key: Key) -> str:
        repo, task_id = key
        gone = {"type": "task_removed", "task_id": task_id, "repo_path": repo}
        if not ProjectFiles(Path(repo)).task(task_id).journal.exists():
            return json.dumps(gone)
        with suppress(OSError, UserError):
            return json.dumps(self.update(self._reader.fresh_row(key)))
        rows = [row for row in self._reader.rows() if (row.repo, row.task_id) == key]
        return json.dumps(self.update(rows[0]) if rows else gone)

    def update(self, row: TaskRow) -> dict[str, Any]:
        """What listeners are told of a task that has moved. `offset` is how far its journal was read."""
        summary = self._reader.summaries([row])[0]
        return {
            "type": "task_updated",
            "task_id": row.task_id,
            "repo_path": row.repo,
            "offset": row.journal_size,
            "mark": row.journal_mtime_ns,
            "summary": summary,
        }
