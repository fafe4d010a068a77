"""What the project means by its tests and nobody ran: named wherever a verdict is shown. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from agentforge.core.reply import Json
from agentforge.gates.red import declared_tests
from agentforge.languages.outcomes import TestRun, error_line

MOST = 5
"""Kinds of skips, and files that cannot be loaded, that are named one by one."""


def suite_gaps(
    left_out: Iterable[tuple[str, str]], baseline: TestRun, record: Mapping[str, Json]
) -> dict[str, Json]:
    """What of the suite did not run, each with its reason: what the plan leaves out, what cannot be loaded on
    the base, and what is skipped there and in the judged run.
    """
    gaps: dict[str, Json] = dict(left_out)
    broken = sorted(baseline.collect_errors.items())
    gaps |= {
        path: f"not run: it cannot be loaded on the base: {error_line(text)}" for path, text in broken[:MOST]
    }
    if len(broken) > MOST:
        gaps[f"{len(broken) - MOST} more files"] = "not run: they cannot be loaded on the base"
    return gaps | _skipped(baseline, _outcomes(record))


def _skipped(baseline: TestRun, outcomes: Mapping[str, Json]) -> dict[str, Json]:
    why: dict[str, list[str]] = {}
    for identity, result in sorted(baseline.results.items()):
        if result.outcome == "skipped" and outcomes.get(identity) == "skipped":
            why.setdefault(result.message or "no reason given", []).append(identity)
    kinds = sorted(why.items(), key=lambda item: (-len(item[1]), item[0]))
    found: dict[str, Json] = {
        ids[0] if len(ids) == 1 else f"{ids[0]} and {len(ids) - 1} more": f"skipped: {message}"
        for message, ids in kinds[:MOST]
    }
    if rest := sum(len(ids) for _, ids in kinds[MOST:]):
        found[f"{rest} more tests"] = "skipped"
    return found


def _outcomes(record: Mapping[str, Json]) -> Mapping[str, Json]:
    runs = record.get("runs")
    first = runs[0] if isinstance(runs, list) and runs else {}
    outcomes = first.get("outcomes") if isinstance(first, dict) else {}
    return outcomes if isinstance(outcomes, dict) else {}


def outside_suite(suite: Mapping[str, Json], paths: Sequence[str]) -> list[str]:
    """Declared tests in files that the project's own command would never run."""
    if not paths:
        return []
    folders = tuple("" if path == "." else f"{path}/" for path in paths)
    files = dict.fromkeys(test.path for test in declared_tests(suite))
    return [
        f"`{path}` is not where the project's own command looks for tests ({', '.join(paths[:5])}); "
        "put the test there"
        for path in files
        if path not in paths and not path.startswith(folders) and not any("*" in each for each in paths)
    ]
