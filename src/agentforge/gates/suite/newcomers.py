"""Tests that a change brings and that fail: nobody asked for a branch with a failing test."""

from collections.abc import Container

from agentforge.languages.outcomes import Regression, TestRun

BAD = frozenset({"failed", "error"})


def failing_newcomers(baseline: TestRun, run: TestRun, declared: Container[str]) -> list[Regression]:
    """What fails in this run and was not there on the base, but for declared tests, which are judged by name.

    A test whose other cases failed on the base already is no newcomer: the ids of cases may differ from run
    to run.
    """
    failed_before = {
        identity.partition("[")[0] for identity, result in baseline.results.items() if result.outcome in BAD
    }
    return [
        Regression(identity, "missing", result.outcome, result.message)
        for identity, result in sorted(run.results.items())
        if result.outcome in BAD
        and identity not in baseline.results
        and identity not in declared
        and identity.partition("[")[0] not in failed_before
    ]
