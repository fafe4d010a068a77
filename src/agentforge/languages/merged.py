"""What several projects of a repository ran, as one: their paths and ids made whole, then put together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.languages.outcomes import NO_TESTS, Lines, Reached, TestRun
from agentforge.languages.values import CheckRun, Status
from agentforge.system.canon import digest

if TYPE_CHECKING:
    from agentforge.languages.repository import Project


def joined_run(runs: Sequence[tuple["Project", TestRun]], ids: Sequence[str] = ()) -> TestRun:
    """Runs of several projects as one of the repository."""
    return merged_runs([(each.name, _whole_run(each, run)) for each, run in runs], ids)


def _whole_run(project: "Project", run: TestRun) -> TestRun:
    """A run with its paths and ids as the repository has them."""
    whole = project.whole
    results = [
        replace(result, id=whole(result.id), file=whole(result.file) if result.file else "")
        for result in run.results.values()
    ]
    return replace(
        run,
        ids=tuple(map(whole, run.ids)),
        results={result.id: result for result in results},
        collect_errors={whole(path): text for path, text in run.collect_errors.items()},
        plugins=tuple(map(whole, run.plugins)),
        told={f"{project.name}: {what}": said for what, said in run.told.items()},
        deselected=tuple(map(whole, run.deselected)),
        rewired=tuple(map(whole, run.rewired)),
        reached=_whole_reached(project, run.reached) if run.reached else None,
    )


def merged_runs(runs: Sequence[tuple[str, TestRun]], ids: Sequence[str] = ()) -> TestRun:
    """Runs that are of one repository already, each by the name of its project. All of it ran if each did; a
    project without tests says nothing.
    """
    counted = [row for row in runs if row[1].status == "ran" or NO_TESTS not in row[1].reason] or [*runs]
    reasons = [
        f"{run.reason} ({name})" if len(runs) > 1 else run.reason
        for name, run in counted
        if run.status != "ran"
    ]
    found = [run for _, run in runs]
    watched = [run.reached for run in found if run.reached is not None]
    words: list[str] = []
    for run in found:
        words += (*(("&&",) if words else ()), *run.argv)
    return TestRun(
        argv=tuple(words),
        status="not_run" if reasons or not runs else "ran",
        reason="; ".join(reasons) if runs else NO_TESTS,
        ids=tuple(ids),
        results={key: result for run in found for key, result in run.results.items()},
        collect_errors={path: text for run in found for path, text in run.collect_errors.items()},
        modules={name: path for run in found for name, path in run.modules.items()},
        patched=tuple(name for run in found for name in run.patched),
        plugins=tuple(path for run in found for path in run.plugins),
        told={what: said for run in found for what, said in run.told.items()},
        deselected=tuple(key for run in found for key in run.deselected),
        unvouched=tuple(line for run in found for line in run.unvouched),
        rewired=tuple(key for run in found for key in run.rewired),
        slowest_ms=max((run.slowest_ms for run in found), default=0),
        output="\n".join(run.output for run in found),
        output_hash=digest("\n".join(run.output_hash for run in found)),
        duration_ms=sum(run.duration_ms for run in found),
        sandbox=next((run.sandbox for run in found), ""),
        reached=_merged_reached(watched) if watched and len(watched) == len(found) else None,
    )


def _whole_reached(project: "Project", seen: Reached) -> Reached:
    whole = project.whole

    def lines(found: Lines) -> Lines:
        return {whole(path): numbers for path, numbers in found.items()}

    return Reached(
        {whole(key): lines(found) for key, found in seen.tests.items()},
        lines(seen.setup),
        {whole(key): lines(found) for key, found in seen.children.items()},
        frozenset(map(whole, seen.started)),
        frozenset(map(whole, seen.opened)),
        frozenset(map(whole, seen.lost)),
        loading=lines(seen.loading),
        read={whole(key): frozenset(map(whole, paths)) for key, paths in seen.read.items()},
        replaced={whole(key): frozenset(map(whole, names)) for key, names in seen.replaced.items()},
        calls={
            whole(key): tuple(replace(call, file=whole(call.file)) for call in calls)
            for key, calls in seen.calls.items()
        },
    )


def _merged_reached(seen: Sequence[Reached]) -> Reached:
    return Reached(
        {key: lines for each in seen for key, lines in each.tests.items()},
        {path: lines for each in seen for path, lines in each.setup.items()},
        {key: lines for each in seen for key, lines in each.children.items()},
        frozenset().union(*(each.started for each in seen)),
        frozenset().union(*(each.opened for each in seen)),
        frozenset().union(*(each.lost for each in seen)),
        loading={path: lines for each in seen for path, lines in each.loading.items()},
        read={key: paths for each in seen for key, paths in each.read.items()},
        replaced={key: names for each in seen for key, names in each.replaced.items()},
        calls={key: calls for each in seen for key, calls in each.calls.items()},
    )


def joined_checks(found: Iterable[tuple["Project", CheckRun]]) -> CheckRun:
    """What the checkers of several projects found."""
    return merged_checks([(each.name, _whole_check(each, run)) for each, run in found])


def _whole_check(project: "Project", run: CheckRun) -> CheckRun:
    return replace(
        run,
        findings={(project.whole(path), code): count for (path, code), count in run.findings.items()},
        samples={(project.whole(path), code): text for (path, code), text in run.samples.items()},
    )


def merged_checks(runs: Sequence[tuple[str, CheckRun]]) -> CheckRun:
    """Checks that are of one repository already; one that could not run is missing beside those that ran."""
    found = [run for _, run in runs]
    ran = any(run.status == "ran" for run in found)
    idle = {name: run.reason for name, run in runs if run.status == "not_run"} if ran else {}
    return CheckRun(
        "ran" if ran else worst([run.status for run in found]),
        "" if ran else "; ".join(dict.fromkeys(run.reason for run in found if run.reason)),
        {key: count for run in found for key, count in run.findings.items()},
        {key: text for run in found for key, text in run.samples.items()},
        {name: why for run in found for name, why in run.missing.items()} | idle,
        tuple(line for run in found for line in run.limits),
    )


def worst(found: Sequence[Status]) -> Status:
    """The status that says least of several."""
    for status in ("not_run", "ran", "not_configured"):
        if status in found:
            return status
    return "not_configured"
