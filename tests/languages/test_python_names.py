"""What others may use of a file, and the same file with names renamed."""

from agentforge.languages.python.changes import same_code
from agentforge.languages.python.names import public_names, renamed
from tests.rows import every

SHOP = '''\
"""Prices."""
from os import path as place
from .more import rest

LIMIT: int = 3
_hidden = 1


def net(price: int, percent: int = 0, *, exact=False) -> int:
    return price


def _own(a): ...


class Till:
    size = 1

    def __init__(self, size: int) -> None: ...
    def open(self) -> None: ...
    def _close(self): ...
'''


def test_the_names_of_a_file_are_told_with_their_parameters_and_without_types() -> None:
    assert public_names(SHOP) == {
        "place": "imported",
        "rest": "imported",
        "LIMIT": "",
        "net": "price, percent=0, *, exact=False",
        "Till": "",
        "Till.size": "",
        "Till.__init__": "self, size",
        "Till.open": "self",
    }
    assert public_names("def (") is None
    assert public_names("__all__ = ['_own']\n\n\ndef _own(): ...\n") == {"_own": ""}


@every(
    ("before", "after"),
    [
        ("from shop.price import net\n", "from shop.price import net_price\n"),
        ("assert net(net_=1, net=2) == 'net'\n", "assert net_price(net_=1, net_price=2) == 'net'\n"),
        ("patch('shop.price.net', x)\n", "patch('shop.price.net_price', x)\n"),
        ("# net\nx = 'the net price'\n", "# net\nx = 'the net price'\n"),
        ("def broken(:\n  net\n", "def broken(:\n  net\n"),
    ],
)
def test_an_identifier_is_renamed_by_its_exact_name(before: str, after: str) -> None:
    assert renamed(before, {"net": "net_price"}, {}) == after


def test_a_module_is_renamed_in_imports_and_behind_dots_only() -> None:
    before = "import shop.price\nfrom shop.price import net\nprice = shop.price.net(price=1)\n"
    after = "import shop.cost\nfrom shop.cost import net\nprice = shop.cost.net(price=1)\n"
    assert renamed(before, {}, {"price": "cost"}) == after


@every(
    ("after", "same"),
    [
        (SHOP.replace('"""Prices."""', '"""What things cost."""  # of course'), True),
        (SHOP.replace("LIMIT: int = 3", "LIMIT: int = 4"), False),
        (SHOP.replace("price: int", "price: float"), False),
        ("def (", False),
    ],
)
def test_comments_and_docstrings_are_no_code(after: str, same: bool) -> None:
    assert same_code(SHOP, after) is same
