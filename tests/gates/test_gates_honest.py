"""Every kind of honest change has its proof, and a weaker kind than the request asks for is none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.values import Escalation, Question
from agentforge.gates.change.kind import KindOfChange, claimed, red_for_kind
from agentforge.gates.flags import flags_of
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.verdict import Verdict
from agentforge.languages.values import CheckRun
from tests.depth import telling
from tests.gates.bench_of_judges import OneRunEach, Site, make_site
from tests.gates.honest_changes import CHANGES, FILES, OF_RECEIPTS, Honest, price, suite

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
    """One of each kind, and a few that were refused once; all of them in a soak."""
    kinds = dict.fromkeys(change.kind for change in CHANGES)
    rest = [change for change in CHANGES if change not in OF_RECEIPTS]
    of_kinds = [item for kind in kinds for item in telling([each for each in rest if each.kind == kind], 1)]
    return [*of_kinds, *telling(OF_RECEIPTS, 2)]


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


def handed_in(
    request: str, files: Mapping[str, str | None], suite: Mapping[str, Any] | None = None
) -> Honest:
    return Honest("", request, "no_code", files, suite or {})


def answered(question: Question, answer: str) -> tuple[Escalation, ...]:
    return (Escalation("ESC-001", "question", "patch", question, answer=answer, by="ann"),)


DOCUMENT: dict[str, str | None] = {"README.md": "# Shop\n\nIt never goes below zero.\n"}
READS = (
    "import pathlib\n\n\ndef test_told():\n    assert 'below zero' in pathlib.Path('README.md').read_text()\n"
)
SAME: dict[str, str | None] = {"shop/price.py": price("    result = 0\n", "    result = int()\n")}
GUARD = "from shop.price import net\n\n\ndef test_nothing():\n    assert net(100, 0) == 100\n"
WEAKER: dict[str, tuple[str, dict[str, str | None], dict[str, Any]]] = {
    "documents": ("This changes no code", DOCUMENT, {}),
    "a docstring": ("This changes no code", {"shop/price.py": price("A prise tag.", "A price tag.")}, {}),
    "data": ("This changes no code", {"shop/rates.json": '{"USD": 2, "GBP": 3}'}, {}),
    "other code": ("This changes no behaviour", SAME, {}),
    "tests": (
        "This changes tests only",
        {"tests/test_more.py": GUARD},
        suite("tests/test_more.py", "test_nothing"),
    ),
    "code and a guard": (
        "This changes no behaviour",
        {**SAME, "tests/test_more.py": GUARD},
        {"test_files": [{"path": "tests/test_more.py", "tests": [{"name": "test_nothing", "guard": True}]}]},
    ),
}


def test_who_answers_a_role_that_less_will_do_is_not_asked_again(site: Site) -> None:
    asked = Question("net never goes below zero. What do you want?", ("Only document it", "Something else"))
    change = handed_in(BEHAVIOUR, DOCUMENT)
    red, green = judged(site, change, answers=answered(asked, "Only document it"))
    assert (red.status, green.status if green else "") == ("passed", "passed"), red.reasons
    too, _ = judged(site, change, answers=answered(asked, "Update the README, too"))
    assert too.status == "failed"


@pytest.mark.parametrize("name", WEAKER)
def test_a_weaker_kind_than_the_request_asks_for_is_fed_back_and_then_asked_about(
    site: Site, name: str
) -> None:
    words, files, named = WEAKER[name]
    change = handed_in(BEHAVIOUR, files, named)
    red, _ = judged(site, change)
    if name == "tests":  # it says that it fails, and does not
        assert "passes already" in red.reasons[0]
        return
    assert red.status == "failed"
    assert red.reasons[-1] == f"the request asks for new behaviour (“{BEHAVIOUR}”)"
    question = red.question
    assert question is not None
    assert question.text.startswith(f"{words}")
    assert "is that what you want?" in question.text
    assert (question.options, red.ask_after) == (("yes", "no", "abort"), 1)
    again, _ = judged(site, change, answers=answered(question, "no"))
    assert (again.status, again.question) == ("failed", None)
    red, green = judged(site, change, answers=answered(question, "yes"))
    assert (red.status, green and green.status) == ("passed", "passed")
    assert green is not None
    assert green.record["asked"] == {
        "kind": "new_behaviour",
        "allowed": green.record["kind"],
        "why": "ann answered ESC-001: yes",
    }


def test_a_test_that_reads_a_document_makes_no_behaviour_of_it(site: Site) -> None:
    change = handed_in(
        BEHAVIOUR, {**DOCUMENT, "tests/test_told.py": READS}, suite("tests/test_told.py", "test_told")
    )
    red, green = judged(site, change)
    assert red.status == "passed"
    assert green is not None
    assert green.status == "failed"
    assert "this change shows tests only" in green.reasons[0]
    assert green.question is not None


@pytest.mark.parametrize(
    ("request_", "files"),
    [
        ("Refactor shop/price.py", DOCUMENT),
        ("Rename net to net_price", {"tests/test_more.py": GUARD}),
        ("Add tests for net", DOCUMENT),
        ("Refactor shop/price.py", {}),
    ],
)
def test_nothing_less_than_what_was_asked_for_is_delivered(
    site: Site, request_: str, files: dict[str, str | None]
) -> None:
    _, green = judged(site, handed_in(request_, files))
    assert green is not None
    assert green.status == "failed"


def test_a_public_name_goes_only_if_the_request_names_it_or_a_person_says_so(site: Site) -> None:
    gone = price('\n\ndef legacy_net(price):\n    """Nobody calls this."""\n    return price\n', "")
    change = handed_in("Refactor the module of prices", {"shop/price.py": gone})
    _, green = judged(site, change)
    assert green is not None
    assert green.reasons == (
        "`shop/price.py::legacy_net` is gone, others may use it, and the request does not name it; put it back",
    )
    assert green.question is not None
    _, green = judged(site, change, answers=answered(green.question, "yes"))
    assert green is not None
    assert green.status == "passed"


def test_dead_code_that_something_uses_is_not_dead(site: Site) -> None:
    used = price('\n\ndef legacy_net(price):\n    """Nobody calls this."""\n    return price\n', "")
    change = handed_in(
        "Remove dead code in the shop", {"shop/price.py": used, "shop/more.py": "legacy_net = 1\n"}
    )
    _, green = judged(site, change)
    assert green is not None
    assert "legacy_net` is gone" in green.reasons[0]


def test_a_rename_excuses_nothing_beside_it(site: Site) -> None:
    rename = next(each for each in CHANGES if each.name == "a rename")
    test = str(rename.files["tests/test_price.py"])
    wrong = price("def net(", "def net_price(", price("price * percent // 100", "price * percent // 50"))
    files = {"shop/price.py": wrong, "tests/test_price.py": test.replace("== 90", "== 80")}
    found = judged(site, handed_in(rename.request, files))
    assert "failed" in {verdict.status for verdict in found if verdict is not None}
    _, green = judged(site, handed_in(rename.request, {"shop/price.py": wrong, "tests/test_price.py": test}))
    assert green is not None
    assert any("test_net" in reason for reason in green.reasons)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("rounded(17, 5)", "asserts nothing that could fail"),
        ("assert 'a'.upper() == 'A'", "runs no line of the project"),
        ("label(3)\n    assert len('ab') == 2", "notices no mistake"),
        ("assert rounded(17, 5) == 16", "ends in failed"),
    ],
)
def test_a_test_that_tests_nothing_is_not_what_was_asked_for(site: Site, body: str, why: str) -> None:
    text = f"from shop.price import label, rounded\n\n\ndef test_it():\n    {body}\n"
    named = {"test_files": [{"path": "tests/test_it.py", "tests": [{"name": "test_it", "guard": True}]}]}
    red, _ = judged(site, handed_in("Add tests for shop/price.py", {"tests/test_it.py": text}, named))
    assert red.status == "failed"
    assert why in red.reasons[0] or (why == "ends in failed" and "must pass now" in red.reasons[0])


def test_a_repaired_test_must_be_stable(tmp_path: Path) -> None:
    site = make_site(tmp_path, FILES)  # each run is another one
    flaky = next(each for each in CHANGES if each.name == "a flaky test")
    text = 'import random\n\nfrom shop.price import label\n\n\ndef test_legacy_label():\n    assert label(0) == "0 EUR"\n\n\n'
    text += "def test_clock():\n    assert label(1) == '1 EUR' and random.SystemRandom().random() < 0.2\n"
    red, _ = judged(site, handed_in(flaky.request, {"tests/test_old.py": text}, dict(flaky.suite)))
    assert red.status == "failed"
    assert "over 5 runs; it must pass in each" in red.reasons[0]


def test_a_request_about_settings_does_not_hide_old_tests(site: Site) -> None:
    hiding = FILES["pyproject.toml"].replace('["slow"]', '["slow", "fast"]\naddopts = "-k label"')
    _, green = judged(
        site, handed_in("Add the pytest marker fast to pyproject.toml", {"pyproject.toml": hiding})
    )
    assert green is not None
    assert green.status == "failed"
    other = handed_in("Document net in README.md", {**DOCUMENT, "pyproject.toml": hiding})
    _, green = judged(site, other)
    assert green is not None
    assert "the pytest settings in pyproject.toml changed" in green.reasons[0]
