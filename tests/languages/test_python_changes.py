"""What a change did, seen in the syntax: functions whose lines show it when they run, and values that are read."""

from agentforge.languages.measures import changed_code
from agentforge.languages.values import ChangedCode
from tests.rows import every

BASE = '''"""Words."""
import os
LIMIT = 3
OTHER = 4

def price(count):
    """Words."""
    if count > LIMIT:
        return 1
    return count

class Shop:
    size = 1
    def open(self):
        first = 1
        second = 2
        return first + second
'''


def change(*edits: tuple[str, str]) -> ChangedCode:
    text = BASE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    found = changed_code(BASE, text, "shop.py")
    assert found is not None
    return found


@every(
    ("old", "new", "functions", "lines", "values"),
    [
        ("return 1", "return 2", ("price",), {9}, []),
        ("        second = 2\n", "", ("Shop.open",), {15, 16}, []),  # fewer lines: any of the rest shows it
        ("(count)", "(count=2)", ("price",), {7, 8, 9, 10}, [("the signature of `price`", False)]),
        ("class Shop", "def new():\n    pass\n\nclass Shop", ("new",), {13}, []),
        ("LIMIT = 3", "LIMIT = 5", (), {3}, [("`LIMIT`", True)]),
        ("OTHER = 4", "OTHER = 5", (), {4}, [("`OTHER`", False)]),  # nothing in the file reads it
        ("size = 1", "size = 2", (), {13}, [("`Shop.size`", False)]),
        ("class Shop:", "class Shop(dict):", (), set(), [("the class Shop", False)]),
        ("def price", "def prices", ("prices",), {7, 8, 9, 10}, [("`price`, which is gone", False)]),
        ('    """Words."""\n', "    # Words\n", (), set(), [("the words of price", False)]),
        ("return count", "return (\n        count\n    )", (), set(), []),
        (
            "if count > LIMIT:",
            "if not count:\n        return 0\n    if count > LIMIT:",
            ("price",),
            {8, 9},
            [],
        ),
    ],
)
def test_what_a_change_did(
    old: str, new: str, functions: tuple[str, ...], lines: set[int], values: list[tuple[str, bool]]
) -> None:
    found = change((old, new))
    assert (found.functions, set(found.lines)) == (functions, lines)
    assert [(value.what, value.read) for value in found.values] == values


def test_a_name_that_only_changed_lines_read_is_no_value_of_its_own() -> None:
    found = change(("import os", "import os, sys"), ("return count", "return count + sys.maxsize"))
    assert found.functions == ("price",)
    assert [value.read for value in found.values if "sys" in value.names] == [False]


def test_what_a_file_does_as_a_program_is_read_by_nobody() -> None:
    script = 'if __name__ == "__main__":\n    print(price(1))\n\nclass Shop'
    assert change(("class Shop", script)).values == ()


def test_text_that_does_not_parse_cannot_be_told() -> None:
    assert changed_code(BASE, "def (", "shop.py") is None
