"""What the judges of JavaScript wrote, read back with suspicion: records become outcomes, or a reason why
they prove nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentforge.languages.keyed import Records
from agentforge.languages.node.canaries import CANARY, canaries
from agentforge.languages.node.manifest import Runner
from agentforge.languages.node.scan import SEPARATOR, clean, test_calls
from agentforge.languages.outcomes import Outcome, Phase, TestResult
from agentforge.system.secrets.redact import redact


@dataclass
class NodeReport:
    """What the judge wrote, put together."""

    results: dict[str, TestResult] = field(default_factory=dict)
    collect_errors: dict[str, str] = field(default_factory=dict)
    canaries: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)
    """By file, by title."""
    slowest_ms: int = 0
    ended: bool = False
    stray: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeReader:
    """Reads the report of one run."""

    tree: Path
    runner: Runner
    token: str

    def read(self, found: Records) -> NodeReport:
        """The records, put together."""
        report = NodeReport()
        patterns: dict[str, list[tuple[re.Pattern[str], str]]] = {}
        for record in found.rows:
            path = self._relative(str(record.get("file", "")))
            match record["kind"]:
                case "end":
                    report.ended, report.stray = True, tuple(record.get("stray", ()))
                case "file" if record["error"]:
                    self.take_file(report, path, record["error"])
                case "suite":
                    key = SEPARATOR.join((path, *map(clean, record["names"])))
                    report.results[key] = TestResult(
                        key, "error", "setup", record["exception"], _line(record["message"]), path
                    )
                case "test" if record["names"][-1].startswith(CANARY):
                    report.canaries.setdefault(path, {})[record["names"][-1]] = record
                case "test":
                    if path not in patterns:
                        patterns[path] = _cases(self.tree / path)
                    self._take(report, record, path, patterns[path])
                case _:
                    pass
        return report

    @staticmethod
    def take_file(report: NodeReport, path: str, error: str) -> None:
        """A file that could not be loaded."""
        report.collect_errors[path] = redact(error)[0]
        report.results[path] = TestResult(path, "error", "collect", "", _line(telling(error)), path)

    def _take(
        self,
        report: NodeReport,
        record: Mapping[str, Any],
        path: str,
        cases: Sequence[tuple[re.Pattern[str], str]],
    ) -> None:
        names = [clean(str(name)) for name in record["names"]]
        source = next((title for pattern, title in cases if pattern.fullmatch(names[-1])), None)
        if source is not None:
            names[-1] = f"{source}[{names[-1]}]"
        key = once = SEPARATOR.join((path, *names))
        number = 2
        while key in report.results:  # two tests of one name
            key, number = f"{once}#{number}", number + 1
        outcome: Outcome = record["outcome"]
        phase: Phase = "setup" if record["phase"] == "setup" else "call"
        if outcome == "failed" and (phase == "setup" or record.get("cancelled")):
            outcome = "error"
        message = record.get("message", "") or record.get("why", "")
        report.results[key] = TestResult(
            key,
            outcome,
            phase,
            record.get("exception", ""),
            _line(redact(message)[0]),
            path,
            self._line_in(record, path),
        )
        report.slowest_ms = max(report.slowest_ms, int(record["ms"]))

    def _line_in(self, record: Mapping[str, Any], path: str) -> int:
        found = re.search(rf"{re.escape(path)}:(\d+)", record.get("stack", ""))
        return int(found[1]) if found else int(record.get("line") or 0)

    def _relative(self, path: str) -> str:
        return path.removeprefix("file://").removeprefix(f"{self.tree}/")

    def vouch(self, report: NodeReport, laid: frozenset[str]) -> str:
        """Why the outcomes prove nothing: one of our tests did not end as it must. A file in which none of
        them ran has ended before its last line.
        """
        wanted = canaries(self.runner, self.token)
        for path, seen in sorted(report.canaries.items()):
            for title, body in wanted.items():
                if (record := seen.get(title)) is None or record["outcome"] == "skipped":
                    continue
                good = (
                    record["outcome"] == "passed"
                    if not body
                    else (record["outcome"] == "failed" and self.token in record.get("message", ""))
                )
                if not good:
                    what = (
                        f"`{body.partition('(')[0].rpartition('.')[2]}`"
                        if body
                        else "a test that says nothing wrong"
                    )
                    how = f"it came out as {record['outcome']}"
                    return f"{what} does not do what it must in {path} ({how}): something takes its place"
        claiming = {result.file for result in report.results.values() if result.phase != "collect"}
        for path in sorted(claiming & laid - set(report.canaries)):
            text = "it ended before its last line, so that what comes after was not run"
            report.collect_errors.setdefault(path, text)
            report.results[path] = TestResult(path, "error", "collect", "", text, path)
        return ""

    @staticmethod
    def unvouched(report: NodeReport, laid: frozenset[str]) -> tuple[str, ...]:
        """Files whose outcomes none of our tests stands beside."""
        claiming = {
            result.file for result in report.results.values() if result.outcome in ("passed", "failed")
        }
        skipped = [
            f"our own tests were skipped in {path}"
            for path, seen in report.canaries.items()
            if any(record["outcome"] == "skipped" for record in seen.values())
        ]
        return tuple(sorted((*skipped, *(f"no test of ours ran in {path}" for path in claiming - laid))))


def _cases(place: Path) -> list[tuple[re.Pattern[str], str]]:
    """How the titles of cases look that one call in a file declares, each with the title as it is written."""
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return []
    found = []
    for call in test_calls(text):
        if {"each", "for"} & set(call.modifiers):
            pattern = re.sub(
                r"%[sdifjoOpc#$]|\\\$[\w.#]+", ".*?", re.escape(call.names[-1]).replace("%\\", "%")
            )
            found.append((re.compile(pattern), call.names[-1]))
    return found


def _line(text: str) -> str:
    return " ".join(_ESCAPES.sub("", text).split())[:300]


_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def telling(text: str) -> str:
    """The line that says what went wrong."""
    lines = [line.strip() for line in _ESCAPES.sub("", text).splitlines() if line.strip()]
    errors = [
        line for line in lines if re.match(r"(?:\w*Error\b|Error:|.*Cannot find|.*does not provide)", line)
    ]
    return (errors or lines[-1:] or [""])[0][:300]
