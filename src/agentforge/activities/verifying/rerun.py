"""The verdicts of a task given again: the same gates, from the trees and the state they judged then, and the
tests of the base beside them. What differs, in either direction, is named by test id.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from agentforge.activities.base_suite import measured_base
from agentforge.activities.examining import judge_checks
from agentforge.activities.findings import Finding
from agentforge.activities.integration import run_integration
from agentforge.activities.suite_gates import quality, run_green, run_red
from agentforge.activities.verifying.record import Moment
from agentforge.activities.world import World
from agentforge.catalog.prompts import packaged_wording
from agentforge.core.events import GateJudged
from agentforge.core.state import RunView, State
from agentforge.gates.flags import flags_of
from agentforge.gates.verdict import Verdict

_MOST_NAMED = 5
_PROVED = ("requirement", "guard", "outcome")
"""What a row of the red proof says beside the words of an error."""


def rerun_findings(world: World, moments: list[Moment]) -> list[Finding]:
    """One row for the base, and one for each verdict that the delivered tree rests on."""
    state = moments[-1].state
    records: dict[str, Any] = dict(world.records(state))
    if "red" not in records:
        return []  # this pipeline ran nothing
    found = [_base_again(world, state)]
    judged = partial(_judged, alike=world.catalogue.wording().get("version") == packaged_wording()["version"])
    if (view := _as_judged(moments, "red", records["red"], world)) is not None:
        fresh = run_red(world, view)
        found.append(
            _finding("red again", fresh, [*_proof(records["red"], fresh), *judged(records["red"], fresh)])
        )
    for gate in ("delivery", "green"):
        record = records.get(gate, {})
        if record.get("tree") == state.tree and not record.get("reused") and "runs" in record:
            view = _as_judged(moments, gate, record, world)
            break
    else:
        record, view = records.get("green", {}), _as_judged(moments, "green", records.get("green", {}), world)
    if view is not None:
        fresh = run_green(world, view)
        found.append(_finding("green again", fresh, [*_given_up(record, fresh), *judged(record, fresh)]))
        if marked := records.get("green", {}).get("integration"):
            found.append(_integration_again(world, replace(view, tree=state.tree), marked))
    measured = records.get("quality", {})
    if (view := _as_judged(moments, "quality", measured, world)) is not None:
        fresh, _ = quality(world, view)
        found.append(_finding("quality again", fresh, [*judged(measured, fresh)]))
    examined = records.get("examined", {})
    if examined.get("checks") and (view := _as_judged(moments, "examined", examined, world)) is not None:
        fresh, _ = judge_checks(world, view)
        found.append(
            _finding("examined again", fresh, [*_held_out(examined, fresh), *judged(examined, fresh)])
        )
    return found


def _integration_again(world: World, view: RunView, recorded: list[Any]) -> Finding:
    """The integration tests on the base and on the change, held against what is on record."""
    fresh = {each.name: each for each in run_integration(world, view)}
    wrong = [f"{name} are not on record" for name in fresh.keys() - {row["name"] for row in recorded}]
    for row in recorded:
        again = fresh.get(row["name"])
        if again is None:
            wrong.append(f"{row['name']} are only on record")
            continue
        wrong += again.reasons
        if (again.to_json()["status"], again.passed) != (row["status"], row["passed"]):
            wrong.append(
                f"{row['name']}: {row['passed']} passed ({row['status']}) and {again.passed} do now "
                f"({again.to_json()['status']})"
            )
    return _agreement("integration again", wrong)


def _as_judged(moments: list[Moment], gate: str, record: Mapping[str, Any], world: World) -> RunView | None:
    """The task as the run saw it whose result this record is about: just before the verdict, the first one of
    those that give the same.
    """
    for before, moment in pairwise(moments):
        for event in moment.line.events:
            if not isinstance(event, GateJudged) or event.verdict.status != "passed":
                continue
            wanted = event.verdict.gate in (gate, "green")
            judged: Any = world.pack.get_json(event.verdict.ref) if wanted else {}
            same = judged.get("tree", judged.get("red_tree")) == record.get("tree", record.get("red_tree"))
            if judged and same and judged.get("runs") == record.get("runs"):
                return before.state.seen_by(event.run)
    return None


def _base_again(world: World, state: State) -> Finding:
    world.progress("running the tests on the base again")
    recorded = measured_base(world, state)
    run = world.pristine_runner(state).run(state.base_tree)
    if run.status != "ran" and recorded.tests.results:
        return Finding("base again", ok=False, text=f"not run: {run.reason}")
    then = {identity: result.outcome for identity, result in recorded.tests.results.items()}
    now = {identity: result.outcome for identity, result in run.results.items()}
    return _agreement("base again", [*_differences(then, now, recorded.flaky)])


def _finding(row: str, fresh: Verdict, wrong: list[str]) -> Finding:
    if fresh.status == "not_run":
        return Finding(row, ok=False, text=f"not run: {'; '.join(fresh.reasons)}")
    return _agreement(row, [*fresh.reasons[:_MOST_NAMED], *wrong] if fresh.status != "passed" else wrong)


def _proof(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """What the red proof says of each test, and which files it locked."""
    if fresh.status != "passed":
        return
    then, now = _proved(record.get("tests")), _proved(fresh.record.get("tests"))
    yield from (f"{name} is proved differently" for name in _unlike(then, now))
    locked, again = _dict(record.get("locked")), _dict(fresh.record.get("locked"))
    yield from (f"the lock of {path} is not as on record" for path in _unlike(locked, again))


def _given_up(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """Old tests that were given up, and what became of them."""
    if fresh.status != "passed":
        return
    then, now = (
        {str(row.get("id")): row.get("after") for row in _list(rows)}
        for rows in (record.get("superseded"), fresh.record.get("superseded"))
    )
    yield from (f"{name} was dropped differently" for name in _unlike(then, now))


def _held_out(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """What the examiner's checks did, with the test runner and without it."""
    then, now = (
        {str(row.get("name")): (row.get("with_runner"), row.get("without_runner")) for row in _list(rows)}
        for rows in (record.get("checks"), fresh.record.get("checks"))
    )
    yield from (f"the held-out check {name} does not end as on record" for name in _unlike(then, now))


