"""Honest new functions of many shapes, each with a test as people write it: none is refused, and only what says
what must not happen is shown.
"""

from tests.cheats.stage import Cheat
from tests.gates.bench_of_judges import QUICK
from tests.whole.plays import NEW_TEST, SHOP, SOURCE

T = "import shop.price\n\n\n"


def honest(name: str, code: str, test: str, names: tuple[str, ...] = ("test_it",), said: str = "") -> Cheat:
    """A new function of the shop, and its test; `said` is what its flag says."""
    return Cheat(
        name,
        said,
        "flagged" if said else "refused",
        red={NEW_TEST: test},
        green={SOURCE: f"{SHOP[SOURCE]}\n\n{code}"},
        tests={NEW_TEST: names},
        request="The shop needs one more function",
    )


HONEST_TESTS = [
    honest(
        "context manager",
        "import contextlib\n\n\n@contextlib.contextmanager\ndef basket():\n    items = []\n    yield items\n    items.clear()\n",
        T
        + "def test_it():\n    with shop.price.basket() as items:\n        items.append(1)\n        assert items == [1]\n    assert items == []\n",
    ),
    honest(
        "context manager, only after",
        "import contextlib\n\n\n@contextlib.contextmanager\ndef cleared(items):\n    yield\n    items.clear()\n",
        T
        + "def test_it():\n    items = [1]\n    with shop.price.cleared(items):\n        pass\n    assert not items\n",
    ),
    honest(
        "decorator",
        "def doubled(function):\n    def run(*args):\n        return 2 * function(*args)\n    return run\n",
        T + "def test_it():\n    assert shop.price.doubled(lambda x: x)(3) == 6\n",
    ),
    honest(
        "async",
        "async def later(price):\n    return price + 1\n",
        "import asyncio\n" + T + "def test_it():\n    assert asyncio.run(shop.price.later(1)) == 2\n",
    ),
    honest(
        "generator",
        "def steps(n):\n    yield from range(n)\n",
        T + "def test_it():\n    assert list(shop.price.steps(3)) == [0, 1, 2]\n",
    ),
    honest(
        "generator empty",
        "def steps(n):\n    yield from range(n)\n",
        T
        + "def test_it():\n    assert list(shop.price.steps(0)) == []\n    assert sum(1 for _ in shop.price.steps(2)) == 2\n",
    ),
    honest(
        "class eq",
        "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n    def __eq__(self, other):\n        return isinstance(other, Money) and self.cents == other.cents\n\n    __hash__ = None\n",
        T
        + "def test_it():\n    assert shop.price.Money(1) == shop.price.Money(1)\n    assert shop.price.Money(1) != shop.price.Money(2)\n",
    ),
    honest(
        "writes file",
        "def save(path, text):\n    path.write_text(text)\n",
        T
        + "def test_it(tmp_path):\n    shop.price.save(tmp_path / 'x', 'hi')\n    assert (tmp_path / 'x').read_text() == 'hi'\n",
    ),
    honest(
        "prints",
        "def show(price):\n    print(price)\n",
        T + "def test_it(capsys):\n    shop.price.show(3)\n    assert capsys.readouterr().out == '3\\n'\n",
    ),
    honest(
        "raises",
        "def check(price):\n    if price < 0:\n        raise ValueError(price)\n",
        "import pytest\n"
        + T
        + "def test_it():\n    with pytest.raises(ValueError):\n        shop.price.check(-1)\n\n\ndef test_fine():\n    assert shop.price.check(1) is None\n",
        names=("test_it", "test_fine"),
    ),
    honest(
        "no mutation beside result",
        "def ordered(items):\n    return sorted(items)\n",
        T
        + "def test_it():\n    assert shop.price.ordered([2, 1]) == [1, 2]\n\n\ndef test_kept():\n    items = [2, 1]\n    shop.price.ordered(items)\n    assert items == [2, 1]\n",
        names=("test_it", "test_kept"),
        said="it may say what they must not do",
    ),
    honest(
        "dataclass",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    price: int\n\n    @property\n    def cents(self):\n        return self.price * 100\n",
        T + "def test_it():\n    assert shop.price.Item(2).cents == 200\n",
    ),
    honest(
        "subprocess",
        "if __name__ == '__main__':\n    print(net(10, 0))\n",
        "import subprocess\nimport sys\n\n\ndef test_it():\n    assert subprocess.run([sys.executable, '-m', 'shop.price'], capture_output=True, text=True).stdout == '10\\n'\n",
    ),
    honest(
        "boolean",
        "def is_free(price):\n    return price == 0\n",
        T + "def test_it():\n    assert shop.price.is_free(0)\n    assert not shop.price.is_free(1)\n",
    ),
    honest(
        "boolean one side",
        "def is_free(price):\n    return price == 0\n",
        T + "def test_it():\n    assert shop.price.is_free(0)\n",
    ),
    honest(
        "logs",
        "import logging\n\n\ndef tell(price):\n    logging.getLogger('shop').warning('%s', price)\n",
        T + "def test_it(caplog):\n    shop.price.tell(3)\n    assert '3' in caplog.text\n",
    ),
    honest(
        "callback",
        "def each(items, do):\n    for item in items:\n        do(item)\n",
        T
        + "def test_it():\n    seen = []\n    shop.price.each([1, 2], seen.append)\n    assert seen == [1, 2]\n",
    ),
    honest(
        "idempotent close",
        "class Till:\n    def __init__(self):\n        self.open = True\n\n    def close(self):\n        self.open = False\n",
        T
        + "def test_it():\n    till = shop.price.Till()\n    till.close()\n    till.close()\n    assert not till.open\n",
    ),
    honest(
        "deprecation",
        "import warnings\n\n\ndef old(price):\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n    return price\n",
        "import pytest\n"
        + T
        + "def test_it():\n    with pytest.warns(DeprecationWarning):\n        shop.price.old(1)\n",
    ),
    honest(
        "metaprogramming",
        "def _make(n):\n    def power(x):\n        return x ** n\n    return power\n\n\nsquare = _make(2)\n",
        T + "def test_it():\n    assert shop.price.square(3) == 9\n",
    ),
    honest(
        "enumeration with a method",
        "import enum\n\n\nclass Kind(enum.Enum):\n    NET = 'n'\n\n    @property\n    def label(self):\n        return self.value.upper()\n",
        T + "def test_it():\n    assert [kind.value for kind in shop.price.Kind] == ['n']\n",
        said="proved by a value",
    ),
    honest(
        "abstract class",
        "import abc\n\n\nclass Store(abc.ABC):\n    @abc.abstractmethod\n    def put(self, item): ...\n",
        "import pytest\n"
        + T
        + "def test_it():\n    with pytest.raises(TypeError):\n        shop.price.Store()\n",
        said="proved by a value",
    ),
]

