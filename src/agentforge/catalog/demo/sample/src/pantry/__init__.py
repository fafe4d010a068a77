"""Amounts of things in a recipe."""

from pantry.quantity import Quantity, parse

__all__ = ["Quantity", "parse"]
