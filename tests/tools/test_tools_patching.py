"""Patches: every diff of two texts leads from one to the other, and a patch that cannot be done whole is not
done at all.
"""

import difflib
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake, Unusable
from agentforge.core.reply import Action, Json
from agentforge.system.beneath import Content, change_all
from agentforge.tools.base import RESULT_CHARS, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS, Bridge
from agentforge.tools.change.patches import Misfit, apply, parse
from agentforge.tools.change.patching import apply_patch
from agentforge.tools.paths import PathLimits
from tests.depth import SOAK
from tests.fuzzing import tries

NO_NEWLINE = "\\ No newline at end of file\n"


def ran(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("nothing was to run")


def bridge(constraints: dict[str, str] | None = None, *, forbidden: Sequence[str] = ()) -> Bridge:
    tools: dict[str, Json] = {"allowed": list(TOOLS), "forbidden": list(forbidden)}
    role: dict[str, Json] = {"agent": {"role": "tester"}, "capabilities": {"tools": tools}}
    limits = PathLimits.compile(constraints or {}, tests=("tests/**/*",))

    def check(schema: Mapping[str, Json], value: Json) -> list[str]:
        return [error.message for error in jsonschema_rs.validator_for(dict(schema)).iter_errors(value)]

    return Bridge.of(role, limits, check, locked={"tests/test_locked.py": "0" * 64})


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    root = tmp_path / "tree"
    write(
        root,
        {
            "p.txt": "".join(f"{letter}\n" for letter in "abcdefghij"),
            "q.txt": "one\ntwo\nthree\n",
            "tests/test_locked.py": "x = 1\n",
        },
    )
    return Workbench(root, ran)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    paths = [Path(folder, name) for folder, _, names in os.walk(root.parent) for name in names]
    return {
        str(path): (b"" if path.is_symlink() else path.read_bytes(), path.lstat().st_mode) for path in paths
    }


def patched(bench: Workbench, patch: str) -> ToolResult:
    return bridge().perform(Action("apply_patch", {"patch": patch}), bench)


def diff(old: str, new: str, name: str = "f", context: int = 3) -> str:
    """A unified diff as diff(1) writes it, a missing last newline included."""
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{name}", f"b/{name}", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines by newline alone, as a diff counts them."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


# ------------------------------------------------------------------ the rule: a diff leads where it came from

LINES = st.sampled_from(
    [
        "",
        "a",
        "b",
        "-- c",
        "++ d",
        "@@ -1 +1 @@",
        "--- a/f",
        "+++ b/f",
        "diff --git a/f b/f",
        "\\ x",
        " y",
        "a\r",
        "\r",
        "é\u2028",
    ]
)
TEXTS = st.tuples(st.lists(LINES, max_size=14), st.booleans()).map(
    lambda each: "\n".join(each[0]) + ("\n" if each[1] and each[0] else "")
)


@tries(100)
@given(old=TEXTS, new=TEXTS, context=st.integers(0, 3))
@example(old="", new="a", context=3)
@example(old="a", new="", context=0)
@example(old="-- c\nx\n", new="x\n", context=3)
def test_the_diff_of_two_texts_leads_from_one_to_the_other(old: str, new: str, context: int) -> None:
    text = diff(old, new, context=context)
    if text:
        (patch,) = parse(text)
        assert apply(old, patch.hunks).text == new


@tries(100)
@given(old=TEXTS, new=TEXTS, above=st.integers(0, 5))
def test_a_hunk_that_moved_is_found_or_refused_but_never_misplaced(old: str, new: str, above: int) -> None:
    text = diff(old, new)
    if not text:
        return
    (patch,) = parse(text)
    head = "".join(f"new {number}\n" for number in range(above))
    try:
        found = apply(head + old, patch.hunks).text
    except Misfit:
        return
    if all(hunk.old for hunk in patch.hunks) and not above:
        assert found == new
    assert found.count("new ") == above


@tries(100)
@given(
    text=st.text(alphabet='-+@ ,19ab/\\\n\r\0"d', max_size=120) | st.lists(LINES, max_size=12).map("\n".join)
)
def test_any_text_is_a_patch_or_a_mistake(text: str) -> None:
    said: ModelMistake | Misfit | None = None
    try:
        for patch in parse(text):
            apply("a\nb\n", patch.hunks)
    except (ModelMistake, Misfit) as mistake:
        said = mistake
    assert said is None or isinstance(said, Misfit) or (said.kind, bool(said.text)) == ("bad_patch", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a.txt": "1\n2\n3\n"}, {"a.txt": "1\n2b\n3\n"}),
        ({"a.txt": "1\n"}, {}),
        ({}, {"deep/er/new.txt": "1\n2\n"}),
        ({"a.txt": "1\n2\n3\n4\n5\n6\n"}, {"sub/b.txt": "1\n2\n3\n4\n5\nsix\n"}),
        ({"a.txt": "1\n2\n3\n4\n"}, {"moved.txt": "1\n2\n3\n4\n"}),
        ({"é à.txt": "1\n"}, {"é à.txt": "2\n"}),
        ({'quo"te\t.txt': "1\n"}, {'quo"te\t.txt': "2\n"}),
        ({"a b.txt": ""}, {"a b.txt": "no newline"}),
        ({}, {"empty.txt": ""}),
        ({"empty.txt": ""}, {}),
        ({"a.txt": "1\r\n2\r\n"}, {"a.txt": "1\r\n2b\r\n"}),
        (
            {"a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n"},
            {"a.txt": "one\n", "c.txt": "3\n", "d.txt": "4\n"},
        ),
    ],
)
def test_what_git_writes_is_applied(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> None:
    """Real diffs of real git, with renames and its quoting of names."""
    for side, files in (("a", old), ("b", new)):
        (tmp_path / side).mkdir()
        write(tmp_path / side, files)
        argv = [
            "git",
            "--git-dir",
            "../git",
            "--work-tree",
            ".",
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@localhost",
            "-c",
            "core.autocrlf=false",
        ]
        for words in (["init", "-q"], ["add", "-A", "."], ["commit", "-q", "--allow-empty", "-m", side]):
            subprocess.run([*argv, *words], cwd=tmp_path / side, check=True, capture_output=True)
    shown = subprocess.run(
        ["git", "--git-dir", "git", "diff", "-M", "HEAD~", "HEAD"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    text = shown.stdout.decode()
    result = apply_patch({"patch": text}, Workbench(tmp_path / "a", ran))
    assert result.ok
    found = {
        path.relative_to(tmp_path / "a").as_posix(): path.read_bytes()
        for path in (tmp_path / "a").rglob("*")
        if path.is_file()
    }
    assert found == {name: text.encode() for name, text in new.items()}
    assert set(result.wrote) == {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    assert set(result.created) == new.keys() - old.keys()


# ------------------------------------------------------------------ what a hand-written diff gets wrong


def test_two_hunks_of_one_file_are_both_applied(bench: Workbench) -> None:
    result = patched(
        bench, "--- a/p.txt\n+++ b/p.txt\n@@ -1,2 +1,3 @@\n a\n+X\n b\n@@ -9,2 +10,3 @@\n i\n+Y\n j\n"
    )
    assert result.ok
    assert (bench.root / "p.txt").read_text() == "a\nX\nb\nc\nd\ne\nf\ng\nh\ni\nY\nj\n"
    assert [(each.start, each.end) for each in result.opened] == [(1, 3), (10, 12)]


def test_a_removed_line_that_looks_like_a_header_is_removed(bench: Workbench) -> None:
    write(bench.root, {"sql.txt": "-- c\nx\n"})
    assert patched(bench, "--- a/sql.txt\n+++ b/sql.txt\n@@ -1,2 +1,1 @@\n--- c\n x\n").ok
    assert (bench.root / "sql.txt").read_text() == "x\n"


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/q.txt\n+++ b/q.txt\n@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n",  # wrong counts
        "--- a/q.txt\n+++ b/q.txt\n@@ -1,1 +1,1 @@\n one\n-two\n+TWO\n three\n",
        "--- a/q.txt\n+++ b/q.txt\n@@ -40,3 +40,3 @@ def f():\n one\n-two\n+TWO\n three\n",  # wrong place
        "--- q.txt\n+++ q.txt\n@@ -2 +2 @@\n-two\n+TWO\n",  # no prefixes
        "--- a/q.txt\t2024-01-01\n+++ b/q.txt\t2024-01-02\n@@ -2 +2 @@\n-two\n+TWO\n",
        "Here it is:\n\n```diff\n--- a/q.txt\n+++ b/q.txt\n@@ -2 +2 @@\n-two\n+TWO\n```\n",
        (
            "diff --git a/q.txt b/q.txt\nindex 1..2 100644\n--- a/q.txt\n+++ b/q.txt\n@@ -2 +2 "
            "@@\n-two\n+TWO\n-- \n2.40.1\n"
        ),
        "--- a/./q.txt\n+++ b/q.txt\n@@ -2 +2 @@\n-two\n+TWO",
    ],
)
def test_a_diff_with_a_slip_that_leaves_no_doubt_is_applied(bench: Workbench, patch: str) -> None:
    result = patched(bench, patch)
    assert result.ok, result.text
    assert (bench.root / "q.txt").read_text() == "one\nTWO\nthree\n"
    assert result.wrote == ("q.txt",)
    assert result.created == ()


def test_an_empty_line_may_have_lost_its_space(bench: Workbench) -> None:
    write(bench.root, {"b.py": "x = 1\n\ny = 2\n"})
    assert patched(bench, "--- a/b.py\n+++ b/b.py\n@@ -1,3 +1,3 @@\n x = 1\n\n-y = 2\n+y = 3\n").ok
    assert (bench.root / "b.py").read_text() == "x = 1\n\ny = 3\n"


def test_a_file_keeps_its_line_endings_and_its_mode(bench: Workbench) -> None:
    write(bench.root, {"dos.txt": "one\r\ntwo\r\nthree"})
    (bench.root / "dos.txt").chmod(0o755)
    assert patched(
        bench, "--- a/dos.txt\n+++ b/dos.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n three\n+four\n"
    ).ok
    assert (bench.root / "dos.txt").read_bytes() == b"one\r\nTWO\r\nthree\nfour\r\n"
    assert (bench.root / "dos.txt").stat().st_mode & 0o777 == 0o755


def test_a_file_can_become_a_program(bench: Workbench) -> None:
    assert patched(bench, "diff --git a/q.txt b/q.txt\nold mode 100644\nnew mode 100755\n").ok
    assert (bench.root / "q.txt").stat().st_mode & 0o111


def test_two_files_can_change_names_with_each_other(bench: Workbench) -> None:
    first = "diff --git a/p.txt b/q.txt\nsimilarity index 100%\nrename from p.txt\nrename to q.txt\n"
    second = "diff --git a/q.txt b/p.txt\nsimilarity index 100%\nrename from q.txt\nrename to p.txt\n"
    assert patched(bench, first + second).ok
    assert (bench.root / "p.txt").read_text() == "one\ntwo\nthree\n"
    assert (bench.root / "q.txt").read_text().startswith("a\nb\n")


# ------------------------------------------------------------------ refusals

GOOD = "--- a/q.txt\n+++ b/q.txt\n@@ -2 +2 @@\n-two\n+TWO\n"


@pytest.mark.parametrize(
    ("patch", "kind", "said"),
    [
        (
            "--- a/p.txt\n+++ b/p.txt\n@@ -1,2 +1,2 @@\n a\n-bee\n+B\n",
            "no_match",
            r"hunk 1 of 1 for `p.txt` .*-1,2.* does not fit",
        ),
        (
            "--- a/p.txt\n+++ b/p.txt\n@@ -1,1 +1,1 @@\n-a\n+A\n@@ -5 +5 @@\n-eh\n+E\n",
            "no_match",
            "hunk 2 of 2",
        ),
        ("--- a/p.txt\n+++ b/p.txt\n@@ -99,0 +99,1 @@\n+x\n", "no_match", "beyond the file's 10 lines"),
        ("--- a/twice.txt\n+++ b/twice.txt\n@@ -9 +9 @@\n-x\n+y\n", "many_matches", "from lines 1, 3"),
        ("--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-x\n+y\n", "no_such_file", "none.txt"),
        ("--- /dev/null\n+++ b/p.txt\n@@ -0,0 +1 @@\n+x\n", "file_exists", "p.txt"),
        ("--- a/p.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "bad_patch", "leaves 9 lines"),
        ("--- a/p.txt\n+++ b/p.txt\n", "bad_patch", "no hunk follows"),
        ("--- a/p.txt\n+++ b/p.txt\n@@ @@\n-a\n+b\n", "bad_patch", "no hunk header"),
        (
            "--- a/p.txt\n+++ b/p.txt\n@@ -1 +1 @@\nwhat\n",
            "bad_patch",
            "line 9 of the patch begins with neither",
        ),
        ("--- a/p.txt\n+++ b/p.txt\n@@ -1,5 +1,5 @@\n-a\n--- b\n+c\n", "bad_patch", "counts"),
        (
            "*** Begin Patch\n*** Update File: p.txt\n-a\n+b\n*** End Patch\n",
            "bad_patch",
            "belongs to no file",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n",
            "bad_patch",
            "no links",
        ),
        ("diff --git a/l b/l\nGIT binary patch\nliteral 1\n", "bad_patch", "binary"),
        ("diff --git a/p.txt b/x\ncopy from p.txt\ncopy to x\n", "bad_patch", "copies"),
        (GOOD, "bad_patch", "twice"),
        ("--- a/alias.txt\n+++ b/alias.txt\n@@ -2 +2 @@\n-two\n+2\n", "bad_patch", "by different names"),
        ("--- a/alias.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n", "not_a_file", "is a link"),
        ("--- a/binary\n+++ b/binary\n@@ -1 +1 @@\n-x\n+y\n", "not_text", "UTF-8"),
        ("--- a/tests\n+++ b/tests\n@@ -1 +1 @@\n-x\n+y\n", "not_a_file", "tests"),
        (
            "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/new/er\n@@ -0,0 +1 @@\n+x\n",
            "path_limit",
            "through a file",
        ),
        ("--- /dev/null\n+++ b/p.txt/x\n@@ -0,0 +1 @@\n+x\n", "path_limit", "through a file"),
    ],
)
def test_a_patch_that_cannot_be_done_says_where_and_changes_nothing(
    bench: Workbench, patch: str, kind: str, said: str
) -> None:
    write(bench.root, {"twice.txt": "x\n-\nx\n"})
    (bench.root / "alias.txt").symlink_to("q.txt")
    (bench.root / "binary").write_bytes(b"x\xff\n")
    before = snapshot(bench.root)
    result = patched(bench, GOOD + patch)
    assert result.mistake == kind, result.text
    assert re.search(said, result.text), result.text
    assert snapshot(bench.root) == before
    assert not (bench.root / "new").exists()


def test_words_are_no_patch(bench: Workbench) -> None:
    result = patched(bench, "just words\n")
    assert (result.mistake, "@@ -1,2 +1,3 @@" in result.text) == ("bad_patch", True)


def test_a_miss_shows_the_nearest_lines(bench: Workbench) -> None:
    write(bench.root, {"m.py": "def total(prices):\n    return sum(prices)\n"})
    result = patched(
        bench,
        "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n def total(price):\n-    return sum(prices)\n+    "
        "return 0\n",
    )
    assert "1|def total(prices):" in result.text
    assert "hunk 1 of 1 for `m.py`" in result.text


EDIT = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
CREATE = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x = 2\n"
DELETE = "--- a/{0}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
RENAME = "diff --git a/{0} b/tests/moved.py\nrename from {0}\nrename to tests/moved.py\n"
RENAME_TO = "diff --git a/tests/a.py b/{0}\nrename from tests/a.py\nrename to {0}\n"


@pytest.mark.parametrize("how", [EDIT, CREATE, DELETE, RENAME, RENAME_TO])
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tests/test_locked.py", "test_lock"),
        ("src/a.py", "path_limit"),
        ("tests/private/x.py", "path_limit"),
        ("../outside.py", "path_limit"),
        ("/etc/hosts", "path_limit"),
        ("out/outside.py", "path_limit"),
        (".git/config", "path_limit"),
        (".agentforge/config.yaml", "path_limit"),
        ("tests/.env", "path_limit"),
        ("tests/id_rsa", "path_limit"),
        ("tests/to_locked.py", "test_lock"),
    ],
)
def test_no_patch_touches_a_closed_path(bench: Workbench, how: str, path: str, kind: str) -> None:
    files = [
        "tests/test_locked.py",
        "tests/a.py",
        "src/a.py",
        "tests/private/x.py",
        "../outside.py",
        ".git/config",
        ".agentforge/config.yaml",
    ]
    write(bench.root, dict.fromkeys([*files, "tests/.env", "tests/id_rsa", "tests/open.py"], "x = 1\n"))
    (bench.root / "out").symlink_to("..")
    (bench.root / "tests/to_locked.py").symlink_to("test_locked.py")
    before = snapshot(bench.root)
    limited = bridge({"create_file": "{tests},!tests/private/**"})
    result = limited.perform(
        Action("apply_patch", {"patch": EDIT.format("tests/open.py") + how.format(path)}), bench
    )
    is_link = path.endswith("to_locked.py") and how in (DELETE, RENAME)
    assert result.mistake == ("not_a_file" if is_link else kind), result.text
    assert snapshot(bench.root) == before
    assert limited.perform(Action("apply_patch", {"patch": EDIT.format("tests/open.py")}), bench).ok


def test_each_act_of_a_patch_is_held_to_the_limits_of_its_own_tool(bench: Workbench) -> None:
    write(bench.root, {"docs/a.md": "x = 1\n", "src/a.py": "x = 1\n"})
    limited = bridge({"create_file": "docs/**/*", "edit_file": "src/**/*", "delete_file": "src/**/*"})

    def tried(patch: str) -> str:
        return limited.perform(Action("apply_patch", {"patch": patch}), bench).mistake

    assert (
        tried(CREATE.format("src/new.py"))
        == tried(EDIT.format("docs/a.md"))
        == tried(DELETE.format("docs/a.md"))
        == "path_limit"
    )
    assert tried(CREATE.format("docs/new.md") + EDIT.format("src/a.py")) == ""


@pytest.mark.parametrize(
    ("forbidden", "patch"), [("create_file", CREATE), ("edit_file", EDIT), ("delete_file", DELETE)]
)
def test_what_a_role_may_not_do_it_may_not_do_by_a_patch(
    bench: Workbench, forbidden: str, patch: str
) -> None:
    write(bench.root, {} if patch == CREATE else {"a.py": "x = 1\n"})
    before = snapshot(bench.root)
    result = bridge(forbidden=[forbidden]).perform(
        Action("apply_patch", {"patch": patch.format("a.py")}), bench
    )
    assert (result.mistake, forbidden in result.text) == ("forbidden_tool", True)
    assert snapshot(bench.root) == before


# ------------------------------------------------------------------ all or nothing, and in time


def test_a_failure_in_the_middle_takes_everything_back(bench: Workbench) -> None:
    """A file that shall go is not there, which shows when others have gone already."""
    before = snapshot(bench.root)
    with pytest.raises(FileNotFoundError):
        change_all(
            bench.root, ["q.txt", "gone.txt"], {"p.txt": Content(b"new"), "fresh/er/x": Content(b"new")}
        )
    assert snapshot(bench.root) == before
    assert not (bench.root / "fresh").exists()


def test_a_full_disk_in_the_middle_takes_everything_back(tmp_path: Path) -> None:
    write(tmp_path / "tree", {"a.txt": "1\n", "b.txt": "2\n"})
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from agentforge.system.beneath import Content, change_all\n"
        "from agentforge.system.files import disk_errors\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, "
        "4096))\n"
        "with disk_errors(): change_all(Path(sys.argv[1]), ['a.txt'], {'c/new.txt': Content(b'x'), "
        "'b.txt': Content(b'x' * 10_000)})\n"
    )
    before = snapshot(tmp_path / "tree")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tree")], capture_output=True, text=True, check=False
    )
    assert Unusable.__name__ in done.stderr
    assert snapshot(tmp_path / "tree") == before
    assert not (tmp_path / "tree" / "c").exists()


