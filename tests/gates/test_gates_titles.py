"""Tests that have titles instead of names are found by their words."""

from agentforge.gates.red import Declared, names_test


def test_a_title_is_found_whatever_sign_its_runner_puts_between_suite_and_test() -> None:
    identity = "test/dots.js::Array paths:::picks an element"
    for name in ("Array paths: picks an element", "Array paths > picks an element", "picks an element"):
        assert names_test(identity, Declared("test/dots.js", name, guard=False, requirement="REQ-001"))
    for name in ("Array paths: sets an element", "element", "picks"):
        assert not names_test(identity, Declared("test/dots.js", name, guard=False, requirement="REQ-001"))
