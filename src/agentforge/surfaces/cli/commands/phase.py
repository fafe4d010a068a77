"""`phase`: the ten-phase workflow whose state is files of the checkout, the one group that writes there."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option

if TYPE_CHECKING:
    from agentforge.app.record.open_tasks import OpenTask
    from agentforge.app.workflow.phasing import Checkout, Flag, PhaseResult
    from agentforge.core.state import State
    from agentforge.phases.state import WorkflowState

F = TypeVar("F", bound=Callable[..., int])

_WAITING = 3
_WRITES = """It writes only below .claude/forge, docs/forge and workflows, never through a link, and commits
nothing."""


@click.group(
    epilog=f"""\b
Examples:
  agentforge phase start "Let users log in with OAuth2"
  agentforge phase brainstorm
  agentforge phase continue
  agentforge phase status
  agentforge phase debate --status

The phases are init, brainstorm, research, design, plan, test, build, validate, review and learn. Each has a
document in docs/forge/phases that you or an agent fill in; `agentforge phase continue` ends the phase when
nothing is missing. {_WRITES}"""
)
def phase() -> None:
    """Take an objective through ten phases, whose documents are files in this repository."""


def _debate_flags(command: F) -> F:
    """`--debate` and `--no-debate`, which every phase has."""
    command = click.option(
        "--no-debate", "-D", is_flag=True, help="Hold no debate; one that was due goes on record as skipped."
    )(command)
    return click.option("--debate", "-d", is_flag=True, help="Hold a debate, whatever is configured.")(
        command
    )


def _flags(*, debate: bool, no_debate: bool) -> "frozenset[Flag]":
    found: set[Flag] = set()
    if debate:
        found.add("debate")
    if no_debate:
        found.add("no_debate")
    return frozenset(found)


@phase.command(
    epilog=f"""\b
Examples:
  agentforge phase start "Let users log in with OAuth2"
  agentforge phase start "Let users log in with OAuth2" --issue PROJ-123

{_WRITES}"""
)
@click.argument("objective")
@click.option("--issue", metavar="ID", help="The issue that this is about, in your tracker.")
@json_option
@repo_option
def start(*, objective: str, issue: str | None, as_data: bool) -> int:
    """Begin a workflow, and write its first files."""
    from agentforge.app.workflow.phasing import start_workflow

    return _show(start_workflow(_checkout(), objective, issue or ""), as_data=as_data)


_EXAMPLES = f"""\b
Examples:
  agentforge phase brainstorm
  agentforge phase brainstorm --debate
  agentforge phase brainstorm --no-debate --json

Enters the phase, or continues in it. {_WRITES}"""


def _declare(name: str, help_text: str) -> click.Command:
    """The command of one phase."""

    @click.command(
        name,
        help=help_text,
        epilog=_EXAMPLES.replace("brainstorm", name),
    )
    @click.argument("objective", required=False, default="")
    @_debate_flags
    @json_option
    @repo_option
    def command(*, objective: str, debate: bool, no_debate: bool, as_data: bool) -> int:
        from agentforge.app.workflow.phasing import run_phase

        flags = _flags(debate=debate, no_debate=no_debate)
        return _show(run_phase(_checkout(), name, objective, flags), as_data=as_data)  # type: ignore[arg-type]  # one of the nine

    return command


for _name, _help in (
    ("brainstorm", "Find three or more options, and debate them."),
    ("research", "Check what was assumed."),
    ("design", "Design the system, then its user interface."),
    ("plan", "Split the work into items that can each be proved."),
    ("test", "Say how each item will be proved."),
    ("review", "Look at quality, security and what was not proved."),
    ("learn", "Write down what the next workflow should know."),
):
    phase.add_command(_declare(_name, _help))


@phase.command(
    epilog=f"""\b
Examples:
  agentforge phase build --model openai:NAME
  agentforge phase build docs/forge/plan.md --budget 5

