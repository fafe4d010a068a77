"""The calls of new tests, made again where no test is: what differs is named, what is honest is not."""

import re
from pathlib import Path

import pytest

from agentforge.gates.new_tests.elsewhere import ENDED, Elsewhere, call_elsewhere
from agentforge.languages.outcomes import Watch
from tests.depth import telling
from tests.gates.bench_of_judges import Site, make_site
from tests.whole.plays import NEW_TEST, SHOP, SOURCE

CALLS = """\
import shop.price


def test_it(tmp_path) -> None:
    assert shop.price.{call}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(Path(tmp_path_factory.mktemp("elsewhere")), SHOP)


def called(site: Site, code: str, call: str, request: str = "") -> Elsewhere:
    tree = site.tree({SOURCE: SHOP[SOURCE] + code, NEW_TEST: CALLS.format(call=call)})
    run = site.runner.run(tree, [f"{NEW_TEST}::test_it"], Watch((SOURCE,)))
    assert [result.outcome for result in run.results.values()] == ["passed"], run.output
    changed = {SOURCE: re.findall(r"def (\w+)", code)}
    return call_elsewhere(site.runner, changed, (site.base, tree), run, request)


def test_code_that_gives_something_else_where_no_test_is_or_after_a_while_is_named(site: Site) -> None:
    code = """

import sys

COUNT = []


def twice(price: int, *more: int, by: int = 2) -> int:
    COUNT.append(1)
    return price * by if "pytest" in sys.modules else price


def once(price: list[int]) -> list[int]:
    COUNT.append(1)
    return price[: 1 if len(COUNT) < 50 else 0]
"""
    found = called(site, code, "twice(2, 3, by=4) == 8 and shop.price.once([3, 4]) == [3]")
    assert found.made == 2
    assert [(flag.about, flag.text, flag.ruling) for flag in found.flags] == [
        (
            f"{SOURCE}::twice",
            "called with [2, 3], {'by': 4}, it gives 8 in its test, and gives 2 where no test is",
            True,
        ),
        (
            f"{SOURCE}::once",
            "called with [[3, 4]] again and again, it first gives [3] and then gives []",
            True,
        ),
    ]


def test_what_a_call_leaves_of_its_arguments_elsewhere_is_what_is_told(site: Site) -> None:
    code = "\n\nimport sys\n\n\ndef fill(rows: list[int]) -> None:\n    rows.append(1 if 'pytest' in sys.modules else 2)\n"
    found = called(site, code, "fill([0]) is None")
    assert [flag.text for flag in found.flags] == [
        "called with [[0]], it leaves [[0, 1]] in its test, and [[0, 2]] where no test is"
    ]


def test_a_test_that_gets_what_the_base_gives_is_named(site: Site) -> None:
    found = called(site, "\n\nREADY = True\n", "net(100, 10) == 100")
    assert [flag.about for flag in found.flags] == [f"{NEW_TEST}::test_it"]
    assert "`net` with [100, 10] gives 100, as on the base" in found.flags[0].text


@pytest.mark.parametrize(
    ("request_", "names"), [("net must warn that it is deprecated", 0), ("net must take a tenth off", 1)]
)
def test_who_sees_a_warning_that_was_asked_for_is_not_said_to_see_what_the_base_gives(
    site: Site, request_: str, names: int
) -> None:
    code = (
        SHOP[SOURCE]
        + "\n\nimport warnings\n\n\ndef warned(price: int) -> int:\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n    return price\n"
    )
    base = site.tree(
        {SOURCE: code.replace("    warnings.warn('old', DeprecationWarning, stacklevel=2)\n", "")}
    )
    text = "import pytest\nimport shop.price\n\n\ndef test_it() -> None:\n    with pytest.warns(DeprecationWarning):\n        assert shop.price.warned(3) == 3\n"
    tree = site.tree({SOURCE: code, NEW_TEST: text})
    run = site.runner.run(tree, [f"{NEW_TEST}::test_it"], Watch((SOURCE,)))
    found = call_elsewhere(site.runner, {SOURCE: ["warned"]}, (base, tree), run, request_)
    assert len([flag for flag in found.flags if "as on the base" in flag.text]) == names


def test_a_call_that_a_variable_of_its_test_decides_is_not_said_to_be_as_before(site: Site) -> None:
    code = '\n\nimport os\n\n\ndef off() -> bool:\n    return os.environ.get("SHOP_OFF") in ("1", "on")\n'
    before = SHOP[SOURCE] + code.replace(', "on"', ",")
    text = "import shop.price\n\n\ndef test_it(monkeypatch) -> None:\n    monkeypatch.{how}\n    assert shop.price.net(100, 10) == 100\n"
    told = []
    for how in ('setenv("SHOP_OFF", "on")', 'setenv("OTHER", "on")'):
        tree = site.tree({SOURCE: SHOP[SOURCE] + code, NEW_TEST: text.format(how=how)})
        base = site.tree({SOURCE: before})
        run = site.runner.run(tree, [f"{NEW_TEST}::test_it"], Watch((SOURCE,)))
        found = call_elsewhere(site.runner, {SOURCE: ["net", "off"]}, (base, tree), run)
        told.append([flag.about for flag in found.flags])
    assert told == [[], [f"{NEW_TEST}::test_it"]]


HONEST = """

