"""A task that a worker drives: handed to the Temporal server, followed through its journal, nudged when
somebody spoke to it.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from agentforge import __version__
from agentforge.app.driver import driving
from agentforge.app.following import TICK_S, Follower
from agentforge.app.holdups import SLOW_S, Case, nobody
from agentforge.app.settings import read_temporal
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.inputs import Message
from agentforge.core.state import TERMINAL, State
from agentforge.store.engine import Driven, EngineName, read_engine, write_engine
from agentforge.store.layout import TaskFiles
from agentforge.store.lock import DriverLock, LockTaken
from agentforge.store.site import Site
from agentforge.store.wishes import Wishes
from agentforge.surfaces.cli.pages.screen import Screen, Watcher
from agentforge.surfaces.cli.printing import print_last
from agentforge.system.redact import redact

if TYPE_CHECKING:
    from agentforge.engines.temporal.client import Connection

Words: TypeAlias = Callable[[State, int], Sequence[tuple[str, Message]]]
PATIENCE_S = 10.0
"""How long a worker that is about to let a task go is waited for."""
_MEMO = 2000


def silence(_state: State, _length: int) -> Sequence[tuple[str, Message]]:
    """Nothing is said."""
    return ()


@contextmanager
def connected() -> Iterator["Connection"]:
    """The server that the user configured."""
    need_temporal()
    from agentforge.engines.temporal.client import Connection

    with Connection(read_temporal(), quiet=os.environ.get("AGENTFORGE_DEBUG") != "1") as line:
        yield line


def need_temporal() -> None:
    """The extra, or its name."""
    if find_spec("temporalio") is None:
        raise UsageError(
            "The Temporal engine is not installed.", "Install it with `pip install 'agentforge[temporal]'`."
        )


def choose_engine(site: Site, files: TaskFiles, wanted: EngineName | None, *, take_over: bool) -> list[str]:
    """Refuses to drive a task of the other engine, or takes it over: first it is proved that nothing runs.
    What a person is told.
    """
    now = read_engine(files)
    if take_over:
        return _take_over(site, files, wanted or now.engine)
    if wanted is not None and wanted != now.engine:
        raise UsageError(
            f"{files.task_id} is driven by the engine {now.engine}.",
            f"Leave --engine out, or take it over with `agentforge continue {files.task_id} --engine "
            f"{wanted} --take-over`.",
        )
    return []


def _take_over(site: Site, files: TaskFiles, engine: EngineName) -> list[str]:
    before, told = read_engine(files), []
    with DriverLock(files.lock, site.clock):
        if before.engine == "temporal":
            try:
                with connected() as line:
                    line.terminate(name_of(site, files), f"taken over by the engine {engine}")
            except UserError as error:  # away, or closed to us: the lock has proved enough
                told.append(
                    f"{error.sentence} If it comes back, its workflow finds the task taken over and ends."
                )
        write_engine(files, Driven(engine))
    return told


def hand_over(
    site: Site, files: TaskFiles, line: "Connection", words: Words, wishes: Wishes | None = None
) -> None:
    """Puts a person's words on record, then sees to it that a workflow runs and knows of them."""
    _speak(site, files, words, wishes)
    _see_to_it(site, files, line)


def _see_to_it(site: Site, files: TaskFiles, line: "Connection") -> bool:
    """A workflow runs that knows what is on record. One that cannot be told makes place for another, which
    reads it.

    False if it has work out that nobody answers for: whoever takes that up reads the journal, too.
    """
    from agentforge.engines.temporal.workflow import Task

    name = name_of(site, files)
    look = line.look(name)
    if look.found == "running":
        if not look.is_stuck(SLOW_S) and _hint(line, name):
            return True
        if look.is_busy or look.host_lost:
            return False
        line.terminate(name, "nobody could be told what was said")
    state = site.read(files).state
    if state.status in TERMINAL:
        return True
    task = Task(files.task_id, str(site.git.top), __version__, host_silence_s=line.config.host_silence_s)
    line.begin(name, task, {"request": redact(state.request)[0][:_MEMO], "repository": str(site.git.top)})
    return True