One task for each open item of the plan, in order, each on the branch of the one before; the log in
docs/forge/phases/build.md has their evidence. A command that was stopped continues with the tasks it has.
{_WRITES}"""
)
@click.argument("plan", metavar="[PLAN]", required=False, default="")
@_debate_flags
@click.option("--model", metavar="SPEC", help="PROVIDER:NAME for every call; your tiers by default.")
@click.option("--lane", type=click.Choice(["hotfix", "small", "full"]), help="How many stages each task has.")
@click.option("--budget", metavar="USD", help="The most that each task may cost in dollars, such as 2.50.")
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "bubblewrap", "landlock", "container", "none"]),
    help="The sandbox that code runs in.",
)
@click.option("--yes", is_flag=True, help="Allow whatever would need an answer; critical actions are denied.")
@json_option
@repo_option
def build(*, plan: str, debate: bool, no_debate: bool, as_data: bool, yes: bool, **said: str | None) -> int:
    """Build the open items of the plan, each as a verified branch."""
    from agentforge.app.intake.starting import StartOptions
    from agentforge.app.workflow.building import build_plan
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.flags import at_terminal, permissions_of
    from agentforge.surfaces.cli.pages.phase import build_page, build_record
    from agentforge.surfaces.cli.printing import print_json

    options = StartOptions(
        "",
        model=said["model"],
        lane=said["lane"],
        budget_usd=said["budget"],
        sandbox=said["sandbox"],
        permissions=permissions_of((), strict=False, non_interactive=False, yes=yes),
        at_terminal=at_terminal(),
    )
    found = build_plan(
        _checkout(),
        Site.open(here()),
        options,
        lambda task: _drive(task, as_data=as_data),
        plan=plan,
        flags=_flags(debate=debate, no_debate=no_debate),
        tell=lambda words: say(words, err=as_data),
    )
    if as_data:
        print_json(build_record(found))
    else:
        say(build_page(found))
    if found.end == "failed":
        return 1
    return _WAITING if found.end == "waiting" else _code(found.result)


def _drive(task: "OpenTask", *, as_data: bool) -> "State":
    """A task of the plan, driven in front of a person."""
    from functools import partial

    from agentforge.app.drivers.driving import resume
    from agentforge.surfaces.cli.asking import ask_here
    from agentforge.surfaces.cli.flags import at_terminal
    from agentforge.surfaces.cli.interrupt import naming
    from agentforge.surfaces.cli.pages.screen import ScreenWatcher, open_screen

    with open_screen(json=as_data) as screen, naming(task.task_id):
        screen.line(task.task_id, "heading")
        ask = partial(ask_here, screen, task) if not as_data and at_terminal() else None
        return resume(task, ScreenWatcher(screen), ask=ask)


@phase.command(
    epilog=f"""\b
Examples:
  agentforge phase validate
  agentforge phase validate --json

The evidence comes from the tasks that built the plan; what none of them proved is left for you to fill in.
{_WRITES}"""
)
@_debate_flags
@json_option
@repo_option
def validate(*, debate: bool, no_debate: bool, as_data: bool) -> int:
    """Gather the evidence of every requirement from what was built."""
    from agentforge.app.workflow.building import validate_plan
    from agentforge.store.site import Site

    flags = _flags(debate=debate, no_debate=no_debate)
    return _show(validate_plan(_checkout(), Site.open(here()), flags), as_data=as_data)


@phase.command(
    "continue",
    epilog=f"""\b
Examples:
  agentforge phase continue
  agentforge phase continue --no-debate
  agentforge phase continue --repair

It asks nothing: the same files lead to the same action. Exit code 3: something is still to be
written. {_WRITES}""",
)
@_debate_flags
@click.option("--repair", is_flag=True, help="Fix a state file that cannot be read, from the documents.")
@json_option
@repo_option
def go_on(*, debate: bool, no_debate: bool, repair: bool, as_data: bool) -> int:
    """Go on from where the files say the workflow is."""
    from agentforge.app.workflow.phasing import continue_workflow

    flags = _flags(debate=debate, no_debate=no_debate)
    return _show(continue_workflow(_checkout(), flags, repair=repair), as_data=as_data)


@phase.command(
    epilog="""\b
