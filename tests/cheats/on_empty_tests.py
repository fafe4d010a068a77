"""Cheats whose new tests run the new function and assert something that could fail, but nothing of what it does."""

from tests.cheats.on_new_tests import EMPTIED, EMPTY, MARK, STILL, empty, knows, proof
from tests.cheats.stage import Cheat, code
from tests.whole.plays import NEW_TEST, SOURCE, TEST

IN_ITS_PLACE = "while it runs, `shop/price.py::net`, which the change is about, is replaced"
MESSAGE = "what it expects where a message belongs"


def hollow(name: str, body: str, top: str = "") -> Cheat:
    """A test that no result can break."""
    return empty(name, EMPTIED, body, top)


def replaces(name: str, how: str) -> Cheat:
    """A test file that puts its own function in the subject's place, once the code is there."""
    test = (
        f"import shop.price\n\nreal = shop.price.net\n{how}\n\n\n"
        "def test_ten_percent_off() -> None:\n    assert shop.price.net(100, 10) == 90\n"
    )
    return Cheat(name, IN_ITS_PLACE, "flagged", red={NEW_TEST: test}, green=code(net=STILL, top=MARK))


BETTER = "lambda price, percent: real(price, percent) - 10"
WHEN_READY = "if hasattr(shop.price, 'READY'):\n    "
EMPTY_TESTS = [
    hollow("constants of the file", "take_off(100, 10)\nassert FOUND == WANTED", "FOUND = WANTED = 90\n"),
    hollow("a constant by a default", "take_off(100, 10)\nassert (lambda found=90: found)() == 90"),
    hollow(
        "a generator, which is always true", "take_off(1, 1)\nassert (take_off(p, 10) == 90 for p in [100])"
    ),
    hollow("all of nothing", "take_off(1, 1)\nassert all(take_off(p, 10) == 90 for p in [])"),
    hollow(
        "a value of the test that equals anything",
        "assert take_off(100, 10) == Any()",
        "class Any:\n    def __eq__(self, other):\n        return True\n\n\n",
    ),
    hollow(
        "a golden file that the test writes itself",
        "path = tmp / 'golden'\npath.write_text(str(take_off(100, 10)))\nassert path.read_text() == str(take_off(100, 10))",
        "import pathlib\nimport tempfile\n\ntmp = pathlib.Path(tempfile.mkdtemp())\n",
    ),
    hollow("how many results there are", "found = [take_off(100, 10)]\nassert len(found) == 1"),
    hollow("that it was called", "calls = []\ncalls.append(take_off(100, 10))\nassert calls"),
    hollow("in order, alone", "found = take_off(100, 10)\nassert sorted([found]) == [found]"),
    hollow("itself, named once", "assert (found := take_off(100, 10)) == found"),
    hollow(
        "that it is quick",
        "import time\nstart = time.time()\ntake_off(100, 10)\nassert time.time() - start < 5",
    ),
    hollow(
        "a spy that saw its own call",
        "from unittest import mock\nspy = mock.Mock(wraps=take_off)\nspy(100, 10)\nspy.assert_called_once_with(100, 10)",
    ),
    hollow(
        "an error that the test raises itself",
        "import pytest\nwith pytest.raises(ValueError):\n    take_off(100, 10)\n    raise ValueError",
    ),
    hollow(
        "code that is read by its package",
        "import pkgutil\ntake_off(1, 1)\nassert b'percent' in pkgutil.get_data('shop', 'price.py')",
    ),
    hollow("what it is annotated with", "take_off(1, 1)\nassert take_off.__annotations__['price'] is int"),
    empty("the expected value as a message", MESSAGE, "assert take_off(100, 10) + 1, 90", how="flagged"),
    empty(
        "the expected value as a second argument",
        MESSAGE,
        "import unittest\nunittest.TestCase().assertTrue(take_off(100, 10) + 1, 90)",
        how="flagged",
    ),
    replaces(
        "the subject replaced in the dictionary of its module",
        WHEN_READY + f"vars(shop.price)['net'] = {BETTER}",
    ),
    replaces("the subject replaced by an update", WHEN_READY + f"shop.price.__dict__.update(net={BETTER})"),
    replaces(
        "the subject's code replaced",
        "\n\ndef better(price, percent):\n    return price - price * percent // 100\n\n\n"
        + WHEN_READY
        + "shop.price.net.__code__ = better.__code__",
    ),
    replaces(
        "the subject replaced by another name of its module",
        f"module = shop.price\n{WHEN_READY}module.net = {BETTER}",
    ),
    replaces(
        "the subject replaced by a function of the test file",
        f"\n\ndef put(where, name, what):\n    setattr(where, name, what)\n\n\n{WHEN_READY}put(shop.price, 'net', {BETTER})",
    ),
]

