"""Which model is asked: in order, past what is down or too small, and to a dearer tier only after repeated
failure.
"""

import socket
import threading
from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS
from agentforge.core.reply import Reply
from agentforge.models.base import Model, ModelTrouble, TroubleKind
from agentforge.models.known.local import LocalModels
from agentforge.models.known.providers import Provider, known
from agentforge.models.known.tiers import read_tiers
from agentforge.models.router import Parts, Router
from agentforge.models.wrap.breaker import Patience
from agentforge.models.wrap.stack import Stack
from tests.models.doubles import FakeClock, Told, answer, request, saying, together, trouble
from tests.models.listing import listing

GOOD = replace(answer(), reply=Reply())


class Counts:
    """Scores in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], tuple[int, int]] = {}
        self._lock = threading.Lock()

    def record(self, tier: str, spec: str, ok: bool) -> None:
        with self._lock:
            good, all_ = self.kept.get((tier, spec), (0, 0))
            self.kept[tier, spec] = good + ok, all_ + 1

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        return self.kept


class World:
    """A router over models that do as they are told."""

    def __init__(
        self,
        tiers: Mapping[str, list[str]],
        *,
        local_only: bool = False,
        windows: Mapping[str, int] | None = None,
        providers: Mapping[str, Provider] | None = None,
    ) -> None:
        self.models: dict[str, Told] = {}
        self.unopened: dict[str, str] = {}
        self.clock, self.scores, self.said = FakeClock(), Counts(), list[str]()
        self.providers: dict[str, Provider] = {**known({}), **(providers or {})}
        self.windows = windows or {}
        parts = Parts(
            self._open,
            self.providers,
            LocalModels(self.said.append, clock=self.clock, timeout_s=20),
            Stack(patience=Patience(trips=3, cool_s=30), clock=self.clock),
            lambda _, model: self.windows.get(model),
            self.scores,
            self.clock,
        )
        self.router = Router(
            read_tiers({"tiers": tiers}, {}, model=None, providers=self.providers),
            parts,
            local_only=local_only,
        )

    def _open(self, spec: str) -> Model:
        if spec in self.unopened:
            raise UsageError(self.unopened[spec], "Export it.")
        return self.models.setdefault(spec, saying(GOOD, name=spec))

    def fails(self, spec: str, kind: TroubleKind) -> None:
        self.models[spec] = saying(trouble(kind), name=spec)

    def ask(self, tier: str = "generation") -> tuple[str, str, str]:
        """Which model was picked, from which tier, and how the call ended."""
        picked = self.router.pick(request(tier=tier), 1000)
        try:
            picked.model.ask(request(tier=tier))
        except ModelTrouble as error:
            return picked.spec, picked.tier, error.kind
        return picked.spec, picked.tier, "ok"


def test_those_who_should_be_different_models_are_where_the_tier_has_several() -> None:
    world = World({"generation": ["openai:a", "openai:b"], "reasoning": ["openai:c"]})

    def picked(tier: str, turn: int) -> str:
        return world.router.pick(replace(request(tier=tier), turn=turn), 1000).spec

    assert [picked("generation", turn) for turn in range(3)] == ["openai:a", "openai:b", "openai:a"]
    assert [picked("reasoning", turn) for turn in range(2)] == ["openai:c", "openai:c"]
    down = World({"generation": ["openai:a", "openai:b"]})
    down.fails("openai:b", "server")
    second = replace(request(tier="generation"), turn=1)
    for _ in range(2):  # what is down is passed over, whoever's turn it is
        with pytest.raises(ModelTrouble):
            down.router.pick(second, 1000).model.ask(second)
    assert down.router.pick(second, 1000).spec == "openai:a"


def test_the_first_of_the_tier_is_asked_and_nothing_needs_saying() -> None:
    world = World({"generation": ["openai:a", "openai:b"]})
    picked = world.router.pick(request(), 10)
    assert (picked.spec, picked.tier, picked.why, picked.model.name) == (
        "openai:a",
        "generation",
        "",
        "openai:a",
    )


def test_after_repeated_failure_the_next_of_the_tier_then_the_next_tier() -> None:
    world = World({"generation": ["openai:a", "openai:b"], "reasoning": ["anthropic:big"]})
    world.fails("openai:a", "server")
    world.fails("openai:b", "timeout")
    asked = [world.ask()[:2] for _ in range(5)]
    assert asked == [("openai:a", "generation")] * 2 + [("openai:b", "generation")] * 2 + [
        ("anthropic:big", "reasoning")
    ]
    why = world.router.pick(request(), 1000).why
    failed = "openai:a: failed 2 times in a row; openai:b: failed 2 times in a row"
    assert why == f"{failed}; no model of generation is left, so one of reasoning is asked."


def test_the_last_one_is_asked_again_when_all_have_failed_until_it_is_down() -> None:
    world = World({"generation": ["openai:a"]})
    world.fails("openai:a", "server")
    assert [world.ask() for _ in range(3)] == [("openai:a", "generation", "server")] * 3
    with pytest.raises(ModelTrouble, match=r"openai:a: it is down; it is tried again in 30 s\.") as caught:
        world.ask()
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after_s) == (
        "unreachable",
        True,
        30,
    )
    world.clock.pass_(30)
    world.models["openai:a"].say = lambda _: GOOD
    assert [world.ask() for _ in range(2)] == [("openai:a", "generation", "ok")] * 2


def test_a_refused_key_is_not_sent_twice_and_another_model_is_known_to_be_there() -> None:
    world = World({"generation": ["openai:a", "anthropic:b"]})
    world.fails("openai:a", "auth")
    assert world.router.another(request(), 10, than="openai:a")
    assert [world.ask()[0] for _ in range(3)] == ["openai:a", "anthropic:b", "anthropic:b"]
    assert "openai:a: auth happened" in world.router.pick(request(), 10).why
    alone = World({"generation": ["openai:a"]})
    alone.fails("openai:a", "auth")
    assert alone.ask()[2] == "auth"
    assert not alone.router.another(request(), 10, than="openai:a")
    with pytest.raises(ModelTrouble, match="auth happened") as caught:
        alone.ask()
    assert (caught.value.kind, len(alone.models["openai:a"].asked)) == ("auth", 1)


def test_failures_are_forgiven_after_a_while_and_by_a_success() -> None:
    world = World({"generation": ["openai:a", "openai:b"]})
    world.models["openai:a"] = saying(trouble("server"), GOOD, trouble("server"), trouble("server"), GOOD)
    assert [world.ask()[0] for _ in range(5)] == ["openai:a"] * 4 + ["openai:b"]
    world.clock.pass_(301)
    assert world.ask() == ("openai:a", "generation", "ok")


def test_a_request_that_does_not_fit_goes_to_a_model_that_reads_more() -> None:
    world = World(
        {"generation": ["openai:small"], "reasoning": ["openai:large"]},
        windows={"small": 1050, "large": 200_000},
    )
    assert world.ask() == ("openai:large", "reasoning", "ok")
    assert (
        "openai:small: the request needs 1,100 tokens, and it reads 1,050"
        in world.router.pick(request(), 1000).why
    )
    assert world.router.pick(request(), 900).spec == "openai:small"
    world.windows = {"small": 10, "large": 10}
    with pytest.raises(ModelTrouble) as caught:
        world.ask()
    assert (caught.value.kind, caught.value.retryable) == ("window", False)


def test_a_missing_key_is_passed_over_and_said() -> None:
    world = World({"generation": ["openai:a", "anthropic:b"]})
    world.unopened["openai:a"] = "OPENAI_API_KEY is not set."
    picked = world.router.pick(request(), 10)
    assert (picked.spec, picked.why) == ("anthropic:b", "openai:a: OPENAI_API_KEY is not set. Export it.")
    neither = World({"generation": ["openai:a", "anthropic:b"]})
    neither.unopened = {
        "openai:a": "OPENAI_API_KEY is not set.",
        "anthropic:b": "ANTHROPIC_API_KEY is not set.",
    }
    with pytest.raises(
        ModelTrouble, match=r"OPENAI_API_KEY is not set.*ANTHROPIC_API_KEY is not set"
    ) as caught:
        neither.router.pick(request(), 10)
    assert caught.value.kind == "no_model"


def test_offline_safe_knows_only_what_is_on_this_machine() -> None:
    with listing("qwen2.5-coder:7b") as server:
        lmstudio = server.provider("lmstudio")
        tiers = {"generation": ["openai:a", "lmstudio:qwen2.5-coder:7b"], "reasoning": ["anthropic:b"]}
        world = World(tiers, local_only=True, providers={"lmstudio": lmstudio})
        assert {world.ask(tier)[0] for tier in TIERS} == {"lmstudio:qwen2.5-coder:7b"}
        assert [item.spec for item in world.router.explain("generation")] == ["lmstudio:qwen2.5-coder:7b"]
    hosted = World({"generation": ["openai:a"]}, local_only=True)
    hosted.providers.clear()
    hosted.providers["openai"] = known({})["openai"]
    with pytest.raises(
        ModelTrouble, match="There is no model on this machine for generation, and this task may ask no other"
    ) as caught:
        hosted.ask()
    assert (caught.value.kind, hosted.models) == ("no_model", {})
    moved = World(
        {"generation": ["openai:a"]},
        local_only=True,
        providers=known({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}),
    )
    assert moved.ask()[0] == "openai:a"


def test_nothing_configured_names_the_ways_and_a_server_that_runs() -> None:
    world = World({})
    world.providers.clear()
    with pytest.raises(
        ModelTrouble,
        match=r"No model is configured for reasoning. Run `agentforge setup`; or name one with `--model",
    ):
        world.ask("reasoning")
    with listing("llama3.1:8b") as server:
        world.providers["ollama"] = server.provider("ollama")
        with pytest.raises(ModelTrouble, match=r"try `--model ollama:llama3.1:8b`"):
            world.ask()


def test_a_missing_local_model_is_stood_in_for_and_said_once() -> None:
    with listing("qwen2.5-coder:7b", "nomic-embed-text") as server:
        world = World({"generation": ["lmstudio:codestral:22b"]})
        world.providers["lmstudio"] = server.provider("lmstudio")
        assert [world.ask()[0] for _ in range(3)] == ["lmstudio:qwen2.5-coder:7b"] * 3
        assert (
            world.router.pick(request(), 10).why
            == "lmstudio does not have codestral:22b; using qwen2.5-coder:7b instead."
        )
        assert len(world.said) == 1


def test_a_local_server_that_is_not_up_is_waited_for_before_a_dearer_tier_is_asked() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    world = World({"generation": ["vllm:m"], "reasoning": ["anthropic:big"]})
    world.providers["vllm"] = known({"VLLM_BASE_URL": address})["vllm"]
    for _ in range(2):
        with pytest.raises(ModelTrouble, match=r"vllm:m: nothing answers at 127.0.0.1") as caught:
            world.ask()
        assert (caught.value.kind, caught.value.retryable) == ("unreachable", True)
    assert world.ask() == ("anthropic:big", "reasoning", "ok")
    beside = World({"generation": ["vllm:m", "openai:b"]})
    beside.providers["vllm"] = world.providers["vllm"]
    assert beside.ask() == ("openai:b", "generation", "ok")


def test_success_is_counted_per_tier_and_model_and_changes_no_order() -> None:
    world = World({"generation": ["openai:a"], "reasoning": ["openai:a", "openai:r"]})
    world.models["openai:a"] = saying(GOOD, answer(), trouble("server"), GOOD)
    for tier in ("generation", "generation", "generation", "reasoning"):
        world.ask(tier)
    assert world.scores.kept == {("generation", "openai:a"): (1, 3), ("reasoning", "openai:a"): (1, 1)}
    assert [item.spec for item in world.router.explain("reasoning")] == ["openai:a", "openai:r"]


def test_a_script_is_neither_scored_nor_passed_over() -> None:
    world = World({"generation": ["scripted:file"]})
    world.fails("scripted:file", "script")
    assert [world.ask() for _ in range(5)] == [("scripted:file", "generation", "script")] * 5
    assert world.scores.kept == {}


def test_one_model_serves_every_tier() -> None:
    router = Router.single(saying(GOOD, name="m"))
    assert {router.pick(request(tier=tier), 10).spec for tier in (*TIERS, "unknown")} == {"m"}


def test_many_callers_at_once_open_a_model_once_and_all_are_counted() -> None:
    world = World({"generation": ["openai:a"]})

    def ask() -> None:
        world.ask()

    together([ask] * 40)
    assert (len(world.models), world.scores.kept) == (1, {("generation", "openai:a"): (40, 40)})


def test_a_model_that_is_not_there_is_passed_over_at_once_but_asked_again_before_a_dearer_tier() -> None:
    world = World({"generation": ["openai:a", "openai:b", "mistral:c"], "reasoning": ["anthropic:big"]})
    for spec in ("openai:a", "openai:b"):
        world.fails(spec, "unreachable")
    assert [world.ask()[0] for _ in range(3)] == ["openai:a", "openai:b", "mistral:c"]
    assert world.router.pick(request(), 10).why == "openai:a: did not answer; openai:b: did not answer."
    alone = World({"generation": ["openai:a"], "reasoning": ["anthropic:big"]})
    alone.fails("openai:a", "unreachable")
    assert [alone.ask()[:2] for _ in range(3)] == [("openai:a", "generation")] * 2 + [
        ("anthropic:big", "reasoning")
    ]


def test_a_provider_that_asks_for_a_long_pause_is_left_alone_and_another_is_asked_without_waiting() -> None:
    world = World({"generation": ["openai:a", "openai:b", "mistral:c"]})
    world.models["openai:a"] = saying(trouble("rate_limit", after=3600), name="openai:a")
    picked = world.router.pick(request(), 10)
    with pytest.raises(ModelTrouble) as caught:
        picked.model.ask(request())
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after_s) == (
        "rate_limit",
        True,
        None,
    )
    # The account is to wait, so no model of it is asked.
    assert world.ask()[0] == "mistral:c"
    assert (
        world.router.pick(request(), 10).why
        == "openai:a: it asks to wait another 3600 s; openai:b: it asks to wait another 3600 s."
    )
    world.clock.pass_(3600)
    assert world.router.pick(request(), 10).spec == "openai:a"


def test_a_long_pause_stays_on_record_where_nobody_else_is_there() -> None:
    world = World({"generation": ["openai:a"]})
    world.models["openai:a"] = saying(trouble("server", after=900), GOOD, name="openai:a")
    with pytest.raises(ModelTrouble) as caught:
        world.router.pick(request(), 10).model.ask(request())
    assert (caught.value.retryable, caught.value.retry_after_s) == (True, 900)
    with pytest.raises(ModelTrouble, match="openai:a: it asks to wait another 900 s") as caught:
        world.ask()
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after_s) == (
        "rate_limit",
        True,
        900,
    )
    world.clock.pass_(900)
    assert world.ask()[2] == "ok"
