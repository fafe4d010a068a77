"""The installed command: the list of commands, and the one place where errors meet a person."""

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import click

from agentforge import __version__
from agentforge.core.errors import UserError
from agentforge.surfaces.cli.command_list import COMMANDS, SECTIONS
from agentforge.surfaces.cli.interrupt import end_like_ctrl_c, ended_by, interrupted_task
from agentforge.surfaces.cli.lazy import LazyGroup
from agentforge.surfaces.cli.streams import OutputLost, give_up_output
from agentforge.surfaces.cli.usage import sentence_of

_SIGNALLED = 128
"""Added to the number of a signal, as shells do: 130 after Ctrl-C."""
_STATUS_BROKEN, _STATUS_USAGE = 3, 64
"""Of `phase status` alone, whose other exit codes scripts of the wild read."""

cli = LazyGroup(
    SECTIONS,
    help="Turn a request on a git repository into a verified branch with its proof, or one precise question.",
    epilog="""\b
Examples:
  agentforge demo
  agentforge setup
  agentforge start "Add a --version flag"
  agentforge status @1
  agentforge merge @1

Each command explains itself with --help.

\b
Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for you,
            4 refused by policy, 130 interrupted.""",
)
click.version_option(__version__, prog_name="agentforge", message="%(prog)s %(version)s")(cli)


class _Failure(NamedTuple):
    """Why a command ended early, for people and for programs."""

    code: str
    sentence: str
    next_step: str
    exit_code: int


def main(args: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. Nothing but this speaks of errors."""
    _forgive_encoding()
    words = sys.argv[1:] if args is None else args
    try:
        if args is None:
            _become_a_program()
        code = _run(words)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        _say(_words_of_help(error))
        return error.exit_code
    except click.ClickException as error:
        code = _tell(_usage(error, words), words)
    except KeyboardInterrupt as error:
        _leave(_interrupted(error), words)
    except UserError as error:
        code = _tell(_Failure(error.code, error.sentence, error.next_step, error.exit_code), words)
    except BrokenPipeError:
        _end(0)  # whoever read our output has seen enough
    except OSError as error:
        code = _tell(_of_the_system(error), words)
    # the border to the person: no traceback unless it is asked for
    except Exception as error:  # noqa: BLE001
        code = _tell(_internal(error), words)
    if args is None and sys.modules.get("temporalio") is not None:
        _end(code)  # its threads reach into an interpreter that is being taken down, and crash it
    _stop_children()
    return code


def _words_of_help(error: click.exceptions.NoArgsIsHelpError) -> str:
    """What a group says to whoever names it alone."""
    context = error.ctx
    if context.command is not cli:
        return error.format_message()
    return cli.first_words(context)


def _become_a_program() -> None:
    """What holds for a whole process: how signals end it, and that no library warns its user."""
    end_like_ctrl_c()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _run(args: Sequence[str]) -> int:
    """The command's own exit code. Click's `main` is left out: it has words of its own for errors and
    interrupts.
    """
    if "_AGENTFORGE_COMPLETE" in os.environ:  # a shell asks for completions
        cli.main(prog_name="agentforge")
    try:
        with cli.make_context("agentforge", _as_meant(args)) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as ended:  # after --help or --version
        return ended.exit_code
    return code if isinstance(code, int) else 0


def _as_meant(args: Sequence[str]) -> list[str]:
    """Without `--no-banner`, which scripts say to every command; `help start` is `start --help`."""
    end = args.index("--") if "--" in args else len(args)
    words = [word for at, word in enumerate(args) if word != "--no-banner" or at > end]
    return [*words[1:], "--help"] if words[:1] == ["help"] else words


def _tell(failure: _Failure, words: Sequence[str]) -> int:
    """Says what went wrong on the error stream; with `--json` also as the document that a program reads."""
    if failure.code == "interrupted":
        _say(f"{failure.sentence} {failure.next_step}".rstrip())
    else:
        opening = "" if failure.code == "internal" else "error: "
        _say(f"{opening}{failure.sentence}", *([failure.next_step] if failure.next_step else []))
    asked = words[: words.index("--")] if "--" in words else words
    if "--json" in asked:
        from agentforge.surfaces.cli.printing import print_json
        from agentforge.surfaces.cli.safe_text import safe

        told = {
            "code": failure.code,
            "message": safe(failure.sentence),
            "next": safe(failure.next_step) or None,
        }
        with contextlib.suppress(OSError, ValueError):
            print_json({"error": told})
    if [*words[:2]] == ["phase", "status"]:  # 1 and 2 mean something else to whoever runs it
        return {1: _STATUS_BROKEN, 2: _STATUS_USAGE, 4: _STATUS_BROKEN}.get(
            failure.exit_code, failure.exit_code
        )
    return failure.exit_code


def _usage(error: click.ClickException, words: Sequence[str]) -> _Failure:
    context = error.ctx if isinstance(error, click.UsageError) else None
    named = f"agentforge {words[0]}" if words and words[0] in COMMANDS else "agentforge"
    how = f"`{context.command_path if context else named} --help` shows how."
    return _Failure("usage", sentence_of(error), how, 2)


def _interrupted(error: BaseException) -> _Failure:
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would only cut the message in half
    _say(*([""] if sys.stderr.isatty() else []))  # the terminal has shown ^C
    task = interrupted_task(error)
    how = f"`agentforge continue {task}` resumes the task." if task else ""
    return _Failure("interrupted", "Interrupted.", how, _SIGNALLED + ended_by(error))


def _of_the_system(error: OSError) -> _Failure:
    if isinstance(error, OutputLost):
        give_up_output()
        return _Failure(
            "unusable", error.sentence, "What the command did stands; send its output somewhere else.", 1
        )
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        how = "Change to one that is there, and run the command again."
        return _Failure("usage", "The directory you are in is gone.", how, 2)
    from agentforge.system.files import disk_trouble

    trouble = disk_trouble(error)
    if trouble is None:
        return _internal(error)
    return _Failure(trouble.code, trouble.sentence, trouble.next_step, trouble.exit_code)


def _is_nowhere() -> bool:
    """Whether somebody has removed the directory that the command runs in."""
    try:
        os.getcwd()  # noqa: PTH109 - only whether it can be told
    except FileNotFoundError:
        return True
    return False


def _internal(error: Exception) -> _Failure:
    if os.environ.get("AGENTFORGE_DEBUG") == "1":
        import traceback

        return _Failure("internal", traceback.format_exc().rstrip(), "", 1)
    where = f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    how = (
        "Nothing that was recorded is lost. Set AGENTFORGE_DEBUG=1 and run the command again to see the full "
        "traceback."
    )
    return _Failure("internal", where, how, 1)


def _leave(failure: _Failure, words: Sequence[str]) -> NoReturn:
    """Ends at once, children first."""
    _stop_children()
    _end(_tell(failure, words))


def _end(code: int) -> NoReturn:
    """Ends at once: threads that still wait for a model or a child must not keep the process."""
    _stop_children()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(code)


def _stop_children() -> None:
    processes = sys.modules.get("agentforge.system.processes")
    if processes is not None:  # not loaded: no child was ever started
        processes.kill_all()


def _say(*lines: str) -> None:
    from agentforge.surfaces.cli.printing import say  # not before something is wrong: `--help` is quick

    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            say(line, err=True)


def _forgive_encoding() -> None:
    """A character that the terminal cannot show becomes a question mark instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
