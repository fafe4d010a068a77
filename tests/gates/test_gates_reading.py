"""A review counts only if it saw the change: contexts as the engine assembled and recorded them, and the gate that
looks into them.
"""

from dataclasses import replace
from typing import Any

import pytest

from agentforge.activities.assemble import assemble_step
from agentforge.activities.judge import judge
from agentforge.context.change import BLOCK
from agentforge.core.effects import Judge
from agentforge.core.inputs import Judged
from agentforge.core.runs import WORKER, Run, child_id
from agentforge.core.state import State
from tests.gates import test_gates_judge as judges
from tests.gates.test_gates_judge import GOOD, Bench

bench = judges.bench

BIG = "".join(f"def function_{number}(a):\n    return a + {number}\n\n\n" for number in range(120))
BAD = {
    "verdict": "block",
    "summary": "No.",
    "findings": [
        {
            "id": "REV-001",
            "severity": "major",
            "blocking": True,
            "description": "Why?",
            "remediation": "Mend.",
        }
    ],
}


def large(bench: Bench) -> str:
    files: dict[str, str | None] = {f"pkg/m{number:02d}.py": BIG for number in range(12)}
    return bench.site.tree(files, bench.state.tree)


def at_review(bench: Bench, tree: str = "", **changes: Any) -> State:  # noqa: ANN401  # fields of the state
    """The task at the review of its lane, nobody has read yet."""
    tree = tree or bench.state.tree
    run = Run(WORKER, "review", 1, tree, point="judge")
    pipeline = bench.world.catalogue.pipeline()
    return replace(bench.state, pipeline=pipeline, tree=tree, runs=(run,), **changes)


def read(bench: Bench, state: State, value: dict[str, Any], part: int = 1, contract: str = "review") -> State:
    """The state after one reader was shown what the engine shows them, and handed in."""
    reader = state.run_of(WORKER)
    if part > 1:
        reader = Run(child_id(WORKER, f"reviewer-{part}"), "review", 1, state.tree, "reviewer", WORKER)
        state = replace(state, runs=(*state.runs, reader))
    shown = assemble_step(bench.world, state.seen_by(reader.id))
    drafts = (bench.world.keep_version(contract, "review", part, value),)
    done = replace(reader, context=shown.context.ref, context_tokens=shown.context.tokens, drafts=drafts)
    runs = (done if run.id == done.id else run for run in state.runs)
    return replace(state, runs=tuple(runs))


def verdict(bench: Bench, state: State) -> tuple[Judged, dict[str, Any]]:
    judged = judge(bench.world, Judge(WORKER, "key", "review"), state.seen_by(WORKER))
    record = bench.world.pack.get_json(judged.verdict.ref)
    assert isinstance(record, dict)
    return judged, dict(record)


def test_a_small_change_is_read_whole_by_one_reader_and_the_record_says_where_it_was_shown(
    bench: Bench,
) -> None:
    state = read(bench, at_review(bench), GOOD)
    judged, record = verdict(bench, state)
    assert (judged.verdict.status, judged.parts, record["parts"], record["hunks"]) == ("passed", 1, 1, 2)
    assert (record["tree"], record["contexts"]) == (state.tree, {"reviewer": [state.run_of(WORKER).context]})
    blocks = dict(bench.world.pack.get_blocks(state.run_of(WORKER).context))
    assert "+    return a + b" in blocks[BLOCK]
    assert blocks[BLOCK].index("=== shop.py: changed") < blocks[BLOCK].index(
        "=== tests/test_shop.py: new test"
    )


