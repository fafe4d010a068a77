"""One run of tests of a compiled language: built and judged in a copy of the tree, which is the run's own.

What differs between languages is a `TestJudge`: it lists the tests, lays two tests of ours beside them,
builds, runs, and reads the report. What may be believed of that is the same for all (`reports/ends.py`). A
test that stops its program is set aside and the others run again. Where a file of tests does not compile,
stubs stand in for the names that it lacks, so that its tests fail by an outcome. Where that is not possible
it is set aside: the others are judged without it, and its own tests have not run.
"""

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from agentforge.languages.compiled.watching import LineCalls, WatchedCopy
from agentforge.languages.outcomes import (
    GOOD,
    NO_TESTS,
    TestResult,
    TestRun,
    Watch,
    absent,
    as_stub_red,
    covering,
)
from agentforge.languages.reports.ends import Program, believed
from agentforge.languages.safe_ids import safe_names, with_names
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.bounded import remove_tree
from agentforge.system.canon import digest
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact

OUTPUT_LIMIT = 20_000
REPORT_LIMIT = 64_000_000
MOST_ROUNDS = 6
"""How often a program is started again because a test stopped it."""
FIRST_SHARE = 0.6
"""Of the time that is left, what one program may take: after one that hangs, the others still run."""


@dataclass(slots=True)
class Bench:
    """The place of one run, and how programs are started in it."""

    sandbox: Sandbox
    env: Environment
    tree: Path
    """A copy of the judged tree, in which programs may write."""
    out: Path
    """For what is neither the tree nor the environment; programs may write there too."""
    variables: Mapping[str, str]
    deadline: float
    read: tuple[Path, ...] = ()
    """What programs may read beside the environment."""
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    """In the names of our own tests, so that nobody can write them beforehand."""
    said: list[bytes] = field(default_factory=list)
    ended: list[Completed] = field(default_factory=list)
    aside: set[str] = field(default_factory=set)
    """Files of tests that do not compile: they were taken away, and nothing that is said of them counts."""

    def call(
        self, *argv: str, cwd: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> Completed:
        """Run one program to its end, or to that of its time."""
        left = max(self.deadline - time.monotonic(), 1)
        done = self.sandbox.run(
            argv,
            Confinement(
                cwd=cwd or self.tree,
                write=(self.out, self.tree),
                read=(*self.env.readable, *self.read),
                env={**self.variables, "TMPDIR": str(self.out / "tmp"), **(variables or {})},
                timeout_s=left * FIRST_SHARE,
                output_limit=REPORT_LIMIT,
            ),
        )
        self.said += (done.out, done.err)
        self.ended.append(done)
        return done

    # What lies in the tree is the project's, and so is what its tools print. Links and paths of theirs may
    # lead anywhere, and what follows is done outside of the walls: it must stay inside of the tree.

    def has(self, path: str) -> bool:
        """Whether this is a file of the tree, and nowhere else."""
        place = self.tree / path
        return place.is_file() and place.resolve().is_relative_to(self.tree)

    def found(self, glob: str) -> list[str]:
        """The files of the tree that a pattern matches, in order."""
        if glob.startswith("/") or not glob:
            return []
        paths = (Path(os.path.normpath(path)) for path in self.tree.glob(glob))
        inside = (path.relative_to(self.tree).as_posix() for path in paths if path.is_relative_to(self.tree))
        return sorted(filter(self.has, inside))

    def data(self, path: str) -> bytes:
        """What a file of the tree holds; of one that is not there or too long, nothing."""
        place = self.tree / path
        return place.read_bytes() if self.has(path) and place.stat().st_size <= REPORT_LIMIT else b""

    def text(self, path: str) -> str:
        """A file of the tree as text."""
        return self.data(path).decode("utf-8", "replace")

    def write(self, path: str, text: str) -> bool:
        """Write a file of the tree; False where that would be somewhere else."""
        place = self.tree / path
        if not place.resolve().is_relative_to(self.tree) or not place.parent.is_dir():
            return False
        place.write_text(text, encoding="utf-8")
        return True

    def remove(self, path: str) -> None:
        """Remove a file of the tree."""
        if self.has(path):
            (self.tree / path).unlink()

    def relative(self, path: str) -> str:
        """A path as the tree has it."""
        place = Path(path)
        inside = place.is_absolute() and place.is_relative_to(self.tree)
        return place.relative_to(self.tree).as_posix() if inside else path.removeprefix("./")


def first_line(broken: Mapping[str, str]) -> str:
    """The first thing that a compiler had to say."""
    return next((line for said in broken.values() for line in said.splitlines() if line.strip()), "")


@dataclass(frozen=True, slots=True)
class JudgedTests:
    """What a judge found out in one round."""

    programs: tuple[Program, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    """Files that did not compile, with what was said of each."""
    trouble: str = ""
    """Why nothing ran at all: one sentence."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Programs that nothing vouches for, with the reason; they count where it was so on the base."""


class TestJudge(Protocol):
    """Builds and runs the tests of a language, and reads what they report."""

    def __call__(
        self, bench: Bench, wanted: Collection[str] | None, command: Sequence[str], /
    ) -> JudgedTests:
        """Of the tests that these ids, files or folders cover; None: of all."""


Stub = Callable[[Bench, Mapping[str, str]], dict[str, str]]
"""Given what files of tests lack: files with stubs for it, by path; none where it cannot be stood in for."""
BenchOf = Callable[[Path, Path], Bench]
"""Makes the bench of a run from its copy of the tree and the folder that it may write to."""


def run_tests(  # noqa: PLR0913 - the facts of one run
    judge: TestJudge,
    is_test: Callable[[str], bool],
    bench_of: BenchOf,
    tree: Path,
    *,
    stub: Stub | None = None,
    ids: Sequence[str],
    command: tuple[str, ...],
    scratch: Path,
    watched: tuple[Watch, LineCalls] | None = None,
) -> TestRun:
    """What each test did. `scratch` is a folder of ours outside the tree; what is made there is removed. A
    run that is watched and does not pass is run once more, unwatched.
    """
    if watched is not None:
        with in_a_copy(tree, scratch, bench_of) as bench:
            run = _watched_run(judge, is_test, bench, WatchedCopy(bench, *watched), ids, command)
            if run is not None:
                return run
    with in_a_copy(tree, scratch, bench_of) as bench:
        began = time.monotonic()
        found = _Rounds(judge, is_test, stub, bench, command)
        found.go(ids)
        return found.as_run((*command, *ids), tuple(ids), round((time.monotonic() - began) * 1000))


def _watched_run(
    judge: TestJudge,
    is_test: Callable[[str], bool],
    bench: Bench,
    copy: WatchedCopy,
    ids: Sequence[str],
    command: tuple[str, ...],
) -> TestRun | None:
    """A run with the lines that tests ran; None where nothing can be watched, or the tests do not pass so."""
    if not copy.lay():
        return None
    began = time.monotonic()
    found = _Rounds(judge, is_test, None, bench, command)
    found.go(ids)
    run = found.as_run((*command, *ids), tuple(ids), round((time.monotonic() - began) * 1000))
    if (
        run.status != "ran"
        or run.collect_errors
        or any(each.outcome not in GOOD for each in run.results.values())
    ):
        return None
    return replace(run, reached=copy.reached([*run.results], lambda each: judge(bench, (each,), command)))


@contextmanager
def in_a_copy(tree: Path, scratch: Path, bench_of: BenchOf) -> Iterator[Bench]:
    """A copy of a checkout, links as links and without git's own files, for as long as it is needed."""
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=scratch)).resolve()
    try:
        (place / "out/tmp").mkdir(parents=True)
        without_git = shutil.ignore_patterns(".git")
        shutil.copytree(tree.resolve(), place / "tree", symlinks=True, ignore=without_git)
        yield bench_of(place / "tree", place / "out")
    finally:
        remove_tree(place)