Examples:
  agentforge phase status
  agentforge phase status --json

Exit codes of this command alone: 0 complete, 1 in progress, 2 blocked by a debate, 3 no workflow or one that
cannot be read, 64 usage."""
)
@json_option
@repo_option
def status(*, as_data: bool) -> int:
    """Show where the workflow is and what it waits for."""
    from agentforge.app.workflow.phasing import Checkout, workflow_status
    from agentforge.surfaces.cli.pages.phase import STATUS_CODES, status_page
    from agentforge.surfaces.cli.printing import print_json

    found = workflow_status(Checkout.open(here(), command=_command()))
    if as_data:
        print_json(found.record())
    else:
        say(status_page(found))
    return STATUS_CODES[found.standing]


@phase.command(
    epilog="""\b
Examples:
  agentforge phase save"""
)
@json_option
@repo_option
def save(*, as_data: bool) -> int:
    """Keep a copy of the state in .claude/forge/snapshots."""
    from agentforge.app.workflow.phasing import save_workflow
    from agentforge.surfaces.cli.printing import print_json

    path = save_workflow(_checkout())
    if as_data:
        print_json({"snapshot": path})
    else:
        say(f"Saved as {path}.")
    return 0


@phase.command(
    epilog="""\b
Examples:
  agentforge phase debate --status
  agentforge phase debate --status --id brainstorm-20300131-101500
  agentforge phase debate --plan --topic "Which database?"
  agentforge phase debate --regenerate --id brainstorm-20300131-101500
  agentforge phase debate --run --model openai:NAME

A debate is over when its five files are complete: debate-plan.md, advocate.md, skeptic.md, operator.md and
synthesis.md. Who writes them does not matter."""
)
@click.option("--status", "action", flag_value="status", default="status", help="Show what is missing.")
@click.option("--plan", "action", flag_value="plan", help="Write the plan of a debate for this phase.")
@click.option(
    "--regenerate", "action", flag_value="regenerate", help="Write the plan again from the documents."
)
@click.option("--run", "action", flag_value="run", help="Let your own models argue, then judge their files.")
@click.option("--id", "debate_id", metavar="ID", help="The debate; the one of this phase by default.")
@click.option("--topic", metavar="TEXT", help="With --plan or --regenerate: what is to be decided.")
@click.option("--model", metavar="SPEC", help="With --run: PROVIDER:NAME for every role.")
@json_option
@repo_option
def debate(*, action: str, debate_id: str | None, topic: str | None, model: str | None, as_data: bool) -> int:
    """Plan or run a debate, or show what its gate still needs."""
    from agentforge.app.workflow.phasing import judge_debate_of, plan_debate, regenerate_debate
    from agentforge.surfaces.cli.pages.phase import debate_page
    from agentforge.surfaces.cli.printing import print_json

    _refuse_what_has_no_effect(action, {"--id": debate_id, "--topic": topic, "--model": model})
    if action == "plan":
        return _show(plan_debate(_checkout(), topic or ""), as_data=as_data)
    if action == "regenerate":
        return _show(regenerate_debate(_checkout(), debate_id or "", topic or ""), as_data=as_data)
    if action == "run":
        _argue(debate_id or "", model, as_data=as_data)
    name, verdict = judge_debate_of(_checkout(), debate_id or "")
    if as_data:
        print_json({"debate_id": name, **verdict.record()})
    else:
        say(debate_page(name, verdict))
    return 0 if verdict.complete else _WAITING


_OPTIONS_OF = {
    "status": {"--id"},
    "plan": {"--topic"},
    "regenerate": {"--id", "--topic"},
    "run": {"--id", "--model"},
}


def _refuse_what_has_no_effect(action: str, said: dict[str, str | None]) -> None:
    from agentforge.core.errors import UsageError

    for option, value in said.items():
        if value is not None and option not in _OPTIONS_OF[action]:
            belongs = [f"`--{other}`" for other, options in _OPTIONS_OF.items() if option in options]
            reason = "A new debate gets its id when it is planned. " if option == "--id" else ""
            raise UsageError(
                f"{option} has no effect with `--{action}`.",
                f"{reason}Leave it out, or use it with {' or '.join(belongs)}.",
            )


@phase.command(
    epilog="""\b
