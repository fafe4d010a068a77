"""Real pytest, in the interpreter that runs these tests, on small projects that behave badly."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent

import pytest

from agentforge.languages.python.testrun import TestRun, foreign, run_tests
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox, SandboxName
from agentforge.sandbox.walls.ladder import choose
from agentforge.sandbox.walls.limits import Limits
from agentforge.system.processes import Completed
from tests.depth import SOAK, telling
from tests.judging import ForkedJudge

Run = Callable[..., TestRun]

# Plugins of our own development environment that these projects do not use: half of the time of a run.
PLUGINS = ("anyio", "hypothesispytest", "schemathesis", "timeout")
WITH_XDIST = ("python", "-m", "pytest", *(word for name in PLUGINS for word in ("-p", f"no:{name}")))
QUICK = (*WITH_XDIST, "-p", "no:xdist", "-p", "no:xdist.looponfail")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    return Environment(
        path=Path(sys.prefix),
        program=Path(sys.executable),
        source=tmp_path / "source",
        import_roots=("src", "."),
        generated=(),
        key="test",
        log="",
        prefix=Path(sys.base_prefix),
    )


@pytest.fixture
def go(tree: Path, env: Environment, tmp_path: Path) -> Run:
    def run(*ids: str, timeout_s: float = 60, command: tuple[str, ...] = QUICK) -> TestRun:
        return run_tests(
            ForkedJudge(),
            env,
            tree,
            ids=ids,
            base_command=command,
            scratch=tmp_path / "scratch",
            timeout_s=timeout_s,
        )

    return run


def write(tree: Path, **files: str) -> None:
    """`a__b` is the file `a/b.py`; `a__init` the file `a/__init__.py`."""
    for name, text in files.items():
        path = tree / (name.replace("__", "/").replace("/init", "/__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def outcomes(run: TestRun) -> dict[str, str]:
    return {identity: result.outcome for identity, result in run.results.items()}


def test_every_outcome_has_its_word_failures_say_where_and_nothing_is_left_behind(
    tree: Path, go: Run, tmp_path: Path
) -> None:
    write(
        tree,
        tests__test_all="""
        import pytest, unittest

        @pytest.fixture
        def broken(): raise RuntimeError("no set-up")

        @pytest.fixture
        def untidy():
            yield
            raise RuntimeError("no tear-down")

        def test_good(): pass
        def test_bad():
            assert [1, 2] == [1, 3], "lists"
        def test_setup(broken): pass
        def test_teardown(untidy): pass
        @pytest.mark.skip(reason="later")
        def test_skipped(): pass
        @pytest.mark.xfail
        def test_expected(): assert 0
        @pytest.mark.xfail
        def test_surprise(): pass
        @pytest.mark.xfail(strict=True)
        def test_strict(): pass

        class Old(unittest.TestCase):
            def test_method(self): self.assertEqual(1, 1)
            def test_worse(self): self.assertEqual(1, 2)
        """,
        tests__test_key="""
        import os, pathlib
        def test_key_is_gone():
            assert not [name for name in os.environ if name.startswith("AGENTFORGE")]
            assert sorted(os.listdir(pathlib.Path(os.environ["TMPDIR"]).parent)) == ["report", "tmp"]
        """,
    )
    run = go()
    assert (run.status, run.reason) == ("ran", "")
    assert outcomes(run) == {
        "tests/test_all.py::test_good": "passed",
        "tests/test_all.py::test_bad": "failed",
        "tests/test_all.py::test_setup": "error",
        "tests/test_all.py::test_teardown": "error",
        "tests/test_all.py::test_skipped": "skipped",
        "tests/test_all.py::test_expected": "xfailed",
        "tests/test_all.py::test_surprise": "xpassed",
        "tests/test_all.py::test_strict": "failed",
        "tests/test_all.py::Old::test_method": "passed",
        "tests/test_all.py::Old::test_worse": "failed",
        "tests/test_key.py::test_key_is_gone": "passed",
    }
    bad = run.results["tests/test_all.py::test_bad"]
    assert (bad.phase, bad.exception, bad.file, bad.line) == (
        "call",
        "AssertionError",
        "tests/test_all.py",
        14,
    )
    assert bad.message.startswith("lists")
    assert run.results["tests/test_all.py::test_setup"].phase == "setup"
    assert run.results["tests/test_all.py::test_teardown"].phase == "teardown"
    assert "canary" not in run.output
    assert TestRun.from_json(json.loads(json.dumps(run.to_json()))) == run
    assert sorted(path.name for path in tree.rglob("*")) == ["test_all.py", "test_key.py", "tests"]
    assert list((tmp_path / "scratch").iterdir()) == []


ONE_BY_ONE = [
    "-x",
    "-q -q --maxfail=1",
    "--lf",
    "-k good",
    "-m 'not slow'",
    "--stepwise",
    "-p no:xdist",
    "-v -rA",
]


@pytest.mark.parametrize("addopts", ["-n 2", " ".join(ONE_BY_ONE), *(ONE_BY_ONE if SOAK else ())])
def test_options_of_the_project_do_not_hide_outcomes(addopts: str, tree: Path, go: Run) -> None:
    (tree / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\nmarkers = slow\n")
    write(tree, test_x="def test_a_bad_good(): assert 0\ndef test_b_good(): pass\n")
    run = go(command=WITH_XDIST)
    assert (run.status, run.reason) == ("ran", "")
    assert outcomes(run) == {"test_x.py::test_a_bad_good": "failed", "test_x.py::test_b_good": "passed"}


def test_naming_patterns_do_not_hide_the_canaries(tree: Path, go: Run) -> None:
    (tree / "pytest.ini").write_text(
        "[pytest]\npython_files = check_*.py\npython_functions = ensure_*\npython_classes = Spec*\n"
    )
    write(tree, check_it="def ensure_it(): pass\ndef test_it(): assert 0\n")
    run = go()
    assert (run.status, outcomes(run)) == ("ran", {"check_it.py::ensure_it": "passed"})


FORGERIES = {
    "every report says passed": """
        import pytest
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(item, call):
            call.excinfo = None
            outcome = yield
            outcome.get_result().outcome = "passed"
        """,
    "no test function is called": """
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_pyfunc_call(pyfuncitem): return True
        """,
    "the protocol is replaced": """
        import pytest
        from _pytest.reports import TestReport
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(item, nextitem):
            for when in ("setup", "call", "teardown"):
                item.ihook.pytest_runtest_logreport(report=TestReport(item.nodeid, item.location, {}, "passed", None, when))
            return True
        """,
    "every test fails": """
        import pytest
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(item, call):
            outcome = yield
            if call.when == "call":
                outcome.get_result().outcome = "failed"
        """,
    "the tests are dropped after collection": """
        def pytest_collection_finish(session): session.items[:] = []
        """,
    "the process ends well, early": """
        import os
        def pytest_collection_finish(session): os._exit(0)
        """,
}


# Where they act on some tests only, which is harder to see.
DEEP = ("every report says passed", "no test function is called")


@pytest.mark.parametrize(
    ("forgery", "folder"),
    [
        *((forgery, "tests/deep/" if forgery in DEEP else "") for forgery in FORGERIES),
        *((forgery, "") for forgery in DEEP if SOAK),
    ],
)
def test_a_conftest_that_forges_outcomes_is_not_believed(
    forgery: str, folder: str, tree: Path, go: Run
) -> None:
    write(tree, tests__test_top="def test_top(): pass", tests__deep__test_x="def test_lie(): assert 0")
    (tree / f"{folder}conftest.py").write_text(dedent(FORGERIES[forgery]))
    run = go()
    assert run.status == "not_run"
    assert run.reason


def test_a_hook_that_turns_only_chosen_failures_green_is_overruled(tree: Path, go: Run) -> None:
    write(
        tree,
        conftest="""
        import pytest
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(item, call):
            outcome = yield
            if "lie" in item.nodeid:
                outcome.get_result().outcome = "passed"
        """,
        test_x="def test_lie(): assert 0\ndef test_true(): pass\n",
    )
    run = go()
    assert (run.status, outcomes(run)) == (
        "ran",
        {"test_x.py::test_lie": "failed", "test_x.py::test_true": "passed"},
    )
    assert "reported it as passed" in run.results["test_x.py::test_lie"].message


def test_a_report_that_a_test_writes_into_is_noticed(tree: Path, go: Run) -> None:
    write(
        tree,
        test_x="""
        import os, pathlib
        def test_forge():
            report = pathlib.Path(os.environ["TMPDIR"]).parent / "report"
            line = report.read_text().splitlines()[0]
            with report.open("a") as file: file.write(line + "\\n")
        """,
    )
    run = go()
    assert (run.status, run.reason) == ("not_run", "the report was changed while the tests ran")


def test_a_file_that_cannot_be_collected_does_not_stop_the_others(tree: Path, go: Run) -> None:
    write(
        tree,
        test_bad="import app.parser_of_dates\n",
        test_broken="def test_x(:\n",
        test_good="def test_good(): pass",
    )
    run = go()
    assert run.status == "ran"
    assert outcomes(run) == {
        "test_bad.py": "error",
        "test_broken.py": "error",
        "test_good.py::test_good": "passed",
    }
    assert sorted(run.collect_errors) == ["test_bad.py", "test_broken.py"]
    bad = run.results["test_bad.py"]
    assert (bad.phase, bad.exception, bad.file, bad.line) == (
        "collect",
        "ModuleNotFoundError",
        "test_bad.py",
        1,
    )
    assert "No module named 'app'" in bad.message
    assert run.results["test_broken.py"].exception == "SyntaxError"


def test_a_run_where_every_file_fails_to_import_is_still_a_run(tree: Path, go: Run) -> None:
    write(tree, test_bad="import app.missing\ndef test_x(): pass\n")
    run = go("test_bad.py::test_x")
    assert (run.status, outcomes(run)) == ("ran", {"test_bad.py": "error", "test_bad.py::test_x": "missing"})
    assert run.results["test_bad.py::test_x"].message.startswith(
        "test_bad.py cannot be collected: ModuleNotFoundError"
    )


def test_ids_choose_tests_and_absent_ones_are_missing(tree: Path, go: Run) -> None:
    write(
        tree,
        tests__test_a="""
        import pytest
        class TestK:
            def test_m(self): pass
        @pytest.mark.parametrize("v", ["a b", "x::y", "ü", "[", "a]["])
        def test_p(v): assert v != "x::y"
        def test_other(): pass
        """,
        tests__test_b="def test_b(): pass",
        tests__more__test_c="def test_c(): pass",
    )
    everything = go(".")
    cases = sorted(identity for identity in everything.results if "::test_p" in identity)
    assert len(cases) == 5
    assert everything.results["tests/test_a.py::test_p[x::y]"].outcome == "failed"
    chosen = (
        "tests/test_a.py::TestK",
        "tests/test_b.py",
        "tests/test_a.py::test_gone",
        "tests/test_no.py::test_x",
        "tests/more",
    )
    run = go(*cases, *chosen)
    assert (run.status, outcomes(run)) == (
        "ran",
        {
            "tests/test_a.py::TestK::test_m": "passed",
            "tests/test_b.py::test_b": "passed",
            "tests/more/test_c.py::test_c": "passed",
            "tests/test_a.py::test_gone": "missing",
            "tests/test_no.py::test_x": "missing",
            **{case: everything.results[case].outcome for case in cases},
        },
    )


def test_ids_do_not_depend_on_the_root_that_pytest_finds(tree: Path, go: Run) -> None:
    write(tree, tests__test_a="def test_a(): pass")
    (tree / "tests" / "pytest.ini").write_text("[pytest]\n")
    ways: list[Callable[[], TestRun]] = [
        lambda: go("tests/test_a.py::test_a"),
        go,
        lambda: go(command=(*QUICK, "tests")),
    ]
    for run in (way() for way in telling(ways, 2)):
        assert (run.status, outcomes(run)) == ("ran", {"tests/test_a.py::test_a": "passed"})


def test_a_run_of_nothing_is_not_run(tree: Path, go: Run) -> None:
    write(tree, test_a="def test_a(): pass")
    run = go("test_a.py::test_b")
    assert (run.status, run.reason) == ("not_run", "no tests were collected")
    assert outcomes(run) == {"test_a.py::test_b": "missing"}


def test_a_crash_names_the_test_it_happened_in(tree: Path, go: Run) -> None:
    write(tree, test_a="import os\ndef test_a(): pass\ndef test_b(): os._exit(7)\ndef test_c(): pass\n")
    run = go()
    assert (run.status, run.reason) == ("not_run", "the run ended early, in test_a.py::test_b (exit code 7)")
    assert run.results["test_a.py::test_a"].outcome == "passed"


def test_a_run_that_hangs_before_its_tests_is_ended(tree: Path, go: Run) -> None:
    write(tree, test_a="import time\ntime.sleep(60)\ndef test_a(): pass\n")
    run = go(timeout_s=3)
    assert (run.status, run.reason) == ("not_run", "the tests did not end within 3 s")


@dataclass(frozen=True)
class Tight:
    """The real walls, with bounds that a small test can meet."""

    inner: Sandbox
    name: SandboxName = "bubblewrap"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        return self.inner.run(argv, replace(confinement, limits=Limits(total_processes=20)))

    def guarantee(self) -> dict[str, str]:
        return self.inner.guarantee()


def test_a_run_out_of_bounds_says_nothing_of_its_tests(tree: Path, env: Environment, tmp_path: Path) -> None:
    greedy = """
        import os, time
        def test_a():
            for _ in range(30):
                if not os.fork():
                    time.sleep(20)
                    os._exit(0)
            time.sleep(20)
    """
    write(tree, test_a=dedent(greedy))
    run = run_tests(
        Tight(choose("auto")), env, tree, base_command=QUICK, scratch=tmp_path / "scratch", timeout_s=30
    )
    why = "the run was out of bounds, in test_a.py::test_a: it had more than 20 processes at one time"
    assert (run.status, run.reason) == ("not_run", why)


def test_pytest_that_cannot_start_is_not_run_and_says_why(tree: Path, go: Run) -> None:
    write(tree, conftest="import no_such_module", test_a="def test_a(): pass")
    run = go()
    assert run.status == "not_run"
    assert "no_such_module" in run.reason or "conftest" in run.reason


def test_a_set_up_that_fails_for_all_is_an_outcome_of_each(tree: Path, go: Run) -> None:
    write(
        tree,
        conftest="import pytest\n@pytest.fixture(autouse=True)\ndef db(): raise OSError('no database')\n",
        test_a="def test_a(): pass",
    )
    run = go()
    assert (run.status, outcomes(run)) == ("ran", {"test_a.py::test_a": "error"})


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_the_same_holds_inside_real_walls(tree: Path, env: Environment, tmp_path: Path) -> None:
    write(
        tree,
        src__app="VALUE = 1",
        test_a="import app\ndef test_reads(): assert app.VALUE == 1\ndef test_writes():\n    "
        "open('made', 'w')\n",
    )
    results = [
        run_tests(
            choose("auto"), env, tree, base_command=QUICK, scratch=tmp_path / "scratch", writable=writable
        )
        for writable in (False, True)
    ]
    assert [(run.status, run.reason) for run in results] == [("ran", "")] * 2
    assert [run.results["test_a.py::test_writes"].exception for run in results] == ["OSError", ""]
    assert [run.results["test_a.py::test_reads"].outcome for run in results] == ["passed"] * 2


def test_modules_from_elsewhere_are_foreign(tree: Path, env: Environment, go: Run, tmp_path: Path) -> None:
    env = replace(env, source=tmp_path / "source")
    for root in (tree, tmp_path / "source"):
        write(root, src__app__core="VALUE = 1", src__app__init="", src__other="")
    write(tree, test_a="from app import core\nimport other\ndef test_a(): pass\n")
    changed = ["src/app/core.py", "src/app/unused.py", "README.md"]
    run = go()
    assert run.modules["app.core"] == str((tree / "src/app/core.py").resolve())
    assert foreign(run, tree, env, changed) == []
    write(tree, conftest=f"import sys\nsys.path.insert(0, {str(tmp_path / 'source' / 'src')!r})\n")
    assert foreign(go(), tree, env, changed) == ["src/app/core.py"]
    installed = tmp_path / "site-packages"
    write(installed, app__core="VALUE = 2", app__init="", other="")
    write(tree, conftest=f"import sys\nsys.path.insert(0, {str(installed)!r})\n")
    assert foreign(go(), tree, env, [*changed, "src/app/__init__.py", "src/app/other.py"]) == [
        "src/app/core.py",
        "src/app/__init__.py",
    ]


def test_a_project_that_switches_the_cache_off_and_warnings_into_errors_is_judged(
    tree: Path, go: Run
) -> None:
    (tree / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    write(tree, test_x="def test_it(): pass\n")
    run = go(command=(*QUICK, "-p", "no:cacheprovider"))
    assert (run.status, run.reason) == ("ran", "")
