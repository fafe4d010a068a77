"""What a task will probably take, from the tasks that ended well in this repository."""

from collections.abc import Callable

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.pipeline import TIERS, Pipeline
from agentforge.core.state import State
from agentforge.sizing import forecast as estimates
from agentforge.sizing.forecast import Forecast, Past
from agentforge.store.site import Site
from agentforge.store.user.index import Index
from agentforge.store.user.ledger import Ledger


def forecast(task: OpenTask, notice: Callable[[str], None] = lambda _: None) -> Forecast | None:
    """Calls, tokens and cost, by the task's line and the prices on its record: those of the dearest model of
    each tier. None while no task of this lane has ended well.
    """
    return forecast_of(task.site, task.state, notice)


def forecast_of(site: Site, state: State, notice: Callable[[str], None]) -> Forecast | None:
    """As `forecast`, for a state that need not be on record."""
    by_tier = {each.tier: each.price for each in state.prices}
    rates = {tier: by_tier.get(tier, state.price) for tier in TIERS}
    return estimates.forecast(state.pipeline, past_tasks(site, state.pipeline, notice), rates)


def past_tasks(site: Site, pipeline: Pipeline, notice: Callable[[str], None]) -> tuple[Past, ...]:
    """What the completed tasks of this checkout took in the same lane of the same line, the newest last. One
    that was given up says nothing about the next.
    """
    with Index(site.home.task_index, notice) as index:
        rows = index.rows(site.git.top)
    alike = (pipeline.lane, pipeline.line)
    completed = {row.task_id for row in rows if row.status == "completed" and (row.lane, row.line) == alike}
    if not completed:
        return ()
    with Ledger.of(site.home, notice) as ledger:
        totals = ledger.tasks(site.git.top)
    return tuple(
        Past(total.calls, total.tokens, total.micro_usd) for total in totals if total.task in completed
    )
