"""What prompt caches and batches saved, by the price list of today."""

import os
from collections.abc import Sequence
from functools import cache

from agentforge.app.models.configured import models_config
from agentforge.app.models.costs import Savings, is_discounted
from agentforge.models.known.prices import Prices, price_list
from agentforge.store.site import home_path
from agentforge.store.task.calls import ModelCall


def savings(calls: Sequence[ModelCall]) -> Savings:
    """What prompt caches and batches saved."""
    config = models_config(home_path())

    @cache
    def price(spec: str) -> Prices | None:
        name, _, model = spec.partition(":")
        provider = config.providers.get(name)
        return price_list(os.environ)(provider, model) if provider and model else None

    by_caches: list[int | None] = []
    by_batches: list[int | None] = []
    for call in filter(is_discounted, calls):
        found = price(call.model)
        if call.usage.cached_tokens or call.usage.written_tokens:
            by_caches.append(found.saved_by_cache(call.usage, call.delivery) if found else None)
        if call.delivery == "batch":
            by_batches.append(found.saved_by_batch(call.usage) if found else None)
    return Savings(_total(by_caches), _total(by_batches))


def _total(amounts: list[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
