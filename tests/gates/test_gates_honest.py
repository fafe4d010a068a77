"""Every kind of honest change has its proof, and a weaker kind than the request asks for is none."""

from typing import Any

import pytest

from agentforge.core.values import Escalation, Question
from agentforge.gates.change_kind import KindOfChange, claimed, red_for_kind
from agentforge.gates.flags import flags_of
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.verdict import Verdict
from agentforge.languages.values import CheckRun
from tests.depth import SOAK, telling
from tests.gates.bench_of_judges import OneRunEach, Site, make_site
from tests.gates.honest_changes import CHANGES, FILES, PRICE, Honest, price

pytestmark = pytest.mark.slow

BEHAVIOUR = "net must never go below zero"
CLEAN = CheckRun("ran")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("honest"), FILES, OneRunEach)


def judged(
    site: Site, change: Honest, *, answers: tuple[Escalation, ...] = ()
) -> tuple[Verdict, Verdict | None]:
    """What RED and GREEN say of a change whose tests and code came in one reply."""
    runner, tree = site.runner, site.tree(change.files)
    baseline = runner.run(site.base)
    facts = (runner, site.base, tree, change.request)
    before = KindOfChange(*facts, escalations=answers)
    case = RedCase(
        site.base,
        tree,
        change.suite,
        {},
        same_author=True,
        request=change.request,
        old=frozenset(baseline.results),
    )
    case = red_for_kind(case, before)
    red = claimed(case, before, prove_red(runner, case))
    if red.status != "passed":
        return red, None
    after = KindOfChange(*facts, red=red.record, escalations=answers)
    if (refused := after.refusal()) is not None:
        return red, refused
    green = GreenCase(
        site.base, tree, red.record, change.suite, baseline, frozenset(), CLEAN, CLEAN, request=change.request
    )
    return red, after.recorded(judge_green(runner, after.prepared(green)))


def of_each_kind() -> list[Honest]:
    """Some of each kind; all of them in a soak."""
    kinds = dict.fromkeys(change.kind for change in CHANGES)
    return [item for kind in kinds for item in telling([each for each in CHANGES if each.kind == kind], 2)]


@pytest.mark.parametrize("change", of_each_kind(), ids=lambda change: change.name)
def test_an_honest_change_is_proved_as_what_it_is(site: Site, change: Honest) -> None:
    red, green = judged(site, change)
    assert (red.status, red.reasons) == ("passed", ())
    assert green is not None
    assert (green.status, green.reasons) == ("passed", ())
    assert green.record["kind"] == change.kind
    told = " ".join(flag.text for flag in flags_of([green.record]))
    assert all(words in told for words in change.flags), told
    assert change.flags or "not proved" not in told
