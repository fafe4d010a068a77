"""The plan of runs: which runs a verdict is made of, how many of each were made, and why one was left out. It
is read from the records of the gates, so it says what was run and not what was meant to be.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects

PLAN = (
    "the whole suite: on the base (kept for later tasks), there with the new tests, and on the change",
    "the base's own tests: on the change, too",
    "the new tests alone: on the base, on the change, made to fail at their end, with the change emptied",
    "the calls that the new tests make: once more, without the tests",
)
"""What is run for a verdict, for people."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One kind of run."""

    name: str
    made: int
    why: str = ""
    """Why it was left out; empty if it was made, or has nothing to be made for."""

    def to_json(self) -> dict[str, Json]:
        """As the record of the gate keeps it."""
        return asdict(self)


def runs_of(red: Mapping[str, Json], green: Mapping[str, Json]) -> list[PlannedRun]:
    """What was run for the verdicts that these are the records of; nothing where none was given."""
    if "tree" not in green:
        return []
    tests = red.get("tests")
    new = frozenset(tests) if isinstance(tests, dict) else frozenset[str]()
    here, old = str(green["tree"]), str(green.get("old_tests_tree", ""))
    judged = [row for row in objects(green, "runs") if row.get("tree") == here]
    others = [row for row in objects(green, "runs") if row.get("tree") != here]
    again = sum(bool(_ids(row)) and _ids(row) <= new for row in judged)
    with_old = sum(row.get("tree") == old and not _ids(row) for row in others)
    first, alone = _counted(objects(red, "runs"))
    untouched = "no file that tests load differs" if old == here else "the base has no test that passes"
    none_new = "" if new else "no test is new"
    return [
        PlannedRun("base with new tests", first, none_new),
        PlannedRun("new tests on the base", alone, none_new),
        PlannedRun("change", _counted(judged)[0]),
        PlannedRun("base's own tests on the change", with_old, "" if with_old else untouched),
        PlannedRun("new tests on the change", again, none_new),
        _counterproof(green, none_new),
        _emptied(green, none_new),
        _other_numbers(green, none_new),
        _elsewhere(green, none_new),
        _loading(green),
        PlannedRun("tests in dispute", len(judged) + len(others) - _counted(judged)[0] - again - with_old),
    ]


def _counterproof(green: Mapping[str, Json], none_new: str) -> PlannedRun:
    asked = green.get("counterproof")
    made = int(isinstance(asked, dict) and bool(asked.get("outcomes")))
    why = "" if made else none_new or "no failure can be put into the text of the new tests"
    return PlannedRun("counterproof", made, why)


def _emptied(green: Mapping[str, Json], none_new: str) -> PlannedRun:
    found = green.get("emptied")
    row = found if isinstance(found, dict) else {}
    made, why = row.get("runs"), str(row.get("why", ""))
    count = made if isinstance(made, int) else int(bool(row.get("asked")))
    return PlannedRun("change emptied", count, "" if count else why or none_new or "nothing can be emptied")


def _elsewhere(green: Mapping[str, Json], none_new: str) -> PlannedRun:
    found = green.get("elsewhere")
    row = found if isinstance(found, dict) else {}
    made = int(bool(row.get("calls")))
    none = str(row.get("not_measured", "")) or none_new or "no call with plain values was seen"
    return PlannedRun("calls made again without tests", made, "" if made else none)


def _other_numbers(green: Mapping[str, Json], none_new: str) -> PlannedRun:
    found = green.get("other_numbers")
    made = found.get("runs") if isinstance(found, dict) else 0
    count = made if isinstance(made, int) else 0
    why = none_new or "the new tests say plainly what must come, or no number does"
    return PlannedRun("numbers of the change a little other", count, "" if count else why)


def _loading(green: Mapping[str, Json]) -> PlannedRun:
    found = green.get("elsewhere")
    made = int(isinstance(found, dict) and found.get("loaded") is True)
    return PlannedRun(
        "changed files loaded alone", made, "" if made else "no changed file could be loaded alone"
    )


def _ids(row: Mapping[str, Json]) -> frozenset[str]:
    ids = row.get("ids")
    return frozenset(str(each) for each in ids) if isinstance(ids, list) else frozenset()


def _counted(rows: list[dict[str, Json]]) -> tuple[int, int]:
    """How many are of the whole suite, and how many of some tests."""
    whole = sum(not _ids(row) for row in rows)
    return whole, len(rows) - whole
