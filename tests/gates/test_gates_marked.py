"""Integration tests at the end of a change: what passed on the base must pass, what cannot run is named."""

from dataclasses import replace

import pytest

from agentforge.gates.suite.marked import MarkedVerdict, judge_marked, marked_lines
from tests.gates.bench_of_judges import QUICK, Site, make_site

CODE = "def total(values):\n    return sum(values)\n"
FILES = {
    "pytest.ini": "[pytest]\naddopts = -m 'not integration'\nmarkers = integration: apart\n",
    "calc.py": CODE,
    "test_calc.py": "from calc import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
    "tests/test_all.py": """\
import pytest
from calc import total


@pytest.mark.integration
def test_two_together():
    assert total([1, 2]) == 3


@pytest.mark.integration
def test_service():
    raise ConnectionError("no network here")


@pytest.mark.integration
@pytest.mark.skipif(True, reason="no database")
def test_database():
    pass
""",
}
NAME = "tests marked integration"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("marked"), FILES)


def judged(site: Site, changed: dict[str, str | None], expression: str = "integration") -> MarkedVerdict:
    runner = replace(site.runner, command=(*QUICK, "-m", expression), runs=[])
    return judge_marked(NAME, runner, (site.base, site.tree(changed)))


def test_what_fails_on_the_base_blocks_nobody_and_is_named(site: Site) -> None:
    found = judged(site, {"calc.py": CODE.replace("sum(values)", "sum(list(values))")})
    assert found.reasons == ()
    assert found.passed == 1
    left = dict(found.not_checked)
    assert left.pop(f"1 of the {NAME}") == "skipped: no database"
    assert len(found.not_checked) == 2
    assert found.not_checked[0][1].startswith("fail on the base, too: tests/test_all.py::test_service: ")
    assert [row["ids"] for row in found.runs] == [[], []]
    assert marked_lines({"integration": [found.to_json()]}) == [
        f"integration: {NAME}: 1 passed, none worse than on the base"
    ]


def test_what_passed_on_the_base_and_does_not_any_more_blocks(site: Site) -> None:
    found = judged(site, {"calc.py": CODE.replace("sum(values)", "values[0]")})
    (reason,) = found.reasons
    assert reason.startswith(
        f"tests/test_all.py::test_two_together passed before and is failed now ({NAME}): "
    )
    broken = judged(site, {"tests/test_all.py": "import nowhere\n"})
    assert broken.reasons


def test_what_cannot_run_at_all_is_not_run_and_says_why(site: Site) -> None:
    found = judged(site, {"calc.py": CODE + "\n"}, "elsewhere")
    assert found.reasons == ()
    assert found.not_run
    only_network = judged(site, {"calc.py": CODE + "\n\n"}, "integration and not skipif")
    assert only_network.passed == 1
    assert marked_lines({"integration": [found.to_json()]}) == [f"integration: {NAME}: not run"]


def test_what_is_removed_or_rewritten_is_ruled_on_because_nobody_can_give_it_up_by_its_id(site: Site) -> None:
    text = FILES["tests/test_all.py"]
    gone = judged(site, {"tests/test_all.py": text.replace("test_two_together", "two_together")})
    assert gone.reasons == ()
    (flag,) = gone.flags
    assert (flag.about, flag.ruling) == ("tests/test_all.py::test_two_together", True)
    assert flag.text.endswith("it was removed")
    bent = {
        "calc.py": CODE.replace("sum(values)", "sum(values) + 1"),
        "tests/test_all.py": text.replace("== 3", "== 4"),
    }
    rewritten = judged(site, {**bent})
    assert rewritten.reasons == ()
    (flag,) = rewritten.flags
    assert "it was rewritten, and as the base has it it is failed now" in flag.text
    skipped = text.replace(
        "@pytest.mark.integration\ndef test_two", "@pytest.mark.integration\n@pytest.mark.skip\ndef test_two"
    )
    assert judged(site, {"tests/test_all.py": skipped}).reasons
