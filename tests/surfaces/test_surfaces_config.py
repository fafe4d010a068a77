"""`config` and `completion`, and the module that `python -m` runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rows import every
from tests.surfaces.scene import CODE, TEST, Scene, make_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, {"greeting.py": CODE, "test_greeting.py": TEST})


def edited(scene: Scene, text: str) -> tuple[int, str]:
    """`config edit` with an editor that writes this."""
    editor = scene.top.parent / "editor"
    editor.write_text(f"#!/bin/sh\ncat > \"$1\" <<'END'\n{text}\nEND\n")
    editor.chmod(0o755)
    environ = {**scene.environ, "EDITOR": str(editor), "VISUAL": str(editor)}
    done = Scene(scene.top, environ).run("config", "edit")
    return done.returncode, done.stdout + done.stderr


def test_a_persons_settings_are_named_shown_and_kept_only_if_they_are_valid(scene: Scene) -> None:
    path = scene.top.parent / "home" / "config.yaml"
    assert scene.run("config", "path").stdout == f"{path}\n"
    assert "does not exist yet" in scene.run("config", "show").stdout
    assert edited(scene, "model: openai:NAME\nlimits:\n  cost_usd: 2.50") == (0, f"Written: {path}.\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert scene.run("config", "show").stdout.startswith(f"# {path}\nmodel: openai:NAME\n")
    assert scene.data("config", "show")["settings"] == {
        "model": "openai:NAME",
        "limits": {"cost_usd": "2.50"},
    }
    before = path.read_bytes()
    code, said = edited(scene, "modle: openai:NAME")
    assert code != 0
    assert f"{path}:1: modle: unknown key; did you mean `model`?" in said
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir() if entry.name.startswith(".config")] == []


def test_an_editor_that_is_not_there_is_named_with_the_file_to_edit(scene: Scene) -> None:
    environ = {**scene.environ, "EDITOR": "/nowhere/editor", "VISUAL": "/nowhere/editor"}
    done = Scene(scene.top, environ).run("config", "edit")
    assert done.returncode == 2
    assert "config.yaml yourself" in done.stderr


@every("shell", ("bash", "zsh", "fish"))
def test_each_shell_gets_a_script_for_both_names_of_the_command(scene: Scene, shell: str) -> None:
    done = scene.run("completion", shell)
    assert done.returncode == 0, done.stderr
    assert "_agentforge_completion" in done.stdout
    assert "_forge_completion" in done.stdout


def test_a_shell_completes_the_names_of_tasks_and_is_told_no_error_outside_of_a_repository(
    scene: Scene,
) -> None:
    scene.run("start", "Greet the world", "--model", scene.script())
    asked = {**scene.environ, "_AGENTFORGE_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    words = {**asked, "COMP_WORDS": "agentforge diff task-"}
    assert Scene(scene.top, words).run().stdout == f"plain,{scene.task}\n"
    outside = Scene(scene.top.parent, words).run()
    assert (outside.stdout.strip(), outside.stderr) == ("", "")


def test_the_module_is_the_command(scene: Scene) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentforge", "--version"],
        cwd=scene.top,
        env=dict(scene.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == scene.run("--version").stdout
