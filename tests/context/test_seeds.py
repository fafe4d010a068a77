"""Seeds are definitions and a few lines, and what a step asks for outranks them."""

from agentforge.context.assemble import StepView, assemble
from agentforge.context.code_index import CodeIndex
from agentforge.context.named import tree_facts
from agentforge.context.past import told_by_history
from agentforge.context.seeds import PROSE, around, focus_of, seeds
from agentforge.context.working_set import WorkingSetItem, merge, merge_each
from agentforge.languages.servers.told import ToldUses
from agentforge.system.git.history import PastCommit
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
    assert OpenedRange("shop/page.py", 4, 5, "render") in found.places, "the only place that uses it"
    assert "Used by Cart.total, in shop/money.py:\n  1: def rounded(value)" in found.relations


def test_a_named_method_comes_with_the_methods_beside_it_and_the_imports_below_a_long_docstring() -> None:
    about = '"""' + "".join(f"Line {number} on what it is for.\n" for number in range(60)) + '"""\n'
    tree = {
        "words.py": f"{about}\nimport re\n\n\nclass Engine:\n    def spell(self, num):\n        return self._chunk(num).partition(1)\n\n"
        "    def _chunk(self, num):\n        return num\n\n    def num(self):\n        return 1\n",
        "cut.py": "def partition(n):\n    return n\n",
    }
    index = CodeIndex.of_texts(tree)
    found = seeds(index, focus_of("spell(1)", tree_facts("spell(1)", index)), tree.get).places
    assert OpenedRange("words.py", 63, 65) in found, "the head begins below the docstring"
    assert OpenedRange("words.py", 70, 71, "Engine._chunk") in found
    assert not any(place.symbol == "Engine.num" for place in found), "`num` is a parameter here, not a method"
    found = seeds(index, focus_of("partition(2)", tree_facts("partition(2)", index)), tree.get).places
    assert not any(place.path == "words.py" for place in found), "`text.partition` is another one"


def test_of_a_long_function_that_alone_uses_what_is_named_the_lines_around_the_use_are_open() -> None:
    body = "".join(f"    step_{number} = {number}\n" for number in range(80))
    tree = {
        "marks.py": "class Required:\n    pass\n",
        "build.py": f"from marks import Required\n\n\ndef build(key):\n{body}    return isinstance(key, Required)\n",
    }
    index = CodeIndex.of_texts(tree)
    request = "`Required` is passed over"
    found = seeds(index, focus_of(request, tree_facts(request, index)), tree.get).places
    assert OpenedRange("build.py", 69, 85) in found


def test_the_nearest_test_comes_with_the_shared_fixtures_that_it_uses() -> None:
    tree = {
        **TREE,
        "tests/conftest.py": "def full():\n    return 1\n\n\ndef unused():\n    return 2\n",
        "other/conftest.py": "def full():\n    return 3\n",
        "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total(full):\n    assert Cart().total() == full\n",
    }
    index = CodeIndex.of_texts(tree)
    found = seeds(index, focus_of("Cart.total() is wrong", tree_facts("Cart.total()", index)), tree.get)
    shared = [place for place in found.places if place.path.endswith("conftest.py")]
    assert shared == [OpenedRange("tests/conftest.py", 1, 2, "full")]


def test_beside_a_long_function_its_nearest_test_has_room_before_any_guess() -> None:
    body = "".join(f"    value += {number}\n" for number in range(152))
    imports = "".join(f"import module_{number}\n" for number in range(28))
    steps = "".join(f"    step_{number} = measure()\n" for number in range(38))
    limit = "LIMIT = 3\n\n\n"
    fetch = "".join(f"    told_{number} = data.decode('utf-8')[:LIMIT]\n" for number in range(50))
    tree = {
        "shop/width.py": f"import math\n\n\ndef measure(value):\n{body}    return value\n",
        "bin/fetch.py": f"{limit}def decode_utf_bytes(data):\n{fetch}    return data\n",
        "tests/test_width.py": f"{imports}from shop.width import measure\n\n\ndef test_measure():\n{steps}    assert measure(1)\n",
    }
    index = CodeIndex.of_texts(tree)
    request = "measure should accept bytes, decoded as utf-8"
    found = seeds(index, focus_of(request, tree_facts(request, index)), tree.get)
    shown = [(place.path, place.symbol) for place in found.places]
    assert ("tests/test_width.py", "test_measure") in shown
    assert ("bin/fetch.py", "LIMIT") not in shown, "what only a function uses for which there was no room"


