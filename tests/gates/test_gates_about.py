"""A test must be about the change: it runs what changed, or is named to the reviewer, or proves nothing."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.gates.change.same_behaviour import UNPROVED, UNSEEN, not_tested
from agentforge.gates.flags import Flag, flags_of
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.new_tests.about import AboutChange, change_between, judge_about, weigh_change
from agentforge.gates.new_tests.mutation import mutation_lines
from agentforge.gates.verdict import Verdict
from agentforge.languages.python.testrun import TestRun
from agentforge.languages.values import CheckRun
from tests.gates.bench_of_judges import Site, make_site

pytestmark = pytest.mark.slow

BASE = {
    "shop.py": "LIMIT = 3\n\ndef price(count):\n    if count > LIMIT:\n        return 1\n    return count\n",
    "stock.py": "def left():\n    return 1\n",
    "data.json": "1",
}
FILE = "tests/test_shop.py"
HEAD = "import os, subprocess, sys\nimport pytest\nimport shop, stock\n\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("about"), BASE)


def about(site: Site, source: Mapping[str, str | None], **tests: str) -> AboutChange:
    """What is said of tests with these bodies; `setup` is no test, it stands before them."""
    before = tests.pop("setup", "")
    bodies = "".join(f"def test_{name}(made):\n    {body}\n\n" for name, body in tests.items())
    made = "@pytest.fixture\ndef made():\n    return None\n\n"
    tree = site.tree({**source, FILE: HEAD + (before or made) + bodies})
    ids = [f"{FILE}::test_{name}" for name in tests]
    return judge_about(site.runner, change_between(site.runner, site.base, tree), tree, ids)


def by_name(found: AboutChange) -> dict[str, str]:
    return {identity.rpartition("test_")[2]: how for identity, how in found.proved_by.items()}


def test_a_test_that_runs_the_change_is_told_from_one_that_passes_for_another_reason(site: Site) -> None:
    changed = {"shop.py": BASE["shop.py"].replace("return 1", "return 2")}
    mend = "import sys\nstock.left = lambda: 2\n@pytest.fixture\ndef made():\n    return None\n\n"
    found = about(
        site,
        changed,
        setup=mend,
        runs="assert shop.price(4) == 2",
        other_branch="assert shop.price(2) == 2",
        mended_by_the_test="assert stock.left() == 2",
        process='assert subprocess.run([sys.executable, "-c", "import shop; exit(shop.price(4))"]).returncode == 2',
        hidden='assert subprocess.run([sys.executable, "-I", "-c", "exit(2)"]).returncode == 2',
    )
    assert by_name(found) == {
        "runs": "running it",
        "other_branch": "nothing",
        "mended_by_the_test": "nothing",
        "process": "a process it starts",
        "hidden": "not measured",
    }
    assert found.reasons[1] == (
        f"{FILE}::test_mended_by_the_test passes without running a changed line: it never reaches shop.py: price, "
        "so it does not prove its requirement; let it call what was changed, or change what it calls"
    )
    assert [(flag.about, flag.ruling) for flag in found.flags] == [(f"{FILE}::test_hidden", True)]


def test_what_is_read_or_set_up_is_ruled_on_and_not_refused(site: Site) -> None:
    changed = {
        "shop.py": BASE["shop.py"].replace("LIMIT = 3", "LIMIT = 5"),
        "stock.py": "def left():\n    return 2\n",
    }
    before = "@pytest.fixture\ndef made():\n    return None\n\n"
    found = about(
        site, changed, setup=before, value="assert shop.price(4) == 4", runs="assert stock.left() == 2"
    )
    assert by_name(found) == {"value": "a value", "runs": "running it"}
    assert found.reasons == ()
    assert found.flags[0].text == (
        "proved by a value: it runs no changed line and depends on `LIMIT` in shop.py"
    )
    made = "@pytest.fixture\ndef made():\n    return stock.left()\n\n"
    fixed = about(site, {"stock.py": "def left():\n    return 2\n"}, setup=made, fixture="assert made == 2")
    assert by_name(fixed) == {"fixture": "its set-up"}
    assert fixed.flags[0].text == "runs changed code only while it is set up, not in its own body"


def test_changed_code_that_runs_while_the_test_is_loaded_is_ruled_on(tmp_path: Path) -> None:
    register = "KNOWN = []\n\ndef register(name):\n    KNOWN.append(name)\n    return name\n"
    site = make_site(tmp_path, {**BASE, "stock.py": register})
    changed = {"stock.py": register.replace("append(name)", "append(name.upper())")}
    before = "stock.register('a')\n\n@pytest.fixture\ndef made():\n    return None\n\n"
    found = about(site, changed, setup=before, registry="assert stock.KNOWN == ['A']")
    assert by_name(found) == {"registry": "a value"}
    assert "while the tests are loaded" in found.flags[0].text


def test_data_is_a_value_for_those_who_open_it(site: Site) -> None:
    changed = {"data.json": "2", "stock.py": "def left():\n    return 2\n"}
    opens = about(site, changed, data='assert open("data.json").read() == "2"')
    assert by_name(opens) == {"data": "a value"}
    assert by_name(about(site, changed, data="assert shop.LIMIT == 3")) == {"data": "nothing"}


@pytest.mark.parametrize("body", ["assert made.open", "sys.settrace(None); assert made.open"])
def test_what_only_a_fixture_runs_is_run_by_the_tests_of_the_base(tmp_path: Path, body: str) -> None:
    till = "class Till:\n    def __init__(self):\n        self.open = True\n        return\n\n    def shut(self):\n        self.open = False\n        return\n"
    made = "@pytest.fixture\ndef made():\n    return stock.Till()\n\n"
    old = {"shop.py": "", "stock.py": till, FILE: f"{HEAD}{made}def test_it(made):\n    {body}\n"}
    site = make_site(tmp_path, old)
    tree = site.tree({"stock.py": till.replace("        return\n", "")})
    found = not_tested(site.runner, site.base, tree, tree)
    told = UNPROVED if "settrace" not in body else UNSEEN
    assert [(flag.about, told in flag.text, flag.ruling) for flag in found] == [
        ("stock.py::Till.shut", True, True)
    ]


def test_what_is_said_alike_of_cases_of_one_test_is_said_once() -> None:
    cases = [
        Flag("tests/t.py::test_a[1]", "is odd", ruling=True),
        Flag("tests/t.py::test_a[b]", "is odd", ruling=True),
    ]
    others = [Flag("tests/t.py::test_a[c]", "is odd"), Flag("src/[a].py", "is odd", ruling=True)]
    found = flags_of([{"flags": [flag.to_json() for flag in (*cases, *others)]}])
    assert found == [Flag("tests/t.py::test_a", "is odd (2 of its cases)", ruling=True), *others]


OLD_VALUES = "KNOWN = {'a'}\n\n\ndef known(name):\n    return name in KNOWN\n"
OLD_CASES = """\
import pytest
import shop