def _proved(tests: object) -> dict[str, Any]:
    return {name: [entry.get(key) for key in _PROVED] for name, entry in _dict(tests).items()}


def _unlike(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in sorted(then.keys() | now.keys()) if then.get(name) != now.get(name)]


def _judged(record: Mapping[str, Any], fresh: Verdict, *, alike: bool) -> Iterator[str]:
    """What any verdict says: its runs, and if its rules were `alike`, what it left out and what it flags:
    another release looked for other things.
    """
    yield from _rows(record, fresh)
    if alike:
        yield from _left_out(record, fresh)
        yield from _unsaid(record, fresh)


def _left_out(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """What was not run. What a task had leave not to run is on record, and is not asked for again."""
    for name in ("not_run", "not_checked"):
        missing = _dict(fresh.record.get(name)).keys() - _dict(record.get(name)).keys()
        yield from (f"{gap} is not checked, and the record does not say so" for gap in sorted(missing))


def _unsaid(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """Flags of now that are not on record. They are counted for each thing that they are about: how one is
    worded may depend on values.
    """
    then, now = (flags_of([each]) for each in (record, fresh.record))
    known = Counter(flag.about for flag in then)
    for about, number in Counter(flag.about for flag in now).items():
        if number > known[about]:
            said = {flag.text for flag in then if flag.about == about}
            new = [flag.text for flag in now if flag.about == about and flag.text not in said]
            yield f"not on record: {about}: {'; '.join(new)}"


def _rows(record: Mapping[str, Any], fresh: Verdict) -> Iterator[str]:
    """Each run held against the one on record on the same tree with the same tests."""
    flaky = {*record.get("flaky", ()), *_list(fresh.record.get("flaky"))}
    recorded: dict[tuple[str, ...], Any] = {}
    for row in record.get("runs", []):
        recorded.setdefault((row["tree"], *row["ids"]), row)
    met = set()
    for row in _list(fresh.record.get("runs")):
        key = (row["tree"], *row["ids"])
        if key in met:
            continue
        met.add(key)
        if key in recorded:
            yield from _differences(recorded[key]["outcomes"], row["outcomes"], flaky)
            if recorded[key]["command"] != row["command"]:
                yield f"`{row['command']}` was run, and not `{recorded[key]['command']}`"
        elif not row["ids"]:
            yield f"a whole run on {row['tree'][:12]} is not on record"


def _differences(then: Mapping[str, str], now: Mapping[str, str], flaky: Collection[str]) -> Iterator[str]:
    for identity in sorted((then.keys() | now.keys()) - set(flaky)):
        if identity not in now:
            yield f"{identity} is only on record ({then[identity]})"
        elif identity not in then:
            yield f"{identity} is not on record ({now[identity]} now)"
        elif then[identity] != now[identity]:
            yield f"{identity} was {then[identity]} and is {now[identity]}"


def _agreement(row: str, wrong: list[str]) -> Finding:
    more = len(wrong) - _MOST_NAMED
    text = "; ".join(wrong[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return Finding(row, ok=not wrong, text=text or "every outcome agrees")


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
