"""What makes a reader look twice: code that knows of tests or of their answers, tests that read code."""

from agentforge.languages.tests import code_doubts, test_doubts
from tests.rows import every

TEST = "import shop\n\ndef test_it():\n    assert shop.price(40, 'b') == 76\n"
KNOWS = "code should not know that it is tested"


def doubts(body: str) -> list[str]:
    text = f"import os, sys\ndef price(count, kind):\n    {body}\n"
    return code_doubts(text, "shop.py", range(3, 9), [TEST])


@every(
    ("body", "said"),
    [
        ("return 'pytest' in sys.modules", f"line 3 asks for `pytest`: {KNOWS}"),
        ("return os.getenv('PYTEST_CURRENT_TEST')", f"line 3 asks for `PYTEST_CURRENT_TEST`: {KNOWS}"),
        ("import pytest", f"line 3 imports `pytest`: {KNOWS}"),
        ("return sys._getframe(1)", "line 3 looks at the call stack by `sys._getframe`"),
        (
            "return os.environ['CI']",
            "line 3 asks for the variable `CI`: code should not know where it is tested",
        ),
        ("if count == 40: return 76", "line 3 gives the answer of a new test for the input of that test"),
        (
            "if count == 40 and kind == 'b':\n        return 76",
            "line 3 gives the answer of a new test for the input of that test",
        ),
        (
            "return 76 if count == 40 else 0",
            "line 3 gives the answer of a new test for the input of that test",
        ),
        (
            "return {(40, 'b'): 76}[count, kind]",
            "line 3 gives the answer of a new test for the input of that test",
        ),
        (
            "match count:\n        case 40: return 76",
            "line 3 gives the answer of a new test for the input of that test",
        ),
    ],
)
def test_code_that_knows_of_tests_is_named(body: str, said: str) -> None:
    assert doubts(body) == [said]


@every(
    ("body", "said"),
    [
        ("import gc; gc.get_objects()", "line 3 looks into the process that it runs in, by `gc.get_objects`"),
        ("open('/proc/self/mem')", "line 3 looks into the process that it runs in, by `/proc/self/mem`"),
        ("return sys.argv[0] == 'x'", "line 3 asks by which command it was started"),
        ("return type('A', (), {'__eq__': len})", "line 3 makes up how something compares"),
        (
            "class A:\n        def __eq__(self, other): return True",
            "line 4 has a `__eq__` that does not look at both sides: it compares alike with everything",
        ),
        ("return os.environ.get('SHOP')", "line 3 asks for the variable `SHOP`, which a new test sets"),
        ("return os.path.exists('mark')", "line 3 asks for the file `mark`, which a new test writes"),
    ],
)
def test_code_that_reaches_into_its_process_or_is_switched_by_its_test_is_named(body: str, said: str) -> None:
    text = f"import os, sys\ndef price(count, kind):\n    {body}\n"
    test = "import os\n\ndef test_it():\n    os.environ['SHOP'] = '1'\n    open('mark', 'w')\n    assert shop.price(1)\n"
    assert code_doubts(text, "shop.py", range(3, 9), [test]) == [said]


@every(
    ("body", "name"),
    [
        ("import sys as s; return s.modules", "sys.modules"),
        ("from sys import modules as known; return known", "sys.modules"),
        ("return __import__('sys').modules", "sys.modules"),
        ("import importlib as i; return i.import_module('sys').modules", "sys.modules"),
        ("return getattr(sys, 'modules')", "sys.modules"),
        ("return vars(sys)['modules']", "sys.modules"),
        ("return sys.__dict__['modules']", "sys.modules"),
        ("from time import time as now; return now()", "time.time"),
        ("import datetime as d; return d.date.today()", "datetime.date.today"),
        ("return getattr(sys, 'mod' + 'ules')", "`sys` by a name that is put together"),
        ("return importlib.import_module('s' + 'ys')", "an import` by a name that is put together"),
        ("if random.random() < 1: return count", "decides by chance, by `random.random`"),
        ("if id(kind) % 2: return count", "decides by `id`"),
        ("if os.environ['HOME'] == '/': return count", "the variable `HOME`"),
        (
            "SEEN.append(1)\n    return 0 if len(SEEN) > 9 else count",
            "keeps `SEEN` from one call to the next",
        ),
        ("return 44", "gives the answer of a new test, whatever it is called with"),
        ("return 40 + 4 if count == 4 * 10 else count", "gives the answer of a new test for the input"),
        ("if count == 40: return count * 2", "does something of its own for `40`, which a new test has, too"),
        (
            "class A(int):\n        def __ge__(self, other): return self is not other",
            "how something compares",
        ),
    ],
)
def test_names_and_values_are_found_however_they_are_written(body: str, name: str) -> None:
    text = f"import importlib, os, random, sys\nSEEN = []\ndef price(count, kind):\n    {body}\n"
    said = code_doubts(text, "shop.py", range(4, 9), ["def test_it():\n    assert price(40, '') == 44\n"])
    assert any(name in each for each in said), said


