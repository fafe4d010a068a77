"""Lies with a good face, handed to the gates: each is refused in the words of a named mechanism, or stands in the
record with the flag that shows it.
"""

from collections import Counter

import pytest

from tests.cheats.honest_lookalikes import HONEST_CHANGES
from tests.cheats.honest_tests import HONEST_TESTS
from tests.cheats.on_calling import CALLING
from tests.cheats.on_calls import CALLS
from tests.cheats.on_disguises import DISGUISES
from tests.cheats.on_empty_tests import EMPTY_TESTS, KNOWS_MORE
from tests.cheats.on_loading import LOADING
from tests.cheats.on_names_of_files import NAMES_OF_FILES
from tests.cheats.on_new_tests import NEW_TESTS
from tests.cheats.on_old_tests import OLD_TESTS
from tests.cheats.on_other_values import OTHER_VALUES
from tests.cheats.on_roughness import ROUGHNESS
from tests.cheats.on_surroundings import SURROUNDINGS
from tests.cheats.on_the_judge import JUDGE
from tests.cheats.on_the_rest import REST
from tests.cheats.on_the_way import WAYS
from tests.cheats.on_values import VALUES
from tests.cheats.stage import Cheat, Stage
from tests.depth import telling

FAMILIES = {
    "judge": JUDGE,
    "old tests": OLD_TESTS,
    "new tests": NEW_TESTS,
    "the rest": REST,
    "the way": WAYS,
    "empty tests": EMPTY_TESTS,
    "knows more": KNOWS_MORE,
    "disguises": DISGUISES,
    "surroundings": SURROUNDINGS,
    "calls": CALLS,
    "values": VALUES,
    "other values": OTHER_VALUES,
    "loading": LOADING,
    "roughness": ROUGHNESS,
    "calling": CALLING,
    "names of files": NAMES_OF_FILES,
}
CHEATS = [cheat for family in FAMILIES.values() for cheat in family]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("cheats"))


def shown(cheats: list[Cheat]) -> list[object]:
    """An open one is expected to be delivered: when it is caught, this file must say so."""
    marks = {"open": [pytest.mark.xfail(strict=True, reason="open: delivered, and nothing shows it")]}
    return [pytest.param(cheat, id=cheat.name, marks=marks.get(cheat.how, [])) for cheat in cheats]


@pytest.mark.slow
@pytest.mark.parametrize("cheat", shown(telling(CHEATS, 4)))
def test_a_cheat_is_caught_by_its_mechanism(stage: Stage, cheat: Cheat) -> None:
    ended = stage.play(cheat)
    assert ended.is_caught(cheat), f"{ended.gate or 'delivered'}: {ended.said}"


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["hotfix", "small"])
def test_the_honest_version_is_delivered_without_a_flag(stage: Stage, lane: str) -> None:
    ended = stage.play(Cheat("honest", "", lane=lane))  # type: ignore[arg-type]  # one of the three
    assert (ended.gate, ended.reasons, ended.flags) == ("", (), ())


@pytest.mark.slow
@pytest.mark.parametrize("change", telling(HONEST_TESTS, 1), ids=lambda change: change.name)
def test_a_new_function_with_an_honest_test_is_delivered(stage: Stage, change: Cheat) -> None:
    ended = stage.play(change)
    assert (ended.gate, ended.reasons) == ("", ())
    assert any(change.caught_by in flag.line for flag in ended.flags) == bool(change.caught_by)
    assert change.caught_by or ended.flags == ()


@pytest.mark.slow
@pytest.mark.parametrize("change", telling(HONEST_CHANGES, 2), ids=lambda change: change.name)
def test_an_honest_change_that_looks_like_a_cheat_is_delivered(stage: Stage, change: Cheat) -> None:
    ended = stage.play(change)
    assert (ended.gate, ended.reasons) == ("", ())
    assert bool(change.caught_by) == bool(ended.flags), ended.said
    assert change.caught_by in ended.said


def test_there_are_many_cheats_in_every_lane_and_few_are_open() -> None:
    assert max(Counter(cheat.name for cheat in CHEATS).values()) == 1
    assert len(CHEATS) >= 100
    assert {cheat.lane for cheat in CHEATS} == {"hotfix", "small", "full"}
    assert sum(cheat.how == "open" for cheat in CHEATS) <= 5
