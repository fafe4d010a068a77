"""`demo`: one request on a bundled repository becomes a verified branch. The model's words are scripted; the
rest is real.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.printing import say

if TYPE_CHECKING:
    from agentforge.surfaces.cli.pages.screen import Screen

HONESTLY = (
    "The model's words are scripted. Everything else is real: git, the sandbox, the environment, "
    "pytest, the gates."
)
WATCH = {
    "small": (
        "Watch for three mistakes of the model, each caught and fed back: a gate, an edit that does "
        "not fit, a locked test."
    ),
    "full": (
        "Watch for a specification sent back, a locked test, an undone refactoring, and two "
        "reviewers who disagree."
    ),
}


@click.command(
    epilog="""\b
Examples:
  agentforge demo
  agentforge demo --lane full
  agentforge demo --keep ./demo

No key is needed. The directory is kept, so that you can look at everything afterwards."""
)
@click.option(
    "--keep",
    "place",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where to put it; a new or empty directory.",
)
@click.option(
    "--lane",
    type=click.Choice([*WATCH]),
    default="small",
    show_default=True,
    help="Five stages, or all eight.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "bubblewrap", "landlock", "container", "none"]),
    help="The sandbox that code runs in.",
)
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def demo(*, place: Path | None, lane: str, sandbox: str | None, as_data: bool) -> int:
    """Watch one request become a verified branch; no key needed, only the package index."""
    from agentforge.app.drivers.driving import drive
    from agentforge.app.intake.sample import REQUEST, start_demo
    from agentforge.app.record.steps import steps_of
    from agentforge.surfaces.cli.driving import tell
    from agentforge.surfaces.cli.interrupt import naming
    from agentforge.surfaces.cli.pages.screen import ScreenWatcher, open_screen
    from agentforge.surfaces.cli.pages.steps import caught

    demo = start_demo(place, lane, sandbox, at_terminal=at_terminal())
    task = demo.task
    with open_screen(json=as_data) as screen, naming(task.task_id):
        _announce(screen, demo.repository, task.state.sandbox, WATCH[lane])
        screen.line(f"Request:    {REQUEST}\n")
        drive(task, ScreenWatcher(screen))
        if mistakes := caught(steps_of(task.files)):
            screen.line("\nCaught on the way, and fed back to the model:", "heading")
        for mistake in mistakes:
            screen.line(f"  {mistake}", "caught")
        screen.line(f"\n{HONESTLY}", "heading")
    code = tell(task, as_data=as_data)
    if not as_data:
        say(f"\nEverything is kept in {demo.root}.")
    return code


def _announce(screen: "Screen", repository: Path, sandbox: str, watch: str) -> None:
    from agentforge.system.programs import find_program

    screen.line(HONESTLY, "heading")
    screen.line(watch)
    if sandbox == "bubblewrap":
        screen.line("Code runs inside bubblewrap.")
    elif find_program("bwrap") is None:
        screen.line(
            f"bubblewrap is not installed here, so the sandbox is weaker: {sandbox}.",
            "caught",
        )
    else:
        screen.line(f"The sandbox is {sandbox}, not bubblewrap.", "caught")
    screen.line(f"Repository: {repository}")
