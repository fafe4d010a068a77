"""The report of our pytest plugin, read back with suspicion: hashed lines become outcomes, or a reason why
they prove nothing.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentforge.languages.keyed import Records, read_records
from agentforge.languages.outcomes import Lines, Outcome, Phase, Reached, SeenCall, TestResult

BARE = ("equal", "raises", "approx", "unittest_equal", "unittest_raises")
"""What the canaries without fixtures say something with, as in `judge_canaries.py`."""

CANARIES = tuple(f"{what}_must_{end}" for what in BARE for end in ("pass", "fail"))
"""Those that every place needs which claims an outcome."""
# Of several records for one test the worst stays; an error in teardown does not hide a failure in the call.
SEVERITY: tuple[Outcome, ...] = ("passed", "xpassed", "xfailed", "skipped", "error", "failed")
CALLED: frozenset[Outcome] = frozenset({"passed", "failed", "xfailed", "xpassed"})


@dataclass(slots=True)
class Report:
    """The records of a report, put together."""

    results: dict[str, TestResult] = field(default_factory=dict)
    collect_errors: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    patched: tuple[str, ...] = ()
    """Parts of pytest that changed while the tests ran."""
    plugins: tuple[str, ...] = ()
    """Files of the judged tree that pytest loaded as plugins."""
    groups: dict[str, int] = field(default_factory=dict)
    """Every collected id, with the place whose canaries vouch for it."""
    canaries: dict[tuple[int, str], str] = field(default_factory=dict)
    """The canaries that came out wrong, and how."""
    behaved: set[tuple[int, str]] = field(default_factory=set)
    held_up: dict[tuple[int, str], str] = field(default_factory=dict)
    """The canaries that did not get to their call, and why."""
    told: dict[str, str] = field(default_factory=dict)
    deselected: tuple[str, ...] = ()
    rewired: tuple[str, ...] = ()
    slowest_ms: int = 0
    last_started: str = ""
    last_phase: Literal["setup", "call"] = "setup"
    started_at: float = 0.0
    """When that was, in seconds after the judge began."""
    internal_error: str = ""
    collected: bool = False
    ended: bool = False
    tampered: bool = False
    unread: str = ""
    """Why it was not read."""
    judge: dict[str, str] = field(default_factory=dict)
    """The judge's own modules, with the files they came from."""
    reached: Reached | None = None
    """What the tests ran of the files that were watched."""
    replaced: str = ""
    """Which of them came from the judged tree."""

    def doubt(self) -> str:
        """Why the outcomes prove nothing; empty when they stand."""
        if self.unread:
            return self.unread
        if self.tampered:
            return "the report was changed while the tests ran"
        if self.replaced:
            return f"a part of the test runner came from the judged tree: {self.replaced}"
        if self.internal_error:
            return f"pytest broke: {last_line(self.internal_error)}"
        if not self.ended or not self.collected:
            return "the run ended early" + (f", in {self.last_started}" if self.last_started else "")
        if not self.judge.keys() >= {"pytest", "_pytest.runner", "pluggy", "json", "hashlib"}:
            return "the report does not say where the test runner came from"
        silent = sorted(identity for identity in self.groups if identity not in self.results)
        if silent:
            return f"{len(silent)} collected test(s) did not report, first {silent[0]}"
        return self._canary_doubt()

    def _canary_doubt(self) -> str:
        """An outcome counts only if the canaries beside it behaved; where no test got to its call, nothing is
        claimed.
        """
        claiming = self._claiming()
        for (group, name), how in sorted(self.canaries.items()):
            if group in claiming:
                replaced = f" (replaced: {', '.join(self.patched[:3])})" if self.patched else ""
                return f"the canary {name} {how}{replaced}"
        for group in sorted(claiming):
            for name in CANARIES:
                if (group, name) not in self.behaved and (group, name) not in self.held_up:
                    return f"the canary {name} did not run"
        return ""

    def _claiming(self) -> set[int]:
        claiming = {
            self.groups[identity]
            for identity, result in self.results.items()
            if identity in self.groups and result.outcome in CALLED
        }
        return claiming or ({0} if not self.groups and not self.collect_errors else set())

    def unvouched(self) -> tuple[str, ...]:
        """The canaries that are needed and that the project did not let begin."""
        claiming = self._claiming()
        return tuple(
            f"the canary {name} got no further than {how}"
            for (group, name), how in sorted(self.held_up.items())
            if group in claiming and name in CANARIES
        )

    def stuck(self, took_s: float, limit_s: float) -> tuple[str, str] | None:
        """The test that ended the process because its time was over, and the phase that it was in."""
        is_over = not self.ended and not self.tampered and took_s > self.started_at + limit_s
        return (self.last_started, self.last_phase) if is_over and self.last_started else None


def read_report_file(path: Path, key: bytes, token: str, tree: str) -> Report:
    """The report of a run."""
    return _report_of(read_records(path, _mac(key)), token, tree)


def _mac(key: bytes) -> Callable[[bytes], str]:
    return lambda body: hashlib.blake2b(body, key=key, digest_size=16).hexdigest()


def _report_of(found: Records, token: str, tree: str) -> Report:
    report = Report(tampered=found.tampered, unread=found.unread)
    for record in found.rows:
        if record["kind"] == "judge":
            take_judge(report, record["modules"], tree)
        elif record["kind"] == "reached":
            report.reached = reached_in(record)
        else:
            take(report, record, token)
    return report


