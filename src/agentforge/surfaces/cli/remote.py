"""A task that a worker drives: handed to the Temporal server, followed through its journal, nudged when somebody spoke to it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from agentforge import __version__
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.inputs import Message
from agentforge.core.state import TERMINAL, State
from agentforge.settings import read_temporal
from agentforge.store.engine import Driven, EngineName, read_engine, write_engine
from agentforge.store.journal import Journal
from agentforge.store.layout import TaskFiles
from agentforge.store.lock import DriverLock, LockTaken
from agentforge.store.site import Site
from agentforge.store.wishes import Wishes
from agentforge.surfaces.cli.printing import print_last
from agentforge.surfaces.cli.screen import Screen, Watcher
from agentforge.surfaces.cli.words import one_line
from agentforge.system.redact import redact
from agentforge.wiring import driving

if TYPE_CHECKING:
    from agentforge.engines.temporal.client import Connection

Words: TypeAlias = Callable[[State, int], Sequence[tuple[str, Message]]]
PATIENCE_S = 10.0
"""How long a worker that is about to let a task go is waited for."""
_TICK_S = 0.2
_LOOK_S = 2.0
_MEMO = 2000


def silence(_state: State, _length: int) -> Sequence[tuple[str, Message]]:
    """Nothing is said."""
    return ()


@contextmanager
def connected() -> Iterator["Connection"]:
    """The server that the user configured."""
    need_temporal()
    from agentforge.engines.temporal.client import Connection

    with Connection(read_temporal()) as line:
        yield line


def need_temporal() -> None:
    """The extra, or its name."""
    if find_spec("temporalio") is None:
        raise UsageError("The Temporal engine is not installed.", "Install it with `pip install 'agentforge[temporal]'`.")


def choose_engine(site: Site, files: TaskFiles, wanted: EngineName | None, *, take_over: bool) -> list[str]:
    """Refuses to drive a task of the other engine, or takes it over: first it is proved that nothing runs. What a person is told."""
    now = read_engine(files)
    if take_over:
        return _take_over(site, files, wanted or now.engine)
    if wanted is not None and wanted != now.engine:
        raise UsageError(
            f"{files.task_id} is driven by the engine {now.engine}.",
            f"Leave --engine out, or take it over with `agentforge continue {files.task_id} --engine {wanted} --take-over`.",
        )
    return []


def _take_over(site: Site, files: TaskFiles, engine: EngineName) -> list[str]:
    before, told = read_engine(files), []
    with DriverLock(files.lock, site.clock):
        if before.engine == "temporal":
            try:
                with connected() as line:
                    line.terminate(_name(site, files), f"taken over by the engine {engine}")
            except Unusable as error:
                told.append(f"{error.sentence} If it comes back, its workflow finds the task taken over and ends.")
        write_engine(files, Driven(engine))
    return told


def hand_over(site: Site, files: TaskFiles, line: "Connection", words: Words, wishes: Wishes | None = None) -> None:
    """Puts a person's words on record, then sees to it that a workflow runs and knows of them."""
    from agentforge.engines.temporal.workflow import Task

    _speak(site, files, words, wishes)
    name = _name(site, files)
    if line.look(name).found == "running":
        _hint(line, name)
        return
    state = site.read(files).state
    task = Task(files.task_id, str(site.git.top), __version__, host_silence_s=line.config.host_silence_s)
    line.begin(name, task, {"request": redact(state.request)[0][:_MEMO], "repository": str(site.git.top)})


def check_engine(engine: EngineName, *, detach: bool) -> None:
    """Before a task is recorded: whoever shall drive it is there."""
    if engine == "temporal":
        with connected():
            return
    if detach:
        next_step = "The local engine works while the command runs; with --batch it can end while a batch waits."
        raise UsageError("--detach is for the engine temporal and for batches.", next_step)


def by_batch(site: Site, files: TaskFiles) -> bool:
    """Whether a task of the local engine may be left while its calls wait."""
    state = site.read(files).state
    waits = state.delivery == "batch" or any(flight.delivery == "batch" for flight in state.flights)
    return waits and read_engine(files).engine == "local"


def leave_to_workers(site: Site, files: TaskFiles, words: Words = silence, wishes: Wishes | None = None) -> int:
    """Hands the task over and goes."""
    if read_engine(files).engine != "temporal":
        check_engine("local", detach=True)
    with connected() as line:
        hand_over(site, files, line, words, wishes)
        print_last(f"{files.task_id} is with the workers. `agentforge status {files.task_id}` shows how it stands.")
        if not line.pollers(line.config.queue):
            raise _nobody(files, line)
    return 0


