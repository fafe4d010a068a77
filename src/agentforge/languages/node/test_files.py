"""Which files of a JavaScript project are about tests, and what a test says: `Tests` for JavaScript."""

import json
import posixpath
import re
from collections.abc import Collection, Sequence

from agentforge.languages.described import words
from agentforge.languages.node.scan import SEPARATOR, TestCall, masked, test_calls
from agentforge.languages.plain.answers import PlainTests
from agentforge.languages.values import Liveness, Sections

CODE = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
SUFFIX = r"[cm]?[jt]sx?"
TEST_NAME = re.compile(rf"(?:.+[.\-_])?(?:test|spec)s?\.{SUFFIX}|test-.+\.{SUFFIX}")
"""A file that its name makes a test."""
TEST_FOLDERS = words("__tests__ spec specs test tests")
_CONFIGS = ("vitest.config", "vitest.workspace", "vitest.setup", "vite.config", "jest.config", "jest.setup")
_MORE_CONFIGS = ("babel.config", "setupTests", "setup-tests", "test-setup")
_ENDINGS = ("js", "cjs", "mjs", "ts", "cts", "mts", "json", "jsx", "tsx")
SETTINGS = frozenset(f"{name}.{end}" for name in (*_CONFIGS, *_MORE_CONFIGS) for end in _ENDINGS) | words(
    ".mocharc.js .mocharc.cjs .mocharc.mjs .mocharc.json .mocharc.jsonc .mocharc.yml .mocharc.yaml "
    ".babelrc .babelrc.json .babelrc.js .swcrc .c8rc .nycrc"
)
_OF_TESTS = ("jest", "mocha", "vitest")
_SCRIPTS = ("pretest", "test", "posttest")
_ASSERTS = re.compile(
    r"\b(?:expect|assert\w*|should|strictEqual|deepStrictEqual|notStrictEqual|deepEqual|equal|rejects|throws"
    r"|ok|match|fail|expectTypeOf|verify)\s*(?:\.|\()|\bt\s*\.\s*assert\b|\bthrow\b"
)
_CONSTANT = re.compile(
    r"\bassert(?:\.ok)?\s*\(\s*(?:true|1|!0)\s*[,)]|\bexpect\s*\(\s*(true|false|\d+)\s*\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)"
    r"\s*\(\s*\1\s*\)|\bexpect\s*\(\s*(?:true|1)\s*\)\s*\.\s*toBeTruthy\s*\(\s*\)"
    r"|\bassert\.\w*[eE]qual\w*\s*\(\s*(true|false|\d+)\s*,\s*\2\s*[,)]"
)
_OWN_RESULT = re.compile(r"\btask\s*(?:\?\.|\.)\s*(?:result|mode|fails)\b|\.\s*task\b")
_SWALLOWS = re.compile(r"\bcatch\s*(?:\([^()]*\)\s*)?\{\s*\}|\.\s*catch\s*\(\s*\(\s*\)\s*=>")
_REPLACES = re.compile(
    r"\b(?:vi|jest)\s*\.\s*(?:mock|doMock|unstable_mockModule|spyOn)\s*\(|\bmock\s*\.\s*(?:method|module)\s*\("
)
_NEVER_RUN = frozenset({"skip", "todo", "skipIf", "runIf"})
_MEDDLES = re.compile(
    r"\bprocess\s*\.\s*(?:exit|abort|kill|reallyExit|argv|execArgv|ppid|_\w+)\b|\bNODE_TEST_CONTEXT\b|\bVITEST\w*|\bJEST_WORKER_ID\b"
    r"|\bprepareStackTrace\b|\b(?:globalThis|global|window)\s*\.\s*(?:expect|test|it|describe|assert)\b"
    r"|\bprocess\s*\.\s*(?:stdout|stderr)\s*\.\s*\w+\s*=[^=]|\b(?:assert|expect)\s*\.\s*\w+\s*=[^=]|\.prototype\s*\.\s*\w+\s*=[^=]"
)
_DOUBTS = (
    (
        re.compile(r"\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|;)|\bperformance\s*\.\s*now\b|\bhrtime\b"),
        "asks what time it is, by `{}`: no run sees another day",
    ),
    (re.compile(r"(?<=[\w)])\s*\.\s*stack\b|\bcaptureStackTrace\b"), "looks at the call stack, by `{}`"),
    (
        re.compile(r"\bvalueOf\b|\btoPrimitive\b|\btoJSON\b|\bhasInstance\b|\bnew\s+Proxy\b"),
        "makes up how something compares, by `{}`",
    ),
    (
        re.compile(
            r"\bprocess\s*\.\s*(?:pid|cwd|title)\b|\bhostname\s*\(|\bisTTY\b|\bimport\.meta\b(?!\.resolve)"
        ),
        "asks where it runs, by `{}`",
    ),
    (
        re.compile(r"\bMath\s*\.\s*random\b|\bgetRandomValues\b|\brandom(?:UUID|Int|Bytes)\b"),
        "asks chance, by `{}`",
    ),
    (
        re.compile(r"[\w\]](?:\+\+|--)\s*[<>]|(?:\+\+|--)[\w.]+\s*[<>]"),
        "counts how often it is called, by `{}`",
    ),
    (re.compile(r"\bnew\s+Function\b|(?<![\w.])Function\s*\("), "runs text as code, by `{}`"),
    (
        re.compile(r"\b(?:globalThis|global|process)\s*\[\s*[^\]]*\+"),
        "takes something of its process by a name that is put together, by `{}`",
    ),
)
"""What else makes a reader look twice, and what is said of it."""
_LOADS = re.compile(
    r"""(?:from\s*|import\s*\(?\s*|require\s*\(\s*)['"](?:node:)?(test|assert|assert/strict|vitest|@jest/globals|jest|mocha|chai|inspector|v8|vm|worker_threads|child_process)['"]"""
)
_MISSING = (
    re.compile(r"The requested module '([^']+)' does not provide an export named '([^']+)'"),
    re.compile(r"Cannot find module '([^']+)'()"),
    re.compile(r"Failed to (?:load url|resolve import) \"?([^\s\"]+)\"?()"),
)
_FAILS = (
    "\n// @ts-ignore\nfunction __afMustFail{head} {{ "
    "return async function (...given) {{ await body.apply(this, given); "
    'const error = new Error("Expected values to be strictly equal:\\n\\n2 !== 3\\n"); '
    'throw Object.assign(error, {{ name: "AssertionError", code: "ERR_ASSERTION" }}); }}; }}\n'
)
"""In one line, from which a compiler looks away that checks types before tests run."""
_TYPED, _UNTYPED = "<T>(body: T): T", "(body)"
"""What the test is given stays of the type that it had."""
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