@pytest.mark.parametrize(
    "name",
    [name for name in shop.KNOWN]
)
def test_known(name):
    assert shop.known(name)
"""


@pytest.mark.parametrize(
    "test", ["assert shop.known('b')", "assert shop.KNOWN == {*'ab'} and shop.known('b') in [shop.KNOWN]"]
)
def test_what_old_tests_take_their_cases_from_is_said_of_no_new_one(tmp_path: Path, test: str) -> None:
    site = make_site(tmp_path, {"shop.py": OLD_VALUES, FILE: OLD_CASES})
    tree = site.tree(
        {
            "shop.py": OLD_VALUES.replace("{'a'}", "{'a', 'b'}"),
            FILE: f"{OLD_CASES}\n\ndef test_b():\n    {test}\n",
        }
    )
    change = change_between(site.runner, site.base, tree)
    for ids in ([f"{FILE}::test_b"], [f"{FILE}::test_b", f"{FILE}::test_known[b]"]):
        _, record = weigh_change(site.runner, change, (site.base, tree), ids)
        said = [flag.text for flag in flags_of([record])]
        named = any("takes what it expects from" in text for text in said)
        assert named == ("KNOWN" in test or len(ids) > 1), said


def verdict(site: Site, source: Mapping[str, str | None], test: str, mutants: int = 0) -> Verdict:
    red = site.tree({FILE: HEAD + test})
    proof: dict[str, Json] = {"red_tree": red, "tests": {f"{FILE}::test_it": {"guard": False}}, "locked": {}}
    ran = CheckRun("ran")
    tree = site.tree(source, red)
    base = TestRun((), "ran")
    case = GreenCase(site.base, tree, proof, {}, base, frozenset(), ran, ran, ran, ran, mutants=mutants)
    return judge_green(site.runner, case)


def test_the_green_gate_refuses_a_test_that_never_reaches_the_change_and_passes_one_that_does(
    site: Site,
) -> None:
    two = {"stock.py": "def left():\n    return 2\n"}
    lie = verdict(site, two, "stock.left = lambda: 2\n\ndef test_it():\n    assert stock.left() == 2\n")
    assert lie.status == "failed"
    assert "it never reaches stock.py: left" in lie.reasons[0]
    honest = verdict(site, two, "def test_it():\n    assert stock.left() == 2\n")
    assert honest.status == "passed"
    assert (honest.record["about"], honest.record["flags"]) == ({f"{FILE}::test_it": "running it"}, [])


def test_comments_and_docstrings_implement_nothing_unless_somebody_reads_the_words(tmp_path: Path) -> None:
    site = make_site(tmp_path, {**BASE, "help.py": '"""Old."""\nTEXT = __doc__\n'})
    reads = 'def test_it():\n    assert "more" in open("stock.py").read()\n'
    lie = verdict(site, {"stock.py": "# more\n" + BASE["stock.py"]}, reads)
    assert lie.reasons[0].startswith("the change is the same program as before but for comments")
    assert lie.record["runs"] == []
    words = "import help\n\ndef test_it():\n    assert help.TEXT == 'New.'\n"
    honest = verdict(site, {"help.py": '"""New."""\nTEXT = __doc__\n'}, words)
    assert honest.status == "passed"
    assert honest.record["about"] == {f"{FILE}::test_it": "a value"}


def test_mistakes_that_no_new_test_notices_are_on_record_and_shown_to_the_reviewer(site: Site) -> None:
    source = {
        "stock.py": "def left():\n    if __debug__ and __name__ == 'pytest':\n        return 3\n    return 2\n"
    }
    found = verdict(site, source, "def test_it():\n    assert stock.left()\n", mutants=2)
    assert found.status == "passed"
    lines = mutation_lines(found.record["mutants"])
    assert lines[0].endswith("of 2 mistakes put into the change")
    flags = {flag.about: flag.text for flag in flags_of([found.record])}
    assert flags["stock.py"] == "line 2 asks for `pytest`: code should not know that it is tested"
    assert "is a little other" in flags.pop(f"{FILE}::test_it")
    assert len(lines) == len(flags)  # the first line counts, the others are the survivors
