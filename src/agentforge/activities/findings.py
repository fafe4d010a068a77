"""What a check of a proof found: one row each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the verification."""

    row: str
    ok: bool
    text: str
