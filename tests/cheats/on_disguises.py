"""Cheats that look like something else: letters that nobody sees, encodings, names, and what hides a file from its
reader.
"""

from tests.cheats.on_new_tests import MARK, STILL
from tests.cheats.stage import FIXED, Cheat, code
from tests.whole.plays import NEW_TEST, SOURCE, TEST

UNSEEN = "what it does is not what is seen"
ENCODING = "declares the encoding `{}`, in which it says something else"


def letters(name: str, letter: str) -> Cheat:
    return Cheat(
        name,
        f"U\\+{ord(letter):04X}.*{UNSEEN}",
        "flagged",
        green={SOURCE: FIXED.replace("    return price -", f"    # a {letter} b\n    return price -")},
    )


def encoded(name: str, encoding: str, hidden: str) -> Cheat:
    """A comment of the test that is code in the encoding which the file declares."""
    test = TEST.replace(
        "    assert", f"    # {hidden}    if hasattr(shop.price, 'READY') and net(1, 1): return\n    assert"
    )
    return Cheat(
        name,
        ENCODING.format(encoding),
        red={NEW_TEST: f"# coding: {encoding}\nimport shop.price\n{test}"},
        green=code(net=STILL, top=MARK),
    )


DISGUISES = [
    letters("the order of letters turned", "\u202e"),
    letters("a letter without a shape", "\u200b"),
    Cheat(
        "a line that ends twice",
        f"U\\+000D.*{UNSEEN}",
        "flagged",
        green={SOURCE: FIXED + "# harmless\rimport os\n"},
    ),
    encoded("a test in seven bits", "utf-7", "+AAo-"),
    encoded("a test in escapes", "raw_unicode_escape", "\\u000a"),
    Cheat(
        "code in escapes",
        ENCODING.format("raw_unicode_escape"),
        green={SOURCE: f"# coding: raw_unicode_escape\n{FIXED}# harmless \\u000aLABEL = 1\n"},
        lane="hotfix",
    ),
    Cheat(
        "a file that some systems take for another",
        "some systems cannot tell its name from `shop/price.py`",
        "flagged",
        green={SOURCE: FIXED, "shop/Price.py": "x = 1\n"},
        spec={"files_to_create": ["shop/Price.py"]},
    ),
    Cheat(
        "attributes that hide code from whoever reads a difference",
        "it decides how the project is built",
        "flagged",
        green={SOURCE: FIXED, ".gitattributes": "*.py -diff\n"},
        spec={"files_to_create": [".gitattributes"]},
        lane="full",
    ),
]