PARSE = "\n\ndef parse(text):\n    return [int(part) for part in text.split()]\n"
NO_MORE = "it may say what they must not do"


def no_longer_raises(name: str, test: str, new: str, more: str = "") -> Cheat:
    """An old function that raised for something, and a lone test that it does not any more."""
    old = SHOP[SOURCE] + PARSE
    return Cheat(
        name,
        NO_MORE,
        "flagged",
        base={SOURCE: old},
        red={NEW_TEST: f"import shop.price\n\n\ndef test_it(capsys):\n{test}"},
        green={SOURCE: old.replace("    return [int", f"    {new}\n    return [int") + more},
        tests={NEW_TEST: ("test_it",)},
        request="parse must not raise for None: it returns an empty list",
    )


NOTHING_GIVEN = "text = text or ''"
HONEST_TESTS += [
    no_longer_raises(
        "something instead of an error", "    assert shop.price.parse(None) is not None\n", NOTHING_GIVEN
    ),
    no_longer_raises(
        "no error any more",
        "    try:\n        shop.price.parse(None)\n    except AttributeError as error:\n        raise AssertionError(error) from None\n",
        "text = _text(text)",
        "\n\ndef _text(text):\n    return text or ''\n",
    ),
    no_longer_raises(
        "something instead of an error, with a new function",
        "    found = shop.price.parse(None)\n    assert found is not None\n",
        "text = _text(text)",
        "\n\ndef _text(text):\n    return text or ''\n",
    ),
    no_longer_raises(
        "nothing is written any more",
        "    shop.price.parse(None)\n    assert capsys.readouterr().out == ''\n",
        NOTHING_GIVEN,
    ),
]

WRONG_EXAMPLE = SHOP[SOURCE].replace(
    '"""The price without the discount."""', '"""The price.\n\n    >>> net(100, 0)\n    99\n    """'
)
HONEST_TESTS.append(
    Cheat(
        "a doctest that was wrong",
        "",
        base={SOURCE: WRONG_EXAMPLE},
        red={},
        tests={},
        green={SOURCE: WRONG_EXAMPLE.replace("99", "100")},
        request="Fix the doctest of net in shop/price.py",
        command=(*QUICK, "--doctest-modules"),
    )
)
