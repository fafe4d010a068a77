"""A test with a failure of ours at its end fails, however it is written; the tests beside it do what they did."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.languages.tests import made_to_fail

FILE = "test_styles.py"
STYLES = """\
import asyncio
import contextlib
import unittest

import pytest

STYLE = "plain"


def test_plain():
    assert 1


def test_one_line(): assert 1


def test_that_returns(tmp_path):
    def inner():
        return 1

    if inner():
        assert inner()
        return
    assert not inner()


def test_without_assertions():
    return None


def test_branches():
    if STYLE:
        assert STYLE
    else:
        assert not STYLE


def test_perhaps():
    assert STYLE
    for each in ():
        assert each


@pytest.mark.parametrize("n", [1, 2])
def test_cases(n):
    with contextlib.suppress(ValueError):
        assert n


def test_raises():
    with pytest.raises(ZeroDivisionError):
        1 / 0


def test_loop():
    while True:
        try:
            assert 1
            return
        finally:
            pass


def test_that_meets_an_error():
    with pytest.raises(AssertionError):
        assert 0


def test_inside(tmp_path):
    with (tmp_path / "x").open("w") as file:
        assert file
        file.write("x")


class TestOld(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(1, 1)


class TestNew:
    def test_method(self):
        async def later():
            return 1

        assert asyncio.run(later()) == 1


def test_beside():
    assert 1
"""
IDS = [
    f"{FILE}::{name}"
    for name in (
        *(
            "test_plain",
            "test_one_line",
            "test_that_returns",
            "test_without_assertions",
            "test_branches",
            "test_perhaps",
        ),
        *("test_that_meets_an_error", "test_inside"),
        *(
            "test_cases[1]",
            "test_cases[2]",
            "test_raises",
            "test_loop",
            "TestOld::test_equal",
            "TestNew::test_method",
        ),
    )
]


@pytest.mark.slow
def test_every_style_of_test_fails_with_a_failure_at_its_end(tmp_path: Path) -> None:
    text, found = made_to_fail(STYLES, FILE, [*IDS, f"{FILE}::test_nowhere"])
    assert found == frozenset(IDS)
    (tmp_path / FILE).write_text(text)
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--disable-plugin-autoload",
        FILE,
    ]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert [identity for identity in IDS if f"FAILED {identity}" not in said] == []
    assert f"PASSED {FILE}::test_beside" in said


def test_what_a_file_does_not_define_and_what_does_not_parse_stay_as_they_are() -> None:
    assert made_to_fail("def test_it(:\n", FILE, IDS) == ("def test_it(:\n", frozenset())
    assert made_to_fail(STYLES, FILE, [f"{FILE}::test_nowhere"]) == (STYLES, frozenset())
    assert made_to_fail("test it", "test_it.txt", ["test_it.txt::test"]) == ("test it", frozenset())
