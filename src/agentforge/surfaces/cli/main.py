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
from agentforge.surfaces.cli.interrupt import end_like_ctrl_c, ended_by, interrupted_task
from agentforge.surfaces.cli.lazy import LazyCommand, LazyGroup
from agentforge.surfaces.cli.streams import OutputLost, give_up_output
from agentforge.surfaces.cli.usage import sentence_of

_SIGNALLED = 128
"""Added to the number of a signal, as shells do: 130 after Ctrl-C."""
_STATUS_BROKEN, _STATUS_USAGE = 3, 64
"""Of `phase status` alone, whose other exit codes scripts of the wild read."""
_HERE = "agentforge.surfaces.cli.commands"

COMMANDS = {
    "setup": LazyCommand(f"{_HERE}.setup:setup", "Choose a model, try it and write it into your settings"),
    "init": LazyCommand(
        f"{_HERE}.init:init", "Detect how this project is built and tested, and write settings you can edit"
    ),
    "start": LazyCommand(
        f"{_HERE}.start:start", "Turn a request into a verified branch, or one precise question"
    ),
    "design": LazyCommand(f"{_HERE}.start:design", "Turn a request into a specification; change nothing"),
    "implement": LazyCommand(
        f"{_HERE}.start:implement",
        "Turn a request into a verified branch, however it is worded",
    ),
    "test": LazyCommand(f"{_HERE}.start:test", "Write the tests of a specification; change nothing else"),
    "review": LazyCommand(f"{_HERE}.start:review", "Say what is in a path and what is wrong with it"),
    "document": LazyCommand(f"{_HERE}.start:document", "Write documentation of a path; change no code"),
    "debate": LazyCommand(f"{_HERE}.start:debate", "Have a question argued from three sides, and decided"),
    "research": LazyCommand(
        f"{_HERE}.start:research", "Answer a question in a document whose claims are cited"
    ),
    "write": LazyCommand(f"{_HERE}.start:write", "Write a text within its limits; change no code"),
    "analyse": LazyCommand(f"{_HERE}.start:analyse", "Say what data shows, with numbers that hold"),
    "curate": LazyCommand(f"{_HERE}.start:curate", "Bring data into a form that is checked"),
    "sources": LazyCommand(
        f"{_HERE}.sources:sources", "Record pages that documents may cite, with their hash"
    ),
    "fix": LazyCommand(f"{_HERE}.start:fix", "Fix one violation that a check has found"),
    "phase": LazyCommand(
        f"{_HERE}.phase:phase", "Lead an objective through ten phases whose documents are files here"
    ),
    "check": LazyCommand(
        f"{_HERE}.check:check",
        "Check the code here: style, architecture, patterns, security and quality",
    ),
    "violations": LazyCommand(
        f"{_HERE}.violations:violations", "List and show what checks have found, and decide what may stand"
    ),
    "status": LazyCommand(
        f"{_HERE}.status:status", "List the tasks of this repository or of all, or show one"
    ),
    "dashboard": LazyCommand(
        f"{_HERE}.dashboard:dashboard", "Serve a page of all tasks, to watch them and to answer (also: ui)"
    ),
    "ui": LazyCommand(f"{_HERE}.dashboard:dashboard", ""),
    "logs": LazyCommand(f"{_HERE}.logs:logs", "Print what happened in a task, or follow it"),
    "continue": LazyCommand(f"{_HERE}.resume:resume", "Continue a task that was stopped (also: resume)"),
    "worker": LazyCommand(f"{_HERE}.worker:worker", "Run tasks from a Temporal server"),
    "server": LazyCommand(f"{_HERE}.server:server", "Run a Temporal server for this machine"),
    "resume": LazyCommand(f"{_HERE}.resume:resume", ""),
    "abort": LazyCommand(f"{_HERE}.abort:abort", "End a task and keep its work"),
    "inbox": LazyCommand(f"{_HERE}.inbox:inbox", "Show and answer the open questions of all repositories"),
    "escalations": LazyCommand(f"{_HERE}.escalations:escalations", "List and show the open questions"),
    "resolve": LazyCommand(f"{_HERE}.resolve:resolve", "Answer a question and continue its task"),
    "approve": LazyCommand(f"{_HERE}.decide:approve", "Approve what a task presents, and let it go on"),
    "feedback": LazyCommand(f"{_HERE}.decide:feedback", "Ask for changes in what a task presents"),
    "reject": LazyCommand(f"{_HERE}.decide:reject", "Reject what a task presents: it goes back one stage"),
    "artifacts": LazyCommand(
        f"{_HERE}.artifacts:artifacts", "List, show and export the documents that a task made"
    ),
    "diff": LazyCommand(f"{_HERE}.diff:diff", "Show what a task has changed"),
    "merge": LazyCommand(
        f"{_HERE}.merge:merge", "Merge a delivered branch into yours, if its tests pass there"
    ),
    "discard": LazyCommand(f"{_HERE}.discard:discard", "Remove a task with its branch, worktree and record"),
    "trees": LazyCommand(
        f"{_HERE}.trees:trees", "List the directories that tasks work in, and remove old ones"
    ),
    "inspect": LazyCommand(f"{_HERE}.inspect:inspect", "Show the steps of a task: context, reply and state"),
    "context": LazyCommand(f"{_HERE}.context:context", "Show what the model sees in a step, and why"),
    "verify": LazyCommand(f"{_HERE}.verify:verify", "Check the proof of a task, offline"),
    "report": LazyCommand(
        f"{_HERE}.report:report", "Print what a task proved, as Markdown for a pull request"
    ),
    "audit": LazyCommand(
        f"{_HERE}.audit:audit", "Write down who decided what in a task, and why, for a reviewer"
    ),
    "trace": LazyCommand(
        f"{_HERE}.trace:trace", "Show where the time of a task went, or send it to a collector"
    ),
    "replay": LazyCommand(f"{_HERE}.replay:replay", "Play a task again with its recorded replies"),
    "fork": LazyCommand(f"{_HERE}.fork:fork", "Go on from the middle of a task with one thing changed"),
    "metrics": LazyCommand(f"{_HERE}.metrics:metrics", "Show how well your tasks go, over all repositories"),
    "defect": LazyCommand(f"{_HERE}.defect:defect", "Note a fault in what a task delivered"),
    "compare": LazyCommand(f"{_HERE}.compare:compare", "Show two tasks beside each other"),
    "pipelines": LazyCommand(
        f"{_HERE}.pipelines:pipelines", "List, draw and check pipelines and their files"
    ),
    "permissions": LazyCommand(
        f"{_HERE}.permissions:permissions",
        "List, add and revoke grants, and explain whether a command would be allowed",
    ),
    "models": LazyCommand(
        f"{_HERE}.models:models", "List and test models, and explain which one would be used"
    ),
    "cost": LazyCommand(
        f"{_HERE}.cost:cost", "Show what tasks have used and cost, by stage, role, model or day"
    ),
    "auth": LazyCommand(f"{_HERE}.auth:auth", "Store, remove and list your keys for model providers"),
    "keys": LazyCommand(
        f"{_HERE}.keys:keys",
        "Create the key that signs your deliveries, and choose whose signatures to trust",
    ),
    "config": LazyCommand(f"{_HERE}.config:config", "Show, find and edit your own settings"),
    "repo": LazyCommand(
        f"{_HERE}.repo:repo", "Name repositories, so that commands work on them from anywhere"
    ),
    "plugin": LazyCommand(
        f"{_HERE}.plugin:plugin", "Use the ten-phase workflow in Claude Code: commands, agents and hooks"
    ),
    "clean": LazyCommand(f"{_HERE}.clean:clean", "Remove old environments and checkouts that nobody needs"),
    "completion": LazyCommand(
        f"{_HERE}.completion:completion", "Print the script that completes commands and tasks in your shell"
    ),
    "doctor": LazyCommand(f"{_HERE}.doctor:doctor", "Check this machine and test the sandbox"),
    "sandbox": LazyCommand(
        f"{_HERE}.sandbox:sandbox", "Run a command in the sandbox that agents' commands run in"
    ),
    "redact": LazyCommand(f"{_HERE}.redact:redact", "Copy text without its secrets"),
    "demo": LazyCommand(
        f"{_HERE}.demo:demo",
        "Watch one request become a verified branch; no key needed, only the package index",
    ),
}

