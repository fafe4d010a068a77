"""One watcher for everybody who listens: it hears of changed files, reads the task that changed once, and
tells all the same words.

Only what can move is watched: the directories in which tasks appear, and those of tasks that are not over. A
process that was killed changes no file, so that locks are looked at now and then.
"""

import asyncio
import json
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
from agentforge.surfaces.dashboard.reader import Key, TaskReader, mark_of

_GROUP_MS = 100
_LOOK_S = 3.0
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


class TaskWatcher:
    """Tells listeners which tasks have moved."""

    def __init__(self, reader: TaskReader) -> None:
        self._reader = reader
        self._listeners: set[Listener] = set()
        self._dirty: set[Key] = set()
        self._wake = asyncio.Event()
        self._seen: dict[Key, tuple[int, bool]] = {}
        """How far each journal was, and whether nobody drove its task, when somebody looked last."""
        self._wholly = False
        """Whether all journals are to be looked at, and not only what somebody has heard of."""
        self._repos: frozenset[str] = frozenset()
        self._active: frozenset[Key] = frozenset()
        self._others = asyncio.Event()
        self._look_soon = asyncio.Event()
        self._beginning = asyncio.Lock()
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
        try:
            async with self._beginning:
                if not self._tasks:
                    await to_thread.run_sync(self._begin)
                    works = (self._look, self._watch, self._read)
                    self._tasks = [asyncio.create_task(work()) for work in works]
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
        """Watches until there is something else to be watched, and begins anew."""
        while True:
            self._others = asyncio.Event()
            places = list(await to_thread.run_sync(self._places))
            self._wholly = True  # what was written before the watching began, no event tells
            self._look_soon.set()
            async for events in awatch(
                *places,
                watch_filter=None,
                debounce=_GROUP_MS,
                step=20,
                stop_event=self._others,
                recursive=False,
                ignore_permission_denied=True,
            ):
                if any([self._heard(Path(path)) for _, path in events]):  # noqa: C419 - each has to be heard
                    self._look_soon.set()
                self._wake.set()

    async def _look(self) -> None:
        """Looks around now and then, and soon where somebody wishes it."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look_soon.wait(), _LOOK_S)
            await asyncio.sleep(_PAUSE_S)
            self._look_soon.clear()
            before = (self._repos, self._active)
            await to_thread.run_sync(self._look_around)
            if (self._repos, self._active) != before:
                self._others.set()
            self._wake.set()

    def _places(self) -> Iterator[Path]:
        yield _QUIET
        for repo in sorted(self._repos):
            tasks = ProjectFiles(Path(repo)).tasks
            if tasks.is_dir():
                yield tasks
        for repo, task_id in self._active:
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

    def _look_around(self) -> None:
        """What no event tells: a driver that died, the first task of a repository, and what was missed."""
        with Index(self._reader.home.task_index, lambda _: None) as index:
            if self._wholly or not self._repos >= set(index.repos()):
                self._wholly = False
                self._reader.forget_rows()
        seen = self._survey()
        self._dirty |= {key for key, state in seen.items() if self._seen.get(key) != state}
        self._dirty |= self._seen.keys() - seen.keys()
        self._seen = seen

    def _survey(self) -> dict[Key, tuple[int, bool]]:
        """How far each journal is, and whether nobody drives a task that has work to do."""
        rows = self._reader.rows_if_changed()
        self._repos = frozenset(row.repo for row in rows)
        moving = [row for row in rows if row.status not in TERMINAL][:_MOST_WATCHED]
        self._active = frozenset((row.repo, row.task_id) for row in moving)
        summaries = self._reader.summaries(moving)
        stopped = {(each["repo_path"], each["task_id"]) for each in summaries if each["stopped"]}
        keys = [(row.repo, row.task_id) for row in rows]
        return {key: (row.journal_size, key in stopped) for key, row in zip(keys, rows, strict=True)}

    def _begin(self) -> None:
        """Notes the state of every task at the start: only later changes are news."""
        self._reader.forget_rows()
        self._seen = self._survey()

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
            "mark": mark_of(row),
            "summary": summary,
        }
