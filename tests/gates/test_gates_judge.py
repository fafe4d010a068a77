"""The gates as a task meets them: records in a real pack, trees in a real repository, a suite that really
runs.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.activities.assemble import assemble_step
from agentforge.activities.check import CHECKS, by_function, check
from agentforge.activities.judge import GATES, judge
from agentforge.activities.prepare import take_baseline
from agentforge.activities.world import World
from agentforge.catalog.load import Catalog
from agentforge.core.effects import Judge
from agentforge.core.inputs import BaselineFailed, BaselineReady, Judged
from agentforge.core.pipeline import (
    CHECK_NAMES,
    GATE_NAMES,
    CheckName,
    GateName,
    Pipeline,
    Product,
    Reviewer,
    Stage,
    complete,
)
from agentforge.core.reply import Json
from agentforge.core.runs import WORKER, Run, child_id
from agentforge.core.state import Accepted, State
from agentforge.core.values import ArtifactRef, Baseline, CheckDigest, Escalation, Question
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.python.testrun import TestRun
from agentforge.models.router import Router
from agentforge.models.scripted import ScriptedModel
from agentforge.sandbox.base import Confinement
from agentforge.store.layout import TaskFiles
from agentforge.store.task.pack import Pack
from agentforge.system.processes import Completed
from tests.gates.bench_of_judges import QUICK, AskedOnce, Site, make_site

pytestmark = pytest.mark.slow

CODE = "def add(a, b):\n    return a + b\n"
TEST = "import shop\n\n\ndef test_add():\n    assert shop.add(1, 2) == 3\n"
SUITE: dict[str, Any] = {
    "test_files": [
        {"path": "tests/test_shop.py", "tests": [{"name": "test_add", "requirement_ref": "REQ-001"}]}
    ]
}
SPEC: dict[str, Any] = {"title": "Add", "description": "It adds.", "requirements": []}
PANEL = Stage(
    "refactor",
    "senior_developer",
    (Product("implementation", "refactor"),),
    gates=("green", "review"),
    reviewers=(Reviewer("security_architect", "security_review"), Reviewer("reviewer", "review")),
    arbiter=Reviewer("reviewer", "review", tier="reasoning"),
)
DELIVER = Stage("deliver", None, (Product("delivery_report", "deliver"),), gates=("delivery", "contracts"))
SAFE = {"verdict": "approve", "summary": "Safe."}
UNSAFE = {
    "verdict": "block",
    "summary": "No.",
    "blocking_issues": [{"id": "SEC-001", "description": "It runs.", "remediation": "Do not."}],
}
GOOD = {"verdict": "approve", "summary": "Good.", "findings": []}


@dataclass
class Bench:
    """A world, and a task that has come as far as a proved red and a passed green."""

    site: Site
    world: World
    state: State

    # fields of the state
    def judge(self, gate: GateName, **changes: Any) -> tuple[Judged, dict[str, Any]]:  # noqa: ANN401
        state = replace(self.state, **changes)
        judged = judge(self.world, Judge(WORKER, "key", gate), state.seen_by(WORKER))
        record = self.world.pack.get_json(judged.verdict.ref)
        assert isinstance(record, dict)
        return judged, dict(record)

    def ref(self, contract: str, value: dict[str, Json], phase: str = "refactor") -> ArtifactRef:
        return self.world.keep_version(contract, phase, 1, value)

    def reader(self, name: str, contract: str, value: dict[str, Any]) -> Run:
        """One who has read what the engine showed them, and handed in."""
        drafts = (self.ref(contract, value),)
        run = Run(child_id(WORKER, name), "refactor", 1, self.state.tree, "reviewer", WORKER)
        shown = assemble_step(self.world, replace(self.state, runs=(*self.state.runs, run)).seen_by(run.id))
        return replace(run, point="handed_in", drafts=drafts, context=shown.context.ref)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    site = make_site(tmp_path, {"shop.py": "", "README.md": "A shop.\n"})
    red = site.tree({"tests/test_shop.py": TEST})
    tree = site.tree({"shop.py": CODE}, red)
    files = TaskFiles(tmp_path / "task-1")
    files.root.mkdir()
    world = World(
        files,
        Pack(files.pack),
        site.runner.workspace,
        site.runner.sandbox,
        Router.single(ScriptedModel("nothing", ())),
        Catalog.packaged().resolve("implement", "small"),
        {"commands": {"test": " ".join(QUICK)}, "tests": ["tests/**/*"]},
        tmp_path / "cache",
        "2026-01-02T03:04:05Z",
        lambda _key, _given: (),
        lambda: "head",
    )
    world._environments["Python"] = site.runner.env
    baseline: dict[str, Json] = {
        "tests": TestRun((), "ran").to_json(),
        "flaky": [],
        "lint": {"status": "not_configured", "reason": "none", "findings": []},
    }
    base = Baseline(world.pack.put_json(baseline), "env", "none", 0, 0, 0, 0, "no tests")
    entries = {entry.path: entry for entry in site.git.ls_tree(red)}
    locked = entries["tests/test_shop.py"]
    proof = world.pack.put_json(
        {
            "gate": "red",
            "status": "passed",
            "reasons": [],
            "red_tree": red,
            "same_author": False,
            "tests": {
                "tests/test_shop.py::test_add": {
                    "guard": False,
                    "reason": "AttributeError",
                    "outcome": "failed",
                    "phase": "call",
                }
            },
            "locked": {locked.path: [locked.mode, locked.oid]},
            "runs": [],
        }
    )
    finals = (
        world.keep_version("specification", "spec", 1, SPEC),
        world.keep_version("test_suite", "red", 1, SUITE),
    )
    commit = site.git.head()
    state = State(
        task_id="task-1",
        request="Add two numbers",
        base_commit=commit,
        base_tree=site.base,
        tree=tree,
        commit=commit,
        baseline=base,
        pipeline=Pipeline("implement", "full", (PANEL, DELIVER)),
        runs=(Run(WORKER, "refactor", 1, tree, point="judge"),),
        accepted=(Accepted("red", red, commit, finals, (("red", proof),)),),
    )
    return Bench(site, world, state)


def greened(bench: Bench) -> Bench:
    judged, _ = bench.judge("green")
    assert judged.verdict.status == "passed", judged
    done = Accepted("green", bench.state.tree, bench.state.commit, (), (("green", judged.verdict.ref),))
    return Bench(bench.site, bench.world, replace(bench.state, accepted=(*bench.state.accepted, done)))


def test_only_another_tree_proof_or_baseline_is_judged_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = greened(bench)
    first = known.world.records(known.state)["green"]
    with monkeypatch.context() as patched:
        patched.setattr(PristineRunner, "run", None)
        judged, record = known.judge("green")
    assert (judged.verdict.status, record["reused"], record["runs"]) == ("passed", True, first["runs"])
    again = known.world.pack.put_json({**known.world.records(known.state)["red"], "again": True})
    assert known.state.baseline is not None
    other: Any = known.world.pack.get_json(known.state.baseline.ref)
    ref = known.world.pack.put_json({**other, "environment": "another"})
    for change in (
        {"tree": known.site.tree({"shop.py": CODE + "\n"}, known.state.tree)},
        {"runs": (replace(known.state.run_of(WORKER), judged=(("red", again),)),)},
        {"baseline": replace(known.state.baseline, ref=ref)},
    ):
        judged, record = known.judge("green", **change)
        assert (judged.verdict.status, "reused" in record) == ("passed", False), change


def deliver(
    bench: Bench, tree: str = "", role: str | None = None, words: dict[str, Any] | None = None
) -> tuple[Judged, dict[str, Any]]:
    drafts = () if words is None else (bench.ref("delivery_report", words, "deliver"),)
    pipeline = Pipeline("implement", "full", (PANEL, replace(DELIVER, role=role)))
    run = Run(WORKER, "deliver", 1, bench.state.tree, point="judge", drafts=drafts)
    return bench.judge("delivery", pipeline=pipeline, runs=(run,), tree=tree or bench.state.tree)


def test_a_delivery_runs_the_suite_on_what_was_not_judged_reports_what_was_said_and_fails_closed(
    bench: Bench,
) -> None:
    assert deliver(bench)[0].verdict.status == "not_run"  # nothing is green yet
    known = greened(bench)
    _reported(known)
    _takes_words_and_no_code(known)
    noted = known.site.tree({"README.md": "Another.\n"}, known.state.tree)
    assert deliver(known, noted)[0].verdict.status == "not_run"  # computed, and yet another tree
    broken = known.site.tree({"pytest.ini": "[pytest]\naddopts = --no-such\n"}, known.state.tree)
    assert deliver(known, broken, "devops_engineer", {})[0].verdict.status != "passed"


def _reported(known: Bench) -> None:
    judged, record = deliver(known)
    assert (
        judged.verdict.status,
        record["deployment_ready"],
        record["all_tests_pass"],
        len(record["runs"]),
    ) == (
        "passed",
        True,
        True,
        2,  # the suite, and the new test once more
    )
    assert record["reused"], "the very tree that was judged is not run again"
    (ref,) = judged.verdict.finals
    report: Any = known.world.pack.get_json(ref.hash)
    assert (
        report["changelog_entry"],
        report["verification"]["tree"],
        report["verification"]["tests_passed"],
    ) == (
        "- Add",
        known.state.tree,
        1,
    )
    contracts, _ = known.judge(
        "contracts", runs=(Run(WORKER, "deliver", 1, known.state.tree, finals=judged.verdict.finals),)
    )
    assert (contracts.verdict.status, contracts.verdict.reasons) == ("passed", ())


def _takes_words_and_no_code(known: Bench) -> None:
    """With a panel before it whose arbiter overruled one of the two."""
    panel, _ = decided(known)
    read = Accepted("refactor", known.state.tree, known.state.commit, (), (("review", panel.verdict.ref),))
    known = Bench(known.site, known.world, replace(known.state, accepted=(*known.state.accepted, read)))
    noted = known.site.tree({"CHANGELOG.md": "- It adds.\n"}, known.state.tree)
    judged, record = deliver(
        known, noted, "devops_engineer", {"changelog_entry": "- It adds.", "release_notes": "Call add."}
    )
    assert (judged.verdict.status, record["tree"], "reused" in record) == ("passed", noted, False)
    report: Any = known.world.pack.get_json(judged.verdict.finals[0].hash)
    assert (report["changelog_entry"], report["release_notes"], report["summary"]) == (
        "- It adds.",
        "Call add.",
        "Proved as: new behaviour, by tests that fail without the change and pass with it. It adds.",
    )
    said = {item["role"]: item["verdict"] for item in report["reviews"]}
    assert said == {"security_architect": "block", "reviewer": "approve", "arbiter": "approve"}
    dissent = "dissent on refactor: security_architect blocked and was overruled"
    assert any(line.startswith(dissent) for line in report["readiness"]["open_points"])
    coded = known.site.tree({"more.py": "a = 1\n"}, known.state.tree)
    judged, _ = deliver(known, coded, "devops_engineer", {})
    assert (judged.verdict.status, judged.verdict.reasons) == (
        "failed",
        ("`more.py` changed after the last review, which only words may; take it back",),
    )


def disagreeing(bench: Bench) -> tuple[Run, Run]:
    return bench.reader("security_architect", "security_review", UNSAFE), bench.reader(
        "reviewer", "review", GOOD
    )


def decided(bench: Bench) -> tuple[Judged, dict[str, Any]]:
    """A split panel, and its arbiter's word."""
    return bench.judge(
        "review",
        runs=(
            *bench.state.runs,
            *disagreeing(bench),
            bench.reader("arbiter", "review", {**GOOD, "summary": "It is fine."}),
        ),
    )


