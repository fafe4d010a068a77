"""The full line through the installed command, on a released project of another layout: a branch whose tests
pass by hand.
"""

from pathlib import Path

import pytest

from tests.whole.checkouts import Person, differences, photograph
from tests.whole.full_distribution import INFLECTION
from tests.whole.plays import finished
from tests.whole.test_distributions import make_it_lived_in, run_by_hand

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def person(request: pytest.FixtureRequest, tmp_path: Path, agentforge_home: Path) -> Person:
    assert request.config.cache is not None
    checkout = INFLECTION.check_out(request.config.cache.mkdir("distributions"), tmp_path / "checkout")
    return Person(checkout, tmp_path / "script.yaml")


def test_a_released_project_goes_the_full_line_to_a_verified_branch(person: Person, tmp_path: Path) -> None:
    make_it_lived_in(person)
    before = photograph(person.checkout)
    person.scripted(*INFLECTION.replies)
    data = finished(
        person.run(
            "start", INFLECTION.request, "--lane", "full", "--model", f"scripted:{person.script}", "--json"
        )
    )
    assert data["cost"]["calls"] == len(INFLECTION.replies)
    assert person.git("rev-parse", f"{data['branch']}^{{tree}}") == INFLECTION.tree
    assert differences(before, photograph(person.checkout)) == []
    assert [test["green"] for test in data["requirements"][0]["tests"] if test["id"] == INFLECTION.test] == [
        "passed"
    ]

    assert run_by_hand(INFLECTION, person, (data["branch"],), tmp_path / "by hand") == [set()]

    done = person.run("verify", data["branch"])
    assert (done.code, "the proof holds" in done.out) == (0, True), done.said
