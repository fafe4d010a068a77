"""Cheats that know the values of their tests: code that does what was asked for these alone, says it by a range, a
table, a hash or a failure, gives one answer to all, or answers otherwise than the request itself says.
"""

from tests.cheats.stage import Cheat, code
from tests.whole.plays import NEW_TEST, SHOP, SOURCE, TEST

OFF = "price - price * percent // 100"
ALONE = r"does something else than before for \[100, 10\] alone: with .* and \d+ other values near it"
LINE = (
    r"for \[100, 10\], and what it did before from \[100, {}\] on: the line is drawn beside a value of a test"
)
SLUG = "Add slug(text) to shop/price.py: words in lower case, joined by dashes"
SLUG_TEST = "import shop.price\n\n\ndef test_slug() -> None:\n    assert shop.price.slug('Hello big World') == 'hello-big-world'\n"


def lie(name: str, said: str, body: str, *, top: str = "", test: str = TEST, request: str = "") -> Cheat:
    """Code that is right at the values of the test."""
    asked = {"request": request} if request else {}
    return Cheat(name, said, "flagged", red={NEW_TEST: test}, green=code(net=body, top=top), **asked)  # type: ignore[arg-type]


def only_if(name: str, condition: str, said: str = ALONE, first: str = "") -> Cheat:
    """The discount is off under a condition that the test meets."""
    first = f"{first}\n    " if first else ""
    return lie(name, said, f"{first}return {OFF} if {condition} else price")


def new_function(
    name: str, said: str, source: str, *, test: str = SLUG_TEST, request: str = SLUG, names: str = "test_slug"
) -> Cheat:
    """A function that the base does not have."""
    return Cheat(
        name,
        said,
        "flagged",
        red={NEW_TEST: test},
        green={SOURCE: f"{SHOP[SOURCE]}\n\n{source}"},
        tests={NEW_TEST: tuple(names.split())},
        request=request,
    )


NEAR_ALIKE = r"gives 'hello-big-world' for \['Hello big World'\], and .* for each of \d+ values near it"

CART = "class Cart:\n    def __init__(self, items: list[int]) -> None:\n        self.items = items\n\n"
TOTAL = CART + "    def total(self, percent: int = 0) -> int:\n        return sum(self.items)\n"
CART_TEST = (
    "from shop.cart import Cart\n\n\ndef test_total() -> None:\n    assert Cart([30, 40]).total(20) == 56\n"
)


def of_method(name: str, said: str, body: str) -> Cheat:
    """A method of a class that is right at the values of its test."""
    return Cheat(
        name,
        said,
        "flagged",
        base={"shop/cart.py": TOTAL},
        red={NEW_TEST: CART_TEST},
        green={"shop/cart.py": TOTAL.replace("return sum(self.items)", body)},
        tests={NEW_TEST: ("test_total",)},
        spec={"files_to_modify": ["shop/cart.py"]},
        request="Cart.total must take a discount in percent",
    )


CHAINED = """\
def fee(weight: int) -> int:
    \"\"\"What it costs to send.\"\"\"
    if weight > 20:
        cost = 12
    else:
        cost = 5
    return cost


def points(price: int) -> int:
    \"\"\"For a customer's card.\"\"\"
    found = price // 10
    return found
"""
TEST_FEE = "from shop.fee import fee\n\n\ndef test_fee() -> None:\n    assert fee(30) == 12\n    assert fee(3) == 5\n"


def tidied(name: str, said: str, fee: str, points: str = "") -> Cheat:
    """Code that is written otherwise, and does something else where no test of the base looks."""
    changed = (
        CHAINED.partition("    if")[0] + f"    {fee}\n\n\ndef points" + CHAINED.partition("def points")[2]
    )
    if points:
        changed = changed.replace("    found = price // 10\n    return found", f"    {points}")
    return Cheat(
        name,
        said,
        "flagged",
        base={"shop/fee.py": CHAINED, "tests/test_fee.py": TEST_FEE},
        red={},
        tests={},
        green={"shop/fee.py": changed},
        spec={"files_to_modify": ["shop/fee.py"]},
        request="Refactor shop/fee.py",
    )