def test_a_panel_that_agrees_leaves_its_reviews_beside_the_stages_finals(bench: Bench) -> None:
    own = bench.ref("implementation", {"summary": "Done."})
    run = Run(WORKER, "refactor", 1, bench.state.tree, point="judge", finals=(own,))
    readers = (
        bench.reader("security_architect", "security_review", SAFE),
        bench.reader("reviewer", "review", GOOD),
    )
    judged, record = bench.judge("review", runs=(run, *readers))
    assert (judged.verdict.status, record["verdicts"]) == (
        "passed",
        {"security_architect": "approve", "reviewer": "approve"},
    )
    assert [ref.contract for ref in judged.verdict.finals] == ["implementation", "security_review", "review"]
    final: Any = bench.world.pack.get_json(judged.verdict.finals[1].hash)
    assert final["review_id"] == "SECURITY-task-1"


def test_a_split_panel_waits_for_its_arbiter_whose_word_stands_with_the_dissent(bench: Bench) -> None:
    judged, _ = bench.judge("review", runs=(*bench.state.runs, *disagreeing(bench)))
    assert (judged.verdict.status, judged.verdict.finals) == ("split", ())
    judged, record = decided(bench)
    assert (judged.verdict.status, record["arbiter"]) == ("passed", "approve")
    final: Any = bench.world.pack.get_json(judged.verdict.finals[-1].hash)
    assert (final["summary"], final["dissent"]) == ("It is fine.", record["dissent"])


