"""The bridge: every writing tool against every kind of forbidden path, and every kind of mistake as a
result.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentforge.core.reply import Action, Json
from agentforge.tools.base import (
    KEEPING_TOOLS,
    RESULT_CHARS,
    WRITING_TOOLS,
    ToolResult,
    Workbench,
)
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.paths import PathLimits
from agentforge.tools.run.running import ESCALATES
from tests.fuzzing import tries
from tests.rows import every

WRITERS = sorted(WRITING_TOOLS - KEEPING_TOOLS)
"""Those that take any path. The others know their own files: `test_tools_releasing.py`."""


def check(schema: Mapping[str, Json], value: Json) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(dict(schema)).iter_errors(value)]


def ran(ids: Sequence[str]) -> ToolResult:
    return ToolResult(ok=True, text=f"ran {list(ids)} " + "." * 9000, failures=("tests/test_a.py:3 assert",))


def role(allowed: Sequence[str], forbidden: Sequence[str] = ("deploy", "commit")) -> dict[str, Json]:
    return {
        "agent": {"role": "tester"},
        "capabilities": {"tools": {"allowed": list(allowed), "forbidden": list(forbidden)}},
    }


def bridge(constraints: Mapping[str, str] | None = None, *, allowed: Sequence[str] = tuple(TOOLS)) -> Bridge:
    limits = PathLimits.compile(constraints or {}, tests=("tests/**/*",))
    return Bridge.of(role(allowed), limits, check, locked={"tests/test_locked.py": "0" * 64})


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "tree"
    for name in (
        "src/a.py",
        "tests/test_a.py",
        "tests/test_locked.py",
        ".agentforge/config/settings.yaml",
        ".git/config",
        "docs/x.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    (tmp_path / "outside.py").write_text("x = 1\n")
    (root / "to_tests").symlink_to("tests")
    (root / "to_locked.py").symlink_to("tests/test_locked.py")
    (root / "to_outside.py").symlink_to("../outside.py")
    (root / "to_dir").symlink_to("..")
    (root / "to_config").symlink_to(".agentforge")
    return Workbench(
        root,
        ran,
        created=frozenset(
            {"src/a.py", "tests/test_a.py", "tests/test_locked.py", ".agentforge/config/settings.yaml"}
        ),
    )


def attempt(tool: str, path: str) -> Action:
    args: dict[str, dict[str, Json]] = {
        "create_file": {"path": path, "content": "forged = 1\n"},
        "edit_file": {"path": path, "old": "x = 1", "new": "forged = 1"},
        "delete_file": {"path": path},
    }
    return Action(tool, args[tool])


def snapshot(root: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root.parent):
        for name in (*folders, *names):
            path = Path(folder, name)
            found[str(path)] = (
                os.fsencode(path.readlink())
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file()
                else b""
            )
    return found


FORBIDDEN = [
    ("src/a.py", "path_limit"),  # outside of the positive pattern
    ("src/new.py", "path_limit"),
    ("tests/private/x.py", "path_limit"),  # under the negative one
    ("tests/test_locked.py", "test_lock"),
    ("tests/../tests/test_locked.py", "test_lock"),
    ("./tests//test_locked.py", "test_lock"),
    ("to_locked.py", "test_lock"),  # a link to it
    ("to_tests/test_locked.py", "test_lock"),  # by a linked directory
    ("tests/../src/a.py", "path_limit"),
    ("../outside.py", "path_limit"),
    ("to_outside.py", "path_limit"),
    ("to_dir/outside.py", "path_limit"),
    ("/etc/passwd", "path_limit"),
    ("~/x", "path_limit"),
    (".git/config", "path_limit"),
    (".git/hooks/pre-commit", "path_limit"),
    (".GIT/config", "path_limit"),
    ("sub/.git/config", "path_limit"),
    (".agentforge/config/settings.yaml", "path_limit"),
    (".AgentForge/config/settings.yaml", "path_limit"),
    ("to_config/config/settings.yaml", "path_limit"),
    (".agentforge", "path_limit"),
    ("tests/nul\0.py", "path_limit"),
    ("tests/" + "n" * 300, "path_limit"),
    ("tests/\ud800.py", "path_limit"),
]


@every("tool", WRITERS)
@every(("path", "kind"), FORBIDDEN)
def test_no_writing_tool_reaches_a_forbidden_path(bench: Workbench, tool: str, path: str, kind: str) -> None:
    before = snapshot(bench.root)
    result = bridge({"create_file": "{tests},!tests/private/**"}).perform(attempt(tool, path), bench)
    assert not result.ok
    assert result.mistake == kind
    assert result.text
    assert snapshot(bench.root) == before


@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("path", ["tests/test_a.py", "to_tests/test_a.py"])
def test_a_tests_only_role_is_kept_out_even_by_a_link_inside(bench: Workbench, tool: str, path: str) -> None:
    result = bridge({"edit_file": "!{tests}"}).perform(attempt(tool, path), bench)
    assert result.mistake == "path_limit"


@pytest.mark.parametrize("tool", WRITERS)
def test_a_link_in_an_allowed_place_does_not_open_its_target(bench: Workbench, tool: str) -> None:
    (bench.root / "tests" / "alias.py").symlink_to("../src/a.py")
    result = bridge({"create_file": "{tests}"}).perform(attempt(tool, "tests/alias.py"), bench)
    assert result.mistake == "path_limit"
    assert (bench.root / "src" / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("tool", WRITERS)
def test_an_allowed_path_is_written(bench: Workbench, tool: str) -> None:
    result = bridge({"create_file": "{tests}"}).perform(attempt(tool, "tests/test_a.py"), bench)
    assert result.ok
    assert result.wrote == ("tests/test_a.py",)


PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "src",
        "tests",
        "test_locked.py",
        "a.py",
        "to_tests",
        "to_dir",
        "to_config",
        ".git",
        ".agentforge",
        "new",
    ]
)


@tries(150, HealthCheck.function_scoped_fixture)
@given(parts=st.lists(PARTS, min_size=1, max_size=6), tool=st.sampled_from(WRITERS))
def test_whatever_the_spelling_only_free_test_files_are_ever_changed(
    bench: Workbench, parts: list[str], tool: str
) -> None:
    before = snapshot(bench.root)
    bridge({"create_file": "{tests}"}).perform(attempt(tool, "/".join(parts)), bench)
    after = snapshot(bench.root)
    free = str(bench.root / "tests") + "/"
    locked = str(bench.root / "tests" / "test_locked.py")
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert all(path.startswith(free) and path != locked for path in changed)


def test_an_unknown_tool_is_answered_with_the_allowed_ones(bench: Workbench) -> None:
    result = bridge(allowed=["read_file"]).perform(Action("reed_file", {}), bench)
    assert result.mistake == "unknown_tool"
    assert "read_file, submit_artifact, escalate" in result.text


@pytest.mark.parametrize("name", ["create_file", "commit", "deploy"])
def test_a_tool_outside_of_the_role_is_forbidden(bench: Workbench, name: str) -> None:
    result = bridge(allowed=["read_file"]).perform(Action(name, {"path": "n.py", "content": ""}), bench)
    assert result.mistake == "forbidden_tool"
    assert "tester" in result.text
    assert not (bench.root / "n.py").exists()


def test_what_is_forbidden_stays_so_even_if_also_allowed(bench: Workbench) -> None:
    both = Bridge.of(role(["edit_file", "read_file"], ["edit_file"]), PathLimits.compile({}), check)
    assert [spec.name for spec in both.specs()] == ["read_file", "submit_artifact", "escalate"]
    assert both.perform(attempt("edit_file", "src/a.py"), bench).mistake == "forbidden_tool"


@every(
    "action",
    [
        Action("read_file", {}),
        Action("read_file", {"path": 3}),
        Action("read_file", {"path": "src/a.py", "start": 0}),
        Action("read_file", {"path": "src/a.py", "start": True}),
        Action("create_file", {"path": "src/b.py", "content": "x = 1", "mode": "append"}),
        Action("search_codebase", {"pattern": ""}),
        Action("search_codebase", {"pattern": "a\nb"}),
        Action("run_tests", {"ids": "tests"}),
        Action("edit_file", {"path": "src/a.py", "old": "x"}),
    ],
)
def test_bad_arguments_say_what_is_wrong(bench: Workbench, action: Action) -> None:
    result = bridge().perform(action, bench)
    assert result.mistake == "bad_arguments"
    assert len(result.text) > 20


def test_a_mistake_inside_a_tool_is_a_result(bench: Workbench) -> None:
    result = bridge().perform(Action("edit_file", {"path": "src/a.py", "old": "y = 1", "new": "z"}), bench)
    assert (result.ok, result.mistake) == (False, "no_match")
    assert bridge().perform(Action("read_file", {"path": "../outside.py"}), bench).mistake == "path_limit"


def test_a_syntax_error_is_told_with_the_write_that_made_it(bench: Workbench) -> None:
    broken = bridge().perform(
        Action("edit_file", {"path": "src/a.py", "old": "x = 1", "new": "def f(:"}), bench
    )
    assert broken.ok
    assert "Syntax error in `src/a.py`, line 1" in broken.text
    sound = bridge().perform(Action("create_file", {"path": "src/b.py", "content": "y = 1\n"}), bench)
    assert "Syntax" not in sound.text


def test_a_question_has_two_names_and_a_role_is_shown_its_own(bench: Workbench) -> None:
    both = [Action(name, {"question": "Which one?"}) for name in sorted(ESCALATES)]
    assert [each.name for each in both] == ["escalate", "escalate_question"]
    for allowed in (["read_file"], ["read_file", "escalate_question"]):
        own = bridge(allowed=allowed)
        assert [own.refusal(action, bench) for action in both] == [None, None]
    assert [spec.name for spec in bridge(allowed=["escalate_question"]).specs()] == [
        "submit_artifact",
        "escalate_question",
    ]
    assert [spec.name for spec in bridge(allowed=[]).specs()] == ["submit_artifact", "escalate"]


def test_control_actions_are_checked_here_and_performed_elsewhere(bench: Workbench) -> None:
    asking = Action("escalate", {"question": "Which one?"})
    assert bridge(allowed=[]).refusal(asking, bench) is None
    wrong = bridge().refusal(Action("submit_artifact", {"contract": "x", "artifact": "text"}), bench)
    assert wrong is not None
    assert wrong.mistake == "bad_arguments"
    with pytest.raises(ValueError, match="caller"):
        bridge().perform(asking, bench)


def test_run_tests_is_the_benchs_own_and_bounded(bench: Workbench) -> None:
    result = bridge().perform(Action("run_tests", {"ids": ["tests/test_a.py"]}), bench)
    assert result.text.startswith("ran ['tests/test_a.py']")
    assert len(result.text) <= RESULT_CHARS
    assert result.failures == ("tests/test_a.py:3 assert",)


def test_the_table_knows_which_tools_write() -> None:
    assert {name for name, tool in TOOLS.items() if tool.spec.effect == "write"} == WRITING_TOOLS | {
        "apply_patch",
        "move_file",
    }
    # A patch names its files inside its text: it asks for each of them itself.
    naming = {name for name, tool in TOOLS.items() if tool.spec.writes or tool.targets}
    assert naming == WRITING_TOOLS | {"move_file"}
    assert {name for name, tool in TOOLS.items() if tool.targets is not None} == KEEPING_TOOLS
    assert all(name == tool.spec.name for name, tool in TOOLS.items())


def test_every_schema_is_a_schema_and_refuses_unknown_arguments() -> None:
    for spec in bridge().specs():
        assert check({"$ref": "https://json-schema.org/draft/2020-12/schema"}, dict(spec.schema)) == []
        assert check(spec.schema, {"surprise": 1})


@tries(200, HealthCheck.function_scoped_fixture)
@given(
    name=st.sampled_from([*TOOLS, "escalat"]),
    args=st.dictionaries(
        st.sampled_from(
            [
                "path",
                "old",
                "new",
                "content",
                "start",
                "end",
                "name",
                "pattern",
                "max",
                "query",
                "paths",
                "entry",
                "version",
                "text",
            ]
        ),
        st.one_of(
            st.none(),
            st.integers(-2, 5),
            st.text(max_size=5),
            st.sampled_from(["src/a.py", "tests", "x = 1", ".", "docs/x.md"]),
            st.lists(st.sampled_from(["src", "nowhere", "docs/x.md", "../outside.py"]), max_size=2),
        ),
        max_size=4,
    ),
)
def test_no_call_of_any_tool_crashes(bench: Workbench, name: str, args: dict[str, Json]) -> None:
    result = bridge().perform(Action(name, args), bench)
    assert result.ok is (result.mistake == "")
    assert len(result.text) <= RESULT_CHARS