import itertools
import uuid
from pathlib import Path

NUMBERS = itertools.count()
KNOWN = {}


def number() -> int:
    return next(NUMBERS)


def token() -> str:
    return uuid.uuid4().hex


def remember(key: str, value: int) -> int:
    KNOWN[key] = value
    return len(KNOWN)


def recall(key: str) -> int:
    return KNOWN[key]


def size(path: str) -> int:
    return Path(path).stat().st_size


def ordered(items: list[int]) -> list[int]:
    items.sort()
    return items
"""


HONEST_CALLS = [
    ("number() == 0", 1),
    ("token() != ''", 1),
    ("remember('a', 1) == 1 and shop.price.recall('a') == 1", 2),
    ("size(str(tmp_path)) >= 0", 1),
    ("ordered([2, 1]) == [1, 2]", 1),
    ("net(0, 0) == 0 and shop.price.label is not None and shop.price.ordered([1]) == [1]", 2),
]
ALL_OF_THEM = (
    " and shop.price.".join(call for call, _ in HONEST_CALLS),
    sum(made for _, made in HONEST_CALLS),
)


@pytest.mark.parametrize(("call", "made"), telling([ALL_OF_THEM, *HONEST_CALLS], 1))
def test_honest_code_is_not_named(site: Site, call: str, made: int) -> None:
    found = called(site, HONEST, call)
    assert (found.made, found.flags, found.not_measured) == (made, (), "")


def test_calls_with_values_near_those_of_a_test_may_take_any_time_and_any_memory(site: Site) -> None:
    code = """

def wait(number: int) -> int:
    while number > 50:
        pass
    return number


def fill(number: int) -> int:
    return len(b"." * (number ** 7))
"""
    found = called(site, code, "wait(50) == 50 and shop.price.fill(9) == 4782969")
    assert (found.made, found.flags, found.not_measured) == (2, (), "")


def test_an_example_of_the_request_is_called_whatever_the_tests_call(site: Site) -> None:
    code = "\n\ndef twice(price: int) -> int:\n    return price + 3\n"
    found = called(site, code, "twice(3) == 6", "Add twice: twice(40) must give 80")
    assert [flag.text for flag in found.flags] == [
        "the request says that `twice(40)` gives 80, and it gives 43"
    ]


def test_code_that_ends_the_process_leaves_it_unmeasured(site: Site) -> None:
    code = "\n\nimport os\nimport sys\n\n\ndef gone() -> int:\n    return 1 if 'pytest' in sys.modules else os._exit(0)\n"
    found = called(site, code, "gone() == 1")
    assert found.not_measured == ENDED
    assert [flag.ruling for flag in found.flags] == [True]
