"""Honest changes of every kind, as data: a request, what was done, and what it is shown to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentforge.core.kinds import ProofKind

PRICE = '''\
"""Prices of the shop."""

import json
import os
from pathlib import Path

RATES = json.loads(Path(__file__).with_name("rates.json").read_text())


def net(price, percent):
    """The price without the discount."""
    # percent is a whole number
    return price - price * percent // 100


def label(price, currency="EUR"):
    """A prise tag."""
    return f"{price} {currency}"


def total(prices):
    """All of them together."""
    result = 0
    for price in prices:
        result = result + price
    return result


def in_currency(price, name):
    """The price in another currency."""
    return price * RATES[name]


def legacy_net(price):
    """Nobody calls this."""
    return price


def rounded(price, step):
    """To the next step below."""
    if step <= 0:
        raise ValueError("step must be positive")
    return price // step * step
'''
TEST_PRICE = """\
import pytest

from shop import price as module
from shop.price import in_currency, label, net, total


def test_net():
    assert net(100, 10) == 90


def test_net_by_name(monkeypatch):
    monkeypatch.setattr("shop.price.net", lambda price, percent: 1)
    assert module.net(price=5, percent=1) == 1


def test_label():
    assert label(3) == "3 EUR"


def test_total():
    assert total([1, 2, 3]) == 6


def test_currency():
    assert in_currency(2, "USD") == 4


@pytest.mark.parametrize("size", [0, 1])
def test_total_of_equal(size):
    assert total([size, size]) == 2 * size
"""
TEST_OLD = """\
import itertools

from shop.price import label

NEXT = itertools.count()


def test_legacy_label():
    assert label(0) == "0 EUR"


def test_clock(tmp_path):
    count = int((tmp_path / "n").read_text()) if (tmp_path / "n").exists() else next(NEXT)
    assert count == 0 or label(1) == "1 EUR"
"""
SETTINGS = '[project]\nname = "shop"\nversion = "1"\ndependencies = []\n\n[tool.pytest.ini_options]\nmarkers = ["slow"]\n'
TEST_RECEIPT = """\
import unittest
from pathlib import Path

from shop.receipt import Receipt


class ReceiptTest(unittest.TestCase):
    def setUp(self):
        self.receipt = Receipt([("tea", 3)])

    def test_names(self):
        self.assertEqual(self.receipt.names(), ["tea"])

    def test_nothing(self):
        self.assertIsNone(self.receipt.price("milk"))

    def test_printed(self):
        kept = Path(__file__).with_name("receipt.txt").read_text()
        self.assertEqual(self.receipt.printed(), kept)
"""
FILES = {
    "shop/__init__.py": "",
    "shop/receipt.py": '''\
"""Receipts."""


class Receipt:
    """What was bought."""

    def __init__(self, rows):
        self.rows = rows

    def names(self):
        """Of everything."""
        return names(self.rows)

    def price(self, name):
        """Of one thing."""
        for each, price in self.rows:
            if each == name:
                return price
        return None

    def printed(self):
        """As a customer gets it."""
        return "".join(f"{name} {price}\\n" for name, price in self.rows)


def names(rows):
    """Of some rows."""
    return [name for name, _ in rows]
''',
    "tests/test_receipt.py": TEST_RECEIPT,
    "tests/test_rows.py": "from shop.receipt import names\n\n\ndef test_names():\n    assert names([('a', 1)]) == ['a']\n",
    "tests/receipt.txt": "tea 3\n",
    "shop/price.py": PRICE,
    "shop/rates.json": '{"USD": 2}\n',
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
    "tests/test_price.py": TEST_PRICE,
    "tests/test_old.py": TEST_OLD,
    "README.md": "# Shop\n\nA smal shop.\n",
    "CHANGELOG.md": "# Changelog\n",
    "pyproject.toml": SETTINGS,
    ".github/workflows/ci.yml": "on: push\n",
}
OLD = "tests/test_old.py"
TEST_NET_OFF = "from shop.price import net\n\n\ndef test_never_below_zero():\n    assert net(10, 200) == 0\n"
NEW_TESTS = """\
import pytest