@dataclass(slots=True)
class _Rounds:
    judge: TestJudge
    is_test: Callable[[str], bool]
    stub: Stub | None
    bench: Bench
    command: Sequence[str]
    results: dict[str, TestResult] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    stood_in: dict[str, str] = field(default_factory=dict)
    """Files of tests for which stubs stand in, with what they lack."""
    before_stubs: dict[str, str | None] = field(default_factory=dict)
    """What the files with the stubs were; None: not there."""

    def go(self, ids: Sequence[str]) -> None:
        """Until every wanted test ended, or nothing more comes of it."""
        wanted: Collection[str] | None = tuple(ids) or None
        for _ in range(MOST_ROUNDS):
            judged = self.judge(self.bench, wanted, self.command)
            self.trouble = judged.trouble
            self.broken |= judged.broken
            self.doubts |= judged.doubts
            again = [] if judged.trouble else self._believe(judged.programs)
            if self._made_room(judged.broken):
                wanted, self.results, self.doubts = tuple(ids) or None, {}, {}
                continue
            if not again:
                break
            wanted = tuple(again)

    def _made_room(self, broken: Mapping[str, str]) -> bool:
        """Whether it is worth to judge again: stubs stand in for what files of tests lack, or these are set
        aside.
        """
        if self.before_stubs and broken:  # they do not fit
            for path, text in self.before_stubs.items():
                self.bench.write(path, text) if text is not None else self.bench.remove(path)
            self.broken |= self.stood_in
            aside, self.stood_in, self.before_stubs = [*self.stood_in], {}, {}
        else:
            aside = [path for path in broken if self.is_test(path) and self.bench.has(path)]
            if not aside or set(aside) != broken.keys():
                return False
            if self._stubbed(broken):
                return True
        for path in aside:
            self.bench.remove(path)
            self.bench.aside.add(path)
        return True

    def _stubbed(self, broken: Mapping[str, str]) -> bool:
        texts = self.stub(self.bench, broken) if self.stub is not None else {}
        self.stub = None
        if not texts:
            return False
        self.before_stubs = {path: self.bench.text(path) if self.bench.has(path) else None for path in texts}
        self.stood_in = dict(broken)
        self.broken = {path: said for path, said in self.broken.items() if path not in broken}
        written = [self.bench.write(path, text) for path, text in texts.items()]
        return all(written)

    def _believe(self, programs: Sequence[Program]) -> list[str]:
        again: list[str] = []
        for program in programs:
            found = believed(program, self._how_stopped())
            self.results |= found.results
            again += found.again
            if found.doubt:
                self.doubts[program.name] = found.doubt
        return again

    def _how_stopped(self) -> str:
        last = self.bench.ended[-1] if self.bench.ended else None
        if last is not None and last.timed_out:
            return f"did not end within {last.seconds_ms // 1000} s"
        return "ended its program before it ended itself"

    def as_run(self, argv: tuple[str, ...], ids: tuple[str, ...], duration_ms: int) -> TestRun:
        """The run as the gates know it."""
        results = {
            key: as_stub_red(found, self.stood_in[file].splitlines()[0]) if file in self.stood_in else found
            for key, found in self.results.items()
            if (file := key.partition("::")[0]) not in self.broken
        }
        if ids:
            asked = frozenset(ids)
            results = {key: found for key, found in results.items() if not asked.isdisjoint(covering(key))}
        if names := safe_names(results):
            results = with_names(results, names)
        covered = {name for identity in results for name in covering(identity)}
        results |= {each: absent(each, self.broken) for each in ids if each not in covered and "::" in each}
        printed = b"\n".join(filter(None, self.bench.said))
        reason = self.trouble
        if not reason and not self.results and not self.broken:
            beyond = next((done.beyond for done in self.bench.ended if done.beyond), "")
            late = any(done.timed_out for done in self.bench.ended)
            reason = f"the run was out of bounds: {beyond}" if beyond else NO_TESTS
            reason = "the tests did not end in time" if late and not beyond else reason
        return TestRun(
            argv=argv,
            status="not_run" if reason else "ran",
            reason=reason,
            ids=ids,
            results=results,
            collect_errors=dict(self.broken),
            unvouched=tuple(f"{name}: {why}" for name, why in sorted(self.doubts.items())),
            output=redact(printed.decode("utf-8", "replace")[-4 * OUTPUT_LIMIT :])[0][-OUTPUT_LIMIT:],
            output_hash=digest(printed),
            duration_ms=duration_ms,
            sandbox=self.bench.sandbox.name,
        )


def covers(wanted: Collection[str] | None, identity: str) -> bool:
    """Whether a test is asked for, by its id or by anything that it is in."""
    if wanted is None:
        return True
    # A case may be asked for by its whole id, of which only the test is known before it runs.
    cases = {name.partition("[")[0] for name in wanted}
    return not cases.isdisjoint(covering(identity))


def placed(program: Program, ids: Mapping[str, str]) -> Program:
    """A program with its tests under other ids, each by the part before its cases."""

    def named(identity: str) -> str:
        bare, bracket, case = identity.partition("[")
        return f"{ids.get(bare, bare)}{bracket}{case}"

    return replace(
        program,
        ends=tuple(replace(end, id=named(end.id)) for end in program.ends),
        began=tuple(map(named, program.began)),
    )
