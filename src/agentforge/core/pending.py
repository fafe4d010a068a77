"""`pending`: what the world owes a task now, and the budget as a rule of it."""

from collections.abc import Callable, Mapping

from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    RunEffect,
    TakeBaseline,
)
from agentforge.core.machine import EFFECT_AT, TERMINAL
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import Amount

PAUSES = (1, 3, 10)
"""Seconds before each next try of a call, unless the provider asks for more."""


def pending(state: State) -> tuple[Effect, ...]:
    """What the world owes the task now. Empty when it is over."""
    if not state.task_id or state.status in TERMINAL or state.status == "draft":
        return ()
    if state.status == "blocked":
        waiting = state.open_escalation
        return (Await(f"await/{waiting.id}", waiting.id, seconds=waiting.timeout_s),) if waiting else ()
    if not state.prepared:
        return (Prepare(f"prepare/{state.segment}", state.halted),)
    owed: list[Effect] = []
    # Where nothing is run, as in a design, nothing is installed: a project that cannot be is designed for all
    # the same.
    if state.baseline is None and any(stage.needs_environment for stage in state.pipeline.stages):
        owed.append(TakeBaseline(f"baseline/{state.segment}"))
    if state.depends:
        return (*owed, Depend(f"depend/{state.segment}/{state.declared}"))
    promised = Amount()
    for run in at_work(state):
        effect = _owed_by(state, run)
        if isinstance(effect, Ask) and state.flight(effect.key) is None:
            if not fits(state, run, promised):
                continue
            promised = promised.plus(worst_case(state, run))
        if effect is not None:
            owed.append(effect)
    return tuple(owed)


def at_work(state: State) -> list[Run]:
    """The runs that something is owed to: a run waits while others beside it have not handed in."""
    waiting = {run.parent for run in state.runs if EFFECT_AT[run.point] is not None}
    return [run for run in state.runs if run.id not in waiting]


def _owed_by(state: State, run: Run) -> RunEffect | None:
    kind = EFFECT_AT[run.point]
    if kind is None or (state.baseline is None and state.stage_of(run).needs_environment):
        return None
    return _MAKE[kind](state, run)


def _ask(state: State, run: Run) -> Ask:
    return Ask(run.id, run.ask_key, state.answered(run.label), live=run.hurried)


def _pause(_: State, run: Run) -> Pause:
    until = run.refused.until if run.refused is not None else 0
    usual = PAUSES[min(run.troubles, len(PAUSES)) - 1]
    return Pause(run.id, f"{run.prefix}/pause/{run.asks}", max(run.wait_s, usual), until=until)


def _judge(state: State, run: Run) -> Judge:
    gate = state.stage_of(run).gates[run.gate]
    return Judge(run.id, f"{run.prefix}/judge/{state.segment}/{run.rounds}/{gate}", gate)


_MAKE: Mapping[type[RunEffect], Callable[[State, Run], RunEffect]] = {
    Assemble: lambda _, run: Assemble(run.id, f"{run.prefix}/assemble"),
    Ask: _ask,
    Pause: _pause,
    Act: lambda _, run: Act(run.id, f"{run.prefix}/act"),
    Check: lambda state, run: Check(run.id, f"{run.prefix}/check/{state.segment}"),
    Judge: _judge,
    Commit: lambda state, run: Commit(run.id, f"{run.prefix}/commit/{state.segment}"),
    Deliver: lambda state, run: Deliver(run.id, f"deliver/{state.segment}"),
}
"""Each effect of a run, with its key. Keys are in every journal: they do not change."""


# ------------------------------------------------------------------ the budget


def worst_case(state: State, run: Run) -> Amount:
    """The most that the next call of a run can cost."""
    stage, tier = state.stage_of(run), state.tier_of(run)
    price = next((each.price for each in state.prices if each.tier == tier), state.price)
    money = price.worst(stage.context_tokens, stage.max_output_tokens) if price else 0
    return Amount(1, stage.context_tokens + stage.max_output_tokens, money)


def fits(state: State, run: Run, promised: Amount = Amount()) -> bool:  # noqa: B008  # frozen
    """Whether the next call's worst case is under the cap beside all that is spent, lost, in flight and
    promised to others.
    """
    return holds(state, promised.plus(worst_case(state, run)))


def holds(state: State, more: Amount) -> bool:
    """Whether `more` is under the cap beside all that is spent, lost and in flight."""
    return state.budget.holds(state.spent.plus(state.unaccounted).plus(state.in_flight()).plus(more))
