"""Writing tools on a real tree: literal edits that keep every other byte, and mistakes that say what to
change.
"""

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import OpenedRange, ToolResult, Workbench
from agentforge.tools.bridge import TOOLS
from agentforge.tools.change.nearest import describe_miss
from agentforge.tools.change.writing import _spliced
from tests.rows import every

CODE = "import os\n\n\ndef one() -> int:\n    return 1\n\n\ndef two() -> int:\n    return 2\n"


def no_tests(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("no test was to run")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "a.py").write_text(CODE)
    return Workbench(tmp_path, no_tests)


def call(bench: Workbench, tool: str, /, **args: Json) -> ToolResult:
    return TOOLS[tool].call(args, bench)


def mistake(bench: Workbench, tool: str, /, **args: Json) -> ModelMistake:
    with pytest.raises(ModelMistake) as caught:
        call(bench, tool, **args)
    return caught.value


def test_create_file_makes_directories_and_opens_what_it_wrote(bench: Workbench) -> None:
    result = call(bench, "create_file", path="new dir/ü.py", content="x = 1\ny = 2\n")
    assert (bench.root / "new dir" / "ü.py").read_bytes() == b"x = 1\ny = 2\n"
    assert result.wrote == result.created == ("new dir/ü.py",)
    assert result.opened == (OpenedRange("new dir/ü.py", 1, 2),)


def test_create_file_overwrites_only_what_this_role_created(bench: Workbench) -> None:
    assert mistake(bench, "create_file", path="a.py", content="").kind == "file_exists"
    assert (bench.root / "a.py").read_text() == CODE
    later = bench.after(call(bench, "create_file", path="b.py", content="1\n"))
    again = call(later, "create_file", path="./b.py", content="2\n")
    assert again.created == ()
    assert again.wrote == ("b.py",)
    assert (bench.root / "b.py").read_text() == "2\n"
    same = call(later, "create_file", path="b.py", content="2\n")
    assert (same.wrote, "nothing changed" in same.text) == ((), True)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a.py/x", "path"), ("d", "not_a_file"), ("../x", "path"), ("/x", "path"), (".git/x", "path")],
)
def test_create_file_refuses_what_cannot_be_a_new_file(bench: Workbench, path: str, kind: str) -> None:
    (bench.root / "d").mkdir()
    assert mistake(bench, "create_file", path=path, content="x").kind == kind


def test_a_lone_surrogate_is_a_mistake_and_leaves_no_file(bench: Workbench) -> None:
    assert mistake(bench, "create_file", path="s.txt", content="\ud800").kind == "not_text"
    assert not (bench.root / "s.txt").exists()


def test_edit_file_replaces_the_one_match_and_opens_its_symbol(bench: Workbench) -> None:
    result = call(
        bench, "edit_file", path="a.py", old="    return 2\n", new="    value = 2\n    return value\n"
    )
    assert (bench.root / "a.py").read_text() == CODE.replace(
        "    return 2\n", "    value = 2\n    return value\n"
    )
    assert result.opened == (OpenedRange("a.py", 8, 10, "two"),)
    assert result.wrote == ("a.py",)
    assert result.created == ()


def test_an_edit_in_no_symbol_opens_the_lines_around(bench: Workbench) -> None:
    assert call(bench, "edit_file", path="a.py", old="import os", new="import sys").opened == (
        OpenedRange("a.py", 1, 9),
    )


def test_a_miss_answers_with_the_nearest_lines(bench: Workbench) -> None:
    found = mistake(bench, "edit_file", path="a.py", old="def twoo() -> int:\n    return 2\n", new="x")
    assert found.kind == "no_match"
    assert "8|def two() -> int:\n9|    return 2" in found.text


def test_a_miss_by_white_space_says_so(bench: Workbench) -> None:
    found = mistake(bench, "edit_file", path="a.py", old="def two() -> int:\n\treturn 2", new="x")
    assert "white space differs from line 8" in found.text


