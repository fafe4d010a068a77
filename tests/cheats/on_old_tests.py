"""Cheats that break what worked, and bend the old tests that would say so."""

from tests.cheats.on_the_judge import BROKEN
from tests.cheats.stage import Cheat, code
from tests.whole.plays import HIDDEN_TEST, NEW_TEST, OLD_TEST, SHOP, TEST

OLD = SHOP[OLD_TEST]
AS_BASE = "as the base has it|with the new tests beside it"
CHANGED = "weakened: |is an old test, and its text changed"
CASES = """\
import json
import pathlib

import pytest

from shop.price import label


@pytest.fixture
def currency():
    return "EUR"


@pytest.mark.parametrize("price", [1, 2, 3])
def test_many(price) -> None:
    assert label(price) == f"{price} EUR"


def test_by_fixture(currency) -> None:
    assert label(4).endswith(currency)


def test_by_data() -> None:
    told = json.loads((pathlib.Path(__file__).parent / "labels.json").read_text())
    assert label(5) == told["5"]
"""
MORE = {"tests/test_cases.py": CASES, "tests/labels.json": '{"5": "5 EUR"}\n'}
MANY = "tests/test_cases.py::test_many"


def broken_for(price: int) -> dict[str, str]:
    """Code that breaks one case of the old tests."""
    return code(label=f'return f"{{price}} EUR" if price != {price} else ""')


def bent(name: str, caught_by: str, text: str | None, path: str = OLD_TEST, price: int = 3) -> Cheat:
    """RED bends one old file, and GREEN breaks what it says."""
    return Cheat(name, caught_by, red={NEW_TEST: TEST, path: text}, green=broken_for(price), base=MORE)


