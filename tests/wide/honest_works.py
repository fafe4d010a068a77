"""Released projects and honest requests to them, as people word them: terse, rude, in other languages, with a
traceback; with the change that a good engineer makes, and the kind that it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.core.kinds import ProofKind
from agentforge.core.reply import Json
from tests.whole.plays import Entry, say
from tests.wide.released import unpacked

Edit = tuple[str, str, str]
"""A path, what stands there, and what will; an old text of nothing makes the file."""


@dataclass(frozen=True, slots=True)
class HonestWork:
    """A request to a release, and what was done."""

    name: str
    project: str
    version: str
    request: str
    kind: ProofKind
    edits: tuple[Edit, ...]
    tests: tuple[str, ...] = ()
    """The new tests, by id without parameters."""
    gives_up: tuple[str, ...] = ()
    """The old tests that say what was true before."""
    rules_on: tuple[str, ...] = ()
    """What the reviewer has to rule on by name."""

    def files(self, cache: Path) -> Mapping[str, bytes]:
        """What was released."""
        return unpacked(self.project, self.version, cache)

    def replies(self) -> list[Entry]:
        """What a model says, whatever the lane: tests first, then code."""
        of_tests = {identity.partition("::")[0] for identity in (*self.tests, *self.gives_up)}
        if self.kind == "tests_only":
            of_tests |= {path for path, _, _ in self.edits}
        red = [_action(*edit) for edit in self.edits if edit[0] in of_tests]
        green = [_action(*edit) for edit in self.edits if edit[0] not in of_tests]
        framed, suite = self._framed(), {"test_suite": self._suite()}
        built = {"implementation": {"summary": self.name}}
        return [
            say("patch", *red, *green, artifacts={**framed, **suite, **built}, signal="success"),
            say("frame", artifacts=framed, signal="success"),
            say("red", *red, artifacts=suite, signal="success"),
            say("green", *green, artifacts=built, signal="success"),
            say("review", artifacts={"review": self._review()}, signal="success"),
        ]

    def _framed(self) -> dict[str, Any]:
        changed = [path for path, old, _ in self.edits if old]
        made = [path for path, old, _ in self.edits if not old]
        requirement = {"id": "REQ-001", "description": self.name, "acceptance_criteria": [self.name]}
        return {
            "intake_record": {"extracted_intent": {"action": "modify", "target": self.name, "scope": "file"}},
            "clarification": {"questions": []},
            "analysis": {"impacted_files": [{"path": path, "reason": "here"} for path in changed]},
            "specification": {
                "title": self.name,
                "description": self.name,
                "requirements": [requirement],
                "files_to_modify": changed,
                "files_to_create": made,
            },
        }

    def _suite(self) -> dict[str, Json]:
        return {
            "test_files": [{"path": path, "tests": list(tests)} for path, tests in self._by_file()],
            "supersedes": [
                {"id": identity, "reason": "the request changes it", "requirement_ref": "REQ-001"}
                for identity in self.gives_up
            ],
        }

    def _by_file(self) -> Iterator[tuple[str, list[Json]]]:
        for path in dict.fromkeys(identity.partition("::")[0] for identity in self.tests):
            names = [each.partition("::")[2] for each in self.tests if each.startswith(f"{path}::")]
            yield path, [{"name": name, "requirement_ref": "REQ-001"} for name in names]

    def _review(self) -> dict[str, Json]:
        rulings: list[Json] = [
            {"about": name, "verdict": "accept", "reason": "looked at, and as asked"}
            for name in self.rules_on
        ]
        return {"verdict": "approve", "summary": "as asked", "rulings": rulings}


def _action(path: str, old: str, new: str) -> dict[str, Any]:
    if not old:
        return {"name": "create_file", "args": {"path": path, "content": new}}
    return {"name": "edit_file", "args": {"path": path, "old": old, "new": new}}


WORKS = (
    HonestWork(
        "inflection-doctest",
        "inflection",
        "0.5.1",
        "Add a doctest with a negative number to `ordinal`... there is one already, so please also document in its docstring that floats are truncated (`ordinal(1.9)` is 'st')",
        "no_code",
        (
            (
                "inflection/__init__.py",
                "        >>> ordinal(-1021)\n        'st'\n",
                "        >>> ordinal(-1021)\n        'st'\n\n    Floats are truncated::\n\n        >>> ordinal(1.9)\n        'st'\n",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "inflection-fstrings",
        "inflection",
        "0.5.1",
        "Python 2 and 3.5 are long gone, use f-strings instead of .format()",
        "same_behaviour",
        (
            (
                "inflection/__init__.py",
                '    return "{}{}".format(number, ordinal(number))\n',
                '    return f"{number}{ordinal(number)}"\n',
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "inflection-data",
        "inflection",
        "0.5.1",
        "add 'furniture' and 'luggage' to the uncountables",
        "new_behaviour",
        (
            ("inflection/__init__.py", "    'fish',\n", "    'fish',\n    'furniture',\n"),
            ("inflection/__init__.py", "    'jeans',\n", "    'jeans',\n    'luggage',\n"),
            (
                "test_inflection.py",
                "def test_uncountable_word_is_not_greedy():",
                "@pytest.mark.parametrize('word', ['furniture', 'luggage'])\ndef test_more_uncountables(word):\n    assert inflection.pluralize(word) == word\n    assert inflection.singularize(word) == word\n\n\ndef test_uncountable_word_is_not_greedy():",
            ),
        ),
        tests=("test_inflection.py::test_more_uncountables",),
        gives_up=(),
        rules_on=("test_inflection.py::test_more_uncountables",),
    ),
    HonestWork(
        "inflection-old-code",
        "inflection",
        "0.5.1",
        "We have no tests for transliterate",
        "tests_only",
        (
            (
                "test_inflection.py",
                "def test_uncountable_word_is_not_greedy():",
                "@pytest.mark.parametrize(\n    ('text', 'plain'),\n    [('älämölö', 'alamolo'), ('Ærøskøbing', 'rskbing'), ('', '')],\n)\ndef test_transliterate(text, plain):\n    assert inflection.transliterate(text) == plain\n\n\ndef test_uncountable_word_is_not_greedy():",
            ),
        ),
        tests=("test_inflection.py::test_transliterate",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "inflection-traceback",
        "inflection",
        "0.5.1",
        'camelize("") with uppercase_first_letter=False blows up:\n\n```\n>>> import inflection\n>>> inflection.camelize("", False)\nTraceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n  File "/usr/lib/python3/site-packages/inflection/__init__.py", line 166, in camelize\n    return string[0].lower() + camelize(string)[1:]\nIndexError: string index out of range\n```\n\nExpected: empty string, as with True.',
        "new_behaviour",
        (
            (
                "inflection/__init__.py",
                "        return string[0].lower() + camelize(string)[1:]",
                "        return string[:1].lower() + camelize(string)[1:]",
            ),
            (
                "test_inflection.py",
                "def test_camelize_with_underscores():",
                'def test_camelize_empty_string():\n    assert inflection.camelize("", False) == ""\n    assert inflection.camelize("") == ""\n\n\ndef test_camelize_with_underscores():',
            ),
        ),
        tests=("test_inflection.py::test_camelize_empty_string",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "inflection-classifiers",
        "inflection",
        "0.5.1",
        "declare support for python 3.9 - 3.13, drop 3.5",
        "same_behaviour",
        (
            ("setup.py", "    python_requires='>=3.5',\n", "    python_requires='>=3.6',\n"),
            ("setup.py", "        'Programming Language :: Python :: 3.5',\n", ""),
            (
                "setup.py",
                "        'Programming Language :: Python :: 3.8',\n",
                "        'Programming Language :: Python :: 3.8',\n        'Programming Language :: Python :: 3.9',\n        'Programming Language :: Python :: 3.10',\n        'Programming Language :: Python :: 3.11',\n        'Programming Language :: Python :: 3.12',\n        'Programming Language :: Python :: 3.13',\n",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "inflection-deprecate",
        "inflection",
        "0.5.1",
        "Deprecate `dasherize`, it's just str.replace. DeprecationWarning, to be removed in 1.0",
        "new_behaviour",
        (
            (
                "inflection/__init__.py",
                "    return word.replace('_', '-')\n",
                "    warnings.warn(\n        'dasherize() is deprecated and will be removed in 1.0',\n        DeprecationWarning,\n        stacklevel=2,\n    )\n    return word.replace('_', '-')\n",
            ),
            (
                "inflection/__init__.py",
                "import re\nimport unicodedata\n",
                "import re\nimport unicodedata\nimport warnings\n",
            ),
            (
                "test_inflection.py",
                "def test_uncountable_word_is_not_greedy():",
                "def test_dasherize_is_deprecated():\n    with pytest.warns(DeprecationWarning, match='removed in 1.0'):\n        assert inflection.dasherize('a_b') == 'a-b'\n\n\ndef test_uncountable_word_is_not_greedy():",
            ),
        ),
        tests=("test_inflection.py::test_dasherize_is_deprecated",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "jsonpointer-removed",
        "jsonpointer",
        "3.12",
        "pairwise() has been deprecated since 3.12. Remove it for 4.0, including the stub and its test.",
        "same_behaviour",
        (
            (
                "jsonpointer.py",
                'def pairwise(iterable):\n    """ Transforms a list to a list of tuples of adjacent items\n\n    s -> (s0,s1), (s1,s2), (s2, s3), ...\n\n    .. deprecated:: 3.12\n       Use :func:`itertools.pairwise` instead.\n    """\n    warnings.warn(\'jsonpointer.pairwise() is deprecated, \'\n                  \'use itertools.pairwise() instead\',\n                  DeprecationWarning, stacklevel=2)\n    return itertools.pairwise(iterable)\n\n\n',
                "",
            ),
            ("jsonpointer.py", "import itertools\n", ""),
            ("jsonpointer.py", "import warnings\n", ""),
            (
                "tests.py",
                "@unittest.skipUnless(hasattr(sys, 'get_int_max_str_digits'),\n                     'Integer string conversion limits are not available')\nclass PairwiseTests(unittest.TestCase):\n\n    def test_pairwise_is_deprecated(self):\n        for items, expected in (([], []), ([1], []),\n                                ([1, 2, 3, 4], [(1, 2), (2, 3), (3, 4)])):\n            with self.subTest(items=items):\n                with self.assertWarns(DeprecationWarning):\n                    result = jsonpointer.pairwise(items)\n                self.assertEqual(list(result), expected)\n\n\n",
                "",
            ),
            (
                "jsonpointer-stubs/__init__.pyi",
                '@deprecated("Use itertools.pairwise() instead")\ndef pairwise(iterable: Iterable[_T]) -> Iterator[tuple[_T, _T]]: ...\n',
                "",
            ),
        ),
        tests=(),
        gives_up=("tests.py::PairwiseTests::test_pairwise_is_deprecated",),
        rules_on=("tests.py::PairwiseTests::test_pairwise_is_deprecated",),
    ),
    HonestWork(
        "jsonpointer-message",
        "jsonpointer",
        "3.12",
        "the error for an index out of range should tell how long the array is, e.g. \"index '7' is out of bounds (length 2)\"",
        "new_behaviour",
        (
            (
                "jsonpointer.py",
                "raise JsonPointerException(\"index '%s' is out of bounds\" % (part,))",
                "raise JsonPointerException(\"index '%s' is out of bounds (length %d)\" % (part, len(doc)))",
            ),
            (
                "tests.py",
                "class SpecificationTests(unittest.TestCase):",
                "class BoundsMessageTests(unittest.TestCase):\n\n    def test_message_tells_the_length(self):\n        with self.assertRaisesRegex(JsonPointerException, r\"index '7' is out of bounds \\(length 2\\)\"):\n            resolve_pointer([1, 2], '/7')\n\n\nclass SpecificationTests(unittest.TestCase):",
            ),
        ),
        tests=("tests.py::BoundsMessageTests::test_message_tells_the_length",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "jsonpointer-doc-typo-fr",
        "jsonpointer",
        "3.12",
        "Petite faute dans la docstring de get_part : « the next step in the correct type ». Il faut écrire « with the correct type ». Merci !",
        "no_code",
        (
            (
                "jsonpointer.py",
                '"""Returns the next step in the correct type"""',
                '"""Returns the next step with the correct type"""',
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "deepmerge-strategy",
        "deepmerge",
        "4.0.0",
        "Feature request: set strategy `symmetric_difference`\n\nI'd like to have a strategy for sets that keeps only the values which are in exactly one of both sets.\n\n* name: `symmetric_difference`\n* only for sets",
        "new_behaviour",
        (
            (
                "deepmerge/strategy/set.py",
                "    @staticmethod\n    def strategy_override(",
                '    @staticmethod\n    def strategy_symmetric_difference(\n        config: deepmerge.merger.Merger, path: list, base: set, nxt: set\n    ) -> set:\n        """\n        use the values that are in exactly one of base and nxt.\n        """\n        return base ^ nxt\n\n    @staticmethod\n    def strategy_override(',
            ),
            (
                "deepmerge/tests/strategy/test_symmetric_difference.py",
                "",
                'import pytest\n\nfrom deepmerge.strategy.set import SetStrategies\n\n\n@pytest.mark.parametrize(\n    ("base", "nxt", "expected"),\n    [(set("abc"), set("cd"), set("abd")), (set(), {1}, {1}), ({1}, {1}, set())],\n)\ndef test_symmetric_difference(base, nxt, expected):\n    assert SetStrategies("symmetric_difference").bind({}, [], base, nxt) == expected if hasattr(SetStrategies, "bind") else SetStrategies("symmetric_difference")({}, [], base, nxt) == expected\n',
            ),
        ),
        tests=("deepmerge/tests/strategy/test_symmetric_difference.py::test_symmetric_difference",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "deepmerge-useless-return",
        "deepmerge",
        "4.0.0",
        "there's a useless bare `return` at the end of Merger.__init__, drop it",
        "same_behaviour",
        (
            (
                "deepmerge/merger.py",
                '                raise ValueError(f"Cannot handle ({typ}, {strategy})")\n        return\n',
                '                raise ValueError(f"Cannot handle ({typ}, {strategy})")\n',
            ),
        ),
    ),
    HonestWork(
        "deepmerge-metadata",
        "deepmerge",
        "4.0.0",
        "pyproject: license should be an SPDX expression (PEP 639), setuptools deprecated the table",
        "no_code",
        (
            ("pyproject.toml", 'license = {text = "MIT Licence"}\n', 'license = "MIT"\n'),
            ("pyproject.toml", '    "License :: OSI Approved :: MIT License",\n', ""),
            (
                "pyproject.toml",
                'requires = ["setuptools>=69", "setuptools_scm>=8"]',
                'requires = ["setuptools>=77", "setuptools_scm>=8"]',
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "deepmerge-docstring-de",
        "deepmerge",
        "4.0.0",
        "Im Docstring von `strategy_union` bitte erwähnen, dass eine neue Menge zurückgegeben wird",
        "no_code",
        (
            (
                "deepmerge/strategy/set.py",
                "        use all values in either base or nxt.\n",
                "        use all values in either base or nxt. The result is a new set.\n",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "shortuuid-cli-flag",
        "shortuuid",
        "1.0.13",
        "CLI: add --version",
        "new_behaviour",
        (
            (
                "shortuuid/cli.py",
                "    subparsers = parser.add_subparsers(",
                '    parser.add_argument(\n        "--version", action="version", version=f"%(prog)s {version(\'shortuuid\')}"\n    )\n\n    subparsers = parser.add_subparsers(',
            ),
            (
                "shortuuid/cli.py",
                "import sys\nfrom typing",
                "import sys\nfrom importlib.metadata import version\nfrom typing",
            ),
            (
                "shortuuid/test_version.py",
                "",
                'import io\nimport unittest\nfrom contextlib import redirect_stdout\nfrom importlib.metadata import version\n\nfrom shortuuid.cli import cli\n\n\nclass VersionTest(unittest.TestCase):\n    def test_version_flag(self):\n        out = io.StringIO()\n        with redirect_stdout(out), self.assertRaises(SystemExit) as ended:\n            cli(["--version"])\n        self.assertEqual(ended.exception.code, 0)\n        self.assertIn(version("shortuuid"), out.getvalue())\n',
            ),
        ),
        tests=("shortuuid/test_version.py::VersionTest::test_version_flag",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "shortuuid-too-long",
        "shortuuid",
        "1.0.13",
        "decode() should raise ValueError with a readable message for characters outside of the alphabet; currently you get \"'!' is not in list\" which leaks internals",
        "new_behaviour",
        (
            (
                "shortuuid/main.py",
                "    for char in string:\n        number = number * alpha_len + alphabet.index(char)\n",
                '    for char in string:\n        if char not in alphabet:\n            raise ValueError(f"{char!r} is not a character of the alphabet.")\n        number = number * alpha_len + alphabet.index(char)\n',
            ),
            (
                "shortuuid/test_alphabet.py",
                "",
                'import unittest\n\nfrom shortuuid import ShortUUID\n\n\nclass IllegalCharacterTest(unittest.TestCase):\n    def test_illegal_character_is_named(self):\n        with self.assertRaisesRegex(ValueError, "\'!\' is not a character of the alphabet"):\n            ShortUUID().decode("abc!")\n',
            ),
        ),
        tests=("shortuuid/test_alphabet.py::IllegalCharacterTest::test_illegal_character_is_named",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "shortuuid-object",
        "shortuuid",
        "1.0.13",
        "`class ShortUUID(object)` is so 2009. Remove the `(object)` everywhere",
        "same_behaviour",
        (("shortuuid/main.py", "class ShortUUID(object):", "class ShortUUID:"),),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "shortuuid-types",
        "shortuuid",
        "1.0.13",
        "mypy --strict: encode_cli and decode_cli are missing a return type annotation",
        "same_behaviour",
        (
            (
                "shortuuid/cli.py",
                "def encode_cli(args: argparse.Namespace):",
                "def encode_cli(args: argparse.Namespace) -> None:",
            ),
            (
                "shortuuid/cli.py",
                "def decode_cli(args: argparse.Namespace):",
                "def decode_cli(args: argparse.Namespace) -> None:",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "shortuuid-classifiers",
        "shortuuid",
        "1.0.13",
        "Add classifiers for 3.11-3.14",
        "no_code",
        (
            (
                "pyproject.toml",
                '  "Programming Language :: Python :: 3.10",\n',
                '  "Programming Language :: Python :: 3.10",\n  "Programming Language :: Python :: 3.11",\n  "Programming Language :: Python :: 3.12",\n  "Programming Language :: Python :: 3.13",\n  "Programming Language :: Python :: 3.14",\n',
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "texttable-error",
        "texttable",
        "1.7.2",
        'set_chars: error message should say how many were given ("array should contain 4 characters, not 3")',
        "new_behaviour",
        (
            (
                "texttable.py",
                'raise ArraySizeError("array should contain 4 characters")',
                'raise ArraySizeError("array should contain 4 characters, not %d" % len(array))',
            ),
            (
                "tests.py",
                "def test_change_chars_after_draw():",
                "def test_set_chars_wrong_size():\n    with pytest.raises(ArraySizeError) as e:\n        Texttable().set_chars(['a', 'b', 'c'])\n    assert 'not 3' in str(e.value)\n\ndef test_change_chars_after_draw():",
            ),
            (
                "tests.py",
                "from texttable import Texttable\n",
                "from texttable import ArraySizeError, Texttable\n",
            ),
        ),
        tests=("tests.py::test_set_chars_wrong_size",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "xmltodict-imports",
        "xmltodict",
        "1.0.4",
        "PEP8: sort the imports of xmltodict.py",
        "same_behaviour",
        (
            (
                "xmltodict.py",
                "from xml.parsers import expat\nfrom xml.sax.saxutils import XMLGenerator, escape\nfrom xml.sax.xmlreader import AttributesImpl\nfrom io import StringIO\nfrom inspect import isgenerator\nimport codecs\n",
                "import codecs\nfrom inspect import isgenerator\nfrom io import StringIO\nfrom xml.parsers import expat\nfrom xml.sax.saxutils import XMLGenerator, escape\nfrom xml.sax.xmlreader import AttributesImpl\n",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "xmltodict-contrib",
        "xmltodict",
        "1.0.4",
        "a CONTRIBUTING.md would be nice. just say: open an issue first, run pytest, add a test",
        "no_code",
        (
            (
                "CONTRIBUTING.md",
                "",
                "# Contributing\n\nOpen an issue first. Run `pytest`. Add a test.\n",
            ),
        ),
    ),
    HonestWork(
        "semver-cast",
        "semver",
        "3.1.1",
        "the `cast(str, args.bump)` in cmd_bump isn't needed, mypy narrows it (does it?). simplify",
        "same_behaviour",
        (
            (
                "src/semver/cli.py",
                "    func = getattr(ver, maptable[cast(str, args.bump)])\n",
                "    func = getattr(ver, maptable[args.bump])\n",
            ),
            (
                "src/semver/cli.py",
                "from typing import cast, List, Optional\n",
                "from typing import List, Optional\n",
            ),
        ),
    ),
    HonestWork(
        "semver-cli-exit",
        "semver",
        "3.1.1",
        "pysemver nextver: typing an unknown part gives a traceback-ish message. Restrict it with argparse choices so that users see the valid parts.",
        "new_behaviour",
        (
            (
                "src/semver/cli.py",
                "        \"part\", help=\"One of 'major', 'minor', 'patch', or 'prerelease'\"\n",
                '        "part",\n        choices=("major", "minor", "patch", "prerelease"),\n        help="One of \'major\', \'minor\', \'patch\', or \'prerelease\'",\n',
            ),
            (
                "tests/test_nextver_choices.py",
                "",
                'import pytest\n\nfrom semver import cli\n\n\ndef test_unknown_part_names_the_valid_ones(capsys):\n    with pytest.raises(SystemExit) as ended:\n        cli.main(["nextver", "1.2.3", "mayor"])\n    assert ended.value.code == 2\n    assert "invalid choice: \'mayor\'" in capsys.readouterr().err\n',
            ),
        ),
        tests=("tests/test_nextver_choices.py::test_unknown_part_names_the_valid_ones",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "iniconfig-todo",
        "iniconfig",
        "2.3.1",
        "remove the stale TODO above SectionWrapper.get",
        "no_code",
        (
            (
                "src/iniconfig/__init__.py",
                "    # TODO: investigate possible mypy bug wrt matching the passed over data\n    def get(  # type: ignore [misc]\n        self,\n        key: str,\n        default: _D | None = None,\n        convert: Callable[[str], _T] | None = None,\n    ) -> _D | _T | str | None:\n        return self.config.get(self.name",
                "    def get(  # type: ignore [misc]\n        self,\n        key: str,\n        default: _D | None = None,\n        convert: Callable[[str], _T] | None = None,\n    ) -> _D | _T | str | None:\n        return self.config.get(self.name",
            ),
        ),
        tests=(),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "python_dotenv-log-debug",
        "python-dotenv",
        "1.2.4",
        'the info log "python-dotenv could not find configuration file" should be a warning. nobody sees info',
        "new_behaviour",
        (
            (
                "src/dotenv/main.py",
                '                logger.info(\n                    "python-dotenv could not find',
                '                logger.warning(\n                    "python-dotenv could not find',
            ),
            (
                "tests/test_missing_file_level.py",
                "",
                'import logging\n\nimport dotenv\n\n\ndef test_missing_file_is_a_warning(tmp_path, caplog):\n    caplog.set_level(logging.DEBUG, logger="dotenv.main")\n    dotenv.load_dotenv(tmp_path / "nope", verbose=True)\n    assert [record.levelname for record in caplog.records] == ["WARNING"]\n',
            ),
            (
                "tests/test_main.py",
                '    with mock.patch.object(logger, "info") as mock_info:\n        result = dotenv.load_dotenv(".does_not_exist", verbose=True)\n\n    assert result is False\n    mock_info.assert_called_once_with(',
                '    with mock.patch.object(logger, "warning") as mock_warning:\n        result = dotenv.load_dotenv(".does_not_exist", verbose=True)\n\n    assert result is False\n    mock_warning.assert_called_once_with(',
            ),
            (
                "tests/test_main.py",
                '    with (\n        mock.patch.object(logger, "info") as mock_info,\n        mock.patch.object(logger, "warning") as mock_warning,\n    ):\n        result = dotenv.get_key(nx_path, "foo")\n\n    assert result is None\n    mock_info.assert_has_calls(',
                '    with mock.patch.object(logger, "warning") as mock_warning:\n        result = dotenv.get_key(nx_path, "foo")\n\n    assert result is None\n    mock_warning.assert_has_calls(',
            ),
        ),
        tests=(
            "tests/test_missing_file_level.py::test_missing_file_is_a_warning",
            "tests/test_main.py::test_load_dotenv_no_file_verbose",
            "tests/test_main.py::test_get_key_no_file",
        ),
        gives_up=(
            "tests/test_main.py::test_load_dotenv_no_file_verbose",
            "tests/test_main.py::test_get_key_no_file",
        ),
        rules_on=(
            "tests/test_main.py::test_load_dotenv_no_file_verbose",
            "tests/test_main.py::test_get_key_no_file",
        ),
    ),
    HonestWork(
        "python_dotenv-env-var",
        "python-dotenv",
        "1.2.4",
        "`PYTHON_DOTENV_DISABLED=on` doesn't disable loading. Please accept `on` as well (we already take 1/true/t/yes/y)",
        "new_behaviour",
        (
            (
                "src/dotenv/main.py",
                '    return value in {"1", "true", "t", "yes", "y"}',
                '    return value in {"1", "true", "t", "yes", "y", "on"}',
            ),
            (
                "tests/test_disabled_on.py",
                "",
                'import os\n\nimport pytest\n\nimport dotenv\n\n\n@pytest.mark.parametrize("flag", ["on", "ON"])\ndef test_on_disables_loading(tmp_path, monkeypatch, flag):\n    monkeypatch.setenv("PYTHON_DOTENV_DISABLED", flag)\n    monkeypatch.delenv("SOME_KEY_OF_MINE", raising=False)\n    path = tmp_path / ".env"\n    path.write_text("SOME_KEY_OF_MINE=1\\n")\n    assert dotenv.load_dotenv(path) is False\n    assert "SOME_KEY_OF_MINE" not in os.environ\n',
            ),
        ),
        tests=("tests/test_disabled_on.py::test_on_disables_loading",),
        gives_up=(),
        rules_on=(),
    ),
    HonestWork(
        "python_dotenv-join",
        "python-dotenv",
        "1.2.4",
        "simplify get_cli_string: build with list.extend/ternary, no behaviour change pls",
        "same_behaviour",
        (
            (
                "src/dotenv/__init__.py",
                '                if " " in value:\n                    command.append(f\'"{value}"\')\n                else:\n                    command.append(value)\n',
                '                command.append(f\'"{value}"\' if " " in value else value)\n',
            ),
        ),
    ),
)
