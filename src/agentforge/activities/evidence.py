"""`evidence.json`: request → requirement → test → red run → green run → review → cost, each row with a hash
of its own.
"""

from collections.abc import Mapping
from typing import Any

from agentforge.activities.world import World
from agentforge.core.pipeline import Part
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.finals import not_run_lines, unread_lines
from agentforge.gates.flags import flags_of, with_rulings
from agentforge.gates.new_tests.examined import examined_lines
from agentforge.gates.new_tests.mutation import mutation_lines
from agentforge.gates.new_tests.unproved import unproved_lines
from agentforge.gates.red import declared_tests, names_test
from agentforge.gates.runs.plan import runs_of
from agentforge.gates.suite.marked import marked_lines
from agentforge.sandbox.worktree import Pointed
from agentforge.system.canon import digest_value

FORMAT = 1
REVIEWS: tuple[Part, ...] = ("review", "security")


EXAMINED = ("tree", "examined_tree", "checks", "set_aside", "why")
QUALITY = (
    "tree",
    "complexity",
    "duplicates",
    "coverage",
    "coverage_of",
    "not_configured",
    "not_run",
    "flags",
)


def build_evidence(world: World, state: State, held: Pointed) -> dict[str, Json]:
    """Everything a sceptic needs, computed from the journal and the pack."""
    documents, records = world.parts(state), world.records(state)
    rulings = [ruling for part in REVIEWS for ruling in objects(documents.get(part, {}), "rulings")]
    rows: list[Json] = []
    for stage in state.accepted:
        rows += [_gate_row(stage.stage, gate, ref, world) for gate, ref in stage.evidence]
    body: dict[str, Json] = {
        "format": FORMAT,
        "task_id": state.task_id,
        "request": state.request,
        "pipeline": state.pipeline.name,
        "lane": state.pipeline.lane,
        "mode": state.pipeline.mode,
        "risen": list(state.risen),
        "skipped": {item.stage: item.skipped for item in state.accepted if item.skipped},
        "reverted": list(state.reverts),
        "model": state.model,
        "sandbox": {"name": world.sandbox.name, "guarantee": dict(world.sandbox.guarantee())},
        "base": {"commit": state.base_commit, "tree": state.base_tree},
        "result": {"commit": state.commit, "tree": state.tree, "branch": held.branch},
        "branches_kept": [*dict.fromkeys((*state.branches_kept, *held.kept))],
        "journal": {"head": world.head()},
        "same_author": _same_author(records.get("red", {})),
        "proved_as": _proved_as(records),
        "assumptions": list(texts(documents.get("questions", {}), "assumptions")),
        "requirements": _requirements(documents, records),
        "not_proved_by_test": [*unproved_lines(records.get("red", {}))],
        "examined": [*examined_lines(records.get("examined"))],
        "mutants": [*mutation_lines(records.get("green", {}).get("mutants"))],
        "plan": [row.to_json() for row in runs_of(records.get("red", {}), records.get("green", {}))],
        "superseded": records.get("green", {}).get("superseded", []),
        "review": _review(documents),
        "panels": _panels(world, state),
        "artifacts": {
            ref.contract: {"version": ref.version, "hash": ref.hash}
            for item in state.accepted
            for ref in item.finals
        },
        "rows": rows,
        "not_checked": [*not_run_lines(records), *unread_lines(state.pipeline)],
        "flags": list(state.flagged),
        "named": with_rulings(flags_of(records.values()), rulings),
        "rulings": [*rulings],
        "human_commits": list(state.human_commits),
        "cost": cost(state),
    }
    # A task without one says nothing of it.
    if debates := _debates(world, state):
        body["debates"] = debates
    if integration := marked_lines(records.get("green", {})):
        body["integration"] = [*integration]
    if added := _added(world, state):
        body["added"] = added
    return body


def _added(world: World, state: State) -> list[Json]:
    """What the environment has from us and not from the project: pinned by hash, each with its version."""
    if state.baseline is None:
        return []
    record: Any = world.pack.get_json(state.baseline.ref)
    return [*texts(record, "added")]


def _same_author(red: Mapping[str, Any]) -> bool:
    """Whether one role wrote tests and change; where no test was written, there is nothing to say."""
    return bool(red.get("same_author") and red.get("tests"))