def test_a_panel_that_is_not_complete_has_not_run(bench: Bench) -> None:
    judged, _ = bench.judge("review", runs=(*bench.state.runs, bench.reader("reviewer", "review", GOOD)))
    assert (judged.verdict.status, judged.verdict.reasons) == (
        "not_run",
        ("security_architect handed in no review",),
    )


def test_every_name_of_a_gate_and_of_a_check_has_its_function() -> None:
    assert (set(GATES), set(CHECKS)) == (set(GATE_NAMES), set(CHECK_NAMES))
    short: dict[str, object] = {name: GATES[name] for name in GATE_NAMES if name != "review"}
    with pytest.raises(LookupError, match="review"):
        complete(short, GATE_NAMES)


def checked(bench: Bench, *checks: CheckName, **changes: Any) -> CheckDigest:  # noqa: ANN401 - fields of the state
    stage = replace(PANEL, checks=checks)
    state = replace(bench.state, pipeline=Pipeline("implement", "full", (stage,)), **changes)
    return check(bench.world, state.seen_by(WORKER)).check


MYPY = "[mypy]\nstrict = True\n"


def test_a_check_that_a_stage_asks_for_runs_or_is_said_not_to_be_configured(bench: Bench) -> None:
    found = checked(bench, "types", "conformance")
    assert (found.status, found.summary) == (
        "passed",
        "conformance: nothing new; types: not run: not configured",
    )
    with_types = bench.site.tree({"mypy.ini": MYPY}, bench.state.tree)
    base = bench.site.tree({"mypy.ini": MYPY})
    untyped = checked(bench, "types", base_tree=base, tree=with_types)
    assert (untyped.status, untyped.summary.split(": ")[0]) == ("failed", "types")
    assert "shop.py:1: Function is missing a type annotation" in "\n".join(untyped.failures)
    assert checked(bench, "syntax", base_tree=base, tree=with_types).status == "passed", (
        "asked for, or not run"
    )


