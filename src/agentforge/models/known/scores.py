"""Who keeps how often the models of a tier gave a usable reply: shown to people; it changes no order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Scores(Protocol):
    """Keeps how often the models of a tier gave a usable reply."""

    def record(self, tier: str, spec: str, ok: bool) -> None:  # noqa: FBT001 - a port's plain value
        """One more call."""
        ...

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Usable replies and calls, by tier and model."""
        ...


@dataclass(frozen=True, slots=True)
class NoScores:
    """Nobody counts."""

    def record(self, tier: str, spec: str, ok: bool) -> None:  # noqa: FBT001 - as above
        """Nothing."""

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Nothing."""
        return {}
