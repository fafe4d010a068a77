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
  agentforge doctor --json

Each sandbox is tested by a program inside that tries to get out; each provider has 1.5 seconds to
answer. Exit code 1: something that every task needs is missing, such as a model that can answer."""
)
@json_option
def doctor(*, as_data: bool) -> int:
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
        _show(found)
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


def _show(machine: "MachineReport") -> None:
    for check in machine.checks:
        say(paragraph(f"{check.state:<8}{check.name:<15}", check.detail))
        if check.next_step and check.state != "ok":
            say(paragraph(f"{'':<23}", check.next_step))
    for rung in machine.walls:
        if rung.walls is None:
            continue
        say(f"\nSandbox {rung.name}, tested just now:")
        for each in rung.tried:
            say(paragraph(f"  {'held' if each.held else 'BROKEN':<8}{each.name:<13}", each.detail))
        say("  It promises:")
        for name, words in rung.walls.guarantee().items():
            say(paragraph(f"  {'':<8}{name:<13}", words))
