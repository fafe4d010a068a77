"""What a test run said, as values: outcomes by test id, and what two runs say about a change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import ClassVar, Literal, cast

from agentforge.core.reply import Json

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "missing"]
Phase = Literal["collect", "setup", "call", "teardown"]
NO_TESTS = "no tests were collected"
"""What a run says that found nothing to run."""
GOOD: frozenset[Outcome] = frozenset({"passed", "xfailed", "xpassed"})


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test in one run. A file that cannot be collected has a result of its own, with the file as id and
    phase `collect`.
    """

    __test__: ClassVar[bool] = False  # pytest would take the class for a test

    id: str
    """`path::name`, the path relative to the judged tree."""
    outcome: Outcome
    phase: Phase = "call"
    exception: str = ""
    """The class of what was raised, without its module."""
    message: str = ""
    """One line."""
    file: str = ""
    line: int = 0
    """The last line of the test file on the stack; 0 when unknown."""
    raised_in: str = ""
    """The last file of the tree on the stack; empty when unknown."""

    def to_json(self) -> dict[str, Json]:
        """The outcome as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched while tests run: files by their paths in the tree."""

    files: tuple[str, ...]
    """Code whose lines are seen to run."""
    data: tuple[str, ...] = ()
    """Other files, which are seen to be opened."""
    children: bool = False
    """Whether processes that a test starts are watched too: they get a variable and a module more."""
    together: bool = False
    """Whether it is enough to know what all tests ran, and not which of them."""


ALL = "."
"""Stands for all tests of a run, where nobody asked which of them."""
Lines = Mapping[str, frozenset[int]]
"""Lines that ran, by file."""


HERE = "/agentforge-here"
"""What stands for the folder of a run in a call; `python/plain_calls.py` says so, too."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call that a test made of a function of the change, as text that can be read again."""

    file: str
    name: str
    given: str | None
    """Its arguments; none where they are no plain values."""
    gave: str | None
    """What came back, and what the arguments were then, or that it raised something; none if nobody saw."""
    shown: str = field(default="", compare=False)
    """The arguments as people write them; empty where they are written so already."""
    code: str = ""
    """The name of what ran, where another name leads to it."""
    partly: ClassVar[str] = repr({"\0": "?"})
    """How arguments say that a part of them cannot be written."""

    @property
    def values(self) -> str:
        """Its arguments, for people."""
        return self.shown or self.given or ""

    def elsewhere(self, folder: str) -> "SeenCall":
        """The same call in no run: `HERE` is what it says for this folder."""
        told = [text and text.replace(folder, HERE) for text in (self.given, self.gave, self.shown)]
        return replace(self, given=told[0], gave=told[1], shown=told[2] or "")

    @property
    def is_whole(self) -> bool:
        """Whether all of its arguments can be made again."""
        return self.given is not None and self.partly not in self.given


NearKind = Literal["number", "text", "edge"]
"""What was changed of a call: a number or text that tells of its test, or an edge such as 0."""


@dataclass(frozen=True, slots=True)
class NearValues:
    """Arguments that differ in one place from those of a test."""

    given: str
    axis: int
    """Which of the values of the call was changed."""
    kind: NearKind
    step: float = 0
    """By how much, of a number."""
    argument: str = ""
    """Which argument it is a part of."""
    shown: str = field(default="", compare=False)
    """As people write them; empty where they are written so already."""

    @property
    def values(self) -> str:
        """For people."""
        return self.shown or self.given


@dataclass(frozen=True, slots=True)
class NearCall:
    """A call with values near those of a test, where no test is; what could not be called is not there."""

    values: NearValues
    now: str
    before: str
    """What it gave as the base has it."""


@dataclass(frozen=True, slots=True)
class CalledElsewhere:
    """The same call where no test is."""

    call: SeenCall
    seen: tuple[str, ...]
    """What it gave: the first time, the second time, and the first time that this was something else."""
    before: str
    """What it gave as the base has it."""
    near: tuple[NearCall, ...] = ()
    """Calls with values near these."""


