"""Reading tools on a real tree."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import RESULT_CHARS, OpenedRange, ToolResult, Workbench, bounded
from agentforge.tools.bridge import TOOLS
from agentforge.tools.look.regex_child import required
from tests.rows import every

CODE = '''"""A module."""

LIMIT = 3


class Parser:
    """Parses."""

    def feed(self, text: str) -> int:
        def inner() -> int:
            return 1
        return len(text) + inner()


def main() -> None:
    Parser().feed("x")
'''


def no_tests(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("no test was to run")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").write_text(CODE)
    (tmp_path / "src" / "other.py").write_text("def feed() -> None:\n    pass\n")
    (tmp_path / "README.md").write_text("# Read me\nfeed the parser\n")
    (tmp_path / "data.bin").write_bytes(b"\0\1feed")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("feed = secret\n")
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "ünï.txt").write_text("feed\n")
    return Workbench(tmp_path, no_tests)


def call(bench: Workbench, tool: str, /, **args: Json) -> ToolResult:
    return TOOLS[tool].call(args, bench)


def test_list_files_is_sorted_relative_and_without_git(bench: Workbench) -> None:
    assert call(bench, "list_files").text.split("\n") == [
        "README.md",
        "data.bin",
        "a b/ünï.txt",
        "src/other.py",
        "src/parser.py",
    ]
    assert call(bench, "list_files", path="src").text.split("\n") == ["src/other.py", "src/parser.py"]
    assert call(bench, "list_files", pattern="*.py").text.split("\n") == ["src/other.py", "src/parser.py"]
    assert call(bench, "list_files", pattern="src/p*").text == "src/parser.py"
    assert call(bench, "list_files", pattern="*.rs").text.startswith("No files")


def test_too_many_files_become_directories_with_counts(bench: Workbench) -> None:
    for number in range(300):
        folder = bench.root / "many" / f"d{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}").touch()
    text = call(bench, "list_files").text
    assert "many/ (300 files)" in text
    assert "README.md" in text
    assert "many/d1/ (100 files)" in call(bench, "list_files", path="many").text


def test_outline_names_symbols_with_their_lines(bench: Workbench) -> None:
    text = call(bench, "outline", path="src/parser.py").text
    assert "6-12 class class Parser" in text
    assert "9-12 method def feed(self, text: str) -> int" in text


def test_read_file_numbers_lines_and_opens_the_range(bench: Workbench) -> None:
    result = call(bench, "read_file", path="./src/parser.py", start=9, end=10)
    assert "9|    def feed(self, text: str) -> int:\n10|        def inner() -> int:" in result.text
    assert result.opened == (OpenedRange("src/parser.py", 9, 10),)


def test_read_file_says_how_to_get_the_rest(bench: Workbench) -> None:
    (bench.root / "long.txt").write_text("\n".join(f"row {number}" for number in range(1, 1001)))
    first = call(bench, "read_file", path="long.txt")
    assert first.opened == (OpenedRange("long.txt", 1, 400),)
    assert "lines 1-400 of 1000" in first.text
    assert "start=401" in first.text
    last = call(bench, "read_file", path="long.txt", start=801)
    assert last.opened == (OpenedRange("long.txt", 801, 1000),)
    assert "start=" not in last.text


def test_a_wide_file_stays_within_the_bound(bench: Workbench) -> None:
    (bench.root / "wide.txt").write_text("\n".join("x" * 3000 for _ in range(400)))
    result = call(bench, "read_file", path="wide.txt")
    assert len(result.text) <= RESULT_CHARS
    assert "cut here" in result.text
    assert "your working set shows it whole" in result.text


@pytest.mark.parametrize(
    ("data", "says"), [(b"\0\0", "binary"), (b"x" * 2_000_001, "too large"), (b"", "empty")]
)
def test_what_cannot_be_shown_is_answered_in_a_sentence(bench: Workbench, data: bytes, says: str) -> None:
    (bench.root / "odd").write_bytes(data)
    result = call(bench, "read_file", path="odd")
    assert result.ok
    assert says in result.text
    assert not result.opened


def test_only_newlines_count_as_line_ends(bench: Workbench) -> None:
    (bench.root / "odd.py").write_bytes("a = 1\x0c\r\nb = '\u2028'\nc = 3\n".encode())
    result = call(bench, "read_file", path="odd.py")
    assert result.opened == (OpenedRange("odd.py", 1, 3),)
    assert "3|c = 3" in result.text


@every(
    "path",
    ["nope.py", "src", "../x", "/etc/passwd", ".git/config", ".GIT/config", "src/../../x", "a\0b", "x" * 300],
)
def test_a_bad_path_is_a_mistake(bench: Workbench, path: str) -> None:
    for tool in ("read_file", "outline"):
        with pytest.raises(ModelMistake):
            call(bench, tool, path=path)


@pytest.mark.parametrize("span", [(99, 100), (5, 4)])
def test_a_range_outside_of_the_file_names_its_length(bench: Workbench, span: tuple[int, int]) -> None:
    with pytest.raises(ModelMistake, match="16 lines"):
        call(bench, "read_file", path="src/parser.py", start=span[0], end=span[1])


def test_a_link_out_of_the_tree_is_neither_read_listed_nor_searched(
    bench: Workbench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.txt"
    secret.write_text("feed me\n")
    (bench.root / "leak.txt").symlink_to(secret)
    (bench.root / "leakdir").symlink_to(secret.parent)
    with pytest.raises(ModelMistake):
        call(bench, "read_file", path="leak.txt")
    assert "leak" not in call(bench, "list_files").text
    assert "leak" not in call(bench, "search_codebase", pattern="feed").text
    assert "leak" not in call(bench, "search_codebase", pattern="fe+d", regex=True).text


def test_read_symbol_finds_methods_and_nested_functions(bench: Workbench) -> None:
    result = call(bench, "read_symbol", name="Parser.feed", path="src/parser.py")
    assert result.opened == (OpenedRange("src/parser.py", 9, 12, "Parser.feed"),)
    assert call(bench, "read_symbol", name="Parser.feed").opened == result.opened
    assert call(bench, "read_symbol", name="Parser.feed.inner").opened[0].start == 10


def test_read_symbol_that_is_in_several_files_asks_which(bench: Workbench) -> None:
    result = call(bench, "read_symbol", name="feed")
    assert "2 files" in result.text
    assert "src/other.py:1-2" in result.text
    assert not result.opened


def test_a_missing_symbol_names_what_is_like_it(bench: Workbench) -> None:
    with pytest.raises(ModelMistake, match=r"Parser\.feed"):
        call(bench, "read_symbol", name="Parser.fed", path="src/parser.py")
    with pytest.raises(ModelMistake, match="search_codebase"):
        call(bench, "read_symbol", name="nowhere")


def test_search_is_literal_by_default(bench: Workbench) -> None:
    text = call(bench, "search_codebase", pattern="feed(").text
    assert text.split("\n") == [
        "src/other.py:1: def feed() -> None:",
        "src/parser.py:9: def feed(self, text: str) -> int:",
        'src/parser.py:16: Parser().feed("x")',
    ]
    assert call(bench, "search_codebase", pattern="f.ed").text.startswith("No match")


def test_search_by_regular_expression_within_a_path(bench: Workbench) -> None:
    assert (
        call(bench, "search_codebase", pattern=r"^class \w+", regex=True).text
        == "src/parser.py:6: class Parser:"
    )
    assert (
        "parser" not in call(bench, "search_codebase", pattern="f..d", regex=True, path="src/other.py").text
    )
    assert "a b/ünï.txt:1: feed" in call(bench, "search_codebase", pattern="^feed$", regex=True).text


def test_search_says_how_many_matches_it_did_not_show(bench: Workbench) -> None:
    (bench.root / "many.txt").write_text("needle\n" * 100)
    text = call(bench, "search_codebase", pattern="needle", max=5).text
    assert text.count("needle") == 5
    assert "95 or more further" in text


@every(
    ("pattern", "held"),
    [
        ("needle_[a-z]+_hay", b"needle_"),
        ("a|needle", b""),
        ("(?i)needle", b""),
        ("(needle)?x", b"x"),
        ("(?:needle)+", b""),
        ("ab*cd", b"cd"),
        ("^é+über$", "über".encode()),
        (r"\bword\b", b"word"),
        (r"\.py", b".py"),
        ("", b""),
    ],
)
def test_what_every_match_holds_is_known_before_the_search(pattern: str, held: bytes) -> None:
    assert required(pattern) == held


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<x>a)(?P<x>b)", "(" * 400])
def test_a_broken_regular_expression_is_a_mistake(bench: Workbench, pattern: str) -> None:
    with pytest.raises(ModelMistake, match="not a regular expression"):
        call(bench, "search_codebase", pattern=pattern, regex=True)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*)*,(.*)*;x"])
def test_a_pattern_that_never_ends_is_ended(
    bench: Workbench, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentforge.tools.look.searching.REGEX_SECONDS", 0.5)
    (bench.root / "trap.txt").write_text("a" * 1900 + "b\n;x\n")
    started = time.monotonic()
    with pytest.raises(ModelMistake) as caught:
        call(bench, "search_codebase", pattern=pattern, regex=True)
    assert caught.value.kind == "slow_pattern"
    assert time.monotonic() - started < 60, "without a limit it would take years"


def test_a_pipe_in_the_tree_blocks_nothing(bench: Workbench) -> None:
    os.mkfifo(bench.root / "pipe")
    assert "pipe" not in call(bench, "list_files").text
    assert "not a regular file" in call(bench, "read_file", path="pipe").text
    call(bench, "search_codebase", pattern="feed")


def test_bounded_keeps_both_ends_and_the_limit() -> None:
    text = "a" * 5000 + "b" * 5000
    cut = bounded(text)
    assert len(cut) <= RESULT_CHARS
    assert cut.startswith("aaa")
    assert cut.endswith("bbb")
    assert "characters cut here" in cut
    assert bounded("short") == "short"
