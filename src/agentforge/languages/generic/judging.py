"""The judge of a language that only its project knows: commands to build with, and a report that is JUnit's
XML, TAP, or one exit code for each named command.

Nothing of ours can stand among tests that we cannot write, so what is reported is not vouched for; the
evidence says so. What holds is that a test whose file is not there must not pass, and, where an exit code is
all that is told, that a file of a known kind fails with a failure of ours at its end.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agentforge.languages.compiled.running import Bench, JudgedTests, covers
from agentforge.languages.generic.endings import made_to_end_badly
from agentforge.languages.generic.listed import is_list
from agentforge.languages.outcomes import Outcome
from agentforge.languages.reports.ends import End, Program, numbered
from agentforge.languages.reports.junit_xml import UnreadableReport, read_junit
from agentforge.languages.reports.tap import read_tap
from agentforge.system.processes import Completed

PROGRAM = "generic"
NAMED = "the named commands"
FAILING_PROGRAM = "int main(void) { return 1; }\n"
_C = (".c", ".cc", ".cpp", ".cxx")
SKIPPED = 77
"""The exit code by which make's and meson's tests say that they were skipped."""
ENDED_EARLY = (
    "ends with 0 even with a failure at its end, so something ends it before, as code that exits does"
)
_ERROR = re.compile(
    r"^(?P<file>[^\s:()]+):(?P<line>\d+):(?:\d+:)?\s*(?:fatal )?"
    r"(?P<said>(?:error\b|undefined reference to ).*)"
)
_LINKER = re.compile(r"(?P<file>[^\s:()/]+\.\w+):\([^()]*\): (?P<said>undefined reference to .*)")
MISSING_NAMES = re.compile(
    r"undefined reference to|implicit declaration of|undeclared|unknown type name|has no member named"
    r"|No such file or directory|not declared|cannot find symbol|undefined|unresolved"
)


@dataclass(frozen=True, slots=True)
class DeclaredTests:
    """What a project's settings declare, as words of one command, so that it is on record with every run."""

    report: str
    """`junit`, `tap` or `exit`."""
    test: str = ""
    build: tuple[str, ...] = ()
    results: str = ""
    """Where JUnit's XML is written: a glob."""
    each: str = ""
    """The command for one file of tests; `{file}` and `{name}` are filled in."""
    named: tuple[tuple[str, str], ...] = ()
    tests: tuple[str, ...] = ()
    """Globs of the files of tests."""

    def words(self) -> tuple[str, ...]:
        """As a command."""
        pairs: list[tuple[str, str]] = [("--report", self.report)]
        pairs += [("--build", line) for line in self.build]
        pairs += [
            (f"--{name}", said) for name in ("test", "results", "each") if (said := getattr(self, name))
        ]
        pairs += [("--named", f"{name}={line}") for name, line in self.named]
        pairs += [("--tests", glob) for glob in self.tests]
        return (PROGRAM, *(word for pair in pairs for word in pair))

    @classmethod
    def of(cls, words: Sequence[str]) -> "DeclaredTests | None":
        """From the words of such a command; None if it is another one."""
        if not words or words[0] != PROGRAM or len(words) % 2 != 1:
            return None
        found: dict[str, list[str]] = {}
        for name, said in zip(words[1::2], words[2::2], strict=True):
            found.setdefault(name.removeprefix("--"), []).append(said)

        def one(name: str) -> str:
            return next(iter(found.get(name, ())), "")

        named = (line.partition("=") for line in found.get("named", ()))
        return cls(
            one("report"),
            one("test"),
            tuple(found.get("build", ())),
            one("results"),
            one("each"),
            tuple((name, line) for name, _, line in named),
            tuple(found.get("tests", ())),
        )


