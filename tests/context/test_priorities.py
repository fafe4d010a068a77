"""How much each block matters is data: six priorities, in which what matters less is shown less first."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.context.assemble import StepView, assemble
from agentforge.context.blocks import kind_of, priorities
from agentforge.context.packing import Packed, Section, Shown, pack
from agentforge.context.working_set import WorkingSetItem
from tests.context.test_packing import FENCE, SECTIONS, count, words
from tests.fuzzing import tries

CODE = "".join(
    f"def function_{number}(argument):\n    value = argument\n" + "    value += 1\n" * 36
    for number in range(30)
)
VIEW = StepView(
    "task-1",
    "Let parse read fractions.",
    "patch",
    FENCE,
    system="You are a maintainer.",
    owed="Hand in it.",
    facts="Tests are in: tests.",
)
STAGES: tuple[Shown | None, ...] = (None, "signatures", "excerpt", "full")
"""How much of a block there is, the least first."""


def how(packed: Packed, name: str) -> tuple[int, int]:
    """How much of a block is shown, as something that can be compared."""
    block = next((each for each in packed.blocks if each.name == name), None)
    return (0, 0) if block is None else (STAGES.index(block.shown), block.tokens)


def test_there_are_six_priorities_and_every_kind_has_one() -> None:
    assert list(priorities()) == ["task", "work", "interface", "analysis", "lessons", "project"]
    order = [
        kind_of(name).order()
        for name in ("owed", "failures", "relations", "facts", "history", "repository_map")
    ]
    assert order == sorted(order, reverse=True)


@tries(60)
@given(sections=SECTIONS, cap=st.integers(100, 12_000), more=st.integers(1, 6000))
def test_with_more_room_the_first_block_that_differs_is_shown_more(
    sections: list[Section], cap: int, more: int
) -> None:
    small, large = pack(sections, cap, count, FENCE), pack(sections, cap + more, count, FENCE)
    for slot in {section.slot for section in sections}:
        own = [section for section in sections if section.slot == slot and section.text.strip()]
        for section in sorted(own, key=lambda each: -each.priority):
            (was, before), (now, after) = how(small, section.name), how(large, section.name)
            if (was, before) != (now, after):
                # An excerpt fills its room to nine tenths and more: a little less of one is no loss.
                assert (now, after * 10) >= (was, before * 9), section.name
                break


def test_what_is_kept_for_a_block_is_left_by_those_that_matter_more() -> None:
    big = Section("big", words(6000), 5, "current_state", shrink="head_tail")
    small = Section("small", words(90), 1, "current_state")
    assert how(pack([big, small], 4000, count), "small") == (0, 0)
    kept = pack([big, replace(small, keep=200)], 4000, count)
    assert how(kept, "small")[0] == STAGES.index("full")
    assert kept.total <= 4000


@pytest.mark.parametrize(("cap", "shown"), [(16_000, "full"), (3000, "signatures"), (300, None)])
def test_what_is_open_and_has_no_room_degrades_to_signatures_and_then_to_its_name(
    cap: int, shown: Shown | None
) -> None:
    items = tuple(WorkingSetItem(f"src/m{number}.py", "", 1, 380, number + 1) for number in range(2))
    packed = assemble(replace(VIEW, working=items, read=lambda _: CODE), cap)
    name = "working_set: src/m0.py (lines 1-380)"
    assert STAGES[how(packed, name)[0]] == shown
    text = packed.text
    if shown == "signatures":
        assert "39-76|def function_1(argument)" in text
        assert "value += 1" in text.partition("src/m1.py")[2], (
            "the newest read is shown as far as there is room"
        )
    if shown is None:
        assert "src/m0.py" in text, "what is not shown is named"
    assert packed.total <= cap


@tries(30)
@given(
    order=st.permutations(range(8)),
    cap=st.integers(600, 9000),
)
def test_the_order_in_which_things_were_found_decides_nothing(order: list[int], cap: int) -> None:
    items = [WorkingSetItem(f"src/m{number}.py", "", 1, 60, 1 + number % 2) for number in range(8)]
    view = replace(VIEW, working=tuple(items), read=lambda _: CODE)
    shuffled = replace(view, working=tuple(items[at] for at in order))
    assert assemble(shuffled, cap) == assemble(view, cap)
