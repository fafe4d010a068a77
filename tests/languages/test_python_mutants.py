"""Small wrong versions of a file: each is one program with one mistake, in a line that was asked for."""

import ast

from agentforge.languages.measures import mutants, same_code

TEXT = '''"""Words."""

LIMIT = 3


def price(count: int = 2, name="ä") -> int:
    """More words."""
    if count > LIMIT and name:
        raise ValueError(
            f"too many: {count}"
        )
    total = count * 2
    return total
'''
EVERY = range(1, 14)


def test_every_mutant_is_another_program_with_the_same_lines_elsewhere() -> None:
    found = mutants(TEXT, "shop.py", EVERY, limit=100, seed="a")
    assert [(mutant.line, mutant.what) for mutant in found] == [
        (3, "has `4` for `3`"),
        (6, "has `''` for `'ä'`"),
        (6, "has `3` for `2`"),
        (8, "asks the opposite of `count > LIMIT and name`"),
        (8, "has `count > LIMIT or name` for `count > LIMIT and name`"),
        (8, "has `count >= LIMIT` for `count > LIMIT`"),
        (9, "leaves out `raise ValueError(f'too many: {count}')`"),
        (12, "has `3` for `2`"),
        (12, "has `count / 2` for `count * 2`"),
        (13, "returns None"),
    ]
    for mutant in found:
        ast.parse(mutant.text)
        assert not same_code(TEXT, mutant.text, "shop.py")
        assert mutant.text.splitlines()[-1].strip().startswith("return")
        assert len(mutant.text.splitlines()) == len(TEXT.splitlines())


def test_only_the_lines_that_were_asked_for_are_wrong_and_a_seed_draws_the_same_again() -> None:
    assert {mutant.line for mutant in mutants(TEXT, "shop.py", (12,), limit=9, seed="a")} == {12}
    drawn = [mutants(TEXT, "shop.py", EVERY, limit=4, seed=seed) for seed in ("a", "a", "b")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 4


def test_text_that_does_not_parse_and_other_languages_have_no_mutants() -> None:
    assert mutants("def (", "shop.py", (1,), limit=9, seed="a") == []
    assert mutants("1", "shop.toml", (1,), limit=9, seed="a") == []


def test_comments_docstrings_and_formatting_make_no_other_program_and_a_value_does() -> None:
    other = TEXT.replace("Words", "Other").replace("count * 2", "(count\n        *2)  # doubled")
    assert same_code(TEXT, other, "shop.py")
    assert not same_code(TEXT, TEXT.replace("LIMIT = 3", "LIMIT = 4"), "shop.py")
    assert not same_code(TEXT, TEXT.replace("too many", "too much"), "shop.py")
    assert same_code('def a():\n    """Says."""\n', "def a():\n    pass\n", "shop.py")
    assert not same_code("a: 1", "a: 2  # no", "data.yaml")
