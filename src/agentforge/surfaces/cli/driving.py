"""Drive a task in front of a person: progress while it runs, and its standing at the end."""

import json
from collections.abc import Callable, Sequence

from agentforge.app.answers import answer, may_ask
from agentforge.app.driver import driving
from agentforge.app.remote import drive_remotely
from agentforge.core.errors import UserError
from agentforge.core.inputs import Message
from agentforge.core.state import State
from agentforge.store.engine import read_engine
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.wishes import Wishes
from agentforge.surfaces.cli.asking import ask_here
from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.interrupt import naming
from agentforge.surfaces.cli.pages.report import as_json, as_text, exit_code, stand
from agentforge.surfaces.cli.pages.screen import Screen, Watcher, open_screen
from agentforge.surfaces.cli.printing import print_last

Words = Callable[[State, int], Sequence[tuple[str, Message]]]
"""What a person says first, each under its key, given the state and the length of the journal."""


def _silence(_state: State, _length: int) -> Sequence[tuple[str, Message]]:
    return ()


def drive(
    site: Site,
    files: TaskFiles,
    screen: Screen,
    words: Words = _silence,
    wishes: Wishes | None = None,
    *,
    detach: bool = False,
) -> State:
    """Takes the lock, puts a person's words on record, and drives until the task is over or waits."""
    if read_engine(files).engine == "temporal":
        with naming(files.task_id):
            return drive_remotely(site, files, screen, words, wishes)
    with (
        naming(files.task_id),
        driving(
            site, files, listener=Watcher(screen), progress=lambda text: screen.line(f"  {text}", "quiet")
        ) as driver,
    ):
        for key, message in words(driver.journal.state, driver.journal.length):
            driver.tell(key, message)
        if wishes is not None:
            driver.say(wishes)
        try:
            return driver.run(detach=detach)
        except UserError:
            screen.line(f"{files.task_id} stopped. `agentforge continue {files.task_id}` goes on.", "bad")
            raise


def drive_and_tell(  # noqa: PLR0913 - what commands differ in
    site: Site,
    files: TaskFiles,
    words: Words = _silence,
    *,
    as_data: bool = False,
    wishes: Wishes | None = None,
    opening: Callable[[Screen], None] = lambda _: None,
    detach: bool = False,
) -> int:
    """`drive`, then the standing; returns the exit code. A person who sits there is asked for permissions on
    the way.
    """
    with open_screen(json=as_data) as screen:
        opening(screen)
        state = drive(site, files, screen, words, wishes, detach=detach)
    while not as_data and at_terminal() and may_ask(site, state) and (given := ask_here(state)) is not None:
        assert state.open_escalation is not None
        settled = answer(site, files, state.open_escalation.id, given)
        with open_screen() as screen:
            for note in settled.notes:
                screen.line(note)
            state = drive(site, files, screen) if settled.free else site.read(files).state
    return tell(site, files, state, as_data=as_data)


def tell(site: Site, files: TaskFiles, state: State, *, as_data: bool = False) -> int:
    """The standing of a task, as the last words of a command."""
    standing = stand(site.git, files, state)
    print_last(
        json.dumps(as_json(standing), indent=2, ensure_ascii=False) if as_data else f"\n{as_text(standing)}"
    )
    return exit_code(state)
