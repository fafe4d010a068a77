"""What a task will probably take, before it starts: calls, tokens and dollars, as a middle and as a
nine-in-ten value. Pure.

From the past tasks of this repository in the same lane, where there are enough of them; else from what the
lane typically takes. A forecast is no promise: the budget is the promise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from agentforge.core.pipeline import Pipeline, Stage, Tier

ENOUGH = 5
"""From so many past tasks on, they speak; with fewer the lane does."""
_LATEST = 40
"""Of very many, the newest: work changes."""
_CALLS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"hotfix": (2, 3), "small": (5, 8), "full": (16, 25)}
)
"""Typical calls per lane: the middle, and what nine in ten stay under."""
_ASKING: Mapping[str, int] = MappingProxyType({"hotfix": 2, "small": 4, "full": 8})
"""The stages of a whole lane that ask a model; a task with fewer of them takes so much less."""
_INPUT, _OUTPUT = (0.55, 0.9), (0.1, 0.25)
"""How much of its room for input and output a typical call uses, in the middle and at nine in ten."""


class TokenPrice(Protocol):
    """What tokens of a tier cost, in micro-dollars per million."""

    @property
    def input(self) -> int:
        """The price of tokens that the model reads."""
        ...

    @property
    def output(self) -> int:
        """The price of tokens that the model writes."""
        ...


@dataclass(frozen=True, slots=True)
class Past:
    """The calls, tokens and cost of one finished task."""

    calls: int
    tokens: int
    micro_usd: int | None
    """None: the price of one of its calls is not known."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The calls, tokens and cost at one point of a forecast."""

    calls: int
    tokens: int
    micro_usd: int | None
    """None: nobody knows the price."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a task will probably take."""

    middle: Expected
    """Half of such tasks take at most this."""
    most: Expected
    """Nine in ten take at most this."""
    tasks: int = 0
    """From how many past tasks; 0: from what the lane typically takes."""
    lane: str = ""

    @property
    def sentence(self) -> str:
        """In one line, for a person who is about to start."""
        middle, most = self.middle, self.most
        if middle.micro_usd is None or most.micro_usd is None:
            cost, under = "price not known", f"{_short(most.tokens)} tokens"
        else:
            free = most.micro_usd == 0
            cost = dollars(middle.micro_usd)
            under = f"{_short(most.tokens)} tokens" if free else dollars(most.micro_usd)
        source = (
            f"from {self.tasks} past tasks"
            if self.tasks
            else f"typical of the lane {self.lane} (your own tasks count once {ENOUGH} have ended)"
        )
        calls = f"{middle.calls} call{'' if middle.calls == 1 else 's'}"
        return f"About {calls}, {_short(middle.tokens)} tokens, {cost}; 90% stay under {under}; {source}."


def forecast(
    pipeline: Pipeline, past: Sequence[Past], rates: Mapping[Tier, TokenPrice | None]
) -> Forecast | None:
    """The forecast for a task in this line; None for a lane that nobody knows anything about."""
    known = list(past)[-_LATEST:]
    if len(known) >= ENOUGH:
        return Forecast(_nearest(known, 50), _nearest(known, 90), len(known), pipeline.lane)
    if pipeline.lane not in _CALLS:
        return None
    return Forecast(_typical(pipeline, rates, 0), _typical(pipeline, rates, 1), 0, pipeline.lane)


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """The smallest value that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def _nearest(past: Sequence[Past], percent: int) -> Expected:
    money = [task.micro_usd for task in past if task.micro_usd is not None]
    return Expected(
        nearest_rank([task.calls for task in past], percent),
        nearest_rank([task.tokens for task in past], percent),
        nearest_rank(money, percent) if len(money) == len(past) else None,
    )


def _typical(pipeline: Pipeline, rates: Mapping[Tier, TokenPrice | None], point: int) -> Expected:
    """The lane's calls, spread evenly over the stages that ask a model, each priced as its tier."""
    argued = [*_argued(pipeline)]
    usual = [stage for stage in pipeline.stages if stage.role is not None and stage not in argued]
    asking = [*usual, *argued]
    if not asking:
        return Expected(0, 0, 0)
    calls = _CALLS[pipeline.lane][point]
    if pipeline.line != "implement":  # the numbers are those of a whole change
        calls = -(-calls * len(usual) // _ASKING[pipeline.lane])
    calls = max(len(usual), calls if usual else 0) + len(argued) * (2 + point) // 2
    sizes = [
        (stage.tier, int(stage.context_tokens * _INPUT[point]), int(stage.max_output_tokens * _OUTPUT[point]))
        for stage in asking
    ]
    tokens = sum(given + said for _, given, said in sizes) * calls // len(sizes)
    micro = 0
    for tier, given, said in sizes:
        rate = rates.get(tier)
        if rate is None:
            return Expected(calls, tokens, None)
        micro += given * rate.input + said * rate.output
    return Expected(calls, tokens, -(-micro * calls // (len(sizes) * 1_000_000)))


def _argued(pipeline: Pipeline) -> Iterator[Stage]:
    """The stages of a debate, as each who is asked has them: one call each, if nothing is refused."""
    for stage in pipeline.stages:
        if stage.debaters or stage.makes("options"):
            yield from (stage, *(stage.read_by(debater.role) for debater in stage.debaters))


def _short(tokens: int) -> str:
    if tokens >= 10_000_000:
        return f"{tokens // 1_000_000:,}M"
    return f"{(tokens + 500) // 1000}k" if tokens >= 1000 else str(tokens)


def dollars(micro: int) -> str:
    """An estimate in dollars, rounded up to the cent."""
    if micro == 0:
        return "$0.00"
    cents = -(-micro // 10_000)
    return f"${cents // 100}.{cents % 100:02d}"
