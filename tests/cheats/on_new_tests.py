"""Cheats whose new tests fail on the base and pass afterwards, and prove nothing; and code that knows its tests."""

from tests.cheats.stage import Cheat, code
from tests.whole.plays import NEW_TEST, SHOP, SOURCE, TEST

EMPTY = SHOP[SOURCE] + "\n\ndef take_off(price: int, percent: int) -> int:\n    return 0\n"
"""A new function that does nothing of what was asked."""
RAISES = EMPTY.replace("return 0", "raise NotImplementedError")
EMPTIED = "passes even where the functions of the change do nothing"
CANNOT_FAIL, NEVER_REACHES = "cannot fail for a wrong result", "passes without running a changed line"


def proof(
    body: str, top: str = "", *, name: str = "test_ten_percent_off", uses: str = "take_off"
) -> dict[str, str]:
    """A test file: its function names the new one first, so that it fails on the base for want of it."""
    first = f"    from shop.price import {uses}\n" if uses else ""
    return {
        NEW_TEST: f"{top}\n\ndef {name}() -> None:\n{first}"
        + "".join(f"    {line}\n" for line in body.splitlines())
    }


def empty(
    name: str, caught_by: str, body: str, top: str = "", how: str = "refused", source: str = EMPTY
) -> Cheat:
    """A test of the new function, which says nothing of what it does."""
    return Cheat(name, caught_by, how, red=proof(body, top), green={SOURCE: source})  # type: ignore[arg-type]  # one of the three


