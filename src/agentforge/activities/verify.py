"""`agentforge verify`: the evidence held against the journal, the pack, the artifacts and git; and, on
request, run again.
"""

import json
from dataclasses import dataclass
from typing import Any

from agentforge.activities.world import World
from agentforge.core.errors import Unusable
from agentforge.core.state import State
from agentforge.gates.old_tests import has_passing_tests, tree_with_old_tests
from agentforge.gates.pristine import result_of
from agentforge.store.task import artifacts
from agentforge.system.canon import canonical, digest, digest_value
from agentforge.system.unlinked import read_unlinked


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the verification."""

    row: str
    ok: bool
    text: str


def verify(world: World, state: State, *, rerun: bool) -> list[Finding]:
    """Offline: the chain was checked when the journal was opened; here follow the hashes, and with `rerun`
    the commands.
    """
    found = [Finding("journal", ok=True, text=f"the chain holds; head {world.head()[:12]}")]
    if state.delivered is None:
        return [
            *found,
            Finding("delivery", ok=False, text=f"the task is {state.status} and has delivered nothing"),
        ]
    evidence, problem = _read(world)
    if evidence is None:
        return [*found, Finding("evidence.json", ok=False, text=problem)]
    rows = _rows(world, evidence)
    whole = digest(canonical(evidence)) == state.delivered.evidence
    broken = [row.row for row in rows if not row.ok]
    text = (
        "is what the journal recorded"
        if whole
        else f"differs from what the journal recorded{': ' + ', '.join(broken) if broken else ''}"
    )
    found += [
        Finding("evidence.json", ok=whole, text=text),
        *rows,
        *_artifacts(world, state),
        *_git(world, state, evidence),
    ]
    return found + _again(world, state) if rerun else found


def _read(world: World) -> tuple[dict[str, Any] | None, str]:
    try:
        value = json.loads(read_unlinked(world.files.evidence))
    except FileNotFoundError:
        return None, "is missing"
    except ValueError as error:
        return None, f"is not readable: {error}"
    return (
        (value, "")
        if isinstance(value, dict) and isinstance(value.get("rows"), list)
        else (None, "has no rows")
    )


def _rows(world: World, evidence: dict[str, Any]) -> list[Finding]:
    found = []
    for row in [*evidence["rows"], *evidence.get("requirements", [])]:
        name = f"{row.get('stage')}/{row.get('gate')}" if "gate" in row else f"requirement {row.get('id')}"
        body = {key: value for key, value in row.items() if key != "hash"}
        try:
            ok = digest_value(body) == row.get("hash")
        except TypeError:
            ok = False
        text = "the hash holds" if ok else "the row was changed"
        if ok and "gate" in row:
            ok, text = _against_pack(world, row)
        found.append(Finding(name, ok, text))
    return found


def _against_pack(world: World, row: dict[str, Any]) -> tuple[bool, str]:
    try:
        record: Any = world.pack.get_json(row["record"])
    except Unusable as error:
        return False, error.sentence
    same = record.get("runs", []) == row["runs"] and record["status"] == row["status"] == "passed"
    return same, f"{len(row['runs'])} runs, as recorded" if same else "differs from the record in the pack"


def _artifacts(world: World, state: State) -> list[Finding]:
    found = []
    for ref in {ref.contract: ref for item in state.accepted for ref in item.finals}.values():
        try:
            artifacts.read(world.files, ref)
            found.append(
                Finding(f"artifact {ref.contract}", ok=True, text=f"v{ref.version}, hash {ref.hash[:12]}")
            )
        except Unusable as error:
            found.append(Finding(f"artifact {ref.contract}", ok=False, text=error.sentence))
    return found


def _git(world: World, state: State, evidence: dict[str, Any]) -> list[Finding]:
    git = world.workspace.git
    assert state.delivered is not None
    try:
        same = git.tree_of(state.delivered.commit) == state.tree == evidence["result"]["tree"]
    except (Unusable, KeyError):
        same = False
    found = [
        Finding(
            "commit",
            ok=same,
            text=f"{state.delivered.commit[:12]} holds the judged tree"
            if same
            else "does not hold the judged tree",
        )
    ]
    tip = git.read_ref(f"refs/heads/{state.delivered.branch}") if state.delivered.branch else None
    if tip is not None:
        inside = tip == state.delivered.commit
        found.append(
            Finding(
                "branch",
                ok=inside,
                text=f"{state.delivered.branch} is at {tip[:12]}"
                + ("" if inside else ", which is not what was delivered"),
            )
        )
    return found


def _again(world: World, state: State) -> list[Finding]:
    """The commands once more. Outcomes by test id must agree; output hashes prove integrity, never equality
    of two runs.
    """
    records: dict[str, Any] = dict(world.records(state))
    found: list[Finding] = []
    if "red" not in records:
        return found  # this pipeline ran nothing
    red, green = (
        records["red"],
        records["delivery"] if "runs" in records.get("delivery", {}) else records["green"],
    )
    if red["tests"]:  # none, where nothing had to fail
        found.append(_red_again(world, state, red))
    world.progress("running the whole suite again")
    recorded = green["runs"][0]["outcomes"]
    run = world.pristine_runner(state).run(state.tree)
    flaky = set(green["flaky"])
    wrong = [
        name
        for name, outcome in recorded.items()
        if name not in flaky and result_of(run, name).outcome != outcome
    ]
    found.append(_agreement("green again", run.status, run.reason, wrong))
    return [*found, *_old_tests_again(world, state, green)]


def _red_again(world: World, state: State, red: dict[str, Any]) -> Finding:
    """The tests of RED on the tree that they were proved on."""
    world.progress("running the red tests again")
    files = sorted({name.partition("::")[0] for name in red["tests"]})
    run = world.pristine_runner(state).run(red["red_tree"], files)
    wrong = [
        name
        for name, entry in red["tests"].items()
        if entry["phase"] != "collect" and result_of(run, name).outcome != entry["outcome"]
    ]
    return _agreement("red again", run.status, run.reason, wrong)


def _old_tests_again(world: World, state: State, green: dict[str, Any]) -> list[Finding]:
    """The base's own tests on the delivered code, as they were judged."""
    runner = world.pristine_runner(state)
    tree = tree_with_old_tests(runner, str(green.get("base_tests_tree") or state.base_tree), state.tree)
    if tree == state.tree or "old_tests_tree" not in green:
        return []
    if not has_passing_tests(world.baseline_record(state).tests):
        return []
    world.progress("running the tests of the base on the new code again")
    run = runner.run(tree)
    recorded = next(
        (row["outcomes"] for row in green["runs"] if row["tree"] == tree and not row["ids"]), None
    )
    if recorded is None:
        return [Finding("old tests again", ok=False, text="they were not run when this was judged")]
    flaky = set(green["flaky"])
    wrong = [
        name
        for name, outcome in recorded.items()
        if name not in flaky and result_of(run, name).outcome != outcome
    ]
    return [_agreement("old tests again", run.status, run.reason, wrong)]


def _agreement(row: str, status: str, reason: str, wrong: list[str]) -> Finding:
    if status != "ran":
        return Finding(row, ok=False, text=f"not run: {reason}")
    return Finding(
        row, ok=not wrong, text=f"differs in {', '.join(wrong[:5])}" if wrong else "every outcome agrees"
    )
