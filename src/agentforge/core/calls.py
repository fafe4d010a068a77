"""Model calls: the last look before one leaves, its ticket, its answer, its trouble, and what it costs when
it is lost.
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentforge.core.decisions import Decisions, RunDecisions, budget_question, escalate
from agentforge.core.effects import Ask
from agentforge.core.events import (
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    Discarded,
    TaskFailed,
    WaitEnded,
    WaitLimitChanged,
)
from agentforge.core.inputs import AskQueued, AskStarted, AskTrouble, ChangeWait, TroubleKind
from agentforge.core.pending import holds, pending
from agentforge.core.state import State
from agentforge.core.values import Amount, Question, ReplyDigest

ASK_TRIES = 3
"""How often one call is tried before a person is asked."""
LONGEST_WAIT_S = 600
"""A provider that asks for a longer pause than this has no quota left for now."""
QUOTA_PAUSES = (60, 300, 900, 1800, 3600)
"""Seconds before a provider is asked again whose quota is used up, where it does not say how long."""
_REFUSALS: frozenset[TroubleKind] = frozenset({"quota", "rate_limit"})
_ANOTHER = "with `agentforge continue --model PROVIDER:NAME`"
_MENDING: Mapping[TroubleKind, str] = MappingProxyType(
    {
        "auth": "renew the key with `agentforge auth login PROVIDER`, then retry; or name another model "
        f"{_ANOTHER}",
        "quota": f"top up the account, then retry; or name another model {_ANOTHER}",
        "no_model": f"name another model {_ANOTHER}; `agentforge setup` lists them",
        "not_installed": f"install what is missing, then retry; or name another model {_ANOTHER}",
        "bad_request": f"name another model {_ANOTHER}",
        "day_cap": "wait until tomorrow or raise `day_cap` in your settings, then retry",
        "window": f"name a model with a larger context window {_ANOTHER}",
    }
)
"""What to do about trouble that stays as it is: trying again would end the same way."""


def sending(decisions: Decisions, given: AskStarted, key: str) -> str:
    """The last look before the bytes leave: is the call still owed, and does what this very model may cost
    fit the cap?
    """
    asks = (effect for effect in pending(decisions.state) if isinstance(effect, Ask))
    asked = next((effect for effect in asks if key == f"{effect.key}/sent"), None)
    if asked is None:
        decisions.tell(Discarded(key, Amount()))
        return "this call is no longer owed"
    if not holds(decisions.state, given.request.reserved):
        question = budget_question(decisions.state, given.request.reserved)
        return escalate(decisions, "budget", question, run=asked.run)
    decisions.tell(AskSent(asked.run, asked.key, given.request))
    return "a request is about to leave"


def queued(decisions: Decisions, given: AskQueued, key: str) -> str:
    """A ticket for a call under way; its key is the call's, with `/ticket/` and the number of the
    submission.
    """
    flights = decisions.state.flights
    flight = next((item for item in flights if key.startswith(f"{item.key}/ticket/")), None)
    if flight is None:
        decisions.tell(Discarded(key, Amount()))
        return "nothing is waiting for this batch any more"
    decisions.tell(AskTicketed(flight.run, flight.key, given.ticket))
    return "the provider has the request in a batch"


def landing(state: State, key: str) -> Ask | None:
    """A call that is answered while a person is asked about something else: it is paid for, and its run still
    waits for it.
    """
    flight = state.flight(key)
    run = state.find(flight.run) if flight is not None else None
    if state.status != "blocked" or run is None or run.point != "ask" or key != run.ask_key:
        return None
    return Ask(run.id, key, state.answered(run.label))


def answered(own: RunDecisions, reply: ReplyDigest, key: str) -> str:
    """Records that a call was answered."""
    own.tell(AskAnswered(own.id, key, reply))
    return "the reply is on disk"


def was_late(own: RunDecisions, key: str, *, maybe_billed: bool) -> str:
    """Records that a call's batch was late; it is sent live next."""
    own.tell(AskPromoted(own.id, key, _unaccounted(own.state, key, maybe_billed=maybe_billed)))
    return "the batch is late, so the call is sent live"


def trouble(own: RunDecisions, given: AskTrouble, key: str) -> str:
    """The provider did not answer: another try, or a person."""
    lost = _unaccounted(own.state, key, maybe_billed=given.maybe_billed)
    wait = given.retry_after_s or 0
    retry = given.retryable and own.run.troubles + 1 < ASK_TRIES and wait <= LONGEST_WAIT_S
    if not retry and (pause := _quota_pause(own, given)) is not None:
        retry, wait = True, pause
    until = given.at + wait if retry and wait and given.at else 0
    failed = AskFailed(
        own.id, key, given.kind, given.message, lost, retry, wait if retry else 0, given.at, until
    )
    waited = given.at - own.run.refused.since if own.run.refused is not None else 0
    own.tell(failed)
    if retry:
        return f"the provider did not answer ({given.kind}); trying again"
    if given.kind == "script":
        own.tell(TaskFailed(given.message))
        own.all.move("failed")
        return given.message
    advice = _MENDING.get(given.kind, given.advice)
    text = f"{given.message} It was waited for {waited // 60} minutes." if waited >= 60 else given.message
    return escalate(own.all, "model", Question(text, given.options, advice), run=own.id)


def _quota_pause(own: RunDecisions, given: AskTrouble) -> int | None:
    """How long to wait for a provider that refuses for lack of quota; None: it is not waited for, or not any
    longer.
    """
    told, limit = given.retry_after_s, own.state.max_wait_s
    if given.kind not in _REFUSALS or not given.at or (told is None and given.kind != "quota"):
        return None
    pause = QUOTA_PAUSES[min(own.run.troubles, len(QUOTA_PAUSES) - 1)] if told is None else max(1, told)
    since = own.run.refused.since if own.run.refused is not None else given.at
    return pause if given.at + pause - since <= limit else None


def change_wait(decisions: Decisions, given: ChangeWait) -> str:
    """Another limit from here on. Whoever waits longer than that asks a person now."""
    decisions.tell(WaitLimitChanged(given.max_wait_s, given.by))
    for run in decisions.state.runs:
        refused = run.refused
        if run.point == "pause" and refused is not None and refused.until - refused.since > given.max_wait_s:
            decisions.tell(WaitEnded(run.id))
            question = Question(refused.text, ("retry", "abort"), _MENDING["quota"])
            return escalate(decisions, "model", question, run=run.id)
    return f"a provider is waited for up to {given.max_wait_s} s"


def _unaccounted(state: State, key: str, *, maybe_billed: bool) -> Amount:
    flight = state.flight(key)
    return flight.reserved if flight is not None and maybe_billed else Amount()


def lose(decisions: Decisions, key: str) -> None:
    """Bills a call that was sent and will have no answer at its worst case."""
    flight = decisions.state.flight(key)
    if flight is not None:
        decisions.tell(AskLost(flight.run, key, flight.reserved))


def driver_started(decisions: Decisions) -> str:
    """Whatever was in flight is gone. What is in a batch outlives its driver, as long as somebody waits for
    it.
    """
    owed = {effect.key for effect in pending(decisions.state)}
    for flight in decisions.state.flights:
        waits = flight.key in owed or landing(decisions.state, flight.key) is not None
        if flight.delivery == "live" or not waits:
            lose(decisions, flight.key)
    if not decisions.events:
        return ""
    return "a driver took over; calls without an answer are billed at their worst case"
