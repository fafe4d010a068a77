from collections.abc import Sequence

from agentforge.languages.outcomes import Outcome, TestResult, TestRun, compare, rerun_flaky


def run(ids: Sequence[str] = (), errors: dict[str, str] | None = None, **outcomes: Outcome) -> TestRun:
    results = {f"t.py::{name}": TestResult(f"t.py::{name}", outcome) for name, outcome in outcomes.items()}
    return TestRun(("pytest",), "ran", ids=tuple(ids), results=results, collect_errors=errors or {})


def test_only_what_was_good_can_get_worse() -> None:
    before = run(
        a="passed",
        b="failed",
        c="xfailed",
        d="skipped",
        e="passed",
        f="passed",
        g="passed",
        h="xfailed",
        i="passed",
    )
    now = run(a="failed", b="error", c="error", d="failed", e="skipped", g="passed", h="xpassed", i="xfailed")
    assert [(found.id, found.before, found.after) for found in compare(before, now)] == [
        ("t.py::a", "passed", "failed"),
        ("t.py::c", "xfailed", "error"),
        ("t.py::e", "passed", "skipped"),
        ("t.py::f", "passed", "missing"),
        ("t.py::i", "passed", "xfailed"),
    ]


def test_flaky_and_excused_tests_do_not_count() -> None:
    before, now = run(a="passed", b="passed"), run(a="failed", b="failed")
    assert compare(before, now, frozenset({"t.py::a"}), frozenset({"t.py::b"})) == []


def test_a_file_that_cannot_be_collected_takes_its_tests_with_it() -> None:
    (found,) = compare(run(a="passed"), run(errors={"t.py": "SyntaxError"}))
    assert (found.after, found.message) == ("missing", "t.py cannot be collected: SyntaxError")


def test_a_partial_run_is_compared_on_what_it_was_asked() -> None:
    assert compare(run(a="passed", b="passed"), run(["t.py::a"], a="passed")) == []
    assert [found.id for found in compare(run(a="passed", b="passed"), run(["t.py"], a="passed"))] == [
        "t.py::b"
    ]


def test_flaky_is_what_differs_between_runs() -> None:
    runs = iter([run(a="passed", b="failed"), run(a="failed", b="failed")])
    assert rerun_flaky(lambda _: next(runs), ["t.py::a", "t.py::b"]) == {"t.py::a"}


def test_a_run_that_did_not_count_makes_nothing_flaky() -> None:
    runs = iter([run(a="passed"), TestRun((), "not_run", "timeout")])
    assert rerun_flaky(lambda _: next(runs), ["t.py::a"]) == frozenset()
    assert rerun_flaky(lambda _: next(runs), []) == frozenset()
