"""A quantity is an amount and a unit."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Quantity:
    """So much of a unit."""

    amount: Fraction
    unit: str

    def scaled(self, factor: int) -> "Quantity":
        """The same unit, `factor` times as much."""
        return Quantity(self.amount * factor, self.unit)

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}".strip()


def parse(text: str) -> Quantity:
    """Reads `2 cups` or `3`."""
    amount, _, unit = text.strip().partition(" ")
    return Quantity(Fraction(int(amount)), unit.strip())