def test_line_numbers_before_the_lines_of_an_edit_are_left_out(bench: Workbench) -> None:
    done = call(bench, "edit_file", path="a.py", old="8|def two() -> int:", new="8|def three() -> int:")
    assert "line numbers" in done.text
    assert (bench.root / "a.py").read_text() == CODE.replace("two", "three")
    missed = mistake(bench, "edit_file", path="a.py", old="8|def nine() -> int:", new="x")
    assert "line numbers" in missed.text


def test_a_miss_like_nothing_says_so(bench: Workbench) -> None:
    assert (
        "nothing there is like it" in mistake(bench, "edit_file", path="a.py", old="§§§§§§§§", new="x").text
    )


def test_several_matches_answer_with_their_lines(bench: Workbench) -> None:
    found = mistake(bench, "edit_file", path="a.py", old="() -> int:", new="x")
    assert found.kind == "many_matches"
    assert "2 times" in found.text
    assert "lines 4, 8" in found.text
    (bench.root / "o.txt").write_text("aaa")
    assert mistake(bench, "edit_file", path="o.txt", old="aa", new="b").kind == "many_matches"


def test_an_edit_that_changes_nothing_is_a_mistake(bench: Workbench) -> None:
    assert mistake(bench, "edit_file", path="a.py", old="import os", new="import os").kind == "no_change"
    assert (
        mistake(bench, "edit_file", path="a.py", old="    return 2\n", new="    return 2").kind == "no_change"
    )


def test_an_empty_old_text_fills_an_empty_file_only(bench: Workbench) -> None:
    assert mistake(bench, "edit_file", path="a.py", old="", new="x").kind == "bad_arguments"
    (bench.root / "__init__.py").touch()
    call(bench, "edit_file", path="__init__.py", old="", new="x = 1\n")
    assert (bench.root / "__init__.py").read_text() == "x = 1\n"


def test_what_is_not_text_or_not_there_cannot_be_edited(bench: Workbench) -> None:
    (bench.root / "wide.txt").write_bytes("café\n".encode("utf-16"))
    assert mistake(bench, "edit_file", path="wide.txt", old="caf", new="x").kind == "not_text"
    assert (bench.root / "wide.txt").read_bytes() == "café\n".encode("utf-16")
    assert mistake(bench, "edit_file", path="nope", old="a", new="b").kind == "no_such_file"


