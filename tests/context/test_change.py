"""A change as readers are shown it: whole hunks, in order, in parts, and what nobody was shown."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentforge.activities.reading import locks_a_project, readable_patch
from agentforge.context.change import Kind, ShownHunk, divide, hunks_of, unseen
from agentforge.context.tokens import measured
from agentforge.system.git.repository import Git
from tests.gates.bench_of_judges import WHO

LONG = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def git(tmp_path: Path) -> Git:
    for name, text in {"a.py": LONG, "tests/test_a.py": "x = 1\n", "tool.sh": "ls\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *WHO, *words], cwd=tmp_path, check=True)
    return Git.open(tmp_path)


def tree(git: Git, files: dict[str, str | bytes | None], mode: str = "100644") -> str:
    entries = {
        path: None
        if data is None
        else (mode, git.hash_blob(data if isinstance(data, bytes) else data.encode()))
        for path, data in files.items()
    }
    return git.overlay_tree(git.tree_of(git.head()), entries)


def hunks(git: Git, after: str, kinds: Mapping[str, Kind] | None = None) -> list[ShownHunk]:
    before = git.tree_of(git.head())
    changes = git.diff_names(before, after)
    return hunks_of(git.diff_patch(before, after), changes, kinds or {}, git.numstat(before, after))


def test_source_comes_first_and_what_a_tool_wrote_last_by_its_hash(git: Git) -> None:
    after = tree(git, {"a.lock": "1\n", "b.md": "Hi.\n", "tests/test_a.py": "x = 2\n", "z.py": "y = 1\n"})
    found = hunks(git, after, {"a.lock": "generated", "b.md": "document", "tests/test_a.py": "edited test"})
    assert [hunk.path for hunk in found] == ["z.py", "tests/test_a.py", "b.md", "a.lock"]
    lock = git.hash_blob(b"1\n")
    assert found[-1].text == f"=== a.lock: new and written by a tool, +1 -0, content {'0' * 40}..{lock}"
    assert found[0].text == "=== z.py: new, +1 -0\n@@ -0,0 +1 @@\n+y = 1"


def test_each_hunk_names_its_file_and_modes_links_and_what_is_binary_are_said(git: Git) -> None:
    after = tree(git, {"a.py": LONG.replace("line 3\n", "LINE 3\n").replace("line 33\n", "LINE 33\n")})
    one, two = hunks(git, after)
    assert one.text.startswith("=== a.py: changed, +2 -2; hunk 1 of 2\n@@ -1,7 +1,7 @@")
    assert "hunk 2 of 2" in two.text
    (shell,) = hunks(git, tree(git, {"tool.sh": "ls\n"}, "100755"))
    assert shell.text == "=== tool.sh: changed, old mode 100644, new mode 100755"
    link, *_ = hunks(git, tree(git, {"l": "/etc/passwd"}, "120000"))
    assert link.text.startswith("=== l: new, +1 -0, new file mode 120000\n")
    (binary,) = hunks(git, tree(git, {"b.bin": b"\0\1\2"}))
    assert binary.text.startswith("=== b.bin: new, binary, content ")
    turned = hunks(git, tree(git, {"a.py": "/etc/passwd"}, "120000"))
    assert [hunk.path for hunk in turned] == ["a.py", "a.py"]


def test_a_secret_is_not_shown_and_nothing_hidden_stays_hidden(git: Git) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    (found,) = hunks(git, tree(git, {"k.py": f'KEY = "{key}"\nx = "\u202e"\n'}))
    assert key not in found.text
    assert "<U+202E>" in found.text
    (odd,) = hunks(git, tree(git, {"o\n=== a.py: changed": "x\n"}))
    assert odd.text.splitlines()[0].startswith("=== o\\n=== a.py: changed: new")


def test_what_fits_is_one_part_and_what_does_not_is_read_in_parts_by_file(git: Git) -> None:
    after = tree(git, {f"m{number:02d}.py": LONG for number in range(20)})
    found = hunks(git, after)
    (whole,) = divide(found, 100_000, measured)
    assert (whole.number, whole.of, whole.elsewhere) == (1, 1, ())
    assert whole.text.startswith("=== m00.py")
    parts = divide(found, 1000, measured)
    assert 2 < len(parts) < 20
    assert [hunk for part in parts for hunk in part.hunks] == found
    assert all(sum(measured(hunk.text) for hunk in part.hunks) <= 1000 for part in parts)
    assert parts[1].text.startswith(f"Part 2 of {len(parts)}; each part has a reader of its own.\n")
    assert "m00.py" in parts[1].elsewhere


def test_a_hunk_that_is_longer_than_a_part_is_shown_in_stretches_that_overlap(git: Git) -> None:
    long = "".join(f"number_{number} = {number}\n" for number in range(400)) + "y" * 9000 + "\n"
    found = hunks(git, tree(git, {"n.py": long}))
    parts = divide(found, 600, measured)
    stretches = [hunk for part in parts for hunk in part.hunks]
    assert all(measured(hunk.text) <= 200 for hunk in stretches)
    assert all(sum(measured(hunk.text) for hunk in part.hunks) <= 600 for part in parts)
    assert f"stretch 2 of {len(stretches)}, 3 lines overlap" in stretches[1].text
    one, two = stretches[0].text.splitlines(), stretches[1].text.splitlines()
    assert one[-3:] == two[1:4]
    everything = "\n".join(hunk.text for hunk in stretches)
    assert all(f"+number_{number} = {number}\n" in everything for number in range(400))
    assert everything.count("yyy [the line goes on]") > 1


def test_what_was_cut_or_left_out_was_not_seen(git: Git) -> None:
    found = hunks(git, tree(git, {"a.py": LONG.replace("line 3\n", "LINE 3\n"), "b.py": LONG}))
    (part,) = divide(found, 100_000, measured)
    assert unseen(found, [f"<<<f\n{part.text}\nf>>>"], "f") == []
    assert [hunk.path for hunk in unseen(found, [part.text[:-1]], "f")] == ["b.py"]
    assert [hunk.path for hunk in unseen(found, [found[1].text], "f")] == ["a.py"]
    assert unseen(found, [found[0].text, found[1].text], "f") == []
    assert unseen(found, [], "f") == found


def test_attributes_of_the_repository_hide_no_code_from_its_reader(git: Git) -> None:
    (git.top / ".gitattributes").write_text("*.py -diff\n*.sh binary\n")
    subprocess.run(["git", *WHO, "add", "-A"], cwd=git.top, check=True)
    before, after = git.tree_of(git.head()), tree(git, {"a.py": LONG.replace("line 3\n", "LINE 3\n")})
    assert b"binary" in git.diff_patch(before, after, by_attributes=True), "as git shows it to everybody else"
    (hunk,) = hunks(git, after)
    assert "+LINE 3" in hunk.text


def test_code_with_the_bytes_of_something_binary_is_shown_as_text(git: Git) -> None:
    before = git.tree_of(git.head())
    after = tree(git, {"b.js": b"// \0\nexport const ready = true;\n", "c.png": b"\x89PNG\0\x01"})
    changes = git.diff_names(before, after)
    found = hunks_of(readable_patch(git, before, after, changes), changes, {}, git.numstat(before, after))
    shown = {hunk.path: hunk.text for hunk in found}
    assert "+export const ready = true;" in shown["b.js"]
    assert "binary" in shown["c.png"]


def test_a_lock_counts_by_its_hash_only_where_it_locks_something(git: Git) -> None:
    before = git.tree_of(git.head())
    after = tree(git, {"uv.lock": "1", "shop/uv.lock": "1", "web/yarn.lock": "1", "web/package.json": "{}"})
    found = [
        path
        for path in ("uv.lock", "shop/uv.lock", "web/yarn.lock")
        if locks_a_project(git, before, after, path)
    ]
    assert found == ["uv.lock", "web/yarn.lock"]
    assert locks_a_project(git, after, after, "shop/uv.lock"), "it was there before"
