"""Canaries: tests of our own that run among the project's, in memory.

For each thing that tests say something with there is one that must pass and one that must fail. The *bare*
ones take no fixture, not even one that is used for every test, so that no honest project can break them; each
place that claims an outcome needs all of them. The others are like the project's own tests, with its
fixtures: where those do not work for a stranger, they say nothing; where they get to their call, they must
come out right.

Copied beside a run, like the judge: it imports nothing of ours.
"""

# ruff: noqa: ANN401 - the types of pytest differ between its versions

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

import _pytest._code.code
import _pytest.assertion.rewrite
import _pytest.fixtures
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CANARY_FILE = "agentforge_canary.py"
BARE = ("equal", "raises", "approx", "unittest_equal", "unittest_raises")
LIKE_TESTS = ("fixture", "parametrised")
# Rewritten as the assertions of a test file are, when it is collected: whoever changed that meets them.
SOURCE = """\
import unittest
import pytest

TOKEN = {token!r}
Error = type("Error_" + TOKEN, (Exception,), {{}})
case = unittest.TestCase()

def equal_must_pass():
    assert [1, 2] == [1, 2], TOKEN

def equal_must_fail():
    assert [1, 2] == [1, 3], TOKEN

def raises_must_pass():
    with pytest.raises(Error, match="yes"):
        raise Error("yes")

def raises_must_fail():
    with pytest.raises(Error):
        pass

def approx_must_pass():
    assert 0.1 + 0.2 == pytest.approx(0.3), TOKEN

def approx_must_fail():
    assert 0.1 + 0.2 == pytest.approx(0.4), TOKEN

def unittest_equal_must_pass():
    case.assertEqual([1], [1], TOKEN)

def unittest_equal_must_fail():
    case.assertEqual([1], [2], TOKEN)

def unittest_raises_must_pass():
    with case.assertRaises(Error):
        raise Error("yes")

def unittest_raises_must_fail():
    with case.assertRaises(Error, msg=TOKEN):
        pass

@pytest.fixture
def agentforge_seven():
    return 7

def fixture_must_pass(agentforge_seven):
    assert agentforge_seven == 7, TOKEN

def fixture_must_fail(agentforge_seven):
    assert agentforge_seven == 8, TOKEN

@pytest.mark.parametrize("agentforge_number", [1, 2])
def parametrised_must_pass(agentforge_number):
    assert agentforge_number in (1, 2), TOKEN

@pytest.mark.parametrize("agentforge_number", [1, 2])
def parametrised_must_fail(agentforge_number):
    assert agentforge_number == 3, TOKEN

class AgentforgeCanary(unittest.TestCase):
    def test_must_pass(self):
        self.assertTrue(TOKEN)

    def test_must_fail(self):
        self.fail(TOKEN)
"""


class CanaryModule(pytest.Module):
    """A test module that exists in memory only."""

    token = ""

    def _getobj(self) -> types.ModuleType:
        source = SOURCE.format(token=self.token)
        tree = ast.parse(source)
        _pytest.assertion.rewrite.rewrite_asserts(tree, source.encode(), __file__, self.config)
        module = types.ModuleType("agentforge_canary")
        exec(compile(tree, __file__, "exec", dont_inherit=True), vars(module))  # noqa: S102 - our own text
        return module

    def collect(self) -> Iterator[Any]:
        """Every kind of canary, whatever the project's naming patterns."""
        module: Any = self.obj
        for what in BARE:
            for name in (f"{what}_must_pass", f"{what}_must_fail"):
                nothing = without_fixtures()
                yield pytest.Function.from_parent(
                    self, name=name, callobj=getattr(module, name), fixtureinfo=nothing
                )
        classes = [node for node in super().collect() if isinstance(node, pytest.Class)]
        for what in LIKE_TESTS:
            for name in (f"{what}_must_pass", f"{what}_must_fail"):
                yield from self._genfunctions(name, getattr(module, name))
        yield from classes


def without_fixtures() -> Any:
    """The fixture information of a function without fixtures."""
    return _pytest.fixtures.FuncFixtureInfo(
        argnames=(), initialnames=(), names_closure=[], name2fixturedefs={}
    )


def canary_beside(neighbour: Any, token: str) -> Any:
    """A canary module with the path of a real test file, by which pytest finds the conftest files that
    apply.
    """
    nodeid = "/".join([*neighbour.nodeid.split("/")[:-1], CANARY_FILE])
    where = {"path": neighbour.path} if hasattr(neighbour, "path") else {"fspath": neighbour.fspath}
    module = CanaryModule.from_parent(neighbour.parent or neighbour, nodeid=nodeid, **where)
    module.token = token
    return module


def told_briefly(canary: Any) -> Any:
    """The same canary, whose failure is told without its stack: nobody reads it, and to search files for it
    would take longer than the tests.
    """
    canary.repr_failure = _brief
    return canary


def _brief(excinfo: Any, *_more: Any, **_other: Any) -> Any:
    """What `excinfo.getrepr(style="native")` is, but for the stack."""
    told = _pytest._code.code.ReprTracebackNative([excinfo.exconly()])  # noqa: SLF001 - as `getrepr` has it
    return _pytest._code.code.ReprExceptionInfo(told, excinfo._getreprcrash())  # noqa: SLF001 - as above


def canary_name(nodeid: str) -> str:
    """Which canary it is, without its parameters."""
    return nodeid.split("::", 1)[1].partition("[")[0]
