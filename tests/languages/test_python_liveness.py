"""A test that cannot fail is told from one that can; helpers, mocks and odd styles are honest."""

from agentforge.languages.tests import liveness
from agentforge.languages.values import Liveness
from tests.rows import every

HEAD = """
import numpy, pytest, unittest, shop
from tests.support import same_shape
from . import near

def holds(value):
    assert value

def deeper(value):
    holds(value)

"""


def said(body: str, arguments: str = "") -> Liveness:
    text = HEAD + f"def test_it({arguments}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return liveness(text, "tests/test_it.py::test_it")._replace(rough=False)


@every(
    ("body", "why"),
    [
        ("assert True", "`assert True` is true whatever the code does"),
        ("shop.add()\nassert shop == shop", "`assert shop == shop` is true whatever the code does"),
        ("shop.add()", "it asserts nothing"),
        ("shop.add()\nreturn\nassert shop.add() == 2", "`assert shop.add() == 2` is never reached"),
        ("if False:\n    assert shop.add() == 2", "`assert shop.add() == 2` is never reached"),
        (
            "try:\n    assert shop.add() == 2\nexcept Exception:\n    pass",
            "`assert shop.add() == 2` cannot fail the test, because what it raises is caught",
        ),
        (
            "with suppress(AssertionError):\n    assert shop.add() == 2",
            "`assert shop.add() == 2` cannot fail the test, because what it raises is caught",
        ),
        ("shop.add()\nx = 3\nassert x == 3", "`assert x == 3` is only about what the test itself wrote"),
        ("assert len(shop.all()) >= 0", "`assert len(shop.all()) >= 0` is true whatever the code does"),
        ("self.assertTrue(True)", "`self.assertTrue(True)` is true whatever the code does"),
        ("assert (shop.add() == 2, 'no')", "`assert (shop.add() == 2, 'no')` is true whatever the code does"),
        ("pass", "it asserts nothing"),
        ("for n in []:\n    assert shop.add(n)", "`assert shop.add(n)` is never reached"),
        ("def check():\n    assert shop.add() == 2", "`assert shop.add() == 2` is never reached"),
    ],
)
def test_a_test_that_cannot_fail_is_told_why(body: str, why: str) -> None:
    assert said(body) == Liveness(why)


@every(
    "body",
    [
        "assert shop.add() == 2",
        "with pytest.raises(ValueError):\n    shop.add()",
        "self.assertEqual(shop.add(), 2)",
        "shop.run(mock)\nmock.assert_called_once_with(1)",
        "numpy.testing.assert_allclose(shop.add(), 2)",
        "holds(shop.add() == 2)",
        "deeper(shop.add() == 2)",
        "if shop.add() != 2:\n    raise AssertionError('no')",
        "if shop.add() != 2:\n    pytest.fail('no')",
        "out = []\nshop.fill(out)\nassert out == [1]",
        "for n in range(3):\n    assert shop.add(n)",
        "seen = 0\ndef hook():\n    nonlocal seen\n    seen = 1\nshop.run(hook)\nassert seen == 1",
        "try:\n    shop.add()\nexcept ValueError as error:\n    assert 'x' in str(error)\nelse:\n    pytest.fail('no')",
        "if shop.old():\n    assert shop.add() == 2\nelse:\n    assert shop.add() == 3",
        "assert shop.add() == 2\nif shop.old():\n    assert shop.more()",
        "def check():\n    assert shop.add() == 2\nshop.run(check)",
        "async def inner():\n    assert await shop.later() == 1\nasyncio.run(inner())",
    ],
)
def test_whatever_can_fail_is_honest(body: str) -> None:
    assert said(body, "self, mock") == Liveness()


@every(
    ("body", "doubt"),
    [
        ("verify(shop.add())", "asserts nothing itself; whether `verify` does is not known"),
        ("same_shape(shop.add(), 2)", "asserts nothing itself; whether `same_shape` does is not known"),
        ("near(shop.add(), 2)", "asserts nothing itself; whether `near` does is not known"),
        ("case(shop.add(), 2)", "asserts nothing itself; whether `case` does is not known"),
        ("with pytest.raises(Exception):\n    shop.add()", "expects an error, and any error will do"),
        ("assert shop.add() == shop.add()", "compares a call with itself"),
        (
            "if shop.add() == 2:\n    assert shop.more()",
            "asserts something only under a condition, and passes where that does not hold",
        ),
    ],
)
def test_what_is_not_sure_is_a_doubt_and_no_refusal(body: str, doubt: str) -> None:
    assert said(body, "case") == Liveness("", doubt)


def test_of_a_test_that_the_file_does_not_define_nothing_is_said() -> None:
    assert liveness(HEAD, "tests/test_it.py::TestBase::test_inherited") == Liveness()
    assert liveness("def (", "tests/test_it.py::test_it") == Liveness()
    assert liveness("", "README.md::README.md") == Liveness()


@every(
    ("body", "rough"),
    [
        ("assert shop.add() == 2", False),
        ("found = shop.add()\nassert found == 2", False),
        ("with pytest.raises(ValueError):\n    shop.add()", False),
        ("assert shop.add() < 2", True),
        ("assert len(shop.name()) == 2", True),
        ("assert shop.add() == pytest.approx(2, abs=1)", True),
        ("assert shop.add() // 2 == 1", True),
    ],
)
def test_what_says_plainly_what_must_come_is_not_rough(body: str, rough: bool) -> None:
    text = HEAD + "def test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert liveness(text, "tests/test_it.py::test_it").rough is rough
