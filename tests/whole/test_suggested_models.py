"""A project may suggest a model of a provider that the user has; a person agrees once, before anything is sent."""

import json
import os
import pty
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.testing import SERVERS, Fault, Scripted
from tests import forked
from tests.surfaces.scene import Scene, make_scene

SETTINGS = ".agentforge/config/settings.yaml"
START = ("start", "Say what a.txt is for", "--mode", "audit", "--json")


class Asked:
    """A server of models that turns everybody away, and counts."""

    def __init__(self) -> None:
        self.requests = 0

    def __call__(self, _: Mapping[str, Json]) -> Scripted:
        self.requests += 1
        return Fault(status=401, message="no")


@pytest.fixture
def server() -> Iterator[tuple[Asked, str]]:
    asked = Asked()
    with SERVERS["openai"](asked, key="any", models=("dear", "dearer", "mine")) as running:
        yield asked, running.base_url


def scene_with(tmp_path: Path, settings: str, address: str = "http://127.0.0.1:9/v1") -> Scene:
    made = make_scene(tmp_path, {"a.txt": "a\n", SETTINGS: settings})
    return replace(made, environ={**made.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "any"})


def test_a_suggested_model_is_asked_about_once_and_nothing_is_sent_before(
    tmp_path: Path, server: tuple[Asked, str]
) -> None:
    asked, address = server
    scene = scene_with(tmp_path, "model: openai:dear\n", address)
    done = scene.run(*START)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert "name the model openai:dear" in found["escalation"]["question"]["text"]
    assert "127.0.0.1" in found["escalation"]["question"]["text"]
    assert found["escalation"]["question"]["options"] == ["allow", "abort"]
    assert asked.requests == 0
    task, home = found["task_id"], Path(scene.environ["AGENTFORGE_HOME"])
    # neither `continue` nor a flag that allows commands is a yes
    done = scene.run("continue", task, "--yes", "--json")
    assert (done.returncode, asked.requests) == (3, 0)
    assert not (home / "consents.yaml").exists()

    waiting = json.loads(done.stdout)["escalation"]["id"]
    done = scene.run("resolve", waiting, "--task", task, "--answer", "allow", "--json")
    assert asked.requests == 1, done.stderr
    assert (home / "consents.yaml").stat().st_mode & 0o777 == 0o600
    scene.run(*START)
    assert asked.requests == 2  # not asked again
    (scene.top / SETTINGS).write_text("model: openai:dearer\n", encoding="utf-8")
    scene.git("commit", "-qam", "another model")
    assert "openai:dearer" in json.loads(scene.run(*START).stdout)["escalation"]["question"]["text"]
    assert asked.requests == 2


def test_who_names_a_model_is_not_asked_about_the_projects(tmp_path: Path, server: tuple[Asked, str]) -> None:
    asked, address = server
    scene = scene_with(tmp_path, "model: openai:dear\n", address)
    scene.run(*START, "--model", "openai:mine")
    assert asked.requests == 1
    home = Path(scene.environ["AGENTFORGE_HOME"])
    (home / "config.yaml").write_text("model: openai:mine\n", encoding="utf-8")
    (home / "config.yaml").chmod(0o600)
    scene.run(*START)
    assert asked.requests == 2


def test_a_record_that_came_with_a_repository_names_no_model_by_itself(
    tmp_path: Path, server: tuple[Asked, str]
) -> None:
    asked, address = server
    scene = scene_with(tmp_path, "", address)
    task = json.loads(scene.run(*START, "--model", "openai:mine").stdout)["task_id"]
    assert asked.requests == 1
    stranger = tmp_path / "stranger"
    stranger.mkdir(mode=0o700)
    theirs = replace(scene, environ={**scene.environ, "AGENTFORGE_HOME": str(stranger)})
    done = theirs.run("continue", task, "--json")
    assert (done.returncode, asked.requests) == (3, 1), done.stderr
    assert "openai:mine" in json.loads(done.stdout)["escalation"]["question"]["text"]


def test_a_person_at_a_terminal_is_asked_at_once(tmp_path: Path, server: tuple[Asked, str]) -> None:
    asked, address = server
    scene = scene_with(tmp_path, "model: openai:dear\n", address)
    terminal, theirs = pty.openpty()
    command = forked.ForkedCommand(
        [forked.COMMAND, *START[:-1]],
        cwd=scene.top,
        env={**scene.environ, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said, answered = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        said += piece
        if b"Your answer" in said and not answered:
            answered = True
            assert asked.requests == 0
            os.write(terminal, b"allow\n")
    os.close(terminal)
    command.wait()
    assert answered, said.decode()
    assert asked.requests == 1, said.decode()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "model: scripted:/tmp/x.yaml\n",
            "settings.yaml:1: model: 'scripted:/tmp/x.yaml' is a script; only you",
        ),
        ("a: 1\ntiers: {reasoning: ['scripted:x']}\n", "tiers.reasoning: 'scripted:x' is a script; only you"),
        (
            "providers: {openai: {base_url: 'http://evil'}}\n",
            "settings.yaml:1: providers: only your own settings can say this",
        ),
        (
            "\ntemporal: {address: 'evil:7233'}\n",
            "settings.yaml:2: temporal: only your own settings can say this",
        ),
        ("network: {allow: [evil]}\n", "settings.yaml:1: network: only your own settings can say this"),
        ("roots: [{path: /}]\n", "settings.yaml:1: roots: only your own settings can say this"),
        ("day_cap: {usd: 900}\n", "settings.yaml:1: day_cap: only your own settings can say this"),
        ("sandbox: none\n", "settings.yaml:1: sandbox: only your own settings can turn it off"),
        ("sandbox: {weak: allow}\n", "settings.yaml:1: sandbox: only your own settings can turn it off"),
        (
            "limits: {calls: 201}\n",
            "limits.calls: 201 is more than the 200 that a task may use; only your own settings can raise it",
        ),
        ("limits: {tokens: 4000001}\n", "limits.tokens: 4000001 is more than the 4000000"),
    ],
)
def test_what_is_the_users_alone_is_refused_by_name(tmp_path: Path, settings: str, said: str) -> None:
    scene = scene_with(tmp_path, settings)
    done = scene.run(*START)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (scene.top / ".agentforge/tasks").exists()


def test_a_cap_that_the_user_raised_is_the_users_and_a_lower_one_is_anybodys(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, "limits: {calls: 900}\n")
    scene = replace(scene, environ={**scene.environ, "OPENAI_API_KEY": ""})
    config = Path(scene.environ["AGENTFORGE_HOME"]) / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("limits: {calls: 300}\n", encoding="utf-8")
    config.chmod(0o600)
    assert "No model is configured" in scene.run(*START).stderr
