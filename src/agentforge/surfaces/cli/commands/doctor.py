"""`doctor`: what this machine has of what is needed, and what its walls hold, tried at this moment."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, paragraph, say

if TYPE_CHECKING:
    from agentforge.app.models.providers import Models
    from agentforge.app.setup.machine import MachineReport, TriedWalls


@click.command(
    epilog="""\b
Examples:
  agentforge doctor
  agentforge doctor --detail
  agentforge doctor --json

Each sandbox is tested by a program inside that tries to get out; --detail shows every attempt, and what
the sandbox promises. Each provider has 1.5 seconds to answer. Exit code 1: something that every task needs
is missing, such as a model that can answer."""
)
@click.option("--detail", is_flag=True, help="Show every test of every sandbox, and what it promises.")
@json_option
def doctor(*, detail: bool, as_data: bool) -> int:
    """Check this machine and test the sandbox."""
    from dataclasses import asdict

    from agentforge.app.setup.machine import check_machine
    from agentforge.surfaces.cli.printing import print_json

    found = check_machine()
    if as_data:
        print_json(
            {
                "ok": found.ok,
                "checks": [asdict(check) for check in found.checks],
                "models": _models(found.models) if found.models else {},
                "sandbox": _walls(found.used) if found.used else None,
                "rungs": [_walls(each) for each in found.walls],
            }
        )
    else:
        _show(found, detail=detail)
    return 0 if found.ok else 1


def _walls(tried: "TriedWalls") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "name": tried.name,
        "works": tried.walls is not None,
        "guarantee": tried.walls.guarantee() if tried.walls else {},
        "probes": [asdict(each) for each in tried.tried],
    }


def _models(found: "Models") -> dict[str, object]:
    providers = [
        {"provider": each.provider.name, "state": each.state, "detail": each.detail} for each in found.probes
    ]
    tiers = {tier: list(specs) for tier, specs in found.tiers.items()}
    return {"can_answer": found.can_answer, "providers": providers, "tiers": tiers}


def _show(machine: "MachineReport", *, detail: bool) -> None:
    for check in machine.checks:
        say(paragraph(f"{check.state:<8}{check.name.replace('language_', 'lang. '):<15}", check.detail))
        if check.next_step and check.state != "ok":
            say(paragraph(f"{'':<23}", check.next_step))
    if not detail:
        say("\nSandboxes, tested just now (--detail shows how):")
    for rung in machine.walls:
        if rung.walls is None:
            continue
        if not detail:
            broken = [each for each in rung.tried if not each.held]
            held = f"held {len(rung.tried) - len(broken)} of {len(rung.tried)} attempts to get out"
            say(f"{'BROKEN' if broken else 'ok':<8}{rung.name:<15}{held}")
            for each in broken:
                say(paragraph(f"{'':<8}{each.name:<15}", each.detail))
            continue
        say(f"\nSandbox {rung.name}, tested just now:")
        for each in rung.tried:
            say(paragraph(f"  {'held' if each.held else 'BROKEN':<8}{each.name:<13}", each.detail))
        say("  It promises:")
        for name, words in rung.walls.guarantee().items():
            say(paragraph(f"  {'':<8}{name:<13}", words))
