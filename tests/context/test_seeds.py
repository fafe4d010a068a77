"""Seeds are definitions and a few lines, and what a step asks for outranks them."""

from agentforge.context.assemble import StepView, assemble
from agentforge.context.code_index import CodeIndex
from agentforge.context.named import tree_facts
from agentforge.context.seeds import PROSE, around, focus_of, seeds
from agentforge.context.working_set import WorkingSetItem, merge, merge_each
from agentforge.tools.base import OpenedRange

TREE = {
    "shop/cart.py": "import math\n\n\nclass Cart:\n    def total(self):\n        return rounded(1)\n\n    def other(self):\n        pass\n",
    "shop/money.py": "def rounded(value):\n    return value\n",
    "shop/page.py": "from shop.cart import Cart\n\n\ndef render():\n    return Cart().total()\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n\n\ndef test_no():\n    assert True\n",
}


def test_a_named_method_comes_with_its_callers_its_callees_its_test_and_the_head_of_its_file() -> None:
    request = "Cart.total() is wrong"
    index = CodeIndex.of_texts(TREE)
    found = seeds(index, focus_of(request, tree_facts(request, index)), TREE.get)
    assert OpenedRange("shop/cart.py", 5, 6, "Cart.total") in found.places
    assert OpenedRange("shop/cart.py", 1, 3) in found.places
    assert OpenedRange("tests/test_cart.py", 4, 5, "test_total") in found.places
    assert not any(place.symbol in ("Cart", "Cart.other", "test_no") for place in found.places)
    assert "shop/page.py:4 uses Cart.total: def render()" in found.relations
    assert "Cart.total uses shop/money.py:1: def rounded(value)" in found.relations


def test_prose_gets_the_lines_around_what_matters() -> None:
    text = "\n".join(
        "the invoice is rounded" if line == 700 else f"nothing {line}" for line in range(1, 1001)
    )
    (place,) = around("CHANGES.md", text, "How an invoice is rounded")
    assert place.start <= 700 <= place.end
    assert place.end - place.start == PROSE - 1


def test_a_read_is_never_merged_into_what_was_seeded() -> None:
    items, _ = merge((), [OpenedRange("a.py", 1, 300)], 0)
    items, _ = merge_each(items, [OpenedRange("a.py", 50, 60)])
    assert [(item.start, item.end, item.step) for item in items] == [(1, 49, 0), (50, 60, 1), (61, 300, 0)]


def test_a_read_is_shown_where_seeds_have_no_room_and_says_so_where_it_has_none_itself() -> None:
    text = "\n".join(f"line {number} of a long file of words" for number in range(1, 400))
    items = (
        WorkingSetItem("a.py", "", 1, 199, 0, pinned=True),
        WorkingSetItem("a.py", "", 200, 210, 1),
        WorkingSetItem("a.py", "", 211, 390, 0, pinned=True),
    )
    view = StepView("T", "goal", "red", "fence-1", working=items, read={"a.py": text}.get)
    shown = assemble(view, 1500).text
    assert "\n200|line 200" in shown
    assert "\n210|line 210" in shown
    none = assemble(StepView("T", "goal", "red", "fence-1", working=items, read={"a.py": text}.get), 200).text
    assert "\n200|" in none or "a.py (lines 200-210)" in none
