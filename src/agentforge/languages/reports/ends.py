"""How tests ended, by whichever report: exactly one end for each, or the report is worth nothing.

Tests and the code under test share a process with what reports on them, and can print its lines or write its
files. So an end that comes twice is a forgery, and one that does not come is no result. Two tests of our own
run with the others: the first passes, the last fails. Where both did as they must, the program came to its
end and reports failures. Where not, something stopped it: whoever began and did not end. If nobody did,
somebody else makes the report, and nothing of it is believed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from agentforge.languages.outcomes import Outcome, TestResult

MESSAGE = 500
PANIC = "panic"
"""The exception of a test that takes its whole program with it."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of one test, as a report tells it."""

    id: str
    outcome: Outcome
    message: str = ""
    exception: str = ""
    file: str = ""
    line: int = 0

    def result(self) -> TestResult:
        """The same as a result; the place is that of the test's own file."""
        line = " ".join(self.message.split())[:MESSAGE]
        return TestResult(self.id, self.outcome, "call", self.exception, line, self.file, self.line)


class Canaries(NamedTuple):
    """The ids of our own two tests in one program of tests."""

    passes: str
    fails: str


@dataclass(frozen=True, slots=True)
class Program:
    """What one program of tests said."""

    name: str
    expected: tuple[str, ...]
    """Its tests, as somebody else than the program knows them; cases of a test need not be known."""
    ends: tuple[End, ...] = ()
    began: tuple[str, ...] = ()
    """Tests that began, where the report says so."""
    canaries: Canaries | None = None
    """None: it cannot have any, which the evidence says."""
    trouble: str = ""
    """Why nothing of it counts, where that is known already."""
    unbuilt: str = ""
    """Why it could not be built."""


@dataclass(frozen=True, slots=True)
class Believed:
    """The part of a program's report that can be believed."""

    results: Mapping[str, TestResult] = field(default_factory=dict)
    again: tuple[str, ...] = ()
    """Tests that must run once more, without what stopped the program."""
    doubt: str = ""
    """Why the program as a whole is not believed."""


def believed(program: Program, stopped: str = "ended its program before it ended itself") -> Believed:
    """What counts of a report. `stopped` says what a test did that began and did not end."""
    if program.unbuilt:
        return Believed(
            {each: TestResult(each, "error", "collect", message=program.unbuilt) for each in program.expected}
        )
    own = set(program.canaries or ())
    over = {end.id for end in program.ends}
    silent = [identity for identity in dict.fromkeys(program.began) if identity not in over | own]
    silent = [each for each in silent if not any(end.startswith(f"{each}[") for end in over)]
    doubt = program.trouble or _forged(program)
    if doubt:
        return _doubted(program, doubt)
    panicked = [end for end in program.ends if end.exception == PANIC and end.outcome == "failed"]
    culprits = {end.id: end.result() for end in panicked if end.id not in own} or {
        identity: TestResult(identity, "failed", "call", message=f"it {stopped}") for identity in silent
    }
    ended = {end.id: end.result() for end in program.ends if end.id not in own}
    if reason := _unvouched(program):
        if not culprits:
            return _doubted(program, reason)
        ended = {}
    results = {**ended, **culprits}
    known = {identity.partition("[")[0] for identity in results}
    left = [identity for identity in program.expected if identity not in known]
    return Believed(results, tuple(left) if culprits or not program.canaries else (), "")


def _forged(program: Program) -> str:
    counts = Counter(end.id for end in program.ends)
    twice = sorted(identity for identity, count in counts.items() if count > 1)
    if not twice:
        return ""
    return f"{twice[0]} is said to have ended {counts[twice[0]]} times, so something else prints results"


def _unvouched(program: Program) -> str:
    """Why the program did not come to its end, or does not report failures; empty if it did and does."""
    if program.canaries is None:
        return ""
    found = {end.id: end.outcome for end in program.ends if end.id in program.canaries}
    if not found:
        return "our own tests did not run in it, so something else decides what is reported"
    if found.get(program.canaries.fails, "failed") != "failed":
        return "a test of ours that fails is reported as something else"
    if found.get(program.canaries.passes, "passed") != "passed":
        return "a test of ours that passes is reported as something else"
    return "" if len(found) == 2 else "it stopped before the last test, and no test that ran stopped it"


def _doubted(program: Program, why: str) -> Believed:
    ids = dict.fromkeys((*program.expected, *(end.id for end in program.ends)))
    own = set(program.canaries or ())
    results = {
        identity: TestResult(identity, "error", "setup", message=f"{program.name}: {why}")
        for identity in ids
        if identity not in own
    }
    return Believed(results, (), why)


def numbered(ends: Sequence[End]) -> list[End]:
    """Ends of a report that may give two tests one name: the second of them is `name[2]`."""
    seen: Counter[str] = Counter()
    found = []
    for end in ends:
        seen[end.id] += 1
        found.append(end if seen[end.id] == 1 else replace(end, id=f"{end.id}[{seen[end.id]}]"))
    return found
