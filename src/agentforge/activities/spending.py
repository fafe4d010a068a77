"""What a call may cost, set aside before it leaves and settled when it ends: the cap of a day, over all tasks
of a user.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from agentforge.core.inputs import AskTrouble
from agentforge.core.state import RunView
from agentforge.core.values import Amount, Delivery, Usage
from agentforge.store.task.calls import ModelCall
from agentforge.store.user.day_cap import DayCap, Refusal

TOMORROW = "`agentforge continue` works tomorrow, or today with a higher `day_cap` in your config.yaml."


class Accounts(Protocol):
    """The ledger, as far as reservations need it."""

    def reserve(self, call: ModelCall, cap: DayCap) -> Refusal | None:
        """Sets the worst case of a call aside, or says why it is refused."""
        ...

    def settle(
        self, call: ModelCall, usage: Usage, micro_usd: int | None, delivery: Delivery = "live"
    ) -> None:
        """Replaces what was set aside for an answered call by what it cost."""
        ...

    def lost(self, call: ModelCall) -> None:
        """Records a call without an answer: it may be billed, so its reservation counts as spent."""
        ...

    def release(self, call: ModelCall) -> None:
        """Frees what was set aside for a call that costs nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Reservations:
    """What the calls of one task set aside in the user's ledger."""

    repo: str
    accounts: Accounts | None = None
    cap: DayCap = field(default_factory=DayCap)

    def set_aside(
        self, state: RunView, key: str, spec: str, reserved: Amount, *, priced: bool
    ) -> "ModelCall | AskTrouble":
        """The call as the ledger has it now, or why it may not be sent."""
        call = self.call(state, key, spec, reserved, priced=priced)
        refused = self.accounts.reserve(call, self.cap) if self.accounts else None
        return (
            call
            if refused is None
            else AskTrouble("day_cap", f"{refused.sentence} {TOMORROW}", retryable=False, maybe_billed=False)
        )

    def call(
        self, state: RunView, key: str, spec: str, reserved: Amount, *, priced: bool = True
    ) -> ModelCall:
        """A call of the task; of one that an earlier driver sent, what is set aside stays."""
        stage, day = state.stage, f"{datetime.now(UTC):%Y-%m-%d}"
        return ModelCall(
            self.repo,
            state.task_id,
            key,
            day,
            state.pipeline.lane or "",
            stage.name,
            stage.role or "",
            state.tier,
            spec,
            reserved=reserved,
            priced=priced,
        )

    def settle(self, call: ModelCall, usage: Usage, micro_usd: int | None, delivery: Delivery) -> None:
        """Records what an answered call cost."""
        if self.accounts:
            self.accounts.settle(call, usage, micro_usd, delivery)

    def give_back(self, call: ModelCall, *, maybe_billed: bool) -> None:
        """Frees what was set aside for a call without an answer, or counts it as lost if it may be billed."""
        if self.accounts:
            self.accounts.lost(call) if maybe_billed else self.accounts.release(call)
