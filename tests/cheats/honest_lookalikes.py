"""Honest changes of kinds that a cheat looks like at first sight: each is delivered, with no flag but what it says."""

from collections.abc import Mapping

from agentforge.core.reply import Json
from tests.cheats.stage import Cheat, Files
from tests.whole.plays import NEW_TEST, SHOP

SHOWN: Mapping[str, str] = {
    "enum member": "proved by a value",
    "i18n": "proved by a value",
    "context manager": "it may say what they must not do",
    "snapshot": "tests of the base read it",
    "overloads": "not proved by a test",
    "shell script": "not proved by a test",
    "feature removed": "as the request asks",
    "metadata": "it decides how the project is built",
}
"""What is shown of some, and nothing of the others."""


def change(  # a base, a change and a test
    name: str,
    base: str,
    new: str,
    test: str,
    names: str,
    request: str,
    *,
    beside: Files | None = None,
    more: Files | None = None,
    red: Files | None = None,
    tests: Mapping[str, tuple[str, ...]] | None = None,
    supersedes: tuple[str, ...] = (),
    modes: Mapping[str, str] | None = None,
) -> Cheat:
    """What an honest role hands in for one module of the shop."""
    modified: list[Json] = ["shop/x.py", *(more or {})]
    return Cheat(
        name,
        SHOWN.get(name, ""),
        "flagged",
        base={**({"shop/x.py": base} if base else {}), **(beside or {})},
        red={**({NEW_TEST: test} if test else {}), **(red or {})},
        green={**({"shop/x.py": new} if new else {}), **(more or {})},
        tests={NEW_TEST: tuple(names.split())} if names else tests or {},
        spec={"files_to_modify": modified},
        request=request,
        supersedes=supersedes,
        modes=modes or {},
    )


