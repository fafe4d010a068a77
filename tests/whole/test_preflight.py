"""Before anything is spent: a language that can be proved, a model that exists, a key that is taken; and the
model of a task can be changed, on record.
"""

import json
import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.testing import AnthropicServer, Fault, OpenAIServer, Response, Scripted
from tests.rows import every
from tests.surfaces.scene import CODE, COMMAND, QUESTION, TEST, Scene, make_scene

KEY = "a-right-key-of-9-parts"
FILES = {"greeting.py": CODE, "test_greeting.py": TEST}
START = ("start", "Greet the world", "--mode", "plan")
"""Asks a model and builds no environment."""


def with_variables(scene: Scene, **more: str) -> Scene:
    return replace(scene, environ={**scene.environ, **more})


def asks_a_person(_: Mapping[str, Json]) -> Scripted:
    return Fault(reply=QUESTION)


def no_tasks(scene: Scene) -> bool:
    return not (scene.top / ".agentforge").exists()


def test_a_repository_in_another_language_is_refused_before_anything_and_may_still_be_read(
    tmp_path: Path,
) -> None:
    scene = make_scene(tmp_path, {"src/main.c": "int a = 1;\n", "run.sh": "true\n"})
    model = scene.script(("audit", QUESTION))
    done = scene.run("start", "Add a flag", "--model", model)
    assert done.returncode == 2
    assert "has neither; its code is in .c files." in done.stderr
    assert "Declare under `generic:`" in done.stderr
    assert no_tasks(scene)
    assert scene.run("start", "What is a?", "--mode", "audit", "--model", model).returncode != 2


def test_scripts_of_the_shell_with_tests_of_their_own_are_declared_before_anything_is_spent(
    tmp_path: Path,
) -> None:
    scripts = {"lib.sh": "true\n", "tests/lib.sh": "true\n", "README.md": "# Scripts\n"}
    scene = make_scene(tmp_path / "tested", {**scripts, "Makefile": "all:\n\ntest:\n\tsh tests/lib.sh\n"})
    done = scene.run("start", "Add a flag", "--model", scene.script())
    assert done.returncode == 2
    assert "its code is in .sh files. It looks like make test, by Makefile." in done.stderr
    assert no_tasks(scene)
    scene = make_scene(tmp_path / "untested", scripts)
    done = scene.run("start", "Say in the README what this is", "--model", scene.script())
    assert "its code is in" not in done.stderr


@every(
    ("key", "model", "sentences"),
    [
        (
            "a-wrong-key-of-9-parts",
            "small-1",
            ("does not take the key (401)", "`agentforge auth login openai`"),
        ),
        (KEY, "smal-1", ("openai has no model smal-1.", "nearest first: small-1, large-2, other.")),
    ],
)
def test_a_wrong_key_or_name_ends_with_2_before_a_task_is_made(
    tmp_path_factory: pytest.TempPathFactory, key: str, model: str, sentences: tuple[str, ...]
) -> None:
    with OpenAIServer((), models=("large-2", "other", "small-1"), key=KEY) as server:
        scene = make_scene(tmp_path_factory.mktemp("wrong"), FILES)
        scene = with_variables(scene, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=key)
        done = scene.run(*START, "--model", f"openai:{model}")
    assert done.returncode == 2, done.stderr
    assert all(sentence in done.stderr for sentence in sentences), done.stderr
    assert no_tasks(scene)
    assert server.requests == []


def test_a_name_that_is_no_entry_of_the_list_and_yet_known_is_taken(tmp_path: Path) -> None:
    def alias(exchange: object) -> Response | None:
        known = getattr(exchange, "path", "").endswith("/models/claude-latest")
        return Response(200, b'{"id": "claude-latest"}') if known else None

    with AnthropicServer(asks_a_person, models=("claude-2030",), routes=(alias,)) as server:
        scene = with_variables(
            make_scene(tmp_path, FILES), ANTHROPIC_BASE_URL=server.base_url, ANTHROPIC_API_KEY=KEY
        )
        done = scene.run(*START, "--model", "anthropic:claude-latest")
    assert (done.returncode, len(server.requests)) == (3, 1), done.stderr


@every(
    ("fault", "code", "sentence", "calls"),
    [
        (Fault(status=404, message="model nope does not exist"), 2, "openai has no model nope.", 1),
        (Fault(status=401, message="no"), 2, "`agentforge auth login openai`", 1),
        (Fault(status=500, message="ill"), 3, "was tried with one small call", 4),
    ],
)
def test_without_a_list_one_small_call_finds_out(
    tmp_path_factory: pytest.TempPathFactory, fault: Fault, code: int, sentence: str, calls: int
) -> None:
    with OpenAIServer(lambda _: fault, listing=Fault(status=404)) as server:
        scene = make_scene(tmp_path_factory.mktemp("listless"), FILES)
        scene = with_variables(scene, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY)
        done = scene.run(*START, "--model", "openai:nope")
    assert (done.returncode, len(server.requests)) == (code, calls), done.stderr
    assert sentence in done.stdout + done.stderr
    assert no_tasks(scene) == (code == 2)


