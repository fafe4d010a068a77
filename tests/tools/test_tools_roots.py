"""Directories beside the tree that the user opened: reached by absolute paths, held to their root, and never
part of the work.
"""

from pathlib import Path

import pytest

from agentforge.catalog.contracts import schema_problems
from agentforge.core.errors import UsageError
from agentforge.core.reply import Action, Json
from agentforge.tools.base import RESULT_CHARS, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.paths import PathLimits
from agentforge.tools.roots import Root, named_in, read_roots

ROLE: dict[str, Json] = {"agent": {"role": "tester"}, "capabilities": {"tools": {"allowed": [*TOOLS]}}}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    for name in ("tree", "shared/pkg", "shared/.ssh", "shared/.git", "drop"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "shared/pkg/mod.py").write_text("def answer():\n    return 42\n")
    (tmp_path / "shared/.ssh/id_rsa").write_text("key\n")
    (tmp_path / "shared/out").symlink_to(tmp_path / "private.txt")
    (tmp_path / "private.txt").write_text("mine\n")
    (tmp_path / "drop/old.txt").write_text("old\n")
    (tmp_path / "tree/a.py").write_text("x = 1\n")
    roots = (Root(tmp_path / "shared"), Root(tmp_path / "drop", write=True, name="/opened/drop"))
    return Workbench(tmp_path / "tree", lambda _: ToolResult(ok=True, text=""), roots=roots)


def perform(bench: Workbench, tool: str, **args: Json) -> ToolResult:
    return Bridge.of(ROLE, PathLimits.compile({}), schema_problems).perform(Action(tool, args), bench)


def test_reading_tools_take_absolute_paths_below_an_opened_directory(
    bench: Workbench, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    module = str(shared / "pkg/mod.py")
    read = perform(bench, "read_file", path=module)
    assert "2|    return 42" in read.text
    assert read.opened == ()
    assert "def answer()" in perform(bench, "outline", path=module).text
    symbol = perform(bench, "read_symbol", name="answer", path=module)
    assert (symbol.ok, symbol.opened) == (True, ())
    assert module in perform(bench, "list_files", path=str(shared)).text
    assert "pkg/" in perform(bench, "list_dir", path=str(shared)).text
    for regex in (False, True):
        assert (
            f"{module}:2: return 42"
            in perform(bench, "search_codebase", pattern="return 42", path=str(shared), regex=regex).text
        )
    assert "a.py" in perform(bench, "list_files").text


def test_nothing_leads_out_of_an_opened_directory_or_to_keys(bench: Workbench, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for path in (
        shared / "out",
        f"{shared}/../private.txt",
        tmp_path / "private.txt",
        shared / ".ssh/id_rsa",
        shared / ".git/config",
        "/etc/hosts",
    ):
        result = perform(bench, "read_file", path=str(path))
        assert (result.ok, result.mistake) == (False, "path_limit"), path
    assert (
        "key"
        not in perform(bench, "search_codebase", pattern="key", path=str(shared)).text.partition(
            "No match for `key`"
        )[2]
    )
    assert perform(bench, "read_file", path=f"{shared}x/pkg/mod.py").mistake == "path_limit"


def test_writing_tools_write_only_where_the_user_said_so_and_it_is_no_part_of_the_work(
    bench: Workbench, tmp_path: Path
) -> None:
    refused = perform(bench, "create_file", path=str(tmp_path / "shared/new.py"), content="x")
    assert (refused.mistake, "read-only" in refused.text) == ("path_limit", True)
    assert (
        perform(bench, "edit_file", path=str(tmp_path / "shared/pkg/mod.py"), old="42", new="43").mistake
        == "path_limit"
    )
    assert perform(bench, "delete_file", path=str(tmp_path / "shared/out")).mistake == "path_limit"
    made = perform(bench, "create_file", path=str(tmp_path / "drop/new.txt"), content="new\n")
    assert (made.ok, made.wrote, made.created, made.opened) == (True, (), (), ())
    edited = perform(bench, "edit_file", path="/opened/drop/old.txt", old="old", new="changed")
    assert (edited.ok, edited.wrote) == (True, ())
    assert (tmp_path / "drop/old.txt").read_text() == "changed\n"
    assert (
        perform(bench, "create_file", path=str(tmp_path / "drop/.env"), content="x").mistake == "path_limit"
    )
    assert perform(bench, "delete_file", path=str(tmp_path / "drop/new.txt")).ok
    assert not (tmp_path / "drop/new.txt").exists()
    assert (
        perform(bench, "move_file", source=str(tmp_path / "drop/old.txt"), target="here.txt").mistake
        == "path_limit"
    )


def test_a_command_gets_the_directories_that_its_words_speak_of() -> None:
    one, two = Root(Path("/srv/one"), name="/link/one"), Root(Path("/srv/one-more"))
    assert named_in((one, two), ["ls", "/srv/one/x"]) == (one,)
    assert named_in((one, two), ["ls", "--in=/srv/one-more"]) == (two,)
    assert named_in((one, two), ["sh", "-c", "cat '/link/one'"]) == (one,)
    assert named_in((one, two), ["ls", "/srv", "/srv/on"]) == ()


def test_the_users_entries_are_directories_that_a_role_may_be_let_into(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    found = read_roots(
        [{"path": str(tmp_path / "real"), "write": True}, {"path": f"{tmp_path}/link/"}], "config.yaml"
    )
    assert found == (
        Root(tmp_path / "real", write=True),
        Root(tmp_path / "real", name=str(tmp_path / "link")),
    )
    for wrong in (
        {"path": "relative"},
        {"path": "/"},
        {"path": "/etc"},
        {"path": "/proc/self"},
        {"path": f"{tmp_path}/../../etc"},
        {"path": str(tmp_path / "absent")},
    ):
        with pytest.raises(UsageError, match=r"config.yaml: roots\[0\]"):
            read_roots([wrong], "config.yaml")


def test_a_long_answer_is_kept_whole_and_a_secret_is_gone_before_the_cut(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 10
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return "outputs/1-1.txt"

    lines = [f"line {number} of what the tests said" for number in range(400)]
    text = "\n".join([*lines[:110], f"found {key}", *lines[110:]])
    bench = Workbench(tmp_path, lambda _: ToolResult(ok=True, text=text), keep=keep)
    result = perform(bench, "run_tests")
    assert len(result.text) <= RESULT_CHARS
    assert "people find the whole in outputs/1-1.txt" in result.text
    assert kept == [text.replace(key, "[REDACTED:github_token]")]
    short = Workbench(tmp_path, lambda _: ToolResult(ok=True, text="short"), keep=keep)
    assert perform(short, "run_tests").text == "short"
    assert len(kept) == 1
