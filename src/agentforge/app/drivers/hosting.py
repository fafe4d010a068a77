"""The tasks of this machine as a worker holds them: the same driver as the local engine's, open while effects
come in.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from agentforge import __version__
from agentforge.activities.world import World
from agentforge.app.drivers.connection import read_temporal
from agentforge.app.drivers.driver import open_driver
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.codec import decode
from agentforge.core.effects import Effect
from agentforge.core.errors import UsageError, UserError
from agentforge.core.inputs import Abort, Message, Resolution, Resume
from agentforge.core.pending import pending
from agentforge.core.reply import Json
from agentforge.engines.local import Ports
from agentforge.engines.temporal.port import Ref
from agentforge.store.layout import Home, TaskFiles
from agentforge.store.site import Site, home_path
from agentforge.store.task import inbox
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import stamp, utc_now
from agentforge.store.user.task_tokens import PROOF, is_handed_over, is_own_message

_KINDS: dict[str, type[Message]] = {"resolution": Resolution, "resume": Resume, "abort": Abort}

NAMES = {"resolution": "An answer", "resume": "A word to go on", "abort": "An abort"}
"""The kinds of messages, as a person is told of them."""


class HostedSession:
    """One task, its lock held by this process."""

    def __init__(self, site: Site, files: TaskFiles, progress: Callable[[str], None]) -> None:
        with ExitStack() as stack:
            self._driver = stack.enter_context(open_driver(OpenTask.open(site, files), progress=progress))
            self._world = _patient(self._driver.world())
            self.ports: Ports = self._driver.ports(self._world)
            self._stack = stack.pop_all()

    @property
    def journal(self) -> Journal:
        """The task's journal, open for writing."""
        return self._driver.journal

    def owed(self) -> tuple[Effect, ...]:
        """The effects that have to be performed next."""
        return pending(self.journal.state)

    def settle(self) -> None:
        """Saves the task; a person finds what is on record."""
        self._driver.settle(self._world)

    def close(self) -> None:
        """Releases the task's lock and closes its files."""
        # Where somebody removed the task's files there is nothing to show. Who opens it next restores what
        # was saved.
        self._world.desk.close()
        with suppress(FileNotFoundError):
            self._stack.close()


class HostedTasks:
    """The tasks of every repository that this machine can see."""

    def host_of(self, ref: Ref, mine: str) -> str:
        """The host that has the task; this one, if nobody has it yet. Empty where it is not to be seen."""
        files = _files(ref)
        if not files.journal.is_file():
            return ""
        driven = read_engine(files)
        _check(driven, ref, driven.host)
        if not driven.host:
            write_engine(files, Driven("temporal", mine))
        return driven.host or mine

    def admits(self, ref: Ref) -> bool:
        """Whether the user of this worker handed the task over."""
        return is_handed_over(Home(home_path()), ref.repository, ref.task_id, ref.proof)

    def is_elsewhere(self, ref: Ref, mine: str) -> bool:
        """Whether another host has the task."""
        files = _files(ref)
        return files.journal.is_file() and read_engine(files).host not in ("", mine)

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> HostedSession:
        """Takes the task's lock for this worker; refuses a task that another host or engine has taken
        over.
        """
        site = Site.open(Path(ref.repository))
        files = site.find(ref.task_id)
        session = HostedSession(site, files, progress)
        try:
            # Looked at with the lock held: who takes a task over has it, too.
            _check(read_engine(files), ref, mine)
        except UserError:
            session.close()
            raise
        return session

    def message(self, ref: Ref, said: dict[str, str]) -> str:
        """Into the inbox, where the first message of a name counts; of nobody but the user of this worker."""
        if not is_own_message(Home(home_path()), ref.repository, ref.task_id, said):
            inbox.note_stranger(_files(ref), said.get("kind", ""), stamp(utc_now()))
            what = NAMES.get(said.get("kind", ""), "message")
            return f"{what} was refused: it does not carry the token of {ref.task_id}."
        rest: dict[str, Json] = {
            key: value for key, value in said.items() if key not in ("kind", "id", PROOF)
        }
        try:
            message = decode(_KINDS[said["kind"]], rest)
            sent = inbox.send(_files(ref), message, said["id"])
        except (UserError, ValueError, KeyError) as error:
            return f"The message cannot be read: {error}."
        return "" if sent else f"{said['id']} already has a message, and the first one counts."


def _patient(world: World) -> World:
    """Where calls go by batch, an effect ends once its call is on its way, and who waits for another task
    looks once: the workflow has a timer, and nobody has to sit and wait.
    """
    world = replace(world, waits_here=False)
    batch_outbox = world.batch_outbox
    waits = batch_outbox is not None and (
        batch_outbox.deadline_s is not None or "batch" in batch_outbox.delivery_modes.values()
    )
    return (
        replace(world, batch_outbox=replace(batch_outbox, detach=True))
        if batch_outbox is not None and waits
        else world
    )


def _check(driven: Driven, ref: Ref, mine: str) -> None:
    if driven.engine != "temporal" or driven.host != mine:
        now = f"the host {driven.host}" if driven.host else f"the engine {driven.engine}"
        raise UsageError(
            f"{ref.task_id} was taken over by {now}.",
            f"`agentforge continue {ref.task_id}` there resumes it.",
        )


def _files(ref: Ref) -> TaskFiles:
    return TaskFiles(Path(ref.repository) / ".agentforge" / "tasks" / ref.task_id)


async def host(
    stop: asyncio.Event, say: Callable[[str], None], *, queue: str = "", at_once: int = 16, quiet: bool = True
) -> None:
    """Makes this process a worker: it takes tasks from the queue (the one that is configured, if empty) until
    `stop` is set.
    """
    from agentforge.engines.temporal.worker import WorkerSettings, serve

    config = read_temporal()
    chosen = replace(config, queue=queue) if queue else config
    await serve(
        chosen, HostedTasks(), WorkerSettings(home_path(), __version__, at_once, quiet=quiet), stop, say
    )
