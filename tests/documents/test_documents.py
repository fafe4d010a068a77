"""Markdown that people and programs write together: what is read, and that nothing else is touched."""

import pytest

from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.items import items, labelled
from agentforge.documents.outline import appended, content, named, outline, with_body
from agentforge.documents.tables import spell_table, tables, with_cell, with_row
from tests.documents.seed_examples import ACTIVE_WORKFLOW, HANDOFF
from tests.rows import every

_PAGE = """\
# Page

Setext title
------------

```markdown
## Final Decision
```

<!--
## Hidden
-->

## 2. **Final** Decision: JWT ##

It is *JWT*.

### Why

Because.

    ## Indented code

## Last
"""


def test_only_headings_that_a_reader_would_see_are_headings() -> None:
    assert [(each.level, each.title) for each in outline(_PAGE)] == [
        (1, "Page"),
        (2, "Setext title"),
        (2, "2. **Final** Decision: JWT"),
        (3, "Why"),
        (2, "Last"),
    ]


def test_a_section_is_found_by_its_words_and_holds_its_sub_headings() -> None:
    found = named(_PAGE, "Final Decision")
    assert found is not None
    assert "Because." in content(_PAGE, found)
    assert "Last" not in content(_PAGE, found)
    assert named(_PAGE, "Hidden") is None


@every(
    ("title", "name", "same"),
    [
        ("Kill Switch criteria", "Kill-Switch Criteria", True),
        ("3) Kill-Switch Criteria", "Kill-Switch Criteria", True),
        ("Final Decision (JWT)", "Final Decision", True),
        ("Final Decision - JWT", "Final Decision", True),
        ("Final Decision Criteria", "Final Decision", False),
        ("Not the Final Decision", "Final Decision", False),
    ],
)
def test_a_title_is_a_name_by_its_words(title: str, name: str, same: bool) -> None:
    assert (named(f"## {title}\n", name) is not None) is same


def test_a_changed_value_leaves_every_other_byte_of_the_seeds_example() -> None:
    changed = front_matter.changed(ACTIVE_WORKFLOW, {"phase_status": "blocked", "context.branch": "feat/x"})
    differing = [
        (old, new)
        for old, new in zip(ACTIVE_WORKFLOW.splitlines(), changed.splitlines(), strict=True)
        if old != new
    ]
    assert differing == [
        (
            "phase_status: in_progress          # pending | in_progress | blocked | completed",
            "phase_status: blocked          # pending | in_progress | blocked | completed",
        ),
        ('  branch: "feat/auth"', "  branch: feat/x"),
    ]


def test_values_that_are_the_same_change_nothing() -> None:
    for text in (ACTIVE_WORKFLOW, HANDOFF):
        assert front_matter.changed(text, front_matter.read(text, "example")) == text


def test_comments_inside_a_value_that_is_replaced_are_kept() -> None:
    text = "---\ntasks:\n  - a  # my own\n  # and mine\n  - b\nnext: 1\n---\nbody\n"
    changed = front_matter.changed(text, {"tasks": ["c"]})
    assert front_matter.read(changed, "x") == {"tasks": ["c"], "next": 1}
    assert "# my own" in changed
    assert "# and mine" in changed


def test_windows_line_breaks_stay_what_they_are() -> None:
    text = "---\r\na: 1\r\n---\r\n# T\r\n\r\n| A | B |\r\n|---|---|\r\n| 1 | 2 |\r\n"
    changed = with_row(front_matter.changed(text, {"b": ["x"]}), tables(text)[0], {})
    assert "\n" not in front_matter.changed(text, {"b": ["x"]}).replace("\r\n", "")
    assert changed.count("\r\n") > text.count("\r\n")


@every(
    ("text", "said"),
    [
        ("---\na: 1\n", "never closed"),
        ("---\n- a\n---\n", "not a mapping"),
        ("---\na: 1\na: 2\n---\n", "twice"),
        ("---\na: [\n---\n", "x, front matter"),
    ],
)
def test_broken_front_matter_is_said_with_its_source(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        front_matter.read(text, "x")


def test_a_table_is_read_by_its_columns_and_forms_in_it_are_no_rows() -> None:
    text = "## T\n\n| ID | Risk |\n|:--|--:|\n| R1 | a \\| b |\n| R2 | |\n\nText | no table\n"
    (found,) = tables(text)
    assert found.columns == ("ID", "Risk")
    assert [dict(row.cells) for row in found.filled()] == [{"ID": "R1", "Risk": "a | b"}]


def test_a_row_goes_below_the_last_one_in_the_order_that_a_person_gave_the_columns() -> None:
    text = "| Risk | ID |\n|---|---|\n| a | R1 |\nafter\n"
    (found,) = tables(text)
    assert with_row(text, found, {"id": "R2", "risk": "b | c\nd"}) == (
        "| Risk | ID |\n|---|---|\n| a | R1 |\n| b \\| c d | R2 |\nafter\n"
    )


def test_a_cell_is_changed_alone() -> None:
    text = "|ID|Status|\n|-|-|\n|A1|open|\n|A2|open|\n"
    row = tables(text)[0].rows[1]
    assert with_cell(text, row, "Status", "closed") == "|ID|Status|\n|-|-|\n|A1|open|\n|A2| closed |\n"


def test_a_cell_of_any_text_is_read_back() -> None:
    for cell in ("a|b", "\\", "a\\|b", "`x|y`", "| |"):
        table = spell_table(("A", "B"), [(cell, "x")])
        assert tables(table)[0].rows[0].cells == {"A": " ".join(cell.split()), "B": "x"}, cell


def test_items_keep_their_boxes_their_long_lines_and_what_is_nested() -> None:
    found = items("1. [ ] First\n   goes on\n   - Detection: x\n2. [x] Second\n\n* Third\n\nprose\n")
    assert [(item.text, item.ticked) for item in found] == [
        ("First goes on", False),
        ("Second", True),
        ("Third", None),
    ]
    assert [labelled(child.text) for child in found[0].children] == [("Detection", "x")]


def test_text_below_a_heading_is_replaced_and_added_to() -> None:
    text = "# A\n\nold\n\n## B\n\nkept\n\n# C\n"
    section = named(text, "A")
    assert section is not None
    assert with_body(text, section, "new") == "# A\n\nnew\n\n## B\n\nkept\n\n# C\n"
    assert appended(text, section, "more") == "# A\n\nold\n\n## B\n\nkept\n\nmore\n\n# C\n"
