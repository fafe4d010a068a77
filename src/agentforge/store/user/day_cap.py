"""The cap of a day: the most that all tasks of a user may use together. Pure; the ledger asks it inside of a
transaction.
"""

from dataclasses import dataclass

from agentforge.core.values import Amount
from agentforge.store.task.calls import ModelCall


@dataclass(frozen=True, slots=True)
class DayCap:
    """The most that all tasks of a user may use in a day. None: no cap of this kind."""

    tokens: int | None = None
    micro_usd: int | None = None

    def __bool__(self) -> bool:
        return self.tokens is not None or self.micro_usd is not None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that may not be sent, in one sentence."""

    sentence: str


def refusal(call: ModelCall, cap: DayCap, used: Amount) -> Refusal | None:
    """Why the call may not be sent beside all that is `used` on its day; None: it fits."""
    if cap.tokens is not None and used.tokens + call.reserved.tokens > cap.tokens:
        return Refusal(
            f"The cap of the day is {cap.tokens:,} tokens: {used.tokens:,} are used or set aside, and "
            "the next call may take "
            f"{call.reserved.tokens:,}."
        )
    if cap.micro_usd is None:
        return None
    if not call.priced:
        return Refusal(f"There is a daily cap in dollars, and the price of {call.model} is not known.")
    if used.micro_usd + call.reserved.micro_usd > cap.micro_usd:
        return Refusal(
            f"The cap of the day is {_usd(cap.micro_usd)}: {_usd(used.micro_usd)} are spent or set "
            "aside, and the next call may cost "
            f"{_usd(call.reserved.micro_usd)}."
        )
    return None


def _usd(micro_usd: int) -> str:
    return f"${micro_usd // 1_000_000}.{micro_usd % 1_000_000 // 100:04d}"