def is_test_name(name: str) -> bool:
    """Whether a file of that name is there for tests."""
    return TEST_NAME.fullmatch(name) is not None


def is_run(path: str) -> bool:
    """Whether a file may hold tests: by its name or its folder."""
    *folders, name = path.split("/")
    return is_test_name(name) or not TEST_FOLDERS.isdisjoint(folders)


class NodeTests(PlainTests):
    """What tests of JavaScript are."""

    RUNNER = "node"
    SETTINGS = SETTINGS
    FIXTURES: frozenset[str] = frozenset()
    HELD_OUT = "held-out-by-agentforge.test.js"

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.SECTIONS: Sections = {"package.json": _of_package}

    def test_globs(self, test_paths: Sequence[str], /) -> tuple[str, ...]:
        """Folders of tests, and files whose names make them tests wherever they lie."""
        return (*super().test_globs(test_paths), "**/*.test.*", "**/*.spec.*", "**/__tests__/**")

    def is_test_name(self, name: str, /) -> bool:
        """Whether a file of that name is there for tests."""
        return is_test_name(name)

    def is_run(self, path: str, /) -> bool:
        """By its name or its folder."""
        return is_run(path)

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """Of the tests whose titles are written out."""
        return list(dict.fromkeys(f"{path}{SEPARATOR}{call.name}" for call in test_calls(text)))

    def source_of_test(self, text: str, identity: str, /) -> str | None:
        """Its call, spacing aside."""
        call = _call_of(text, identity)
        return None if call is None else " ".join(text[call.start : call.end].split())

    def asserts(self, text: str, identity: str, /) -> bool:
        """Whether its body says something that could be wrong; of a test that is not found, nobody knows."""
        call = _call_of(text, identity)
        return call is None or _says_something(text, call)

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """Whether a test can fail, as far as its words say."""
        call = _call_of(text, identity)
        if call is None:
            return Liveness(doubt="whether it can fail is not read: its title is not written out")
        body = masked(text)[call.start : call.end]
        if skipped := _NEVER_RUN.intersection(call.modifiers):
            return Liveness(f"it is marked `{min(skipped)}`, and so does not run")
        if _OWN_RESULT.search(body):
            return Liveness("it reaches for its own result")
        if not _says_something(text, call):
            elsewhere = _ASSERTS.search(masked(text)[: call.start] + masked(text)[call.end :]) is not None
            called = re.search(r"[\w$]\s*\(", _inside(text, call)) is not None
            if elsewhere and called:
                return Liveness(doubt="it asserts nothing itself, and may call what does")
            return Liveness("it asserts nothing")
        return Liveness(doubt="it swallows what is thrown in it" if _SWALLOWS.search(body) else "")

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """The file in which these tests fail where they would have ended well."""
        found: dict[str, list[TestCall]] = {}
        for identity in ids:
            name = _name(identity)
            if calls := [call for call in test_calls(text) if call.name == name and call.callback]:
                found[identity] = calls
        spans = sorted({call.callback for calls in found.values() for call in calls if call.callback})
        for start, end in reversed(spans):
            text = f"{text[:start]}__afMustFail({text[start:end]}){text[end:]}"
        is_typed = any(identity.partition(SEPARATOR)[0].endswith(_TYPESCRIPT) for identity in found)
        fails = _FAILS.format(head=_TYPED if is_typed else _UNTYPED)
        return (text + fails, frozenset(found)) if found else (text, frozenset())

    def test_doubts(self, text: str, identity: str, /) -> list[str]:
        """What a test does beside testing."""
        call = _call_of(text, identity) if SEPARATOR in identity else None
        body = text if call is None else text[call.start : call.end]
        found = [f"meddles with its runner by `{word}`" for word in _words(_MEDDLES, masked(body))]
        found += ["reads a file of code" for _ in _words(_READS_CODE, body)][:1]
        return found

    def replaced_names(self, text: str, /) -> list[str]:
        """The modules and methods in whose place a test puts something else."""
        found = []
        for match in _REPLACES.finditer(masked(text)):
            argument = re.match(r"""\s*['"]([^'"]+)['"]|\s*\w+\s*,\s*['"](\w+)['"]""", text[match.end() :])
            if argument is not None:
                found.append((argument[1] or argument[2]).rpartition("/")[2].partition(".")[0])
        return found

    def code_doubts(self, text: str, lines: Collection[int], tests: Sequence[str], /) -> list[str]:
        """Changed lines that know of the process, of the runner, or of the answers of tests."""
        code, rows = masked(text).split("\n"), text.split("\n")
        answers = {word for test in tests for word in _LITERALS.findall(test)}
        found: list[str] = []
        for number in sorted(lines):
            if not 0 < number <= len(rows):
                continue
            odd = [*_words(_MEDDLES, code[number - 1]), *_LOADS.findall(rows[number - 1])]
            found += [
                f"line {number} looks into the process that it runs in, by `{word}`" for word in odd[:1]
            ]
            found += [
                f"line {number} {said.format(match[0].strip())}"
                for pattern, said in _DOUBTS
                if (match := pattern.search(code[number - 1])) is not None
            ]
            known = [
                word for word in _COMPARED.findall(rows[number - 1]) if word in answers and len(word) > 1
            ]
            found += [
                f"line {number} compares with `{word[:40]}`, which a test has, too" for word in known[:1]
            ]
            found += [
                f"line {number} gives `{word}`, the answer of a new test"
                for word in _GIVEN.findall(code[number - 1])[:1]
                if word in answers
            ]
        return found

    def missing_import(self, error: str, promised: Sequence[str], /) -> str | None:
        """The error, if what is missing is of a promised file."""
        stems = {posixpath.splitext(path)[0] for path in promised}
        for pattern in _MISSING:
            for module, name in pattern.findall(error):
                wanted = posixpath.splitext(module.removeprefix("file://"))[0].lstrip("./")
                if wanted and any(
                    stem == wanted or stem.endswith(f"/{wanted}") or wanted.endswith(f"/{stem}")
                    for stem in stems
                ):
                    what = f"`{name}` of {module}" if name else module
                    return f"compile-red: the test file cannot be loaded, because {what} is not there yet"
        return None


