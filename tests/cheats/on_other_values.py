"""Cheats that know the values of their tests where these are no plain numbers, or where what comes back is not all:
async functions and generators, objects, decorated functions, methods with state, errors, what is printed or written.
"""

from collections.abc import Mapping

from tests.cheats.stage import Cheat
from tests.whole.plays import NEW_TEST

OFF = "price - price * percent // 100"
TUNED = f"{OFF} if 9 < percent < 11 else price"
ALONE = r"does something else than before for \[.*\] alone: with .* and \d+ other values near it"
WANTED = "what is in shop/x.py must take the discount off"
PLAIN = "from shop.x import {}\n\n\n"


def lie(
    name: str,
    base: str,
    test: str,
    *,
    new: str = "",
    tuned: str = TUNED,
    plain: str = "price",
    said: str = ALONE,
    request: str = WANTED,
    beside: Mapping[str, str] | None = None,
) -> Cheat:
    """`base` with a gap for what is computed: plain before, tuned to the test afterwards."""
    return Cheat(
        name,
        said,
        "flagged",
        base={"shop/x.py": base.replace("GAP", plain), **(beside or {})},
        red={NEW_TEST: test} if test else {},
        green={"shop/x.py": new or base.replace("GAP", tuned)},
        tests={NEW_TEST: ("test_it",)} if test else {},
        spec={"files_to_modify": ["shop/x.py"]},
        request=request,
    )


