"""The router: a role names a tier, and this says which model is asked now, and why no other.

The models of the tier are asked in their order; one that is down or reads too little is skipped. Only when
they failed again and again, or cannot be used at all, a model of the next higher tier is asked: that costs
more, and is said. Success is counted and shown; it changes no order.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agentforge.core.errors import UserError
from agentforge.core.pipeline import TIERS, Tier
from agentforge.models.base import Answer, Model, ModelTrouble, Request, Reservation, TroubleKind, tool_tokens
from agentforge.models.known.local import LocalModels, lists, propose
from agentforge.models.known.providers import SCRIPTED, Provider
from agentforge.models.known.scores import NoScores, Scores
from agentforge.models.known.tiers import Tiers, higher, is_tier, single, split
from agentforge.models.known.windows import window_of
from agentforge.models.provider_model import installed, load_library
from agentforge.models.wrap.breaker import NotSent
from agentforge.models.wrap.clock import REAL, Clock
from agentforge.models.wrap.limit import LONGEST_HOLD_S
from agentforge.models.wrap.stack import Stack

REPEATED: Final = 2
"""So many failures in a row, and the next model is asked."""
_FORGIVEN_S: Final = 300.0
_FINAL: Final[frozenset[TroubleKind]] = frozenset({"auth", "no_model", "not_installed"})
"""What stays as it is while this process runs."""
_PASSING: Final[tuple[TroubleKind, ...]] = ("unreachable", "rate_limit")
"""What may be otherwise in a while."""
CONFIGURE: Final = (
    "Run `agentforge setup`; or name one with `--model PROVIDER:MODEL` or AGENTFORGE_MODEL, or write "
    "`tiers:` into your config.yaml."
)


@dataclass(frozen=True, slots=True)
class Picked:
    """The model that the router chose, and why."""

    model: Model
    spec: str
    tier: str
    """Where it was found: the tier that was asked for, or a higher one."""
    why: str
    """Empty for the first model of the tier; else what was passed over, and for what."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model that could be asked, as it stands now."""

    spec: str
    """As it is configured."""
    tier: Tier
    asks: str
    """What would really be asked: another model may stand in."""
    note: str = ""
    """Why another one stands in."""
    skipped: str = ""
    """Why it is not asked; empty: it can be."""
    kind: TroubleKind = "no_model"
    temporary: bool = False
    """Whether it may be there in a moment."""
    wait_s: int | None = None
    failures: int = 0
    """In a row, lately."""
    away: bool = False
    """Nothing answered there the last time: another one of its tier comes first."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked, and has not failed too often lately."""
        return not self.skipped and self.failures < REPEATED


