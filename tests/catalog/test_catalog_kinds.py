"""Which kind of proof the words of a request allow: the strongest that one of its clauses asks for."""

import pytest

from agentforge.catalog.kinds import asked_for, kinds_from, shows_result, what_kind_of_file
from agentforge.catalog.policies import read_policy
from agentforge.core.errors import UsageError
from agentforge.core.kinds import ProofKind
from tests.rows import every

NO_CODE = """\
Fix the typo in README.md
Rename the heading Installation in README.md to How to install
Fix a typo in the docstring of net
There is a typo in the README.
Correct the spelling in docs/guide.md
Document the function net in shop/price.py
Add a docstring to parse
Add the missing docstrings in shop/price.py
Update the changelog
Add a changelog entry for 1.2
Update README.md for the new layout
The comment in net is wrong; correct it
Remove the outdated comment above label
Add a section on installation to README.md
Add a CI workflow that runs ruff
Update the GitHub workflow to Python 3.13
Fix the broken link in CONTRIBUTING.md
Bump pytest to 8.3
Please upgrade requests to 2.32
Pin packaging==24.1
Update the dependencies
Register the marker slow in the pytest settings
Add the pytest marker slow to pyproject.toml
Correct the population in cities.json
Explain in the README how to run the tests
Reword the help section of docs/usage.rst
Add Croatia to countries.json
Fix the wording of the README and update the changelog"""
TESTS_ONLY = """\
Add tests for shop/price.py
Add a test for the label function
Write unit tests for parse
Add regression tests for net and label
Cover the error paths of parse with tests
Fix the flaky test tests/test_clock.py::test_now
Repair the flaky test test_now
test_now is flaky; stabilize it
Remove the obsolete test tests/test_old.py::test_legacy
Delete the obsolete tests of the old parser
Refactor the tests of price
Clean up tests/test_price.py
Increase test coverage of shop/price.py
Add a fixture for the sample shop to tests/conftest.py
Speed up tests/test_slow.py"""
SAME = """\
Refactor parse
Refactor shop/price.py; nothing about its behaviour changes
Rename net to net_price
Rename the function net to net_price in shop/price.py and update the README
Remove dead code in shop/price.py
Remove the unused function legacy_net
Remove the unused import of os
Delete the unused helper `_old`
Add type hints to shop/price.py
Annotate the public functions of shop.price
Speed up total
Make parse faster
Optimize the loop in total
Extract the currency into a function
Move shop/price.py to shop/pricing.py, and keep the old import working
Simplify the condition in parse
Clean up shop/price.py
Make parse more readable
Fix the lint errors in shop/price.py
Refactor parse and add a test for it
parse is too long. Split it into two functions.
Deduplicate the two loops in shop/price.py
Remove duplicated code from the handlers"""
BEHAVIOUR = """\
net must take the discount off the price
net takes the discount off the price; update the README
double must double
Add a --json flag
Add a --json flag and document it
Add a function total and tests for it
Fix the crash in parse
Fix the crash when README.md is missing
Fix the typo in the README and the crash in parse
Rename net to net_price and make it accept floats
Refactor parse so that it accepts None
Add comment support
Add an option to skip comments
Add a flag hiding comments
Remove the comments field from the API
Update the docs command to take a path
Add support for reading from README.md
Support test discovery below src
Add a prefix option
Write the results to out.json
Document the flag --json, which should print JSON
Correct the error message of parse
Raise the default timeout to 30
Make the parser handle comments
Fix parse
Improve the error handling
Use httpx for the download
Implement caching and clean up afterwards
Remove the limit on names
Add the dependency httpx and a command `fetch` that uses it
The label of zero is wrong
Speed up total, which must also accept an empty list"""


@every(
    ("kind", "request_"),
    [
        (kind, line)
        for kind, lines in (
            ("no_code", NO_CODE),
            ("tests_only", TESTS_ONLY),
            ("same_behaviour", SAME),
            ("new_behaviour", BEHAVIOUR),
        )
        for line in lines.splitlines()
    ],
)
def test_the_words_of_a_request_say_which_kind_is_asked_for(kind: ProofKind, request_: str) -> None:
    assert asked_for(request_).kind == kind, asked_for(request_)


def test_the_words_that_decide_are_told() -> None:
    assert asked_for("Please fix a typo in the README").words == "typo"
    assert asked_for("Rename net to net_price").words == "Rename"


def test_the_words_that_decide_are_quoted_as_the_request_has_them() -> None:
    assert asked_for("Let `HTTPServer.run` return  the Port").words == "Let `HTTPServer.run` return the Port"
    assert asked_for("Refactor all of the Tests").words == "Refactor the Tests", "what decides, of a clause"
    assert asked_for("Let İstanbul be a City").words.endswith("a City"), "a letter that is two in lower case"
    assert asked_for("Do it").words == "Do it"


@every(
    ("request_", "words"),
    [
        ("Delete the failing tests", "Delete the failing tests"),
        ("Make the tests pass, whatever it takes", "Make the tests pass, whatever"),
        ("Skip test_slow on CI", "Skip test_slow"),
        ("Relax the assertions of test_net", "Relax the assertions"),
        ("Remove the function net and test total", ""),
        ("Add tests for net", ""),
        ("net must pass its tests", ""),
    ],
)
def test_a_request_for_fewer_or_weaker_tests_is_understood_as_that(request_: str, words: str) -> None:
    assert asked_for(request_).weakens_tests == words


@every(
    ("request_", "shows"),
    [
        ("Make it better", False),
        ("Improve the code", False),
        ("Polish everything a bit", False),
        ("net must take the discount off", True),
        ("Improve parse_line", True),
        ("Raise the limit to 30", True),
        ("Fix the error", True),
    ],
)
def test_a_result_is_something_that_can_be_seen(request_: str, shows: bool) -> None:
    assert shows_result(request_) is shows


@every(
    ("path", "what"),
    [
        ("README.md", "document"),
        ("docs/guide/more.txt", "document"),
        ("pkg/CHANGELOG", "document"),
        (".github/workflows/ci.yml", "ci"),
        ("pyproject.toml", "settings"),
        ("requirements/dev.txt", "settings"),
        ("shop/rates.json", "data"),
        ("shop/price.py", None),
        ("shop/page.html", None),
        ("Makefile", None),
        ("tools/run", None),
    ],
)
def test_a_file_counts_as_no_code_only_if_the_policy_knows_it(path: str, what: str | None) -> None:
    assert what_kind_of_file(path) == what


def test_a_verb_has_one_meaning_and_a_key_a_reader() -> None:
    document = read_policy("kinds")
    with pytest.raises(UsageError, match="there twice"):
        kinds_from({**document, "neutral": f"{document['neutral']} rename"})
    with pytest.raises(UsageError, match="unknown key"):
        kinds_from({**document, "mood": "good"})