def test_history_names_what_changes_together_and_leaves_out_sweeps_and_what_is_gone() -> None:
    def past(number: int, *paths: str) -> PastCommit:
        return PastCommit(f"c{number}", "2030-01-31", f"Change  {number}", paths)

    sweep = tuple(f"f{number}.py" for number in range(60))
    commits = [
        past(1, "cart.py", "money.py", "cart.egg-info/PKG-INFO"),
        past(2, "money.py"),
        past(3, "cart.py", "money.py", "gone.py", "cart.egg-info/PKG-INFO"),
        past(4, "cart.py", *sweep),
        past(5, "cart.py", *sweep),
        past(6, "cart.py", "once.py", "gone.py"),
        past(7, "cart.py", "money.py"),  # the first commit of all
    ]
    there = {"cart.py", "money.py", "once.py", "cart.egg-info/PKG-INFO", *sweep}
    assert told_by_history(commits, ["cart.py"], there).splitlines() == [
        "Changed together with it, in the last 7 commits: money.py (2 times).",
        "2030-01-31 c1: Change 1",
        "2030-01-31 c3: Change 3",
    ]
    assert told_by_history(commits, ["new.py"], there) == ""


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
    assert "\nline 200 of" in shown
    assert "\nline 210 of" in shown
    none = assemble(StepView("T", "goal", "red", "fence-1", working=items, read={"a.py": text}.get), 200).text
    assert "\nline 200 of" in none or "a.py (lines 200-210)" in none


def _opened(request: str, tree: dict[str, str]) -> list[OpenedRange]:
    index = CodeIndex.of_texts(tree)
    return list(seeds(index, focus_of(request, tree_facts(request, index)), tree.get).places)


def test_of_a_long_class_the_methods_are_shown_whose_code_speaks_of_the_request_with_what_they_use() -> None:
    """Documentation that repeats the words of the request does not push the code itself out."""
    dull = "".join(
        f'    def method_{number}(self):\n        """Says epoch, too."""\n' + "        self.x = 1\n" * 8
        for number in range(20)
    )
    telling = "    def compare(self):\n        # The epoch comes first.\n        return split(self)\n"
    tree = {"lib/rules.py": f"class Rule:\n{dull}{telling}\n\ndef split(rule):\n    return rule\n"}
    found = _opened("Rule() is wrong when it has an epoch", tree)
    assert {"Rule.compare", "split"} <= {place.symbol for place in found}


def test_of_a_long_function_its_head_is_shown_and_the_lines_that_matter() -> None:
    lines = ["def render(rows):", '    """', *["    The index is shown."] * 200, '    """']
    lines += ["    pass"] * 150 + ["    index = rows.index  # shown"] + ["    pass"] * 100
    places = _opened("render() loses the index that is shown", {"lib/pages.py": "\n".join(lines)})
    assert any(place.start == 1 and place.end >= 4 for place in places)
    assert any(place.start < 354 < place.end for place in places)
    assert sum(place.end - place.start + 1 for place in places) < 120


def test_what_a_class_declares_is_shown_where_the_request_speaks_of_it() -> None:
    methods = "".join(
        f"    def method_{number}(self):\n" + "        self.x = 1\n" * 9 for number in range(20)
    )
    fields = "    first: Check = Check()\n    keywords: Check = Check()\n"
    tree = {
        "lib/meta.py": f"import re\n\n\nclass Check:\n    def __get__(self): ...\n\n\nclass Meta:\n{methods}{fields}"
    }
    found = _opened("lib.meta.Meta must not fail without keywords", tree)
    assert any(place.start <= 210 <= place.end for place in found)
    assert any(place.symbol == "Check" for place in found)


def test_a_method_of_something_else_is_not_taken_for_what_is_called() -> None:
    tree = {
        "lib/one.py": "def total(rows):\n    return [each for each in rows.items()]\n",
        "lib/two.py": "class Cache:\n    def items(self): ...\n",
    }
    index = CodeIndex.of_texts(tree)
    found = seeds(index, focus_of("", tree_facts("total() is wrong", index)), tree.get)
    assert "Cache.items" not in found.relations


def test_tests_that_use_no_name_of_the_code_are_found_by_what_they_are_called() -> None:
    tree = {
        "lib/filters.py": "def do_trim(text):\n    return text\n",
        "tests/test_filters.py": "def test_other():\n    pass\n\n\ndef test_trim():\n    assert play('{{ x|trim }}')\n",
        "tests/test_utils.py": "def test_keys():\n    pass\n",
    }
    assert OpenedRange("tests/test_filters.py", 5, 6, "test_trim") in _opened(
        "The trim filter keeps tabs", tree
    )


def test_a_method_of_something_else_is_not_taken_for_a_function_of_another_file() -> None:
    tree = {
        "box/main.py": (
            "class Box:\n    def get(self, key):\n        return key\n\n\n"
            "def get_key(key):\n    return Box().get(key)\n"
        ),
        "box/cli.py": "def get(ctx):\n    print(ctx)\n",
    }
    index = CodeIndex.of_texts(tree)
    found = seeds(index, focus_of("", tree_facts("get_key() is wrong", index)), tree.get)
    assert "box/cli.py" not in found.relations


