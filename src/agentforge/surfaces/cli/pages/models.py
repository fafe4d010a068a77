"""Models and what became of trying them, for a person and for programs."""

from collections.abc import Mapping

from agentforge.app.models.listed import ModelRow, ProviderState
from agentforge.app.models.trial import ModelTrial
from agentforge.models.router import Candidate
from agentforge.sizing.forecast import Forecast, dollars
from agentforge.surfaces.cli.pages.words import money
from agentforge.surfaces.cli.printing import table
from agentforge.system.visible import brief

_SHOWN = 8
"""How many models of a server are named in a table."""


def model_fields(row: ModelRow) -> dict[str, object]:
    """A model of a tier, for a program."""
    return {
        "model": row.candidate.spec,
        "asks": row.candidate.asks,
        "usable": not row.candidate.skipped,
        "state": "skipped" if row.candidate.skipped else "replaced" if row.candidate.note else "ready",
        "why": brief(row.candidate.skipped or row.candidate.note) or None,
        "window": row.window,
        "micro_usd_per_million": row.prices,
        "usable_replies": row.usable_replies,
        "calls": row.calls,
    }


def model_cells(row: ModelRow) -> tuple[str, ...]:
    """A model of a tier, for a table."""
    cost = "not known"
    if row.prices is not None:
        dear = any(row.prices.values())
        cost = (
            f"{money(row.prices['input'])} / {money(row.prices['output'])}" if dear else "free: this machine"
        )
    reads = f"{row.window:,}" if row.window is not None else "not known"
    replies = f"{row.usable_replies} of {row.calls}" if row.calls else "no call yet"
    return row.candidate.spec, brief(candidate_state(row.candidate), 100), reads, cost, replies


def provider_cells(row: ProviderState) -> tuple[str, ...]:
    """A provider, for a table."""
    if row.key_source is None:
        key = f"not set: {row.key_env}" if row.key_env else "none needed"
    else:
        key = f"from {row.key_env}" if row.key_source == "environment" else f"from the {row.key_source}"
    more = ", …" if len(row.models) > _SHOWN else ""
    state = {
        "not_tested": "not tested; see `agentforge models test`",
        "ready": f"has {', '.join(row.models[:_SHOWN])}{more}",
        "no_model": "has no model",
        "unreachable": row.trouble,
    }[row.state]
    return row.name, row.host, key, state


def candidate_state(item: Candidate) -> str:
    """Whether the model could be asked now; if not, why it is skipped."""
    if item.skipped:
        return brief(f"skipped: {item.skipped}")
    return brief(item.note) if item.note else "ready"


def trial_line(trial: ModelTrial) -> str:
    """One line about how a model answered its test."""
    if not trial.ok:
        return f"FAILED  {trial.model}: {brief(trial.sentence, 400)}"
    if trial.means is None:
        return f"ok      {trial.model}: {trial.sentence}"
    cost = "price not known" if trial.micro_usd is None else money(trial.micro_usd)
    tokens = f"{trial.input_tokens:,} tokens in, {trial.output_tokens:,} out"
    return f"ok      {trial.model}: replies by {trial.means}, {trial.milliseconds:,} ms, {tokens}, {cost}"


def lane_table(costs: Mapping[str, Forecast]) -> str:
    """What a typical task of each lane takes, in calls and dollars."""
    rows = [
        (f"  {lane}", str(each.middle.calls), _cost(each.middle.micro_usd), _cost(each.most.micro_usd))
        for lane, each in costs.items()
    ]
    header = ("  lane", "calls", "cost", "90% stay under")
    return table(header, rows, right=frozenset(header[1:]))


def _cost(micro_usd: int | None) -> str:
    return "not known" if micro_usd is None else dollars(micro_usd)