def test_a_file_in_another_encoding_keeps_its_bytes_and_takes_ascii_alone(bench: Workbench) -> None:
    before = b"# -*- coding: latin-1 -*-\r\nname = 'Zo\xeb'\r\n\r\ndef one():\r\n    return 1  # \xe9\xe8\r\n"
    path = bench.root / "latin.py"
    path.write_bytes(before)
    done = call(bench, "edit_file", path="latin.py", old="return 1", new="x = 2\n    return x")
    after = before.replace(b"return 1", b"x = 2\r\n    return x")
    assert path.read_bytes() == after
    assert done.text.isascii()
    for new in ("'Zoë'", "\udceb", "\ufffd"):
        refused = mistake(bench, "edit_file", path="latin.py", old="return x", new=new)
        assert (refused.kind, path.read_bytes()) == ("not_text", after)
    missed = mistake(bench, "edit_file", path="latin.py", old="name = 'Zoe'", new="name = 'Zoe'  # x")
    missed.text.encode() if hasattr(missed, "text") else str(missed).encode()
    call(bench, "edit_file", path="latin.py", old="name = 'Zo\ufffd'", new="name = 'Zoe'")
    assert path.read_bytes() == after.replace(b"Zo\xeb", b"Zoe")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\nb\r\nc\n", "b", "x\ny", b"a\nx\ny\r\nc\n"),
        (b"a\r\nb\r\nc", "c", "d\ne", b"a\r\nb\r\nd\r\ne"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb\n", "b\n", "c", b"a\nc\n"),
        (b"a\nb\n", "b\n", "", b"a\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"a\rb\n", "b", "c", b"a\rc\n"),
    ],
)
def test_an_edit_keeps_line_endings_and_the_final_newline(
    bench: Workbench, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = bench.root / "f.txt"
    path.write_bytes(before)
    call(bench, "edit_file", path="f.txt", old=old, new=new)
    assert path.read_bytes() == after


@given(
    lines=st.lists(st.tuples(st.sampled_from(["", "a", "bb"]), st.sampled_from(["\n", "\r\n"])), max_size=8),
    data=st.data(),
)
def test_a_splice_leaves_every_other_byte_as_it_was(
    lines: list[tuple[str, str]], data: st.DataObject
) -> None:
    raw = "".join(text + ending for text, ending in lines)
    plain = raw.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    result = _spliced(raw, start, end, "NEW")
    head, tail = result.split("NEW")
    assert head.replace("\r\n", "\n") == plain[:start]
    assert tail.replace("\r\n", "\n") == plain[end:]
    assert raw.startswith(head)
    assert raw.endswith(tail)


def test_an_edit_keeps_the_mode(bench: Workbench) -> None:
    (bench.root / "a.py").chmod(0o755)
    call(bench, "edit_file", path="a.py", old="import os", new="import sys")
    assert stat.S_IMODE((bench.root / "a.py").stat().st_mode) == 0o755


def test_delete_file_removes_one_file(bench: Workbench) -> None:
    result = call(bench, "delete_file", path="a.py")
    assert result.wrote == ("a.py",)
    assert not (bench.root / "a.py").exists()
    assert mistake(bench, "delete_file", path="a.py").kind == "no_such_file"
    (bench.root / "d").mkdir()
    assert mistake(bench, "delete_file", path="d").kind == "not_a_file"


def test_deleting_a_link_leaves_what_it_leads_to(bench: Workbench) -> None:
    (bench.root / "link.py").symlink_to("a.py")
    assert call(bench, "delete_file", path="link.py").wrote == ("link.py",)
    assert not os.path.lexists(bench.root / "link.py")
    assert (bench.root / "a.py").read_text() == CODE


def test_writing_through_a_link_reports_the_real_path(bench: Workbench) -> None:
    (bench.root / "link.py").symlink_to("a.py")
    assert call(bench, "edit_file", path="link.py", old="import os", new="import sys").wrote == ("a.py",)
    assert (bench.root / "link.py").is_symlink()


@pytest.mark.slow
@every(
    ("text", "old"),
    [
        ("a\n" * 200_000, "a\n" * 100_000 + "b\n"),
        ("a b\n" * 100_000, "ab\n" * 50_000 + "c\n"),
        ("\n".join(f"{'ab' * 190}{number}" for number in range(5000)), "ba" * 200),
        (
            "\n".join("ab" * 100 + "ba" * (number % 90) + "a" * number for number in range(190)) * 20,
            "ba" * 199,
        ),
    ],
)
def test_looking_for_what_was_meant_does_not_take_long_in_a_huge_text_of_equal_lines(
    text: str, old: str
) -> None:
    started = time.process_time()
    assert describe_miss(text, old, "a.txt").startswith("`old` is not in `a.txt`")
    assert time.process_time() - started < 5


@every(
    ("old", "new", "becomes"),
    [
        ("def two() -> int:  \n    return 2  ", "def two() -> int:\n    return 3", "    return 3\n"),
        (
            "return 2\n",
            "value = 2\nif value:\n    return value\n",
            "    value = 2\n    if value:\n        return value\n",
        ),
        ("\t    return 2\n", "\t    return 3\n", "    return 3\n"),
    ],
)
def test_white_space_that_can_only_be_meant_one_way_is_the_files_own(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str, becomes: str
) -> None:
    top = tmp_path_factory.mktemp("edit")
    (top / "a.py").write_text(CODE)
    call(Workbench(top, no_tests), "edit_file", path="a.py", old=f"{old} ", new=new)
    assert (top / "a.py").read_text() == CODE.replace("    return 2\n", becomes)


@every(
    ("old", "new"),
    [
        ("  return 1\n return 2", "x"),  # lines that do not stand together
        ("def two() -> int:\n\treturn 2", "x"),  # another indent in one line only
        ("def  one() -> int:", "x"),  # blanks inside a line
        ("      ", "x"),
    ],
)
def test_white_space_that_leaves_a_doubt_is_a_miss(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    top = tmp_path_factory.mktemp("edit")
    (top / "a.py").write_text(CODE)
    assert mistake(Workbench(top, no_tests), "edit_file", path="a.py", old=old, new=new).kind == "no_match"
    assert (top / "a.py").read_text() == CODE


def test_of_two_places_that_differ_by_white_space_none_is_taken(bench: Workbench) -> None:
    (bench.root / "b.py").write_text("if a:\n    x = 1\nif b:\n        x = 1\n")
    assert mistake(bench, "edit_file", path="b.py", old="\tx = 1\n", new="y").kind == "no_match"


def test_an_edit_that_was_made_before_changes_nothing_and_says_so(bench: Workbench) -> None:
    edit: dict[str, Json] = {"path": "a.py", "old": "    return 2\n", "new": "    return 2 + 0\n"}
    call(bench, "edit_file", **edit)
    again = call(bench, "edit_file", **edit)
    assert (again.ok, again.wrote) == (True, ())
    assert "`new` stands there already, from line 9" in again.text


def test_an_edit_whose_new_text_stands_elsewhere_is_not_said_to_be_made(bench: Workbench) -> None:
    (bench.root / "b.py").write_text("def one():\n    return None\n\n\ndef two():\n    return 2\n")
    said = call(bench, "edit_file", path="b.py", old="    return two\n", new="    return None\n")
    assert said.wrote == ()
    assert "if another place was meant, it is not: quote as `old` what stands there now" in said.text


@every(
    ("path", "meant"),
    [
        ("pkg/quantity.py", "`src/pkg/quantity.py`"),
        ("src/pkg/quantities.py", "`src/pkg/quantity.py`"),
        ("./quantity.py", "`src/pkg/quantity.py`"),
        ("zzz", "create_file makes one"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_file_that_was_meant(
    tmp_path_factory: pytest.TempPathFactory, path: str, meant: str
) -> None:
    top = tmp_path_factory.mktemp("near")
    (top / "src/pkg").mkdir(parents=True)
    (top / "src/pkg/quantity.py").write_text(CODE)
    assert meant in mistake(Workbench(top, no_tests), "edit_file", path=path, old="a", new="b").text


def test_an_edit_whose_new_lines_follow_the_file_while_its_old_ones_do_not_is_not_guessed(
    bench: Workbench,
) -> None:
    said = mistake(
        bench,
        "edit_file",
        path="a.py",
        old="    def one() -> int:\n        return 1",
        new="def one():\n    return 3",
    )
    assert "white space differs from line 4" in said.text
    assert (bench.root / "a.py").read_text() == CODE


def test_blanks_at_the_ends_of_lines_stay_where_the_file_and_the_new_text_have_them(bench: Workbench) -> None:
    (bench.root / "a.md").write_text("one  \ntwo\n")
    call(bench, "edit_file", path="a.md", old="one\ntwo", new="one\ntwo  \nthree\n")
    assert (bench.root / "a.md").read_text() == "one  \ntwo  \nthree\n"


def test_old_text_of_blanks_alone_is_not_taken_for_line_numbers(bench: Workbench) -> None:
    assert "nothing but white space" in mistake(bench, "edit_file", path="a.py", old=" \n \n", new="x").text
