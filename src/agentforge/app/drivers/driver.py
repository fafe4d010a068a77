"""A driver: whoever holds a task's lock, with all that driving it takes."""

import concurrent.futures.thread  # noqa: F401  # see below

# Both hook into forks. Loaded in one thread while another starts a program, they let go of locks not taken.
import logging  # noqa: F401
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from agentforge.activities.batches import BatchOutbox, Pace
from agentforge.activities.commit import save
from agentforge.activities.perform import perform
from agentforge.activities.spending import Reservations
from agentforge.activities.task_permissions import permissions_of, walls_of
from agentforge.activities.world import World
from agentforge.app.branches.cleaning import MEGABYTE, clean_if_needed
from agentforge.app.drivers.logging_effects import LoggedEffects
from agentforge.app.drivers.view_writer import ViewWriter
from agentforge.app.drivers.world import make_world, settings_of
from agentforge.app.models.answering import Answering
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import Settings
from agentforge.catalog.modes import mode_named
from agentforge.core.errors import UserError
from agentforge.core.inputs import Abort, Message
from agentforge.core.pipeline import TIERS
from agentforge.core.state import State
from agentforge.engines.local import Ports, drive
from agentforge.models.known.tiers import DeliveryMode
from agentforge.sandbox.base import Confinement, Sandbox, SandboxName
from agentforge.sandbox.worktree import Workspace
from agentforge.store.site import Site
from agentforge.store.task import inbox
from agentforge.store.task.journal import Journal, Listener
from agentforge.store.task.lock import DriverLock
from agentforge.store.user.effect_log import EffectLog
from agentforge.store.user.ledger import Ledger
from agentforge.store.user.outbox import Outbox
from agentforge.store.user.signing import signing_key
from agentforge.store.user.start_permissions import StartPermissions, permissions_file, write_permissions
from agentforge.system import processes
from agentforge.system.processes import Completed
from agentforge.system.quiet import hush_logs


@contextmanager
def open_driver(
    task: OpenTask, *, listener: Listener | None = None, progress: Callable[[str], None] = lambda _: None
) -> Iterator["Driver"]:
    """Holds the task's lock while the block runs; `LockTaken` if another driver has it."""
    hush_logs()
    site, journal = task.site, task.journal
    before = len(journal.listeners)
    with (
        DriverLock(task.files.lock, site.clock) as lock,
        journal.writing(),
        closing(ViewWriter(site, journal, progress)) as views,
        Ledger.of(site.home, progress) as ledger,
        EffectLog(site.home.logs) as log,
    ):
        journal.listeners.append(views)
        if listener is not None:
            journal.listeners.append(listener)
        try:
            held = replace(site, git=site.git.holding(lock.fd))
            yield Driver(held, journal, lock.fd, progress, ledger, log)
        finally:
            del journal.listeners[before:]
        views.show()


