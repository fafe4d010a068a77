"""Claims about code that is written twice."""

import time
from textwrap import dedent

from agentforge.languages.duplicates import Duplicate, duplicates, worse_duplicates

TOTAL = dedent('''
    def total(orders, rate):
        """Adds up."""
        result = 0
        for order in orders:
            if order.open:
                result += order.price * rate
            else:
                result -= 1
        return result
''')
RENAMED = dedent("""
    import os
    from a import b

    def summe(bestellungen, kurs):
        ergebnis = 0  # a comment

        for x in bestellungen:
            if x.open2:
                ergebnis += x.preis * kurs
            else:
                ergebnis -= 7
        return ergebnis
""")


def test_a_copy_with_other_names_numbers_and_comments_is_found_once() -> None:
    assert duplicates({"a.py": TOTAL, "b.py": RENAMED}) == (Duplicate("b.py", 5, "a.py", 2, 8),)
    assert duplicates({"a.py": TOTAL + RENAMED}) == (Duplicate("a.py", 15, "a.py", 2, 8),)


def test_names_that_come_back_elsewhere_are_other_code() -> None:
    other = RENAMED.replace("ergebnis += x.preis * kurs", "ergebnis += x.preis * x")
    assert duplicates({"a.py": TOTAL, "b.py": other}) == ()


def test_short_blocks_do_not_count() -> None:
    short = "\n".join(TOTAL.splitlines()[:7]) + "\n"
    assert duplicates({"a.py": TOTAL, "b.py": short}) == ()
    assert len(duplicates({"a.py": TOTAL, "b.py": short}, min_lines=4)) == 1


def test_tables_imports_and_fields_are_not_copies() -> None:
    table = "NAMES = {\n" + "".join(f'    "k{number}": {number},\n' for number in range(30)) + "}\n"
    fields = "".join(
        f"@frozen\nclass A{number}:\n    a: int\n    b: str = 'x'\n    c: dict[str, int]\n\n"
        for number in range(9)
    )
    imports = "".join(
        f"import a{number}\nfrom b import (\n    c{number},\n    d,\n)\n" for number in range(9)
    )
    for text in (table, fields, imports):
        assert duplicates({"a.py": text, "b.py": text}) == ()


def test_other_languages_and_broken_python_are_compared_as_text() -> None:
    script = (
        'function f(a) {\n  // hello\n  let b = 1;\n  if (a > b) {\n    return a + "x";\n  }\n  '
        "while (b) { b--; }\n  return g(a);\n}\n"
    )
    assert [item.lines for item in duplicates({"a.js": script, "b.js": script.replace("a", "z")})] == [8]
    broken = TOTAL + "def (\n"
    assert len(duplicates({"a.py": broken, "b.py": broken})) == 1


def test_only_more_copied_lines_that_touch_the_change_are_worse() -> None:
    before = duplicates({"a.py": TOTAL, "b.py": RENAMED})
    after = duplicates({"a.py": TOTAL, "b.py": RENAMED, "c.py": TOTAL})
    assert worse_duplicates(before, after, {"c.py"}) == [
        "c.py:2: 8 lines repeat a.py:2; let both use one function"
    ]
    assert worse_duplicates(before, after, {"b.py"}) == []
    assert worse_duplicates(after, before, {"c.py"}) == []
    assert worse_duplicates(before, before, {"a.py", "b.py"}) == []
    moved = duplicates({"a.py": "\n\n" + TOTAL, "b.py": RENAMED})
    assert worse_duplicates(before, moved, {"a.py"}) == []


def test_an_old_copy_that_grew_by_a_line_beside_it_is_not_this_change() -> None:
    one, two = TOTAL.replace("def total", "def one"), TOTAL.replace("def total", "def two")
    text, later = one + two, "expired = []\n" + one + "expired = []\n" + two
    path, size = "a.py", len(one.splitlines())
    before, after = duplicates({path: text}), duplicates({path: later})
    assert after[0].lines > before[0].lines
    lines = {path: {1, size + 2}}
    assert worse_duplicates(before, after, {path}, lines) == []
    assert worse_duplicates(before, after, {path}) != []  # without the lines nobody can tell
    copied = duplicates({path: text + two})
    new = {path: set(range(2 * size + 1, 3 * size + 1))}
    assert len(worse_duplicates(before, copied, {path}, new)) == 1


def test_the_time_grows_with_the_text_alone() -> None:
    files = {f"m{number}.py": TOTAL * 10 for number in range(100)}  # 8000 lines, every one of them a copy
    start = time.monotonic()
    assert len(duplicates(files)) >= 99
    assert time.monotonic() - start < 5
