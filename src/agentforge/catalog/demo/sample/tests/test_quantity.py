from fractions import Fraction

import pytest

from pantry import Quantity, parse


def test_a_whole_amount_and_its_unit_are_read():
    assert parse("2 cups") == Quantity(Fraction(2), "cups")


def test_a_unit_may_be_missing():
    assert parse("3") == Quantity(Fraction(3), "")


def test_an_amount_that_is_no_number_is_refused():
    with pytest.raises(ValueError):
        parse("some cups")


def test_one_cup_is_singular():
    # Known to fail: nobody has taught Quantity about plurals yet.
    assert str(Quantity(Fraction(1), "cups")) == "1 cup"