def test_an_approval_of_what_was_shown_of_another_tree_or_with_a_cut_does_not_count(bench: Bench) -> None:
    state = read(bench, at_review(bench), GOOD)
    later = bench.site.tree({"shop.py": "def add(a, b):\n    return 3\n"}, state.tree)
    judged, _ = verdict(bench, replace(state, tree=later))
    assert (judged.verdict.status, judged.verdict.reasons) == (
        "unread",
        ("reviewer has not seen all of the change: shop.py",),
    )
    blocks = bench.world.pack.get_blocks(state.run_of(WORKER).context)
    cut = [(name, text.replace("+    return a + b\n", "[…]\n")) for name, text in blocks]
    beside = [("facts", text) if name == BLOCK else (name, text) for name, text in blocks]
    for shown in (cut, beside, []):
        ref = bench.world.pack.put_blocks(shown)
        worker = replace(state.run_of(WORKER), context=ref)
        assert verdict(bench, replace(state, runs=(worker,)))[0].verdict.status == "unread"
    blocked = read(bench, at_review(bench), BAD)
    assert verdict(bench, replace(blocked, tree=later))[0].verdict.status == "blocked", (
        "a block needs no more reading"
    )


def test_a_change_too_long_for_one_context_counts_when_every_part_was_approved(bench: Bench) -> None:
    state = read(bench, at_review(bench, large(bench)), {**GOOD, "summary": "One."})
    judged, record = verdict(bench, state)
    assert (judged.verdict.status, judged.parts > 1) == ("unread", True)
    assert record["hunks"] >= 14
    assert state.run_of(WORKER).context_tokens < 32_000
    note = {"id": "REV-001", "severity": "note", "blocking": False, "description": "So."}
    for part in range(2, judged.parts + 1):
        state = read(bench, state, {**GOOD, "findings": [note]}, part)
    done, record = verdict(bench, state)
    assert (done.verdict.status, len(record["contexts"]["reviewer"])) == ("passed", judged.parts)
    final: Any = bench.world.pack.get_json(done.verdict.finals[0].hash)
    assert [item["id"] for item in final["findings"]] == [f"REV-{at:03d}" for at in range(1, judged.parts)]
    assert final["summary"].startswith("Part 1: One. Part 2: Good.")


def test_one_part_that_blocks_is_a_block_and_one_that_nobody_read_is_not_approved(bench: Bench) -> None:
    first = read(bench, at_review(bench, large(bench)), GOOD)
    parts = verdict(bench, first)[0].parts
    blocked = read(bench, first, BAD, 2)
    judged, _ = verdict(bench, blocked)
    assert (judged.verdict.status, judged.verdict.reasons) == ("blocked", ("REV-001: Why? Remedy: Mend.",))
    state = first
    for part in range(2, parts):
        state = read(bench, state, GOOD, part)
    assert verdict(bench, state)[0].verdict.status == "unread"


FLAG = {"about": "tests/test_shop.py::test_add", "text": "it is proved by a value", "ruling": True}


def flagged(bench: Bench, *flags: dict[str, Any]) -> State:
    ref = bench.world.pack.put_json({"gate": "quality", "status": "passed", "flags": [*flags]})
    last = bench.state.accepted[-1]
    done = replace(last, evidence=(*last.evidence, ("quality", ref)))
    return at_review(bench, accepted=(*bench.state.accepted[:-1], done))


@pytest.mark.parametrize(
    ("rulings", "status", "reason"),
    [
        ([], "not_run", "no ruling on tests/test_shop.py::test_add"),
        ([("tests/test_shop.py", "accept")], "not_run", "no ruling on tests/test_shop.py::test_add"),
        ([(FLAG["about"], "accept")], "passed", ""),
        ([(FLAG["about"], "reject")], "blocked", f"{FLAG['about']}: not accepted: so"),
    ],
)
def test_what_must_be_ruled_on_is_accepted_or_rejected_by_its_name(
    bench: Bench, rulings: list[tuple[str, str]], status: str, reason: str
) -> None:
    shown = {"about": "setup.cfg", "text": "it is changed", "ruling": False}
    said = [{"about": about, "verdict": ruled, "reason": "so"} for about, ruled in rulings]
    state = read(bench, flagged(bench, FLAG, shown), {**GOOD, "rulings": said})
    judged, _ = verdict(bench, state)
    assert (judged.verdict.status, " ".join(judged.verdict.reasons)) == (status, reason)
    blocks = dict(bench.world.pack.get_blocks(state.run_of(WORKER).context))
    assert (
        f"- [rule on it] {FLAG['about']}: it is proved by a value\n- setup.cfg: it is changed"
        in blocks["flags"]
    )
