"""Tests in the text of languages with braces: where each begins and ends, whether it can fail, and the same
test with a failure of ours in it. No parser is needed for that, only which text is code.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agentforge.languages.values import Liveness

# What is no code: comments, strings (of Java over several lines, of Rust with hashes, of Go between
# backquotes) and single characters; a lifetime of Rust is none. Each is linear: what is not closed ends with
# the text.
_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r'|"""(?:\\.|.)*?(?:"""|\Z)'
    r'|\bb?r(?P<hashes>#*)".*?(?:"(?P=hashes)|\Z)'
    r'|"(?:[^"\\]|\\.)*"?'
    r"|'(?:\\.[^'\n]{0,10}|[^'\\\n])'"
    r"|`[^`]*(?:`|\Z)",
    re.DOTALL,
)
_BRACE = re.compile(r"[{}]")


def code_of(text: str) -> str:
    """The text with everything that is no code blank, character for character."""
    return _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def blocks_of(code: str) -> dict[int, int]:
    """Where each block ends, by the place of its opening brace; what nothing closes ends with the text."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for found in _BRACE.finditer(code):
        if found[0] == "{":
            opened.append(found.start())
        elif opened:
            ends[opened.pop()] = found.start()
    return ends | dict.fromkeys(opened, len(code))


@dataclass(frozen=True, slots=True)
class TestDialect:
    """How a language writes tests. Every pattern is about code, with strings and comments blank."""

    test: re.Pattern[str]
    """From the mark that makes a test to its opening brace. `name` is its name, `t` what it reports to. Other
    marks may stand before it, since the end of the last statement.
    """
    scope: re.Pattern[str] | None
    """What a test may stand in, to its opening brace; `name` is part of the test's id."""
    outermost: bool
    """Whether the outermost scope of a file is part of an id."""
    asserts: re.Pattern[str]
    """What can fail a test."""
    helps: re.Pattern[str] | None
    """What may fail it elsewhere: it is given what the test reports to."""
    skips: re.Pattern[str]
    opens: str
    """What stands after the opening brace of a test that is made to fail; `{t}` is filled in."""
    closes: str = ""
    """What stands before its closing brace then."""
    expects: re.Pattern[str] | None = None
    """A mark before a test by which a failure is a pass: it is taken away from one that is made to fail."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a file."""

    name: str
    """With what it stands in, `::` between."""
    start: int
    opened: int
    """Where its brace is."""
    end: int
    t: str


def tests_in(text: str, dialect: TestDialect) -> list[Test]:
    """Every test of a file, in order."""
    code = code_of(text)
    found = list(dialect.test.finditer(code))
    if not found:
        return []
    ends = blocks_of(code)
    scopes = [
        (scope["name"], scope.end() - 1, ends[scope.end() - 1])
        for scope in (dialect.scope.finditer(code) if dialect.scope else ())
    ]
    return [_test(code, each, ends, scopes, dialect) for each in found]


def _test(
    code: str,
    found: re.Match[str],
    ends: dict[int, int],
    scopes: list[tuple[str, int, int]],
    dialect: TestDialect,
) -> Test:
    opened = found.end() - 1
    around = [name for name, begins, over in scopes if begins < found.start() and opened < over]
    above = around if dialect.outermost else around[1:]
    before = max(code.rfind(mark, 0, found.start()) for mark in ";{}")
    start = (
        before + 1 + len(code[before + 1 : found.start()]) - len(code[before + 1 : found.start()].lstrip())
    )
    known = found.groupdict().get("t") or "t"
    return Test("::".join((*above, found["name"])), start, opened, ends[opened], known)


def _named(text: str, dialect: TestDialect, identity: str) -> Test | None:
    name = identity.partition("::")[2].partition("[")[0]
    return next((test for test in tests_in(text, dialect) if test.name == name), None)


def source_of(text: str, dialect: TestDialect, identity: str) -> str | None:
    """A test as text, whatever its indentation; None where the file does not define it."""
    test = _named(text, dialect, identity)
    return None if test is None else "\n".join(_lines(text[test.start : test.end + 1]))


def _lines(text: str) -> Iterator[str]:
    return filter(None, (" ".join(line.split()) for line in text.splitlines()))


def liveness_of(text: str, dialect: TestDialect, identity: str) -> Liveness:
    """Whether a test can fail, as far as its text tells."""
    test = _named(text, dialect, identity)
    if test is None:
        return Liveness(doubt="is not in the text of its file, so nobody knows whether it can fail")
    code = code_of(text)
    if dialect.asserts.search(code, test.start, test.end):
        return Liveness()
    if dialect.helps is not None and dialect.helps.search(code, test.opened, test.end):
        return Liveness(doubt="has no assertion of its own; what it calls may have one")
    return Liveness(refused="it asserts nothing")


def made_to_fail(text: str, dialect: TestDialect, ids: Collection[str]) -> tuple[str, frozenset[str]]:
    """The file in which these tests fail however they end, and which of them it defines."""
    wanted = {identity: identity.partition("::")[2].partition("[")[0] for identity in ids}
    tests = {test.name: test for test in tests_in(text, dialect)}
    found = frozenset(identity for identity, name in wanted.items() if name in tests)
    code = code_of(text)
    for name in sorted({wanted[identity] for identity in found}, key=lambda name: -tests[name].start):
        test = tests[name]
        opens = dialect.opens.replace("{t}", test.t)
        body = f"{{ {opens}{text[test.opened + 1 : test.end]}{dialect.closes}"
        head = text[test.start : test.opened]
        for mark in [*(dialect.expects.finditer(code, test.start, test.opened) if dialect.expects else ())][
            ::-1
        ]:
            begins, ends = mark.start() - test.start, mark.end() - test.start
            head = head[:begins] + re.sub(r"[^\n]", " ", head[begins:ends]) + head[ends:]
        text = text[: test.start] + head + body + text[test.end :]
    return text, found


@dataclass(frozen=True, slots=True)
class Strength:
    """One test, as far as its strength goes."""

    assertions: Counter[str]
    skips: int
    empty: bool


def strengths(text: str, dialect: TestDialect) -> dict[str, Strength]:
    """By name; what stands in a file beside its tests has no name."""
    code, found = code_of(text), {}
    inside = [(test.start, test.end + 1) for test in tests_in(text, dialect)]
    for test in tests_in(text, dialect):
        found[test.name] = _strength(text, code, test.start, test.end + 1, test.opened + 1, dialect)
    rest = list(text)
    for begins, ends in inside:
        rest[begins:ends] = [character if character == "\n" else " " for character in rest[begins:ends]]
    beside = "".join(rest)
    found[""] = _strength(beside, code_of(beside), 0, len(beside), 0, dialect)
    return found


def _strength(text: str, code: str, start: int, end: int, body: int, dialect: TestDialect) -> Strength:
    lines: Counter[str] = Counter()
    for hit in dialect.asserts.finditer(code, start, end):
        line = text[
            text.rfind("\n", 0, hit.start()) + 1 : (text.find("\n", hit.end()) + 1 or len(text) + 1) - 1
        ]
        lines[" ".join(line.split())] += 1
    skips = sum(1 for _ in dialect.skips.finditer(code, start, end))
    return Strength(lines, skips, not code[body : end - 1].strip())


def weakened(before: str, after: str, dialect: TestDialect, path: str) -> list[str]:
    """How an edit weakened old tests, one sentence each. A renamed test counts as deleted."""
    if before == after:
        return []
    old, new, found = strengths(before, dialect), strengths(after, dialect), []
    for name, was in old.items():
        now, called = new.get(name), f"{path}::{name}" if name else path
        if now is None:
            found.append(f"{called} was deleted")
            continue
        if now.skips > was.skips:
            found.append(f"{called} is skipped or expected to fail now")
        if name and now.empty and not was.empty:
            found.append(f"{called} was emptied")
        elif gone := was.assertions - now.assertions:
            found.append(f"{called} lost {gone.total()} assertion(s), first: {next(iter(gone))[:160]}")
    return found
