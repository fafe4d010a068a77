"""Who keeps how often the models of a tier gave a usable reply: shown to people; it changes no order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Scores(Protocol):
    """Keeps how often the models of a tier gave a usable reply."""

    def record(self, tier: str, spec: str, ok: bool) -> None:  # noqa: FBT001 - a port's plain value
        """Counts one call of a model, and whether its reply could be used."""
        ...

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Usable replies and calls, by tier and model."""
        ...


@dataclass(frozen=True, slots=True)
class NoScores:
    """Counts nothing: for tests, and where nobody reads the counts."""

    def record(self, tier: str, spec: str, ok: bool) -> None:  # noqa: FBT001 - as above
        """Does nothing."""

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """An empty mapping."""
        return {}
