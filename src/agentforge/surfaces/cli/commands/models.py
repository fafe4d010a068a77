"""`models`: which models do which work, whether they answer, and who would be asked for a role."""

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.app.answering import Answering
    from agentforge.core.pipeline import Tier
    from agentforge.models.providers import Provider
    from agentforge.models.router import Candidate

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

A role names a tier. Which models a tier has, you write into config.yaml under `tiers:`."""
)
def models() -> None:
    """List the models, try them, and explain who would be asked."""


@models.command(
    "list",
    epilog="""\b
Examples:
  agentforge models list
  agentforge models list --json""",
)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def list_(*, as_data: bool) -> int:
    """List the tiers with their models, and the providers. Asks servers on this machine what they have; sends
    nothing elsewhere.
    """
    from agentforge.surfaces.cli.printing import print_json, table

    config = _config()
    router = config.router()
    rows = {
        tier: [_row(config, item) for item in router.explain(tier, 0) if item.tier == tier]
        for tier in _tiers()
    }
    providers = _providers(config)
    if as_data:
        tiers = {tier: {"from": config.tiers.source[tier], "models": found} for tier, found in rows.items()}
        print_json({"tiers": tiers, "providers": providers})
        return 0
    if any(rows.values()):
        borrowed: dict[str, list[tuple[str, ...]]] = {
            tier: [(tier, f"as {lender}", "", "", "", "")] for tier, lender in config.tiers.lender.items()
        }
        spelled = [
            line
            for tier, found in rows.items()
            for line in borrowed.get(tier) or [(tier, *_spelled(row)) for row in found]
        ]
        click.echo(
            table(("tier", "model", "state", "reads", "$ per million in / out", "usable replies"), spelled)
        )
    else:
        click.echo(_nothing(config))
    click.echo()
    click.echo(
        table(
            ("provider", "address", "key", "state"),
            [tuple(str(value) for value in row.values()) for row in providers],
        )
    )
    return 0


@models.command(
    "test",
    epilog="""\b
Examples:
  agentforge models test
  agentforge models test --tier reasoning
  agentforge models test anthropic:NAME --json