def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str]) -> JudgedTests:
    """Build, run what is declared, and read the report."""
    declared = DeclaredTests.of(command)
    if declared is None:
        return JudgedTests(trouble="its settings declare no `generic:` report")
    files = test_files(bench, declared.tests)
    ends: list[End] = []
    broken: dict[str, str] = {}
    unbuilt = _built(bench, declared)
    if unbuilt is not None and _stand_in(bench):
        unbuilt, files = _built(bench, declared), test_files(bench, declared.tests)
    if unbuilt is not None:
        line, done = unbuilt
        return _unbuilt(bench, done, files, line, wanted)
    if declared.report == "exit":
        return _by_exits(bench, declared, files, wanted)
    for report in bench.found(declared.results):
        bench.remove(report)
    done = bench.call(*shlex.split(declared.test))
    ends, trouble = _junit(bench, declared) if declared.report == "junit" else _tap(done)
    if trouble and not ends:
        if broken := broken_files(bench, _text(done), files):
            return JudgedTests((), broken)
        return _unbuilt(bench, done, files, declared.test, wanted, trouble)
    names = _Names({path: bench.text(path) for path in files})
    named = [names.placed(end) for end in ends]
    placed = numbered([end for end in named if end.id.partition("::")[0] not in bench.aside])
    return JudgedTests((Program("the report", (), tuple(placed), trouble=trouble),), broken)


def _built(bench: Bench, declared: DeclaredTests) -> tuple[str, Completed] | None:
    """The first command of the build that fails, and what came of it."""
    for line in declared.build:
        done = bench.call(*shlex.split(line))
        if done.code != 0 or done.timed_out:
            return line, done
    return None


def _stand_in(bench: Bench) -> bool:
    """Whether programs that only fail stand now where files of tests were taken away: a list may name
    them.
    """
    lacking = [path for path in sorted(bench.aside) if path.endswith(_C) and not bench.has(path)]
    written = [bench.write(path, FAILING_PROGRAM) for path in lacking]
    return any(written)


def test_files(bench: Bench, globs: Sequence[str]) -> list[str]:
    """The files of tests that are there."""
    whole = (f"{glob}/*" if glob.endswith("/**") else glob for glob in globs)
    return sorted({path for glob in whole for path in bench.found(glob)})


def _unbuilt(
    bench: Bench,
    done: Completed,
    files: Sequence[str],
    line: str,
    wanted: Collection[str] | None,
    why: str = "",
) -> JudgedTests:
    text = _text(done)
    if broken := broken_files(bench, text, files):
        return JudgedTests((), broken)
    said = why or (
        "it did not end in time" if done.timed_out else f"it ended with {done.code}: {_last(text)}"
    )
    # Tests that are asked for by name are missing then; where all are asked for, nothing is known of any.
    return JudgedTests(trouble=f"`{line}`: {said}") if wanted is None else JudgedTests((), {line: said})


def _commands(declared: DeclaredTests, files: Iterable[str]) -> Iterable[tuple[str, str]]:
    for path in files if declared.each else ():
        name = PurePosixPath(path).stem
        yield f"{path}::{name}", declared.each.replace("{file}", path).replace("{name}", name)
    for name, line in declared.named:
        yield f"commands::{name}", line


def _by_exit(identity: str, done: Completed) -> End:
    outcome: Outcome = "passed" if done.code == 0 else "skipped" if done.code == SKIPPED else "failed"
    if done.timed_out:
        return End(identity, "failed", "it did not end in time")
    return End(
        identity, outcome, "" if outcome == "passed" else f"exit code {done.code}: {_last(_text(done))}"
    )


def _by_exits(
    bench: Bench, declared: DeclaredTests, files: Sequence[str], wanted: Collection[str] | None
) -> JudgedTests:
    commands = {name: line for name, line in _commands(declared, files) if covers(wanted, name)}
    ends: list[End] = []
    broken: dict[str, str] = {}
    for identity, line in commands.items():
        done = bench.call(*shlex.split(line))
        found = broken_files(bench, _text(done), files) if done.code not in (0, SKIPPED) else {}
        broken |= found
        ends += [] if found else [_by_exit(identity, done)]
    passed = {end.id: commands[end.id] for end in ends if end.outcome == "passed"}
    early = () if broken else _ended_early(bench, declared, passed, files)
    # Where not one of them fails with a failure of ours, it may be that these files are not what is run.
    doubts = {NAMED: ENDED_EARLY} if early and len(early) == len(passed) else {}
    ends = [
        replace(end, outcome="failed", message=ENDED_EARLY) if end.id in early and not doubts else end
        for end in ends
    ]
    return JudgedTests((Program(NAMED, (), tuple(ends)),), broken, doubts=doubts)