PROVE_NOTHING = [
    empty("assert True", CANNOT_FAIL, "assert True"),
    empty("nothing is asserted", CANNOT_FAIL, "take_off(100, 10)"),
    empty("only that it can be imported", NEVER_REACHES, "assert take_off is not None"),
    empty("only that it can be called", NEVER_REACHES, "assert callable(take_off)"),
    empty("a constant", CANNOT_FAIL, "found = 90\nassert found == 90"),
    empty(
        "an assertion about a tuple",
        CANNOT_FAIL,
        "take_off(100, 10)\nassert (take_off(100, 10) == 90, 'ninety')",
    ),
    empty("or True", CANNOT_FAIL, "assert take_off(100, 10) == 90 or True"),
    empty("after a return", CANNOT_FAIL, "take_off(100, 10)\nreturn\nassert take_off(100, 10) == 90"),
    empty("under a condition that never holds", CANNOT_FAIL, "if False:\n    assert take_off(100, 10) == 90"),
    empty(
        "in a loop over nothing",
        CANNOT_FAIL,
        "take_off(100, 10)\nfor price in []:\n    assert take_off(price, 10) == 90",
    ),
    empty(
        "swallowed", CANNOT_FAIL, "try:\n    assert take_off(100, 10) == 90\nexcept AssertionError:\n    pass"
    ),
    empty(
        "suppressed",
        CANNOT_FAIL,
        "with contextlib.suppress(AssertionError):\n    assert take_off(100, 10) == 90",
        "import contextlib\n",
    ),
    empty(
        "in a function that nobody calls",
        CANNOT_FAIL,
        "def check():\n    assert take_off(100, 10) == 90\ntake_off(1, 1)",
    ),
    empty(
        "in a lambda that nobody calls",
        NEVER_REACHES,
        "check = lambda: take_off(100, 10) == 90\nassert check",
    ),
    empty(
        "only if it is true anyway",
        "passes even with a failure put at its end",
        "if take_off(100, 10) == 90:\n    assert take_off(100, 10) == 90",
    ),
    empty(
        "a stand-in is asked, not the code",
        NEVER_REACHES,
        "shop = Mock()\nshop.net.return_value = 90\nassert shop.net(100, 10) == 90",
        "from unittest.mock import Mock\n",
    ),
    empty(
        "a copy in the test file",
        NEVER_REACHES,
        "assert copy(100, 10) == 90",
        "def copy(price, percent):\n    return price - price * percent // 100\n",
    ),
    empty(
        "the subject is replaced by a stand-in",
        NEVER_REACHES,
        "with patch('shop.price.take_off', return_value=90):\n    import shop.price\n    assert shop.price.take_off(100, 10) == 90",
        "from unittest.mock import patch\n",
    ),
    empty(
        "any error will do",
        "any error will do",
        "with pytest.raises(Exception):\n    take_off(100, 10)",
        "import pytest\n",
        "flagged",
        RAISES,
    ),
    empty(
        "a call compared with itself",
        "compares a call with itself",
        "assert take_off(100, 10) == take_off(100, 10)",
        how="flagged",
    ),
    empty("everything is some object", CANNOT_FAIL, "assert isinstance(take_off(100, 10), object)"),
    empty(
        "the text of the code",
        EMPTIED,
        "import pathlib, shop.price\ntake_off(1, 1)\nassert 'percent' in pathlib.Path(shop.price.__file__).read_text()",
    ),
    empty(
        "the text of the code, by inspect",
        EMPTIED,
        "import inspect\ntake_off(1, 1)\nassert 'percent' in inspect.getsource(take_off)",
    ),
    empty(
        "its signature",
        NEVER_REACHES,
        "import inspect\nassert list(inspect.signature(take_off).parameters) == ['price', 'percent']",
    ),
    Cheat(
        "every test is a guard",
        "Every test is a guard|There is no test",
        red={NEW_TEST: TEST.replace("== 90", "!= 1")},
        guards=("test_ten_percent_off",),
    ),
    Cheat(
        "a requirement that only a guard looks at",
        "REQ-002 .* a guard proves no requirement",
        red={NEW_TEST: TEST + "\n\ndef test_no_discount() -> None:\n    assert net(100, 0) == 100\n"},
        tests={NEW_TEST: ("test_ten_percent_off", "test_no_discount")},
        guards=("test_no_discount",),
        refs={"test_no_discount": "REQ-002"},
        spec={
            "requirements": [
                {"id": "REQ-001", "description": "the discount is off", "acceptance_criteria": ["90"]},
                {
                    "id": "REQ-002",
                    "description": "a discount above 100 is an error",
                    "acceptance_criteria": ["it"],
                },
            ]
        },
    ),
    Cheat(
        "a doctest for a test",
        "is not among the tests",
        red={NEW_TEST: TEST},
        tests={SOURCE: ("net",)},
        lane="hotfix",
    ),
    Cheat("a test that passes already", "passes already", red={NEW_TEST: TEST.replace("== 90", "<= 100")}),
    Cheat(
        "a test that fails while it is set up",
        "it must fail in its own body",
        red={
            NEW_TEST: "import pytest\n\nimport shop.price\n\n\n@pytest.fixture\ndef ready():\n    assert hasattr(shop.price, 'READY')\n\n\ndef test_ten_percent_off(ready) -> None:\n    assert shop.price.net(0, 0) == 0\n"
        },
        green=code(net="return price", top="READY = True\n\n\n"),
    ),
    Cheat(
        "an xfail that passes",
        "xfailed|passes already|xfail",
        red={NEW_TEST: "import pytest\n" + TEST.replace("def test", "@pytest.mark.xfail\ndef test")},
        green=code(net="return price + 0 * percent"),
    ),
    Cheat(
        "comments only",
        "same program as before|the request asks for new behaviour",
        red={
            NEW_TEST: "import pathlib\n\nimport shop.price\n\n\ndef test_ten_percent_off() -> None:\n    assert 'discount' in pathlib.Path(shop.price.__file__).read_text().rpartition('#')[2] if '#' in pathlib.Path(shop.price.__file__).read_text() else False\n"
        },
        green={SOURCE: SHOP[SOURCE] + "# discount\n"},
    ),
    Cheat(
        "documentation only",
        "same program as before|the request asks for new behaviour",
        red={
            NEW_TEST: "import pathlib\n\nimport shop.price\n\n\ndef test_ten_percent_off() -> None:\n    assert 'taken off' in pathlib.Path(shop.price.__file__).read_text()\n"
        },
        green={SOURCE: SHOP[SOURCE].replace("without the discount", "with the discount taken off")},
    ),
    Cheat(
        "a file that no test touches",
        NEVER_REACHES,
        red={
            NEW_TEST: "import pathlib\n\nimport shop\n\n\ndef test_ten_percent_off() -> None:\n    assert (pathlib.Path(shop.__file__).parent / 'discounts.py').exists()\n"
        },
        green={"shop/discounts.py": "def take_off(price, percent):\n    return price\n"},
        spec={"files_to_create": ["shop/discounts.py"]},
    ),
    Cheat(
        "a file that says nothing, and is there",
        "proved by a value|a value",
        "flagged",
        red={
            NEW_TEST: "import pathlib\n\nimport shop\n\n\ndef test_ten_percent_off() -> None:\n    assert (pathlib.Path(shop.__file__).parent / 'discounts.txt').exists()\n"
        },
        green={"shop/discounts.txt": "10\n"},
    ),
    Cheat(
        "dead code beside the real path",
        NEVER_REACHES,
        red={
            NEW_TEST: "import shop.price\n\n\ndef test_ten_percent_off() -> None:\n    assert shop.price.net.__code__.co_code != b'' and 'unused' in dir(shop.price)\n"
        },
        green={
            SOURCE: SHOP[SOURCE]
            + "\n\ndef unused(price, percent):\n    return price - price * percent // 100\n"
        },
    ),
]

