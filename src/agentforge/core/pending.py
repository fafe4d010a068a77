"""`pending`: what the world owes a task now, and the budget as a rule of it."""

from typing import assert_never

from agentforge.core.effects import Act, Ask, Assemble, Await, Check, Commit, Deliver, Effect, Judge, Pause, Prepare, TakeBaseline
from agentforge.core.pipeline import Stage
from agentforge.core.state import TERMINAL, StageRun, State
from agentforge.core.values import Amount

PAUSES = (1, 3, 10)
"""Seconds before each next try of a call."""


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
    if state.baseline is None:
        owed.append(TakeBaseline(f"baseline/{state.segment}"))
    if state.run is not None and (effect := _owed_by_stage(state, state.run)) is not None:
        owed.append(effect)
    return tuple(owed)


def _owed_by_stage(state: State, run: StageRun) -> Effect | None:
    stage = state.stage
    if stage.needs_environment and state.baseline is None:
        return None
    prefix = f"{run.name}/{run.attempt}/{state.step}"
    match run.point:
        case "assemble":
            return Assemble(f"{prefix}/assemble")
        case "ask":
            flying = any(flight.key == f"{prefix}/ask/{run.asks}" for flight in state.flights)
            return Ask(f"{prefix}/ask/{run.asks}", state.answered(run.name)) if flying or fits(state, stage) else None
        case "pause":
            return Pause(f"{prefix}/pause/{run.asks}", PAUSES[min(run.troubles, len(PAUSES)) - 1])
        case "act":
            return Act(f"{prefix}/act")
        case "check":
            return Check(f"{prefix}/check/{state.segment}")
        case "judge":
            gate = stage.gates[run.gate]
            return Judge(f"{prefix}/judge/{state.segment}/{run.rounds}/{gate}", gate)
        case "commit":
            return Commit(f"{prefix}/commit/{state.segment}")
        case "deliver":
            return Deliver(f"deliver/{state.segment}")
        case _:
            assert_never(run.point)


def worst_case(state: State, stage: Stage) -> Amount:
    """The most the next call of a stage can cost."""
    money = state.price.worst(stage.context_tokens, stage.max_output_tokens) if state.price else 0
    return Amount(1, stage.context_tokens + stage.max_output_tokens, money)


def fits(state: State, stage: Stage) -> bool:
    """Whether the next call's worst case is under the cap beside all that is spent, lost and in flight."""
    total = state.spent.plus(state.unaccounted).plus(state.in_flight()).plus(worst_case(state, stage))
    return state.budget.holds(total)