def _ended_early(
    bench: Bench, declared: DeclaredTests, passed: Mapping[str, str], files: Sequence[str]
) -> Collection[str]:
    """Which of these tests end with 0 even with a failure of ours at the end of their files; of a command
    that is no file, at the end of all of them. What nobody can end so is left out.
    """
    own = {identity.partition("::")[0] for identity in passed}
    kept = {path: bench.text(path) for path in files if path in own or not own <= {*files}}
    made = {path: made_to_end_badly(path, text, bench.token) for path, text in kept.items()}
    laid = [path for path, text in made.items() if text is not None and bench.write(path, text)]
    found: list[str] = []
    if laid and all(bench.call(*shlex.split(line)).code == 0 for line in declared.build):
        for identity, line in passed.items():
            path = identity.partition("::")[0]
            is_laid = path in laid if path in kept else len(laid) == len(kept)
            if is_laid and bench.call(*shlex.split(line)).code == 0:
                found.append(identity)
    for path in laid:
        bench.write(path, kept[path])
    return found


def _junit(bench: Bench, declared: DeclaredTests) -> tuple[list[End], str]:
    reports = bench.found(declared.results)
    if not reports:
        return [], f"no report was written to `{declared.results}`"
    try:
        cases = [case for path in reports for case in read_junit(bench.data(path))]
    except UnreadableReport as error:
        return [], f"a report cannot be read: {error}"
    return [
        End(f"{case.file or case.classname}::{case.name}", case.outcome, case.message, case.exception)
        for case in cases
    ], ""


def _tap(done: Completed) -> tuple[list[End], str]:
    tap = read_tap(done.out.decode("utf-8", "replace"))
    return [End(f"tests::{line.name}", line.outcome, line.message) for line in tap.lines], tap.trouble


class _Names:
    """In which file a test stands that is reported by its name alone."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def placed(self, end: End) -> End:
        """The end with the file of its test: that is called so, else has its name in it; quoted, if several
        do.
        """
        place, _, name = end.id.partition("::")
        if place in self._texts:
            return end
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        own = {path: text for path, text in self._texts.items() if not is_list(path)}
        called = [path for path in own if PurePosixPath(path).stem == name]
        found = [path for path, text in own.items() if word.search(text)] if not called else []
        quoted = [path for path in found if f'"{name}"' in own[path] or f"'{name}'" in own[path]]
        file = next(iter(called or quoted or found), "tests")
        return End(f"{file}::{name}", end.outcome, end.message, end.exception)


def broken_files(bench: Bench, text: str, files: Sequence[str]) -> dict[str, str]:
    """The files that a compiler or linker complained about; by their last name where it says no more."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        error = _ERROR.match(line) or _LINKER.search(line)
        if error is None:
            continue
        path = bench.relative(error["file"])
        path = path if bench.has(path) else next((each for each in files if each.endswith(f"/{path}")), "")
        if path:
            found.setdefault(path, []).append(f"{path}: {error['said'] or line.strip()}")
    return {path: "\n".join(dict.fromkeys(lines)) for path, lines in found.items()}


def _text(done: Completed) -> str:
    return (done.out + b"\n" + done.err).decode("utf-8", "replace")


def _last(text: str) -> str:
    lines = [line.strip() for line in reversed(text.splitlines()) if line.strip()]
    telling = next((line for line in lines if re.match(r"\w*(?:Error|Exception)\b", line)), "")
    return (telling or next(iter(lines), "it said nothing"))[:300]