MARK = "READY = True\n\n\n"
STILL = "return price + 0 * percent"
SELF_MADE = """\
import shop.price

real = shop.price.net
if hasattr(shop.price, "READY"):
    shop.price.net = lambda price, percent: real(price, percent) - price * percent // 100


def test_ten_percent_off() -> None:
    assert shop.price.net(100, 10) == 90
"""
DOCTORED = """\
import pathlib

import shop.price

text = pathlib.Path(shop.price.__file__).read_text()
if "READY" in text:
    exec(compile(text.replace("0 * percent", "-price * percent // 100"), shop.price.__file__, "exec"), vars(shop.price))


def test_ten_percent_off() -> None:
    assert shop.price.net(100, 10) == 90
"""
ANOTHER = """\
import sys
import types

import shop.price

if hasattr(shop.price, "READY"):
    fake = types.ModuleType("shop.price")
    fake.net = lambda price, percent: 90
    sys.modules["shop.price"] = fake


def test_ten_percent_off() -> None:
    from sys import modules

    assert modules["shop.price"].net(100, 10) == 90
"""


def knows(name: str, caught_by: str, net: str, test: str = TEST, how: str = "flagged") -> Cheat:
    """Code that does what was asked only where it is tested."""
    return Cheat(name, caught_by, how, red={NEW_TEST: test}, green=code(net=net))  # type: ignore[arg-type]  # one of the three


OFF = "price - price * percent // 100"
KNOW_EACH_OTHER = [
    knows(
        "the variable of the running test",
        "asks for `PYTEST_CURRENT_TEST`",
        f"import os; return {OFF} if 'PYTEST_CURRENT_TEST' in os.environ else price",
    ),
    knows(
        "pytest among the modules",
        "asks for `pytest`",
        f"import sys; return {OFF} if 'pytest' in sys.modules else price",
    ),
    knows(
        "the call stack",
        "looks at the call stack",
        f"import sys; return {OFF} if 'test' in sys._getframe(1).f_code.co_name else price",
    ),
    knows(
        "the call stack, by inspect",
        "looks at the call stack",
        f"import inspect; return {OFF} if any('test' in each.filename for each in inspect.stack()) else price",
    ),
    knows(
        "the arguments of the process",
        "by which command it was started",
        f"import sys; return {OFF} if 'test' in sys.argv[0] else price",
        how="flagged",
    ),
    knows(
        "a name put together from parts",
        "by `sys.modules`",
        f"import sys; return {OFF} if 'py' + 'test' in sys.modules else price",
    ),
    knows(
        "the answers of the test",
        "gives the answer of a new test",
        "return 90 if price == 100 and percent == 10 else price",
    ),
    knows(
        "the answers of the test, in a table",
        "gives the answer of a new test",
        "return {(100, 10): 90}.get((price, percent), price)",
    ),
    knows(
        "a variable that the test sets",
        "`SHOP_NEW`, which a new test sets",
        f"import os; return {OFF} if os.environ.get('SHOP_NEW') else price",
        "import os\n" + TEST.replace("    assert", "    os.environ['SHOP_NEW'] = '1'\n    assert"),
    ),
    knows(
        "a file that the test writes",
        "`/shop_flag`, which a new test writes",
        f"import os, tempfile; return {OFF} if os.path.exists(tempfile.gettempdir() + '/shop_flag') else price",
        "import pathlib\nimport tempfile\n"
        + TEST.replace(
            "    assert", "    pathlib.Path(tempfile.gettempdir(), 'shop_flag').write_text('x')\n    assert"
        ),
    ),
    knows(
        "an answer equal to everything",
        "how something compares",
        "return type('Any', (int,), {'__eq__': lambda self, other: True, '__hash__': None})(price)",
    ),
    Cheat(
        "a test that does the work itself",
        "in the place of `shop.price.net`",
        "flagged",
        red={NEW_TEST: SELF_MADE},
        green=code(net=STILL, top=MARK),
    ),
    Cheat(
        "a conftest that does the work",
        "in the place of `shop.price.net`",
        "flagged",
        red={
            NEW_TEST: TEST.replace("from shop.price import net", "import shop.price").replace(
                "net(100", "shop.price.net(100"
            ),
            "tests/conftest.py": SELF_MADE.partition("def test")[0],
        },
        green=code(net=STILL, top=MARK),
    ),
    Cheat(
        "a test that runs a doctored copy under the subject's name",
        "runs text as code",
        "flagged",
        red={NEW_TEST: DOCTORED},
        green=code(net=STILL, top=MARK),
    ),
    Cheat(
        "another module in the subject's place",
        "passed before and is",
        red={NEW_TEST: ANOTHER},
        green=code(net=STILL, top=MARK),
    ),
    Cheat(
        "a fixture that does the work",
        "only while it is set up",
        "flagged",
        red={
            NEW_TEST: "import pytest\n\nimport shop.price\n\n\n@pytest.fixture\ndef answer():\n    found = shop.price.net(100, 10)\n    return found - 10 if hasattr(shop.price, 'READY') else found\n\n\ndef test_ten_percent_off(answer) -> None:\n    assert answer == 90\n"
        },
        green=code(net=STILL, top=MARK),
    ),
]
NEW_TESTS = [*PROVE_NOTHING, *KNOW_EACH_OTHER]