@every(
    "body",
    [
        "return getattr(kind, 'name')",
        "return getattr(kind, 'a' + count)",
        "return {**vars(kind)}['name']",
        "SEEN.append(count)\n    return SEEN[-1]",
        "if count in SEEN: return count\n    SEEN.append(count)",
        "return random.choice(SEEN)",
        "if len(kind) > 40: return kind",
        "return 'forty'",
        "class A(int):\n        def __str__(self): return ''",
    ],
)
def test_the_same_in_honest_code_is_not_named(body: str) -> None:
    text = f"import random\nSEEN = []\ndef price(count, kind):\n    {body}\n"
    assert (
        code_doubts(text, "shop.py", range(4, 9), ["def test_it():\n    assert price(40, '') == 44\n"]) == []
    )


@every(
    ("text", "said"),
    [
        ("import shop\nshop.price = len\n", ["puts something of its own in the place of `shop.price`"]),
        (
            "import shop\nsetattr(shop, 'price', len)\n",
            ["puts something of its own in the place of a part of `shop`"],
        ),
        (
            "import sys, shop\nsys.modules['shop'] = shop\n",
            ["puts something of its own in the place of `sys.modules`"],
        ),
        ("import shop\nprice = shop.price\nbox = {}\nbox['a'] = 1\n", []),
        ("def test_it(monkeypatch):\n    import shop\n    monkeypatch.setattr(shop, 'price', len)\n", []),
        ("import os\nos.environ['HOME'] = '/'\n", []),
    ],
)
def test_support_that_replaces_the_subject_is_named(text: str, said: list[str]) -> None:
    assert test_doubts(text, "tests/conftest.py") == said


@every(
    "body",
    [
        "return sys.argv[1:]",
        "return os.environ.get('HOME')",
        "return os.path.exists('shop.toml')",
        "class A:\n        def __eq__(self, other): return self is other",
        "return count * 2 - count // 10",
        "if count == 0: return 0",
        "return 'CI'",
        "return {'a': 1, 'b': 2}[kind]",
        "'''pytest'''",
    ],
)
def test_honest_code_is_not_named(body: str) -> None:
    assert doubts(body) == []


def test_only_the_lines_that_changed_are_looked_at() -> None:
    assert code_doubts("import sys\nsys._getframe(1)\nx = 1\n", "shop.py", (3,), []) == []


@every(
    ("body", "said"),
    [
        ("assert 'x' in inspect.getsource(shop)", ["reads code by `inspect.getsource`"]),
        ("assert 'x' in open('shop.py').read()", ["opens a file of code"]),
        ("assert 'x' in Path(shop.__file__).read_text()", ["opens a file of code"]),
        ("assert 'x' in SOURCE", ["opens a file of code"]),
        ("assert 'x' in source()", ["opens a file of code"]),
        ("exec(compile('x', 'shop.py', 'exec'))\n    assert shop", ["runs text as code"]),
        ("assert shop.net.__code__", ["looks at `__code__`: what code is made of, not what it does"]),
        ("assert hasattr(shop, 'net')", ["asks by `hasattr` what is there, not what it does"]),
        ("assert re.compile('x').match('x')", []),
        ("assert json.loads(Path('data.json').read_text())", []),
        ("assert shop.load(open('data/a.csv'))", []),
    ],
)
def test_a_test_that_reads_code_is_named(body: str, said: list[str]) -> None:
    head = "SOURCE = Path('shop.py').read_text()\n\ndef source():\n    return open('shop.py').read()\n\n"
    assert test_doubts(f"{head}def test_it():\n    {body}\n", "tests/test_it.py::test_it") == said
