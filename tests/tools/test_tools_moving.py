"""Moving a file: both of its places are under the role's rules, and nothing is overwritten."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema_rs
import pytest

from agentforge.core.reply import Action, Json
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.paths import PathLimits


def ran(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("nothing was to run")


def check(schema: Mapping[str, Json], value: Json) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(dict(schema)).iter_errors(value)]


def bridge(constraints: dict[str, str] | None = None, *, forbidden: Sequence[str] = ()) -> Bridge:
    role: dict[str, Json] = {
        "agent": {"role": "tester"},
        "capabilities": {"tools": {"allowed": list(TOOLS), "forbidden": list(forbidden)}},
    }
    return Bridge.of(
        role,
        PathLimits.compile(constraints or {}, tests=("tests/**/*",)),
        check,
        locked={"tests/test_locked.py": "0" * 64},
    )


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "tree"
    for name in (
        "src/a.py",
        "tests/a.py",
        "tests/test_locked.py",
        ".git/config",
        ".agentforge/x.yaml",
        "../outside.py",
        "tests/.npmrc",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    (root / "link").symlink_to("..")
    (root / "tests" / "alias.py").symlink_to("../src/a.py")
    return Workbench(root, ran)


def snapshot(root: Path) -> dict[str, bytes]:
    paths = [Path(folder, name) for folder, _, names in os.walk(root.parent) for name in names]
    return {str(path): b"link" if path.is_symlink() else path.read_bytes() for path in paths}


def move(bench: Workbench, source: str, target: str, own: Bridge | None = None) -> ToolResult:
    return (own or bridge()).perform(Action("move_file", {"source": source, "target": target}), bench)


def test_a_file_is_moved_with_its_mode_and_directories_are_made(bench: Workbench) -> None:
    (bench.root / "src/a.py").chmod(0o755)
    result = move(bench, "src/a.py", "lib/deep/b.py")
    assert result.ok
    assert (result.wrote, result.created) == (("src/a.py", "lib/deep/b.py"), ("lib/deep/b.py",))
    assert (bench.root / "lib/deep/b.py").stat().st_mode & 0o777 == 0o755
    assert not (bench.root / "src/a.py").exists()


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("tests/a.py", "tests/test_locked.py", "test_lock"),
        ("tests/test_locked.py", "tests/b.py", "test_lock"),
        ("tests/a.py", "src/b.py", "path_limit"),
        ("src/a.py", "tests/b.py", "path_limit"),
        ("tests/a.py", "../b.py", "path_limit"),
        ("../outside.py", "tests/b.py", "path_limit"),
        ("tests/a.py", "link/nd/a.py", "path_limit"),
        ("link/outside.py", "tests/b.py", "path_limit"),
        ("tests/a.py", "/etc/b.py", "path_limit"),
        ("tests/a.py", ".git/hooks/pre-commit", "path_limit"),
        (".git/config", "tests/b.py", "path_limit"),
        (".agentforge/x.yaml", "tests/b.py", "path_limit"),
        ("tests/a.py", "tests/.bashrc", "path_limit"),
        ("tests/a.py", "tests/.ssh/authorized_keys", "path_limit"),
        ("tests/.npmrc", "tests/readable.txt", "path_limit"),
        ("tests/alias.py", "tests/b.py", "not_a_file"),
        ("tests/a.py", "tests/a.py", "no_change"),
        ("tests/a.py", "tests/sub", "file_exists"),
        ("tests/sub", "tests/b", "not_a_file"),
        ("tests/none.py", "tests/b.py", "no_such_file"),
        ("tests/a.py", "tests/a.py/x", "path_limit"),
        (".", "tests/b", "not_a_file"),
        ("tests/a.py", ".", "path_limit"),
    ],
)
def test_a_move_from_or_to_a_closed_place_is_refused(
    bench: Workbench, source: str, target: str, kind: str
) -> None:
    (bench.root / "tests/sub").mkdir()
    before = snapshot(bench.root)
    result = move(bench, source, target, bridge({"create_file": "{tests}"}))
    assert result.mistake == kind, result.text
    assert snapshot(bench.root) == before


def test_a_link_is_not_moved(bench: Workbench) -> None:
    assert move(bench, "tests/alias.py", "tests/b.py").mistake == "not_a_file"


@pytest.mark.parametrize("forbidden", ["create_file", "delete_file", "write_file"])
def test_what_a_role_may_not_do_it_may_not_do_by_a_move(bench: Workbench, forbidden: str) -> None:
    before = snapshot(bench.root)
    assert move(bench, "src/a.py", "src/b.py", bridge(forbidden=[forbidden])).mistake == "forbidden_tool"
    assert snapshot(bench.root) == before
