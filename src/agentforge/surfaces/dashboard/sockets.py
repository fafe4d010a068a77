"""Updates as they happen: of all tasks, or of one, from where the listener stopped listening."""

import asyncio
import json
import re
from contextlib import suppress
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect

from agentforge.core.errors import UserError
from agentforge.surfaces.dashboard.parts import Heard, Known, Repo, TaskName
from agentforge.surfaces.dashboard.reader import Key, TaskReader, mark_of
from agentforge.surfaces.dashboard.watcher import RELOAD, Listener, TaskWatcher

MOST_SOCKETS = 200
_PATIENCE_S = 10.0
"""How long one message may take to be taken."""
_MOST_MISSED = 100
"""Tasks that a listener is told one by one when it comes back; beyond that it reads everything anew."""
_PAUSE_S = 0.1
_CONVERSATION = re.compile(r"conv-[a-z0-9][a-z0-9-]{0,63}")
_TRY_LATER = 1013
_UNKNOWN = 4404


router = APIRouter()


@router.websocket("/ws/updates")
async def updates(
    socket: WebSocket, reader: Known, watcher: Heard, since: Annotated[int, Query(ge=0)] = 0
) -> None:
    """Every task that moves. `since` is the newest `mark` that the listener has seen."""
    if await _is_full(socket, watcher):
        return
    async with watcher.listen() as listener:
        await socket.accept()  # from here on everything is told
        for text in await to_thread.run_sync(_missed, reader, watcher, since):
            await _send(socket, text)
        await _pass_on(socket, listener)


@router.websocket("/ws/tasks/{task_id}")
async def one_task(
    socket: WebSocket,
    reader: Known,
    watcher: Heard,
    task_id: TaskName,
    since: Annotated[int, Query(ge=0)] = 0,
    repo: Repo = None,
) -> None:
    """One task, with what its journal says after the byte `since`."""
    if await _is_full(socket, watcher):
        return
    try:
        key = await to_thread.run_sync(reader.find, task_id, repo)
    except UserError as error:
        await socket.accept()
        await _end(socket, _UNKNOWN, error.sentence)
        return
    async with watcher.listen(key) as listener:
        await socket.accept()
        news = News(reader, watcher, key, since)
        await _send(socket, await to_thread.run_sync(news.text))
        await _pass_on(socket, listener, news)


@router.websocket("/ws/conversations/{conversation_id}")
async def conversation(socket: WebSocket, watcher: Heard, conversation_id: str) -> None:
    """Conversations of agents, once there are any."""
    if await _is_full(socket, watcher):
        return
    await socket.accept()
    if _CONVERSATION.fullmatch(conversation_id) is None:
        await _end(socket, _UNKNOWN, "That is not the name of a conversation.")
        return
    await _send(socket, json.dumps({"type": "conversations", "message": "No conversations yet."}))
    await _end(socket, 1000, "No conversations yet.")


class News:
    """What one listener has not been told of one task yet."""

    def __init__(self, reader: TaskReader, watcher: TaskWatcher, key: Key, offset: int) -> None:
        self._reader, self._watcher, self._key, self._offset = reader, watcher, key, offset

    def text(self) -> str:
        """The task as it is now, with the decisions after the last that was told."""
        from agentforge.app.record.logs import entries_since

        try:
            with self._reader.opened(self._key) as task:
                entries = entries_since(task, self._offset)
            update = self._watcher.update(self._reader.fresh_row(self._key))
        except (OSError, UserError):
            repo, name = self._key
            return json.dumps({"type": "task_removed", "task_id": name, "repo_path": repo})
        since, self._offset = self._offset, update["offset"]
        return json.dumps({**update, "since": since, "entries": entries})


def _missed(reader: TaskReader, watcher: TaskWatcher, since: int) -> list[str]:
    """What has moved since a listener was here last; nothing for one who was never here."""
    if not since:
        return []
    rows = [row for row in reader.rows() if mark_of(row) >= since]
    if len(rows) > _MOST_MISSED:
        return [RELOAD]
    return [json.dumps(watcher.update(row)) for row in reversed(rows)]


async def _is_full(socket: WebSocket, watcher: TaskWatcher) -> bool:
    """Refuses one more listener where there are enough."""
    full = watcher.listeners >= MOST_SOCKETS
    if full:
        await socket.close(_TRY_LATER)
    return full


async def _pass_on(socket: WebSocket, listener: Listener, news: News | None = None) -> None:
    """Until the other side has gone, says something, or takes too long."""
    hears = asyncio.create_task(_ended(socket))
    try:
        while not hears.done():
            waits = asyncio.create_task(listener.next())
            await asyncio.wait({hears, waits}, return_when=asyncio.FIRST_COMPLETED)
            if not waits.done():
                waits.cancel()
                break
            texts = waits.result()
            for text in texts if news is None else [await to_thread.run_sync(news.text)]:
                await _send(socket, text)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        pass  # it comes back and says where it stopped
    finally:
        hears.cancel()
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            await asyncio.wait_for(socket.close(_TRY_LATER), 1.0)


async def _ended(socket: WebSocket) -> None:
    """Returns when the other side is gone. What it says is of no interest, and not much of it is read."""
    while True:
        said = await socket.receive()
        if said["type"] == "websocket.disconnect":
            return
        await asyncio.sleep(_PAUSE_S)


async def _send(socket: WebSocket, text: str) -> None:
    await asyncio.wait_for(socket.send_text(text), _PATIENCE_S)


async def _end(socket: WebSocket, code: int, reason: str) -> None:
    await socket.close(code, reason[:120])
