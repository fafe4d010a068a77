"""Several models as one: if the first brings no reply, the next is asked. For calls that no journal keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agentforge.models.base import Answer, Model, ModelTrouble, Request, Reservation, TroubleKind

OWN_FAULT: Final[frozenset[TroubleKind]] = frozenset({"script"})
"""What another model cannot make better."""


def _nobody(_model: str, _trouble: ModelTrouble) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """Models in the order in which they are asked; at least one."""

    models: tuple[Model, ...]
    on_change: Callable[[str, ModelTrouble], None] = _nobody
    """Told the name of the model that is given up, and why."""

    def __post_init__(self) -> None:
        assert self.models, "a fallback needs a model"

    @property
    def name(self) -> str:
        """That of the first; an answer says who gave it."""
        return self.models[0].name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """Each may have done the work before it failed; unknown if one price is."""
        all_ = [model.worst_case(request, input_tokens) for model in self.models]
        prices = [each.micro_usd for each in all_ if each.micro_usd is not None]
        return Reservation(
            sum(each.tokens for each in all_), sum(prices) if len(prices) == len(all_) else None
        )

    def ask(self, request: Request) -> Answer:
        """The first answer; the last trouble is raised."""
        *others, last = self.models
        for model in others:
            try:
                return model.ask(request)
            except ModelTrouble as trouble:
                if trouble.kind in OWN_FAULT:
                    raise
                self.on_change(model.name, trouble)
        return last.ask(request)
