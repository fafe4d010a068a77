"""Prices are exact, rounded up, and unknown rather than free."""

import pytest

from agentforge.core.errors import UsageError
from agentforge.models.base import Usage
from agentforge.models.prices import Prices, prices_for

LOOPBACK = "http://127.0.0.1:8080/v1"
OPENAI = "https://api.openai.com/v1"


def test_a_published_price_is_found_by_the_address_of_its_provider() -> None:
    assert prices_for("gpt-4o", OPENAI, {}) == Prices(input=2_500_000, output=10_000_000, cached=1_250_000)


@pytest.mark.parametrize(("model", "url"), [("gpt-4o", LOOPBACK), ("no-such-model", OPENAI), ("llama", LOOPBACK)])
def test_an_unknown_price_is_none_and_not_zero(model: str, url: str) -> None:
    assert prices_for(model, url, {}) is None


def test_the_environment_gives_a_price_and_zero_only_if_it_says_so() -> None:
    given = {"AGENTFORGE_PRICE_INPUT": "0.15", "AGENTFORGE_PRICE_OUTPUT": "0.6"}
    assert prices_for("x", LOOPBACK, given) == Prices(150_000, 600_000, 150_000)
    assert prices_for("x", LOOPBACK, {**given, "AGENTFORGE_PRICE_CACHED": "0.01"}) == Prices(150_000, 600_000, 10_000)
    free = prices_for("x", LOOPBACK, {"AGENTFORGE_PRICE_INPUT": "0", "AGENTFORGE_PRICE_OUTPUT": "0"})
    assert free == Prices(0, 0, 0)


@pytest.mark.parametrize("text", ["cheap", "-1", "NaN", "Infinity", "1e99"])
def test_a_price_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="which is no price"):
        prices_for("x", LOOPBACK, {"AGENTFORGE_PRICE_INPUT": text, "AGENTFORGE_PRICE_OUTPUT": "1"})


def test_half_a_price_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="AGENTFORGE_PRICE_OUTPUT is not"):
        prices_for("x", LOOPBACK, {"AGENTFORGE_PRICE_INPUT": "1"})


def test_a_cost_is_rounded_up() -> None:
    prices = Prices(input=1, output=1, cached=0)
    assert prices.cost(Usage(1, 0, 0)) == 1
    assert prices.cost(Usage(1, 0, 1)) == 0
    assert prices.worst(1_000_000, 1) == 2
