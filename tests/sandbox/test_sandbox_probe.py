"""The probe says of each wall whether it holds now: it must believe neither good words nor bad ones."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import Confinement, Sandbox, is_weak
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.sandbox.walls.probe import ESSENTIAL, probe
from agentforge.system.processes import Completed, run
from tests.rows import every
from tests.sandbox.rungs import RUNGS, usable


@every("sandbox", RUNGS)
def test_every_essential_wall_holds_and_the_others_as_promised(sandbox: Sandbox) -> None:
    walls = usable(sandbox)
    started = time.monotonic()
    broken = {each.name for each in probe(walls) if not each.held}
    assert time.monotonic() - started < 30
    assert not broken & ESSENTIAL
    assert broken == ({"sockets"} if is_weak(walls) else set())


def test_without_walls_the_probe_gets_through() -> None:
    broken = {each.name for each in probe(NoSandbox()) if not each.held}
    assert {"read", "write", "network", "processes", "capabilities"} <= broken
    assert "leftovers" not in broken, "a run comes to its end without walls, too"
    assert "leftovers" in {each.name for each in probe(Uncared()) if not each.held}


@dataclass(frozen=True, slots=True)
class Uncared:
    """A program started as any program starts another."""

    name: Literal["none"] = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        return run(argv, cwd=confinement.cwd, env={}, timeout_s=confinement.timeout_s)

    def guarantee(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class Leaky:
    """Walls with one hole each."""

    hole: Literal["network", "write", "broken"]
    program: str = "bwrap"
    name: Literal["bubblewrap"] = "bubblewrap"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        if self.hole == "broken":
            raise Unusable("It does not start.")
        widened = replace(confinement, read=()) if self.hole == "write" else confinement
        return Bubblewrap(self.program).run(argv, widened)

    def guarantee(self) -> dict[str, str]:
        return {}


@pytest.mark.parametrize("hole", ["network", "write"])
def test_one_hole_is_found_and_only_that(hole: Literal["network", "write"], tmp_path: Path) -> None:
    usable(Bubblewrap())
    # The real program, but with the machine's own network left in.
    share = (
        '#!/bin/sh\nif [ "$1" = --unshare-all ]; then shift; set -- --unshare-all --share-net "$@"; '
        'fi; exec bwrap "$@"\n'
    )
    (tmp_path / "bwrap").write_text(share)
    (tmp_path / "bwrap").chmod(0o755)
    leaky = Leaky(hole, str(tmp_path / "bwrap") if hole == "network" else "bwrap")
    # Abstract sockets belong to a network.
    found = [hole, "sockets"] if hole == "network" else [hole]
    assert [each.name for each in probe(leaky) if not each.held] == found


def test_walls_that_do_not_start_are_said_to_be_none() -> None:
    assert [(each.name, each.held) for each in probe(Leaky("broken"))] == [("start", False)]
