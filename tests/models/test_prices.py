"""Prices are exact, rounded up, and unknown rather than free."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.models.base import Delivery, Usage
from agentforge.models.known.prices import FREE, Prices, price_list
from agentforge.models.known.providers import Provider, known
from tests.rows import every

LOOPBACK = "http://127.0.0.1:8080/v1"
OPENAI = "https://api.openai.com/v1"


def prices_for(model: str, url: str, environment: Mapping[str, str]) -> Prices | None:
    return price_list(environment)(Provider("openai", "openai", url), model)


def test_a_published_price_is_found_by_the_address_of_its_provider() -> None:
    batch = Prices(input=1_250_000, output=5_000_000, cached=1_250_000, written=1_250_000)
    assert prices_for("gpt-4o", OPENAI, {}) == Prices(2_500_000, 10_000_000, 1_250_000, 2_500_000, batch)


@every(("model", "url"), [("gpt-4o", LOOPBACK), ("no-such-model", OPENAI), ("llama", LOOPBACK)])
def test_an_unknown_price_is_none_and_not_zero(model: str, url: str) -> None:
    assert prices_for(model, url, {}) is None


def test_the_environment_gives_a_price_and_zero_only_if_it_says_so() -> None:
    given = {"AGENTFORGE_PRICE_INPUT": "0.15", "AGENTFORGE_PRICE_OUTPUT": "0.6"}
    assert prices_for("x", LOOPBACK, given) == Prices(150_000, 600_000, 150_000)
    assert prices_for("x", LOOPBACK, {**given, "AGENTFORGE_PRICE_CACHED": "0.01"}) == Prices(
        150_000, 600_000, 10_000
    )
    free = prices_for("x", LOOPBACK, {"AGENTFORGE_PRICE_INPUT": "0", "AGENTFORGE_PRICE_OUTPUT": "0"})
    assert free == Prices(0, 0, 0)


@every("text", ["cheap", "-1", "NaN", "Infinity", "1e99"])
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


@every(
    ("provider", "model", "expected"),
    [
        ("anthropic", "claude-sonnet-4-5", (3_000_000, 15_000_000, 300_000, 3_750_000)),
        ("openai-responses", "gpt-4o", (2_500_000, 10_000_000, 1_250_000, 2_500_000)),
        ("mistral", "mistral-large-latest", (2_000_000, 6_000_000, 2_000_000, 2_000_000)),
        ("google", "gemini-2.5-pro", (1_250_000, 10_000_000, 125_000, 1_250_000)),
    ],
)
def test_every_hosted_provider_has_its_price_list(
    provider: str, model: str, expected: tuple[int, int, int, int]
) -> None:
    found = price_list({})(known({})[provider], model)
    assert found is not None
    assert (found.input, found.output, found.cached, found.written) == expected


def test_what_a_batch_writes_to_a_cache_is_held_for_an_hour_and_costs_as_much_as_live_input() -> None:
    found = price_list({})(known({})["anthropic"], "claude-sonnet-4-5")
    assert found is not None
    assert found.batch == Prices(1_500_000, 7_500_000, 150_000, 3_000_000)


def test_a_list_without_a_batch_price_promises_none() -> None:
    found = price_list({})(known({})["mistral"], "mistral-large-latest")
    assert found is not None
    assert found.batch is None
    assert found.saved_by_batch(Usage(1000, 1000)) == 0


def test_a_model_of_this_machine_costs_nothing_and_a_gateway_on_it_nobody_knows() -> None:
    prices = price_list({})
    assert prices(known({})["ollama"], "llama3") == FREE
    assert prices(known({}, {"box": {"base_url": LOOPBACK}})["box"], "gpt-4o") == FREE
    assert prices(known({"OPENAI_BASE_URL": LOOPBACK})["openai"], "gpt-4o") is None
    given_prices = {"AGENTFORGE_PRICE_INPUT": "1", "AGENTFORGE_PRICE_OUTPUT": "2"}
    assert price_list(given_prices)(known({})["ollama"], "llama3") == Prices(1_000_000, 2_000_000, 1_000_000)


_RATE = st.integers(0, 100_000_000)
_RATES = st.builds(Prices, _RATE, _RATE, _RATE, st.none() | _RATE)
_PRICES = st.builds(Prices, _RATE, _RATE, _RATE, st.none() | _RATE, st.none() | _RATES)
_COUNT = st.integers(0, 50_000)


@given(
    _PRICES,
    _COUNT,
    _COUNT,
    st.builds(Usage, _COUNT, _COUNT, _COUNT, _COUNT),
    st.sampled_from(("live", "batch")),
)
def test_no_call_costs_more_than_its_worst_case(
    prices: Prices, most_in: int, most_out: int, usage: Usage, delivery: Delivery
) -> None:
    within = Usage(
        min(usage.input_tokens, most_in),
        min(usage.output_tokens, most_out),
        usage.cached_tokens,
        usage.written_tokens,
    )
    assert prices.cost(within, delivery) <= prices.worst(most_in, most_out)
    assert prices.worst(most_in, most_out) == prices.ceiling.worst(most_in, most_out)


def test_what_cache_and_batch_saved() -> None:
    prices = Prices(
        3_000_000, 15_000_000, 300_000, 3_750_000, Prices(1_500_000, 7_500_000, 150_000, 1_875_000)
    )
    assert prices.cost(Usage(1000, 100, 800, 100)) == 300 + 240 + 375 + 1500
    assert prices.saved_by_cache(Usage(1000, 100, 800, 100)) == 800 * 27 // 10 - 75
    # Written, and never read: the honest number is below 0.
    assert prices.saved_by_cache(Usage(1000, 0, 0, 1000)) == -750
    assert prices.saved_by_batch(Usage(1000, 100)) == 2250