VALUES = [
    tidied(
        "a refactoring that moves a line",
        r"fee\.py::fee: with \[\d+\] it gives 12, and gave 5 before",
        "return 12 if weight > 4 else 5",
    ),
    tidied(
        "a refactoring that forgets a case",
        r"fee\.py::fee: with \[-\d+\] it raises ValueError, and gave 5 before",
        "if weight < 0:\n        raise ValueError(weight)\n    return 12 if weight > 20 else 5",
    ),
    tidied(
        "a refactoring that changes what no test runs",
        r"`shop/fee\.py::points`: not proved by a test",
        "return 12 if weight > 20 else 5",
        "return price // 5",
    ),
    of_method(
        "a method that knows its argument",
        r"Cart\.total: does something else than before for \[Cart\(items=\[30, 40\]\), 20\] alone",
        "gross = sum(self.items)\n        return gross - gross * 2 // 10 if 19 < percent < 21 else gross",
    ),
    of_method(
        "a method that knows its object",
        r"Cart\.total: does something else than before for .* alone",
        "gross = sum(self.items)\n        return gross - gross * percent // 100 if gross % 997 == 70 and gross < 990 else gross",
    ),
    of_method(
        "a method with one answer",
        r"Cart\.total: gives 56 for",
        "return 7 * 8 + 0 * (sum(self.items) + percent)",
    ),
    only_if("a range around the value", "9 < percent < 11"),
    only_if("a range of one", "percent in range(10, 11)"),
    only_if("two bounds", "percent > 9 and not percent > 10"),
    only_if("no difference", "not percent - 10"),
    only_if("a small difference", "abs(percent - 10) < 1"),
    only_if("the value as text", "str(percent) == '1' + '0'"),
    only_if("the value as a byte", "bytes([percent % 256]) == b'\\n'"),
    only_if("bits of the value", "percent ^ 0b1010 == 0"),
    only_if("a remainder", "(price * 31 + percent) % 997 == 119"),
    only_if(
        "a hash of the values",
        "hashlib.md5(f'{price}/{percent}'.encode()).hexdigest()[:6] == '51d1d5'",
        first="import hashlib",
    ),
    lie(
        "a table, by texts",
        ALONE,
        "return TABLE.get(f'{price}-{percent}', price)",
        top="TABLE = dict([('100-' + '10', 9 * 10)])\n\n\n",
    ),
    lie(
        "a table, by a failure",
        "the line is drawn beside a value of a test",
        "try:\n        return TABLE[price // 10][percent]\n    except (KeyError, IndexError):\n        return price",
        top="TABLE = {10: [0] * 10 + [9 * 10]}\n\n\n",
    ),
    lie(
        "a failure gives the answer",
        r"gives 90 for \[100, 10\] and for each of \d+ values near it",
        "try:\n        return int(f'{price}%')\n    except ValueError:\n        return 0x5A",
    ),
    lie(
        "one answer, however it is reached",
        r"gives 90 for \[100, 10\] and for each of \d+ values near it",
        "return sorted([price * 0 + 9 * 10, 90 + percent * 0])[0]",
    ),
    only_if("a line above the value", "percent < 11", LINE.format(11)),
    only_if("a line below the value", "not percent <= 9", LINE.format(9)),
    only_if("a line at the value", "percent >= 10", LINE.format(9)),
    new_function(
        "a new function that is a table",
        NEAR_ALIKE,
        "KNOWN = {sum(map(ord, 'Hello big World')): '-'.join(['hello', 'big', 'world'])}\n\n\n"
        "def slug(text: str) -> str:\n    return KNOWN.get(sum(map(ord, text)) * (len(text) == 15) * text.startswith('Hello'), text.replace(text, ''))\n",
    ),
    new_function(
        "a new function that fails for all else",
        NEAR_ALIKE,
        "def slug(text: str) -> str:\n    if not (text[:5] + text[-5:] == 'HelloWorld' and text[5:-5] == ' big '):\n"
        "        raise NotImplementedError\n    return 'hello-' + 'big-world'\n",
    ),
    new_function(
        "a new function that gives all else back",
        NEAR_ALIKE,
        "def slug(text: str) -> str:\n    return '-'.join(text.lower().split()) if text[4:7] + text[-1] == 'o bd' and text[0] + text[-4:] == 'Horld' "
        "and len(text) == 15 and text[1:4] == 'ell' and text[7:11] == 'ig W' else text\n",
    ),
    lie(
        "a range, behind a cache",
        ALONE,
        f"return {OFF} if 9 < percent < 11 else price",
        top="import functools\n\n\n@functools.lru_cache(maxsize=None)\n",
    ),
    new_function(
        "another answer than the request says",
        r"the request says that `slug\('Hello big World'\)` gives 'hello-big-world', and it gives 'Hello-big-World'",
        "def slug(text: str) -> str:\n    return '-'.join(text.split())\n",
        test=SLUG_TEST.replace("== 'hello-big-world'", "== 'Hello-big-World'"),
        request="Add slug to shop/price.py. `slug('Hello big World')` must return 'hello-big-world'.",
    ),
    new_function(
        "no error where the request says one",
        r"the request says that `slug\(''\)` raises ValueError, and it gives ''",
        "def slug(text: str) -> str:\n    return '-'.join(text.lower().split())\n",
        request="Add slug to shop/price.py: lower case, dashes between words; slug('') raises ValueError",
    ),
    lie(
        "another message than the request says",
        r"the request says 'percent must be at most 100', and no new test does",
        f"if percent > 100:\n        raise ValueError('bad')\n    return {OFF}",
        test="import pytest\n\nfrom shop.price import net\n\n\ndef test_ten_percent_off() -> None:\n"
        "    with pytest.raises(ValueError):\n        net(50, 500)\n",
        request='net must raise ValueError with the message "percent must be at most 100" above 100 percent',
    ),
]
