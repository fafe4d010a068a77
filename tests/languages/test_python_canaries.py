"""What stands beside a project's tests in every run: canaries, the runner's word on itself, the time of a test."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.languages.python.judge_canaries import BARE as MADE
from agentforge.languages.python.testreport import BARE as WANTED
from agentforge.languages.python.testrun import TestRun, run_tests
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox
from tests.depth import SOAK
from tests.judging import ForkedJudge
from tests.languages.test_python_testrun import QUICK, WITH_XDIST, Run, env, go, outcomes, tree, write

__all__ = ["env", "go", "tree"]  # fixtures

ASK = "def test_true(): pass\n"
HONEST = {
    "an autouse fixture with parameters": """
        import pytest
        @pytest.fixture(autouse=True, params=["a", "b"])
        def backend(request): return request.param
        """,
    "an autouse fixture of the tests' own module": """
        import pytest
        @pytest.fixture(autouse=True)
        def table(request): return request.module.TABLE
        """,
    "a database that is not there for strangers": """
        import pytest
        @pytest.fixture(autouse=True, scope="module")
        def database(request):
            if "test_" not in request.node.name: raise ConnectionError("no database")
        """,
    "hooks that know every test": """
        def pytest_collection_modifyitems(items):
            for item in items:
                if item.nodeid.startswith("knows/"): assert item.function.__doc__
        """,
    "a hook that sorts": """
        def pytest_collection_modifyitems(items): items.sort(key=lambda item: item.name)
        """,
    "a hook that skips": """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                if "slow" in item.keywords: item.add_marker(pytest.mark.skip(reason="slow"))
        """,
}


def lay(tree: Path) -> None:
    """A project with every honest conftest in a folder of its own."""
    for number, text in enumerate(HONEST.values()):
        folder = "knows" if "knows/" in text else f"tests/part{number}"
        write(
            tree,
            **{
                f"{folder}/conftest": text,
                f"{folder}/test_part{number}": "TABLE = 1\ndef test_true():\n    'Says what.'\n",
            },
        )


def expect_honest(run: TestRun) -> None:
    assert (run.status, run.reason) == ("ran", "")
    assert set(outcomes(run).values()) == {"passed"}
    assert len(run.results) == len(HONEST) + 1
    assert run.unvouched == run.patched == run.rewired == ()


def test_both_sides_know_the_same_canaries() -> None:
    assert MADE == WANTED


@pytest.mark.parametrize("addopts", ["", "-n auto --strict-markers -W error --import-mode=importlib -k true"])
def test_canaries_live_with_any_conftest(addopts: str, tree: Path, go: Run) -> None:
    (tree / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\n")
    lay(tree)
    expect_honest(go(command=WITH_XDIST))


@pytest.mark.skipif(not SOAK, reason="installs other versions of pytest")
@pytest.mark.network
@pytest.mark.parametrize("version", ["6.2.5", "7.0.1", "7.4.4", "8.0.2", "8.3.5", "9.0.0"])
@pytest.mark.parametrize("addopts", ["", "-n auto --strict-markers -W error --import-mode=importlib -k true"])
def test_canaries_live_with_other_versions_of_pytest(
    version: str, addopts: str, tree: Path, env: Environment, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    program = tmp_path / "env/bin/python"
    words = [str(program), "-m", "pip", "install", "-q", f"pytest=={version}", "pytest-xdist"]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip(f"pytest {version} cannot be installed here")
    (tree / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\n")
    lay(tree)
    other = replace(env, path=tmp_path / "env", program=program)
    expect_honest(run_tests(NoSandbox(), other, tree, scratch=tmp_path / "scratch", timeout_s=60))


FORGERS = {
    "the found tests are made empty": """
        def pytest_collection_modifyitems(items):
            for item in items: item.obj = lambda: None
        """,
    "the found tests are all marked": """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items: item.add_marker(pytest.mark.xfail)
        """,
    "raises accepts everything": """
        import pytest
        pytest.raises.__code__ = (lambda *words, **named: __import__("contextlib").suppress(Exception)).__code__
        """,
    "every exception is swallowed within": """
        import pytest
        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_call(item):
            outcome = yield
            outcome.force_result(None)
        """,
}


@pytest.mark.parametrize("forger", FORGERS)
def test_who_changes_what_tests_say_meets_the_canaries(forger: str, tree: Path, go: Run) -> None:
    write(tree, conftest=FORGERS[forger], test_x="def test_lie(): assert 0")
    run = go()
    assert run.status == "not_run"
    assert "canary" in run.reason


CHOSEN = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    if item.name == "test_report": call.excinfo = None
    yield
@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    outcome = yield
    if item.name in ("test_call", "test_method"):
        item._excinfo = None
        outcome.force_result(None)
def pytest_runtest_setup(item):
    if item.name == "test_function": item.obj = lambda: None
@pytest.fixture
def easy():
    real = pytest.approx
    pytest.approx = lambda value: value or 1
    yield
    pytest.approx = real
"""


