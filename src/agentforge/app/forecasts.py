"""The forecast that a person sees before a task starts, from the tasks that ended well in this repository."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.analysis.forecast import Forecast, Past
    from agentforge.core.state import State
    from agentforge.store.site import Site


def forecast_here(site: "Site", state: "State", notice: Callable[[str], None]) -> "Forecast | None":
    """What a task will probably take, by its line and the prices on its record: those of the dearest model of
    each tier.
    """
    from agentforge.analysis.forecast import forecast
    from agentforge.core.pipeline import TIERS

    by_tier = {each.tier: each.price for each in state.prices}
    rates = {tier: by_tier.get(tier, state.price) for tier in TIERS}
    return forecast(state.pipeline, past_tasks(site, state.pipeline.lane, notice), rates)


def past_tasks(site: "Site", lane: str, notice: Callable[[str], None]) -> "tuple[Past, ...]":
    """What the completed tasks of this checkout and lane took, the newest last. One that was given up says
    nothing about the next.
    """
    from agentforge.analysis.forecast import Past
    from agentforge.store.index import Index
    from agentforge.store.ledger import Ledger

    with Index(site.home.index, notice) as index:
        completed = {
            row.task_id for row in index.rows(site.git.top) if row.status == "completed" and row.lane == lane
        }
    if not completed:
        return ()
    with Ledger.of(site.home, notice) as ledger:
        totals = ledger.tasks(site.git.top)
    return tuple(
        Past(total.calls, total.tokens, total.micro_usd) for total in totals if total.task in completed
    )
