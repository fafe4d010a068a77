"""Which kind of proof the words of a request allow: the strongest that one of its clauses asks for."""

import pytest

from agentforge.catalog.kinds import asked_for, kinds_from, lowered_to, shows_result, what_kind_of_file
from agentforge.catalog.policies import read_policy
from agentforge.core.errors import UsageError
from agentforge.core.kinds import ProofKind
from tests.rows import every

NO_CODE = """\
Fix the typo in README.md
Rename the heading Installation in README.md to How to install
Fix a typo in the docstring of net
Fix the doctest of net in shop/price.py
Correct the outdated doctest of parse
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
Fix the wording of the README and update the changelog
Add docs and examples
Update the README and CHANGELOG
Fix typos and grammar
Docs only, please
Only fix the docstring
Bump the version
Upgrade to the latest version of click
Upgrade click to the newest version
Translate the README to German
Proofread docs/guide.md
Improve the documentation of parse_date and fix its typos
Add usage examples to the docs
Mention in the README that None is accepted
Document that None is accepted
Update copyright year in LICENSE
Fix a broken link in the docs
Improve the wording in docs/index.rst
Add an FAQ section to the README
Correct grammar mistakes in the tutorial
Update CONTRIBUTING.md with the new test command
Add a note on thread safety to the docstring of Cache
Update the copyright years
Add a Python 3.14 job to the CI workflow
Document all parameters of connect()
Remove trailing whitespace in README.md
docs: explain how net rounds
Bump the version to 1.1.0
Update requests to 2.32
Update pytest to version 9
Release 1.1
Set up GitHub Actions
Add Python 3.13 to the CI matrix
Ignore .venv in .gitignore
Update the copyright year
Add classifiers to pyproject.toml
The comment in net is wrong: it's a discount, not a tax
Remove the unused dependency attrs
Add a `slow` marker to the pytest settings"""
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
Speed up tests/test_slow.py
Add tests for the parser and the lexer
Only add a test
Add tests for load and parse
Add tests only
Add more tests and fixtures
Add missing tests for Bottle.route and Router
Add a regression test for issue 42
Test the error branch of load()
Write property tests for encode and decode
Move the tests of parse into their own file
Parametrize test_parse
Make test_now deterministic
Use tmp_path in the tests
Add a fixture `store` to tests/conftest.py and use it in test_store.py
test: cover the errors of parse"""
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
Remove duplicated code from the handlers
Simplify parse
Clean up the code
Rename parse to load
Split Parser into two classes
Move the helpers to util.py
Remove unused imports and variables
Merge `a` and `b` into one function
Add type hints to the client and the server
Inline the helper _old
Optimize the inner loop of total
Rename class Foo to Bar
Rename FooBar to BarFoo everywhere
Move parse_date into dates.py
Simplify the control flow of parse_date
Make total() faster
Refactor connect() into smaller functions
Extract a helper for the retry loop
Get rid of duplicated code in views.py
Remove the deprecated alias old_name
Reduce the complexity of parse_args
Sort the imports
Make Cache.get O(1)
Move Cache from util.py to cache.py
Drop the unused variable x in main
Type-annotate utils.py
Inline `_helper` into its only caller
Delete old_net, nothing uses it
Remove the function unique
Extract the rounding of net into a helper
Turn kit/text.py into a package, without changing what it does
Use pathlib instead of open in kit/store.py
Use f-strings instead of % formatting
Replace the loop in total with sum()
Convert Price to a dataclass
Fix the mypy errors
Format the code with black
Sort the imports in kit/cli.py
Add __all__ to shop/price.py
Drop the Python 2 compatibility code
perf: look names up only once"""
BEHAVIOUR = """\
Fix the failing doctest of net
Make the doctest of net pass
Fix the doctest of net, which fails
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
Speed up total, which must also accept an empty list
Document the --json option and implement it
Update the README and support Python 3.13
Add a test for empty input and handle it
Rename parse to load and accept bytes
Refactor the parser, handle None
Add docs and the feature
Add tests and the missing validation
Refactor Parser so None is accepted
Write tests for parse() and fix what they find
Clean up and fix the bug in slugify
Move the cache to disk
Add type hints and raise TypeError on wrong types
Bump the version and drop Python 3.8 support
Remove unused imports and the login check
Document and enforce the maximum length
Test and fix the rounding in price()
Merge the two dicts in load()
Split the string on commas in parse
Simplify the fraction in the result
Move the window to the left when the key is pressed
Extract the domain from the email in parse
Clean the input before parsing
Inline images in the HTML output
Translate error messages to German
Optimise images on upload
Add an example command
Pin messages in the chat
Cover letters get a title
Upgrade users to premium after 10 purchases
Downgrade log level of retries to debug
Annotate output with line numbers
Rename files on upload to lower case
Cache results in memory
Split long lines in the output
Merge overlapping intervals
Parse comments
Ignore comments
Strip comments from the output
Support docs
Reword the error message of parse
Show the version in the README command
Print tests that failed
Bump the timeout to 30
Add tests and make parse handle None
Update docs/guide.md and let serve take a port
Remove the comment limit
Add a warning to the docs command
Refactor the code so that errors are logged
Clean up temporary files on exit
Split the bill between users
Move to the next line after a tab
Extract archives given as URLs
Simplify paths in the output
Translate exceptions of requests to ours
Fix the failing tests
Make the tests pass
Add the changelog command
Improve performance and accept generators
Write a README generator
Fix docs rendering
Make comments configurable
Fix spelling suggestions in the search
Clean cookies on logout
Move failed jobs to a dead letter queue
Speed limits must be enforced
Rename on conflict instead of overwriting
Fix the link checker
Add a test command to the CLI
Add tests endpoint
Improve type inference of columns
Remove duplicate rows in dedupe
Remove unused sessions after a day
Delete expired tokens
Drop the password check
Use UTC everywhere
Update README.md automatically on release
Add an update-docs hook to build()
Merge configuration from the environment
Move validation before saving
Extract text from PDF
Split on whitespace by default
Optimise for mobile
Pin the selected tab
Add a CI flag that disables colours
Convert README links to absolute URLs when building
Fix the wrong total in the report, and add a changelog entry
Mention the file name in the error message
Explain failures with the source line
Add missing dependency detection
Fix the coverage percentage shown by report()
Add a marker option to the plot
Clarify the error when the file is missing
Set the license field from the classifier
Make the docs build fail on warnings
Translate
Improve the error message of Path.load when the file is missing
Rename columns case-insensitively
Tidy the output
Extract the domain from an e-mail address
Extract text from PDFs
Split the bill evenly between guests
split() must keep empty parts
Split long lines in wrap()
Merge two dictionaries deeply
Clean the user input before saving it
Translate error codes to messages in the API
Move files to the trash when they are deleted
Rename uploaded files that have the same name
Pin messages in a channel
Unpin a message
Bump the retry limit to 5
Bump timeout to 30
Upgrade passwords to argon2 on login
Cover the map with markers
Inline images in exported HTML
Optimize images on upload
Tidy whitespace in the input
Speed up the animation to 2x
Remove unused sessions
Add comments to posts
Add markers to the map
Add a dependency between tasks
Fix the README parser
perf: cache pages so that it returns at once"""


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
    ("answer", "kind"),
    [
        ("Only add a test and mention tuples in the docstring", "tests_only"),
        ("Only add a test", "tests_only"),
        ("just document it", "no_code"),
        ("Docs only, please", "no_code"),
        ("Leave the code as it is and add a test", "tests_only"),
        ("A regression test is enough", "tests_only"),
        ("keep the behaviour, refactor only", "same_behaviour"),
        ("yes", None),
        ("Use a list", None),
        ("just fix it", None),
        ("Update the README", None),
        ("Update the README too", None),
        ("Add tests", None),
        ("Only raise ValueError, and add a test", None),
        ("Write the docs in docs/x.md and implement it", None),
        ("Nothing to do: stop", None),
    ],
)
def test_an_answer_lowers_the_kind_only_if_it_says_that_less_will_do(
    answer: str, kind: ProofKind | None
) -> None:
    assert lowered_to(answer) == kind


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
