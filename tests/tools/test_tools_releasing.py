"""Changelogs and release notes of many manners, and the list of what a release needs."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.bridge import TOOLS
from agentforge.tools.change.changelog import has_entry_for, with_entry
from tests.fuzzing import tries
from tests.rows import every

KEPT = """# Changelog

All notable changes.

## [Unreleased]

### Added

- One thing

## [1.1.0] - 2024-02-03

### Fixed
- A bug

[Unreleased]: https://example.org/compare
"""
UNDERLINED = """=========
Changelog
=========

1.2.0 (2024-01-01)
------------------

* A
* B
"""


def no_tests(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("no test was to run")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path, no_tests)


def call(bench: Workbench, tool: str, /, **args: Json) -> ToolResult:
    return TOOLS[tool].call(args, bench)


def added(before: str, after: str) -> list[str]:
    return [
        line[2:] for line in difflib.ndiff(before.split("\n"), after.split("\n")) if line.startswith("+ ")
    ]


def test_an_entry_joins_the_list_of_its_kind_in_the_open_section() -> None:
    placed = with_entry(KEPT, "Add a flag")
    assert placed.text == KEPT.replace("- One thing\n", "- One thing\n- Add a flag\n")
    assert (placed.start, placed.end, placed.section) == (10, 10, "[Unreleased]")


def test_a_kind_that_is_missing_is_made() -> None:
    text = with_entry(KEPT, "Fix the parser").text
    assert "- One thing\n\n### Fixed\n\n- Fix the parser\n\n## [1.1.0]" in text
    assert "### Security\n\n- Close a hole\n" in with_entry(KEPT, "Security: Close a hole").text


def test_link_targets_stay_at_the_end() -> None:
    assert with_entry(KEPT, "Fix it", "1.1.0").text.endswith(
        "- A bug\n- Fix it\n\n[Unreleased]: https://example.org/compare\n"
    )


def test_a_new_version_stands_below_what_is_open_and_above_what_is_out() -> None:
    text = with_entry(KEPT, "Fix it", "1.2.0").text
    assert text.index("[Unreleased]") < text.index("## [1.2.0] - Unreleased") < text.index("## [1.1.0]")


def test_the_newest_heading_is_the_pattern_of_a_new_one() -> None:
    assert (
        "Unreleased\n----------\n\n* Tabs\n\n1.2.0 (2024-01-01)\n------------------\n"
        in with_entry(UNDERLINED, "Tabs").text
    )
    assert (
        "1.3.0 (unreleased)\n------------------\n\n* Tabs\n\n1.2.0"
        in with_entry(UNDERLINED, "Tabs", "1.3.0").text
    )
    assert "## v2.0\n\n- x\n\n## v1.9\n" in with_entry("# Log\n\n## v1.9\n\n- a\n", "x", "2.0").text


@every(
    ("before", "after"),
    [
        ("", "## Unreleased\n\n- x\n"),
        ("# News\n", "# News\n\n## Unreleased\n\n- x\n"),
        ("News\n====\n", "News\n====\n\nUnreleased\n----------\n\n- x\n"),
        ("# Log\n\n## Unreleased\n", "# Log\n\n## Unreleased\n\n- x\n"),
        ("# Log\n\n## Unreleased\n\nWords.\n", "# Log\n\n## Unreleased\n\nWords.\n\n- x\n"),
        ("# Log\n\n## Unreleased\n\n* a\n\n* b\n", "# Log\n\n## Unreleased\n\n* a\n\n* b\n\n* x\n"),
        ("# Log\r\n\r\n## Unreleased\r\n- a\r\n", "# Log\r\n\r\n## Unreleased\r\n- a\r\n- x\r\n"),
    ],
)
def test_each_manner_is_kept(before: str, after: str) -> None:
    assert with_entry(before, "x").text == after


def test_an_entry_of_several_lines_is_one_item_and_given_bullets_are_items() -> None:
    assert added(UNDERLINED, with_entry(UNDERLINED, "one\ntwo", "1.2.0").text) == ["* one", "  two"]
    assert added(UNDERLINED, with_entry(UNDERLINED, "- one\n- two", "1.2.0").text) == ["* one", "* two"]


@every("entry", ["# Title", "x\n=====\n", " \n "])
def test_an_entry_cannot_bring_headings_or_nothing(entry: str) -> None:
    with pytest.raises(ModelMistake) as caught:
        with_entry(KEPT, entry)
    assert caught.value.kind == "bad_arguments"


def test_the_same_entry_twice_is_no_change() -> None:
    with pytest.raises(ModelMistake) as caught:
        with_entry(with_entry(KEPT, "Add a flag").text, "Add a flag")
    assert caught.value.kind == "no_change"


def test_an_entry_for_a_version_is_seen() -> None:
    assert has_entry_for(KEPT, "9.9")
    assert has_entry_for(UNDERLINED, "1.2.0")
    assert not has_entry_for(UNDERLINED, "1.3.0")
    assert not has_entry_for("# Log\n\n## Unreleased\n\n## 1.0\n\n- a\n", "2.0")


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CHANGES.rst", "HISTORY.md", "NEWS", "docs/changelog.md"])
def test_the_changelog_is_found_by_its_name_and_nothing_else_changes(bench: Workbench, name: str) -> None:
    for path in (name, "README.md", "src/changes.md"):
        (bench.root / path).parent.mkdir(parents=True, exist_ok=True)
        (bench.root / path).write_text("Log\n===\n")
    result = call(bench, "generate_changelog", entry="Something new")
    assert result.wrote == (name,)
    assert result.created == ()
    assert "- Something new" in (bench.root / name).read_text()
    assert [(bench.root / path).read_text() for path in ("README.md", "src/changes.md")] == ["Log\n===\n"] * 2


def test_a_project_without_a_changelog_or_with_fragments_is_told_what_to_do(bench: Workbench) -> None:
    with pytest.raises(ModelMistake, match="create_file makes one"):
        call(bench, "generate_changelog", entry="x")
    (bench.root / "CHANGELOG.md").write_text("# Log\n")
    (bench.root / "pyproject.toml").write_text('[tool.towncrier]\ndirectory = "newsfragments"\n')
    with pytest.raises(ModelMistake, match="fragment in `newsfragments`"):
        call(bench, "generate_changelog", entry="x")


def test_a_changelog_that_is_a_link_is_not_followed(bench: Workbench) -> None:
    (bench.root / "code.py").write_text("x = 1\n")
    (bench.root / "CHANGELOG.md").symlink_to("code.py")
    with pytest.raises(ModelMistake) as caught:
        call(bench, "generate_changelog", entry="x")
    assert caught.value.kind == "no_such_file"
    assert (bench.root / "code.py").read_text() == "x = 1\n"


def test_release_notes_are_added_to_in_their_own_manner(bench: Workbench) -> None:
    notes = bench.root / "RELEASE_NOTES.md"
    notes.write_text("# Notes\n\n## 1.0\n\nFirst.\n")
    assert call(bench, "create_release_notes", text="Tabs are read.").ok
    assert notes.read_text() == "# Notes\n\n## Unreleased\n\nTabs are read.\n\n## 1.0\n\nFirst.\n"
    assert call(bench, "create_release_notes", text="## 2.0\n\nMore.", path="RELEASE_NOTES.md").ok
    assert notes.read_text().startswith("# Notes\n\n## 2.0\n\nMore.\n\n## Unreleased\n")
    with pytest.raises(ModelMistake) as caught:
        call(bench, "create_release_notes", text="## 2.0\n\nMore.")
    assert caught.value.kind == "no_change"


def test_release_notes_must_exist_and_be_that(bench: Workbench) -> None:
    (bench.root / "docs" / "releases").mkdir(parents=True)
    for path in ("docs/releases/1.0.md", "README.md", "release_notes.py"):
        (bench.root / path).write_text("# x\n")
    (bench.root / "link.md").symlink_to("README.md")
    for path, kind in [
        ("README.md", "not_release_notes"),
        ("release_notes.py", "not_release_notes"),
        ("link.md", "not_release_notes"),
    ]:
        with pytest.raises(ModelMistake) as caught:
            call(bench, "create_release_notes", text="x", path=path)
        assert caught.value.kind == kind
    for args in ({"path": "RELEASES.md"}, {}):
        with pytest.raises(ModelMistake) as caught:
            call(bench, "create_release_notes", text="x", **args)
        assert caught.value.kind == "no_such_file"
    assert call(bench, "create_release_notes", text="x", path="docs/releases/1.0.md").wrote == (
        "docs/releases/1.0.md",
    )


def test_a_bare_folder_is_not_ready(bench: Workbench) -> None:
    rows = call(bench, "verify_deployment_ready").text.split("\n")
    assert rows[0] == "Not ready: 5 of 7 are missing."
    assert [row.split(":")[0] for row in rows[1:] if row.startswith("ok")] == [
        "ok no merge markers",
        "ok no debugging leftovers",
    ]


def test_a_sound_project_is_ready_and_each_leftover_is_named(bench: Workbench) -> None:
    files = {
        "pyproject.toml": (
            '[project]\nname = "a"\nversion = "1.0"\n[build-system]\nbuild-backend = "flit_core.buildapi"\n'
        ),
        "README.md": "# a\n",
        "LICENSE": "free\n",
        "CHANGELOG.md": "# Log\n\n## 1.0\n\n- a\n",
        "a.py": "x = 1\n",
    }
    for path, text in files.items():
        (bench.root / path).write_text(text)
    sound = Workbench(bench.root, no_tests, changed=lambda: ["CHANGELOG.md", "a.py", "gone.py"])
    assert call(sound, "verify_deployment_ready").text.startswith("Ready: nothing is missing.")
    silent = Workbench(bench.root, no_tests, changed=lambda: ["a.py"])
    assert (
        "missing changelog entry: CHANGELOG.md has no entry for this change"
        in call(silent, "verify_deployment_ready").text
    )
    (bench.root / "a.py").write_text(f"def f():\n    breakpoint()\n{'<' * 7} ours\n")
    rows = call(sound, "verify_deployment_ready").text.split("\n")
    assert rows[0] == "Not ready: 2 of 7 are missing."
    assert "missing no merge markers: a.py:3" in rows
    assert "missing no debugging leftovers: a.py:2" in rows


def test_a_project_file_that_does_not_parse_is_told(bench: Workbench) -> None:
    (bench.root / "pyproject.toml").write_text("[project\n")
    with pytest.raises(ModelMistake, match="not valid TOML"):
        call(bench, "verify_deployment_ready")


def test_a_file_that_may_not_be_read_as_text_is_left_alone(bench: Workbench) -> None:
    (bench.root / "CHANGELOG.md").write_bytes(os.fsencode("caf\udce9\n"))
    with pytest.raises(ModelMistake) as caught:
        call(bench, "generate_changelog", entry="x")
    assert caught.value.kind == "not_text"


LINES = st.sampled_from(
    [
        "# Log",
        "## [Unreleased]",
        "## 1.0",
        "### Fixed",
        "- a",
        "  more",
        "",
        "1.1 (2020-01-01)",
        "----------------",
        "====",
        "```",
        "words",
        "[1]: x",
    ]
)


@tries(300)
@given(lines=st.lists(LINES, max_size=14), version=st.sampled_from(["", "1.0", "2.0"]), bullet=st.booleans())
def test_whatever_the_file_its_words_stay_and_the_entry_is_where_it_is_said_to_be(
    lines: list[str], version: str, bullet: bool
) -> None:
    placed = with_entry("\n".join(lines), "Fix the parser", version, bullet=bullet)
    after = placed.text.split("\n")
    assert "Fix the parser" in after[placed.start - 1]
    left = iter(after)
    assert all(line in left for line in lines if line)
    with pytest.raises(ModelMistake):
        with_entry(placed.text, "Fix the parser", version, bullet=bullet)