def drive_remotely(site: Site, files: TaskFiles, screen: Screen, words: Words, wishes: Wishes | None = None) -> State:
    """Hands the task over and follows it until it is over or waits for a person."""
    journal = site.read(files)
    journal.listeners.append(Watcher(screen))
    with connected() as line:
        hand_over(site, files, line, words, wishes)
        try:
            return _follow(site, journal, line, screen)
        except KeyboardInterrupt:
            screen.line(f"The workers go on with {files.task_id}.")
            raise


def _follow(site: Site, journal: Journal, line: "Connection", screen: Screen) -> State:
    files, told = journal.files, set[str]()
    seen, look_at = journal.length, time.monotonic() + _LOOK_S / 2
    while True:
        journal.catch_up()
        if _rests(journal.state) and _is_free(site, files):
            journal.catch_up()
            return journal.state
        if time.monotonic() > look_at:
            if journal.length == seen:
                _check(site, files, line, screen, told)
            seen, look_at = journal.length, time.monotonic() + _LOOK_S
        time.sleep(_TICK_S)


def nudge(site: Site, files: TaskFiles) -> str:
    """Tells the workflow that something was said. The answer is what a person should know, if it could not be told."""
    if read_engine(files).engine != "temporal":
        return ""
    stays = f"What you said is kept, and `agentforge continue {files.task_id}` takes it up."
    if site.read(files).state.status in TERMINAL:
        stays = "What you said is on record, and the workflow ends when it hears of it."
    try:
        with connected() as line:
            name = _name(site, files)
            if line.look(name).found == "running" and not _hint(line, name):
                return f"No worker answered. {stays}"
    except UserError as error:
        return f"{error.sentence} {stays}" if isinstance(error, Unusable) else f"{error} {stays}"
    return ""


def _hint(line: "Connection", name: str) -> bool:
    """Whether a worker looked into the inbox. Where none is, nobody is waited for."""
    return bool(line.pollers(line.config.queue)) and line.tell(name, {"kind": "look"}) is not None


def standing(site: Site, files: TaskFiles) -> list[str]:
    """What the server says of a task, in lines; nothing for a task of the local engine."""
    driven = read_engine(files)
    if driven.engine != "temporal":
        return []
    lines = [f"engine: temporal, host {driven.host or 'not known yet'}"]
    try:
        with connected() as line:
            look = line.look(_name(site, files))
            if look.found == "running" and not line.pollers(line.config.queue):
                lines.append(f"  {_nobody(files, line).sentence} {_nobody(files, line).next_step}")
            elif look.host_lost:
                lines.append(f"  {_lost(files, driven).sentence} {_lost(files, driven).next_step}")
            lines += [f"  it is tried again: {one_line(trouble, 200)}" for trouble in look.troubles]
            if look.found != "running" and not _rests(site.read(files).state):
                lines.append(f"  no workflow runs; `agentforge continue {files.task_id}` starts one on what is recorded")
    except UserError as error:
        lines.append(f"  {error}")
    return lines


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
            time.sleep(_TICK_S)
        else:
            return


def _check(site: Site, files: TaskFiles, line: "Connection", screen: Screen, told: set[str]) -> None:
    """Why nothing happens: what cannot mend itself ends the command, the rest is said once."""
    name = _name(site, files)
    look = line.look(name)
    if look.found == "failed":
        failure = line.failure(name)
        screen.line(f"{files.task_id} stopped. `agentforge continue {files.task_id}` goes on.", "bad")
        raise failure
    if look.found != "running" and not _rests(site.read(files).state):
        raise Unusable(f"The workflow of {files.task_id} was ended.", f"`agentforge continue {files.task_id}` starts another one.")
    if not line.pollers(line.config.queue):
        raise _nobody(files, line)
    if look.host_lost:
        raise _lost(files, read_engine(files))
    for trouble in look.troubles:
        if trouble not in told:
            told.add(trouble)
            screen.line(f"  it is tried again: {trouble}", "caught")


def _nobody(files: TaskFiles, line: "Connection") -> Unusable:
    return Unusable(
        f"Nobody works on the queue {line.config.queue} of {line.config.address}.",
        f"Start `agentforge worker` on this machine; {files.task_id} then goes on by itself.",
    )


def _lost(files: TaskFiles, driven: Driven) -> Unusable:
    return Unusable(
        f"host_lost: the worker {driven.host} that has {files.task_id} is silent.",
        f"Start `agentforge worker` there, or take the task over: `agentforge continue {files.task_id} --take-over`.",
    )


def _rests(state: State) -> bool:
    return state.status in TERMINAL or (state.status == "blocked" and state.open_escalation is not None)


def _is_free(site: Site, files: TaskFiles) -> bool:
    """Whether the worker has put the task away."""
    try:
        with DriverLock(files.lock, site.clock):
            return True
    except LockTaken:
        return False


def _name(site: Site, files: TaskFiles) -> str:
    from agentforge.engines.temporal.client import workflow_id

    return workflow_id(files.task_id, site.read(files).state.marker)
