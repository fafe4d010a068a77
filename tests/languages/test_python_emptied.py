"""Functions of a Python file that do nothing any more: what they give back goes along, and answers one way."""

import asyncio
import contextlib
import importlib
from pathlib import Path
from typing import Any

import pytest

from agentforge.languages.measures import emptied
from tests.rows import every

TEXT = '''\
"""Prices."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass


def net(price):
    """The price.

    >>> net(1)
    1
    """
    return price


async def later(price):
    return price


def many():
    yield 1


@contextlib.contextmanager
def session():
    yield 1


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __str__(self):
        return "1"

    def __len__(self):
        return 7

    @property
    def euros(self):
        return 1

    @euros.setter
    def euros(self, value):
        self.cents = value


def kept():
    return 5


START = net(3)
'''
ALL = ("net", "later", "many", "session", "Money.__init__", "Money.__str__", "Money.__len__", "Money.euros")


def loaded(*, answer: bool) -> dict[str, Any]:
    text = emptied(TEXT, "shop.py", ALL, answer=answer)
    assert text is not None
    space: dict[str, Any] = {"__name__": "shop"}
    exec(compile(text, "shop.py", "exec", dont_inherit=True), space)
    return space


@pytest.mark.parametrize("answer", [True, False])
def test_what_an_emptied_function_gives_back_goes_along_with_everything(*, answer: bool) -> None:
    shop = loaded(answer=answer)
    given = shop["net"](3)
    assert given is shop["START"], "also what is called while the file is loaded"
    assert all(each is given for each in (given + 1, 1 - given, given.anything[3](4)))
    assert (f"{given}", int(given), list(given)) == ("", int(answer), [given] * answer)
    assert (bool(given), given == 3, given != 3, given < 3, 3 in given) == (
        answer,
        answer,
        not answer,
        answer,
        answer,
    )
    assert given == shop["net"](4), "it is one and the same"
    assert asyncio.run(shop["later"](1)) is given
    assert list(shop["many"]()) == [given] * answer
    with shop["session"]() as inside:
        assert inside is given
    money = shop["Money"](3)
    assert (str(money), len(money), money.euros is given, hasattr(money, "cents")) == (
        "",
        int(answer),
        True,
        False,
    )
    assert shop["kept"]() == 5, "what was not named stays"
    assert "1" in shop["net"].__doc__, "and so do its words"


def test_functions_do_their_work_while_a_file_of_the_code_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, always in (("left_out_once", False), ("left_out_always", True)):
        text = emptied(TEXT, "shop.py", ALL, answer=False, always=always)
        (tmp_path / f"{name}.py").write_text(f"{text}\nassert START == 3\n")
    shop = importlib.import_module("left_out_once")
    assert shop.START == 3
    assert not shop.net(3), "and nothing any more as soon as it is loaded"
    with pytest.raises(AssertionError):
        importlib.import_module("left_out_always")


@every(
    ("text", "functions"),
    [("def net(:\n", ("net",)), ("def net():\n    pass\n", ("gross",)), ("RATE = 3\n", ())],
)
def test_where_there_is_nothing_to_empty_nothing_is_written(text: str, functions: tuple[str, ...]) -> None:
    assert emptied(text, "shop.py", functions, answer=True) is None


def test_functions_of_one_name_are_told_apart() -> None:
    text = emptied(TEXT, "shop.py", ("Money.euros#",), answer=True)
    space: dict[str, Any] = {}
    exec(str(text), space)
    money = space["Money"](3)
    money.euros = 5
    assert (money.euros, money.cents) == (1, 3)


def test_a_stand_in_meets_the_equality_of_the_other_side() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]  # nobody asks

    given = loaded(answer=False)["net"](1)
    assert given == Anything()
    with contextlib.suppress(AttributeError):
        given.__wrapped__  # noqa: B018 - what looks into objects must not go round in circles
        pytest.fail("special names are not there")