cli = LazyGroup(
    COMMANDS,
    help="Turn a request on a git repository into a verified branch with its proof, or one precise question.",
    epilog="""\b
Examples:
  agentforge demo
  agentforge setup
  agentforge init
  agentforge start "Add a --version flag" --model openai:NAME
  agentforge design "A plugin system" --model openai:NAME
  agentforge status

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
        _say(error.format_message())
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
        with cli.make_context("agentforge", _without_banner(args)) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as ended:  # after --help or --version
        return ended.exit_code
    return code if isinstance(code, int) else 0


def _without_banner(args: Sequence[str]) -> list[str]:
    """Scripts of the wild say `--no-banner` to every command; there is none to leave out."""
    end = args.index("--") if "--" in args else len(args)
    return [word for at, word in enumerate(args) if word != "--no-banner" or at > end]


def _tell(failure: _Failure, words: Sequence[str]) -> int:
    """Says what went wrong on the error stream; with `--json` also as the document that a program reads."""
    if failure.code == "interrupted":
        _say(f"{failure.sentence} {failure.next_step}".rstrip())
    else:
        opening = "" if failure.code == "internal" else "error: "
        _say(f"{opening}{failure.sentence}", *([failure.next_step] if failure.next_step else []))
    asked = words[: words.index("--")] if "--" in words else words
    if "--json" in asked:
        from agentforge.surfaces.cli.printing import print_json, safe

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
