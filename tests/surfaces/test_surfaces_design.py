"""Pipelines that change no file, through the installed command; and a question on the way."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.scene import CODE, PATCH, QUESTION, SPECIFICATION, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

INTAKE = {
    "artifacts": {"intake_record": PATCH["artifacts"]["intake_record"]},  # type: ignore[index]  # a literal of this shape
    "signal": "success",
    "summary": "Taken apart.",
}
ANALYSIS = {
    "artifacts": {
        "analysis": {
            "impacted_files": [{"path": "greeting.py", "reason": "greet is there"}],
            "constraints": ["keep the signature"],
            "risks": ["callers that pass an empty name"],
        }
    },
    "signal": "success",
    "summary": "One file.",
}
BOUNDED = {
    "artifacts": {"specification": {**SPECIFICATION, "description": "Names are bounded."}},
    "signal": "success",
    "summary": "Specified.",
}
SPEC = {"artifacts": {"specification": SPECIFICATION}, "signal": "success", "summary": "Specified."}
BOUNDED = {
    **SPEC,
    "artifacts": {"specification": {**SPECIFICATION, "constraints": [{"description": "names are bounded"}]}},
}
FINDING = {
    "id": "SEC-001",
    "description": "names are not bounded",
    "severity": "high",
    "remediation": "bound them",
}


def security(verdict: str, *blocking: dict[str, str]) -> dict[str, Any]:
    review = {
        "verdict": verdict,
        "blocking_issues": [*blocking],
        "advisory_issues": [],
        "summary": "Read for security.",
    }
    return {"artifacts": {"security_review": review}, "signal": "success", "summary": f"I {verdict}."}


@dataclass(frozen=True, slots=True)
class Story:
    scene: Scene
    done: subprocess.CompletedProcess[str]


def script(scene: Scene, *replies: tuple[str, str, dict[str, Any]]) -> str:
    """A model that says this; the middle word is a seat of the stage's panel, or empty."""
    path = scene.top.parent / "script.yaml"
    spoken = [
        {"stage": stage, **({"role": role} if role else {}), "reply": reply} for stage, role, reply in replies
    ]
    path.write_text(json.dumps({"replies": spoken}), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> Story:
    scene = make_scene(
        tmp_path_factory.mktemp("design"), {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    )
    model = script(
        scene,
        ("intake", "", INTAKE),
        ("analyze", "", ANALYSIS),
        ("spec", "", SPEC),
        ("spec", "security_architect", security("block", FINDING)),
        ("spec", "", BOUNDED),
        ("spec", "security_architect", security("approve")),
    )
    return Story(scene, scene.run("start", "Design how greet answers an empty name", "--model", model))


def test_start_says_what_it_inferred_and_why(designed: Story) -> None:
    assert "pipeline design, lane full, mode balanced (it begins with “design”)" in designed.done.stdout


def test_the_way_of_a_design_is_told_stage_by_stage(designed: Story) -> None:
    lines = designed.done.stdout.splitlines()
    for line in (
        "stage clarify skipped: the request leaves nothing open; its gates still apply",
        "  security_architect reads spec",
        "  security_architect has submitted a review",
        "  gate review blocks",
        "the work goes back to stage spec: revision 1 of at most 3",
        "  gate review passed: approved by security_architect",
        "delivered: pipeline design changed no file",
    ):
        assert line in lines, line


def test_a_design_prints_its_specification_and_where_it_is(designed: Story) -> None:
    said, scene = designed.done.stdout, designed.scene
    assert designed.done.returncode == 0, said + designed.done.stderr
    place = f".agentforge/tasks/{scene.task}/artifacts/phases/spec/specification_final.yaml"
    assert (
        "result    specification: greet the world\n            REQ-001 An empty name greets the world\n"
        in said
    )
    assert f"  file      {place}\n" in said
    assert (scene.top / place).is_file()
    assert "review    panel on spec: security_architect approve" in said
    assert f"agentforge continue {scene.task} --extend-to deliver" in said
    assert scene.git("branch", "--list", "agentforge/*") == ""


def test_diff_and_verify_of_a_design_say_that_it_changes_nothing(designed: Story) -> None:
    scene = designed.scene
    diff = scene.run("diff")
    assert (diff.returncode, diff.stdout) == (0, "")
    assert "runs the pipeline design, which changes no file" in diff.stderr
    verify = scene.run("verify", scene.task)
    assert verify.returncode == 0, verify.stdout
    assert "which changes no file: it has no branch" in verify.stdout
    assert "the proof holds" not in verify.stdout
    assert scene.data("verify", scene.task)["changes_nothing"] is True


def test_status_and_inspect_name_lane_mode_skipped_stages_and_readers(designed: Story) -> None:
    scene = designed.scene
    assert [row["pipeline"]["lane"] for row in scene.data("status")] == ["full"]
    assert "COMPLETED ✓" in scene.run("status").stdout
    page = scene.run("status", scene.task).stdout
    assert "pipeline  design, lane full, mode balanced" in page
    assert "clarify   skipped (the request leaves nothing open), accepted: clarification" in page
    view = scene.data("status", scene.task)["pipeline"]
    assert (view["mode"], view["skipped"]) == (
        "balanced",
        [{"stage": "clarify", "reason": "no_ambiguities"}],
    )
    steps = scene.data("inspect", scene.task)
    assert [step["seat"] for step in steps] == [
        None,
        None,
        None,
        "security_architect",
        None,
        "security_architect",
    ]


def test_an_audit_prints_what_it_found_and_has_no_branch(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})
    model = script(scene, ("analyze", "", ANALYSIS))
    done = scene.run("start", "What does greet touch?", "--mode", "audit", "--model", model)
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "pipeline review, lane full, mode audit",
        "greeting.py: greet is there",
        "risk: callers that pass an empty name",
    ):
        assert part in done.stdout, part
    assert scene.git("branch", "--list", "agentforge/*") == ""


