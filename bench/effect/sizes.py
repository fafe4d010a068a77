"""How large a step is: measured by `make effect` on what recorded readers saw, kept for `make bench`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.effect.measure import Effect

PLACE = Path(__file__).with_name("sizes.json")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a step."""

    stable: int
    """Role, rules, tools, frame, inputs: the same in every step of a stage."""
    moving: int
    """Working set, notes, failures: never from a cache."""
    output: int
    """A reply: the same for both."""
    result: int
    """What a step is shown that none before it was: a conversation is told that, too, and keeps all of it."""


def write_sizes(found: Sequence[Effect]) -> None:
    """The mean step of all requests."""
    calls = max(1, sum(each.calls for each in found))
    stable = sum(each.lasting_tokens for each in found) // calls
    whole = sum(each.input_tokens for each in found) // calls
    output = sum(each.output_tokens for each in found) // calls
    result = sum(each.new_tokens for each in found) // calls
    sizes = Sizes(stable, whole - stable, output, result)
    PLACE.write_text(json.dumps(asdict(sizes), indent=2) + "\n", encoding="utf-8")


def read_sizes() -> Sizes:
    """What was measured last."""
    return Sizes(**json.loads(PLACE.read_text(encoding="utf-8")))
