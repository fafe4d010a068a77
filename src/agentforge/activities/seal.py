"""The seal: one commit above the work, with the same tree, whose message carries the statement of what was
proved, signed if there is a key. With it a branch can be checked on a clone that has nothing else.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from agentforge.activities.world import World
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.gates.change.documents import objects
from agentforge.gates.finals import not_run_lines
from agentforge.gates.new_tests.unproved import unproved_lines
from agentforge.sandbox.worktree import TRAILER
from agentforge.system.canon import digest_value
from agentforge.system.signatures import Envelope, PublicKey, armour

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:agentforge:delivery:v1"
NOBODY = "integrity only, not signed"
SUBJECT_CHARS = 72


def seal_commit(world: World, state: State, branch: str, evidence: str) -> str:
    """The seal of what is delivered. The same statement and key make the same commit."""
    key = world.signer.public if world.signer else None
    stated = statement(world, state, branch, evidence, world.head(), key)
    envelope = Envelope.seal(stated, world.signer).spell(key)
    title = str(world.parts(state).get("requirements", {}).get("title") or state.request.splitlines()[0])
    subject = f"Seal: {title}"
    subject = subject if len(subject) <= SUBJECT_CHARS else f"{subject[: SUBJECT_CHARS - 1]}…"
    signed = f"signed by the key {key.fingerprint}" if key else NOBODY
    message = (
        f"{subject}\n\n"
        "Nothing changes here: the tree is that of the commit below. This says what was proved of it;\n"
        f"`agentforge verify` checks it ({signed}).\n\n"
        f"{armour(envelope)}\n\n{TRAILER}: {state.task_id}\nAgentForge-Stage: seal\n"
    )
    return world.workspace.commit(state.tree, state.commit, message, world.created_at)


def statement(
    world: World, state: State, branch: str, evidence: str, head: str, key: PublicKey | None
) -> dict[str, Json]:
    """An in-toto statement about the delivered commit, computed from the journal and the pack."""
    records: dict[str, Any] = dict(world.records(state))
    runs = _judging_runs(records)
    red = records.get("red", {})
    final: dict[str, Json] = {"commit": state.commit, "tree": state.tree}
    predicate: dict[str, Json] = {
        "task": state.task_id,
        "request": state.request,
        "lane": state.pipeline.lane,
        "base": {"commit": state.base_commit, "tree": state.base_tree},
        "red": {"commit": _red_commit(state), "tree": red.get("red_tree")},
        "final": final,
        "command": runs[0]["command"] if runs else None,
        "tests": {
            "base": id_list(world.baseline_record(state).tests.results if state.baseline else ()),
            "red": id_list(red.get("tests", {})),
            "final": id_list(runs[0]["outcomes"] if runs else ()),
        },
        "given_up": [item.get("id") for item in objects(records.get("green", {}), "superseded")],
        "not_proved_by_test": [*unproved_lines(red)],
        "not_checked": [*not_run_lines(records)],
        "journal": {"head": head},
        "evidence": evidence,
        "sandbox": state.sandbox,
        "signer": {"key": key.line} if key else None,
    }
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": branch, "digest": {"gitCommit": state.commit, "gitTree": state.tree}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }


def id_list(ids: Iterable[str]) -> dict[str, Json]:
    """How many tests, and the hash of their sorted ids."""
    names: list[Json] = [*sorted(ids)]
    return {"count": len(names), "sha256": digest_value(names)}


def judging_record(records: Mapping[str, Any]) -> dict[str, Any]:
    """The record of the verdict on the delivered tree: the delivery's own where it ran the suite again."""
    found: dict[str, Any] = (
        records["delivery"] if "runs" in records.get("delivery", {}) else records.get("green", {})
    )
    return found


def _judging_runs(records: Mapping[str, Any]) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = judging_record(records).get("runs") or []
    return runs


def _red_commit(state: State) -> str | None:
    """The commit that has the new tests and not yet the change; None where one role wrote both."""
    found = [item for item in state.accepted if "red" in dict(item.evidence)]
    commit = found[-1].commit if found else state.commit
    return None if commit in (state.commit, state.base_commit) else commit
