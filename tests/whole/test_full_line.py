"""The full line from a request to a branch: what is handed over, what a design asks, and what a mode lets
nobody do.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agentforge.catalog
from agentforge.catalog.modes import MODE_NAMES
from agentforge.tools.bridge import TOOLS
from tests.whole.checkouts import PINNED, Done, Person, differences, git, make_repository, photograph
from tests.whole.full_plays import (
    OPEN,
    READER,
    SECURITY,
    ambiguity,
    analyze,
    answer,
    approves,
    clarify,
    entered,
    events,
    evidence,
    final,
    intake,
    newest,
    open_points,
    spec,
    start,
    steps,
    waits,
)
from tests.whole.plays import (
    BUILT,
    FRAMED,
    NEW_TEST,
    SOURCE,
    TEST,
    Expected,
    Play,
    ask,
    asked,
    create,
    finished,
    green,
    read,
    red,
    say,
)

DEMO = Path(agentforge.catalog.__file__).parent / "demo"
REQUEST = 'Let parse understand fractions: "1/2 cup" is half a cup and "1 1/2 cups" is one and a half.'
FINALS = {
    "intake": ["intake_record"],
    "clarify": ["clarification"],
    "analyze": ["analysis"],
    "spec": ["security_review", "specification"],
    "red": ["test_suite"],
    "green": ["implementation"],
    "refactor": ["implementation", "review", "security_review"],
    "deliver": ["delivery_report"],
}
ROLES = {
    "intake": "requirements_analyst",
    "clarify": "business_analyst",
    "analyze": "software_architect",
    "spec": "software_architect",
    "red": "test_engineer",
    "green": "software_developer",
    "refactor": "senior_developer",
    "deliver": "devops_engineer",
}
READ_ONLY = "this task is read-only: its mode does not allow "
DISSENT = "reviewer blocked and was overruled: REV-001 (reviewer): `1 -1/2 cups` is read as half a cup."


@pytest.fixture
def pantry(tmp_path: Path, agentforge_home: Path) -> Person:
    """The sample of the demo, with packages that are at hand."""
    sample = DEMO / "sample"
    files = {
        path.relative_to(sample).as_posix(): path.read_text()
        for path in sample.rglob("*.*")
        if path.suffix in (".py", ".md", ".toml")
    }
    files["pyproject.toml"] = (
        f'[project]\nname = "pantry"\nversion = "0.3.0"\n\n[dependency-groups]\ntest = [{PINNED}]\n\n'
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'
    )
    return Person(make_repository(tmp_path / "checkout", files), DEMO / "full.yaml")


@pytest.mark.slow
def test_the_demo_request_goes_the_full_line_in_sixteen_calls_to_a_branch_that_proves_itself(
    pantry: Person, tmp_path: Path
) -> None:
    before = photograph(pantry.checkout)
    data = finished(
        pantry.run("start", REQUEST, "--lane", "full", "--model", f"scripted:{pantry.script}", "--json")
    )
    assert data["cost"]["calls"] == 16  # each mishap of the script costs one
    assert differences(before, photograph(pantry.checkout)) == []
    _finals_of_every_stage(pantry.checkout)
    _steps_name_their_roles(pantry.checkout)
    _evidence_of_panels(pantry.checkout)
    for words in ((), ("--rerun",)):
        verified = pantry.run("verify", data["task_id"], *words)
        assert verified.code == 0, verified.said
    git(tmp_path, "clone", "-q", "--branch", data["branch"], str(pantry.checkout), "clone")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "clone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 7 passed" in ran.stdout
    assert "test_one_cup_is_singular" in ran.stdout, "the one that has always failed"


def _finals_of_every_stage(top: Path) -> None:
    phases = newest(top) / "artifacts/phases"
    found = {
        place.name: sorted(path.name.removesuffix("_final.yaml") for path in place.glob("*_final.yaml"))
        for place in phases.iterdir()
    }
    assert found == FINALS


def _steps_name_their_roles(top: Path) -> None:
    agents = [(step["phase"], step["agent"]["role"], step["agent"]["mode"]) for step in steps(top)]
    assert len(agents) == 16
    readings = [(phase, role) for phase, role, mode in agents if mode == "review"]
    assert readings[:2] == [("spec", SECURITY)] * 2
    assert sorted(readings[2:4]) == [("refactor", READER), ("refactor", SECURITY)]
    assert readings[4:] == [("refactor", READER)], "the arbiter"
    assert all(role == ROLES[phase] for phase, role, mode in agents if mode != "review")


def _evidence_of_panels(top: Path) -> None:
    proof = evidence(top)
    assert (proof["lane"], proof["mode"], proof["risen"]) == ("full", "balanced", [])
    assert proof["skipped"] == {"deliver": "no_changelog"}
    panel = proof["panels"]["refactor"]
    assert panel["verdicts"] == {READER: "block", SECURITY: "approve"}
    assert panel["arbiter"] == "approve"
    assert [line.startswith(DISSENT) for line in panel["dissent"]] == [True]
    assert proof["panels"]["spec"]["verdicts"] == {SECURITY: "approve"}
    assert proof["reverted"] == ["refactor: 5 of 8 affected tests pass, 3 fail"]
    assert "coverage: not run: not configured" in proof["not_checked"]
    assert final(top, "refactor", "review")["dissent"] == panel["dissent"]
    assert "coverage" in final(top, "refactor", "implementation")["verification"]["not_configured"]
    report = final(top, "deliver", "delivery_report")
    assert report["dissent"] == [f"refactor: {line}" for line in panel["dissent"]]
    assert [
        (item["stage"], item["role"], item["verdict"])
        for item in report["reviews"]
        if item["stage"] == "spec"
    ] == [("spec", SECURITY, "approve")]
    points = "\n".join(open_points(top))
    for part in (
        "assumed: Should the sign ½",
        "(confidence 0.6)",
        "SEC-002",
        "undone: refactor",
        DISSENT,
        "coverage: not run: not configured",
    ):
        assert part in points, part
    (undone,) = [event for event in events(top) if event["type"] == "reverted"]
    assert undone["tree"] == next(
        event["tree"] for event in events(top) if event.get("stage") == "green" and "tree" in event
    )


@pytest.mark.slow
def test_a_clear_request_whose_change_is_easy_to_read_takes_eight_calls_in_the_full_lane(play: Play) -> None:
    play.person.write({"AGENTS.md": "# Rules\n\n- A test has one assertion.\n- Names are short.\n"})
    play.person.commit_all()
    asked_of_tests: tuple[Expected, ...] = ("A test has one assertion", {"not": "Names are short"})
    entries = [
        *(intake(), analyze(), spec(), approves("spec", SECURITY)),
        *(
            red(expects=asked_of_tests),
            green(expects=("Names are short", "Before the change, measured by the engine:\n- .*: failed")),
        ),
        approves("refactor", SECURITY, expects=("The whole change",)),
        approves("refactor", READER, expects=("The whole change", BUILT["implementation"]["summary"])),
    ]
    done = play.start(*entries, lane="full")
    data = finished(done)
    assert data["cost"]["calls"] == len(entries) == 8
    assert "conventions read: AGENTS.md" in done.said
    proof = evidence(play.top)
    assert proof["skipped"] == {
        "clarify": "no_ambiguities",
        "refactor": "nothing_worse",
        "deliver": "no_changelog",
    }
    report = final(play.top, "deliver", "delivery_report")
    assert FRAMED["specification"]["description"] in report["summary"]
    assert proof["panels"]["refactor"]["verdicts"] == {READER: "approve", SECURITY: "approve"}
    page = play.person.run("status", data["task_id"]).out
    assert "deliver   skipped (the project keeps no changelog), accepted" in page


@pytest.mark.slow
def test_a_design_asks_what_blocks_and_ends_with_a_specification_and_no_branch(play: Play) -> None:
    price, round_up = "What is the highest discount?", "Whole cents or parts of them?"
    before = photograph(play.top)
    sure = {
        **answer(price, "100, as the request says", 90),
        "evidence": [{"file": "request", "snippet": "take the discount off"}],
    }
    done = start(
        play,
        intake(
            ambiguity(OPEN, "blocking"),
            ambiguity(price, "significant", "limits"),
            ambiguity("Is it documented?", "minor", "words"),
        ),
        clarify(
            answer(OPEN, "Down, I guess", 60),
            sure,
            answer("Is it documented?", "No", 40),
            blocking=(round_up,),
        ),
        clarify(
            answer(OPEN, "Up", 30),
            sure,
            answer("Is it documented?", "No", 40),
            blocking=(round_up,),
            expects=("A person answered: Down, in whole cents", "rounded down"),
        ),
        analyze(expects=("Down, in whole cents",)),
        spec(),
        approves("spec", SECURITY),
        words=("--pipeline", "design"),
    )
    question = waits(done, "question")
    assert OPEN in question["question"]["text"]
    assert round_up in question["question"]["text"]
    assert question["id"] in play.person.run("escalations", "list").out
    page = play.person.run("escalations", "show", question["id"]).out
    assert OPEN in page
    data = finished(play.answer(done, "Down, in whole cents"))
    assert data["branch"] is None
    assert play.person.git("for-each-ref", "refs/heads/agentforge") == ""
    assert differences(before, photograph(play.top)) == []
    assert entered(play.top) == ["intake", "clarify", "analyze", "spec", "spec/security_architect"]
    clarified = final(play.top, "clarify", "clarification")
    people = {
        item["question"]: (item["answer"], item["source"])
        for item in clarified["questions"]
        if item.get("resolved_by")
    }
    assert people == dict.fromkeys((OPEN, round_up), ("Down, in whole cents", "human_escalation"))
    by_person = [item for item in clarified["questions"] if item.get("resolved_by")]
    assert [item["confidence"] for item in by_person] == ["1.0", "1.0"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", item["resolved_at"]) for item in by_person)
    assert "0.4" in [item["confidence"] for item in clarified["questions"]]
    assert final(play.top, "intake", "intake_record")["metadata"]["tokens_used"] > 0
    assert play.person.run("verify", data["task_id"]).code == 0
    assert clarified["assumptions"] == ["Is it documented?: No (confidence 0.4)"]
    assert clarified["blocking"] == []
    assert final(play.top, "spec", "specification")["title"] == "net takes the discount off"


# ------------------------------------------------------------------ modes


def _steps_of(top: Path) -> dict[str, int]:
    (created,) = [event["spec"] for event in events(top) if event["type"] == "task_created"]
    return {stage["name"]: stage.get("max_steps", 12) for stage in created["pipeline"]["stages"]}


@pytest.mark.parametrize(("mode", "intake_steps", "spec_steps"), [("fast", 2, 4), ("heavy", 8, 16)])
def test_a_mode_scales_the_steps_of_every_stage(
    play: Play, mode: str, intake_steps: int, spec_steps: int
) -> None:
    done = start(play, ask("intake"), words=("--pipeline", "design", "--mode", mode))
    asked(done)
    found = _steps_of(play.top)
    assert (found["intake"], found["spec"]) == (intake_steps, spec_steps)
    assert done.data["mode"] == mode
    assert mode in play.person.run("status", done.data["task_id"]).out


@pytest.mark.slow
def test_in_the_modes_plan_and_audit_nothing_is_written_by_any_tool(play: Play) -> None:
    before = photograph(play.top)
    planned = start(
        play,
        intake(),
        say("analyze", create(NEW_TEST, TEST), read(SOURCE)),
        analyze(expects=(READ_ONLY + "create_file",)),
        spec(),
        approves("spec", SECURITY),
        words=("--mode", "plan"),
    )
    assert finished(planned)["branch"] is None
    assert entered(play.top)[-2:] == ["spec", "spec/security_architect"]
    assert "baseline_taken" not in {event["type"] for event in events(play.top)}, (
        "nothing is installed where nothing is run"
    )
    _is_as_it_was(play, planned)
    # After a write that failed, no later one of the same reply is tried: so one of them in each.
    runs: list[dict[str, Any]] = [{"name": name, "args": {}} for name in _tools("execute")]
    tried: list[dict[str, Any]] = [{"name": name, "args": {"path": SOURCE}} for name in _tools("write")]
    told: list[tuple[str, ...]] = [(READ_ONLY + str(action["name"]),) for action in tried]
    audited = start(
        play,
        say("analyze", *runs, tried[0]),
        say("analyze", tried[1], expects=(*told[0], *(READ_ONLY + str(action["name"]) for action in runs))),
        *(say("analyze", action, expects=seen) for action, seen in zip(tried[2:], told[1:], strict=False)),
        analyze(expects=told[-1]),
        words=("--mode", "audit"),
    )
    assert finished(audited)["branch"] is None
    assert set(entered(play.top)) == {"entry", "analyze"}
    assert final(play.top, "intake", "intake_record")["derived"] is True
    assert SOURCE in str(final(play.top, "analyze", "analysis")["impacted_files"])
    _is_as_it_was(play, audited)
    assert play.person.git("for-each-ref", "refs/heads/agentforge") == ""
    assert differences(before, photograph(play.top)) == []
    forced = start(play, words=("--mode", "plan", "--pipeline", "implement", "--lane", "full"))
    assert forced.code == 2, forced.said
    assert "The mode plan changes nothing, and the stage red of the pipeline implement does." in forced.err


def _tools(effect: str) -> list[str]:
    return [name for name, tool in TOOLS.items() if tool.spec.effect == effect]


def _is_as_it_was(play: Play, done: Done) -> None:
    worktree = play.person.worktree(done.data["task_id"])
    files = set(play.person.git("ls-files").splitlines())
    found = {path.relative_to(worktree) for path in worktree.rglob("*") if path.is_file()}
    assert {path.as_posix() for path in found if path.parts[0] != ".git"} == files
    assert all((worktree / name).read_bytes() == (play.top / name).read_bytes() for name in files)


def test_a_mode_for_this_machine_asks_no_other_and_an_unknown_mode_is_named(play: Play) -> None:
    play.person.variables |= {"OPENAI_BASE_URL": "http://models.example.invalid/v1", "OPENAI_API_KEY": "none"}
    words = ("--lane", "full", "--json", "--mode")
    afar = play.person.run("start", "x", "--model", "openai:any", *words, "offline-safe")
    assert afar.code == 4, afar.said
    assert "on this machine" in afar.err
    unknown = play.person.run("start", "x", "--model", "openai:any", *words, "reckless")
    assert unknown.code == 2, unknown.said
    assert all(name in unknown.err for name in MODE_NAMES), unknown.err
    assert not (play.top / ".agentforge").exists()
