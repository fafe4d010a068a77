"""The tables of the machine: complete, run on, and true in both directions."""

import random
from typing import get_args

import pytest

from agentforge.core.digests import ActionResults, RequestDigest
from agentforge.core.effects import Ask, Await, Effect, RunEffect
from agentforge.core.errors import StateInvalid
from agentforge.core.events import Discarded, Event, RunEvent, TaskEvent
from agentforge.core.inputs import Acted, AskStarted, Outcome, Resolution, Resume, Unclassified
from agentforge.core.machine import (
    ASKS,
    EFFECT_AT,
    LEADS_TO,
    LEGAL_MOVES,
    OUTCOMES,
    OWNERS,
    POINTS,
    POINTS_AFTER,
    TERMINAL,
    check_place,
    path,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.reply import SIGNALS
from agentforge.core.values import STATUSES, Budget, OfRun, Owner
from tests.core.random_world import World, outcomes
from tests.core.scenes import FULL, HOTFIX, RISING, created
from tests.depth import SOAK
from tests.rows import every


def test_the_tables_know_every_status_point_owner_effect_and_outcome() -> None:
    assert set(LEGAL_MOVES) == set(STATUSES)
    assert set(EFFECT_AT) == set(POINTS)
    assert set(OWNERS) == set(get_args(Owner))
    assert set(OUTCOMES) == set(get_args(Effect))
    assert set(filter(None, EFFECT_AT.values())) == set(get_args(RunEffect))
    of_runs = {outcome for effect in get_args(RunEffect) for outcome in OUTCOMES[effect]}
    assert set(LEADS_TO) == of_runs | {Unclassified}
    assert set(ASKS) | {"success", "failure_retryable"} == set(SIGNALS)
    assert set(POINTS_AFTER) <= set(get_args(RunEvent))


def test_an_event_or_effect_is_of_a_run_exactly_if_its_class_says_so() -> None:
    assert all(issubclass(kind, OfRun) for kind in (*get_args(RunEvent), *get_args(RunEffect)))
    assert not any(issubclass(kind, OfRun) for kind in get_args(TaskEvent))
    assert set(get_args(Event)) == {*get_args(TaskEvent), *get_args(RunEvent)}
    with pytest.raises(TypeError, match="run"):
        get_args(RunEvent)[1](step=1)


@every("before", STATUSES)
def test_a_path_between_statuses_is_made_of_legal_moves(before: str) -> None:
    for target in STATUSES:
        here = next(status for status in STATUSES if status == before)
        try:
            steps = path(here, target)
        except StateInvalid:
            continue
        for status in steps:
            assert status in LEGAL_MOVES[here]
            here = status
        assert here == target


WALKS = 150
TELLING = (80, 3, 8, 86)
"""Walks that together meet every row of the table, tried first; where the rules have changed, all are tried."""


def _taken(seed: int) -> set[tuple[type[Outcome], str]]:
    """Where outcomes led in one walk through a task whose budget is soon used up."""
    chance = random.Random(seed)
    world = World()
    found: set[tuple[type[Outcome], str]] = set()
    budget = Budget(calls=chance.randint(2, 25))
    world.advance("create", created(chance.choice((HOTFIX, FULL, RISING)), budget))
    for number in range(120):
        state = world.state
        effect, given = _next(world, chance)
        if effect is None or given is None:
            waiting = state.open_escalation
            said = Resolution(waiting.id, "go on", "ada") if waiting else Resume("ada")
            world.advance(f"said/{number}", said)
            continue
        decided = world.advance(effect.key, given)
        after = world.state
        if not decided or any(isinstance(event, Discarded) for event in decided):
            continue
        if isinstance(effect, OfRun) and isinstance(given, (*OUTCOMES[type(effect)], Unclassified)):
            halted = after.status in TERMINAL or after.status == "blocked"
            found.add((type(given), after.status if halted else after.run_of(effect.run).point))
    return found


def _next(world: World, chance: random.Random) -> tuple[Effect | None, Outcome | None]:
    """What ends next. Calls are sent at once; one may be answered while a person is asked."""
    state = world.state
    for effect in pending(state):
        if isinstance(effect, Ask) and state.flight(effect.key) is None:
            worst = worst_case(state, state.run_of(effect.run))
            world.advance(f"{effect.key}/sent", AskStarted(RequestDigest("h", "m", worst, delivery="batch")))
    state = world.state
    owed = [effect for effect in pending(state) if not isinstance(effect, Await)]
    if state.status == "blocked" and state.flights:
        flight = state.flights[0]
        owed = [Ask(flight.run, flight.key, 0)]
    if not owed:
        return None, None
    effect = chance.choice(owed)
    possible = outcomes(effect, state)
    return effect, possible[0] if chance.random() < 0.7 else chance.choice(possible)


def test_outcomes_lead_where_the_table_says_and_nothing_in_it_is_idle() -> None:
    rows = {(outcome, place) for outcome, places in LEADS_TO.items() for place in places}
    found: set[tuple[type[Outcome], str]] = set()
    for seed in range(WALKS) if SOAK else dict.fromkeys((*TELLING, *range(WALKS))):
        found |= _taken(seed)
        if found >= rows and not SOAK:
            break
    assert found == rows


def test_an_outcome_that_leads_where_the_table_does_not_is_refused_by_name() -> None:
    with pytest.raises(
        StateInvalid, match="Acted of green/1/3/act cannot lead to deliver; it can lead to check"
    ):
        check_place(Acted(ActionResults("ref", "t", ())), "green/1/3/act", "deliver")
