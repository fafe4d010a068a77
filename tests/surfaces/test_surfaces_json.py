"""`--json`: every command that has it has a schema, and prints what that says; so do errors."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, COMMAND, QUESTION, TEST, make_scene
from tests.surfaces.shapes import ELSEWHERE, OF_A_FINISHED_TASK, SCHEMAS, conform, with_data, without_data


def test_every_command_with_data_has_a_schema_and_is_held_to_it() -> None:
    named = {path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json")}
    tried = {command for command, _, _ in OF_A_FINISHED_TASK} - {"error"} | ELSEWHERE
    assert tried == with_data()
    assert named == {command.replace(" ", "-") for command in with_data()} | {"error"}


def test_every_command_without_data_is_named_with_the_reason() -> None:
    page = (SCHEMAS / "README.md").read_text(encoding="utf-8").partition("## Commands without")[2]
    named = dict(re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", page, re.MULTILINE))
    assert set(named) == without_data()


@pytest.mark.slow
def test_a_task_that_asks_is_answered_and_aborted_prints_what_the_schemas_say(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})
    model = scene.script(("intake", QUESTION), ("intake", QUESTION))
    for command in ("design", "start"):
        asked = scene.run(command, "Greet the world", "--pipeline", "design", "--model", model, "--json")
        if command == "design":
            assert conform("error", asked.stdout)["error"]["code"] == "usage"
            asked = scene.run(command, "Greet the world", "--model", model, "--json")
        assert asked.returncode == 3, asked.stderr
        assert conform(command, asked.stdout)["escalation"]["question"]["options"] == ["world", "nobody"]
    answered = scene.run("resolve", "ESC-001", "--task", "@1", "--answer", "world", "--no-drive", "--json")
    assert conform("resolve", answered.stdout)["escalation"] is None
    ended = scene.run("abort", "@1", "--json")
    assert conform("abort", ended.stdout)["status"] == "cancelled"
    again = conform("error", scene.run("abort", "@1", "--json").stdout)["error"]
    assert again["code"] == "usage"


@pytest.mark.slow
def test_login_is_told_as_data_and_never_says_the_key(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    done = subprocess.run(
        [COMMAND, "auth", "login", "openai", "--from-stdin", "--file", "--json"],
        cwd=scene.top,
        env=dict(scene.environ),
        input="sk-1234567890abcdefghijklmnop",
        capture_output=True,
        text=True,
        check=True,
    )
    assert conform("auth login", done.stdout)["provider"] == "openai"
    assert "abcdefghijklmnop" not in done.stdout


def test_an_error_is_one_document_on_the_output_and_a_sentence_on_the_error_stream(
    tmp_path: Path,
) -> None:
    scene = make_scene(tmp_path)
    done = scene.run("start", "Greet", "--json")
    told = conform("error", done.stdout)["error"]
    assert done.stderr.startswith(f"error: {told['message']}\n")
    assert told["next"] in done.stderr
    words = scene.run("permissions", "explain", "--mode", "nonsense", "--", "x", "--json")
    assert (words.returncode, words.stdout) == (2, "")  # the word is the command's
    assert json.loads(scene.run("--json", "status").stdout)["error"]["code"] == "usage"
