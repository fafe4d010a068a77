"""Dollars of the same work: fresh contexts of a fixed size, live and in batches, against one conversation
that grows and is cached.

Nothing is sent: the sizes that `make effect` measured on recorded readers are multiplied with the published prices. The
conversation is favoured where there is a choice: its cache always hits, it wastes no turn, and nothing in it is ever
shown twice; of our own calls in a batch none finds a cache.
"""

from collections.abc import Iterator

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
"""So often a stage's unchanging part is written to the cache once and read after that."""


def ours(prices: Prices, steps: int, sizes: Sizes, delivery: Delivery) -> int:
    """Micro-dollars of so many steps, each with a context of its own."""
    total = 0
    for step in range(steps):
        first = step % STEPS_PER_STAGE == 0
        hits = delivery == "live" and not first
        writes = delivery == "live" and first
        usage = Usage(
            sizes.stable + sizes.moving,
            sizes.output,
            sizes.stable if hits else 0,
            sizes.stable if writes else 0,
        )
        total += prices.cost(usage, delivery)
    return total


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
            live, batch = (ours(found, steps, sizes, delivery) for delivery in _DELIVERIES)
            yield Row(about, "conversation, cached", grown / 1e6, "$")
            yield Row(about, "ours, live", live / 1e6, "$")
            yield Row(about, "ours, batch", batch / 1e6, "$")
            yield Row(about, "live / conversation", live / grown, "x", LIVE)
            yield Row(about, "batch / conversation", batch / grown, "x", BATCH)


_DELIVERIES: tuple[Delivery, Delivery] = ("live", "batch")
