"""The real Claude Code: it accepts the plugin, finds every part of it, resolves its commands and fires its hooks."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.workflow.plugin import marketplace_path
from agentforge.integrations.claude_code import PLUGIN
from tests.surfaces.scene import make_scene
from tests.whole.checkouts import COMMAND
from tests.wide.claude_model import loopback_model, uses
from tests.wide.toolkits import npm

pytestmark = [
    pytest.mark.wide,
    pytest.mark.network,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("claude"),
]
VERSION = "2.1.325"
COMMANDS = sorted(path.stem for path in (PLUGIN / "commands").glob("*.md"))
OBJECTIVE = 'Let users log in; it\'s "needed"'


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code with a home of its own, in a repository that is also a session of AO."""

    program: Path
    home: Path
    top: Path
    path: str

    def run(self, *words: str, server: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": self.path,
            "HOME": str(self.home),
            "TERM": "dumb",
            "AGENTFORGE_HOME": str(self.home / "agentforge"),
            "ANTHROPIC_API_KEY": "of-nobody",
            "ANTHROPIC_BASE_URL": server,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "AO_SESSION": "dm-1",
            "AO_DATA_DIR": str(self.home / "sessions"),
        }
        return subprocess.run(
            [self.program, *words],
            cwd=self.top,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def told(self) -> dict[str, Any]:
        found = json.loads((self.home / "sessions/dm-1.json").read_text())
        assert isinstance(found, dict)
        return found


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    program = npm("claude-code", f"@anthropic-ai/claude-code@{VERSION}") / "node_modules/.bin/claude"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if not said.startswith(VERSION):
        pytest.skip(f"Claude Code {VERSION} does not run here: {said.strip()[:100]}")
    scene = make_scene(tmp_path, {"readme.txt": "A project.\n"})
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions/dm-1.json").write_text(json.dumps({"worktree": str(scene.top)}))
    return Claude(program, tmp_path, scene.top, f"{Path(COMMAND).parent}:{os.environ['PATH']}")


def test_the_validator_has_nothing_to_say_of_plugin_and_marketplace(claude: Claude) -> None:
    for place in (PLUGIN, marketplace_path()):
        done = claude.run("plugin", "validate", "--strict", str(place))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Validation passed" in done.stdout


def test_every_part_is_found_when_it_is_installed_from_the_marketplace(claude: Claude) -> None:
    assert claude.run("plugin", "marketplace", "add", str(marketplace_path())).returncode == 0
    done = claude.run("plugin", "install", "forge@agentforge")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = claude.run("plugin", "details", "forge").stdout
    parts = dict(re.findall(r"(Skills|Agents|Hooks) \(\d+\)  ([^\n(]*)", shown))
    assert sorted(parts["Skills"].replace(" ", "").split(",")) == sorted([*COMMANDS, "forge-workflow"])
    assert sorted(parts["Agents"].replace(" ", "").split(",")) == [
        "advocate",
        "operator",
        "skeptic",
        "synthesizer",
    ]
    assert parts["Hooks"].strip() == "SessionStart, PostToolUse, PreCompact"


@pytest.mark.parametrize("way", ["plugin", "project", "both"])
def test_a_command_resolves_and_every_hook_fires(claude: Claude, way: str) -> None:
    more = ("--plugin-dir", str(PLUGIN)) if way != "project" else ()
    if way != "plugin":
        done = subprocess.run(
            [COMMAND, "plugin", "install"], cwd=claude.top, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    quoted = "'Let users log in; it'\\''s \"needed\"'"
    turns = [
        uses(1, "Bash", command=f"agentforge phase start {quoted}", description="Begin"),
        uses(2, "Bash", command="agentforge phase brainstorm", description="Enter"),
        uses(3, "Write", file_path=str(claude.top / "notes.txt"), content="A note.\n"),
    ]
    with loopback_model(turns) as server:
        words = ("-p", f"/forge:start {OBJECTIVE}", "--permission-mode", "acceptEdits", *more)
        done = claude.run(*words, server=server.base_url.removesuffix("/v1"))
        assert done.returncode == 0, done.stdout + done.stderr
        first = next(request for request in server.requests if request.body.get("tools"))
        asked = str(first.body["messages"])
        last = json.dumps(server.requests[-1].body["messages"], ensure_ascii=False)
    assert "agentforge phase start" in asked, "the command was resolved, not passed on as text"
    assert "Let users log in; it" in asked
    assert "has begun: Let users log in" in last, "the command ran without a question"
    state = (claude.top / ".claude/forge/active-workflow.md").read_text()
    assert "phase: brainstorm" in state
    assert (claude.top / "notes.txt").exists()
    assert claude.told()["forge_phase"] == "brainstorm"
    # After a tool: what another program dropped is set again.
    (claude.home / "sessions/dm-1.json").write_text(json.dumps({"worktree": "/w"}))
    snapshots = claude.top / ".claude/forge/snapshots"
    (claude.top / ".claude/forge/active-workflow.md").write_text(f"{state}\nA note of a person.\n")
    before = len(list(snapshots.iterdir()))
    with loopback_model(
        [uses(1, "Write", file_path=str(claude.top / "more.txt"), content="More.\n")]
    ) as server:
        done = claude.run(
            "-p",
            "Go on",
            "--permission-mode",
            "acceptEdits",
            *more,
            server=server.base_url.removesuffix("/v1"),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        told = json.dumps([each.body for each in server.requests])
        assert "Phase: brainstorm (in progress); next: research" in told, "the session was told at its start"
        assert claude.told()["forge_phase"] == "brainstorm"
        claude.run("-p", "/compact", *more, server=server.base_url.removesuffix("/v1"))
    assert len(list(snapshots.iterdir())) == before + 1, "once, however many hooks there are"


def test_without_the_program_a_session_works_and_is_told_so(claude: Claude) -> None:
    (claude.top / ".claude/forge").mkdir(parents=True)
    (claude.top / ".claude/forge/active-workflow.md").write_text("---\nphase: plan\n---\n")
    bare = Claude(claude.program, claude.home, claude.top, "/usr/bin:/bin")
    with loopback_model([]) as server:
        done = bare.run(
            "-p", "Hello", "--plugin-dir", str(PLUGIN), server=server.base_url.removesuffix("/v1")
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "the command agentforge is not on PATH" in json.dumps([each.body for each in server.requests])
