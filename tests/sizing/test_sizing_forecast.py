"""A forecast: from past tasks where there are enough, else from the lane; a price that is not known stays
so.
"""

from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.pipeline import TIERS, Pipeline, Product, Stage
from agentforge.core.values import Price
from agentforge.sizing.forecast import ENOUGH, Expected, Past, forecast, nearest_rank
from tests.rows import every

RATES = dict.fromkeys(TIERS, Price(3_000_000, 15_000_000))
FREE = dict.fromkeys(TIERS, Price(0, 0))


def line(lane: str) -> Pipeline:
    stages = (
        Stage(
            "frame",
            "software_architect",
            (Product("specification", "spec"),),
            context_tokens=16_000,
            tier="reasoning",
        ),
        Stage("green", "software_developer", (Product("implementation", "green"),)),
        Stage("deliver", None, ()),
    )
    return Pipeline("implement", lane, stages)


def test_enough_past_tasks_speak_for_themselves() -> None:
    past = [Past(number, number * 10_000, number * 40_000) for number in range(1, 13)]
    found = forecast(line("small"), past, {})
    assert found is not None
    assert (found.middle, found.most, found.tasks) == (
        Expected(6, 60_000, 240_000),
        Expected(11, 110_000, 440_000),
        12,
    )
    assert found.sentence == "About 6 calls, 60k tokens, $0.24; 90% stay under $0.44; from 12 past tasks."


def test_one_unknown_price_among_past_tasks_leaves_the_dollars_open() -> None:
    found = forecast(line("small"), [*([Past(1, 1000, 5)] * ENOUGH), Past(1, 1000, None)], RATES)
    assert found is not None
    assert found.middle.micro_usd is None
    assert (
        found.sentence == "About 1 call, 1k tokens, price not known; 90% stay under 1k tokens; from 6 "
        "past tasks."
    )


@every(("lane", "most"), [("hotfix", 3), ("small", 8), ("full", 25)])
def test_without_a_past_the_lane_speaks(lane: str, most: int) -> None:
    found = forecast(line(lane), [Past(100, 10**9, 1)] * (ENOUGH - 1), RATES)
    assert found is not None
    assert (found.tasks, found.most.calls) == (0, most)
    assert found.middle.calls <= found.most.calls
    assert found.middle.tokens < found.most.tokens
    assert found.middle.micro_usd is not None
    assert found.most.micro_usd is not None
    assert 0 < found.middle.micro_usd < found.most.micro_usd
    assert "typical of the lane" in found.sentence


def test_a_price_is_zero_only_where_it_is_known_to_be() -> None:
    free, unknown = forecast(line("small"), [], FREE), forecast(line("small"), [], {})
    assert free is not None
    assert unknown is not None
    assert (free.middle.micro_usd, unknown.middle.micro_usd) == (0, None)
    assert "$0.00" in free.sentence


def test_nobody_knows_anything_about_a_lane_of_ones_own() -> None:
    assert forecast(line("mine"), [], RATES) is None


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50), st.integers(1, 100))
def test_the_nearest_rank_is_a_value_that_so_many_do_not_exceed(values: list[int], percent: int) -> None:
    found = nearest_rank(values, percent)
    assert found in values
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 < percent * len(values)