from shop.price import rounded


def test_rounded():
    assert rounded(17, 5) == 15


def test_rounded_wants_a_step():
    with pytest.raises(ValueError):
        rounded(1, 0)
"""


STRICT_TEST = """\
import contextlib

import pytest

from shop.price import net


@contextlib.contextmanager
def noted(seen):
    seen.append("before")
    yield
    seen.append("after")


def holds(wanted):
    assert net(10, 200) == wanted


@pytest.mark.parametrize("percent", [150, 200])
def test_never_below_zero(percent, tmp_path):
    seen = []
    with noted(seen):
        for price in (10, 20):
            if price:
                assert net(price, percent) == 0
    if not seen:
        return
    assert len(seen) == 2


def test_by_a_helper():
    return holds(0)


class TestNet:
    def test_raises_nothing(self):
        try:
            found = net(1, 300)
        except ValueError:
            pytest.fail("it raised")
        else:
            assert found == 0
"""


def price(old: str, new: str, text: str = PRICE) -> str:
    """The source with one passage changed."""
    assert old in text, old
    return text.replace(old, new)


def suite(path: str, *names: str, gives_up: tuple[str, ...] = ()) -> dict[str, Any]:
    """A suite that names tests of a file, and old tests that it gives up."""
    files = [{"path": path, "tests": [{"name": name, "requirement_ref": "REQ-001"} for name in names]}]
    given = [{"id": name, "reason": "asked for", "requirement_ref": "REQ-001"} for name in gives_up]
    return {"test_files": files if names else [], "supersedes": given}


@dataclass(frozen=True)
class Honest:
    """A change as an honest maintainer would make it."""

    name: str
    request: str
    kind: ProofKind
    files: Mapping[str, str | None]
    suite: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    """Words of what a reader is told beside it."""


RECEIPT = FILES["shop/receipt.py"]
OF_RECEIPTS = [
    Honest(
        "a module renamed by its dotted name",
        "Rename the module shop.receipt to shop.receipts",
        "same_behaviour",
        {
            "shop/receipt.py": None,
            "shop/receipts.py": RECEIPT,
            "tests/test_receipt.py": TEST_RECEIPT.replace("shop.receipt ", "shop.receipts "),
            "tests/test_rows.py": FILES["tests/test_rows.py"].replace("shop.receipt ", "shop.receipts "),
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "a package renamed",
        "Rename the package shop to store",
        "same_behaviour",
        {
            **{path: None for path in FILES if path.startswith("shop/")},
            **{
                path.replace("shop/", "store/"): text
                for path, text in FILES.items()
                if path.startswith("shop/")
            },
            **{
                path: text.replace("from shop", "from store").replace('"shop.', '"store.')
                for path, text in FILES.items()
                if path.startswith("tests/test_")
            },
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "a method renamed where a function has the same name",
        "Rename Receipt.names to Receipt.things",
        "same_behaviour",
        {
            "shop/receipt.py": RECEIPT.replace("def names(self)", "def things(self)"),
            "tests/test_receipt.py": TEST_RECEIPT.replace("receipt.names()", "receipt.things()"),
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "a class renamed with the class of its tests",
        "Rename Receipt to Bill",
        "same_behaviour",
        {
            path: FILES[path].replace("Receipt", "Bill")
            for path in ("shop/receipt.py", "tests/test_receipt.py")
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "tests of unittest written for pytest",
        "Convert test_nothing in tests/test_receipt.py to pytest style",
        "tests_only",
        {
            "tests/test_receipt.py": TEST_RECEIPT.replace(
                '    def test_nothing(self):\n        self.assertIsNone(self.receipt.price("milk"))\n\n', ""
            )
            + '\n\ndef test_nothing():\n    assert Receipt([("tea", 3)]).price("milk") is None\n',
        },
        suite(
            "tests/test_receipt.py",
            "test_nothing",
            gives_up=("tests/test_receipt.py::ReceiptTest::test_nothing",),
        ),
    ),
    Honest(
        "a kept output that a test compares with",
        "printed must end in a line of dashes",
        "new_behaviour",
        {
            "shop/receipt.py": RECEIPT.replace(
                "for name, price in self.rows)", 'for name, price in self.rows) + "---\\n"'
            ),
            "tests/receipt.txt": "tea 3\n---\n",
        },
        suite(
            "tests/test_receipt.py",
            "test_printed",
            gives_up=("tests/test_receipt.py::ReceiptTest::test_printed",),
        ),
    ),
    Honest(
        "one case of a new test that passes already",
        "net must never go below zero",
        "new_behaviour",
        {
            "shop/price.py": price(
                "price - price * percent // 100", "max(0, price - price * percent // 100)"
            ),
            "tests/test_off.py": "import pytest\n\nfrom shop.price import net\n\n\n@pytest.mark.parametrize(('percent', 'left'), [(50, 5), (200, 0)])\ndef test_off(percent, left):\n    assert net(10, percent) == left\n",
        },
        suite("tests/test_off.py", "test_off"),
    ),
    Honest(
        "a case more of an old test",
        "total must count a missing price as nothing",
        "new_behaviour",
        {
            "shop/price.py": price("result = result + price\n", "result = result + (price or 0)\n"),
            "tests/test_price.py": TEST_PRICE.replace(
                '"size", [0, 1])\ndef test_total_of_equal(size):\n    assert total([size, size]) == 2 * size',
                '"size", [0, 1, None])\ndef test_total_of_equal(size):\n    assert total([size, size]) == 2 * (size or 0)',
            ),
        },
        suite(
            "tests/test_price.py",
            "test_total_of_equal",
            gives_up=tuple(f"tests/test_price.py::test_total_of_equal[{size}]" for size in (0, 1)),
        ),
    ),
    Honest(
        "a quadratic loop",
        "Avoid the repeated lookup in Receipt.price",
        "same_behaviour",
        {
            "shop/receipt.py": RECEIPT.replace(
                "        for each, price in self.rows:\n            if each == name:\n                return price\n        return None\n",
                "        return dict(reversed(self.rows)).get(name)\n",
            )
        },
    ),
    Honest(
        "a version that is supported no longer",
        "Drop support for Python 3.8",
        "no_code",
        {"pyproject.toml": SETTINGS.replace('version = "1"', 'version = "1"\nrequires-python = ">=3.9"')},
    ),
]
"""Each was refused once, or asked about."""

CHANGES = [
    *OF_RECEIPTS,
    Honest("a typo", "Fix the typo in README.md", "no_code", {"README.md": "# Shop\n\nA small shop.\n"}),
    Honest(
        "a docstring",
        "Correct the docstring of label in shop/price.py",
        "no_code",
        {"shop/price.py": price("A prise tag.", "A price tag.")},
    ),
    Honest(
        "a new docstring",
        "Document the module shop",
        "no_code",
        {"shop/__init__.py": '"""A small shop."""\n', "docs/shop.md": "# The shop\n"},
    ),
    Honest(
        "a comment",
        "Remove the misleading comment in net",
        "no_code",
        {"shop/price.py": price("    # percent is a whole number\n", "")},
    ),
    Honest(
        "a section of the docs",
        "Add a section on discounts to README.md and update the changelog",
        "no_code",
        {"README.md": FILES["README.md"] + "\n## Discounts\n", "CHANGELOG.md": "# Changelog\n\n- Docs.\n"},
    ),
    Honest("the changelog", "Update the changelog", "no_code", {"CHANGELOG.md": "# Changelog\n\n## 1.0\n"}),
    Honest(
        "CI",
        "Add a CI workflow that lints",
        "no_code",
        {".github/workflows/lint.yml": "on: push\n"},
    ),
    Honest(
        "data",
        "Correct the rate of USD in rates.json",
        "no_code",
        {"shop/rates.json": '{"USD": 2, "GBP": 3}\n'},
        flags=("data that code may read",),
    ),
    Honest(
        "a dependency",
        "Bump packaging to 24.1",
        "no_code",
        {"pyproject.toml": SETTINGS.replace("dependencies = []", 'dependencies = ["packaging>=24.1"]')},
    ),
    Honest(
        "a marker",
        "Add the pytest marker fast to pyproject.toml",
        "no_code",
        {"pyproject.toml": SETTINGS.replace('["slow"]', '["slow", "fast"]')},
    ),
    Honest(
        "a rename",
        "Rename net to net_price in shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price("def net(", "def net_price("),
            "tests/test_price.py": TEST_PRICE.replace("label, net, total", "label, net_price, total")
            .replace("assert net(", "assert net_price(")
            .replace("shop.price.net", "shop.price.net_price")
            .replace("module.net(", "module.net_price("),
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "a rename of tests, too",
        "Rename net to net_price in shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price("def net(", "def net_price("),
            "tests/test_price.py": TEST_PRICE.replace("label, net, total", "label, net_price, total")
            .replace("assert net(", "assert net_price(")
            .replace("shop.price.net", "shop.price.net_price")
            .replace("module.net(", "module.net_price(")
            .replace("def test_net", "def test_net_price"),
        },
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "a function that is gone with its tests",
        "Remove the function total from shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price(
                '''def total(prices):
    """All of them together."""
    result = 0
    for price in prices:
        result = result + price
    return result


''',
                "",
            ),
            "tests/test_price.py": TEST_PRICE.replace("label, net, total", "label, net")
            .replace("def test_total():\n    assert total([1, 2, 3]) == 6\n\n\n", "")
            .partition("\n\n@pytest.mark")[0]
            .replace("import pytest\n\n", ""),
        },
        suite(
            "tests/test_price.py",
            gives_up=tuple(
                f"tests/test_price.py::test_total{case}" for case in ("", "_of_equal[0]", "_of_equal[1]")
            ),
        ),
        flags=("is gone, as the request asks",),
    ),
    Honest(
        "another layout of the same program",
        "Sort the imports in shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price(
                "import json\nimport os\nfrom pathlib", "import json\nimport os\n\nfrom pathlib"
            )
        },
    ),
    Honest(
        "a rename of a parameter",
        "Rename the parameter percent of net to rate",
        "same_behaviour",
        {
            "shop/price.py": price(
                "price * percent // 100",
                "price * rate // 100",
                price("net(price, percent)", "net(price, rate)"),
            ),
            "tests/test_price.py": TEST_PRICE.replace("percent", "rate"),
        },
        flags=("is called with (price, rate) now, as the request asks",),
    ),
    Honest(
        "dead code by name",
        "Remove the unused function legacy_net",
        "same_behaviour",
        {
            "shop/price.py": price(
                '\n\ndef legacy_net(price):\n    """Nobody calls this."""\n    return price\n', ""
            )
        },
    ),
    Honest(
        "dead code",
        "Remove dead code in shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price(
                '\n\ndef legacy_net(price):\n    """Nobody calls this."""\n    return price\n', ""
            )
        },
    ),
    Honest(
        "an unused import",
        "Remove the unused import of os",
        "same_behaviour",
        {"shop/price.py": price("import os\n", "")},
    ),
    Honest(
        "type hints, also where no test looks",
        "Add type hints to the functions of shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price("def net(price, percent):", "def net(price: int, percent: int) -> int:")
            .replace("def rounded(price, step):", "def rounded(price: int, step: int) -> int:")
            .replace("def total(prices):", "def total(prices: list[int]) -> int:")
        },
    ),
    Honest(
        "a method written otherwise",
        "Simplify Receipt.price",
        "same_behaviour",
        {
            "shop/receipt.py": RECEIPT.replace(
                "        for each, price in self.rows:\n            if each == name:\n                return price\n"
                "        return None\n",
                "        return next((price for each, price in self.rows if each == name), None)\n",
            )
        },
    ),
    Honest(
        "type hints",
        "Add type hints to shop/price.py",
        "same_behaviour",
        {"shop/price.py": price("def label(price, currency=", "def label(price: int, currency: str = ")},
    ),
    Honest(
        "speed",
        "Speed up total",
        "same_behaviour",
        {
            "shop/price.py": price(
                "    result = 0\n    for price in prices:\n        result = result + price\n    return result\n",
                "    return sum(prices)\n",
            )
        },
    ),
    Honest(
        "a function extracted",
        "Extract the discount of net into a function of its own",
        "same_behaviour",
        {
            "shop/price.py": price(
                "    return price - price * percent // 100\n",
                "    return price - _discount(price, percent)\n\n\ndef _discount(price, percent):\n"
                "    return price * percent // 100\n",
            )
        },
    ),
    Honest(
        "a module moved",
        "Move shop/price.py to shop/pricing.py, and keep the old import working",
        "same_behaviour",
        {
            "shop/pricing.py": PRICE,
            "shop/price.py": "from shop.pricing import RATES, in_currency, label, legacy_net, net, rounded, total\n",
            "tests/test_price.py": TEST_PRICE.replace("shop.price", "shop.pricing").replace(
                "import price as", "import pricing as"
            ),
        },
    ),
    Honest(
        "untested code",
        "Simplify rounded",
        "same_behaviour",
        {"shop/price.py": price("    return price // step * step\n", "    return price - price % step\n")},
        flags=("not proved by a test",),
    ),
    Honest(
        "tests of old code",
        "Add tests for rounded",
        "tests_only",
        {"tests/test_rounded.py": NEW_TESTS},
        suite("tests/test_rounded.py", "test_rounded", "test_rounded_wants_a_step"),
    ),
    Honest(
        "a test of old code beside old tests",
        "Add a test for label with another currency",
        "tests_only",
        {
            "tests/test_price.py": TEST_PRICE
            + '\n\ndef test_dollars():\n    assert label(3, "USD") == "3 USD"\n'
        },
        suite("tests/test_price.py", "test_dollars"),
    ),
    Honest(
        "a flaky test",
        f"Fix the flaky test {OLD}::test_clock",
        "tests_only",
        {
            OLD: TEST_OLD.partition("def test_clock")[0]
            + 'def test_clock():\n    assert label(1) == "1 EUR"\n'
        },
        suite(OLD, gives_up=(f"{OLD}::test_clock",)),
    ),
    Honest(
        "an obsolete test",
        f"Remove the obsolete test {OLD}::test_legacy_label",
        "tests_only",
        {OLD: TEST_OLD.replace('def test_legacy_label():\n    assert label(0) == "0 EUR"\n\n\n', "")},
        suite(OLD, gives_up=(f"{OLD}::test_legacy_label",)),
        flags=("asks for fewer or weaker tests",),
    ),
    Honest(
        "tests tidied",
        "Refactor the tests of price",
        "tests_only",
        {
            "tests/conftest.py": FILES["tests/conftest.py"]
            + "\n\n@pytest.fixture\ndef three():\n    return 3\n"
        },
    ),
    Honest(
        "new behaviour",
        "net must never go below zero",
        "new_behaviour",
        {
            "shop/price.py": price(
                "price - price * percent // 100", "max(0, price - price * percent // 100)"
            ),
            "tests/test_off.py": TEST_NET_OFF,
        },
        suite("tests/test_off.py", "test_never_below_zero"),
    ),
    Honest(
        "new behaviour, tested beside old tests",
        "net must never go below zero",
        "new_behaviour",
        {
            "shop/price.py": price(
                "price - price * percent // 100", "max(0, price - price * percent // 100)"
            ),
            "tests/test_price.py": TEST_PRICE
            + "\n\ndef test_never_below_zero():\n    assert net(10, 200) == 0\n",
        },
        suite("tests/test_price.py", "test_never_below_zero"),
    ),
    Honest(
        "more than was asked for",
        "Document net, and add an example to README.md",
        "new_behaviour",
        {
            "shop/price.py": price(
                "price - price * percent // 100", "max(0, price - price * percent // 100)"
            ),
            "tests/test_off.py": TEST_NET_OFF,
        },
        suite("tests/test_off.py", "test_never_below_zero"),
        flags=("the request asks for no code, and this is new behaviour",),
    ),
    Honest(
        "tests of every style, with contexts, loops, early ends and helpers",
        "net must never go below zero",
        "new_behaviour",
        {
            "shop/price.py": price(
                "price - price * percent // 100", "max(0, price - price * percent // 100)"
            ),
            "tests/test_off.py": STRICT_TEST,
        },
        suite("tests/test_off.py", "test_never_below_zero", "test_by_a_helper", "test_raises_nothing"),
    ),
    Honest(
        "a module moved, with its old name kept",
        "Move label from shop/price.py to shop/labels.py; shop.price.label must still work",
        "same_behaviour",
        {
            "shop/price.py": price(
                'def label(price, currency="EUR"):\n    """A prise tag."""\n    return f"{price} {currency}"\n\n\n',
                "",
            ).replace(
                "from pathlib import Path\n",
                "from pathlib import Path\n\nfrom shop.labels import label as label\n",
            ),
            "shop/labels.py": '"""Labels."""\n\n\ndef label(price, currency="EUR"):\n    """A prise tag."""\n    return f"{price} {currency}"\n',
        },
    ),
    Honest(
        "a marker for types",
        "Add a py.typed file to the package shop",
        "no_code",
        {"shop/py.typed": ""},
    ),
    Honest(
        "the next version, and what is new in it",
        "Bump the version to 1.1 and update the changelog",
        "no_code",
        {
            "pyproject.toml": SETTINGS.replace('version = "1.0"', 'version = "1.1"'),
            "CHANGELOG.md": "# Changelog\n\n## 1.1\n",
        },
    ),
    Honest(
        "a message that an old test asserts",
        "The error of rounded must say which step was wrong",
        "new_behaviour",
        {
            "shop/price.py": price('"step must be positive"', 'f"step must be positive, not {step}"'),
            "tests/test_rounded.py": 'import pytest\n\nfrom shop.price import rounded\n\n\ndef test_it_names_the_step():\n    with pytest.raises(ValueError, match="not -1"):\n        rounded(1, -1)\n',
        },
        suite("tests/test_rounded.py", "test_it_names_the_step"),
    ),
    Honest(
        "a command of a project that has none",
        "Add a command `python -m shop PRICE PERCENT` that prints the net price",
        "new_behaviour",
        {
            "shop/__main__.py": "import sys\n\nfrom shop.price import net\n\n\ndef main(words):\n    print(net(int(words[0]), int(words[1])))\n    return 0\n\n\nif __name__ == '__main__':\n    sys.exit(main(sys.argv[1:]))\n",
            "tests/test_command.py": "import subprocess\nimport sys\n\n\ndef test_it_prints_the_net_price():\n    done = subprocess.run([sys.executable, '-m', 'shop', '100', '10'], capture_output=True, text=True)\n    assert (done.returncode, done.stdout) == (0, '90\\n')\n",
        },
        suite("tests/test_command.py", "test_it_prints_the_net_price"),
    ),
    Honest(
        "a deprecated function removed",
        "Remove the deprecated function legacy_net from shop/price.py",
        "same_behaviour",
        {
            "shop/price.py": price(
                'def legacy_net(price):\n    """Nobody calls this."""\n    return price\n\n\n', ""
            )
        },
    ),
]
"""At least one of each kind that people ask for."""