Each model gets one tiny request, which is paid for as any other. Exit code 1: one of them cannot be used.""",
)
@click.argument("spec", required=False, metavar="[PROVIDER:MODEL]")
@click.option("--tier", type=click.Choice(_TIERS), help="The models of this tier alone.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def test(*, spec: str | None, tier: "Tier | None", as_data: bool) -> int:
    """Send one tiny request to each configured model, or to the one that is named."""
    from dataclasses import asdict, replace

    from agentforge.app.model_trial import try_model
    from agentforge.surfaces.cli.printing import print_json

    config = replace(_config(spec), timeout_s=60)
    specs = (spec,) if spec else config.tiers.models[tier] if tier else config.tiers.specs
    if not specs:
        click.echo(_nothing(config), err=True)
        return 1
    tried = []
    for each in specs:
        tried.append(try_model(config, each, lambda sentence: click.echo(sentence, err=True)))
        if not as_data:
            click.echo(tried[-1].line())
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
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def explain(*, role: str, mode_name: str, tokens: int, as_data: bool) -> int:
    """Show which models ROLE could reach, in order, and who would be asked now. ROLE may be a tier, too.
    Nothing is sent.
    """
    from dataclasses import asdict, replace

    from agentforge.catalog.modes import mode_named
    from agentforge.models.base import ModelTrouble, Request
    from agentforge.surfaces.cli.printing import print_json, print_text, table

    mode = mode_named(mode_name)
    tier = _tier_of(role)
    config = _config()
    router = (replace(config, local_only=True) if mode.local_only else config).router()
    found = router.explain(tier, tokens)
    picked, why = None, ""
    try:
        chosen = router.pick(Request("explain", "explain", "", (), (), 0, tier=tier), tokens)
        picked, why = chosen.spec, chosen.why
    except ModelTrouble as trouble:
        why = trouble.user_sentence
    if as_data:
        candidates = [{**asdict(item), "picked": item.asks == picked} for item in found]
        print_json(
            {
                "role": role,
                "tier": tier,
                "mode": mode.name,
                "picked": picked,
                "why": why,
                "candidates": candidates,
            }
        )
        return 0 if picked else 1
    print_text(
        f"{role} asks for {tier} (from {router.tiers.source[tier]})"
        if role != tier
        else f"{tier} (from {router.tiers.source[tier]})"
    )
    if found:
        rows = [
            ("→" if item.asks == picked else "", str(at), item.spec, item.tier, _state(item))
            for at, item in enumerate(found, 1)
        ]
        print_text(table(("", "#", "model", "tier", "state"), rows))
    print_text(
        f"asked now: {picked}" + (f" ({why})" if why else "") if picked else f"asked now: nobody. {why}"
    )
    return 0 if picked else 1


def _config(model: str | None = None) -> "Answering":
    from agentforge.app.models_config import models_config
    from agentforge.store.site import home_path

    return models_config(home_path(), os.environ, model=model)


def _tiers() -> "tuple[Tier, ...]":
    from agentforge.core.pipeline import TIERS

    return tuple(reversed(TIERS))


def _tier_of(role: str) -> "Tier":
    from agentforge.app.models_config import committed_catalogue
    from agentforge.core.errors import UsageError
    from agentforge.models.tiers import is_tier

    if is_tier(role):
        return role
    catalog = committed_catalogue()
    names = catalog.names("agents")
    if role not in names:
        raise UsageError(
            f"There is no role {role!r}.", f"The roles are {', '.join(sorted(names))}; a tier will do, too."
        )
    return catalog.role(role).tier


def _row(config: "Answering", item: "Candidate") -> dict[str, object]:
    from agentforge.models.tiers import split
    from agentforge.models.windows import window_of

    provider = config.providers.get(split(item.asks)[0])
    name = split(item.asks)[1]
    prices = config.prices(provider, name) if provider else None
    good, calls = config.rates.get((item.tier, item.asks), (0, 0))
    return {
        "model": item.spec,
        "asks": item.asks,
        "usable": not item.skipped,
        "state": _state(item),
        "window": window_of(provider, name),
        "micro_usd_per_million": {"input": prices.input, "output": prices.output, "cached": prices.cached}
        if prices
        else None,
        "usable_replies": good,
        "calls": calls,
    }


def _spelled(row: dict[str, object]) -> tuple[str, ...]:
    from agentforge.surfaces.cli.pages.words import money
    from agentforge.system.visible import one_line

    price, window = row["micro_usd_per_million"], row["window"]
    cost = "not known"
    if isinstance(price, dict):
        cost = (
            f"{money(price['input'])} / {money(price['output'])}"
            if any(price.values())
            else "free: this machine"
        )
    reads = f"{window:,}" if isinstance(window, int) else "not known"
    replies = f"{row['usable_replies']} of {row['calls']}" if row["calls"] else "no call yet"
    return str(row["model"]), one_line(str(row["state"]), 100), reads, cost, replies


def _state(item: "Candidate") -> str:
    from agentforge.system.visible import one_line

    if item.skipped:
        return one_line(f"skipped: {item.skipped}")
    return one_line(item.note) if item.note else "ready"


def _providers(config: "Answering") -> list[dict[str, object]]:
    from agentforge.models.local import installed_all, lists

    seen = installed_all([provider for provider in config.providers.values() if lists(provider)], config.key)
    rows: list[dict[str, object]] = []
    for name, provider in config.providers.items():
        found = seen.get(name)
        state = "not asked; `models test` does" if found is None else found.trouble or _installed(found.names)
        rows.append({"name": name, "host": provider.host, "key": _key(config, provider), "state": state})
    return rows


def _installed(names: tuple[str, ...]) -> str:
    more = ", …" if len(names) > 8 else ""
    return f"has {', '.join(names[:8])}{more}" if names else "has no model"


def _key(config: "Answering", provider: "Provider") -> str:
    found = config.keys.find(provider.name, provider.key_env)
    if found is None:
        return f"{provider.key_env} is not set" if provider.needs_key else "none needed"
    return f"from {provider.key_env}" if found.source == "environment" else f"from the {found.source}"


def _nothing(config: "Answering") -> str:
    from agentforge.models.local import propose
    from agentforge.models.router import CONFIGURE

    return f"No model is configured. {propose(config.providers.values()) or CONFIGURE}"