@dataclass(frozen=True, slots=True)
class Driver:
    """A task whose lock this process holds, so that it alone may write the journal."""

    site: Site
    journal: Journal
    lock_fd: int
    progress: Callable[[str], None]
    ledger: Ledger
    log: EffectLog

    def tell(self, key: str, message: Message) -> None:
        """Puts a person's word on record at once; raises `StateInvalid` where it makes no sense."""
        state = self.journal.state
        if isinstance(message, Abort) and state.prepared and not state.halted:
            # What a killed driver left is not a person's work either, and from here on a difference would
            # count as theirs.
            self._workspace().reset_to(state.tree, state.base_commit)
        self.journal.advance(key, message)

    def say(self, permissions: StartPermissions) -> None:
        """Replaces what was said when the task was started; which walls it has stays as it was."""
        state = self.journal.state
        before = permissions_of(self.site, state).permissions
        path = permissions_file(self.site.home, self.site.git.top, state.task_id)
        write_permissions(
            path,
            replace(permissions, sandbox=before.sandbox, marker=state.marker, suggested=before.suggested),
        )

    def run(self, *, detach: bool = False) -> State:
        """Drives until the task is over or waits for a person; with `detach` also where it only waits for a
        batch.
        """
        world = self._world(detach=detach)
        if self.journal.state.open_escalation is None:
            world.models.load_beside()
        ports = replace(self.ports(world), withdraw=partial(_withdraw, world, processes.kill_all))
        try:
            drive(self.journal, ports)
        finally:
            world.desk.close()
        return self.settle(world)

    def ports(self, world: World) -> Ports:
        """Everything that an engine needs to drive the task."""
        files = self.journal.files

        def report(sentence: str) -> None:
            self.progress(sentence)

        def messages() -> Iterable[tuple[str, Message]]:
            return inbox.receive(files, self.journal.known, report)

        def refused(key: str, error: UserError) -> None:
            inbox.refuse(files, key)
            self.progress(f"a message was refused: {error}")

        withdraw = partial(_withdraw, world, partial(processes.kill_holding, self.lock_fd))
        logged = LoggedEffects(partial(perform, world), self.log, str(self.site.git.top))
        return Ports(logged, messages, refused, withdraw)

    def settle(self, world: World) -> State:
        """Nothing runs any more: saves the task, and puts its files back to what is on record."""
        state = self.journal.state
        self.ledger.catch_up(self.site.git.top, self.journal.files)
        if world.batch_outbox is not None:
            world.batch_outbox.tidy(state)
        if state.prepared:
            save(world, state)
            # What a withdrawn effect left is not a person's work: they find the recorded tree.
            world.workspace.reset_to(state.tree, state.base_commit)
        if freed := clean_if_needed(self.site.home):
            self.progress(f"freed {freed / MEGABYTE:,.0f} MB that no task needs; `agentforge clean --help`")
        return state

    def world(self) -> World:
        """What effects touch, for commands that look at a task as an effect would."""
        return self._world()

    def _workspace(self) -> Workspace:
        site, task_id = self.site, self.journal.state.task_id
        return Workspace(site.git, site.home.trees(site.git.top, task_id).root, task_id)

    def _world(self, *, detach: bool = False) -> World:
        site, state = self.site, self.journal.state
        settings = settings_of(site, state)
        walls = _Holding(walls_of(site, state, settings.own.sandbox, settings.own.container), self.lock_fd)
        answering = Answering.of(site.home, settings, local_only=mode_named(state.pipeline.mode).local_only)
        answering.check()
        self.ledger.catch_up(site.git.top, self.journal.files)
        world = make_world(
            site, self.journal, settings, answering.router(self.progress, self.ledger), walls, self.progress
        )
        batch_outbox = _batch_outbox(site, settings, state, detach=detach)
        batch_outbox.tidy(state)
        return replace(
            world,
            reservations=Reservations(str(site.git.top), self.ledger, settings.own.day_cap),
            batch_outbox=batch_outbox,
            waits_here=not detach,
            signer=signing_key(site.home),
        )


def _batch_outbox(site: Site, settings: Settings, state: State, *, detach: bool) -> BatchOutbox:
    """The way to batches, as the task and its tiers want them."""
    modes: dict[str, DeliveryMode] = {
        tier: "batch" if state.delivery == "batch" else settings.tiers.delivery[tier] for tier in TIERS
    }
    pace = Pace.of(os.environ, settings.own.batch_window_s)
    return BatchOutbox(Outbox(site.home.batches), modes, state.deadline_s or None, detach, pace)


def _withdraw(world: World, kill: Callable[[], object]) -> None:
    """The task is over: nobody waits for a batch, a pause or a turn, and no child goes on."""
    if world.batch_outbox is not None:
        world.batch_outbox.off.set()
    world.models.call_off()
    kill()


@dataclass(frozen=True, slots=True)
class _Holding:
    """A sandbox whose children hold the driver's lock: a new driver starts only when they are gone."""

    inner: Sandbox
    fd: int

    @property
    def name(self) -> SandboxName:
        return self.inner.name

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        return self.inner.run(argv, replace(confinement, pass_fds=(*confinement.pass_fds, self.fd)))

    def guarantee(self) -> dict[str, str]:
        return self.inner.guarantee()