def test_what_two_files_have_just_so_is_shown_once_and_both_are_named() -> None:
    body = "function parsePath(path, sep) {\n  var a = path\n  var b = a\n  var c = b\n  return c.split(sep)\n}\n"
    tree = {"src/dots.js": body, "index.js": f"'use strict'\n{body}"}
    found = seeds(
        CodeIndex.of_texts(tree),
        focus_of("Mend how a path is split by sep", tree_facts("", CodeIndex.of_texts(tree))),
        tree.get,
    )
    assert len([place for place in found.places if place.symbol == "parsePath"]) == 1
    assert "stand just so in" in found.relations
    assert {"src/dots.js", "index.js"} <= set(found.relations.replace(":", " ").split())


def test_tests_without_names_that_use_nothing_by_its_name_still_show_how_they_are_written() -> None:
    many = "".join(f"  it('does {number}', function () {{}})\n" for number in range(60))
    tree = {
        "index.js": "function parsePath(path, sep) {\n  return path.split(sep)\n}\n",
        "test/dots.js": f"var Dots = require('../index')\n{many}  it('splits by a sep', function () {{}})\n",
    }
    index = CodeIndex.of_texts(tree)
    found = seeds(
        index, focus_of("parsePath should split by any sep", tree_facts("parsePath", index)), tree.get
    )
    shown = [place for place in found.places if place.path == "test/dots.js"]
    assert any(place.start == 1 for place in shown)
    assert any(place.start <= 62 <= place.end for place in shown)


def test_a_method_that_many_classes_have_comes_with_the_tests_and_callers_that_speak_of_its_class() -> None:
    notice = "".join(f"# Line {number} of a licence.\n" for number in range(30))
    tree = {
        "bags/sets.py": f"{notice}\nimport math\n\n\nclass Bag:\n    def update(self, more):\n        return more\n",
        "bags/caches.py": "class Cache:\n    def update(self, more):\n        return {}.update(more)\n",
        "bags/shop.py": "from bags.sets import Bag\n\n\ndef fill(bag: Bag):\n    bag.update([1])\n",
        "tests/test_caches.py": "def test_cache():\n    Cache().update(1)\n    Cache().update(2)\n",
        "tests/test_sets.py": "from bags.sets import Bag\n\n\ndef test_other():\n    {}.update()\n\n\ndef test_bag():\n    Bag().update([1])\n",
    }
    index = CodeIndex.of_texts(tree)
    request = "Bag.update adds the lists themselves"
    found = seeds(index, focus_of(request, tree_facts(request, index)), tree.get)
    assert OpenedRange("tests/test_sets.py", 8, 9, "test_bag") in found.places
    assert not any(place.path == "tests/test_caches.py" for place in found.places)
    assert OpenedRange("bags/shop.py", 4, 5, "fill") in found.places
    assert not any(place.path == "bags/caches.py" for place in found.places)
    assert OpenedRange("bags/sets.py", 32, 34) in found.places  # the head, without the licence above it


TWO_OF_A_NAME = {
    "shop/cart.py": "class Cart:\n    def add(self, price):\n        return price\n",
    "shop/log.py": "class Log:\n    def add(self, line):\n        return line\n",
    "shop/till.py": "def open_till(cart):\n    cart.add(1)\n",
    "shop/note.py": "def note(log):\n    log.add(2)\n",
    "tests/test_till.py": "def test_till(cart):\n    cart.add(3)\n",
    "tests/test_note.py": "def test_note_of_add(log):\n    log.add(4)\n",
}
"""What calls which method only types can tell."""
TOLD = ToldUses(
    used={"shop/cart.py::Cart.add": {"shop/till.py": (2,), "tests/test_till.py": (2,), "gone.py": (1,)}},
    servers={"Python": "ty"},
)


def test_callers_and_tests_that_text_cannot_see_come_from_what_a_language_server_told() -> None:
    index = CodeIndex.of_texts(TWO_OF_A_NAME)
    focus = focus_of("Cart.add is wrong", tree_facts("Cart.add is wrong", index))
    guessed, told = (seeds(index, focus, TWO_OF_A_NAME.get, each) for each in (ToldUses(), TOLD))
    till = OpenedRange("shop/till.py", 1, 2, "open_till")
    assert till not in guessed.places
    assert till in told.places
    assert not any(place.path == "shop/note.py" for place in told.places)
    tests = [place.path for place in told.places if place.path.startswith("tests/")]
    assert set(tests) == {"tests/test_till.py"}
    assert (guessed.by_server, told.by_server) == (False, True)
    assert ("shop/cart.py", index.files["shop/cart.py"].symbols[1]) in guessed.asked


def test_where_nothing_was_told_seeds_are_what_text_says() -> None:
    index = CodeIndex.of_texts(TREE)
    focus = focus_of("Cart.total() is wrong", tree_facts("Cart.total()", index))
    empty = ToldUses(asked=frozenset({"shop/cart.py::Cart.total"}), problems={"ty": "ended"})
    assert seeds(index, focus, TREE.get, empty) == seeds(index, focus, TREE.get)
