"""`setup`: a person at a terminal, a program without one, and every way in which a provider says no."""

import os
import pty
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agentforge.app.setup.own_config import template, with_model
from agentforge.core.reply import Json
from agentforge.testing import AnthropicServer, OpenAIServer, WireServer
from tests import forked
from tests.rows import every
from tests.surfaces.scene import COMMAND, Scene, make_scene

KEY, WRONG = "a-right-key-of-9-parts", "a-wrong-key-of-9-parts"
MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "text-embedding-1")


def ready(_: Mapping[str, Json]) -> dict[str, Json]:
    """The reply of a model that works."""
    return {"actions": [{"name": "ready", "args": {"word": "ready"}}], "summary": "Ready."}


def talk(scene: Scene, words: Sequence[str], *answers: tuple[str, str]) -> tuple[int, str]:
    """The command in a terminal; each answer is typed when its question stands in the last line."""
    terminal, theirs = pty.openpty()
    no_keychain = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    command = forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env={**scene.environ, **no_keychain, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said, owed = b"", list(answers)
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        said += piece
        if owed and owed[0][0] in said.rpartition(b"\n")[2].decode():
            os.write(terminal, owed.pop(0)[1].encode() + b"\n")
            said += b"\n"
    os.close(terminal)
    code = command.wait()
    text = said.decode().replace("\r\n", "\n")
    assert not owed, text
    return code, text


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = make_scene(tmp_path, {"README.md": "A project.\n"})
    keyless = {name: value for name, value in made.environ.items() if not name.endswith("_API_KEY")}
    own = {
        # Nothing of the machine that tests run on counts: no server, no other agent.
        "OLLAMA_HOST": "127.0.0.1:9",
        "LMSTUDIO_BASE_URL": "http://127.0.0.1:9/v1",
        "VLLM_BASE_URL": "http://127.0.0.1:9/v1",
        "LLAMACPP_BASE_URL": "http://127.0.0.1:9/v1",
    }
    return Scene(made.top, keyless | own)


def at(scene: Scene, server: WireServer, **more: str) -> Scene:
    """The scene with this server in the place of its provider."""
    variable = "ANTHROPIC_BASE_URL" if isinstance(server, AnthropicServer) else "OPENAI_BASE_URL"
    return Scene(scene.top, {**scene.environ, variable: server.base_url, **more})


def config(scene: Scene) -> Path:
    return Path(scene.environ["AGENTFORGE_HOME"]) / "config.yaml"


@pytest.mark.slow
def test_a_person_types_a_wrong_key_a_right_one_a_wrong_model_and_a_right_one(scene: Scene) -> None:
    with AnthropicServer(ready, models=MODELS, key=KEY) as server:
        priced = {"AGENTFORGE_PRICE_INPUT": "2", "AGENTFORGE_PRICE_OUTPUT": "10"}
        code, said = talk(
            at(scene, server, **priced),
            ["setup"],
            ("Provider [anthropic]", ""),
            ("(not shown)", WRONG),
            ("(not shown)", KEY),
            ("by number or name [claude-sonnet-5-5]", "claude-opus"),
            ("by number or name [claude-sonnet-5-5]", "2"),
        )
    assert code == 0, said
    assert "No key and no model server was found." in said
    assert "does not take the key (401)" in said
    assert "anthropic has no model claude-opus. Its models, nearest first: claude-opus-5-5," in said
    assert "embedding" not in said
    assert "ok      anthropic:claude-opus-5-5: replies by calls" in said
    assert f"Written: {config(scene)}." in said
    costs = {
        line.split()[0]: line.split()[2] for line in said.splitlines() if "$" in line and "ok" not in line
    }
    assert set(costs) == {"hotfix", "small", "full"}
    assert WRONG not in said
    assert KEY not in said
    assert "\nmodel: anthropic:claude-opus-5-5\n" in config(scene).read_text()
    assert KEY not in config(scene).read_text()
    kept = config(scene).with_name("keys.yaml")
    assert KEY in kept.read_text()
    assert WRONG not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert f"The key for anthropic is in {kept}." in said
    assert len(server.requests) == 1


@pytest.mark.slow
def test_without_a_terminal_it_needs_flags_and_a_second_run_changes_nothing(scene: Scene) -> None:
    done = scene.run("setup")
    assert done.returncode == 2
    assert "`agentforge setup --yes`" in done.stderr
    done = scene.run("setup", "--yes")
    assert (done.returncode, "no model server" in done.stderr) == (2, True)
    config(scene).parent.mkdir(exist_ok=True)
    config(scene).write_text("# mine\nlimits: {calls: 50}  # few\n# the end", encoding="utf-8")
    config(scene).chmod(0o600)
    with AnthropicServer(ready, models=MODELS, key=KEY) as server:
        here = at(scene, server, ANTHROPIC_API_KEY=KEY)
        first, second = here.data("setup", "--yes"), here.data("setup", "--yes")
    assert (first["model"], first["written"], first["key_source"]) == (
        "anthropic:claude-sonnet-5-5",
        True,
        "environment",
    )
    assert (first["test"]["ok"], first["test"]["micro_usd"]) == (True, None)
    assert first["typical_cost"]["small"]["micro_usd"] is None
    assert (second["model"], second["written"]) == (first["model"], False)
    assert config(scene).read_text() == (
        "# mine\nlimits: {calls: 50}  # few\n# the end\nmodel: anthropic:claude-sonnet-5-5\n"
    )
    assert not config(scene).with_name("keys.yaml").exists()


@pytest.mark.slow
@every(
    ("words", "key", "code", "sentence"),
    [
        (["--yes"], WRONG, 2, "It is from ANTHROPIC_API_KEY."),
        (
            ["--model", "anthropic:claude-sonet-5"],
            KEY,
            2,
            "nearest first: claude-sonnet-5-5, claude-opus-5-5.",
        ),
        (["--provider", "anthropc"], KEY, 2, "'anthropc' is not a provider."),
        (["--model", "claude-sonnet-5-5"], KEY, 2, "`--model PROVIDER:NAME`, or add `--provider PROVIDER`."),
        (["--provider", "anthropic", "--model", "claude-opus-5-5"], KEY, 0, ""),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], key: str, code: int, sentence: str
) -> None:
    scene = make_scene(tmp_path_factory.mktemp("wrong"), {"README.md": "A project.\n"})
    with AnthropicServer(ready, models=MODELS, key=KEY) as server:
        done = at(scene, server, ANTHROPIC_API_KEY=key).run("setup", *words, "--no-test")
    assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr
    assert config(scene).exists() == (code == 0)


@pytest.mark.slow
def test_without_a_network_nothing_is_written_unless_the_test_is_left_out(scene: Scene) -> None:
    away = Scene(
        scene.top, {**scene.environ, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": KEY}
    )
    done = away.run("setup", "--model", "openai:NAME")
    assert (done.returncode, "Nothing answers at 127.0.0.1:9" in done.stdout) == (1, True), done.stderr
    assert f"{config(scene)} was not changed." in done.stderr
    assert away.run("setup", "--model", "openai:NAME", "--no-test").returncode == 0
    assert "model: openai:NAME\n" in config(scene).read_text()


@pytest.mark.slow
def test_a_server_on_this_machine_needs_no_key_and_its_models_are_listed(scene: Scene) -> None:
    with OpenAIServer(ready, models=("qwen2.5-coder:7b", "llama3.2:1b")) as server:
        address = {"OLLAMA_HOST": server.base_url.removesuffix("/v1")}
        found = Scene(scene.top, {**scene.environ, **address}).data("setup", "--yes")
    assert found["model"] == "ollama:qwen2.5-coder:7b"
    assert found["typical_cost"]["full"]["micro_usd"] == 0


@every(
    ("before", "after"),
    [
        ("model: a:b\n", "model: c:d\n"),
        ("model: a:b  # mine\nlimits: {calls: 5}\n", "model: c:d  # mine\nlimits: {calls: 5}\n"),
        ("# model: openai:NAME\n\nsandbox: auto\n", "# model: openai:NAME\nmodel: c:d\n\nsandbox: auto\n"),
        ("sandbox: auto", "sandbox: auto\nmodel: c:d\n"),
        ("tiers:\n  reasoning: [a:b]\n", "tiers:\n  reasoning: [a:b]\nmodel: c:d\n"),
        (None, template().replace("# model: anthropic:NAME", "model: c:d")),
    ],
)
def test_only_the_line_of_the_model_changes(before: str | None, after: str) -> None:
    assert with_model(before, "c:d") == after
