"""A question that nobody answers in time: shown, and answered by the next command that drives the task."""

import time
from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, QUESTION, Scene, make_scene


def with_rule(tmp_path: Path, rule: str) -> tuple[Scene, str]:
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    home = Path(scene.environ["AGENTFORGE_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(f"questions: {rule}\n", encoding="utf-8")
    (home / "config.yaml").chmod(0o600)
    model = scene.script(*[("intake", QUESTION)] * 2)
    done = scene.run("design", "Greet the world", "--model", model)
    assert done.returncode == 3, done.stderr
    return scene, scene.task


@pytest.mark.slow
def test_the_next_command_takes_the_recommended_answer_and_says_who_gave_it(tmp_path: Path) -> None:
    scene, _ = with_rule(tmp_path, "{timeout: 2s, then: recommended}")
    (record,) = scene.data("inbox")
    assert record["unless_answered"] == "world"
    assert record["expires_at"] > record["opened_at"]
    assert "the answer is world" in scene.run("escalations", "show", "ESC-001").stdout
    time.sleep(2.1)
    done = scene.run("continue")
    assert done.returncode == 3, done.stderr  # it went on, and asks once more
    first, second = scene.data("escalations", "list", "--all")
    assert (first["answer"], first["answered_by"]) == ("world", "the timeout")
    assert (second["id"], second["status"]) == ("ESC-002", "open")
    late = scene.run("resolve", "ESC-001", "--answer", "nobody")
    assert late.returncode == 2
    assert "ESC-001 was already answered by the timeout: 'world'" in late.stderr


@pytest.mark.slow
def test_a_pipeline_has_its_own_rule_and_without_one_a_question_waits(tmp_path: Path) -> None:
    scene, task = with_rule(tmp_path, "{timeout: 90d, pipelines: {design: {timeout: 1s, then: abort}}}")
    time.sleep(1.1)
    done = scene.run("continue", task)
    assert done.returncode == 1, done.stderr
    assert scene.data("status", task)["status"]["stored"] == "cancelled"


def test_a_rule_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="questions"):
        with_rule(tmp_path, "{timeout: soon}")


@pytest.mark.slow
def test_a_task_that_limps_pauses_and_goes_on_when_a_person_says_so(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    spoiled = [{"actions": [{"name": f"no_such_tool_{number}", "args": {}}]} for number in range(40)]
    taken_in = {
        "artifacts": {
            "intake_record": {
                "extracted_intent": {"action": "modify", "target": "greet", "scope": "file"},
                "identified_ambiguities": [],
            }
        },
        "signal": "success",
    }
    model = scene.script(
        *(("intake", reply) for reply in spoiled[:5]),
        ("intake", taken_in),
        *(("analyze", reply) for reply in spoiled[5:]),
    )
    request = "greeting.py: greet of an empty name returns Hello world"
    done = scene.run("design", request, "--model", model)
    assert done.returncode == 3, done.stderr
    (asked,) = scene.data("escalations", "list")
    assert (asked["kind"], asked["options"]) == ("degraded", ["go on", "abort"]), asked
    assert "13 of the last 14 steps came to nothing" in asked["question"]
    done = scene.run("resolve", "ESC-001", "--option", "1")
    assert done.returncode == 3, done.stderr
    assert scene.data("escalations", "list")[0]["kind"] == "exhausted"  # the bounds of the stage still hold