def test_a_key_alone_is_enough_and_the_first_of_several_counts_and_is_said(tmp_path: Path) -> None:
    with AnthropicServer(asks_a_person, models=("claude-sonnet-5-5",)) as server:
        scene = with_variables(
            make_scene(tmp_path, FILES),
            ANTHROPIC_BASE_URL=server.base_url,
            ANTHROPIC_API_KEY=KEY,
            OPENAI_API_KEY=KEY,
            MISTRAL_API_KEY="",
        )
        done = scene.run(*START)
    assert done.returncode == 3, done.stderr
    said = "anthropic:claude-sonnet-5-5 is used because of ANTHROPIC_API_KEY (OPENAI_API_KEY would be next)."
    assert said in done.stdout
    assert server.requests[0].key == KEY
    assert '"estimated_cost_usd": null' in scene.run("status", scene.task, "--json").stdout
    assert "not known" in scene.run("status", scene.task).stdout


def test_a_provider_that_is_away_blocks_nothing_and_is_named(tmp_path: Path) -> None:
    scene = with_variables(
        make_scene(tmp_path, FILES), OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY=KEY
    )
    done = scene.run(*START, "--model", "openai:any", AGENTFORGE_MODEL_TIMEOUT_S="5")
    assert done.returncode == 3, done.stderr
    assert (
        "openai could not be checked: nothing answers at 127.0.0.1:9. The first call will tell."
        in done.stdout
    )


def test_the_model_of_a_task_is_changed_on_record_and_a_retry_that_cannot_help_is_not_recommended(
    tmp_path: Path,
) -> None:
    def by_model(body: Mapping[str, Json]) -> Scripted:
        unknown = Fault(status=404, message="model bad does not exist")
        return Fault(reply=QUESTION) if body["model"] == "good" else unknown

    with OpenAIServer(by_model, models=("bad", "good")) as server:
        scene = with_variables(
            make_scene(tmp_path, FILES), OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY
        )
        done = asked_for = scene.run(*START, "--model", "openai:bad", "--json")
        asked = json.loads(done.stdout)["escalation"]
        assert (done.returncode, asked["kind"]) == (3, "model")
        assert "continue --model" in asked["question"]["recommendation"]
        done = scene.run("continue", "--model", "openai:goood")
        assert (done.returncode, "nearest first: good, bad." in done.stderr) == (2, True)
        as_printed = shlex.split(json.loads(asked_for.stdout)["next"][0])[1:]
        done = scene.run(*as_printed)
        assert (done.returncode, "PROVIDER" in done.stderr) == (2, True), "what is to be filled in is named"
        filled = [word.replace("PROVIDER:NAME", "openai:good") for word in as_printed]
        done = scene.run(*filled, "--json")
        assert (done.returncode, json.loads(done.stdout)["escalation"]["kind"]) == (3, "question"), (
            done.stderr
        )
        assert "the model is now openai:good, named by" in done.stderr
        done = scene.run("resolve", "ESC-002", "--model", "openai:bad")
        assert (done.returncode, "give --answer TEXT, too" in done.stderr) == (2, True)
        done = scene.run("resolve", "ESC-002", "--answer", "world", "--model", "openai:bad", "--json")
        assert json.loads(done.stdout)["escalation"]["kind"] == "model"
    assert [request.body["model"] for request in server.requests] == ["bad", "good", "bad"]
    assert "openai:bad" in scene.run("status", scene.task).stdout


HANGS = """\
import sys, time

class Hangs:
    def find_spec(self, name, path=None, target=None):
        if name == "pydantic_ai.direct":
            time.sleep(600)

sys.meta_path.insert(0, Hangs())
"""


def test_a_call_that_dies_while_its_library_is_loaded_was_never_sent(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(HANGS, encoding="utf-8")
    with OpenAIServer(asks_a_person) as server:
        scene = with_variables(
            make_scene(tmp_path, FILES), OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY
        )
        hooked = {**scene.environ, "PYTHONPATH": str(tmp_path / "hooks")}
        words = [COMMAND, *START, "--model", "openai:any"]
        with subprocess.Popen(words, cwd=scene.top, env=hooked, stdout=subprocess.DEVNULL) as running:
            journals = (scene.top / ".agentforge/tasks").glob
            for _ in range(1200):
                if any(b"context_assembled" in path.read_bytes() for path in journals("*/actions.yaml")):
                    break
                assert running.poll() is None
                time.sleep(0.05)
            time.sleep(0.5)
            running.kill()
        done = scene.run("continue", "--json")
    cost = json.loads(done.stdout)["cost"]
    assert (cost["calls"], cost["unaccounted"]["calls"]) == (1, 0), done.stderr
