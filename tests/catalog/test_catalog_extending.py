"""How far a task can go beyond its last stage, by its pipeline, its lane and its ends."""

import pytest

from agentforge.catalog.ends import Ends
from agentforge.catalog.extending import extended, longer, targets, with_targets
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from tests.rows import every

CATALOG = Catalog.packaged()
SPEC = frozenset({"specification"})


@every(
    ("name", "lane", "ends", "mode", "found"),
    [
        ("design", None, Ends(), "balanced", ("red", "green", "refactor", "deliver")),
        ("review", None, Ends(), "balanced", ("spec",)),
        ("test", None, Ends(given=SPEC), "balanced", ("green", "refactor", "deliver")),
        ("implement", "small", Ends(leave="red"), "balanced", ("green", "deliver")),
        ("implement", "full", Ends(leave="spec"), "balanced", ("red", "green", "refactor", "deliver")),
        ("implement", "full", Ends(), "balanced", ()),
        ("document", None, Ends(), "balanced", ()),
        ("design", None, Ends(), "plan", ()),  # this mode changes nothing, and building would
    ],
)
def test_a_task_can_go_on_to_the_exits_behind_its_last_stage(
    name: str, lane: str | None, ends: Ends, mode: str, found: tuple[str, ...]
) -> None:
    resolved = with_targets(CATALOG.resolve(name, lane, mode, ends), CATALOG)
    assert resolved.pipeline().extends_to == found


def test_a_longer_line_keeps_the_stages_that_there_are_and_can_get_longer_again() -> None:
    design = CATALOG.resolve("design")
    before = design.pipeline()
    rest = extended(CATALOG, design, before, "red")
    line = longer(before, rest.pipeline(), ())
    assert [stage.name for stage in line.stages] == ["intake", "clarify", "analyze", "spec", "red"]
    assert line.stages[: len(before.stages)] == before.stages
    assert (line.name, line.exit_stage, line.writes) == ("implement", "red", True)
    assert {"test_engineer", "software_architect"} <= set(rest.value["roles"])
    assert rest.prompt("spec") == design.prompt("spec")
    assert targets(CATALOG, line) == ("green", "refactor", "deliver")
    with pytest.raises(UsageError, match="It can be extended to red, green, refactor, deliver"):
        extended(CATALOG, design, before, "intake")


def test_stages_have_other_words_on_the_command_line() -> None:
    assert [CATALOG.stage_called(name) for name in ("design", "commit", "red", "moon")] == [
        "spec",
        "deliver",
        "red",
        "moon",
    ]
