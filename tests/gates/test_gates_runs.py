"""The runs of a verdict: how many there are, what they are compared in, and who pays for what wobbles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.runs.stability import Settled, settle
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import Outcome, Regression, TestResult, TestRun
from agentforge.languages.values import CheckRun
from tests.depth import telling
from tests.gates.bench_of_judges import OneRunEach, Site, make_site
from tests.rows import every

pytestmark = pytest.mark.slow

OLD = """\
import shop


def test_add():
    assert shop.add(1, 2) == 3


def test_wrong():
    assert shop.add(1, 2) == 4
"""
NEW = "import shop\n\n\ndef test_sub():\n    assert shop.sub(3, 1) == 2\n"
NAME = "tests/test_sub.py::test_sub"
ADD = "tests/test_old.py::test_add"
ADDS = "def add(a, b):\n    return a + b\n"
HONEST = f"{ADDS}\n\ndef sub(a, b):\n    return a - b\n"
SUITE: dict[str, Json] = {
    "test_files": [
        {"path": "tests/test_sub.py", "tests": [{"name": "test_sub", "requirement_ref": "REQ-001"}]}
    ]
}
CLEAN = CheckRun("ran")
# One more call each time, in whatever process.
COUNTED = """\
import os
def turn(name):
    with open({place!r} + name, "a") as file:
        file.write("x")
    return os.path.getsize({place!r} + name)