def test_design_and_implement_choose_the_pipeline_whatever_the_words(
    tmp_path: Path, environments: Path
) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})
    model = scene.script()
    assert scene.data("design", "Add a flag", "--model", model)["pipeline"] == "design"
    built = scene.data("implement", "Design a flag", "--lane", "hotfix", "--mode", "fast", "--model", model)
    assert (built["pipeline"], built["lane"], built["mode"]) == ("implement", "hotfix", "fast")
    refused = scene.run("design", "Add a flag", "--lane", "small", "--model", model)
    assert refused.returncode == 2
    assert "has no lane small" in refused.stderr
    refused = scene.run("start", "Add a flag", "--pipeline", "nowhere", "--model", model)
    assert refused.returncode == 2
    assert "nowhere" in refused.stderr


def test_a_question_is_shown_by_its_id_alone_also_when_it_is_answered(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})
    model = scene.script(("intake", QUESTION))
    assert scene.run("design", "One", "--model", model).returncode == 3
    shown = scene.run("escalations", "show", "esc-001").stdout
    for part in (
        "Question\n  Who is greeted",
        "Plan so far: design, lane full",
        "What was tried",
        "Branch so far\n  none yet",
        "--abort",
    ):
        assert part in shown, part
    first = scene.task
    assert scene.run("resolve", "ESC-001", "--abort").returncode == 0
    assert "Answer\n  abort (by " in scene.run("escalations", "show", "ESC-001").stdout
    assert scene.run("design", "Two", "--model", model).returncode == 3
    waiting = scene.data("escalations", "show", "ESC-001")
    assert waiting["task_id"] != first
    assert [item["progress"] for item in waiting["plan"]] == ["under_way", "left", "left", "left"]
    assert len(scene.data("escalations", "list")) == 1
    assert len(scene.data("escalations", "list", "--all")) == 2
    assert scene.run("escalations", "show", "ESC-001", "--task", first).returncode == 0
