"""Search looks where ripgrep would: not at hidden or ignored files, at those that are asked for, in any case,
with lines around.
"""

import subprocess
import time
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.look.ignoring import Patterns, searched
from agentforge.tools.look.searching import search_codebase
from tests.rows import every

FILES = {
    "a.py": "one\nNeedle here\nthree\nfour\nfive needle\n",
    "docs/a.md": "needle\n",
    "docs/deep/b.md": "needle\n",
    "src/gen/out.py": "needle\n",
    "src/keep.log": "needle\n",
    "src/x.log": "needle\n",
    "build/out.txt": "needle\n",
    "src/build/in.txt": "needle\n",
    "sub/top.txt": "needle\n",
    "sub/only/top.txt": "needle\n",
    "sub/a1.tmp": "needle\n",
    "sub/ax.tmp": "needle\n",
    "odd/#name": "needle\n",
    "odd/!name": "needle\n",
    "odd/star*": "needle\n",
    "odd/starred": "needle\n",
    "odd/end ": "needle\n",
    "mid/one/two/leaf.txt": "needle\n",
    "mid/leaf.txt": "needle\n",
    ".hidden/x.txt": "needle\n",
    ".dotfile": "needle\n",
    "bin.dat": "needle\0\n",
}
IGNORES = {
    ".gitignore": "# remark\n\n*.log\n!keep.log\n/build/\nsrc/gen/\nmid/**/leaf.txt\n"
    "\\#name\n\\!name\nstar\\*\nend\\ \ntrailing   \n[^b]ad\n",
    "sub/.gitignore": "/top.txt\na[0-9].tmp\n",
    "docs/deep/.gitignore": "*\n!*.md\n",
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    for name, text in {
        **FILES,
        **IGNORES,
        "sad": "needle\n",
        "bad": "needle\n",
        "trailing": "needle\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Workbench(tmp_path, lambda _: ToolResult(ok=True, text=""))


def look(bench: Workbench, **args: Json) -> str:
    return search_codebase({"pattern": "needle", **args}, bench).text


def test_the_files_that_git_ignores_and_hidden_ones_are_left_out(bench: Workbench) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=bench.root, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=bench.root, check=True, capture_output=True
    ).stdout
    by_git = {
        path
        for path in listed.decode().split("\0")
        if path and not any(part.startswith(".") for part in path.split("/"))
    }
    found = list(searched(bench.root, bench.root))
    assert set(found) == by_git
    assert len(found) == len(set(found))
    assert {"src/keep.log", "sub/only/top.txt", "odd/starred", "bad", "src/build/in.txt"} <= by_git
    assert set(searched(bench.root, bench.root / "sub")) == {
        path for path in by_git if path.startswith("sub/")
    }


def test_an_ignore_file_of_searches_is_stronger_and_a_named_place_is_looked_at(bench: Workbench) -> None:
    (bench.root / ".ignore").write_text("!x.log\ndocs\n")
    found = set(searched(bench.root, bench.root))
    assert "src/x.log" in found
    assert not {path for path in found if path.startswith("docs")}
    assert look(bench, path="build") == "build/out.txt:1: needle"
    assert look(bench, path=".hidden") == ".hidden/x.txt:1: needle"
    assert look(bench, path="build/out.txt") == "build/out.txt:1: needle"


def test_all_means_hidden_and_ignored_ones_too_and_still_no_repository(bench: Workbench) -> None:
    (bench.root / ".git").mkdir()
    (bench.root / ".git/config").write_text("needle\n")
    text = look(bench, all=True, max=100)
    assert all(f"{name}:" in text for name in (".dotfile", ".hidden/x.txt", "build/out.txt", "src/x.log"))
    assert ".git/config" not in text
    assert "bin.dat" not in text
    assert "all=true" in look(bench, pattern="nowhere")
    assert "all=true" not in look(bench, pattern="nowhere", all=True)


@every(
    ("globs", "wanted"),
    [
        (["*.md"], {"docs/a.md", "docs/deep/b.md"}),
        (["docs/*.md"], {"docs/a.md"}),
        (["docs/**/*.md"], {"docs/a.md", "docs/deep/b.md"}),
        (["src/**"], {"src/gen/out.py", "src/keep.log", "src/x.log", "src/build/in.txt"}),
        (["*.{md,py}"], {"a.py", "docs/a.md", "docs/deep/b.md"}),
        (["*.log", "build/*.txt"], {"src/keep.log", "src/x.log"}),
        (["*.md", "!deep"], {"docs/a.md"}),
        (["*.md", "!docs/a.md"], {"docs/deep/b.md"}),
        (["/a.py"], {"a.py"}),
    ],
)
def test_patterns_say_which_files(bench: Workbench, globs: list[str], wanted: set[str]) -> None:
    assert set(searched(bench.root, bench.root, wanted=globs)) == wanted
    assert set(searched(bench.root, bench.root, wanted=["!*.md"])) == {
        path for path in searched(bench.root, bench.root) if not path.endswith(".md")
    }


@pytest.mark.parametrize("regex", [False, True])
def test_case_and_lines_around(bench: Workbench, *, regex: bool) -> None:
    assert look(bench, path="a.py", regex=regex) == "a.py:5: five needle"
    assert (
        look(bench, path="a.py", regex=regex, ignore_case=True) == "a.py:2: Needle here\na.py:5: five needle"
    )
    around = look(bench, path="a.py", regex=regex, ignore_case=True, context=1)
    assert around == "a.py-1- one\na.py:2: Needle here\na.py-3- three\na.py-4- four\na.py:5: five needle"
    first = look(bench, path="a.py", regex=regex, ignore_case=True, context=1, max=1)
    assert first.startswith("a.py-1- one\na.py:2: Needle here\na.py-3- three\n[1 or more further matches")
    assert (
        look(bench, globs=["*.md"], context=2, regex=regex)
        == "docs/a.md:1: needle\n--\ndocs/deep/b.md:1: needle"
    )
    (bench.root / "a.py").write_text("ÄPFEL\n")
    assert look(bench, pattern="äpfel", ignore_case=True, path="a.py", regex=regex) == "a.py:1: ÄPFEL"


def test_no_pattern_of_a_repository_holds_a_search_up() -> None:
    begun = time.process_time()
    slow = Patterns.read(
        "*a" * 100 + "b\n" + "**/" * 200 + "x\n" + "".join(f"name-{at}-*\n" for at in range(2000))
    )
    for _ in range(20):
        assert slow.says("a" * 250, folder=False) is None
        assert slow.says("/".join(["a"] * 60), folder=True) is None
    assert time.process_time() - begun < 5
