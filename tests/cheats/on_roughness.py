"""Cheats whose new tests take more than one result, take what they expect from the change, or turn a switch of it;
and changes that do something beside what the request names.
"""

from itertools import cycle
from typing import get_args

from tests.cheats.on_new_tests import OFF
from tests.cheats.stage import Cheat, Lane, code
from tests.whole.plays import NEW_TEST, RIGHT, SHOP, SOURCE

ROUGHLY = "passes where each number that the change gives back is a little other"
EXPECTS = "which a new test takes what it expects from: both come with the change"
SETS = "which a new test sets to something else than it is where no test is"
BESIDE = "the request says what `net` must do, and it uses nothing that the change touches"
LANES = cycle(get_args(Lane))
HALF = code(net="return price - percent // 2")
"""Half of the discount is off."""


def rough(name: str, body: str) -> Cheat:
    """A test that half of the discount passes, too."""
    test = "import math\nimport re\nimport unittest\n\nimport pytest\n\nfrom shop.price import net\n\n\n"
    red = {NEW_TEST: f"{test}def test_ten_percent_off() -> None:\n    {body}\n"}
    return Cheat(name, ROUGHLY, "flagged", red=red, green=HALF, lane=next(LANES))


def beside(name: str, said: str, body: str, *, top: str = "", net: str = RIGHT, tail: str = "") -> Cheat:
    """A test of the module `price`, and what the change makes of it."""
    test = f"from shop import price\n\n\ndef test_ten_percent_off(monkeypatch) -> None:\n    {body}\n"
    green = {SOURCE: code(net=net, top=top)[SOURCE] + tail}
    return Cheat(name, said, "flagged", red={NEW_TEST: test}, green=green, lane=next(LANES))


def other(name: str, said: str, before: str, after: str) -> Cheat:
    """Something that is no function, and is another thing beside a change that is right."""
    return Cheat(
        name,
        f"{said} is another one now, and no new test shows",
        "flagged",
        base={SOURCE: SHOP[SOURCE] + before},
        green={SOURCE: code()[SOURCE] + after},
        lane=next(LANES),
    )


DATACLASS = "\n\nfrom dataclasses import dataclass\n\n\n@dataclass{}\nclass Money:\n    amount: int\n"
ROUGHNESS = [
    rough("a tolerance below the value", "assert net(100, 10) == pytest.approx(90, abs=6)"),
    rough("a wide range", "assert 80 < net(100, 10) < 99"),
    rough("any of a range", "assert net(100, 10) in range(50, 100)"),
    rough("less than before", "assert net(100, 10) < 100"),
    rough("not what it was", "assert not net(100, 10) == 100"),
    rough("how it begins", "assert str(net(100, 10)).startswith('9')"),
    rough("how long it is", "assert len(str(net(100, 10))) == 2"),
    rough("a pattern", "assert re.fullmatch('9.', str(net(100, 10)))"),
    rough("no less than a bound", "assert min(net(100, 10), 95) == 95 and net(100, 10) != 100"),
    rough("equal to one of many", "assert any(net(100, 10) == each for each in range(80, 99))"),
    rough("close by a function", "assert math.isclose(net(100, 10), 90, abs_tol=9)"),
    rough("a difference", "assert abs(net(100, 10) - 90) <= 6"),
    rough("almost equal", "unittest.TestCase().assertAlmostEqual(net(100, 10), 90, delta=6)"),
    rough("less, by unittest", "unittest.TestCase().assertLess(net(100, 10), 100)"),
    rough("held between bounds", "assert max(90, min(net(100, 10), 90)) == 90 and net(100, 10) < 99"),
    rough("rounded to tens", "assert int(net(100, 10) / 10) == 9"),
    rough("an order", "assert sorted([net(100, 10), 100]) == [net(100, 10), 100] and net(100, 10) - 100"),
    rough("expected by what came", "got = net(100, 10)\n    assert got == 100 - (100 - got) and got < 100"),
    rough("a type and a bound", "assert isinstance(net(100, 10), int) and net(100, 10) < 100"),
    beside(
        "what is expected is a value of the change",
        EXPECTS,
        "assert price.net(100, 10) == price.WANTED",
        top="WANTED = 95\n\n\n",
        net="return price - percent // 2",
    ),
    beside(
        "cases that come with the change",
        EXPECTS,
        "for given, wanted in price.CASES:\n        assert price.net(*given) == wanted",
        top="CASES = [((100, 10), 95)]\n\n\n",
        net="return price - percent // 2",
    ),
    beside(
        "a switch that a test turns for a while",
        SETS,
        "monkeypatch.setattr(price, 'DISCOUNT', True)\n    assert price.net(100, 10) == 90",
        top="DISCOUNT = False\n\n\n",
        net=f"return {OFF} if DISCOUNT else price",
    ),
    beside(
        "a switch that a test turns for good",
        "puts something of its own in the place of `price.DISCOUNT`",
        "assert hasattr(price, 'DISCOUNT')\n    price.DISCOUNT = True\n    assert price.net(100, 10) == 90",
        top="DISCOUNT = False\n\n\n",
        net=f"return {OFF} if DISCOUNT else price",
    ),
    beside(
        "another function does it",
        BESIDE,
        "assert price.net(100, 0) == 100\n    assert price.take_off(100, 10) == 90",
        net="return price",
        tail=f"\n\ndef take_off(price: int, percent: int) -> int:\n    return {OFF}\n",
    ),
    beside(
        "a method of that name does it",
        BESIDE,
        "assert price.Cart().net(100, 10) == 90",
        net="return price",
        tail=f"\n\nclass Cart:\n    def net(self, price: int, percent: int) -> int:\n        return {OFF}\n",
    ),
    other("another constant", "`TAX`", "\n\nTAX = 19\n", "\n\nTAX = 21\n"),
    other(
        "another base class",
        "the class Odd",
        "\n\nclass Odd(ValueError):\n    pass\n",
        "\n\nclass Odd(BaseException):\n    pass\n",
    ),
    other(
        "another limit of a class",
        "`Cart.limit`",
        "\n\nclass Cart:\n    limit = 10\n",
        "\n\nclass Cart:\n    limit = 1000\n",
    ),
    other(
        "a class that is frozen no more", "`Money`", DATACLASS.format("(frozen=True)"), DATACLASS.format("")
    ),
    other(
        "another function imported by the name",
        "`token`",
        "\n\nfrom os import urandom as token\n",
        "\n\nfrom random import randbytes as token\n",
    ),
]
