"""What the words of a request say that a call or a message must be."""

from agentforge.gates.new_tests.stated import examples_in, unsaid
from tests.rows import every

FUNCTIONS = {"shop/price.py": ["net", "slug"]}


@every(
    ("request_", "wanted"),
    [
        ("net(100, 10) must return 90", "gives 90"),
        ("`net(100, 10)` should be 90.", "gives 90"),
        ("net(100, 10) == 90", "gives 90"),
        ("Add slug. slug('A b') -> 'a-b'; nothing else", "gives 'a-b'"),
        ("slug('A b', sep='_') gives `'a_b'`", "gives 'a_b'"),
        ("net(1, 2) returns [1, (2, 3)], always", "gives [1, (2, 3)]"),
        ("slug('') must raise a ValueError", "raises ValueError"),
        ("net(100, 10) returns 100 instead of 90", None),
        ("Currently net(100, 10) gives 100", None),
        ("net(100, 10) is wrong", None),
        ("net(price, 10) must return 90", None),
        ("other(100, 10) must return 90", None),
        ("cart.net(100, 10) must return 90", None),
        ("When net(100, 10) returns 90, stop", None),
        ("net(100 must return", None),
    ],
)
def test_an_example_is_read_where_it_says_what_must_be(request_: str, wanted: str | None) -> None:
    found = [example.wanted for example in examples_in(request_, FUNCTIONS)]
    assert found == ([] if wanted is None else [wanted]), request_


@every(
    ("request_", "test", "is_said"),
    [
        ('raise ValueError with the message "must be at most 100"', "raises(ValueError)", False),
        ('raise ValueError with the message "must be at most 100"', "match='must be at most 100'", True),
        ("It prints 'no such file: NAME'", "'no such ' 'file: NAME'", True),
        ("It prints 'not found: {name}'", "== 'not found: x'", True),
        ('The label "Total price" is shown', "pass", True),
        ("Fix the crash of `net`", "pass", True),
    ],
)
def test_a_message_that_is_quoted_is_looked_for_in_the_new_tests(
    request_: str, test: str, is_said: bool
) -> None:
    assert (list(unsaid(request_, {"tests/test_net.py": test})) == []) is is_said
