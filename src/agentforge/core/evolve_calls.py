"""What an event of a model call does to its run, and to the bill."""

from typing import TypeAlias, assert_never

from agentforge.core.events import (
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    WaitEnded,
)
from agentforge.core.machine import point_after
from agentforge.core.replacing import replace
from agentforge.core.runs import ProviderRefusal, Run
from agentforge.core.state import Flight, State
from agentforge.core.values import Amount

MAX_SAID = 400
"""How many marks of replies, and of what came of them, are kept: no stage comes near it."""

CallEvent: TypeAlias = AskSent | AskTicketed | AskPromoted | AskLost | AskFailed | AskAnswered | WaitEnded


def evolve_call(state: State, event: CallEvent) -> State:
    """The next state, after an event of a call."""
    match event:
        case AskSent(run, key, sent):
            flight = Flight(key, sent.reserved, run, sent.model, sent.delivery)
            return replace(state, flights=(*state.flights, flight))
        case AskTicketed(_, key, ticket):
            flights = (replace(item, ticket=ticket) if item.key == key else item for item in state.flights)
            return replace(state, flights=tuple(flights))
        case AskPromoted(run, key, unaccounted):
            tried = next_try(state.find(run))
            return _ended(state, key, unaccounted, tried and replace(tried, hurried=True))
        case AskLost(run, key, reserved):
            return _ended(state, key, reserved, next_try(state.find(run)))
        case AskFailed():
            return _failed(state, event)
        case AskAnswered():
            return _answered(state, event)
        case WaitEnded(run):
            return state.with_run(replace(state.run_of(run), point=point_after(event)))
        case _:
            assert_never(event)


def landed(state: State, key: str) -> State:
    """The call with this key is in flight no more."""
    return replace(state, flights=tuple(item for item in state.flights if item.key != key))


def next_try(run: Run | None) -> Run | None:
    """The next call of this step has a key of its own."""
    return run and replace(run, asks=run.asks + 1)


def _ended(state: State, key: str, unaccounted: Amount, run: Run | None) -> State:
    """A call came to nothing. A run that is not under way any more leaves nothing but its bill."""
    after = landed(state, key)
    after = replace(after, unaccounted=after.unaccounted.plus(unaccounted))
    return after if run is None else after.with_run(run)


def _failed(state: State, event: AskFailed) -> State:
    own = next_try(state.find(event.run))
    if own is not None:
        refused = own.refused
        if event.until or refused is not None:
            refused = ProviderRefusal(
                refused.since if refused is not None else event.at, event.until, event.message
            )
        own = replace(
            own,
            point=point_after(event, second=not event.retry),
            troubles=own.troubles + 1,
            wait_s=event.wait_s,
            refused=refused,
        )
    return _ended(state, event.key, event.unaccounted, own)


def _answered(state: State, event: AskAnswered) -> State:
    own, reply = state.run_of(event.run), event.reply
    counts = {**dict(state.answers), own.label: state.answered(own.label) + 1}
    mark = f"{state.tree}:{reply.ref}"
    said = (*own.said, mark)[-MAX_SAID:]
    return state.with_run(
        replace(
            own,
            point=point_after(event),
            reply=reply,
            troubles=0,
            refused=None,
            said=said,
            again=mark in own.said,
        ),
        flights=tuple(item for item in state.flights if item.key != event.key),
        answers=tuple(sorted(counts.items())),
        spent=state.spent.plus(reply.cost),
        unpriced=state.unpriced + (not reply.priced),
        cached_tokens=state.cached_tokens + reply.usage.cached_tokens,
    )