@dataclass(slots=True)
class _FailureRecord:
    count: int = 0
    at: float = 0.0
    until: float = 0.0
    """Before then it asked to be left alone."""
    away: bool = False
    final: ModelTrouble | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a router needs beside the list of models."""

    open: Callable[[str], Model]
    """From `provider:model` to the bare model; raises `UserError`."""
    providers: Mapping[str, Provider]
    local: LocalModels = field(default_factory=LocalModels)
    stack: Stack = field(default_factory=Stack)
    window: Callable[[Provider | None, str], int | None] = window_of
    scores: Scores = NoScores()
    clock: Clock = REAL


class Router:
    """Chooses; from any thread. What it remembers, it remembers while the process runs."""

    def __init__(self, tiers: Tiers, parts: Parts, *, local_only: bool = False) -> None:
        self._parts = parts
        self.configured = tiers
        self.local_only = local_only
        self.tiers = tiers.only(self._is_local) if local_only else tiers
        self._lock = threading.Lock()
        self._models: dict[str, Model] = {}
        self._failing: dict[str, _FailureRecord] = {}

    @classmethod
    def single(cls, model: Model, spec: str = "") -> "Router":
        """A router that has one model for every tier."""
        name = spec or model.name
        return cls(single(name), Parts(lambda _: model, {}))

    def pick(self, request: Request, input_tokens: int) -> Picked:
        """The model to ask for `request`, whose context counts `input_tokens`. Raises `ModelTrouble` if there
        is none.
        """
        tier: Tier = request.tier if is_tier(request.tier) else "generation"
        need = _need(request, input_tokens)
        passed: list[Candidate] = []
        for candidate in self._candidates(tier, need, request.turn):
            # A model that is only down for a moment is waited for, or asked again, before a dearer one is
            # asked.
            if candidate.tier != tier and (
                again := next((item for item in passed if item.tier == tier and item.ready), None)
            ):
                return self._picked(again, passed, tier, need)
            if candidate.tier != tier and (awaited := _awaited(passed, tier)):
                raise self._unavailable(awaited)
            judged = self._as_it_is(candidate)
            if judged.ready and not judged.away:
                return self._picked(judged, passed, tier, need)
            passed.append(judged)
        if awaited := _awaited(passed, tier):
            raise self._unavailable(awaited)
        for candidate in sorted(
            passed, key=lambda item: not item.ready
        ):  # the one that failed least is asked again
            if not candidate.skipped:
                return self._picked(candidate, passed, tier, need)
        raise self._nobody(tier, passed)

    def named(self, spec: str, tier: str) -> Picked:
        """The very model that a call was sent to: its answer is still to come. Raises `UserError` if it
        cannot be opened.
        """
        return Picked(_Watched(self._open(spec), self, tier, spec), spec, tier, "")

    def explain(self, tier: Tier, need: int = 0) -> tuple[Candidate, ...]:
        """Every model that a call of the tier could reach, in order, as it stands now."""
        return tuple(self._as_it_is(candidate) for candidate in self._candidates(tier, need))

    def another(self, request: Request, input_tokens: int, than: str) -> bool:
        """Whether a fresh call could go to another model than `than`: then a failure that stays need not end
        the work.
        """
        return self.others(request.tier, _need(request, input_tokens), than)

    def others(self, tier: str, need: int, than: str) -> bool:
        """Whether a call of that size could go to another model than `than`."""
        return any(
            item.ready and item.asks != than
            for item in self.explain(tier if is_tier(tier) else "generation", need)
        )

    def load(self, spec: str) -> None:
        """Loads the library that a call of this model needs: what dies after this may have sent something."""
        if (provider := self._provider(spec)) is not None:
            load_library(provider)

    def load_beside(self) -> None:
        """Begins to load what the first choices need, beside the work that comes before a call. What is
        missing is said by the call that needs it.
        """
        found = (self._provider(self.tiers.models[tier][0]) for tier in TIERS)
        wanted = {provider.wire: provider for provider in found if provider and installed(provider.extra)}

        def load_each() -> None:
            for provider in wanted.values():
                load_library(provider)

        threading.Thread(target=load_each, daemon=True).start()

    def call_off(self) -> None:
        """Ends the waiting of every call that was not sent yet."""
        self._parts.stack.call_off()

    def ended(self, tier: str, spec: str, outcome: Answer | ModelTrouble) -> None:
        """How a call ended; `Picked.model` tells it by itself."""
        if isinstance(outcome, ModelTrouble):
            if isinstance(outcome, NotSent) or outcome.kind == "script":
                return
            self._note(spec, outcome)
        else:
            with self._lock:
                self._failing.pop(spec, None)
        self._parts.scores.record(
            tier, spec, ok=not isinstance(outcome, ModelTrouble) and outcome.reply is not None
        )

    def _candidates(self, tier: Tier, need: int, turn: int = 0) -> Iterable[Candidate]:
        seen = set()
        for level in (tier, *higher(tier)):
            specs = self.tiers.models[level]
            first = turn % len(specs) if level == tier and specs else 0
            for spec in (*specs[first:], *specs[:first]):
                if spec not in seen:
                    seen.add(spec)
                    yield self._examined(Candidate(spec, level, spec), self._provider(spec), need)

    def _provider(self, spec: str) -> Provider | None:
        return self._parts.providers.get(split(spec)[0])

    def _is_local(self, spec: str) -> bool:
        provider = self._provider(spec)
        return split(spec)[0] == SCRIPTED if provider is None else provider.local

    def _examined(self, candidate: Candidate, provider: Provider | None, need: int) -> Candidate:
        """The candidate, with why it is not asked now if anything speaks against it."""
        window = None
        if provider is not None and lists(provider):
            choice = self._parts.local.choice(provider, split(candidate.spec)[1], candidate.tier)
            if choice.model is None:
                kind: TroubleKind = "unreachable" if choice.down else "no_model"
                failures = self._failures(candidate.spec).count
                return replace(
                    candidate,
                    skipped=choice.why,
                    kind=kind,
                    temporary=choice.down and failures < REPEATED,
                    failures=failures,
                )
            candidate = replace(candidate, asks=f"{provider.name}:{choice.model}", note=choice.why)
            window = choice.window
        failing = self._failures(candidate.asks)
        candidate = replace(candidate, failures=failing.count, away=failing.away)
        if failing.final is not None:
            return replace(candidate, skipped=failing.final.user_sentence, kind=failing.final.kind)
        window = window or self._parts.window(provider, split(candidate.asks)[1])
        if window is not None and need > window:
            return replace(
                candidate,
                skipped=f"the request needs {need:,} tokens, and it reads {window:,}",
                kind="window",
            )
        standing = self._parts.stack.circuit(candidate.asks).standing()
        if standing.state == "open":
            wait = math.ceil(standing.wait_s)
            return replace(
                candidate,
                skipped=f"it is down; it is tried again in {wait} s",
                kind="unreachable",
                wait_s=wait,
            )
        if (held := self._pause_asked_s(failing, provider)) > 0:
            return replace(
                candidate, skipped=f"it asks to wait another {held} s", kind="rate_limit", wait_s=held
            )
        return candidate

    def _pause_asked_s(self, failing: _FailureRecord, provider: Provider | None) -> int:
        """How long it asked to be left alone, itself or with its whole account; a short pause is waited for
        and does not count.
        """
        account = self._parts.stack.meter(provider).held_s if provider is not None else 0.0
        return math.ceil(
            max(failing.until - self._parts.clock.now(), account if account > LONGEST_HOLD_S else 0.0)
        )

    def _as_it_is(self, candidate: Candidate) -> Candidate:
        """With what opening it brings up: a missing key, a missing SDK."""
        if candidate.skipped:
            return candidate
        try:
            self._open(candidate.asks)
        except UserError as error:
            return replace(candidate, skipped=str(error), kind="no_model")
        return candidate

    def _picked(self, candidate: Candidate, passed: list[Candidate], tier: Tier, need: int) -> Picked:
        spec = candidate.asks
        words = [f"{item.spec}: {_reason(item)}" for item in passed if item.spec != candidate.spec]
        if candidate.tier != tier:
            words.append(f"no model of {tier} is left, so one of {candidate.tier} is asked")
        if candidate.note:
            words.append(candidate.note)
        why = "; ".join(word.rstrip(".") for word in words)
        return Picked(
            _Watched(self._open(spec), self, candidate.tier, spec, need),
            spec,
            candidate.tier,
            f"{why}." if why else "",
        )

    def _open(self, spec: str) -> Model:
        with self._lock:
            if spec not in self._models:
                self._models[spec] = self._parts.stack.around(
                    spec, self._parts.open(spec), self._provider(spec)
                )
            return self._models[spec]

    def _failures(self, spec: str) -> _FailureRecord:
        with self._lock:
            failing = self._failing.get(spec)
            if failing is None or (
                failing.final is None
                and self._parts.clock.now() > max(failing.at + _FORGIVEN_S, failing.until)
            ):
                return _FailureRecord()
            return failing

    def _note(self, spec: str, trouble: ModelTrouble) -> None:
        provider = self._provider(spec)
        moved = provider is not None and lists(provider) and trouble.kind in ("unreachable", "no_model")
        if provider is not None and moved:
            self._parts.local.forget(provider)
        with self._lock:
            failing = self._failing.setdefault(spec, _FailureRecord())
            # A quota that is used up is no bad luck: another model comes first, until it is asked again.
            failing.count = REPEATED if trouble.kind == "quota" else failing.count + 1
            failing.at = self._parts.clock.now()
            failing.away = trouble.kind == "unreachable" and not trouble.maybe_billed
            if trouble.retry_after_s is not None and trouble.retry_after_s > LONGEST_HOLD_S:
                failing.until = failing.at + trouble.retry_after_s
            if trouble.kind in _FINAL and not moved:
                failing.final = trouble

    def _unavailable(self, candidate: Candidate) -> ModelTrouble:
        trouble = ModelTrouble(
            "unreachable",
            f"{candidate.spec}: {candidate.skipped}.",
            retryable=True,
            retry_after_s=candidate.wait_s,
        )
        self._note(candidate.spec, trouble)
        return trouble

    def _nobody(self, tier: Tier, passed: list[Candidate]) -> ModelTrouble:
        if not passed:
            what = (
                f"There is no model on this machine for {tier}"
                if self.local_only
                else f"No model is configured for {tier}"
            )
            allowed = ", and this task may ask no other" if self.local_only and self.configured.specs else ""
            return ModelTrouble(
                "no_model", f"{what}{allowed}. {propose(self._parts.providers.values()) or CONFIGURE}"
            )
        reasons = "; ".join(dict.fromkeys(f"{item.spec}: {_reason(item)}".rstrip(".") for item in passed))
        kinds = {item.kind for item in passed}
        waits = [item.wait_s for item in passed if item.wait_s is not None]
        passing: list[TroubleKind] = [kind for kind in _PASSING if kind in kinds]
        kind: TroubleKind = "no_model"
        if passing:
            kind = passing[0]
        elif len(kinds) == 1:
            kind = kinds.pop()
        sentence = f"{reasons}." if len(passed) == 1 else f"No model of {tier} can be asked. {reasons}."
        return ModelTrouble(kind, sentence, retryable=bool(passing), retry_after_s=min(waits, default=None))


@dataclass(frozen=True, slots=True)
class _Watched:
    """A model that reports the end of each call to the router."""

    inner: Model
    router: Router
    tier: str
    spec: str
    need: int = 0
    """How many tokens the call is about; 0: no other model could take it over."""

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.inner.name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """What the model itself would take."""
        return self.inner.worst_case(request, input_tokens)

    def ask(self, request: Request) -> Answer:
        """Sends the request, and reports to the router how that ended."""
        try:
            answer = self.inner.ask(request)
        except ModelTrouble as trouble:
            self.router.ended(self.tier, self.spec, trouble)
            if (
                (trouble.retry_after_s or 0) > LONGEST_HOLD_S
                and self.need
                and self.router.others(request.tier, self.need, self.spec)
            ):
                trouble.retry_after_s = (
                    None  # Another model is there, and need not wait for this one's provider.
                )
            raise
        self.router.ended(self.tier, self.spec, answer)
        return answer


def _awaited(passed: list[Candidate], tier: Tier) -> Candidate | None:
    """A model of the tier itself that is only away for a moment."""
    own = [item for item in passed if item.tier == tier]
    return next((item for item in own if item.temporary), None)


def _need(request: Request, input_tokens: int) -> int:
    """What a model must be able to read and write."""
    return input_tokens + tool_tokens(request.tools) + request.max_output_tokens


def _reason(candidate: Candidate) -> str:
    if candidate.skipped or candidate.failures != 1:
        return candidate.skipped or f"failed {candidate.failures} times in a row"
    return "did not answer"
