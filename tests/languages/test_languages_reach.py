"""What given files reach in a small tree."""

from agentforge.languages.imports import ImportGraph, outside_imports
from agentforge.languages.reach import Reach, change_facts, imported_by, render
from tests.rows import every

TEXTS = {
    "src/shop/__init__.py": "",
    "src/shop/price.py": (
        "import os\nimport attrs.validators\n\n\ndef _cents() -> int: ...\n\n\nclass "
        "Price:\n    def add(self): ...\n"
    ),
    "src/shop/cart.py": "from shop.price import Price\nfrom . import helpers\n",
    "src/shop/helpers.py": "def broken(:\n",
    "tests/conftest.py": "",
    "tests/test_cart.py": "from shop.cart import Price\n",
    "tests/test_else.py": "import json\n",
}
TESTS = ("tests/test_cart.py", "tests/test_else.py")
GRAPH = ImportGraph.build(TEXTS, ("src",))


def facts(*paths: str) -> Reach:
    return change_facts(GRAPH, TEXTS, paths, TESTS)


def test_a_file_is_told_with_its_symbols_and_neighbours() -> None:
    (price,) = facts("src/shop/price.py", "src/shop/price.py").files
    assert price.symbols == ("class Price", "function _cents")
    assert (price.imports, price.outside) == ((), ("attrs",))
    assert price.importers == ("src/shop/cart.py",)
    assert price.tests == ("tests/test_cart.py",)


def test_the_package_around_a_file_is_no_import_of_it() -> None:
    reach = facts("src/shop/cart.py", "src/shop/__init__.py")
    assert reach.files[0].imports == ("src/shop/helpers.py", "src/shop/price.py")
    assert reach.files[1].importers == ()
    assert reach.files[1].tests == ("tests/test_cart.py",)


def test_importers_and_tests_of_several_files_are_gathered() -> None:
    reach = facts("src/shop/price.py", "src/shop/cart.py", "src/shop/helpers.py")
    assert reach.importers == ()
    assert facts("src/shop/helpers.py").importers == ("src/shop/cart.py",)
    assert reach.tests == ("tests/test_cart.py",)


def test_a_file_that_does_not_exist_or_parse_reaches_what_it_can() -> None:
    new, broken = facts("src/shop/new.py", "src/shop/helpers.py").files
    assert (new.symbols, new.tests) == ((), ())
    assert broken.outside == ()
    assert broken.tests == ("tests/test_cart.py",)


def test_the_graph_turned_round_has_the_same_edges() -> None:
    turned = imported_by(GRAPH)
    there = {(path, target) for path, targets in turned.items() for target in targets}
    assert there == {(path, target) for target, paths in GRAPH.importers.items() for path in paths}


def test_the_standard_library_and_the_project_are_not_outside() -> None:
    assert outside_imports(
        "import os, yaml\nfrom shop import x\nfrom .y import z\nfrom numpy import a\n", "a.py", list(TEXTS)
    ) == ("numpy", "yaml")


@every("limit", [0, 10, 100, 200, 400, 10_000])
def test_the_text_keeps_its_limit_and_counts_what_is_left_out(limit: int) -> None:
    reach = facts("src/shop/price.py", "src/shop/cart.py", "tests/test_else.py")
    text = render(reach, limit)
    assert len(text) <= limit
    if limit == 10_000:
        assert text.split("\n")[:4] == [
            "src/shop/price.py: class Price, function _cents",
            "  imports: attrs",
            "  imported by: src/shop/cart.py",
            "  tests that reach it: tests/test_cart.py",
        ]
    if limit == 200:
        assert text.endswith("and 2 more files")