def test_many_files_are_patched_in_seconds(bench: Workbench) -> None:
    count = 1000 if SOAK else 200
    names = [f"pkg{number % 20}/mod{number}.txt" for number in range(count)]
    write(bench.root, {name: "".join(f"{name} line {line}\n" for line in range(60)) for name in names})
    patch = "".join(
        f"--- a/{name}\n+++ b/{name}\n@@ -30,3 +30,3 @@\n {name} line 30\n-{name} line 31\n+changed\n "
        f"{name} line 32\n"
        for name in names
    )
    begun = time.process_time()
    result = patched(bench, patch)
    assert result.ok
    assert time.process_time() - begun < count / 100
    assert len(result.wrote) == count
    assert len(result.text) <= RESULT_CHARS
    assert all("changed" in (bench.root / name).read_text() for name in names)
    assert not list(bench.root.rglob(".tmp-*"))


def test_a_hunk_of_equal_lines_in_a_file_of_equal_lines_takes_no_longer(bench: Workbench) -> None:
    count = 100_000 if SOAK else 20_000
    write(bench.root, {"same.txt": "x\n" * (2 * count)})
    patch = (
        f"--- a/same.txt\n+++ b/same.txt\n@@ -1,{count + 1} +1,{count + 1} @@\n" + " x\n" * count + "-y\n+z\n"
    )
    begun = time.process_time()
    assert patched(bench, patch).mistake == "no_match"
    assert time.process_time() - begun < count / 10_000


@tries(60, HealthCheck.function_scoped_fixture)
@given(files=st.dictionaries(st.sampled_from(["a", "b", "d/c"]), st.tuples(TEXTS, TEXTS), max_size=3))
def test_a_patch_of_many_files_gives_every_file_its_new_text(
    tmp_path: Path, files: dict[str, tuple[str, str]]
) -> None:
    changed = {name: both for name, both in files.items() if diff(*both)}
    if not changed:
        return
    write(tmp_path, {name: old for name, (old, _) in changed.items()})
    result = apply_patch(
        {"patch": "".join(diff(old, new, name) for name, (old, new) in changed.items())},
        Workbench(tmp_path, ran),
    )
    assert result.ok
    assert {name: (tmp_path / name).read_bytes().decode() for name in changed} == {
        name: new for name, (_, new) in changed.items()
    }
