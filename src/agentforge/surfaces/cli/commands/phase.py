"""`phase`: the ten-phase workflow whose state is files of the checkout, the one group that writes there."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option

if TYPE_CHECKING:
    from agentforge.app.phasing import Checkout, PhaseResult
    from agentforge.gates.debate_trigger import Flag

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
    """Lead an objective through ten phases whose documents are files here."""


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
    """Begin a workflow: its state, its registries and the first handoff."""
    from agentforge.app.phasing import start_workflow

    return _show(start_workflow(_checkout(), objective, issue or ""), as_data=as_data)


def _declare(name: str, help_text: str) -> click.Command:
    """The command of one phase."""

    @click.command(
        name,
        help=help_text,
        epilog=f"""\b
Examples:
  agentforge phase {name}
  agentforge phase {name} --debate
  agentforge phase {name} --no-debate --json

Enters the phase, or goes on in it. {_WRITES}""",
    )
    @click.argument("objective", required=False, default="")
    @_debate_flags
    @json_option
    @repo_option
    def command(*, objective: str, debate: bool, no_debate: bool, as_data: bool) -> int:
        from agentforge.app.phasing import run_phase

        flags = _flags(debate=debate, no_debate=no_debate)
        return _show(run_phase(_checkout(), name, objective, flags), as_data=as_data)  # type: ignore[arg-type]  # one of the nine

    return command


for _name, _help in (
    ("brainstorm", "Find three options or more, and have them argued about."),
    ("research", "Check what was assumed."),
    ("design", "Design the system, then what people see."),
    ("plan", "Split the work into items that can each be proved."),
    ("test", "Say how each item will be proved."),
    ("review", "Look at quality, security and what was not proved."),
    ("learn", "Write down what the next workflow should know."),
):
    phase.add_command(_declare(_name, _help))


@phase.command(
    "continue",
    epilog=f"""\b
Examples:
  agentforge phase continue
  agentforge phase continue --no-debate
  agentforge phase continue --repair

It asks nothing: the same files lead to the same action. Exit code 3 says that something is still to be
written. {_WRITES}""",
)
@_debate_flags
@click.option("--repair", is_flag=True, help="Mend a state file that cannot be read, from the documents.")
@json_option
@repo_option
def go_on(*, debate: bool, no_debate: bool, repair: bool, as_data: bool) -> int:
    """Go on from where the files say the workflow is."""
    from agentforge.app.phasing import continue_workflow

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
    from agentforge.app.phasing import Checkout, workflow_status
    from agentforge.surfaces.cli.pages.phase import STATUS_CODES, status_page
    from agentforge.surfaces.cli.printing import print_json

    found = workflow_status(Checkout.open(here()))
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
    from agentforge.app.phasing import save_workflow
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

A debate is over when its five files are complete: debate-plan.md, advocate.md, skeptic.md, operator.md and
synthesis.md. Who writes them does not matter."""
)
@click.option("--status", "action", flag_value="status", default="status", help="Say what is missing.")
@click.option("--plan", "action", flag_value="plan", help="Write the plan of a debate for this phase.")
@click.option(
    "--regenerate", "action", flag_value="regenerate", help="Write the plan again from the documents."
)
@click.option("--id", "debate_id", metavar="ID", help="The debate; the one of this phase by default.")
@click.option("--topic", metavar="TEXT", help="With --plan or --regenerate: what is to be decided.")
@json_option
@repo_option
def debate(*, action: str, debate_id: str | None, topic: str | None, as_data: bool) -> int:
    """Plan a debate, or say what its gate still misses."""
    from agentforge.app.phasing import judge_debate_of, plan_debate, regenerate_debate
    from agentforge.surfaces.cli.pages.phase import debate_page
    from agentforge.surfaces.cli.printing import print_json

    if action == "plan":
        return _show(plan_debate(_checkout(), topic or ""), as_data=as_data)
    if action == "regenerate":
        return _show(regenerate_debate(_checkout(), debate_id or "", topic or ""), as_data=as_data)
    name, verdict = judge_debate_of(_checkout(), debate_id or "")
    if as_data:
        print_json({"debate_id": name, **verdict.record()})
    else:
        say(debate_page(name, verdict))
    return 0 if verdict.complete else _WAITING


def _checkout() -> "Checkout":
    """The checkout here. Under AO its sessions' files are fetched first, and AO is told of every state."""
    import os

    from agentforge.app.phasing import Checkout
    from agentforge.app.under_ao import fetch_role_files, tell_ao

    checkout = Checkout.open(here(), tell_ao)
    for each in fetch_role_files(checkout.top, os.environ):
        say(f"{each.name} was fetched from the session {each.session}.", err=True)
    return checkout


def _show(result: "PhaseResult", *, as_data: bool) -> int:
    import os

    from agentforge.app.under_ao import plan_sessions
    from agentforge.surfaces.cli.pages.phase import result_page, result_record
    from agentforge.surfaces.cli.pages.spawn import spawn_page, spawn_record
    from agentforge.surfaces.cli.printing import print_json

    plan = plan_sessions(result.top, result.state, os.environ)
    if as_data:
        print_json({**result_record(result), **(spawn_record(plan) if plan else {})})
    else:
        say(result_page(result) + (spawn_page(plan) if plan else ""))
    return _WAITING if result.advance.action.startswith(("waits", "planned")) else 0