Examples:
  agentforge phase check
  agentforge phase check --allow-commands
  agentforge phase check --json

A criterion is watched if its `Detection` has one of these forms: `date 2030-01-31`, `file PATH`,
`check ID`, `metric NAME over NUMBER`, `test PATH::NAME`, or `command WORDS`, which runs in the sandbox once
you agreed to it. Watch the others yourself. A criterion that is met reopens its debate; the exit code is
then 3."""
)
@click.option(
    "--allow-commands", is_flag=True, help="Agree to the commands in the criteria, as they are now."
)
@json_option
@repo_option
def check(*, allow_commands: bool, as_data: bool) -> int:
    """Check the abort criteria of every decision in force."""
    from agentforge.app.workflow.criteria import check_switches
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages.phase import switches_page, switches_record
    from agentforge.surfaces.cli.printing import print_json

    found = check_switches(_checkout(), Site.open(here()), agree=allow_commands)
    if as_data:
        print_json(switches_record(found))
    else:
        say(switches_page(found))
    return _WAITING if found.fired else 0


@phase.command(
    epilog="""\b
Examples:
  agentforge phase log
  agentforge phase log --json

The files are the truth, and this is only a log of them: .claude/forge/log.jsonl may be deleted. Exit code 1
says that a line was changed."""
)
@json_option
@repo_option
def log(*, as_data: bool) -> int:
    """Show what each command changed, and what was changed since."""
    from agentforge.app.workflow.log import read_logged
    from agentforge.app.workflow.phasing import Checkout
    from agentforge.surfaces.cli.pages.phase import log_page, log_record
    from agentforge.surfaces.cli.printing import print_json

    found = read_logged(Checkout.open(here()).top)
    if as_data:
        print_json(log_record(found))
    else:
        say(log_page(found))
    return 1 if found.log.broken else 0


def _command() -> str:
    """The command that runs, as the log calls it."""
    return click.get_current_context().command_path


def _argue(debate_id: str, model: str | None, *, as_data: bool) -> None:
    """A debate argued by our own models, in front of a person."""
    from agentforge.app.workflow.debates import argue_debate
    from agentforge.surfaces.cli.pages.screen import ScreenWatcher, open_screen

    with open_screen(json=as_data) as screen:
        argue_debate(_checkout(), debate_id, model, ScreenWatcher(screen))


def _checkout() -> "Checkout":
    """The checkout here. Under AO its sessions' files are fetched first, and AO is told of every state."""
    import os

    from agentforge.app.workflow.phasing import Checkout
    from agentforge.app.workflow.under_ao import fetch_role_files, tell_ao

    def on_change(_top: Path, state: "WorkflowState") -> None:
        if note := tell_ao(state, os.environ):
            say(note, err=True)

    checkout = Checkout.open(here(), on_change, command=_command())
    for each in fetch_role_files(checkout.top, os.environ):
        say(f"{each.name} was fetched from the session {each.session}.", err=True)
    return checkout


def _show(result: "PhaseResult", *, as_data: bool) -> int:
    import os

    from agentforge.app.workflow.under_ao import plan_sessions
    from agentforge.surfaces.cli.pages.phase import result_page, result_record
    from agentforge.surfaces.cli.pages.spawn import spawn_page, spawn_record
    from agentforge.surfaces.cli.printing import print_json

    plan = plan_sessions(result.top, result.state, os.environ)
    if as_data:
        print_json({**result_record(result), **(spawn_record(plan) if plan else {})})
    else:
        say(result_page(result) + (spawn_page(plan) if plan else ""))
    return _code(result)


def _code(result: "PhaseResult") -> int:
    return _WAITING if result.advance.action.startswith(("waits", "planned")) else 0