@dataclass(frozen=True, slots=True)
class RunElsewhere:
    """What became of calls where no test is, and of loading what they are calls of."""

    calls: tuple[CalledElsewhere, ...] = ()
    loading: Mapping[str, tuple[str, ...]] | None = None
    """By file, what is changed for the whole process when it is loaded; under no name, names that lead to
    something else than what is written. Only what the base did not do; None where it was not seen.
    """
    calling: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same of one call of each function, by its file and name."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What tests ran of the watched files."""

    tests: Mapping[str, Lines]
    """By test: while its own body ran."""
    setup: Lines
    """While any of them was set up."""
    children: Mapping[str, Lines]
    """By test: in processes that it started."""
    started: frozenset[str]
    """Tests that started a process."""
    opened: frozenset[str]
    """Data that was opened, by whichever test."""
    lost: frozenset[str]
    """Tests during which somebody else took the place of the watch: lines may be missing."""
    _: KW_ONLY
    loading: Lines = field(default_factory=dict)
    """In functions, while files of tests were loaded."""
    read: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By test, where that is known: the data that it judges."""
    replaced: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By test: functions of the watched files, as `path::name`, in whose place something else stood."""
    calls: Mapping[str, tuple[SeenCall, ...]] = field(default_factory=dict)
    """By test: the calls of functions of the watched files, from elsewhere."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of a project's tests. `not_run` means that its outcomes prove nothing, whatever they are."""

    __test__: ClassVar[bool] = False

    argv: tuple[str, ...]
    status: Literal["ran", "not_run"]
    reason: str = ""
    """Why it counts as not run: one sentence."""
    ids: tuple[str, ...] = ()
    """What was asked for; empty: everything."""
    results: Mapping[str, TestResult] = field(default_factory=dict)
    collect_errors: Mapping[str, str] = field(default_factory=dict)
    """File to the text of its error."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """The project's modules that were loaded, with the real path each came from."""
    patched: tuple[str, ...] = ()
    """Parts of the runner that were replaced while the tests ran."""
    plugins: tuple[str, ...] = ()
    """Files of the judged tree that the runner loaded as parts of itself."""
    told: Mapping[str, str] = field(default_factory=dict)
    """What the runner said of itself: where it starts, its settings, options and plugins."""
    deselected: tuple[str, ...] = ()
    """Tests that were found and left out."""
    unvouched: tuple[str, ...] = ()
    """Our own tests that the project did not let begin, and why."""
    rewired: tuple[str, ...] = ()
    """Tests whose function was replaced after they were found."""
    slowest_ms: int = 0
    """How long the slowest test took."""
    output: str = ""
    """The end of what was printed."""
    output_hash: str = ""
    duration_ms: int = 0
    sandbox: str = ""
    reached: Reached | None = None
    """Where something was watched; no part of what is kept."""
    killed: bool = False
    """Whether a signal ended it that nothing of ours sent: somebody outside, or the system for lack of
    memory. No part of what is kept.
    """

    def counts(self) -> dict[Outcome, int]:
        """How many of each outcome; an outcome that did not happen is left out."""
        found: dict[Outcome, int] = {}
        for result in self.results.values():
            found[result.outcome] = found.get(result.outcome, 0) + 1
        return found

    def to_json(self) -> dict[str, Json]:
        """The run as JSON data, sorted by test id."""
        return {
            "argv": list(self.argv),
            "status": self.status,
            "reason": self.reason,
            "ids": list(self.ids),
            "results": [self.results[identity].to_json() for identity in sorted(self.results)],
            "collect_errors": {file: self.collect_errors[file] for file in sorted(self.collect_errors)},
            "modules": {name: self.modules[name] for name in sorted(self.modules)},
            "patched": list(self.patched),
            "plugins": list(self.plugins),
            "told": dict(sorted(self.told.items())),
            "deselected": list(self.deselected),
            "unvouched": list(self.unvouched),
            "rewired": list(self.rewired),
            "slowest_ms": self.slowest_ms,
            "output": self.output,
            "output_hash": self.output_hash,
            "duration_ms": self.duration_ms,
            "sandbox": self.sandbox,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "TestRun":
        """A run from what `to_json` made."""
        known = cast("dict[str, object]", dict(value))
        # our own rows
        results = [TestResult(**row) for row in cast("list[dict[str, object]]", known["results"])]  # type: ignore[arg-type]
        known |= {
            "argv": tuple(cast("list[str]", known["argv"])),
            "ids": tuple(cast("list[str]", known["ids"])),
        }
        for name in ("patched", "plugins", "deselected", "unvouched", "rewired"):
            known[name] = tuple(cast("list[str]", known.get(name, [])))
        known["results"] = {result.id: result for result in results}
        return cls(**known)  # type: ignore[arg-type]  # our own keys


@dataclass(frozen=True, slots=True)
class Regression:
    """A test whose outcome is worse than it was."""

    id: str
    before: Outcome
    after: Outcome
    message: str


def covering(identity: str) -> Iterator[str]:
    """Every id that names this test or a set that it is in: folders, file, classes, function, itself."""
    file = identity.partition("::")[0]
    parts = file.split("/")
    yield "."
    yield from ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    yield from (
        identity[:index]
        for index in range(len(file) + 1, len(identity))
        if identity.startswith(("::", "["), index)
    )
    yield identity


def compare(
    baseline: TestRun,
    now: TestRun,
    flaky: frozenset[str] = frozenset(),
    excused: frozenset[str] = frozenset(),
) -> list[Regression]:
    """What was good and is not any more, among what `now` was asked to run. Flaky tests count for nobody."""
    asked = frozenset(now.ids)
    found = []
    for identity in sorted(baseline.results):
        before = baseline.results[identity]
        if before.outcome not in GOOD or identity in flaky or identity in excused:
            continue
        if asked and asked.isdisjoint(covering(identity)):
            continue
        after = now.results.get(identity) or absent(identity, now.collect_errors)
        if after.outcome not in GOOD or (before.outcome == "passed" and after.outcome == "xfailed"):
            found.append(Regression(identity, before.outcome, after.outcome, after.message))
    return found


def absent(identity: str, collect_errors: Mapping[str, str]) -> TestResult:
    """The result of a test that was not there."""
    file = identity.partition("::")[0]
    if file in collect_errors:
        why = f"{file} cannot be collected: {error_line(collect_errors[file])}".removesuffix(": ")
        return TestResult(identity, "missing", "collect", message=why, file=file)
    return TestResult(identity, "missing", "collect", message="no such test", file=file)


def error_line(text: str) -> str:
    """The line of a collection error that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (told or lines or [""])[-1][:300]


def rerun_flaky(
    run_once: Callable[[Sequence[str]], TestRun], ids: Sequence[str], times: int = 2
) -> frozenset[str]:
    """Those of `ids` whose outcome differs between repeated runs. A run that did not count says nothing."""
    if not ids:
        return frozenset()
    runs = [run for run in (run_once(ids) for _ in range(times)) if run.status == "ran"]
    return frozenset(
        identity
        for identity in ids
        if len({(run.results.get(identity) or absent(identity, run.collect_errors)).outcome for run in runs})
        > 1
    )


def counted(run: TestRun, what: str) -> str:
    """How a run went, in numbers: what passed, failed and was skipped, each by itself."""
    outcomes = [result.outcome for result in run.results.values()]
    passing, skipped = sum(each in GOOD for each in outcomes), outcomes.count("skipped")
    failing = len(outcomes) - passing - skipped
    rest = ((failing, "fail"), (skipped, "skipped"))
    return ", ".join(
        (f"{passing} of {len(outcomes)} {what}", *(f"{count} {word}" for count, word in rest if count))
    )


STUB_RED = "stub-red ("
"""How the message of a test begins that failed while stubs stood in for what it lacks."""


def as_stub_red(result: TestResult, lacks: str) -> TestResult:
    """What a test did while stubs stood in for what it lacks; it cannot have passed."""
    if result.outcome in GOOD:
        return replace(result, outcome="error", message=f"it passes without what it names: {lacks}")
    return replace(result, message=f"{STUB_RED}{lacks}): {result.message}")
