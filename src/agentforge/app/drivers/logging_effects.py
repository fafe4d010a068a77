"""What the log of effects says: when, of which task, what was done, what came out, how long it took and what
it cost.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from agentforge.core.effects import Effect
from agentforge.core.errors import UserError
from agentforge.core.inputs import Answered, AskTrouble, Outcome, Unclassified
from agentforge.core.state import State
from agentforge.store.task.times import stamp, utc_now
from agentforge.store.user.effect_log import EffectLog, LogLine
from agentforge.system.visible import brief


@dataclass(frozen=True, slots=True)
class LoggedEffects:
    """`perform`, with a line for each effect in the log."""

    inner: Callable[[Effect, State], Outcome]
    log: EffectLog
    repository: str

    def __call__(self, effect: Effect, state: State) -> Outcome:
        """The outcome of the effect; what it raises is noted and goes on."""
        started = time.monotonic()
        try:
            outcome = self.inner(effect, state)
        except UserError as error:
            self._note(effect, state, started, {"outcome": "stopped", "detail": brief(error.sentence, 300)})
            raise
        self._note(effect, state, started, _about(outcome))
        return outcome

    def _note(self, effect: Effect, state: State, started: float, about: LogLine) -> None:
        self.log.add(
            {
                "time": stamp(utc_now()),
                "task": state.task_id,
                "repository": self.repository,
                "effect": type(effect).__name__,
                "key": effect.key,
                "seconds": round(time.monotonic() - started, 3),
                **about,
            }
        )


def _about(outcome: Outcome) -> LogLine:
    name = type(outcome).__name__
    match outcome:
        case Answered(reply=reply):
            dollars = reply.cost.micro_usd / 1e6 if reply.priced else None
            return {"outcome": name, "model": reply.model, "tokens": reply.cost.tokens, "usd": dollars}
        case AskTrouble(kind=kind, message=message):
            return {"outcome": name, "kind": kind, "detail": brief(message, 300)}
        case Unclassified(what=what):
            return {"outcome": name, "detail": brief(what, 300)}
        case _:
            return {"outcome": name}