"""


def red(site: Site, files: Mapping[str, str | None], baseline: TestRun, request: str = "") -> Verdict:
    tree = site.tree({"tests/test_sub.py": NEW, **files})
    case = RedCase(
        site.base,
        tree,
        SUITE,
        {},
        same_author=False,
        request=request,
        old=frozenset(baseline.results),
        baseline=baseline,
    )
    return prove_red(replace(site.runner, runs=[]), case)


def green(
    site: Site, proof: Verdict, files: Mapping[str, str | None], baseline: TestRun, request: str = ""
) -> Verdict:
    assert proof.status == "passed", proof.reasons
    tree = site.tree(files, str(proof.record["red_tree"]))
    case = GreenCase(
        site.base, tree, proof.record, SUITE, baseline, frozenset(), CLEAN, CLEAN, request=request
    )
    return judge_green(replace(site.runner, runs=[]), case)


class Scene:
    def __init__(self, place: Path) -> None:
        self.site = make_site(
            place,
            {
                "shop.py": ADDS,
                "tests/test_old.py": OLD,
                "tests/more/test_more.py": "def test_more(): pass\n",
                "pytest.ini": "[pytest]\nmarkers = quick\n",
            },
            OneRunEach,
        )
        self.baseline = self.site.runner.run(self.site.base)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(tmp_path_factory.mktemp("runs"))


FAKE = "import shop\nshop.add = lambda a, b: 4\n"
DECIDES = "def pytest_pyfunc_call(pyfuncitem):\n    return pyfuncitem.name == 'test_never' or None\n"
BESIDE = [
    ({"tests/__init__.py": FAKE}, f"{ADD} is passed on the base and failed with the new tests beside it"),
    ({"tests/conftest.py": DECIDES}, "`tests/conftest.py` decides how tests end, by pytest_pyfunc_call"),
    (
        {"tests/conftest.py": "collect_ignore = ['more']\n"},
        "tests/more/test_more.py::test_more is passed on the base and missing with the new tests",
    ),
    (
        {"tests/conftest.py": "import pytest\npytest.approx = lambda value: value\n"},
        "the canary approx_must_pass came out as failed (replaced: pytest.approx)",
    ),
    (
        {
            "tests/conftest.py": "def pytest_collection_modifyitems(config, items):\n"
            "    gone = [item for item in items if 'more' in item.name]\n"
            "    items[:] = [item for item in items if item not in gone]\n"
            "    config.hook.pytest_deselected(items=gone)\n"
        },
        "tests/more/test_more.py::test_more is left out of the run, and was not on the base",
    ),
    (
        {"tests/conftest.py": FAKE.replace("4", "4 if a == 1 and b == 2 else 3")},
        f"{ADD} is passed on the base and failed",
    ),
    (
        {
            "tests/conftest.py": "import pytest\n@pytest.fixture\ndef four(): return 4\n"
            "def pytest_configure(config): config.addinivalue_line('markers', 'new')\n"
            "def pytest_addoption(parser): parser.addoption('--new')\n",
            "tests/__init__.py": "",
            "tests/pytest.ini": "[pytest]\n",
            "tests/test_plugins.py": "pytest_plugins = ['pytester']\n",
        },
        "",
    ),
]


@every(("files", "said"), telling(BESIDE, 3))
def test_what_red_adds_beside_its_tests_changes_nothing_for_old_ones(
    scene: Scene, files: dict[str, str | None], said: str
) -> None:
    found = red(scene.site, files, scene.baseline)
    assert (found.reasons[0] if found.reasons else "")[: len(said) or None] == said


def test_the_plan_of_runs_is_kept(scene: Scene) -> None:
    assert isinstance(scene.site.runner, OneRunEach)
    scene.site.runner.asked.clear()
    proof = red(scene.site, {}, scene.baseline)
    done = green(scene.site, proof, {"shop.py": HONEST}, scene.baseline)
    assert (done.status, done.reasons) == ("passed", ())
    *planned, (countered, ids), (emptied, again) = scene.site.runner.asked
    assert (countered != done.record["tree"], ids) == (True, (NAME,)), (
        "with a failure at the end of the new test"
    )
    assert (emptied not in (countered, done.record["tree"]), again) == (True, (NAME,)), (
        "with the new function emptied"
    )
    assert planned == [
        *((proof.record["red_tree"], ids) for ids in ((), (NAME,), (NAME,))),
        (done.record["tree"], ()),
        (done.record["old_tests_tree"], ()),
        (done.record["tree"], (NAME,)),
    ]
    assert done.record["flags"] == []


@every(
    ("settings", "request", "status"),
    [
        ("markers =\n    quick\n    slow", "Register a marker `slow` in pytest.ini.", "passed"),
        ("markers =\n    quick\n    slow", "Subtract two numbers.", "failed"),
        ("markers = quick\naddopts = -k sub", "Register a marker `slow` in pytest.ini.", "failed"),
    ],
)
def test_a_setting_changes_only_if_the_request_names_it_and_hides_no_test_even_then(
    scene: Scene, settings: str, request: str, status: str
) -> None:
    change = {"shop.py": HONEST, "pytest.ini": f"[pytest]\n{settings}\n"}
    done = green(scene.site, red(scene.site, {}, scene.baseline), change, scene.baseline, request)
    assert done.status == status
    if status == "passed":
        flags: Any = done.record["flags"]
        assert [(flag["about"], flag["ruling"]) for flag in flags] == [("setting markers", True)]


def dispute(now: str, base: str) -> Settled:
    """A test that passed on the base, and what it does each time from then on: `p`asses or `f`ails."""
    words: dict[str, Outcome] = {"p": "passed", "f": "failed"}
    left = {"tree": iter(now[1:]), "base": iter(base)}

    def run(tree: str, ids: Sequence[str]) -> TestRun:
        return TestRun((), "ran", ids=(ADD,), results={ADD: TestResult(ADD, words[next(left[tree])])})

    found = settle(run, "base", "tree", [Regression(ADD, "passed", words[now[0]], "why")])
    assert not [*left["tree"], *left["base"]], "no run but those that are needed"
    return found


def test_what_was_stable_and_is_not_any_more_counts_against_the_change() -> None:
    for_sure = dispute("fff", "pp")
    assert [item.message for item in for_sure.real] == ["why"]
    assert not for_sure.became_unstable | for_sure.flaky
    became = dispute("fpp", "pp" + "p" * 8)
    assert [item.message for item in became.real] == [
        "it became unstable (failed, passed, passed now; 11 times passed on the base): why"
    ]
    assert (became.became_unstable, became.flaky) == (frozenset({ADD}), frozenset[str]())
    for now, base in (("fff", "ff"), ("fff", "fp"), ("fpp", "pf"), ("fpf", "ppppf")):
        always = dispute(now, base)
        assert (always.real, always.became_unstable, always.flaky) == (
            (),
            frozenset[str](),
            frozenset({ADD}),
        )


@pytest.mark.parametrize("change", telling(["twice", "base", "honest"], 1))
def test_a_test_that_does_not_always_end_alike_proves_nothing(change: str, tmp_path: Path) -> None:
    counted = COUNTED.format(place=f"{tmp_path}/")
    old = "import count, shop\ndef test_add(): assert shop.add(1, 2) == 3\n"
    if change == "base":
        old += "def test_wobbles(): assert count.turn('base') % 2\n"
    site = make_site(tmp_path / "site", {"shop.py": ADDS, "count.py": counted, "tests/test_old.py": old})
    baseline = site.runner.run(site.base)
    proof = red(site, {}, baseline)
    source = HONEST
    if change == "twice":
        source = "import count\n\n\n" + HONEST.replace("a - b", "a - b + (count.turn('twice') > 1)")
    done = green(site, proof, {"shop.py": source}, baseline)
    if change == "twice":
        assert done.reasons == (f"{NAME}: passed in one run, failed in another",)
        return
    flaky = ["tests/test_old.py::test_wobbles"] if change == "base" else []
    flags: Any = done.record["flags"]
    assert (done.status, done.record["flaky"], [flag["about"] for flag in flags]) == ("passed", flaky, flaky)


def test_a_test_that_hangs_on_the_base_is_red_and_ends_in_time_afterwards(tmp_path: Path) -> None:
    hangs = "import time\n\n\ndef sub(a, b):\n    while a != b:\n        time.sleep(0.01)\n"
    site = make_site(tmp_path, {"shop.py": hangs}, OneRunEach)
    site = replace(site, runner=replace(site.runner, limit_s=0.5))
    baseline = TestRun((), "ran")
    proof = red(site, {}, baseline)
    assert proof.status == "passed", proof.reasons
    tests: Any = proof.record["tests"]
    assert tests[NAME]["reason"] == "OutOfTime: did not end within 0.5 s"
    assert green(site, proof, {"shop.py": HONEST}, baseline).status == "passed"


def test_a_test_whose_id_is_another_one_each_time_counts_for_nobody(tmp_path: Path) -> None:
    """Parameters may hold a moment; asked for by that id, the base does not know it any more either."""
    moment = (
        "import os\n\nimport pytest\n\n\n@pytest.mark.parametrize('when', [os.getpid()])\n"
        "def test_moment(when):\n    assert when\n"
    )
    files = {"shop.py": ADDS, "tests/test_old.py": OLD, "tests/test_moment.py": moment}
    site = make_site(tmp_path / "site", files)
    baseline = site.runner.run(site.base)
    (name,) = (each for each in baseline.results if "test_moment" in each)
    proof = red(site, {}, baseline)
    assert (proof.status, proof.reasons) == ("passed", ())
    gone = red(site, {"tests/test_old.py": OLD.replace("test_add", "addition")}, baseline)
    assert any(ADD in reason for reason in gone.reasons), "what the base always has, and is gone, is missed"
    settled = settle(site.runner.run, site.base, site.base, [Regression(name, "passed", "missing", "")])
    assert (settled.real, settled.flaky) == ((), frozenset({name}))
