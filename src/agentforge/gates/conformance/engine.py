"""The engine: what the checks find in the readings of a project's files. It reads no file and runs nothing.

Every check ends in one of five ways, and only one of them is *passed*: it ran on at least one file and found
nothing. A file that cannot be parsed is named and says nothing about the others. What the project did not
declare is *not configured*; what nobody can read in its languages is *not available*.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from agentforge.catalog.checks import CodeCheck, Enforcement
from agentforge.catalog.project_checks import ProjectCheck
from agentforge.gates.conformance.architecture import ARCHITECTURE
from agentforge.gates.conformance.declared import ProjectRules
from agentforge.gates.conformance.findings import CodeFinding, named
from agentforge.gates.conformance.project_rules import Source, about, found_by
from agentforge.gates.conformance.single_files import SINGLE
from agentforge.gates.conformance.subject import CheckedProject, Hit
from agentforge.languages.conformance import Modules, language_name
from agentforge.languages.duplicates import Duplicate, spelled
from agentforge.languages.readings import FileReading, mark_of
from agentforge.system.globs import matches_any

CheckEnd = Literal["passed", "failed", "not_configured", "not_available", "not_run"]
COPIES = "no-duplicate-code"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check ended."""

    check: CodeCheck
    status: CheckEnd
    reason: str = ""
    files: int = 0
    """How many files it looked at."""
    found: int = 0


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the checks found, and how each of them ended."""

    findings: tuple[CodeFinding, ...]
    results: tuple[CheckResult, ...]
    files: int
    unread: tuple[str, ...] = ()
    """Wanted files that cannot be parsed: no check says anything of them that needs more than their text."""

    @property
    def ran(self) -> tuple[CheckResult, ...]:
        """The checks that looked at something."""
        return tuple(each for each in self.results if each.status in ("passed", "failed"))


@dataclass(frozen=True, slots=True)
class CheckScope:
    """Which files findings are wanted of, and which checks."""

    paths: frozenset[str]
    enforcement: Enforcement | None = None
    """Only the checks that run then; None for all."""
    is_test: Callable[[str], bool] = lambda _: False
    copies: Callable[[], Sequence[Duplicate]] | None = None
    """Looks for what is written twice; None where that is not wanted now."""
    source: Source | None = None
    """What rules of the project look into."""


def examine(readings: Mapping[str, FileReading], rules: ProjectRules, scope: CheckScope) -> CheckReport:
    """What the checks find in the wanted files; `readings` are those of the whole project, because what a
    file may import depends on the others.
    """
    scope = replace(scope, is_test=cache(scope.is_test))
    kept = {path: reading for path, reading in readings.items() if not matches_any(rules.exclude, path)}
    project = CheckedProject(kept, rules, Modules(list(kept), rules.roots))
    results, findings = [], []
    paths = sorted(scope.paths & kept.keys())
    for check in rules.checks.values():
        if scope.enforcement == "every_edit" and check.enforcement == "phase_end":
            continue
        mine = [path for path in paths if _looks_at(check, path, scope)]
        found, result = _one(project, check, mine, scope)
        findings += found
        results.append(result)
    unread = tuple(path for path in paths if not kept[path].parsed)
    return CheckReport(named(findings), tuple(results), len(paths), unread)


def _looks_at(check: CodeCheck, path: str, scope: CheckScope) -> bool:
    readable = "any" in check.checked_by or language_name(path) in check.checked_by
    return readable and (check.tests or not scope.is_test(path))


def _one(
    project: CheckedProject, check: CodeCheck, paths: Sequence[str], scope: CheckScope
) -> tuple[list[CodeFinding], CheckResult]:
    if not project.rules.configured(check):
        reason = f"`conformance: {check.needs}` is not in the settings"
        return [], CheckResult(check, "not_configured", reason)
    if not paths:
        here = {language_name(path) for path in scope.paths}
        if here - {*check.checked_by, ""} and not here & check.checked_by.keys():
            names = " or ".join(sorted(here - {""}))
            return [], CheckResult(check, "not_available", f"nothing reads it in {names}")
        return [], CheckResult(check, "not_run", "there is no file that it is about")
    if (rule := project.rules.own.get(check.name)) is not None:
        return _own(project, rule, about(rule, paths), scope)
    unread = [path for path in paths if not project.readings[path].parsed]
    read = len(paths) - len(unread)
    hits = list(_hits(project, check, paths, scope))
    if check.name == COPIES and scope.copies is None:
        return [], CheckResult(check, "not_run", "looked for at the end of a phase")
    findings = [_finding(check, hit, scope) for hit in hits]
    reason = f"not of {_named(unread)}, which cannot be read" if unread else ""
    if not findings and not read:
        return [], CheckResult(check, "not_run", f"{_named(unread)} cannot be read")
    status: CheckEnd = "failed" if findings else "passed"
    return findings, CheckResult(check, status, reason, max(read, 1), len(findings))


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    return f"{paths[0]} and {more} more" if more else paths[0]


def _own(
    project: CheckedProject, rule: ProjectCheck, paths: Sequence[str], scope: CheckScope
) -> tuple[list[CodeFinding], CheckResult]:
    """A rule of the project; what it cannot look for has not passed."""
    if not paths:
        return [], CheckResult(rule.check, "not_run", "there is no file that it is about")
    found = found_by(rule, paths, project, scope.source)
    if isinstance(found, str):
        return [], CheckResult(rule.check, "not_run", found)
    findings = [_finding(rule.check, hit, scope) for hit in found]
    status: CheckEnd = "failed" if findings else "passed"
    return findings, CheckResult(rule.check, status, "", len(paths), len(findings))


def _hits(
    project: CheckedProject, check: CodeCheck, paths: Sequence[str], scope: CheckScope
) -> Iterable[Hit]:
    if check.name == COPIES:
        return _copies(scope.copies(), frozenset(paths)) if scope.copies else ()
    if (across := ARCHITECTURE.get(check.name)) is not None:
        return across(project, check, paths)
    if (single := SINGLE.get(check.name)) is not None:
        return (hit for path in paths for hit in single(path, project.readings[path], check, project))
    return (
        Hit(path, place.line, place.symbol, place.message, place.mark, doubtful=place.doubtful)
        for path in paths
        for place in project.readings[path].places
        if place.check == check.name
    )


def _copies(found: Sequence[Duplicate], paths: Collection[str]) -> Iterator[Hit]:
    for item in found:
        if item.path in paths:
            message = spelled(item).partition(": ")[2].partition(";")[0]
            mark = mark_of(f"{item.other_path} {item.lines}")
            yield Hit(item.path, item.start, "", message, mark, item.lines)


def _finding(check: CodeCheck, hit: Hit, scope: CheckScope) -> CodeFinding:
    found = CodeFinding(
        check.name,
        check.contract,
        check.severity,
        hit.path,
        hit.line,
        hit.symbol,
        hit.message,
        check.fix_hint,
        hit.mark,
        check.blocks,
        hit.measure,
    )
    # Keys of nobody are usual in tests, and somebody meant what a comment lets pass: where it is old it is
    # advice, and where it is new it is not.
    in_test = scope.is_test(hit.path) and check.contract == "security_contracts"
    if check.blocks == "always" and (in_test or hit.doubtful):
        return replace(found, blocks="when_new")
    return found
