"""A rule that is broken on purpose: the context is assembled, and its run stays where it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from agentforge.core.events import ContextAssembled
from agentforge.core.inputs import Assembled
from agentforge.core.machine import LEADS_TO, POINTS_AFTER


@contextmanager
def broken_rule(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setitem(cast("dict[Any, Any]", POINTS_AFTER), ContextAssembled, ("assemble",))
        patched.setitem(cast("dict[Any, Any]", LEADS_TO), Assembled, ("assemble",))
        yield
