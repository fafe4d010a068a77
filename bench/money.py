"""Dollars of the same work: fresh contexts of a fixed size, live and in batches, against one conversation
that grows and is cached.

Nothing is sent: the sizes that `make effect` measured on recorded readers are multiplied with the published prices. The
conversation is favoured where there is a choice: its cache always hits, it wastes no turn, and nothing in it is ever
shown twice. How often a cache hits in a batch nobody promises: both ends are shown, and nothing in between is claimed.
"""

from collections.abc import Iterator
from typing import Literal, get_args

from agentforge.activities.ask import MARKED_UNSEEN
from agentforge.models.base import Delivery, Usage
from agentforge.models.known.prices import Prices, price_list
from agentforge.models.known.providers import known
from bench.effect.sizes import Sizes, read_sizes
from bench.report import Row

STEPS = (8, 25, 40)
MODELS = ("anthropic:claude-sonnet-4-5", "openai-responses:gpt-5", "google:gemini-2.5-pro")
LIVE, BATCH = 0.70, 0.35
"""The most that our calls should cost, against the conversation."""
STEPS_PER_STAGE = 5
"""So many steps begin alike. Recorded readers take little more than one: then nothing is read from a cache."""
MARKED_IN_BATCHES = frozenset({"anthropic"})
"""Where batches mark what a cache is to hold, and what is found is cheaper still. Elsewhere none is assumed."""
Found = Literal["always", "never"]


def ours(
    prices: Prices,
    steps: int,
    sizes: Sizes,
    delivery: Delivery,
    found: Found,
    of_stage: int = STEPS_PER_STAGE,
) -> int:
    """Micro-dollars of so many steps, each with a context of its own; stages have `of_stage` of them."""
    total = 0
    for step in range(steps):
        written, read = _live(step % of_stage) if delivery == "live" else _in_batch(step % of_stage, found)
        usage = Usage(
            sizes.stable + sizes.moving,
            sizes.output,
            sizes.stable if read else 0,
            sizes.stable if written else 0,
        )
        total += prices.cost(usage, delivery)
    return total


def _live(at: int) -> tuple[bool, bool]:
    """Whether the step at this place of its stage writes to the cache, and whether it reads from it."""
    return at == 0, at > 0


def _in_batch(at: int, found: Found) -> tuple[bool, bool]:
    """The same in a batch: the first step marks nothing, and after two in vain none does (`activities/ask.py`)."""
    if found == "never":
        return 1 <= at <= MARKED_UNSEEN, False
    return at == 1, at > 1


def unmarked(prices: Prices, steps: int, sizes: Sizes) -> int:
    """Micro-dollars of so many steps in batches without any cache."""
    return steps * prices.cost(Usage(sizes.stable + sizes.moving, sizes.output), "batch")


def floor(prices: Prices, steps: int, sizes: Sizes) -> int:
    """Micro-dollars below which nothing with these replies comes, live: what stays is written once and read from then
    on, what is new is told once.
    """
    first = prices.cost(Usage(sizes.stable, sizes.output, 0, sizes.stable))
    later = prices.cost(Usage(sizes.stable + sizes.result, sizes.output, sizes.stable))
    return first + (steps - 1) * later


def conversation(prices: Prices, steps: int, sizes: Sizes) -> int:
    """Micro-dollars of one conversation: each turn reads all before it from the cache and writes what is
    new.
    """
    total, before = 0, 0
    for step in range(steps):
        new = sizes.stable if step == 0 else sizes.output + sizes.result
        total += prices.cost(Usage(before + new, sizes.output, before, new))
        before += new
    return total


def measure_money() -> Iterator[Row]:
    """One line per model and length; what has no published price is left out."""
    sizes = read_sizes()
    providers, prices = known({}), price_list({})
    for spec in MODELS:
        name, _, model = spec.partition(":")
        found = prices(providers[name], model)
        if found is None:
            continue
        for steps in STEPS:
            about = f"{model}, {steps} steps"
            grown = conversation(found, steps, sizes)
            yield Row(about, "conversation, cached", grown / 1e6, "$")
            live = ours(found, steps, sizes, "live", "always")
            yield Row(about, "ours, live", live / 1e6, "$")
            yield Row(about, "live / conversation", live / grown, "x", LIVE)
            yield Row(about, "the least, live", floor(found, steps, sizes) / grown, "x")
            single = ours(found, steps, sizes, "live", "always", of_stage=1)
            yield Row(about, "live, stages of one step", single / grown, "x")
            if name in MARKED_IN_BATCHES:
                for hits in get_args(Found):
                    batch = ours(found, steps, sizes, "batch", hits)
                    yield Row(about, f"batch, cache {hits} hits", batch / grown, "x", BATCH)
            yield Row(about, "batch, no cache", unmarked(found, steps, sizes) / grown, "x", BATCH)
