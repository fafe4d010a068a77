"""Where the installed command begins. `--help`, `--version` and the list of all tasks in a pipe are answered
from here: loading what commands need would take longer than reading the answer.
"""

import os
import sys

from agentforge import __version__
from agentforge.surfaces.cli.streams import OutputLost, fit_streams

FRONT_PAGE = os.path.join(os.path.dirname(__file__), "front_page.txt")  # noqa: PTH118, PTH120 - see above
"""What `agentforge --help` says where there is room, as `scripts/make-docs` last wrote it."""
WIDTH = 80
"""The columns that it is made for; a narrower terminal gets one of its own."""


def main() -> int:
    """Runs the command that was typed, and returns its exit code."""
    fit_streams()
    try:
        answer = _known_answer(sys.argv[1:])
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr, flush=True)  # noqa: T201 - `printing` loads what this is here to avoid
        os._exit(130)
    if answer is not None:
        try:
            print(answer, end="", flush=True)  # noqa: T201 - as above
        except BrokenPipeError:  # whoever read our output has seen enough
            os._exit(0)
        except OutputLost as lost:
            print(f"error: {lost.sentence}", file=sys.stderr, flush=True)  # noqa: T201 - as above
            os._exit(1)
        return 0
    from agentforge.surfaces.cli.main import main as run

    return run()


def _known_answer(args: list[str]) -> str | None:
    """What these words are answered with, if that needs no command and no shell asks for completions."""
    if "_AGENTFORGE_COMPLETE" in os.environ:
        return None
    if args == ["--version"]:
        return f"agentforge {__version__}\n"
    if args in (["--help"], ["-h"]) and _columns() >= WIDTH:
        with open(FRONT_PAGE, encoding="utf-8") as page:  # noqa: PTH123 - see above
            return page.read()
    if args == ["status", "--all"] and not sys.stdout.isatty():
        from agentforge.surfaces.cli.quick_list import list_in_pipe

        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
        return list_in_pipe()
    return None


def _columns() -> int:
    """The width of the terminal, as `shutil.get_terminal_size` finds it."""
    try:
        told = int(os.environ.get("COLUMNS", "0"))
    except ValueError:
        told = 0
    if told > 0:
        return told
    try:
        return os.get_terminal_size().columns or WIDTH
    except (OSError, ValueError):
        return WIDTH
