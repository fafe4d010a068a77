"""`pending`: what the world owes a task now, and the budget as a rule of it."""

from typing import assert_never

from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.pipeline import Stage
from agentforge.core.state import TERMINAL, StageRun, State
from agentforge.core.values import Amount

PAUSES = (1, 3, 10)
"""Seconds before each next try of a call, unless the provider asks for more."""


def pending(state: State) -> tuple[Effect, ...]:
    """What the world owes the task now. Empty when it is over."""
    if not state.task_id or state.status in TERMINAL or state.status == "draft":
        return ()
    if state.status == "blocked":
        waiting = state.open_escalation
        return (Await(f"await/{waiting.id}", waiting.id),) if waiting else ()
    if not state.prepared:
        return (Prepare(f"prepare/{state.segment}", state.halted),)
    owed: list[Effect] = []
    # Where nothing is run, as in a design, nothing is installed: a project that cannot be is designed for all
    # the same.
    if state.baseline is None and any(stage.needs_environment for stage in state.pipeline.stages):
        owed.append(TakeBaseline(f"baseline/{state.segment}"))
    if state.run is None:
        return tuple(owed)
    sitting = [item.seat for item in state.seats if item.point != "given"]
    promised = Amount()
    for seat in sitting or ("",):
        view = state.focus(seat)
        assert view.run is not None
        effect = _owed_by_stage(view, view.run, promised)
        if effect is None:
            continue
        owed.append(effect)
        if isinstance(effect, Ask) and not _flying(state, effect.key):
            promised = promised.plus(worst_case(view, view.stage))
    return tuple(owed)


def _flying(state: State, key: str) -> bool:
    return any(flight.key == key for flight in state.flights)


# one arm per point is the point
def _owed_by_stage(state: State, run: StageRun, promised: Amount) -> Effect | None:  # noqa: C901
    stage = state.stage
    if stage.needs_environment and state.baseline is None:
        return None
    prefix, seat = state.prefix, run.seat
    match run.point:
        case "assemble":
            return Assemble(f"{prefix}/assemble", seat=seat)
        case "ask":
            key = f"{prefix}/ask/{run.asks}"
            room = _flying(state, key) or fits(state, stage, promised)
            return Ask(key, state.answered(run.label), seat=seat, live=run.hurried) if room else None
        case "pause":
            return Pause(
                f"{prefix}/pause/{run.asks}",
                max(run.wait_s, PAUSES[min(run.troubles, len(PAUSES)) - 1]),
                seat=seat,
            )
        case "act":
            return Act(f"{prefix}/act", seat=seat)
        case "check":
            return Check(f"{prefix}/check/{state.segment}")
        case "judge":
            gate = stage.gates[run.gate]
            return Judge(f"{prefix}/judge/{state.segment}/{run.rounds}/{gate}", gate)
        case "commit":
            return Commit(f"{prefix}/commit/{state.segment}")
        case "deliver":
            return Deliver(f"deliver/{state.segment}")
        case "given":
            return None
        case _:
            assert_never(run.point)


def worst_case(state: State, stage: Stage) -> Amount:
    """The most the next call of a stage can cost."""
    price = next((each.price for each in state.prices if each.tier == state.tier), state.price)
    money = price.worst(stage.context_tokens, stage.max_output_tokens) if price else 0
    return Amount(1, stage.context_tokens + stage.max_output_tokens, money)


def fits(state: State, stage: Stage, promised: Amount = Amount()) -> bool:  # noqa: B008  # frozen
    """Whether the next call's worst case is under the cap beside all that is spent, lost, in flight and
    promised to others.
    """
    return holds(state, promised.plus(worst_case(state, stage)))


def holds(state: State, more: Amount) -> bool:
    """Whether `more` is under the cap beside all that is spent, lost and in flight."""
    return state.budget.holds(state.spent.plus(state.unaccounted).plus(state.in_flight()).plus(more))