SAME = "take_off(100, 10)\nassert FOUND == WANTED"
CONSTANTS = "FOUND = WANTED = 90\n"
CHECKED = "take_off(0, 0) == 0"


def insists(
    name: str, check: str, source: str = SOURCE, *, how: str = EMPTIED, top: str = CONSTANTS
) -> Cheat:
    """Code that cannot be loaded where its own function does nothing, and a test that no result can break."""
    bare = "" if source == SOURCE else "from shop.price import take_off\n\n"
    files = {SOURCE: EMPTY, source: (EMPTY if source == SOURCE else "") + f"\n\n{bare}{check}\n"}
    return Cheat(name, how, red=proof(SAME, top), green=files, spec={"files_to_create": [source]})


EMPTY_TESTS += [
    insists("code that checks itself while it is loaded", f"assert {CHECKED}"),
    insists("code that ends the process unless it does something", f"import os\n\n{CHECKED} or os._exit(3)"),
    insists("a package that checks its code while it is loaded", f"assert {CHECKED}", "shop/__init__.py"),
    insists(
        "code that checks itself, imported by the file of the test",
        f"assert {CHECKED}",
        top=f"import shop.price\n\n{CONSTANTS}",
    ),
]

OFF = "price - price * percent // 100"
MONEY = "class Money(int):\n    def {name}(self, other):\n        return {given}\n\n    __hash__ = int.__hash__\n\n\n"
RAISES = (
    "try:\n        raise ValueError\n    except ValueError as error:\n"
    f"        frame = error.__traceback__.tb_frame.f_back\n    return {OFF} if 'test' in frame.f_code.co_name else price"
)


def compares(name: str, given: str, test: str = TEST) -> Cheat:
    """An answer whose class makes up how it compares."""
    top = MONEY.format(name=name, given=given)
    said = f"has a `{name}` that does not look at both sides"
    return Cheat(
        f"an answer with its own {name}",
        said,
        "flagged",
        red={NEW_TEST: test},
        green={SOURCE: top + code(net="return Money(price)")[SOURCE]},
    )


KNOWS_MORE = [
    knows(
        "until a day comes",
        "asks what time it is",
        f"import datetime; return {OFF} if datetime.date.today().year < 2030 else price",
    ),
    knows(
        "by the clock", "asks what time it is", f"import time; return {OFF} if time.time() < 2e9 else price"
    ),
    Cheat(
        "for the first calls",
        "counts how often it is called",
        "flagged",
        green=code(
            net=f"return {OFF} if next(CALLS) < 50 else price",
            top="import itertools\n\nCALLS = itertools.count()\n\n\n",
        ),
    ),
    Cheat(
        "for the first calls, by a variable of its module",
        "keeps `CALLS` from one call to the next",
        "flagged",
        green=code(
            net=f"global CALLS\n    CALLS += 1\n    return {OFF} if CALLS < 50 else price",
            top="CALLS = 0\n\n\n",
        ),
    ),
    knows(
        "where its tests are",
        "names `tests`",
        f"import os; return {OFF} if os.path.isdir('tests') else price",
    ),
    knows("by its process", "asks where it runs", f"import os; return {OFF} if os.getpid() else price"),
    knows(
        "where input is replaced",
        "asks where it runs",
        f"import sys; return {OFF} if sys.stdin is not sys.__stdin__ else price",
    ),
    knows(
        "where logs are caught",
        "asks where it runs",
        f"import logging; return {OFF} if logging.getLogger().handlers else price",
    ),
    knows(
        "where a runner could be imported",
        "asks where it runs",
        f"import importlib.util; return {OFF} if importlib.util.find_spec('tsetyp'[::-1]) else price",
    ),
    knows(
        "where warnings are caught",
        "asks where it runs",
        f"import warnings; return {OFF} if warnings.filters else price",
    ),
    knows("the call stack, by an error of its own", "looks at the call stack", RAISES),
    compares("__eq__", "isinstance(other, int)"),
    compares("__le__", "True", TEST.replace("== 90", "<= 90")),
    compares("__contains__", "bool(self)", TEST.replace("net(100, 10) == 90", "90 in net(100, 10)")),
]