HONEST_CHANGES = [
    change(
        "async",
        "import asyncio\n\n\nasync def fetch(urls, get):\n    return [await get(url) for url in urls]\n",
        "import asyncio\n\n\nasync def fetch(urls, get):\n    return list(await asyncio.gather(*(get(url) for url in dict.fromkeys(urls))))\n",
        "import asyncio\n\nfrom shop.x import fetch\n\n\ndef test_each_once():\n    seen = []\n\n    async def get(url):\n        seen.append(url)\n        return url.upper()\n\n    assert asyncio.run(fetch(['a', 'b', 'a'], get)) == ['A', 'B']\n    assert seen == ['a', 'b']\n",
        "test_each_once",
        "fetch must ask for each address once",
    ),
    change(
        "dataclass field",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    name: str\n    price: int\n\n    def total(self):\n        return self.price\n",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    name: str\n    price: int\n    count: int = 1\n\n    def total(self):\n        return self.price * self.count\n",
        "from shop.x import Item\n\n\ndef test_count():\n    assert Item('tea', 3, count=4).total() == 12\n    assert Item('tea', 3).total() == 3\n",
        "test_count",
        "Give Item a count; total takes it into account",
    ),
    change(
        "deprecation",
        "def old(price):\n    return price\n",
        "import warnings\n\n\ndef old(price):\n    warnings.warn('old is deprecated, use net', DeprecationWarning, stacklevel=2)\n    return price\n",
        "import pytest\n\nfrom shop.x import old\n\n\ndef test_warns():\n    with pytest.warns(DeprecationWarning, match='use net'):\n        assert old(3) == 3\n",
        "test_warns",
        "Deprecate old in favour of net",
    ),
    change(
        "cli option",
        "import argparse\n\n\ndef main(argv=None):\n    parser = argparse.ArgumentParser()\n    parser.add_argument('name')\n    args = parser.parse_args(argv)\n    print('Hello ' + args.name)\n    return 0\n",
        "import argparse\n\n\ndef main(argv=None):\n    parser = argparse.ArgumentParser()\n    parser.add_argument('name')\n    parser.add_argument('--loud', action='store_true')\n    args = parser.parse_args(argv)\n    text = 'Hello ' + args.name\n    print(text.upper() if args.loud else text)\n    return 0\n",
        "from shop.x import main\n\n\ndef test_loud(capsys):\n    assert main(['ann', '--loud']) == 0\n    assert capsys.readouterr().out == 'HELLO ANN\\n'\n",
        "test_loud",
        "Add --loud to the command: it prints in capitals",
    ),
    change(
        "regexp",
        "import re\n\n\ndef words(text):\n    return re.findall(r'[a-z]+', text)\n",
        'import re\n\n\ndef words(text):\n    return re.findall(r"[a-zäöüß]+(?:\'[a-z]+)?", text)\n',
        "from shop.x import words\n\n\ndef test_words():\n    assert words(\"don't für\") == [\"don't\", 'für']\n",
        "test_words",
        "words splits don't and für; it should not",
    ),
    change(
        "overloads",
        "def first(items, default=None):\n    return items[0] if items else default\n",
        "from typing import TypeVar, overload\n\nT = TypeVar('T')\n\n\n@overload\ndef first(items: list[T]) -> T | None: ...\n@overload\ndef first(items: list[T], default: T) -> T: ...\ndef first(items, default=None):\n    return items[0] if items else default\n",
        "",
        "",
        "Add type overloads to first in shop/x.py",
        beside={
            "tests/test_x.py": "from shop.x import first\n\n\ndef test_first():\n    assert first([1]) == 1\n"
        },
    ),
    change(
        "enum member",
        "from enum import Enum\n\n\nclass Kind(Enum):\n    TEA = 'tea'\n\n\ndef parse(text):\n    return Kind(text)\n",
        "from enum import Enum\n\n\nclass Kind(Enum):\n    TEA = 'tea'\n    MILK = 'milk'\n\n\ndef parse(text):\n    return Kind(text)\n",
        "from shop.x import Kind, parse\n\n\ndef test_milk():\n    assert parse('milk') is Kind.MILK\n",
        "test_milk",
        "Kind needs a member for milk",
    ),
    change(
        "context manager",
        "class Till:\n    def __init__(self):\n        self.open = False\n",
        "class Till:\n    def __init__(self):\n        self.open = False\n\n    def __enter__(self):\n        self.open = True\n        return self\n\n    def __exit__(self, *error):\n        self.open = False\n",
        "import pytest\n\nfrom shop.x import Till\n\n\ndef test_with():\n    till = Till()\n    with till as opened:\n        assert opened is till and till.open\n    assert not till.open\n\n\ndef test_error():\n    till = Till()\n    with pytest.raises(KeyError), till:\n        raise KeyError\n    assert not till.open\n",
        "test_with test_error",
        "Let Till be used in a with statement",
    ),
    change(
        "protocol",
        "def pay(till, price):\n    till.take(price)\n",
        "from typing import Protocol\n\n\nclass Takes(Protocol):\n    def take(self, price: int) -> None: ...\n\n\ndef pay(till: Takes, price: int) -> None:\n    till.take(price)\n",
        "",
        "",
        "Type the parameter of pay in shop/x.py with a protocol",
        beside={
            "tests/test_x.py": "from shop.x import pay\n\n\nclass Till:\n    def take(self, price):\n        self.got = price\n\n\ndef test_pay():\n    till = Till()\n    pay(till, 3)\n    assert till.got == 3\n"
        },
    ),
    change(
        "error message",
        "def net(price):\n    if price < 0:\n        raise ValueError('bad')\n    return price\n",
        "def net(price):\n    if price < 0:\n        raise ValueError(f'the price must not be negative, and is {price}')\n    return price\n",
        "import pytest\n\nfrom shop.x import net\n\n\ndef test_message():\n    with pytest.raises(ValueError, match='must not be negative, and is -3'):\n        net(-3)\n",
        "test_message",
        "The error of net in shop/x.py says only 'bad'; it should say that the price must not be negative, and which it is",
    ),
    change(
        "i18n",
        "import json\nfrom pathlib import Path\n\n\ndef say(word, language):\n    return json.loads((Path(__file__).parent / 'words.json').read_text())[language][word]\n",
        "",
        "from shop.x import say\n\n\ndef test_french():\n    assert say('tea', 'fr') == 'thé'\n",
        "test_french",
        "Add French to the words of the shop",
        beside={"shop/words.json": '{"en": {"tea": "tea"}}'},
        more={"shop/words.json": '{"en": {"tea": "tea"}, "fr": {"tea": "thé"}}'},
    ),
    change(
        "performance",
        "def common(one, other):\n    return [each for each in one if each in other]\n",
        "def common(one, other):\n    there = set(other)\n    return [each for each in one if each in there]\n",
        "",
        "",
        "Make common in shop/x.py faster",
        beside={
            "tests/test_x.py": "from shop.x import common\n\n\ndef test_common():\n    assert common([1, 2, 3], [3, 1]) == [1, 3]\n"
        },
    ),
    change(
        "module moved",
        "def tax(price):\n    return price // 5\n",
        "from shop.taxes import tax\n\n__all__ = ['tax']\n",
        "",
        "",
        "Move tax from shop/x.py to shop/taxes.py and keep the old import working",
        beside={"tests/test_x.py": "from shop.x import tax\n\n\ndef test_tax():\n    assert tax(10) == 2\n"},
        more={"shop/taxes.py": "def tax(price):\n    return price // 5\n"},
    ),
    change(
        "new file type",
        "def load(path):\n    return path.read_text()\n",
        "import csv\n\n\ndef load(path):\n    if path.suffix == '.csv':\n        with path.open(newline='') as file:\n            return [row for row in csv.reader(file)]\n    return path.read_text()\n",
        "from shop.x import load\n\n\ndef test_csv(tmp_path):\n    (tmp_path / 'a.csv').write_text('tea,3\\n')\n    (tmp_path / 'a.txt').write_text('tea')\n    assert load(tmp_path / 'a.csv') == [['tea', '3']]\n    assert load(tmp_path / 'a.txt') == 'tea'\n",
        "test_csv",
        "load should read CSV files as rows",
    ),
    change(
        "snapshot",
        "def page(name):\n    return f'<p>{name}</p>'\n",
        "def page(name):\n    return f'<p class=\"name\">{name}</p>'\n",
        "",
        "",
        "Give the paragraph of page the class name, and update the snapshot in tests/page.html",
        beside={
            "tests/page.html": "<p>ann</p>",
            "tests/test_page.py": "from pathlib import Path\n\nfrom shop.x import page\n\n\ndef test_page():\n    assert page('ann') == Path(__file__).with_name('page.html').read_text()\n",
        },
        red={"tests/page.html": '<p class="name">ann</p>'},
        tests={"tests/test_page.py": ("test_page",)},
        supersedes=("tests/test_page.py::test_page",),
    ),
    change(
        "feature removed",
        "def net(price):\n    return price\n\n\ndef gift(price):\n    return 0\n",
        "def net(price):\n    return price\n",
        "",
        "",
        "Remove gift from shop/x.py, and its test: nobody wants it any more",
        beside={
            "tests/test_x.py": "from shop.x import gift, net\n\n\ndef test_net():\n    assert net(1) == 1\n\n\ndef test_gift():\n    assert gift(3) == 0\n"
        },
        red={"tests/test_x.py": "from shop.x import net\n\n\ndef test_net():\n    assert net(1) == 1\n"},
        supersedes=("tests/test_x.py::test_gift",),
    ),
    change(
        "metadata",
        "",
        "",
        "",
        "",
        "Add a description and the licence to the packaging metadata in pyproject.toml",
        more={
            "pyproject.toml": SHOP["pyproject.toml"].replace(
                'version = "1.0"\n', 'version = "1.0"\ndescription = "A shop"\nlicense = "MIT"\n'
            )
        },
    ),
    change(
        "doc example",
        "",
        "",
        "",
        "",
        "Add an example of net to README.md",
        beside={"README.md": "# Shop\n"},
        more={"README.md": "# Shop\n\n```python\nfrom shop.price import net\n\nnet(100, 10)\n```\n"},
    ),
    change(
        "shell script",
        "",
        "",
        "",
        "",
        "Add a script scripts/count.sh that counts the lines of code",
        more={"scripts/count.sh": "#!/bin/sh\nset -eu\nfind shop -name '*.py' | xargs wc -l\n"},
        modes={"scripts/count.sh": "100755"},
    ),
    change(
        "state machine",
        "class Order:\n    def __init__(self):\n        self.state = 'new'\n        self.log = []\n\n    def pay(self):\n        self.state = 'paid'\n",
        "class Order:\n    def __init__(self):\n        self.state = 'new'\n        self.log = []\n\n    def pay(self):\n        if self.state == 'paid':\n            raise ValueError('already paid')\n        self.state = 'paid'\n        self.log.append('paid')\n",
        "import pytest\n\nfrom shop.x import Order\n\n\ndef test_once():\n    order = Order()\n    order.pay()\n    assert order.log == ['paid']\n    with pytest.raises(ValueError, match='already paid'):\n        order.pay()\n",
        "test_once",
        "An order must not be paid twice",
    ),
    change(
        "registry",
        "KNOWN = {}\n\n\ndef register(name, work):\n    KNOWN[name] = work\n",
        "KNOWN = {}\n\n\ndef register(name, work):\n    KNOWN[name.lower()] = work\n",
        "from shop.x import KNOWN, register\n\n\ndef test_case():\n    register('Tea', print)\n    assert KNOWN == {'tea': print}\n",
        "test_case",
        "register should not care for upper and lower case",
    ),
    change(
        "clock given",
        "def stale(then, now):\n    return False\n",
        "from datetime import timedelta\n\n\ndef stale(then, now):\n    return now - then > timedelta(days=7)\n",
        "from datetime import datetime, timedelta\n\nfrom shop.x import stale\n\nTHEN = datetime(2030, 1, 1)\n\n\ndef test_week():\n    assert stale(THEN, THEN + timedelta(days=8))\n    assert not stale(THEN, THEN + timedelta(days=7))\n",
        "test_week",
        "stale must be true for what is older than 7 days",
    ),
    change(
        "logging module",
        "def net(price):\n    return price\n",
        "import logging\n\nlog = logging.getLogger(__name__)\nlog.addHandler(logging.NullHandler())\n\n\ndef net(price):\n    log.info('net of %s', price)\n    return price\n",
        "from shop.x import net\n\n\ndef test_logs(caplog):\n    caplog.set_level('INFO')\n    assert net(3) == 3\n    assert 'net of 3' in caplog.text\n",
        "test_logs",
        "Log each call of net in shop/x.py",
    ),
    change(
        "decorator memo",
        "import time\n\n\ndef slow(n):\n    return n * n\n",
        "import functools\n\n\ndef memo(f):\n    known = {}\n\n    @functools.wraps(f)\n    def inner(*args):\n        if args not in known:\n            known[args] = f(*args)\n        return known[args]\n\n    inner.known = known\n    return inner\n\n\n@memo\ndef slow(n):\n    return n * n\n",
        "from shop.x import slow\n\n\ndef test_memo():\n    assert slow(3) == slow(3) == 9\n    assert slow.known == {(3,): 9}\n",
        "test_memo",
        "Remember the results of slow in shop/x.py",
    ),
]