def cost(state: State) -> dict[str, Json]:
    """The bill: what was counted, and what was sent and never answered, at its worst case."""
    known = state.unpriced == 0
    return {
        "calls": state.spent.calls,
        "tokens": state.spent.tokens,
        "cached_tokens": state.cached_tokens,
        "micro_usd": state.spent.micro_usd if known else None,
        "unaccounted": {
            "calls": state.unaccounted.calls,
            "tokens": state.unaccounted.tokens,
            "micro_usd": state.unaccounted.micro_usd,
        },
    }


def _gate_row(stage: str, gate: str, ref: str, world: World) -> dict[str, Json]:
    value: Any = world.pack.get_json(ref)
    row: dict[str, Json] = {
        "stage": stage,
        "gate": gate,
        "status": value["status"],
        "record": ref,
        "runs": value.get("runs", []),
    }
    if gate == "red":
        row |= {"tree": value["red_tree"], "tests": value["tests"], "locked": value["locked"]}
    if gate in ("green", "delivery"):
        names = (
            "tree",
            "all_tests_pass",
            "no_regressions",
            "conformance_passing",
            "test_lock_held",
            "flaky",
            "superseded",
            "about",
            "mutants",
            "emptied",
            "counterproof",
            "not_run",
            "kind",
            "not_checked",
            "integration",
            "conformance",
            "violation",
        )
        row |= {name: value[name] for name in names if name in value}
    if gate == "quality":
        row |= {name: value[name] for name in QUALITY if name in value}
    if gate == "examined":
        row |= {name: value[name] for name in EXAMINED if name in value}
    if gate == "debate":
        row |= {name: value[name] for name in ("held", "option", "files", "contexts") if name in value}
    if gate == "review":
        row |= {name: value[name] for name in ("tree", "parts", "hunks", "contexts") if name in value}
    return {**row, "hash": digest_value(row)}


def _requirements(documents: dict[Part, dict[str, Json]], records: dict[str, dict[str, Json]]) -> list[Json]:
    red: Any = records.get("red", {}).get("tests", {})
    green: Any = records.get("green", {}).get("runs", [])
    outcomes = green[0]["outcomes"] if green else {}
    tests = declared_tests(documents.get("tests", {}))
    rows: list[Json] = []
    for item in objects(documents.get("requirements", {}), "requirements"):
        identity = str(item.get("id"))
        mine = [test for test in tests if test.requirement == identity]
        ids = [
            name
            for name in red
            if any(name.startswith(f"{test.path}::") and names_test(name, test) for test in mine)
        ]
        row: dict[str, Json] = {
            "id": identity,
            "description": item.get("description"),
            "criteria": list(texts(item, "acceptance_criteria")),
            "tests": [
                {"id": name, "red": red[name]["outcome"], "green": outcomes.get(name, "missing")}
                for name in ids
            ],
        }
        rows.append({**row, "hash": digest_value(row)})
    return rows


def _proved_as(records: dict[str, dict[str, Json]]) -> Json:
    """The kind of proof: what the diff shows, what the request asks for, and in words. Tasks of older
    releases have none.
    """
    green = records.get("green", {})
    return {name: green[name] for name in ("kind", "asked", "proved_as", "renames") if name in green} or None


def _panels(world: World, state: State) -> dict[str, Json]:
    """By stage: who read its result, what they said, and who was overruled."""
    found: dict[str, Json] = {}
    for stage in state.accepted:
        for gate, ref in stage.evidence:
            value: Any = world.pack.get_json(ref)
            if gate == "review" and "verdicts" in value:
                found[stage.stage] = {
                    name: value.get(name) for name in ("mode", "verdicts", "arbiter", "advisory", "dissent")
                }
    return found


DEBATE = (
    "held",
    "why",
    "objective",
    "options",
    "option",
    "decision",
    "rationale",
    "positions",
    "kill_switches",
    "fallback",
    "risks_accepted",
    "action_items",
    "warnings",
)
"""What is told of a debate."""


def _debates(world: World, state: State) -> dict[str, Json]:
    """By stage: what was argued about, who said what, and what was decided; or why nobody argued."""
    found: dict[str, Json] = {}
    for stage in state.accepted:
        for gate, ref in stage.evidence:
            if gate == "debate":
                value: Any = world.pack.get_json(ref)
                found[stage.stage] = {name: value[name] for name in DEBATE if name in value}
    return found


def _review(documents: dict[Part, dict[str, Json]]) -> Json:
    review = documents.get("review", {})
    return {
        "verdict": review.get("verdict"),
        "summary": review.get("summary"),
        "findings": review.get("findings", []),
    }
