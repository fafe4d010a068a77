"""The working set: bounded, merged, and always as the tree is now."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentforge.context.working_set import MAX_ITEMS, Left, WorkingSetItem, item_texts, merge, merge_each
from agentforge.tools.base import OpenedRange

BEFORE = "def one():\n    return 1\n\n\nclass Two:\n    def three(self):\n        return 3\n"
AFTER = "import os\n\n\n" + BEFORE


def test_what_is_opened_joins_the_set_in_order_of_place() -> None:
    items, left = merge((), [OpenedRange("b.py", 1, 5), OpenedRange("a.py", 7, 9, "f")], 3)
    assert items == (WorkingSetItem("a.py", "f", 7, 9, 3), WorkingSetItem("b.py", "", 1, 5, 3))
    assert left == ()


def test_overlapping_ranges_become_one_and_neighbours_stay_apart() -> None:
    items, _ = merge(
        (WorkingSetItem("a", "", 1, 10, 1),), [OpenedRange("a", 8, 20), OpenedRange("a", 21, 30)], 2
    )
    assert items == (WorkingSetItem("a", "", 1, 20, 2), WorkingSetItem("a", "", 21, 30, 2))


def test_a_range_that_bridges_two_makes_one_of_three() -> None:
    items, _ = merge(
        (WorkingSetItem("a", "", 1, 10, 1), WorkingSetItem("a", "", 20, 30, 1)), [OpenedRange("a", 9, 21)], 2
    )
    assert items == (WorkingSetItem("a", "", 1, 30, 2),)


def test_a_symbol_keeps_its_name_as_long_as_it_covers_what_was_merged() -> None:
    items, _ = merge((WorkingSetItem("a", "Two", 5, 20, 1),), [OpenedRange("a", 6, 9, "Two.three")], 2)
    assert items == (WorkingSetItem("a", "Two", 5, 20, 2),)
    items, _ = merge(items, [OpenedRange("a", 18, 25)], 3)
    assert items == (WorkingSetItem("a", "", 5, 25, 3),)


def test_a_symbol_that_moved_replaces_its_old_place() -> None:
    items, _ = merge((WorkingSetItem("a", "f", 10, 30, 1),), [OpenedRange("a", 13, 33, "f")], 2)
    assert items == (WorkingSetItem("a", "f", 13, 33, 2),)


def test_merging_never_makes_an_item_that_no_step_can_show() -> None:
    items, _ = merge((WorkingSetItem("a", "", 1, 400, 1),), [OpenedRange("a", 301, 700)], 2)
    assert items == (WorkingSetItem("a", "", 1, 300, 1), WorkingSetItem("a", "", 301, 700, 2))


def test_the_oldest_leaves_first_and_is_named_but_what_is_pinned_stays() -> None:
    items: tuple[WorkingSetItem, ...] = ()
    for step in range(MAX_ITEMS):
        items, left = merge(items, [OpenedRange(f"f{step:02}.py", 1, 5, f"s{step}")], step)
        assert left == ()
    items, left = merge(items, [OpenedRange("new.py", 1, 5)], 99, pinned={"f00.py"})
    assert len(items) == MAX_ITEMS
    assert left == (Left("f01.py", "s1"),)
    assert next(item for item in items if item.path == "f00.py").pinned
    items, _ = merge(items, [], 100)
    assert not any(item.pinned for item in items)


def test_a_symbol_is_found_again_after_an_edit_above_it() -> None:
    items = (WorkingSetItem("a.py", "one", 1, 2, 1), WorkingSetItem("a.py", "Two.three", 6, 7, 1))
    parts, left = item_texts(items, {"a.py": AFTER}.get)
    assert [part.text for part in parts] == [
        "def one():\n    return 1",
        "    def three(self):\n        return 3",
    ]
    assert left == ()


def test_a_property_and_its_setter_are_shown_together() -> None:
    code = (
        "class A:\n    @property\n    def x(self):\n        return 1\n\n    @x.setter\n    def "
        "x(self, value):\n        pass\n"
    )
    parts, _ = item_texts((WorkingSetItem("a.py", "A.x", 1, 1, 1),), {"a.py": code}.get)
    assert (parts[0].item.start, parts[0].item.end) == (2, 8)


def test_a_nested_function_is_found_too() -> None:
    code = "x = 1\n\ndef outer():\n    def inner():\n        return 1\n    return inner\n"
    parts, _ = item_texts((WorkingSetItem("a.py", "outer.inner", 1, 2, 1),), {"a.py": code}.get)
    assert parts[0].text == "    def inner():\n        return 1"


def test_what_is_gone_from_the_tree_is_named() -> None:
    items = (
        WorkingSetItem("a.py", "one", 1, 2, 1),
        WorkingSetItem("gone.py", "f", 1, 2, 1),
        WorkingSetItem("cut.py", "", 90, 99, 1),
    )
    parts, left = item_texts(items, {"a.py": BEFORE, "cut.py": BEFORE}.get)
    assert [part.item.symbol for part in parts] == ["one"]
    assert set(left) == {Left("gone.py", "f"), Left("cut.py", "")}


def test_lines_behind_the_end_of_a_file_that_is_shown_are_not_missed() -> None:
    items = (WorkingSetItem("a.py", "one", 1, 2, 1), WorkingSetItem("a.py", "", 90, 99, 1))
    parts, left = item_texts(items, {"a.py": BEFORE}.get)
    assert [part.item.symbol for part in parts] == ["one"]
    assert left == ()


def test_a_renamed_symbol_shows_what_stands_in_its_lines() -> None:
    parts, left = item_texts((WorkingSetItem("a.py", "old_name", 1, 2, 1),), {"a.py": BEFORE}.get)
    assert parts[0].text == "def one():\n    return 1"
    assert parts[0].item.symbol == ""
    assert left == ()


OPENED = st.builds(
    lambda path, start, size, symbol: OpenedRange(path, start, start + size, symbol),
    st.sampled_from("abc"),
    st.integers(1, 1000),
    st.integers(0, 399),
    st.sampled_from(["", "", "f", "g"]),
)


@given(steps=st.lists(st.lists(OPENED, max_size=8), max_size=12), pinned=st.sets(st.sampled_from("abc")))
def test_items_never_overlap_and_never_exceed_the_bound(
    steps: list[list[OpenedRange]], pinned: set[str]
) -> None:
    items: tuple[WorkingSetItem, ...] = ()
    for step, opened in enumerate(steps):
        before = items
        items, _ = merge(items, opened, step, pinned)
        assert merge(before, opened, step, pinned)[0] == items
        assert len(items) <= MAX_ITEMS
        for one, two in pairwise(items):
            assert one.path < two.path or one.end < two.start
        for each in opened[-1:]:
            # What was opened last is there, whole.
            assert any(
                item.path == each.path and item.start <= each.start and each.end <= item.end for item in items
            )


@given(opened=st.lists(OPENED, max_size=60), pinned=st.sets(st.sampled_from("abc")))
def test_merging_each_in_one_go_is_the_same_as_one_merge_after_the_other(
    opened: list[OpenedRange], pinned: set[str]
) -> None:
    items, left = merge((), [OpenedRange("a", 1, 400)], 0, pinned)
    together = merge_each(items, opened, pinned)
    for step, each in enumerate(opened, 1):
        items, gone = merge(items, [each], step, pinned)
        left = (*left, *gone)
    assert together == (items, left)


def test_what_is_asked_for_is_not_merged_into_what_was_put_there_unasked() -> None:
    seeded, _ = merge((), [OpenedRange("a.py", 1, 400)], 0)
    items, _ = merge_each(seeded, [OpenedRange("a.py", 100, 140)])
    assert [(item.start, item.end, item.step) for item in items] == [(1, 99, 0), (100, 140, 1), (141, 400, 0)]
