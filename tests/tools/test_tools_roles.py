"""Every role of the catalogue against what it may not do: its forbidden tools, closed paths, and a read-only
task.
"""

import os
from pathlib import Path

import pytest

from agentforge.catalog.contracts import schema_problems
from agentforge.catalog.load import Catalog
from agentforge.catalog.roles import RESERVED_TOOLS
from agentforge.core.reply import Action, Json
from agentforge.tools.base import WRITING_TOOLS, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.paths import PathLimits
from agentforge.tools.run.running import CONTROL
from tests.rows import every

CATALOG = Catalog.packaged()
ROLES = sorted(CATALOG.names("agents"))
CONTROLS = {spec.name for spec in CONTROL}
CLOSED = [
    "tests/test_locked.py",
    ".git/config",
    ".agentforge/config/settings.yaml",
    "../outside.md",
    "/etc/hosts",
    "link_out.md",
]

CALLS: dict[str, dict[str, Json]] = {
    "create_file": {"path": "docs/new.md", "content": "x\n"},
    "edit_file": {"path": "src/a.py", "old": "x = 1", "new": "x = 2"},
    "delete_file": {"path": "src/a.py"},
    "apply_patch": {"patch": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"},
    "move_file": {"source": "src/a.py", "target": "src/b.py"},
    "run_command": {"argv": ["make"]},
    "generate_changelog": {"entry": "Something"},
    "create_release_notes": {"text": "Something"},
    "run_tests": {"ids": ["tests/test_locked.py"]},
    "run_type_check": {"paths": ["src/a.py"]},
    "run_conformance_check": {},
    "analyze_coverage": {},
}
ACTING = sorted(name for name, tool in TOOLS.items() if tool.spec.effect in ("write", "execute"))


def ran(*_args: object) -> ToolResult:
    raise AssertionError("nothing was to run")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "tree"
    files = [
        "src/a.py",
        "tests/test_locked.py",
        ".git/config",
        ".agentforge/config/settings.yaml",
        "CHANGELOG.md",
        "RELEASE_NOTES.md",
    ]
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    (tmp_path / "outside.md").write_text("x = 1\n")
    (root / "link_out.md").symlink_to("../outside.md")
    return Workbench(root, ran, created=frozenset(files), runs=dict.fromkeys(TOOLS, ran))


def role_bridge(name: str, *, read_only: bool = False) -> Bridge:
    limits = PathLimits.compile(CATALOG.role(name).path_constraints, tests=("tests/**",))
    document = CATALOG.document("agents", name)
    return Bridge.of(
        document, limits, schema_problems, locked={"tests/test_locked.py": "0" * 64}, read_only=read_only
    )


def snapshot(root: Path) -> dict[str, bytes]:
    paths = (Path(folder, name) for folder, _, names in os.walk(root.parent) for name in names)
    return {str(path): path.read_bytes() for path in paths}


def test_every_acting_tool_has_a_call_here() -> None:
    assert set(CALLS) == set(ACTING)


@every("role", ROLES)
def test_a_role_names_only_tools_that_exist(role: str) -> None:
    known = set(TOOLS) | CONTROLS | RESERVED_TOOLS
    definition = CATALOG.role(role)
    assert set(definition.allowed) <= known - RESERVED_TOOLS
    assert set(definition.forbidden) <= known


@every("role", ROLES)
def test_no_role_gets_a_tool_that_it_is_forbidden_or_not_given(bench: Workbench, role: str) -> None:
    before = snapshot(bench.root)
    definition = CATALOG.role(role)
    own = role_bridge(role)
    closed = ({*TOOLS, *RESERVED_TOOLS} - set(definition.allowed)) | (set(definition.forbidden) - CONTROLS)
    for tool in sorted(closed):
        result = own.perform(Action(tool, CALLS.get(tool, {})), bench)
        assert (result.ok, result.mistake) == (False, "forbidden_tool"), tool
        assert role in result.text
    assert not closed & {spec.name for spec in own.specs()}
    assert snapshot(bench.root) == before


@pytest.mark.parametrize("tool", sorted(WRITING_TOOLS - {"generate_changelog"}))
def test_no_role_writes_to_a_closed_path_by_any_tool(bench: Workbench, tool: str) -> None:
    before = snapshot(bench.root)
    for role in ROLES:
        own = role_bridge(role)
        for path in CLOSED:
            assert not own.perform(Action(tool, CALLS[tool] | {"path": path}), bench).ok, (role, path)
    assert snapshot(bench.root) == before


def test_only_a_role_that_has_the_tool_writes_the_changelog_and_no_other_file_by_it(bench: Workbench) -> None:
    text = (bench.root / "CHANGELOG.md").read_text()
    for role in ROLES:
        before = snapshot(bench.root)
        result = role_bridge(role).perform(Action("generate_changelog", CALLS["generate_changelog"]), bench)
        if "generate_changelog" in CATALOG.role(role).allowed:
            assert result.wrote == ("CHANGELOG.md",)
            (bench.root / "CHANGELOG.md").write_text(text)
        assert result.ok is bool(result.wrote)
        assert snapshot(bench.root) == before


@every("role", ROLES)
def test_in_a_read_only_task_no_role_writes_or_runs_anything(bench: Workbench, role: str) -> None:
    before = snapshot(bench.root)
    own = role_bridge(role, read_only=True)
    for tool in ACTING:
        result = own.perform(Action(tool, CALLS[tool]), bench)
        assert (result.ok, result.mistake) == (False, "forbidden_tool")
        assert "read-only" in result.text
    assert {spec.effect for spec in own.specs()} <= {"read", "control"}
    assert own.refusal(Action("escalate", {"question": "Which?"}), bench) is None
    assert snapshot(bench.root) == before


@every("role", ROLES)
def test_in_a_read_only_task_a_reading_tool_gets_nothing_run_for_it(bench: Workbench, role: str) -> None:
    own = role_bridge(role, read_only=True)
    for name in CATALOG.role(role).allowed:
        if name in TOOLS and TOOLS[name].spec.effect == "read":
            assert own.perform(Action(name, {}), bench).mistake in ("", "bad_arguments", "not_configured")