def test_what_happens_to_chosen_tests_is_seen_from_within(tree: Path, go: Run) -> None:
    write(
        tree,
        conftest=CHOSEN,
        test_x="""
        import unittest, pytest
        def test_report(): assert 0
        def test_call(): assert 0
        def test_function(): assert 0
        def test_easy(easy): assert 1 == pytest.approx(0)
        def test_true(): pass
        class Old(unittest.TestCase):
            def test_plain(self): self.assertEqual(1, 2)
        """,
    )
    run = go()
    assert run.status == "ran"
    names = {identity.rpartition("::")[2]: outcome for identity, outcome in outcomes(run).items()}
    assert names == {
        "test_report": "failed",
        "test_call": "failed",
        "test_function": "passed",
        "test_easy": "passed",
        "test_true": "passed",
        "test_plain": "failed",
    }
    assert run.rewired == ("test_x.py::test_function",)
    assert run.patched == ("pytest.approx",)
    assert run.told["deciding hooks of conftest.py"] == "pytest_runtest_call, pytest_runtest_makereport"


def test_the_runner_says_the_same_of_two_runs_and_what_a_setting_changes(tree: Path, go: Run) -> None:
    write(tree, tests__test_a=ASK, tests__conftest="import pytest\n", tests__test_b="def test_slow(): pass\n")
    command = ("python", "-m", "pytest") if SOAK else QUICK
    first, again = go(command=command).told, go(command=command).told
    assert first == again
    assert not [value for value in first.values() if str(tree) in value or "/scratch/" in value]
    assert (first["root directory"], first["settings file"]) == (".", "")
    assert first["plugin of the tree tests/conftest.py"] == "tests/conftest.py"
    (tree / "setup.cfg").write_text("[tool:pytest]\naddopts = -k 'not slow' -p no:doctest\n")
    now = go(command=command)
    assert now.told.items() - first.items() >= {
        ("settings file", "setup.cfg"),
        ("setting addopts", "-k 'not slow' -p no:doctest"),
        ("option keyword", "not slow"),
        ("plugin doctest", "switched off"),
    }
    assert now.deselected == ("tests/test_b.py::test_slow",)


def test_a_test_that_does_not_end_in_its_time_fails_and_the_others_go_on(
    tree: Path, env: Environment, tmp_path: Path
) -> None:
    write(
        tree,
        test_x="""
        import signal, time, pytest
        def test_sleeps(): time.sleep(60)
        def test_swallows():
            for _ in range(2):
                try: time.sleep(60)
                except Exception: pass
        def test_cannot_be_interrupted():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(60)
        @pytest.fixture
        def stuck():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(60)
        def test_stuck(stuck): pass
        def test_has_an_alarm_of_its_own():
            rung = []
            signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            time.sleep(0.1)
            assert rung
        def test_true(): pass
        """,
    )
    run = run_tests(
        ForkedJudge(),
        env,
        tree,
        base_command=QUICK,
        scratch=tmp_path / "scratch",
        timeout_s=60,
        limit_s=0.3,
        grace_s=0.3,
    )
    assert (run.status, run.reason) == ("ran", "")
    found = {
        name.rpartition("::")[2]: (each.outcome, each.phase, each.message)
        for name, each in run.results.items()
    }
    hung = "did not end within 0.3 s"
    assert found == {
        "test_sleeps": ("failed", "call", hung),
        "test_swallows": ("failed", "call", hung),
        "test_cannot_be_interrupted": ("failed", "call", hung),
        "test_stuck": ("error", "setup", hung),
        "test_has_an_alarm_of_its_own": ("passed", "call", ""),
        "test_true": ("passed", "call", ""),
    }


def test_what_a_test_prints_goes_into_a_pipe(tree: Path, env: Environment, tmp_path: Path) -> None:
    write(
        tree,
        test_x="""
        import os, stat, sys
        def test_pipe(capfd):
            with capfd.disabled():
                assert all(stat.S_ISFIFO(os.fstat(number).st_mode) for number in (1, 2))
                assert not os.isatty(1)
                print("x" * 200_000)
        """,
    )
    run = run_tests(NoSandbox(), env, tree, base_command=QUICK, scratch=tmp_path / "scratch", timeout_s=60)
    assert outcomes(run) == {"test_x.py::test_pipe": "passed"}
    assert len(run.output) <= 20_000