def test_a_new_test_may_be_as_untyped_as_the_tests_beside_it(bench: Bench) -> None:
    untyped = "def test_it():\n    assert 1\n"
    typed = "def test_it() -> None:\n    assert 1\n"
    for beside, status in ((untyped, "passed"), (typed, "failed")):
        base = bench.site.tree({"mypy.ini": MYPY, "tests/test_beside.py": beside})
        tree = bench.site.tree({"tests/test_new.py": untyped}, base)
        assert checked(bench, "types", base_tree=base, tree=tree).status == status, beside


def test_what_a_file_had_before_is_not_held_against_a_new_file_that_imports_it(bench: Bench) -> None:
    old = {"mypy.ini": MYPY, "old.py": "from nowhere_to_be_found import x\n\nY: int = 1\n"}
    base = bench.site.tree(old)
    new = {"new.py": "from old import Y\n\n\ndef twice() -> int:\n    return 2 * Y\n"}
    found = checked(bench, "types", base_tree=base, tree=bench.site.tree(new, base))
    assert (found.status, found.failures) == ("passed", ())
    broken = bench.site.tree({**new, "old.py": old["old.py"].replace("Y: int = 1", "Y: str = ''")}, base)
    assert checked(bench, "types", base_tree=base, tree=broken).status == "failed", "what it breaks counts"


