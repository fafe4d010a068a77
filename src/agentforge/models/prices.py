"""What a model costs, in micro-dollars per million tokens. An unknown price is `None`, never 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation

from agentforge.core.errors import UsageError
from agentforge.models.base import Usage

_MILLION = 1_000_000
_VARIABLES = ("AGENTFORGE_PRICE_INPUT", "AGENTFORGE_PRICE_OUTPUT", "AGENTFORGE_PRICE_CACHED")


@dataclass(frozen=True, slots=True)
class Prices:
    """Micro-dollars per million tokens."""

    input: int
    output: int
    cached: int

    def cost(self, usage: Usage) -> int:
        """Micro-dollars of one call, rounded up: a cap must not be passed by rounding."""
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        total = fresh * self.input + usage.cached_tokens * self.cached + usage.output_tokens * self.output
        return -(-total // _MILLION)

    def worst(self, input_tokens: int, output_tokens: int) -> int:
        """Micro-dollars of a call of that size if no prompt cache helps."""
        total = input_tokens * max(self.input, self.cached) + output_tokens * self.output
        return -(-total // _MILLION)


def prices_for(model: str, base_url: str, environment: Mapping[str, str]) -> Prices | None:
    """The prices that the environment gives (USD per million tokens), else the published ones of that provider, else `None`.

    The address decides whose price list is read: a model of a known name on a server of one's own costs what its owner says.
    """
    return _given(environment) or _published(model, base_url)


def _given(environment: Mapping[str, str]) -> Prices | None:
    found = {name: environment[name] for name in _VARIABLES if environment.get(name)}
    if not found:
        return None
    if missing := [name for name in _VARIABLES[:2] if name not in found]:
        next_step = "Set the prices of input and output together, in USD per million tokens."
        raise UsageError(f"{', '.join(found)} is set, but {missing[0]} is not.", next_step)
    amounts = {name: _micro_usd(name, text) for name, text in found.items()}
    price_input, output, cached = (amounts.get(name) for name in _VARIABLES)
    assert price_input is not None
    assert output is not None
    return Prices(price_input, output, price_input if cached is None else cached)


def _micro_usd(name: str, text: str) -> int:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= _MILLION:
        raise UsageError(f"{name} is {text[:40]!r}, which is no price.", "Give USD per million tokens, such as 2.50.")
    return int((amount * _MILLION).to_integral_value(ROUND_CEILING))


def _published(model: str, base_url: str) -> Prices | None:
    try:
        from genai_prices import Usage as Counted  # noqa: PLC0415 - 170 ms, and only there with the extra
        from genai_prices import calc_price  # noqa: PLC0415
    except ImportError:
        return None
    # A thousand tokens stay below every volume step, as our contexts do; the list has exact decimals.
    samples = (Counted(input_tokens=1000), Counted(output_tokens=1000), Counted(input_tokens=1000, cache_read_tokens=1000))
    try:
        amounts = [calc_price(sample, model, provider_api_url=base_url).total_price for sample in samples]
    except LookupError:
        return None
    rates = [int((amount * 1000 * _MILLION).to_integral_value(ROUND_CEILING)) for amount in amounts]
    return Prices(*rates) if rates[0] and rates[1] else None
