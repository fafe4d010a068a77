"""One call through every wrapper, against the bare client, to a server on the loopback that answers at
once.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.core.reply import Json
from agentforge.models.base import Block, Model, OfferedTool, Request
from agentforge.models.known.providers import Provider, known
from agentforge.models.known.tiers import single
from agentforge.models.open import open_spec
from agentforge.models.provider_model import ProviderModel
from agentforge.models.router import Parts, Router
from agentforge.models.wrap.retry import Retrying
from agentforge.models.wrap.stack import Stack
from agentforge.models.wrap.trace import EndedCall, TracedCall
from agentforge.testing import OpenAIServer

CALLS = 60
GOAL = 1.3
"""The most that the wrappers may add: a call through all of them against the bare client."""
WARM = 5
SPEC = "openai:any"
REPLY: dict[str, Json] = {"actions": [{"name": "read_file", "args": {"path": "a.py"}}]}
TOOL = OfferedTool(
    "read_file",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Medians of calls that were made in turn."""

    name: str
    bare_ms: float
    wrapped_ms: float
    goal: float | None = None

    @property
    def times(self) -> float:
        """How much longer a call takes in its wrappers."""
        return self.wrapped_ms / self.bare_ms


@dataclass(frozen=True, slots=True)
class _Silent:
    """A tracer that costs as little as one can."""

    def began(self, call: TracedCall) -> None:
        """Nothing."""

    def ended(self, ended: EndedCall) -> None:
        """Nothing."""


def measure_wrappers() -> list[Wrapped]:
    """Router, retry, tracing, rate limit and breaker around one call of 8,000 tokens; and the same
    with a recording.
    """
    request = Request(
        "bench",
        "bench",
        "You read.",
        tuple(Block(f"part {at}", "word " * 1600) for at in range(4)),
        (TOOL,),
        4000,
    )
    with (
        OpenAIServer(lambda _: REPLY) as server,
        tempfile.TemporaryDirectory(prefix="agentforge-bench-") as place,
    ):
        limits = {"openai": {"requests_per_minute": 1_000_000, "tokens_per_minute": 1_000_000_000}}
        providers = known({"OPENAI_BASE_URL": server.base_url}, limits)
        bare = open_spec(SPEC, providers, lambda _: None)
        assert isinstance(bare, ProviderModel)
        from agentforge.models.wrap.record import recording  # noqa: PLC0415 - loads the HTTP library

        recorded = replace(bare, wrap=recording(Path(place) / "exchanges.jsonl"))
        calls = {
            "all wrappers": _through_all(bare, providers, request),
            "and a recording": _through_all(recorded, providers, request),
        }
        times = _in_turn([lambda: bare.ask(request), *calls.values()])
        # A recording is for those who look for a fault: it redacts all that is sent, and its cost is only
        # shown.
        goals = (GOAL, None)
        return [
            Wrapped(name, times[0], took, goal)
            for name, took, goal in zip(calls, times[1:], goals, strict=True)
        ]


def _through_all(model: Model, providers: Mapping[str, Provider], request: Request) -> Callable[[], object]:
    router = Router(single(SPEC), Parts(lambda _: model, providers, stack=Stack(_Silent())))
    return lambda: Retrying(router.pick(request, 8000).model).ask(request)


def _in_turn(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Medians in milliseconds. One after the other, so that whatever else the machine does hits all of
    them.
    """
    times: list[list[float]] = [[] for _ in calls]
    for number in range(WARM + CALLS):
        for call, kept in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            if number >= WARM:
                kept.append(time.perf_counter() - began)
    return [statistics.median(kept) * 1000 for kept in times]
