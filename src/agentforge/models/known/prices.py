"""What a model costs, in micro-dollars per million tokens. An unknown price is `None`, never 0; a model on
this machine costs 0, said.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import TypeAlias

from agentforge.core.errors import UsageError
from agentforge.core.values import Price
from agentforge.models.base import Delivery, Usage
from agentforge.models.known.providers import BUILT_IN, Provider

_MILLION = 1_000_000
_HELD_FOR_AN_HOUR = 2
"""So many times its price is what input costs that Anthropic's cache is to hold for an hour, as all that
batches mark; in a batch it is half of that, as everything is. The price list has five minutes alone.
"""
_VARIABLES = (
    "AGENTFORGE_PRICE_INPUT",
    "AGENTFORGE_PRICE_OUTPUT",
    "AGENTFORGE_PRICE_CACHED",
    "AGENTFORGE_PRICE_WRITTEN",
)
_HOSTED = frozenset(provider.name for provider in BUILT_IN if provider.needs_key)
"""Their name on a server of this machine is a gateway: who knows what it passes the request to, and at what
price.
"""


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a model, in micro-dollars per million tokens."""

    input: int
    output: int
    cached: int
    """Of input that a prompt cache held."""
    written: int | None = None
    """Of input that is written to one; as `input` where nothing is said."""
    batch: "Prices | None" = None
    """What a batch costs; None: nobody says that it is cheaper."""

    def cost(self, usage: Usage, delivery: Delivery = "live") -> int:
        """Micro-dollars of one call, rounded up: a cap must not be passed by rounding."""
        rates = self._rates(delivery)
        # A server may count oddly: no part of the input is larger than the whole.
        cached = min(usage.cached_tokens, usage.input_tokens)
        written = min(usage.written_tokens, usage.input_tokens - cached)
        fresh = usage.input_tokens - cached - written
        total = (
            fresh * rates.input
            + cached * rates.cached
            + written * rates.writing
            + usage.output_tokens * rates.output
        )
        return -(-total // _MILLION)

    def worst(self, input_tokens: int, output_tokens: int) -> int:
        """The most that a call of that size can cost: whatever a prompt cache does, and however the reply is
        delivered.
        """
        return self.ceiling.worst(input_tokens, output_tokens)

    @property
    def ceiling(self) -> Price:
        """The dearest token of each kind: what a budget must reckon with."""
        all_ = (self,) if self.batch is None else (self, self.batch)
        return Price(
            max(max(each.input, each.cached, each.writing) for each in all_),
            max(each.output for each in all_),
        )

    @property
    def writing(self) -> int:
        """What input costs that is written to a cache."""
        return self.input if self.written is None else self.written

    def saved_by_cache(self, usage: Usage, delivery: Delivery = "live") -> int:
        """How much less the call cost than without a prompt cache; below 0 where writing cost more than
        reading saved.
        """
        return self.cost(Usage(usage.input_tokens, usage.output_tokens), delivery) - self.cost(
            usage, delivery
        )

    def saved_by_batch(self, usage: Usage) -> int:
        """How much less the call cost in a batch than live."""
        return self.cost(usage) - self.cost(usage, "batch")

    def _rates(self, delivery: Delivery) -> "Prices":
        return self.batch if delivery == "batch" and self.batch is not None else self


FREE = Prices(0, 0, 0, 0)
PriceList: TypeAlias = Callable[[Provider, str], Prices | None]


def price_list(environment: Mapping[str, str]) -> PriceList:
    """The prices by provider and model: what the environment gives (USD per million tokens) counts for every
    model, else the published ones, else None.

    The address decides whose price list is read: a model of a known name on a server of one's own costs what
    its owner says.
    """

    def look_up(provider: Provider, model: str) -> Prices | None:
        free = provider.local and provider.name not in _HOSTED
        return _from_environment(environment) or (FREE if free else _published(model, provider))

    return look_up


def _from_environment(environment: Mapping[str, str]) -> Prices | None:
    found = {name: environment[name] for name in _VARIABLES if environment.get(name)}
    if not found:
        return None
    if missing := [name for name in _VARIABLES[:2] if name not in found]:
        next_step = "Set the prices of input and output together, in USD per million tokens."
        raise UsageError(f"{', '.join(found)} is set, but {missing[0]} is not.", next_step)
    amounts = {name: _micro_usd(name, text) for name, text in found.items()}
    price_input, output, cached, written = (amounts.get(name) for name in _VARIABLES)
    assert price_input is not None
    assert output is not None
    return Prices(price_input, output, price_input if cached is None else cached, written)


def _micro_usd(name: str, text: str) -> int:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= _MILLION:
        raise UsageError(
            f"{name} is {text[:40]!r}, which is no price.", "Give USD per million tokens, such as 2.50."
        )
    return int((amount * _MILLION).to_integral_value(ROUND_CEILING))


def _published(model: str, provider: Provider) -> Prices | None:
    try:
        from genai_prices import Usage as Counted  # noqa: PLC0415 - 170 ms, and only there with the extra
        from genai_prices import calc_price  # noqa: PLC0415
    except ImportError:
        return None
    # A thousand tokens stay below every volume step, as our contexts do; the list has exact decimals.
    samples = (
        Counted(input_tokens=1000),
        Counted(output_tokens=1000),
        Counted(input_tokens=1000, cache_read_tokens=1000),
        Counted(input_tokens=1000, cache_write_tokens=1000),
    )

    def rates(processing: Mapping[str, str] | None) -> tuple[int, int, int, int]:
        prices = (
            calc_price(
                sample, model, provider_api_url=provider.base_url, price_context=processing
            ).total_price
            for sample in samples
        )
        first, second, third, fourth = (
            int((price * 1000 * _MILLION).to_integral_value(ROUND_CEILING)) for price in prices
        )
        return first, second, third, fourth

    try:
        live, batch = rates(None), rates({"processing": "batch"})
    except LookupError:
        return None
    if not live[0] or not live[1]:
        return None
    in_batch = Prices(*batch) if batch != live and all(batch[:2]) else None
    if in_batch is not None and provider.wire == "anthropic":
        in_batch = replace(in_batch, written=_HELD_FOR_AN_HOUR * in_batch.input)
    return Prices(*live, batch=in_batch)
