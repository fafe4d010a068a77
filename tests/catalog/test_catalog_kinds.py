"""Which kind of proof the words of a request allow: the strongest that one of its clauses asks for."""

import pytest

from agentforge.catalog.kinds import asked_for, lowered_to, shows_result, what_kind_of_file
from agentforge.catalog.kinds_policy import kinds_from
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
Add a `slow` marker to the pytest settings
fix typo in README
typo in readme
Fix typo
Fix typos in docs
README: fix typo
docs: fix typo in the quickstart
doc: clarify retry semantics
chore: bump ruff to 0.6
chore(deps): bump urllib3 from 1.26.5 to 1.26.18
build(deps): update setuptools requirement from <70 to <75
Add a CONTRIBUTING guide
Add CODE_OF_CONDUCT.md
Add a security policy (SECURITY.md)
Update the installation instructions in the README
The installation section of the README is outdated. Please update it.
Document the environment variable SHOP_RATE in docs/configuration.md
Add an example of using the client as a context manager to the docs
Drop Python 3.8 from CI
Run the tests on Python 3.13 in CI
Remove Python 3.7 from the CI matrix
Add Python 3.13 to the classifiers
Add dependabot.yml
Cache pip downloads in the GitHub workflow
Fix the badge in the README
Change the license to Apache-2.0
Add a .pre-commit-config.yaml with ruff
Update pre-commit hooks
Regenerate requirements.txt
Add the missing changelog entry for #123
Move the installation section to the top of the README
Add links to the API docs in README.md
Remove the stale TODO comment in shop/price.py
Add a comment explaining the magic number 37 in net
Fix the docstring of Cache.get: it returns None, it does not raise
Improve docstrings in shop/price.py
Convert README.rst to Markdown
Switch the docs theme to furo
Add API reference pages for shop.price
Bump minimum version of click to 8.1
Require packaging >= 24
Set the line length to 100 in pyproject.toml
Enable the ruff rule B904 in pyproject.toml
Add project URLs to pyproject.toml
Add keywords to pyproject.toml
Change the author e-mail in pyproject.toml
Register the marker `integration`
Fixes #42: typo in README
Closes #17. Document how to configure logging.
Correct the capital of Australia in countries.json
Add the translations for French to locale/fr.po
Update the rates in shop/rates.json to those of 2024
Fix the wrong ISO code of Sweden in data/countries.csv
Add a .editorconfig
Add type information (py.typed)
Update the year in the LICENSE file
Add a Makefile target for the docs
Add a Dockerfile
Add tox environment for Python 3.13
Explain the difference between net and gross in the docstring of net
Document the exceptions that parse_date raises
Add a migration guide for 2.0 to the docs
Spelling: recieve -> receive in README.md
s/recieve/receive/ in the docs
Replace http:// links with https:// in the README
The docs say that timeout is in seconds; it is milliseconds. Fix the docs.
Remove mention of Python 2 from the docs
Bump version to 2.0.0rc1
Prepare release 1.4.2
Bump the version number for the release
Update AUTHORS
Add myself to AUTHORS.md
Update the lock file
Pin numpy below 2
Upgrade all dependencies
Remove attrs from the dependencies; nothing imports it
Behebe den Tippfehler in der README
Korrigiere die Rechtschreibung in docs/guide.md
Corrige la faute de frappe dans le README
Mets à jour le changelog
Corrige el error tipográfico en el README
Actualiza la documentación
Corrigir erro de digitação no README
Correggi il refuso nel README
Исправь опечатку в README
修正 README 中的错别字
READMEの誤字を修正してください
Bump the version and drop Python 3.8 support
Could you please fix the typos in the docs?
[docs] Fix typo in quickstart
Fix typo (closes #12)
Write a README
Add a CHANGELOG.md following keepachangelog
Create a .gitignore for Python
Fix the comment above net
Add comments to the code of parse
Add a comment to explain the loop in net
Pin requests to 2.31
Pin the dependencies
Update dependencies
Update all dependencies to their latest versions
Add requests to the requirements
Update the docs for net
Add docs for the cli
Add a test job to the CI
Upload coverage to codecov in the CI workflow
Update the CI config
Update config in .github/workflows/test.yml
Fix the typos in the docs
Correct the license header
Document the new option --json
Write a tutorial on caching in docs/
Update the docstring of net: it says price instead of net price
Bump actions/checkout to v4
Bump ruff from 0.4.1 to 0.5.0
Add a pre-commit hook for ruff
Add an example of caching to the README
Behebe die Tippfehler in README.md
Corrige las erratas del README
Document the new option --json
Add docs for the new flag --json
Mention the new command in the README
Fix a typo in the module docstring
Fix typos in comments of cart.py
Clarify the comment on rounding in net()
Remove stale comments from parser.py
Add an installation section to the README
Update the installation instructions in docs/install.md
Bump numpy to 2.1
Add pytest-cov to the dev dependencies
Drop the dependency on six
Remove six from requirements.txt
Add a GitHub workflow for linting
Cache pip in the CI workflow
Document the return value of net
Add docstrings to the public functions
Add docstrings to the cart module
Fix the link to the license in README.md
Add a CODEOWNERS file
Update the year in the license
Update the example in the docs of net
Mention Windows in the installation guide
README example doesn't work: `from parse import Parser` should be `from parse import compile`. Please fix the README.
docs: mention that `iterate` is infinite
The docstring of `chunked` is misleading -- it says that the last chunk is padded, which is only true for grouper(). Fix the docstring, not the code.
Clarify in the docs that `ttl` is in seconds
as discussed in #214, document the thread-safety guarantees (there are none) in the class docstring of LRUCache
Bitte in der README erwähnen, dass Python 3.8 nicht mehr unterstützt wird.
Corriger la faute d'orthographe dans le README (« recieve »)
Falta documentar el parámetro `strict` en la docstring de `zip_equal`
wrong copyright year
Add a CITATION.cff
Add SECURITY.md
add CODE_OF_CONDUCT.md (contributor covenant 2.1)
Typo: 'seperator' -> 'separator' in docs
s/seperator/separator/ in comments
Remove the dead link to gitter from the readme
Changelog for 2.4.0 is missing the entry on `unique_to_each`
Add the missing release date to the changelog
Docs for the `--sort` option are outdated: it also takes `name` since 1.3. Update them.
Remove the stale TODO in `humanize/time.py`
Add a note to the docstring of `naturaldelta` that months are taken as 30.5 days
Add doctest examples to `ordinalize`
CI: test on 3.14
Run the tests on Python 3.14 too
Add 3.14 to the tox envlist and to the classifiers
Declare support for Python 3.13 and 3.14
Add Python 3.14 classifier
Drop EOL Python 3.7 and 3.8 from setup.py and CI
drop python 3.8
bump actions/checkout from 3 to 4
Bump actions/setup-python from v4 to v5 in .github/workflows
chore(deps): bump pytest from 7.4.0 to 8.3.2
Please move our metadata from setup.py to pyproject.toml, see PEP 621
Switch the build backend from setuptools to hatchling
Ship py.typed so that mypy picks up our annotations
The sdist doesn't contain the tests. Include them (MANIFEST.in).
LICENSE file is not included in the wheel
pyproject.toml: use SPDX license expression
Add project urls (changelog, issue tracker) to setup.cfg
release 3.0
require typing_extensions>=4.6 on py<3.11
remove `six` from install_requires, we don't use it any more
Stop pinning exact versions in requirements-dev.txt
Enable ruff's UP rules in pyproject.toml
add dependabot config for github actions"""
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
test: cover the errors of parse
Add a unit test for parse_date with leap years
Add tests covering the error branches of load()
Improve test coverage
Write a regression test for #123
Fix flaky test_cache_expiry
test_cache_expiry fails sometimes on CI; make it deterministic
The test test_clock depends on the current time. Freeze it.
Remove the test for the removed option
Delete tests/test_legacy.py, it tests code that is gone
Parametrize the tests in tests/test_price.py
Convert the unittest tests to pytest style
Use a fixture instead of setUp in tests/test_store.py
Split tests/test_all.py into one file per module
Rename test_foo to test_net_of_nothing
Speed up the test suite
Mock the network in tests/test_client.py
Update the snapshot of test_render
Unskip test_windows_paths
Add property-based tests for encode/decode
Add a conftest.py fixture for a temporary database
Replace time.sleep in the tests with a fake clock
test: add missing cases for slugify
Extend the tests of net to negative prices
Add end-to-end tests for the CLI
We have no tests for Cache. Please add some.
There are no tests for shop/price.py
Cover Cache.evict with tests
Füge Tests für parse_date hinzu
Ajoute des tests pour parse_date
Añade pruebas para parse_date
Mark the integration tests with a pytest marker
Make the tests independent of each other
Task: write tests for parse_date
Add a test for #12
Skip test_network when there is no network
Add tests for net
Test the error paths of parse
Increase the test coverage of shop/price.py
Improve coverage
Add a regression test for #12
Make test_net deterministic
Fix the flaky test test_net
Remove the obsolete test test_old_label
Parametrize test_net
Cover label with tests
Write unit tests for the parser
Move the fixtures to conftest.py
Add a fixture for a full cart to the tests
Rename the test test_a to test_label
Schreibe Tests für net
Añade pruebas para net
为 net 添加测试
Add unit tests for the cart
Add tests to tests/test_cart.py
Add tests for the error handling of parse
Raise the coverage of shop/cart.py
Add missing tests
The test test_net is flaky, fix it
Delete the obsolete test test_v1_api
Write tests for label and net
Add a parametrized test for net
Add a conftest fixture for the database
test_expiry is flaky on slow machines, it sleeps 0.1s. Make it deterministic please.
More tests for `strip` please
we've got no tests at all for the error paths of `Parser._expect`. add some
Increase coverage of utils.py
Port tests/test_core.py from nose to pytest
Remove test_py2_compat, we don't support python 2 anymore
Delete the obsolete tests in tests/test_py2.py
Use pytest.mark.parametrize in test_tokenizer
the tests leave temp files behind, use tmp_path
Add a regression test for #88 (already fixed on main)
Agrega pruebas para la función `slugify`
Ajouter des tests pour `intcomma` avec des nombres négatifs
Speed up the test suite: test_large takes 40 s
Skip test_symlinks on Windows"""
SAME = """\
Rename the parameter percent of net to rate
Use `str | None` instead of Optional in shop/price.py
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
perf: look names up only once
Refactor Cache.get to use early returns
Extract class Retry from client.py
Move the exceptions into shop/errors.py and re-export them
Rename package shop to store
Rename the module price to pricing
Rename Price.net to Price.net_amount
Rename the parameter `cb` of on_event to `callback`
Replace namedtuple with dataclass in shop/price.py
Convert the class Price to a dataclass
Use functools.cached_property instead of the hand-written cache in Price
Replace os.path with pathlib in shop/files.py
Use an Enum for the states in job.py without changing behaviour
Drop Python 3.8 support and use the new syntax
Modernize the syntax for Python 3.10
Use `X | None` instead of Optional[X]
Replace typing.List with list
Add type hints to the public API
Make mypy --strict pass
Fix the type errors reported by mypy
Add return type annotations to shop/price.py
Make Cache generic
Speed up Cache.get by avoiding the second lookup
Avoid the quadratic loop in dedupe
Reduce memory usage of load_all
Memoize total
Cache the compiled regular expression in parse_date
Avoid recompiling the regex on every call
Use a set for the membership test in filter_known
Remove commented-out code in client.py
Remove the dead branch in parse
Remove the unused parameter `strict` of load
Remove the deprecated function old_net
Inline the constant LIMIT
Replace magic numbers in net with named constants
Introduce constants for the magic numbers in shop/price.py
Break the import cycle between shop.price and shop.cart
Make the import of numpy lazy
Deduplicate the validation code of Cart and Order
Replace the if/elif chain in dispatch with a dictionary
Use a generator expression in total
Use list comprehensions in shop/price.py
Use super() without arguments
Replace assert with explicit checks in shop/price.py without changing behaviour
Sort the methods of Cart alphabetically
Reformat with black
Apply ruff's suggestions
Fix ruff warnings in shop/
Turn the helper functions in shop/price.py private
Make _helper a static method
Split shop/price.py into shop/price.py and shop/labels.py
Move Cart to its own module
refactor(cart): split add into smaller functions
perf(cart): avoid copying the list
style: run black
Simplify Cart.total with sum()
Use importlib.resources instead of __file__ to find rates.json
Benenne net in net_price um
Renomme net en net_price
Refactorisiere parse
Task: rename net to net_price
Delete the unused file shop/old.py
Remove shop/old.py, which nothing imports
Make Cart a dataclass
Make the code PEP 8 compliant
[refactor] split cart.py
Rename the method total to sum_of
Annotate the functions of shop/price.py
Remove the unused import os
Remove dead code
Move net to shop/net.py
Split shop/price.py into two modules
Speed up net
Make net faster
Rename the config class to Settings
Rename parameter p to price in net
Use dataclasses in shop/cart.py
Refactor the CI helper in tools/ci.py
Extract the comment parsing code into a function
Renombra net a net_price
将 net 重命名为 net_price
Rename Cart.total to Cart.sum
Rename the variable x in net to price
Add type annotations to the cart module
Add type hints to all functions
Type-annotate shop/cart.py
Remove the unused function old_net
Delete dead code in shop/cart.py
Remove unused imports
Move the helper to_cents from cart.py to money.py
Refactor the discount code
Extract a function for rounding from net
Optimize the loop in net
Reduce the complexity of parse
Simplify net
Inline the helper _off in net
Remove leftovers of Python 2 (unicode_literals, object base classes)
remove python 2 compat code
drop `from __future__ import unicode_literals` everywhere
Use f-strings
pyupgrade --py39-plus
Modernize type annotations (PEP 604)
Type hints für cachetools/keys.py hinzufügen
add types to `humanize.filesize`
Fix mypy error: src/foo.py:12: error: Incompatible return value type (got "None", expected "str")
mypy complains about an untyped decorator in retry.py, please annotate it
Factor out the common part of `lru_cache` and `ttl_cache`
pull the parsing loop of `compile` out into its own function
Method `_handle_field` is 140 lines. Break it up.
perf: precompile the regexes in inflection
import time of the package is 300 ms because of `import pkg_resources`. Import it lazily.
Performance: `unique_everseen` does two lookups per element
`flatten` is O(n^2), make it O(n)
Cache the compiled regular expression in `_tokenize`; profiling shows 40% of the time is spent there
Move `recipes` helpers into `more_itertools/_impl.py`, keep re-exports
Rename `_parse` to `_parse_line`, `_p2` to `_parse_block`
Sort __all__
add __all__
remove unused import `sys` in polib.py
ruff says F401 in __init__.py
revert the refactoring of `_wrap` (commit 3f2a1c), it is harder to read
Nettoyer le code mort dans `utils.py`
Toten Code in `compat.py` entfernen
Refactor: `Signer.unsign` has nested ifs, use early returns
use `functools.cache` instead of hand written memo dict in `_units`
remove the deprecated alias `foo.bar`"""
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
perf: cache pages so that it returns at once
Cart.total ignores the discount; fix it
Fix #42
Fix the bug where Cart.total ignores discounts (#42)
Add a --verbose option to the CLI
Add `--format json` to `shop list`
Add a module shop.tax with a function vat(price)
Export net from the shop package
Make `shop.net` importable from the top level
Add an async version of fetch
Make Cart iterable
Make Cart a context manager
Cart should support `len()`
Add a property `is_empty` to Cart
Add equality to Price
Make Price hashable
Raise KeyError instead of returning None in Cart.get
Raise ValueError rather than AssertionError for negative prices
Introduce ShopError as the base class of all exceptions
Deprecate old_net in favour of net
Emit a DeprecationWarning from old_net
Log the file name when loading fails
Change the log level of the retry message to debug
Reword the error message of parse_date so it names the format
Change the default of timeout to 10
Change the default currency to USD
Read the default currency from the environment variable SHOP_CURRENCY
Fix the regular expression for e-mail addresses: it rejects plus signs
The regex in slugify drops digits
Make timestamps timezone aware
parse_date ignores the timezone offset
Read files as UTF-8 whatever the locale
Fix UnicodeDecodeError when the config has umlauts
Fix paths on Windows
Use pathlib.PurePosixPath so that URLs have forward slashes on Windows
Fix the race in Cache.get
Make Counter thread-safe
Fix path traversal in extract
Escape HTML in render to prevent XSS
Compare tokens in constant time
Use secrets instead of random for tokens
Add retries with exponential backoff to fetch
Return a generator instead of a list from walk
Support Python 3.13
Drop the trailing newline from render
Validate the e-mail in User
The CSV export must quote fields with commas
Add a column `currency` to the CSV export
Change the SQL query to order by name
Update the template to show the price with two decimals
Add the currency symbol to the label template
Add a plural form to the French translation of "items"
Support TOML configuration files
Make the `rate` argument optional
Make the arguments of net keyword-only
Add a `py.typed` marker and a `__version__` attribute
Add a __repr__ to Price
Add __slots__ to Price
Allow None as currency
Accept strings in net
Sort the output of list_items
Close the file when loading fails
Fix memory leak in Cache
Do not swallow KeyboardInterrupt in run
Stop mutating the argument in normalize
Add tests for net and fix the rounding of negative prices
Refactor Cart and add a discount code
Füge eine Option --json hinzu
Behebe den Absturz in parse
Behebe den Tippfehler in der README und den Absturz in parse
Corrige le plantage de parse
Corrige le bug dans le README parser
修复 parse 中的崩溃
Исправь ошибку в parse
Corrige el error en parse
Add French to the supported languages
Translate the error messages
Improve startup time by caching the configuration on disk
Update the docs and fix net for negative prices
Fix the typo in the error message of parse_date
Fix the typo in the option --verbsoe
Fix the misspelled key `recieved` in the JSON output
Add a docs command
Move the output to stderr
Remove the size limit in Cache
Remove the deprecated option --old
Remove support for XML
Remove the check for negative prices
Clean up expired sessions
Make net faster and correct for negative prices
Add support for config.json
Add support for pyproject.toml
Add validation for config.json
Add a parser for countries.json
Fix the import of data.csv
Add import from data.csv
Read the default from settings.toml
Add an option to write results in out.json
Add a currency option and store it in config.toml
Use colours in CI
Disable colours in CI
Fix the error handling in config.yaml loading
Pin posts to 3
Require a password
Require at least 8 characters
Drop rows with missing values
Drop support for XML
Remove Python code from uploaded notebooks
Cache regex results in Redis
Cache patterns between requests for 5 minutes
Avoid copying secrets into logs
Avoid redundant work when the queue is empty and log it
Replace hard-coded values with settings from the environment
Introduce constants and validate them
Make _helper retry
Make Cache generic and thread-safe
Use a set for lookups and reject duplicates
Memoize total and expire it after a minute
Use cached_property so that the value updates
Use optional[str] and accept None
Make mypy pass and fix the crash it finds
Sort the functions shown by --help
Sort the members by name in the output
Run migrations on start
Build the index on start in CI
Explain errors in the output
Explain the failure in the log
Move the section of the report to the top
Replace tabs in the docs command
Replace names in README.md when rendering
Replace links in README.md at build time
Add dependencies between jobs to the scheduler
Change the classifiers of the model
Improve the classifiers
Fix the requirements check
Update the metadata of images
Add keywords to the search
Add urls to the sitemap
Add metadata to the response
Add markers to the chart
Add a marker red to the map
Seed the generator
Seeds must be deterministic
Make it deterministic
net is random; make it deterministic
The docs say that net rounds down. Make it so.
The README says that None is accepted. Implement that.
The documentation mentions --json, which does not exist. Add it.
Freeze the time when the game is paused
Freeze it
There is no test command
It has no tests flag
Fake the user agent in tests of the crawler
Mock data in test_mode
Replace passwords in test_db exports
Update the snapshot of the database every hour
Refresh the snapshots
Regenerate the token
Accept expected values
Corrige el error de cálculo en net
Corrige la coquille dans le message d'erreur
Korrigiere den Tippfehler in der Fehlermeldung von parse
Actualiza la documentación y arregla parse
Aktualisiere die Dokumentation und füge --json hinzu
Renomme net en net_price et accepte None
Füge Tests für parse hinzu und behebe die Fehler
将 net 重命名为 net_price 并支持 None
重构 parse 并支持 None
修正 README 中的错别字并修复 parse
Benenne Dateien beim Hochladen um
fix: crash when README.md is empty
fix: rename files on upload
feat: rename sessions
chore: reject empty names
chore: handle None in parse
build: fail on warnings in parse
Fixes #12
Fixes #12: parse must accept None
#12 net rounds wrongly
See #12 and implement it
Introduce a constant rate limit
Introduce a constant delay between retries
Define a constant for the maximum and enforce it
Break circular imports detection into warnings
Import users lazily
Defer the import of large files to a worker
Turn helpers into plugins that users can register
Lower the threshold to 3 in alerts
Set the timeout to 30
Set the timeout to 30 in the client
Change the colour to red in theme.css
Prepare the release notes automatically
Need retries >= 3 before failing
Sort methods of payment by price
Make the slowest test fail the build
Make price private
Make profiles private
Turn _internal pages private
Add a Makefile parser
Add Dockerfile generation
Add make rules for crafting
Add just rules
Add authors to the book page
Add contributors to the about box
Add a security policy check
Add type information to the JSON output
Add type information
Use native types in the result
Use modern syntax highlighting
Use the new syntax for queries in the parser
Pin comments at the top
Test users in CI
Upload coverage to S3 when in CI mode
Update dependencies at run time
Add requirements to the quest
Remove comments from the feed
Add a comment to the ticket when it is closed
Fix comments on photos
Add docs to the search index
Add documentation links to the error page
Update the docs tree view when a node is dropped
Rename users from the admin page
Rename uploaded files on conflict
Move expired sessions to the archive
Rename columns by a mapping
Add types to the filter
Add type checks to the form
Add a type column to the table
Add config to the command line
Add a CI mode
Add ci detection
Pin the sidebar
Bump the score to 10.5 after a win
Upgrade users to the premium plan
Downgrade users who do not pay
Test the connection before saving
Test that the input is a number
Add tests to the quiz
Add a test to the exam
Delete tests from the lab report
Remove test users at startup
Add coverage to the insurance quote
Improve coverage of the radio map
Add dependencies between tasks
Resolve dependencies in parallel
Update dependencies of a task when it moves
Remove dependencies from a task
Add a requirement to the order form
Drop requirements that are met
Update the license of a user
Add licenses to the customer record
Translate messages to German
Translate the labels of the form
Cover images for albums
Cover letters in the export
Merge carts when a user logs in
Split bills between users
Split the CSV by country
Clean input before it is stored
Inline images in the mail
Extract links from a page
Simplify fractions
Speed up playback to 2x
Move the cursor with the arrow keys
Tidy the output of the report
Annotate images with boxes
Add examples to the prompt
Add an example to the vocabulary card
Add a tutorial to the first start
Improve performance reviews with comments
Add hints to the puzzle
Add annotations to the PDF
Fix imports of CSV files
Fix imports from Excel
Remove duplicate files from the gallery
Remove duplicate rows
Drop unused columns
Add fixtures to the tournament
Update fixtures of the league
Add test markers to the plot
Fix flakes in the snow animation
Update the changelog widget
Add release notes to the update dialog
Add a badge to the profile
Add workflows to the editor
Add a workflow for refunds
Fix the workflow of orders
Add classifiers to the model
Add metadata to the image
Add a data file to the archive
Add data sets to the dashboard
Update the copyright in exported PDFs
Format dates by locale
Format files on save
Use a set for the options of the poll
Add a lock file while it runs
Remove the lock file at exit
Add style errors to the report
Add memory usage to the status line
Add speed to the status line
Add complexity to the report
Run tests of the battery on boot
Skip tests of the battery when it is full
Register markers on the map
Prepare release of the brakes
Cache dependencies in ci mode
Enable dark mode in settings.toml
Explain the rule in the comment of the bot
Refactor must return the plan
Rename must keep the extension
Make the tests page faster
Use pathlib and accept Path objects
Add type hints to the completion menu
Fix typos in search queries
Correct spelling in user queries
Add a spelling suggestion
Fix grammar of the parser
Fix broken links automatically
Report broken links
Add a README to every exported folder
Write a README when a project is created
Generate docs for each endpoint
Create a changelog from commits
Add docstring parsing
Add a fixture loader
Rename the branch after a merge
Move tests to the next day
Test all servers in parallel
Cover the map with fog
Stabilize the camera
Bump allocation
Pin 3.5 to the board
Upgrade to latest on launch
Require python scripts to be signed
Drop python 2 files on the window
Füge der Funktion net einen Rabatt hinzu
net soll den Rabatt abziehen
Schreibe Tests für Prüfungen aus und speichere sie
Behebe den Tippfehler der Suche automatisch
Aktualisiere die Dokumentation im Index bei jedem Speichern
Refaktorisiere net, damit es Rabatte abzieht
Benenne Dateien in Kleinbuchstaben um
Corrige el error de net cuando el descuento es cero
Añade pruebas para alumnos en la base de datos
Añade un descuento a net
Actualiza la documentación de cada usuario al guardar
Renombra los archivos a minúsculas
Refactoriza net y añade un descuento
为 net 添加折扣
修复 net 的错误
重命名文件时保留扩展名
更新文档时通知用户
重构 net 并支持折扣
为考试添加测试题
Ajoute des tests pour les élèves
Corrige les fautes de frappe des utilisateurs
Mets à jour la documentation quand on enregistre
Renomme les fichiers en minuscules
Add comments to articles
Let users edit their comments
Hide comments of banned users
Add a comment field to the invoice
Count comments per day
Add tests to the catalogue of the lab
Update the test of a pupil after grading
Fix the coverage of the wifi map
Show code coverage in the report
Add coverage types to the policy form
Remove circular dependencies from the graph
Add the dependencies of a task to its page
Update requirements of a job posting
Add docs to the folder view
Index docs on upload
Rename docs in the file browser
Add an example sentence to each word
Fix the examples in the generated help
Add hints to the crossword
Update markers on the map when it is dragged
Add fixtures to the calendar of the league
Add links to the sidebar
Fix broken links in imported pages
Update the license key of a customer
Add release notes to the app's about dialog
Add config files to the backup
Add a config option to the server
Add ci to the list of providers
Move comments to the archive
Merge duplicate contacts
Clean up old sessions
Rename a tag in all posts
Split names into first and last
Extract dates from emails
Bump the priority of late tickets
Pin a note to the board
Upgrade the plan of a customer
Test a webhook from the settings page
Translate product names
Annotate photos with places
Add type to the search result
Add types to products
Remove annotations from the exported PDF
Add performance to the report
Improve the speed of the robot arm to 3 m/s
Add a changelog page to the site
Write the changelog to a file
Fix spelling of customer names on import
Mejora los comentarios de los usuarios
Pruebe la conexión antes de guardar
Die Kommentare sollen sortiert sein
Teste die Verbindung vor dem Speichern
用户评论按时间排序
保存前测试连接
humanize.naturalsize(1e30) raises IndexError
naturalsize must support negative numbers
`parse("{:d}", "1_000")` should match like int() does
Deprecate `pluralise`, use `pluralize`
deprecate py_modules option
ValueError message of `int_to_bytes` is useless. Include the value.
Add `--version` flag
Add an env var NO_COLOR (https://no-color.org) support
Change default of `indent` from 4 to 2
`dumps` isn't thread safe, guard the cache with a lock
SECURITY: path traversal in `safe_join` when given a absolute path
CVE-2024-1234: use compare_digest in `verify`
Log a warning when the config file is not readable instead of silently ignoring it
Windows: `resolve` fails on drive letters
KeyError instead of a helpful message when the profile is missing
Slugify deletes the german ß. It should become ss
Revert "Make parse lazy"
Support PEP 695 type aliases
`strip_ansi` lässt Hyperlinks (OSC 8) stehen, sollte sie entfernen
`wcswidth` renvoie -1 pour une chaîne vide avec des caractères de contrôle ; elle devrait renvoyer 0
`ordinal` no acepta números negativos, debería devolver '-1st'
close file handle (ResourceWarning)
Memory leak in `memoize`: keys are never dropped
Accept os.PathLike in `load`
Empty string crashes titleize
remove deprecated `ugettext`
Raise TypeError, not AttributeError, if `seq` is None
retry on 429
Use UTF-8 by default
Timezone aware datetimes give wrong result in naturaltime
Add __repr__ to TTLCache
Make Version hashable
Add type checks to `Signer.__init__`: raise TypeError for str salt
Add docs command to the CLI
exit code should be 2 on usage errors
stop swallowing KeyboardInterrupt
Python 3.14 compatibility: ast.Str is gone
Fix compatibility with click 8.2
Make the license field of the output optional
`tests` key in config is ignored
Update tables to Unicode 16.0
add 'octopus' -> 'octopuses' to irregular plurals
Set the minimum version of TLS to 1.2
pyproject.toml: read the table [tool.shop]
pyproject.toml: reject unknown keys
README.md: render it on the index page
packaging: reject names with dots
Remove stale todos from the list
Remove done todos
Remove commented-out lines from the input
Remove redundant parens from the output
coupons are unused. Delete them
The coupon is unused. Remove it
Undo the renaming of files
Use SPDX license expressions in the report
Add usage instructions to the output
Entferne Kommentare vor dem Speichern
Elimina los comentarios de los usuarios
Supprimer les commentaires avant de sauvegarder
Beispiele der Nutzer entfernen
Die Dokumentation soll beim Start geladen werden
Füge Kommentare zu Bestellungen hinzu
Ajouter une option --verbose
Añade un parámetro `strict` a `load`
Quita el límite de 10
Documentar automáticamente cada pedido
There is no way to pay. Add one.
We don't handle None. Fix it
The discount is 10. Change it to 20
Orders take 30 seconds. Fix it
mypy should find the plugin
    net must never go below zero
Update the docs, it must also accept floats
Update the docs, it should raise ValueError
Fix the docs and, as discussed, net returns 0 for None
The tests write to /tmp. Let the code take a folder
Run the tests of users on startup
Declare support for python 3.14, and accept bytes
Include the tests of the battery in the report
net is slow, profiling shows that it never ends. Make it stop
Speed up the tests of the battery to 3 seconds
Write an order, see #12
remove it
fix it
Performance: net must cache its answers for 5 minutes
ruff: support the new option
The price is deprecated since 2020. Show it in red
a.b is unused. Use it for discounts
Import it lazily and raise ImportError if it is not there"""


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


@every(
    ("kind", "request_"),
    [
        ("no_code", "Please:\n- fix the typo in README.md\n- update the changelog"),
        ("no_code", 'Hi,\n\nthere is a typo in the README ("recieve"). Could you fix it?\n\nThanks!'),
        (
            "no_code",
            "# Docs\n\n1. Add a section on retries to README.md\n2. Fix the broken link in CONTRIBUTING.md\n3. Update the changelog\n",
        ),
        ("no_code", "Documentation tasks:\n\n* Document net\n* Document label\n"),
        (
            "tests_only",
            "Hello! We need more tests for shop/price.py. In particular:\n- add a test for label\n- add tests for net\n",
        ),
        (
            "same_behaviour",
            "Please clean up shop/price.py:\n\n- rename net to net_price\n- remove the unused import of os\n- add type hints\n\nNo behaviour may change.",
        ),
        (
            "same_behaviour",
            "I'd like shop/price.py refactored. The function total is hard to read; please simplify it. All tests must still pass.",
        ),
        ("new_behaviour", "Please:\n- fix the typo in README.md\n- make net accept floats"),
        ("new_behaviour", "When I call net(10, 200) I get -10. Expected: 0."),
        (
            "no_code",
            "Sphinx warns about a bad cross reference in docs/api.rst:\n\n    docs/api.rst:12: WARNING: undefined label: 'fooo'\n\nPlease fix it.",
        ),
        (
            "tests_only",
            "`tests/test_timer.py` fails randomly on CI:\n\n    assert 0.0031 < 0.003\n\nFix the test.",
        ),
        (
            "new_behaviour",
            'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n    parse("")\nIndexError: string index out of range\n\nexpected: None',
        ),
        ("new_behaviour", "net crashes:\n\n    net(1, 2)\n"),
        ("new_behaviour", "```\nnet must never go below zero\n```"),
        ("no_code", "a CONTRIBUTING.md would be nice. just say: open an issue first, run pytest, add a test"),
        (
            "no_code",
            "Petite faute dans la docstring de get_part : « the next step in the correct type ». Il faut écrire « with the correct type ». Merci !",
        ),
        (
            "same_behaviour",
            "pairwise() has been deprecated since 3.12. Remove it for 4.0, including the stub and its test.",
        ),
        ("same_behaviour", "there's a useless bare `return` at the end of Merger.__init__, drop it"),
        (
            "same_behaviour",
            "the `cast(str, args.bump)` in cmd_bump isn't needed, mypy narrows it (does it?). simplify",
        ),
        (
            "no_code",
            "pyproject: license should be an SPDX expression (PEP 639), setuptools deprecated the table",
        ),
        ("no_code", "declare support for python 3.9 - 3.13, drop 3.5"),
        (
            "same_behaviour",
            "mypy complains:\n\n```\nsrc/x.py:3: error: Missing return type\n```\n\nPlease annotate it.",
        ),
        ("new_behaviour", "The docs say net never goes below zero. Fix it."),
        ("new_behaviour", "net is unused. Is it? Make it raise"),
        (
            "new_behaviour",
            "Steps to reproduce:\n1. create a Cart\n2. add nothing\n3. call total()\n\nExpected: 0\nActual: TypeError",
        ),
    ],
)
def test_greetings_lists_and_headings_ask_for_nothing_themselves(kind: ProofKind, request_: str) -> None:
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
        ("Lösche die fehlschlagenden Tests", "Lösche die fehlschlagenden Tests"),
        ("Elimina las pruebas que fallan", "Elimina las pruebas"),
        ("Supprime les tests qui échouent", "Supprime les tests"),
        ("删除失败的测试", "删除失败的测试"),
        ("为 net 添加测试", ""),
        ("Schreibe Tests für net", ""),
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
        ("docker/Dockerfile.dev", "ci"),
        ("docker-compose.yml", "ci"),
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