def check_engine(engine: EngineName, *, detach: bool) -> None:
    """Before a task is recorded: whoever shall drive it is there."""
    if engine == "temporal":
        with connected():
            return
    if detach:
        next_step = (
            "The local engine works while the command runs; with --batch it can end while a batch waits."
        )
        raise UsageError("--detach is for the engine temporal and for batches.", next_step)


def by_batch(site: Site, files: TaskFiles) -> bool:
    """Whether a task of the local engine may be left while its calls wait."""
    state = site.read(files).state
    waits = state.delivery == "batch" or any(flight.delivery == "batch" for flight in state.flights)
    return waits and read_engine(files).engine == "local"


def leave_to_workers(
    site: Site, files: TaskFiles, words: Words = silence, wishes: Wishes | None = None
) -> int:
    """Hands the task over and goes."""
    if read_engine(files).engine != "temporal":
        check_engine("local", detach=True)
    with connected() as line:
        hand_over(site, files, line, words, wishes)
        print_last(
            f"{files.task_id} is with the workers. `agentforge status {files.task_id}` shows how it stands."
        )
        if not line.pollers(line.config.queue):
            raise nobody(Case(files.task_id, read_engine(files), line.config)).error()
    return 0


def drive_remotely(
    site: Site, files: TaskFiles, screen: Screen, words: Words, wishes: Wishes | None = None
) -> State:
    """Hands the task over and follows it until it is over or waits for a person."""
    journal = site.read(files)
    journal.listeners.append(Watcher(screen))
    with connected() as line:
        try:
            hand_over(site, files, line, words, wishes)
        except Unusable:
            screen.line(
                f"{files.task_id} is on record; `agentforge continue {files.task_id}` hands it over.", "bad"
            )
            raise
        follower = Follower(
            journal, line, name_of(site, files), screen, lambda: hand_over(site, files, line, silence)
        )
        try:
            return follower.follow()
        except KeyboardInterrupt:
            screen.line(f"The workers go on with {files.task_id}.")
            raise


def nudge(site: Site, files: TaskFiles) -> str:
    """Tells the workflow that something was said. The answer is what a person should know, if it could not be
    told.
    """
    if read_engine(files).engine != "temporal":
        return ""
    stays = f"What you said is kept, and `agentforge continue {files.task_id}` takes it up."
    if site.read(files).state.status in TERMINAL:
        stays = "What you said is on record, and the workflow ends when it hears of it."
    try:
        with connected() as line:
            if line.look(name_of(site, files)).found == "running" and not _see_to_it(site, files, line):
                return "No worker answered; the next one that has the task takes up what you said."
    except UserError as error:
        return f"{error.sentence} {stays}" if isinstance(error, Unusable) else f"{error} {stays}"
    return ""


def _hint(line: "Connection", name: str) -> bool:
    """Whether a worker looked into the inbox. Where none is, nobody is waited for."""
    return bool(line.pollers(line.config.queue)) and line.tell(name, {"kind": "look"}) is not None


def _speak(site: Site, files: TaskFiles, words: Words, wishes: Wishes | None) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        journal = site.read(files)
        if wishes is None and not words(journal.state, journal.length):
            return
        try:
            with driving(site, files) as driver:
                for key, message in words(driver.journal.state, driver.journal.length):
                    driver.tell(key, message)
                if wishes is not None:
                    driver.say(wishes)
        except LockTaken:
            if time.monotonic() > deadline:
                raise
            time.sleep(TICK_S)
        else:
            return


def name_of(site: Site, files: TaskFiles) -> str:
    """Of the workflow of a task."""
    from agentforge.engines.temporal.client import workflow_id

    return workflow_id(files.task_id, site.read(files).state.marker)