def take_judge(report: Report, modules: Mapping[str, str], tree: str) -> None:
    """Where the judge's own modules came from; the judged tree must be the place of none."""
    report.judge |= modules
    top = f"{tree.rstrip('/')}/"
    inside = sorted(name for name, file in modules.items() if file.startswith(top))
    if inside and not report.replaced:
        report.replaced = f"`{inside[0]}` is {modules[inside[0]].removeprefix(top)}"


def take(report: Report, record: dict[str, Any], token: str) -> None:
    """Add one record to the report."""
    match record["kind"]:
        case "collected":
            report.groups = dict(zip(record["ids"], record["groups"], strict=True))
            report.collected = True
        case "collect_error" | "collect_skip":
            take_collection(report, record)
        case "start":
            report.last_started, report.started_at = record["id"], record["at"]
            report.last_phase = "setup"
        case "call":
            report.last_phase = "call"
        case "test":
            take_test(report, record)
        case "canary":
            take_canary(report, record, token)
        case _:
            take_facts(report, record)


def take_facts(report: Report, record: Mapping[str, Any]) -> None:
    """What is true of the run as a whole."""
    match record["kind"]:
        case "modules":
            report.modules = record["modules"]
        case "patched":
            report.patched, report.plugins = tuple(record["names"]), tuple(record["plugins"])
        case "told":
            report.told, report.deselected = record["told"], tuple(record["deselected"])
        case "seen":
            report.rewired, report.slowest_ms = tuple(record["rewired"]), record["slowest_ms"]
        case "internal_error":
            report.internal_error = record["text"]
        case "end":
            report.ended = True
        case unknown:
            raise ValueError(unknown)


def reached_in(record: Mapping[str, Any]) -> Reached:
    """What the watch of a run saw."""

    def by_file(rows: Mapping[str, list[int]]) -> Lines:
        return {file: frozenset(numbers) for file, numbers in rows.items()}

    return Reached(
        {test: by_file(rows) for test, rows in record["tests"].items()},
        by_file(record["setup"]),
        {test: by_file(rows) for test, rows in record["children"].items()},
        frozenset(record["started"]),
        frozenset(record["opened"]),
        frozenset(record["lost"]),
        loading=by_file(record["loading"]),
        replaced={test: frozenset(names) for test, names in record["replaced"].items()},
        calls={test: tuple(map(call_in, rows)) for test, rows in record["calls"].items()},
    )


def call_in(row: Mapping[str, Any]) -> SeenCall:
    """A call that was seen."""
    told = row["gave"] is not None and row["after"] is not None
    gave = f"gives {row['gave']} after {row['after']}" if told else None
    if row["gave"] == "":
        gave = "raises"
    return SeenCall(row["file"], row["name"], row["given"], gave, row["shown"] or "", row["code"])


def take_collection(report: Report, record: Mapping[str, Any]) -> None:
    """A file that gave no tests."""
    failed = record["kind"] == "collect_error"
    outcome: Literal["error", "skipped"] = "error" if failed else "skipped"
    report.results[record["path"]] = TestResult(
        record["path"],
        outcome,
        "collect",
        record["exception"],
        record["message"],
        record["file"],
        record["line"],
        record["raised_in"],
    )
    if failed:
        report.collect_errors[record["path"]] = record["text"]


def take_test(report: Report, record: Mapping[str, Any]) -> None:
    """One phase of one test; a phase that passed says something only if it is the call."""
    when: Phase = record["when"]
    outcome = outcome_of(record)
    if outcome is None or (when != "call" and outcome in ("passed", "xpassed")):
        return
    message = record["message"]
    if record["raised"] and record["outcome"] == "passed":
        message = f"a hook reported it as passed, but it raised: {message}"
    result = TestResult(
        record["id"],
        outcome,
        when,
        record["exception"],
        message,
        record["file"],
        record["line"],
        record["raised_in"],
    )
    known = report.results.get(result.id)
    if known is None or SEVERITY.index(outcome) > SEVERITY.index(known.outcome):
        report.results[result.id] = result


def outcome_of(record: Mapping[str, Any]) -> Outcome | None:
    """Our word for pytest's; None for words of plugins, such as `rerun`."""
    match record["outcome"], record["xfail"]:
        case "passed", True:
            return "xpassed"
        case "passed", _ if not record["raised"]:
            return "passed"
        case (("failed" | "passed"), _):
            return "failed" if record["when"] == "call" else "error"
        case "skipped", xfail:
            return "xfailed" if xfail else "skipped"
        case _:
            return None


def take_canary(report: Report, record: Mapping[str, Any], token: str) -> None:
    """A canary behaved if its call came out as it must; a failure must be its own."""
    place = (record["group"], record["name"])
    if record["when"] != "call":
        if record["outcome"] != "passed":
            why = f"{record['when']}: {record['message'] or record['outcome']}"
            if record["when"] == "setup":
                report.held_up.setdefault(place, why)
        return
    outcome = outcome_of(record)
    if record["name"].endswith("must_pass"):
        good = outcome == "passed"
    else:
        good = outcome == "failed" and record["outcome"] == "failed" and token in record["message"]
    if good:
        report.behaved.add(place)
    else:
        said = "" if token in record["message"] else record["message"]
        report.canaries[place] = f"came out as {record['outcome']}: {said}".removesuffix(": ")


def last_line(text: str) -> str:
    """The line that says what went wrong, as tracebacks have it."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:300]
