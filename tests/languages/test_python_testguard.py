from textwrap import dedent

from agentforge.languages.python.testguard import source_of_test, test_ids_in_source, weakened
from tests.rows import every

BEFORE = """
import pytest, unittest

def check(value):
    assert value > 0

@pytest.mark.parametrize("n", [1, 2, 3])
def test_n(n):
    check(n)
    assert n < 10

def test_raises():
    with pytest.raises(ValueError):
        int("x")

def test_smoke():
    print("works")

class TestK:
    def test_m(self):
        assert 1 + 1 == 2
        assert "a" in "abc"

class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 1)
"""


def edited(old: str, new: str) -> list[str]:
    assert old in BEFORE
    return weakened(BEFORE, BEFORE.replace(old, new), "t.py")


WEAKER = [
    ("a test deleted", "def test_smoke():", "def smoke():", "t.py::test_smoke was deleted"),
    ("a test renamed", "def test_raises", "def test_raises_now", "t.py::test_raises was deleted"),
    ("a class no test any more", "class TestK:", "class K:", "t.py::TestK::test_m was deleted"),
    (
        "a method deleted",
        "        self.assertEqual(1, 1)",
        "        pass\n    test_old = None",
        "t.py::Old::test_old was emptied",
    ),
    (
        "an assertion removed",
        '        assert "a" in "abc"\n',
        "",
        "t.py::TestK::test_m lost 1 assertion(s), first: assert 'a' in 'abc'",
    ),
    (
        "an assertion changed",
        "assert n < 10",
        "assert n < 1000",
        "t.py::test_n lost 1 assertion(s), first: assert n < 10",
    ),
    (
        "an assertion made true",
        "assert n < 10",
        "assert n < 10 or True",
        "t.py::test_n lost 1 assertion(s), first: assert n < 10",
    ),
    ("assert True", "assert n < 10", "assert True", "t.py::test_n lost 1 assertion(s), first: assert n < 10"),
    (
        "a dead branch",
        "    assert n < 10",
        "    if False:\n        assert n < 10",
        "t.py::test_n lost 1 assertion(s), first: assert n < 10",
    ),
    (
        "an early return",
        "    check(n)\n",
        "    check(n)\n    return\n",
        "t.py::test_n lost 1 assertion(s), first: assert n < 10",
    ),
    (
        "a swallowed failure",
        "    assert n < 10",
        "    try:\n        assert n < 10\n    except Exception:\n        pass",
        "t.py::test_n lost 1 assertion(s), first: assert n < 10",
    ),
    (
        "raises removed",
        'with pytest.raises(ValueError):\n        int("x")',
        'int("1")',
        "t.py::test_raises lost 1 assertion(s), first: pytest.raises(ValueError)",
    ),
    ("a body emptied", '    print("works")', '    """Nothing."""', "t.py::test_smoke was emptied"),
    (
        "a marker",
        "def test_smoke",
        "@pytest.mark.skip\ndef test_smoke",
        "t.py::test_smoke is skipped or expected to fail now",
    ),
    (
        "an xfail",
        "def test_smoke",
        "@pytest.mark.xfail(reason='x')\ndef test_smoke",
        "t.py::test_smoke is skipped or expected to fail now",
    ),
    (
        "a class marker",
        "class Old",
        "@unittest.skip('x')\nclass Old",
        "t.py::Old::test_old is skipped or expected to fail now",
    ),
    (
        "a skip call",
        "        assert 1 + 1",
        "        pytest.skip('x')\n        assert 1 + 1",
        "t.py::TestK::test_m is skipped or expected to fail now",
    ),
    (
        "skipTest",
        "        self.assert",
        "        self.skipTest('x')\n        self.assert",
        "t.py::Old::test_old is skipped or expected to fail now",
    ),
    (
        "a module mark",
        "def check",
        "pytestmark = pytest.mark.skip\ndef check",
        "t.py skips or hides its tests as a whole",
    ),
    (
        "a module skip",
        "def check",
        "pytest.skip('x', allow_module_level=True)\ndef check",
        "t.py skips or hides its tests as a whole",
    ),
    (
        "__test__",
        "class TestK:",
        "class TestK:\n    __test__ = False",
        "t.py skips or hides its tests as a whole",
    ),
    ("cases removed", "[1, 2, 3]", "[1]", "t.py::test_n lost 2 of its parametrised cases"),
    (
        "a helper",
        "    assert value > 0",
        "    return",
        "t.py::check lost 1 assertion(s), first: assert value > 0",
    ),
    (
        "broken syntax",
        "def check",
        "def check(",
        "t.py does not parse any more, so none of its tests can run",
    ),
    (
        "unbound at the end",
        "        self.assertEqual(1, 1)\n",
        "        self.assertEqual(1, 1)\ntest_smoke = None\n",
        "t.py::test_smoke was deleted",
    ),
    ("shadowed", "class Old", "def test_smoke(): pass\nclass Old", "t.py::test_smoke was emptied"),
]


@every(("old", "new", "sentence"), [row[1:] for row in WEAKER])
def test_a_weaker_test_is_named(old: str, new: str, sentence: str) -> None:
    assert sentence in edited(old, new)


@every(
    ("old", "new"),
    [
        ("def test_smoke", "def test_more():\n    assert 0\n\ndef test_smoke"),
        ("    assert n < 10", "    assert n < 10\n    assert n > -1"),
        ("    assert n < 10", "    # why\n    assert (n\n            < 10)"),
        ("    assert n < 10", "    for _ in range(2):\n        assert n < 10"),
        ("[1, 2, 3]", "[1, 2, 3, 4]"),
        ("def check(value):", "def check(value, *, strict=False):"),
        ("def test_smoke", "@pytest.mark.slow\ndef test_smoke"),
    ],
)
def test_a_test_that_grows_is_not_weakened(old: str, new: str) -> None:
    assert edited(old, new) == []


def test_what_was_broken_or_is_not_python_cannot_be_weakened() -> None:
    assert weakened("def (", "", "t.py") == []
    assert weakened("x", "", "t.txt") == []


def test_ids_are_read_from_source_without_running_it() -> None:
    text = dedent(
        """
        raise SystemExit
        def test_a(): ...
        async def test_b(): ...
        def helper(): ...
        class TestK:
            def test_m(self): ...
            class TestInner:
                def test_i(self): ...
        class TestWithInit:
            def __init__(self): ...
            def test_no(self): ...
        class Case(unittest.TestCase):
            def test_u(self): ...
        class Plain:
            def test_no(self): ...
        try:
            import x
        except ImportError:
            pass
        else:
            def test_c(): ...
        """
    )
    assert test_ids_in_source(text, "t/test_x.py") == [
        "t/test_x.py::test_a",
        "t/test_x.py::test_b",
        "t/test_x.py::TestK::test_m",
        "t/test_x.py::TestK::TestInner::test_i",
        "t/test_x.py::Case::test_u",
        "t/test_x.py::test_c",
    ]
    assert test_ids_in_source("def (", "t.py") == []


MODULE = '''"""Takes the first.

>>> first([0, 2])
2
"""


def first(values):
    return next(filter(None, values))
'''


def test_the_examples_of_a_module_are_not_the_function_with_its_name() -> None:
    for path in ("first.py", "first/__init__.py"):
        assert source_of_test(MODULE, f"{path}::first") is None
    assert source_of_test(MODULE.replace(">>> ", ""), "first.py::first") is not None
    assert source_of_test(MODULE.replace("first", "test_first"), "test_first.py::test_first") is not None
    assert source_of_test(MODULE, "other.py::first") is not None