_LITERALS = re.compile(r"""(?<=['"])[^'"\n]{1,200}(?=['"])|(?<![\w.])\d{2,}(?![\w.])""")
_GIVEN = re.compile(r"\breturn\s+(\d{2,})\s*;?\s*$")
_COMPARED = re.compile(r"""(?:===?|case)\s*['"]?((?<=['"])[^'"\n]{1,200}|\d{2,})""")
_READS_CODE = re.compile(rf"""readFile(?:Sync)?\s*\([^)\n]*\.{SUFFIX}['"]""")


def _of_package(text: str) -> object:
    """The part of a `package.json` that decides how tests run."""
    try:
        data = json.loads(text or "{}")
    except ValueError:
        return "unreadable"
    if not isinstance(data, dict):
        return "unreadable"
    found = data.get("scripts")
    scripts = found if isinstance(found, dict) else {}
    tests = {name: scripts.get(name) for name in _SCRIPTS}
    return {key: data.get(key) for key in _OF_TESTS} | {"scripts": tests}


def _name(identity: str) -> str:
    return identity.partition(SEPARATOR)[2].partition("[")[0]


def _call_of(text: str, identity: str) -> TestCall | None:
    name = _name(identity)
    calls = test_calls(text)
    exact = next((call for call in calls if call.name.partition("[")[0] == name), None)
    return exact or next((call for call in calls if call.names[-1].partition("[")[0] == name), None)


def _inside(text: str, call: TestCall) -> str:
    start, end = call.callback or (call.end, call.end)
    return masked(text)[start:end]


def _says_something(text: str, call: TestCall) -> bool:
    start, end = call.callback or (call.start, call.end)
    # Constants are read from the text itself: there is nothing else in them.
    return _ASSERTS.search(_CONSTANT.sub(" ", masked(text)[start:end])) is not None


def _words(pattern: re.Pattern[str], text: str) -> list[str]:
    return [" ".join(match[0].split()) for match in pattern.finditer(text)]