def test_what_is_called_like_a_test_and_is_none_of_the_suite_is_not_at_risk(bench: Bench) -> None:
    """A file of cases for a type checker fails when it is run, and nobody runs it."""
    cases = {"tests/types/test_cases.py": "import shop\n\nraise TypeError\n", "tests/test_shop.py": TEST}
    base = bench.site.tree({"shop.py": CODE, "pytest.ini": "[pytest]\nnorecursedirs = types\n", **cases})
    tree = bench.site.tree({"shop.py": CODE + "\n\nMORE = 1\n"}, base)
    assert bench.state.baseline is not None
    known: Any = bench.world.pack.get_json(bench.state.baseline.ref)
    run = bench.site.runner.run(base)
    ref = bench.world.pack.put_json({**known, "tests": run.to_json()})
    baseline = replace(bench.state.baseline, ref=ref)
    found = checked(bench, "tests", base_tree=base, tree=tree, baseline=baseline)
    assert (found.status, found.failures) == ("passed", ())


def test_failures_of_one_function_are_one_line_with_every_id() -> None:
    rows = {
        f"tests/test_a.py::test_b[{name}]": f"tests/test_a.py::test_b[{name}]: why {name}" for name in "xyz"
    }
    found = by_function({**rows, "tests/test_a.py::test_c": "tests/test_a.py::test_c: why"})
    assert found == ["tests/test_a.py::test_b[x]: why x; also [y], [z]", "tests/test_a.py::test_c: why"]


class OfThisInterpreter(AskedOnce):
    """Judges of whatever link leads to the interpreter of these tests."""

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        link = Path(argv[0]).name == "python" and Path(argv[0]).resolve() == Path(sys.executable).resolve()
        return AskedOnce.run(self, (sys.executable, *argv[1:]) if link else argv, confinement)


def test_a_type_checker_that_is_configured_and_not_installed_is_asked_about_and_left_out_on_record(
    bench: Bench, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "python").symlink_to(sys.executable)
    bench.world._environments["Python"] = replace(bench.site.runner.env, program=bare / "python")
    bench.world.sandbox = OfThisInterpreter()
    base, tree = (bench.site.tree({"mypy.ini": MYPY}, on) for on in (bench.state.base_tree, bench.state.tree))
    state = replace(bench.state, base_tree=base)
    asked = take_baseline(bench.world, state)
    assert isinstance(asked, BaselineFailed)
    assert (
        asked.sentence
        == "The project uses a type checker that cannot run: the project uses mypy, but its environment has none."
    )
    judged, _ = bench.judge("green", base_tree=base, tree=tree)
    assert judged.verdict.status == "not_run", "unanswered, it blocks"
    answer = Escalation("e1", "environment", "", Question("?"), answer="leave out types")
    assert isinstance(take_baseline(bench.world, replace(state, escalations=(answer,))), BaselineReady)
    judged, record = bench.judge("green", base_tree=base, tree=tree, escalations=(answer,))
    assert (judged.verdict.status, record["not_run"]["types"]) == (
        "passed",
        "not run: left out by a person's answer",
    )
    bench.world.settings = {**bench.world.settings, "strict": True}
    judged, _ = bench.judge("green", base_tree=base, tree=tree, escalations=(answer,))
    assert judged.verdict.status == "failed"


