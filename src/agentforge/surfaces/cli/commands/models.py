"""`models`: which models do which work, whether they answer, and which one a role would use."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.core.pipeline import Tier

USUAL_TOKENS = 24_000
"""A full context and a long reply."""
_TIERS = ("reasoning", "generation", "summarization", "classification")


@click.group(
    epilog="""\b
Examples:
  agentforge models list
  agentforge models test
  agentforge models test ollama:qwen2.5-coder:7b
  agentforge models explain software_architect

Each role uses a tier; the models of each tier are listed under `tiers:` in ~/.agentforge/config.yaml."""
)
def models() -> None:
    """List and test models, and explain which one would be used."""


@models.command(
    "list",
    epilog="""\b
Examples:
  agentforge models list
  agentforge models list --json""",
)
@json_option
def list_(*, as_data: bool) -> int:
    """List the tiers with their models, and the providers. Asks servers on this machine for their models;
    sends nothing to any other machine.
    """
    from dataclasses import asdict

    from agentforge.app.models.listed import my_models, no_model, provider_states, tier_rows
    from agentforge.surfaces.cli.pages.models import model_cells, model_fields, provider_cells
    from agentforge.surfaces.cli.printing import print_json, table

    config = my_models()
    rows = tier_rows(config)
    providers = provider_states(config)
    if as_data:
        tiers = {
            tier: {"from": config.tiers.source[tier], "models": [*map(model_fields, found)]}
            for tier, found in rows.items()
        }
        print_json({"tiers": tiers, "providers": [asdict(each) for each in providers]})
        return 0
    if any(rows.values()):
        spelled: list[tuple[str, ...]] = []
        for tier, found in rows.items():
            if lender := config.tiers.lender.get(tier):
                spelled.append((tier, f"as {lender}", "", "", "", ""))
            else:
                spelled += [(tier, *model_cells(row)) for row in found]
        header = ("tier", "model", "state", "reads", "$ per million in / out", "usable replies")
        say(table(header, spelled))
    else:
        say(no_model(config))
    say()
    say(table(("provider", "address", "key", "state"), [provider_cells(each) for each in providers]))
    return 0


@models.command(
    "test",
    epilog="""\b
Examples:
  agentforge models test
  agentforge models test --tier reasoning
  agentforge models test anthropic:NAME --json

Each model gets one tiny request, which is billed like any other. Exit code 1: one of them cannot be used.""",
)
@click.argument("spec", required=False, metavar="[PROVIDER:MODEL]")
@click.option("--tier", type=click.Choice(_TIERS), help="Only the models of this tier.")
@json_option
def test(*, spec: str | None, tier: "Tier | None", as_data: bool) -> int:
    """Send one tiny request to every configured model, or only to the one you name."""
    from dataclasses import asdict, replace

    from agentforge.app.models.listed import my_models, no_model
    from agentforge.app.models.trial import try_model
    from agentforge.surfaces.cli.pages.models import trial_line
    from agentforge.surfaces.cli.printing import print_json

    config = replace(my_models(spec), timeout_s=60)
    specs = (spec,) if spec else config.tiers.models[tier] if tier else config.tiers.specs
    if not specs:
        say(no_model(config), err=True)
        return 1
    tried = []
    for each in specs:
        tried.append(try_model(config, each, lambda sentence: say(sentence, err=True)))
        if not as_data:
            say(trial_line(tried[-1]))
    if as_data:
        print_json([asdict(each) for each in tried])
    return 0 if all(each.ok for each in tried) else 1


@models.command(
    "explain",
    epilog="""\b
Examples:
  agentforge models explain software_developer
  agentforge models explain reasoning --mode offline-safe
  agentforge models explain reviewer --tokens 60000 --json""",
)
@click.argument("role")
@click.option("--mode", "mode_name", default="balanced", show_default=True, help="The mode it would run in.")
@click.option(
    "--tokens",
    type=click.IntRange(min=1),
    default=USUAL_TOKENS,
    show_default=True,
    help="Size of the request and its reply.",
)
@json_option
def explain(*, role: str, mode_name: str, tokens: int, as_data: bool) -> int:
    """Show which models ROLE can use, in order, and which one would be used now. ROLE can also be a tier.
    Nothing is sent.
    """
    from dataclasses import asdict

    from agentforge.app.models.listed import choose_model
    from agentforge.surfaces.cli.pages.models import candidate_state
    from agentforge.surfaces.cli.printing import print_json, print_text, table

    found = choose_model(role, mode_name, tokens)
    picked, why = found.picked, found.why
    if as_data:
        candidates = [{**asdict(item), "picked": item.asks == picked} for item in found.candidates]
        print_json(
            {
                "role": role,
                "tier": found.tier,
                "mode": found.mode,
                "picked": picked,
                "why": why,
                "candidates": candidates,
            }
        )
        return 0 if picked else 1
    asks = f"{role} asks for {found.tier}" if role != found.tier else found.tier
    print_text(f"{asks} (from {found.source})")
    if found.candidates:
        rows = [
            ("→" if item.asks == picked else "", str(at), item.spec, item.tier, candidate_state(item))
            for at, item in enumerate(found.candidates, 1)
        ]
        print_text(table(("", "#", "model", "tier", "state"), rows))
    print_text(f"used now: {picked}" + (f" ({why})" if why else "") if picked else f"used now: none. {why}")
    return 0 if picked else 1
