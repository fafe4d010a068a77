"""`agentforge verify`: a task's whole record held against itself and against git; and, on request, judged
again.
"""

import json
from collections.abc import Sequence
from typing import Any

from agentforge.activities.evidence import build_evidence
from agentforge.activities.findings import Finding
from agentforge.activities.seal import judging_record, statement
from agentforge.activities.verifying.objects import git_findings
from agentforge.activities.verifying.record import (
    Moment,
    file_findings,
    journal_findings,
    named_by,
    pack_findings,
    replayed,
)
from agentforge.activities.verifying.rerun import rerun_findings
from agentforge.activities.verifying.seal import read_seal, seal_findings
from agentforge.activities.world import World
from agentforge.core.errors import Unusable
from agentforge.core.state import State
from agentforge.languages.outcomes import GOOD
from agentforge.sandbox.worktree import Pointed
from agentforge.store.user.signing import Trusted
from agentforge.system.canon import canonical, digest, digest_value
from agentforge.system.git.audit import ObjectAudit
from agentforge.system.signatures import PublicKey, without_repeats
from agentforge.system.unlinked import read_unlinked

_STATED = (
    "task",
    "request",
    "base",
    "red",
    "final",
    "command",
    "tests",
    "given_up",
    "not_checked",
    "evidence",
)
"""What every seal states; what a later one states beside it is compared where it is there."""

_OF_THE_MOMENT = ("journal", "sandbox", "branches_kept", "plan")
"""What evidence says of the place and the time that it was written at, which other rows hold against git; and
the plan of runs, in which each release counts the runs that it knows.
"""
_IN_WORDS = ("proved_as", "not_proved_by_test", "examined", "mutants", "integration", "not_checked")
"""What evidence puts into words. Another release may have used others, or more of them."""


def verify(
    world: World, *, rerun: bool, trusted: Sequence[Trusted] = (), signed: bool = False
) -> list[Finding]:
    """Every hash that the journal names, each row with the file that differs; with `rerun` the verdicts too.

    With `signed`, only the signature of somebody trusted is good enough.
    """
    moments = replayed(world.files)
    state, git = moments[-1].state, world.workspace.git
    named = named_by(world.files, moments)
    found = [*journal_findings(world.files, moments, git), *pack_findings(world.pack, named)]
    if state.delivered is None:
        text = f"the task is {state.status} and has delivered nothing"
        return [*found, Finding("delivery", ok=False, text=text)]
    evidence, problem = _read(world)
    whole = evidence is not None and digest(canonical(evidence)) == state.delivered.evidence
    if evidence is not None and _head(evidence) not in {moment.line.hash for moment in moments}:
        whole, problem = False, f"{world.files.evidence} is about another journal"
    text = problem or ("is what the journal recorded" if whole else "differs from what the journal recorded")
    found += [
        Finding("evidence.json", ok=whole, text=text),
        *_rows(world, evidence or {}),
        *_told(world, moments, evidence or {}),
        *file_findings(world.files, named, moments, git),
        *git_findings(git, state, named, evidence or {}),
        *_verdict(world, state),
        *_seal(world, moments, trusted, signed=signed),
    ]
    return found + rerun_findings(world, moments) if rerun else found


def _head(stated: dict[str, Any]) -> object:
    """The end of the journal that a document names."""
    journal = stated.get("journal")
    return journal.get("head") if isinstance(journal, dict) else None


def _read(world: World) -> tuple[dict[str, Any] | None, str]:
    place = world.files.evidence
    try:
        data = read_unlinked(place)
        value = json.loads(data, object_pairs_hook=without_repeats)
    except FileNotFoundError:
        return None, f"{place} is missing"
    except ValueError as error:
        return None, f"{place} is not readable: {error}"
    if not isinstance(value, dict) or not isinstance(value.get("rows"), list):
        return None, f"{place} has no rows"
    return value, ""


def _rows(world: World, evidence: dict[str, Any]) -> list[Finding]:
    found = []
    for row in [*evidence.get("rows", []), *(evidence.get("requirements") or [])]:
        if not isinstance(row, dict):
            found.append(Finding("evidence.json", ok=False, text="has a row that is none"))
            continue
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


