"""The kinds of proof: what a change can be shown to be, from the weakest to the strongest."""

from collections.abc import Mapping
from typing import Literal, get_args

ProofKind = Literal["no_code", "tests_only", "same_behaviour", "new_behaviour"]
PROOF_KINDS: tuple[ProofKind, ...] = get_args(ProofKind)
"""The weakest first."""

IN_WORDS: Mapping[ProofKind, str] = {
    "no_code": "no code",
    "tests_only": "tests only",
    "same_behaviour": "same behaviour",
    "new_behaviour": "new behaviour",
}
"""How people call them."""


def is_weaker(kind: ProofKind, than: ProofKind) -> bool:
    """Whether one kind shows less than another."""
    return PROOF_KINDS.index(kind) < PROOF_KINDS.index(than)