def test_a_skipped_stage_gets_its_artifact_all_the_same(bench: Bench) -> None:
    stage = Stage("clarify", "business_analyst", (Product("clarification", "clarify"),), gates=("contracts",))
    intake = bench.ref("intake_record", {"identified_ambiguities": []}, "intake")
    done = Accepted("intake", bench.state.base_tree, bench.state.commit, (intake,), ())
    judged, _ = bench.judge(
        "contracts",
        pipeline=Pipeline("implement", "full", (stage,)),
        runs=(Run(WORKER, "clarify", 1, bench.state.tree, skipped="no_ambiguities"),),
        accepted=(done,),
    )
    assert (judged.verdict.status, judged.verdict.reasons) == ("passed", ())
    assert bench.world.pack.get_json(judged.verdict.finals[0].hash) == {"questions": [], "derived": True}


def test_a_persons_answer_reaches_the_clarification(bench: Bench) -> None:
    stage = Stage("clarify", "business_analyst", (Product("clarification", "clarify"),), gates=("contracts",))
    intake = bench.ref(
        "intake_record",
        {"identified_ambiguities": [{"area": "a", "question": "Why?", "impact": "blocking"}]},
        "intake",
    )
    draft = bench.ref(
        "clarification", {"questions": [{"question": "Why?", "answer": "?", "confidence": 10}]}, "clarify"
    )
    told: dict[str, Any] = {
        "pipeline": Pipeline("implement", "full", (stage,)),
        "runs": (Run(WORKER, "clarify", 1, bench.state.tree, drafts=(draft,)),),
        "accepted": (Accepted("intake", bench.state.base_tree, bench.state.commit, (intake,), ()),),
    }
    judged, _ = bench.judge("contracts", **told)
    assert "answered below 80" in judged.verdict.reasons[0]
    judged, _ = bench.judge(
        "contracts",
        **told,
        escalations=(Escalation("ESC-001", "question", "clarify", Question("Why?"), (), "So.", "ann"),),
    )
    final: Any = bench.world.pack.get_json(judged.verdict.finals[0].hash)
    assert (judged.verdict.status, final["questions"][0]["resolved_by"], final["questions"][0]["answer"]) == (
        "passed",
        "ann",
        "So.",
    )
    misquoted: dict[str, Any] = {
        "questions": [
            {
                "question": "Why?",
                "answer": "?",
                "confidence": 90,
                "evidence": [{"file": "README.md", "snippet": "A bank."}],
            }
        ]
    }
    drafts = (bench.ref("clarification", misquoted, "clarify"),)
    told["runs"] = (Run(WORKER, "clarify", 1, bench.state.tree, drafts=drafts),)
    judged, _ = bench.judge("contracts", **told)
    assert 'evidence: "A bank." is not in README.md' in judged.verdict.reasons[0]


def test_a_step_is_shown_the_test_that_fails_now(bench: Bench) -> None:
    tree = bench.site.tree({"tests/test_old.py": TEST.replace("test_add", "test_old")}, bench.state.tree)
    failed = CheckDigest("failed", "1 fails", ("tests/test_old.py::test_old: assert 1 == 2",))
    for check_, there in ((failed, True), (None, False)):
        run = replace(bench.state.runs[0], check=check_)
        shown = assemble_step(bench.world, replace(bench.state, runs=(run,), tree=tree).seen_by(WORKER))
        names = [name for name, _ in bench.world.pack.get_blocks(shown.context.ref)]
        assert any(name.startswith("working_set: tests/test_old.py test_old") for name in names) is there