def _told(world: World, moments: list[Moment], evidence: dict[str, Any]) -> list[Finding]:
    """Whether the evidence tells all that the records in the pack do: what was flagged, ruled on, given up,
    not checked. Of what older evidence does not know, only what there would be to say is missed.
    """
    before = [moment.state for moment in moments if moment.state.delivered is None][-1]
    delivered = moments[-1].state.delivered
    assert delivered is not None
    try:
        fresh = build_evidence(world, before, Pointed(delivered.branch))
    except (Unusable, KeyError, TypeError, AttributeError) as error:
        return [Finding("evidence", ok=False, text=f"its records cannot be read: {error}")]
    wrong = [name for name in fresh if name not in _OF_THE_MOMENT and not _tells(name, fresh, evidence)]
    text = f"differs from the records: {', '.join(wrong)}" if wrong else "tells what its records tell"
    return [Finding("evidence", ok=not wrong, text=text)]


def _tells(name: str, fresh: dict[str, Any], evidence: dict[str, Any]) -> bool:
    """Whether the evidence says here what the records make it say; in words, any words do."""
    if name not in evidence and "plan" not in evidence:  # of a release that did not tell it yet
        return True
    if name in _IN_WORDS:
        return bool(evidence.get(name)) or not fresh[name]
    return fresh[name] == evidence.get(name) or (not fresh[name] and name not in evidence)


def _verdict(world: World, state: State) -> list[Finding]:
    """Whether the records bear the verdict that was drawn from them: what passed on the base and is not given
    up passed at the end, and so did each new test.
    """
    try:
        records: dict[str, Any] = dict(world.records(state))
        judged = judging_record(records)
        if "red" not in records or not judged.get("runs") or state.baseline is None:
            return []
        baseline = world.baseline_record(state)
        excused = {*judged.get("flaky", ()), *baseline.flaky}
        excused |= {str(item.get("id")) for item in judged.get("superseded") or ()}
        good = {name for name, result in baseline.tests.results.items() if result.outcome in GOOD} - excused
        outcomes = judged["runs"][0]["outcomes"]
        wrong = [
            name for name in sorted(good | set(records["red"]["tests"])) if outcomes.get(name) not in GOOD
        ]
    except (Unusable, KeyError, TypeError, AttributeError) as error:
        return [Finding("verdict", ok=False, text=f"its records cannot be read: {error}")]
    text = (
        f"{', '.join(wrong[:5])} did not pass, by the task's own records"
        if wrong
        else "follows from its records"
    )
    return [Finding("verdict", ok=not wrong, text=text)]


def _seal(world: World, moments: list[Moment], trusted: Sequence[Trusted], *, signed: bool) -> list[Finding]:
    """The seal by itself, and as the statement of this very journal."""
    state, git = moments[-1].state, world.workspace.git
    assert state.delivered is not None
    if not state.delivered.seal:
        reason = "no file was changed" if not state.delivered.branch else "delivered before there were seals"
        return [Finding("seal", ok=not signed, text=f"none: {reason}")]
    found = seal_findings(git, state.delivered.seal, trusted, signed=signed)
    seal = read_seal(ObjectAudit(git), state.delivered.seal)
    if isinstance(seal, str):
        return found
    predicate = seal.stated.predicate
    head = _head(predicate)
    wrong = []
    if head not in {moment.line.hash for moment in moments[:-1] if moment.state.delivered is None}:
        wrong.append("the journal's head at that time")
    try:
        key = PublicKey.parse(str((predicate.get("signer") or {}).get("key")))
        evidence, branch = state.delivered.evidence, state.delivered.branch
        expected: Any = statement(world, state, branch, evidence, str(head), key)["predicate"]
        stated = [name for name in expected if name in predicate or name in _STATED]
        wrong += [name for name in stated if expected[name] != predicate.get(name)]
    except Unusable as error:
        wrong.append(error.sentence)
    text = f"differs from the journal: {', '.join(wrong)}" if wrong else "states what the journal says"
    return [*found, Finding("statement", ok=not wrong, text=text)]