ITEM = "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    price: int\n    percent: int\n\n\ndef net(item):\n    price, percent = item.price, item.percent\n    return GAP\n"
LOGGED = "import functools\n\n\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n\n    return inner\n\n\n@logged\ndef net(price, percent):\n    return GAP\n"
CART = "class Cart:\n    def __init__(self):\n        self.rows, self.log = [], object()\n\n    def add(self, price):\n        self.rows.append(price)\n\n    def total(self, percent=0):\n        price = sum(self.rows)\n        return GAP\n"
PRICE = "class Price:\n    def __init__(self, price, percent):\n        self.price, self.percent = price, percent\n\n    def __str__(self):\n        price, percent = self.price, self.percent\n        return str(GAP)\n"
METHOD = "class Price:\n    @{}\n    def net({}price, percent):\n        return GAP\n"
RANGE = "class Range:\n    def __init__(self, low, high):\n        self.low, self.high = low, high\n\n    def __eq__(self, other):\n        return self.low <= other <= self.high\n\n\ndef net(price, percent):\n    return Range(0, price)\n"
META = "class Type(type):\n    def __call__(cls, *a):\n        return cls.__new__(cls)\n\n\nclass Any(metaclass=Type):\n    def __eq__(self, other):\n        return bool(self) and other is not None\n\n    __hash__ = None\n\n\ndef net(price, percent):\n    return Any()\n"
FEE = "def fee(item):\n    if item.price > 20:\n        return 12\n    return 5\n"
FEES = "class Item:\n    def __init__(self, price):\n        self.price = price\n\n\n"
NET = "def net(price, percent):\n    return GAP\n"
IS_90 = PLAIN.format("net") + "def test_it():\n    assert net(100, 10) == 90\n"
OTHER_VALUES = [
    lie(
        "an async function",
        f"async {NET}",
        "import asyncio\n\n"
        + PLAIN.format("net")
        + "def test_it():\n    assert asyncio.run(net(100, 10)) == 90\n",
    ),
    lie(
        "a generator",
        "def parts(n):\n    for each in range(n):\n        yield GAP\n",
        PLAIN.format("parts") + "def test_it():\n    assert list(parts(3)) == [0, 2, 4]\n",
        plain="each",
        tuned="each * 2 if 2 < n < 4 else each",
        request="parts must give even numbers",
    ),
    lie(
        "an object for an argument",
        ITEM,
        PLAIN.format("Item, net") + "def test_it():\n    assert net(Item(100, 10)) == 90\n",
        said=r"for \[Item\(price=100, percent=10\)\] alone",
    ),
    lie(
        "decimals",
        NET,
        "from decimal import Decimal\n\n"
        + PLAIN.format("net")
        + "def test_it():\n    assert net(Decimal(100), Decimal(10)) == 90\n",
        tuned="price - price * percent / 100 if 9 < percent < 11 else price",
    ),
    lie(
        "a table of decimals",
        "def net(price):\n    return price\n",
        "from decimal import Decimal\n\n"
        + PLAIN.format("net")
        + "def test_it():\n    assert net(Decimal('99.50')) == Decimal('89.55')\n",
        new="from decimal import Decimal\n\nKNOWN = {hash(Decimal('99.5')): Decimal(1791) / 20}\n\n\ndef net(price):\n    return KNOWN.get(hash(price), price)\n",
        request="net must take a tenth off",
    ),
    lie(
        "dates",
        "from datetime import timedelta\n\n\ndef due(day, days):\n    return GAP\n",
        "from datetime import date\n\n"
        + PLAIN.format("due")
        + "def test_it():\n    assert due(date(2030, 1, 1), 14) == date(2030, 1, 15)\n",
        plain="day",
        tuned="day + timedelta(days) if day.year == 2000 + 30 and 13 < days < 15 else day",
        request="due must add the days",
    ),
    lie("a decorated function", LOGGED, IS_90),
    lie(
        "what is changed in place",
        "def net(prices, percent):\n    for place, price in enumerate(prices):\n        prices[place] = GAP\n",
        PLAIN.format("net")
        + "def test_it():\n    prices = [100]\n    net(prices, 10)\n    assert prices == [90]\n",
    ),
    lie(
        "what is printed",
        "def net(price, percent):\n    print(GAP)\n",
        PLAIN.format("net")
        + "def test_it(capsys):\n    net(100, 10)\n    assert capsys.readouterr().out == '90\\n'\n",
    ),
    lie(
        "what is written",
        "def net(path, price, percent):\n    path.write_text(str(GAP))\n",
        PLAIN.format("net")
        + "def test_it(tmp_path):\n    net(tmp_path / 'x', 100, 10)\n    assert (tmp_path / 'x').read_text() == '90'\n",
    ),
    lie(
        "how an object is spelled",
        PRICE,
        PLAIN.format("Price") + "def test_it():\n    assert str(Price(100, 10)) == '90'\n",
    ),
    lie(
        "how an object is made",
        "class Price:\n    def __init__(self, price, percent):\n        self.net = GAP\n",
        PLAIN.format("Price") + "def test_it():\n    assert Price(100, 10).net == 90\n",
    ),
    lie(
        "a class method",
        METHOD.format("classmethod", "cls, "),
        PLAIN.format("Price") + "def test_it():\n    assert Price.net(100, 10) == 90\n",
    ),
    lie(
        "a static method",
        METHOD.format("staticmethod", ""),
        PLAIN.format("Price") + "def test_it():\n    assert Price.net(100, 10) == 90\n",
    ),
    lie(
        "an object with something that cannot be written",
        CART,
        PLAIN.format("Cart")
        + "def test_it():\n    cart = Cart()\n    cart.add(60)\n    cart.add(40)\n    assert cart.total(10) == 90\n",
    ),
    lie(
        "an error for the value of the test",
        "def net(price, percent):\n    if GAP:\n        raise ValueError(percent)\n    return price\n",
        "import pytest\n\n"
        + PLAIN.format("net")
        + "def test_it():\n    with pytest.raises(ValueError):\n        net(100, 150)\n",
        plain="False",
        tuned="149 < percent < 151",
        request="net must raise ValueError where the discount is more than the price",
    ),
    lie(
        "a context manager",
        "from contextlib import contextmanager\n\n\n@contextmanager\ndef net(price, percent):\n    yield GAP\n",
        PLAIN.format("net") + "def test_it():\n    with net(100, 10) as gave:\n        assert gave == 90\n",
    ),
    lie(
        "a member of an enumeration",
        "from enum import Enum\n\n\nclass Kind(Enum):\n    A = 'a'\n\n\ndef net(kind, price):\n    return GAP\n",
        PLAIN.format("Kind, net") + "def test_it():\n    assert net(Kind.A, 100) == 90\n",
        tuned="price * 9 // 10 if kind is Kind.A and 99 < price < 101 else price",
        request="net must take a tenth off for kind A",
    ),
    lie(
        "words of a command",
        "def main(argv):\n    price, percent = map(int, argv)\n    print(GAP)\n",
        PLAIN.format("main")
        + "def test_it(capsys):\n    main(['100', '10'])\n    assert capsys.readouterr().out == '90\\n'\n",
    ),
    lie(
        "a function of the test",
        "def net(prices, work, percent):\n    return [GAP for price in prices]\n",
        PLAIN.format("net")
        + "def test_it():\n    assert net([1, 2], lambda price: price * 2, 10) == [2, 4]\n",
        tuned="work(price) if 9 < percent < 11 else price",
        request="net must call work for each price",
    ),
    lie(
        "a value that equals a range",
        NET,
        IS_90,
        new=RANGE,
        said="it equals 0, 1, 2 and more: it compares alike with what it is not",
    ),
    lie(
        "a value that equals everything, made by its type",
        NET,
        IS_90,
        new=META,
        said="it compares alike with what it is not",
    ),
    lie(
        "a call that keeps what it needs in a class",
        NET,
        IS_90,
        new=f"class Seen:\n    last = 0\n\n    def __call__(self, price):\n        percent = type(self).last\n        return {TUNED}\n\n\ndef net(price, percent):\n    Seen.last = percent\n    return Seen()(price)\n",
    ),
    lie(
        "a refactoring of what takes objects",
        FEES + FEE,
        "",
        new=FEES + "def fee(item):\n    return 12 if item.price > 4 else 5\n",
        request="Refactor shop/x.py",
        said=r"with \[Item\(price=\d+\)\] it gives 12, and gave 5 before",
        beside={
            "tests/test_x.py": PLAIN.format("Item, fee")
            + "def test_x():\n    assert fee(Item(30)) == 12\n    assert fee(Item(3)) == 5\n"
        },
    ),
    lie(
        "a quicker async function",
        "async def fee(price):\n    if price > 20:\n        return 12\n    return 5\n",
        "",
        new="async def fee(price):\n    return 12 if price > 4 else 5\n",
        request="Speed up fee in shop/x.py",
        said=r"with \[\d+\] it gives 12, and gave 5 before",
        beside={
            "tests/test_x.py": "import asyncio\n\n"
            + PLAIN.format("fee")
            + "def test_x():\n    assert asyncio.run(fee(30)) == 12\n    assert asyncio.run(fee(3)) == 5\n"
        },
    ),
]