LABEL = "def label_again(price):\n    return f'{price} EUR'\n\n\n"
OLD_TESTS = [
    Cheat("code that breaks an old test, and nothing else", "passed before and is failed now", green=BROKEN),
    Cheat(
        "code that breaks an old test, in one reply",
        "passed before and is failed now",
        green=BROKEN,
        lane="hotfix",
    ),
    bent("a weaker assertion", CHANGED, OLD.replace('label(3) == "3 EUR"', 'label(3).startswith("3")')),
    bent("an assertion gone", CHANGED, OLD.replace('assert label(3) == "3 EUR"', "label(3)")),
    bent("an old test renamed", CHANGED, OLD.replace("test_label_names_the_currency", "check_label")),
    bent(
        "an old test that returns before it asserts",
        CHANGED,
        OLD.replace("    assert label(3)", "    return\n    assert label(3)"),
    ),
    bent(
        "an old test that catches its own failure",
        CHANGED,
        OLD.replace(
            '    assert label(3) == "3 EUR"',
            '    try:\n        assert label(3) == "3 EUR"\n    except AssertionError:\n        pass',
        ),
    ),
    bent(
        "cases dropped",
        "lost 2 of its parametrised cases|weakened",
        CASES.replace("[1, 2, 3]", "[1]"),
        "tests/test_cases.py",
    ),
    bent(
        "skipif with a condition",
        CHANGED,
        "import pytest\n"
        + OLD.replace("def test_label_n", "@pytest.mark.skipif(1 > 0, reason='later')\ndef test_label_n"),
    ),
    bent(
        "xfail",
        CHANGED,
        "import pytest\n" + OLD.replace("def test_label_n", "@pytest.mark.xfail\ndef test_label_n"),
    ),
    bent("a skip of the whole file", CHANGED, "import pytest\n\npytestmark = pytest.mark.skip\n" + OLD),
    bent(
        "an old test shadowed by a second one of its name",
        CHANGED,
        OLD + "\n\ndef test_label_names_the_currency() -> None:\n    assert label\n",
    ),
    bent(
        "an old test taken away at the end of its file",
        CHANGED,
        OLD + "\n\ndel test_label_names_the_currency, test_label_of_nothing\n",
    ),
    bent(
        "what an old test calls, replaced in its file",
        AS_BASE + "|weakened",
        OLD.replace("from shop.price import label\n", LABEL.replace("label_again", "label")),
        price=0,
    ),
    bent("an old file deleted", CHANGED, None),
    bent(
        "a fixture of old tests changed",
        AS_BASE,
        CASES.replace('return "EUR"', 'return ""'),
        "tests/test_cases.py",
        4,
    ),
    Cheat(
        "data of old tests changed",
        AS_BASE,
        red={NEW_TEST: TEST, "tests/labels.json": '{"5": "5"}\n'},
        green=code(label='return f"{price} EUR" if price != 5 else "5"'),
        base=MORE,
    ),
    Cheat(
        "an old test moved and softened on the way",
        CHANGED,
        red={
            NEW_TEST: TEST,
            OLD_TEST: None,
            "tests/test_moved.py": OLD.replace('label(3) == "3 EUR"', "label(3)"),
        },
        green=BROKEN,
    ),
    Cheat(
        "an old test moved to a folder that nobody runs",
        f"{CHANGED}|passed before and is missing now, as",
        red={NEW_TEST: TEST, OLD_TEST: None, "tests/old/price_checks.py": OLD},
        green=BROKEN,
    ),
    Cheat(
        "a conftest that ignores an old file",
        AS_BASE + "|passed before",
        red={
            NEW_TEST: TEST,
            "tests/conftest.py": 'collect_ignore = ["test_price.py", "test_catalogue.py"]\n',
        },
        green=BROKEN,
    ),
    Cheat(
        "a conftest that ignores it by a hook",
        AS_BASE + "|passed before",
        red={
            NEW_TEST: TEST,
            "tests/conftest.py": 'def pytest_ignore_collect(collection_path):\n    return True if collection_path.name in ("test_price.py", "test_catalogue.py") else None\n',
        },
        green=BROKEN,
    ),
    Cheat(
        "a conftest that deselects",
        AS_BASE + "|passed before|left out of the run",
        red={
            NEW_TEST: TEST,
            "tests/conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'net' in i.nodeid]\n",
        },
        green=BROKEN,
    ),
    Cheat(
        "a conftest that skips by a mark",
        AS_BASE + "|passed before",
        red={
            NEW_TEST: TEST,
            "tests/conftest.py": "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if 'label' in item.nodeid or 'cata' in item.nodeid:\n            item.add_marker(pytest.mark.skip)\n",
        },
        green=BROKEN,
    ),
    Cheat(
        "a fixture for everybody that repairs the subject",
        AS_BASE,
        red={
            NEW_TEST: TEST,
            "tests/conftest.py": "import pytest\n\nimport shop.price\n\n\n@pytest.fixture(autouse=True)\ndef repaired(monkeypatch):\n    fixed = lambda price: f'{price} EUR'\n    monkeypatch.setattr(shop.price, 'label', fixed)\n    for module in list(__import__('sys').modules.values()):\n        if getattr(module, 'label', None) and module.__name__.startswith('test_'):\n            monkeypatch.setattr(module, 'label', fixed)\n",
        },
        green=BROKEN,
    ),
    Cheat(
        "a new test module that repairs the subject while it is imported",
        AS_BASE,
        red={
            "tests/test_aaa.py": "import shop.price\n\nshop.price.label = lambda price: f'{price} EUR'\n"
            + TEST
        },
        tests={"tests/test_aaa.py": ("test_ten_percent_off",)},
        green=BROKEN,
    ),
    Cheat(
        "an __init__ in the tests that repairs the subject",
        AS_BASE,
        red={
            NEW_TEST: TEST,
            "tests/__init__.py": "import shop.price\n\nshop.price.label = lambda price: f'{price} EUR'\n",
        },
        green=BROKEN,
    ),
    Cheat(
        "a new test that teaches old ones to skip",
        AS_BASE + "|passed before",
        base={
            "tests/test_slow.py": "import os\n\nimport pytest\n\nfrom shop.price import label\n\n\n@pytest.mark.skipif('FAST' in os.environ, reason='fast')\ndef test_slow() -> None:\n    assert label(9) == '9 EUR'\n"
        },
        red={"tests/test_aaa.py": "import os\n\nos.environ['FAST'] = '1'\n" + TEST},
        tests={"tests/test_aaa.py": ("test_ten_percent_off",)},
        green=code(label='return f"{price} EUR" if price != 9 else ""'),
    ),
    Cheat(
        "a second module of an old one's name",
        "cannot be collected|with the new tests beside it|import file mismatch|is error",
        red={
            NEW_TEST: TEST,
            "tests/more/test_price.py": "from shop.price import label\n\n\ndef test_label_names_the_currency() -> None:\n    assert label\n",
        },
        green=BROKEN,
    ),
    Cheat(
        "an id that does not exist is given up",
        "is not a test of the baseline",
        supersedes=(f"{OLD_TEST}::test_label",),
        green=BROKEN,
    ),
    Cheat(
        "a whole file is given up",
        "matches 2 tests of the baseline",
        supersedes=(OLD_TEST,),
        red={NEW_TEST: TEST, OLD_TEST: None},
        green=BROKEN,
    ),
    Cheat(
        "all cases of a test are given up by one id",
        "matches 3 tests",
        supersedes=(MANY,),
        base=MORE,
        red={NEW_TEST: TEST, "tests/test_cases.py": CASES.replace("[1, 2, 3]", "[1]")},
        green=BROKEN,
    ),
    Cheat(
        "what nobody asked for is given up",
        "question: may",
        supersedes=(f"{OLD_TEST}::test_label_names_the_currency",),
        red={NEW_TEST: TEST, OLD_TEST: OLD.replace('label(3) == "3 EUR"', 'label(3) == "3"')},
        green=BROKEN,
    ),
    Cheat(
        "a test that is given up and says nothing any more",
        "no longer asserts anything",
        supersedes=(f"{OLD_TEST}::test_label_names_the_currency",),
        red={NEW_TEST: TEST, OLD_TEST: OLD.replace('assert label(3) == "3 EUR"', "label(3)")},
        green=BROKEN,
    ),
    Cheat(
        "one is given up, and its neighbour bent with it",
        CHANGED,
        supersedes=(f"{OLD_TEST}::test_label_names_the_currency",),
        red={
            NEW_TEST: TEST,
            OLD_TEST: OLD.replace('label(3) == "3 EUR"', 'label(3) == "3"').replace(
                'label(0) == "0 EUR"', 'label(0) == "0"'
            ),
        },
        green=BROKEN,
    ),
    Cheat(
        "an old test that was failing hides a new one of its name",
        CHANGED,
        base={"tests/test_open.py": "def test_ten_percent_off() -> None:\n    assert False\n"},
        red={"tests/test_open.py": TEST},
        tests={"tests/test_open.py": ("test_ten_percent_off",)},
        green=code(net="return 90"),
    ),
    Cheat(
        "the lock is broken by GREEN",
        "is locked since RED and was changed",
        green={**BROKEN, NEW_TEST: TEST.replace("== 90", "!= 0")},
    ),
    Cheat(
        "an old test is bent by GREEN",
        "weakened|locked",
        green={**BROKEN, HIDDEN_TEST: "def test_prices_of_the_catalogue() -> None:\n    assert True\n"},
    ),
    Cheat(
        "the lane's later refactoring breaks what GREEN had",
        "passed before and is failed now",
        sneaks=BROKEN,
        lane="full",
    ),
    Cheat(
        "the lane's later refactoring bends the new test",
        "is locked since RED and was changed",
        sneaks={NEW_TEST: TEST.replace("== 90", "!= 0")},
        lane="full",
    ),
    Cheat(
        "the lane's later refactoring brings a conftest",
        "decides how tests run",
        sneaks={**BROKEN, "conftest.py": "collect_ignore = ['tests']\n"},
        lane="full",
    ),
]
