"""The map: ranked by the request, a prefix of one list, the same on every machine."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.context.code_index import CodeIndex
from agentforge.context.ranking import Focus, rank
from agentforge.context.repository_map import repo_map
from agentforge.context.tokens import measured
from agentforge.languages.facts import facts_of

PARSER = "class Parser(Base):\n    async def feed(self, data: bytes) -> None: ...\n\ndef helper(*args): ...\n"
TREE = {f"pkg/m{number}.py": f"def job_{number}(): ...\n" for number in range(30)} | {
    "pkg/parsing.py": PARSER,
    "pkg/base.py": "class Base: ...\n",
    "tests/test_parsing.py": "from pkg.parsing import Parser\ndef test_feed(): Parser().feed(b'')\n",
    "docs/index.md": "How to feed a parser.\n",
}


def test_the_file_that_a_request_is_about_comes_first_with_its_signatures() -> None:
    drawn = repo_map(CodeIndex.of_texts(TREE), Focus("Feeding the parser twice fails"), 400).splitlines()
    assert drawn[0] == "34 files: pkg/ 32, docs/ 1, tests/ 1"
    assert drawn[1] == "pkg/parsing.py"
    assert "  2: async def Parser.feed(self, data: bytes) -> None" in drawn[2:5]


def test_what_a_ranked_file_uses_is_ranked_too() -> None:
    best = rank(CodeIndex.of_texts(TREE), Focus("the parser")).best()
    assert best.index("pkg/base.py") < best.index("pkg/m0.py")


def test_folders_that_tools_made_are_on_no_map_unless_the_request_names_a_file_of_them() -> None:
    made = "parser.egg-info/feed_parser.py"
    index = CodeIndex.of_texts({**TREE, made: PARSER, "web/node_modules/feed/parser.js": "feed parser"})
    drawn = repo_map(index, Focus("feed a parser"), 4000)
    assert "egg-info" not in drawn
    assert "node_modules" not in drawn
    assert drawn.startswith(f"{len(TREE)} files")
    assert made in repo_map(index, Focus("feed a parser", (made,)), 4000)


@pytest.mark.slow
def test_a_large_tree_still_shows_files_by_name() -> None:
    many = {f"lib/part{number // 50}/unit_{number}.py": facts_of("", "x.py") for number in range(20_000)}
    index = CodeIndex.of({**many, "lib/billing/invoice.py": facts_of("def total_due(): ...", "a.py")})
    drawn = repo_map(index, Focus("The invoice total is wrong"), 300)
    assert "lib/billing/invoice.py\n  1: def total_due()" in drawn
    assert drawn.startswith("20001 files: ")


WORDS = st.sampled_from(["cache", "parser", "feed", "token", "läng", "x" * 300, "日本", "<<<", "a b"])
FILES = st.dictionaries(
    st.builds("{}/{}.{}".format, WORDS, WORDS, st.sampled_from(["py", "go", "md", "rs"])),
    st.builds(lambda words: "".join(f"def {word}(): ...\n" for word in words), st.lists(WORDS, max_size=5)),
    max_size=12,
)


@given(files=FILES, request=st.lists(WORDS, max_size=4), budget=st.integers(-5, 900), seed=st.integers(0, 99))
def test_a_map_keeps_its_budget_grows_with_it_and_hangs_on_no_order(
    files: dict[str, str], request: list[str], budget: int, seed: int
) -> None:
    focus = Focus(" ".join(request))
    small = repo_map(CodeIndex.of_texts(files), focus, budget)
    assert not small or measured(small) <= budget
    large = repo_map(CodeIndex.of_texts(files), focus, budget + 200)
    assert set(small.splitlines()) <= set(large.splitlines())
    paths = list(files)
    random.Random(seed).shuffle(paths)
    assert repo_map(CodeIndex.of_texts({path: files[path] for path in paths}), focus, budget) == small


def test_an_index_after_a_change_is_the_index_of_the_changed_tree() -> None:
    before = CodeIndex.of_texts(TREE)
    changed = {**TREE, "pkg/parsing.py": "class Other: ...\n", "new.py": "def job_3(): ...\n"}
    del changed["pkg/m7.py"]
    step = {
        "pkg/parsing.py": facts_of(changed["pkg/parsing.py"], "a.py"),
        "new.py": facts_of(changed["new.py"], "a.py"),
        "pkg/m7.py": None,
    }
    after, fresh = before.with_files(step), CodeIndex.of_texts(changed)
    assert after == fresh
    assert list(after.files) == list(fresh.files)


def test_overloads_and_copies_are_told_once_and_variables_of_tests_are_not() -> None:
    overloads = (
        "@overload\ndef pad(a: int): ...\n@overload\ndef pad(a: str): ...\ndef pad(a):\n    return a\n"
    )
    four = "".join(f"def part_{letter}(a):\n    return a\n" for letter in "abcd")
    texts = {
        "src/pads.py": overloads,
        "src/parts.py": four,
        "built/parts.py": four,
        "tests/test_pads.py": "KEPT = 1\n\n\ndef test_pad():\n    pass\n",
    }
    drawn = repo_map(CodeIndex.of_texts(texts), Focus("pad and part"), 2000)
    assert drawn.count("def pad(") == 1
    assert drawn.count("def part_a(") == 1
    assert "defines just what " in drawn
    assert "KEPT" not in drawn
    assert "def test_pad" in drawn


def test_what_shares_no_word_with_the_request_is_told_by_line_and_name_with_its_class() -> None:
    methods = "".join(f"    def step_{number}(self, data: bytes) -> None: ...\n" for number in range(30))
    text = f"class Parser:\n    def feed(self, data: bytes) -> None: ...\n{methods}\ndef helper(): ...\n"
    drawn = repo_map(CodeIndex.of_texts({"pkg/parsing.py": text}), Focus("feeding twice"), 400)
    assert "  2: def Parser.feed(self, data: bytes) -> None" in drawn
    assert "  Parser: 3 step_0, 4 step_1, " in drawn
    assert "32 step_29" in drawn
    assert "34 helper" in drawn
    assert "def Parser.step_" not in drawn
    assert max(map(len, drawn.splitlines())) <= 100


def test_a_pointed_overload_is_told_once() -> None:
    text = "@overload\ndef pad(a: int): ...\n@overload\ndef pad(a: str): ...\ndef pad(a):\n    return a\n"
    index = CodeIndex.of_texts({"src/pads.py": text})
    drawn = repo_map(index, Focus("pad"), 400, ("src/pads.py::pad",))
    assert drawn.count("def pad(") == 1
    assert "  5: def pad(a)" in drawn
