"""A kept run is a real one: what it says again is what the judge said, and another question is put anew."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agentforge.languages.outcomes import TestRun
from agentforge.sandbox.base import Confinement, SandboxName
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed
from tests.gates.bench_of_judges import Site, make_site
from tests.judging import ForkedJudge
from tests.kept_runs import KeptRuns
from tests.sharing import SAME_DATE

FILES = {
    "shop.py": "def net(price):\n    return price\n",
    "tests/test_shop.py": """\
from shop import net


def test_net():
    assert net(3) == 3


def test_fails():
    assert net(3) == 4, __file__
""",
}
WRITES_ITS_OWN = """\
import os


def test_writes_into_the_report():
    for number in os.listdir("/proc/self/fd"):
        place = os.readlink("/proc/self/fd/" + number) if os.path.exists("/proc/self/fd/" + number) else ""
        if place.endswith("/report"):
            os.write(int(number), b"0 {}\\n")
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """No walls, judges that are forked, and each of them once."""

    kept: KeptRuns
    judged: list[Path] = field(default_factory=list)
    name: SandboxName = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        def judge() -> Completed:
            self.judged.append(confinement.cwd)
            return ForkedJudge().run(argv, confinement)

        return self.kept.run(argv, confinement, judge)

    def guarantee(self) -> dict[str, str]:
        return NoSandbox().guarantee()


def asked_by(walls: Asked, site: Site, tree: str = "", ids: Sequence[str] = ()) -> TestRun:
    run = replace(site.runner, sandbox=walls).run(tree or site.base, ids)
    return replace(run, output="", output_hash="", duration_ms=0, slowest_ms=0)


@pytest.mark.slow
def test_the_same_files_are_judged_once_wherever_they_lie_and_others_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SAME_DATE.items():
        monkeypatch.setenv(name, value)
    walls = Asked(KeptRuns(tmp_path / "kept"))
    here, there = make_site(tmp_path / "here", FILES), make_site(tmp_path / "there", FILES)
    there = replace(there, runner=replace(there.runner, env=here.runner.env))
    first = asked_by(walls, here)
    assert [result.outcome for result in first.results.values()] == ["passed", "failed"]
    second = asked_by(walls, there)
    assert len(walls.judged) == 1
    moved = [
        replace(each, message=each.message.replace("/here/", "/there/")) for each in first.results.values()
    ]
    assert list(second.results.values()) == moved, "whoever asks again finds their own paths"
    assert second.status == "ran"
    asked_by(walls, there, ids=["tests/test_shop.py::test_net"])
    other = asked_by(walls, there, there.tree({"shop.py": "def net(price):\n    return 4\n"}))
    assert [result.outcome for result in other.results.values()] == ["failed", "passed"]
    assert len(walls.judged) == 3


def test_a_report_that_somebody_else_wrote_into_is_not_kept(tmp_path: Path) -> None:
    walls, site = (
        Asked(KeptRuns(tmp_path / "kept")),
        make_site(tmp_path, {"tests/test_it.py": WRITES_ITS_OWN}),
    )
    for _ in range(2):
        assert asked_by(walls, site).reason == "the report was changed while the tests ran"
    assert len(walls.judged) == 2
