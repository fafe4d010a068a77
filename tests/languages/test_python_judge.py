"""The judge of a test run is loaded before the judged tree can name anything: trees that try to be the judge,
or to find its key.
"""

import hashlib
import json
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.languages.python.testreport import read_report_file
from agentforge.languages.python.testrun import TestRun, run_tests, start_of
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox
from tests.depth import telling
from tests.judging import ForkedJudge
from tests.languages.test_python_testrun import QUICK, WITH_XDIST, outcomes, write

Run = Callable[..., TestRun]
LIE = "test_x.py::test_lie"
HOUSE = "test_x.py::test_true"

# Looks for the key wherever it was or might be, and if it finds one, writes a whole report in which all is
# well.
FORGER = """
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
tree = os.environ.get("PWD", here)
def hunt():
    found = []
    def look(value, depth=0):
        if isinstance(value, (bytes, str)) and len(value) < 1 << 20:
            found.append(value.encode("latin-1", "replace") if isinstance(value, str) else value)
        elif isinstance(value, dict) and depth < 3:
            [look(part, depth + 1) for part in list(value.values())]
        elif depth < 3 and type(value).__module__ not in ("builtins",) and hasattr(value, "__dict__"):
            [look(part, depth + 1) for part in list(vars(value).values())]
    look(dict(os.environ))
    named = os.environ.get("AGENTFORGE_PYTEST_SETTINGS")
    places = [named] if named else []
    places += ["/proc/self/environ", "/proc/self/cmdline", "/proc/1/environ"]
    places += ["/proc/self/fd/" + name for name in os.listdir("/proc/self/fd")]
    for place in places:
        try:
            fd = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
            found.append(os.read(fd, 1 << 20))
        except OSError:
            pass
    frame = sys._getframe()
    while frame is not None:
        look(dict(frame.f_locals)); look(dict(frame.f_globals))
        frame = frame.f_back
    for module in list(sys.modules.values()):
        look({name: value for name, value in list(vars(module).items()) if name.isupper()})
    return found
def forge(settings):
    from _json import encode_basestring_ascii as quote
    from _blake2 import blake2b
    lines = []
    def add(body):
        body = body.replace("SEQ", str(len(lines))).encode()
        lines.append(blake2b(body, key=bytes.fromhex(settings["key"]), digest_size=16).hexdigest().encode() + b" " + body)
    own = ", ".join('"%s": "/usr/lib/x.py"' % name for name in ("pytest", "_pytest.runner", "pluggy", "json", "hashlib"))
    add('{"kind": "judge", "seq": SEQ, "modules": {%s}}' % own)
    add('{"kind": "collected", "seq": SEQ, "ids": ["test_x.py::test_lie"], "groups": [0]}')
    rest = '"when": "call", "xfail": false, "raised": %s, "exception": "", "file": "", "line": 0'
    for name, outcome in (("pass", "passed"), ("fail", "failed")):
        for way in ("", "AgentforgeCanary::"):
            add('{"kind": "canary", "seq": SEQ, "group": 0, "name": "%stest_must_%s", "outcome": "%s", "message": "%s", %s}'
                % (way, name, outcome, settings["token"], rest % ("true" if name == "fail" else "false")))
    add('{"kind": "test", "seq": SEQ, "id": "test_x.py::test_lie", "outcome": "passed", "message": "", %s}' % (rest % "false"))
    add('{"kind": "end", "seq": SEQ, "exit": 0}')
    with open(settings["report"], "wb") as file:
        file.write(b"\\n".join(lines) + b"\\n")
    os._exit(0)
for text in hunt():
    start = text.find(b'{"report"')
    if start >= 0:
        import re
        text = text[start:].decode()
        forge({name: re.search('"%s": "([^"]*)"' % name, text).group(1) for name in ("report", "key", "token")})
"""
TESTS = """\
import {names}
def test_lie(): assert 0
def test_true(): pass
"""


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
    def run(*ids: str, command: tuple[str, ...] = QUICK) -> TestRun:
        place = tmp_path / "scratch"
        return run_tests(NoSandbox(), env, tree, ids=ids, base_command=command, scratch=place, timeout_s=60)

    return run


@pytest.fixture
def go_on(tree: Path, env: Environment, tmp_path: Path) -> Run:
    """The same where it is not the point how the judge is loaded."""

    def run(*ids: str, command: tuple[str, ...] = QUICK) -> TestRun:
        place = tmp_path / "scratch"
        return run_tests(ForkedJudge(), env, tree, ids=ids, base_command=command, scratch=place, timeout_s=60)

    return run


SHADOWS = {
    "the judge's own script": ("agentforge_judge",),
    "an earlier name of it": ("agentforge_pytest_plugin",),
    "our package": (
        "agentforge/__init__",
        "agentforge/languages/python/__init__",
        "agentforge/languages/python/pytest_plugin",
    ),
    "json and hashlib": ("json", "hashlib", "hmac"),
    "what our side of the report imports": ("secrets", "base64", "random"),
    "pytest": ("pytest",),
    "the inside of pytest": ("_pytest/__init__", "_pytest/runner", "_pytest/config/__init__"),
    "pluggy": ("pluggy", "iniconfig", "packaging/__init__"),
    "what pytest imports late": ("pdb", "bdb", "doctest", "difflib", "pprint", "unittest/__init__"),
    "start-up files": ("sitecustomize", "usercustomize"),
}


@pytest.mark.parametrize(
    ("shadow", "mode"),
    telling(
        [
            *((shadow, "prepend") for shadow in SHADOWS),
            ("json and hashlib", "importlib"),
            ("pytest", "importlib"),
        ],
        4,
    ),
)
def test_a_file_with_the_name_of_a_part_of_the_judge_is_not_the_judge(
    shadow: str, mode: str, tree: Path, go: Run
) -> None:
    names = SHADOWS[shadow]
    for name in names:
        path = tree / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FORGER)
    (tree / "pytest.ini").write_text(f"[pytest]\naddopts = --import-mode={mode}\n")
    write(tree, test_x=TESTS.format(names=", ".join(name.split("/")[0] for name in names)))
    run = go()
    assert (run.status, run.reason) == ("ran", "")
    assert outcomes(run) == {LIE: "failed", HOUSE: "passed"}


SEARCHES = {
    "a conftest looks everywhere": {"conftest": FORGER},
    "a test looks everywhere": {"search": FORGER, "test_a": "def test_search(): import search"},
    "a plugin that the settings name": {"search": FORGER},
    "a folder that the settings put on the path": {
        "evil__json": FORGER,
        "evil__pluggy": FORGER,
        "conftest": "import json, pluggy",
    },
    "a conftest puts its own modules in the place of the judge's, for a while": {
        "fake": FORGER,
        "conftest": """
        import sys, types
        real = sys.modules["pytest"]
        for name in ("agentforge_judge", "agentforge_pytest_plugin", "__main__", "hashlib"):
            sys.modules[name] = types.ModuleType(name)
        import fake
        """,
    },
}


@pytest.mark.parametrize("search", telling([*SEARCHES], 2))
def test_code_of_the_tree_finds_no_key(search: str, tree: Path, go: Run) -> None:
    (tree / "pytest.ini").write_text(
        "[pytest]\n"
        + ("addopts = -p search\n" if "plugin" in search else "")
        + ("pythonpath = evil\n" if "folder" in search else "")
    )
    (tree / "evil.pth").write_text(f"{tree}/evil\nimport search\n")
    write(tree, test_x=TESTS.format(names="os"), **SEARCHES[search])
    run = go()
    assert (run.status, run.reason) == ("ran", "")
    assert outcomes(run)[LIE] == "failed"


def test_a_module_of_the_tree_that_is_left_in_the_place_of_the_judges_is_refused(tree: Path, go: Run) -> None:
    write(
        tree,
        fake="",
        conftest="import sys, fake\nsys.modules['difflib'] = fake\n",
        test_x="def test_true(): pass",
    )
    run = go()
    assert (run.status, run.reason) == (
        "not_run",
        "a part of the test runner came from the judged tree: `difflib` is fake.py",
    )


def test_the_function_that_writes_the_report_serves_the_judge_alone(tree: Path, go_on: Run) -> None:
    write(
        tree,
        conftest="""
        def pytest_configure(config):
            recorder = config.pluginmanager.get_plugin("agentforge_recorder")
            recorder._add("test", id="test_x.py::test_lie", when="call", outcome="passed")
        """,
        test_x="def test_lie(): assert 0",
    )
    run = go_on()
    assert (run.status, run.reason) == ("not_run", "the report was changed while the tests ran")


HOOK = """
def pytest_pyfunc_call(pyfuncitem):
    return pyfuncitem.name == "test_lie" or None
"""


def test_every_file_of_the_tree_that_becomes_a_plugin_is_named_however_it_became_one(
    tree: Path, go_on: Run
) -> None:
    information = tree / "entry-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: entry\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[pytest11]\nentry = by_entry_point\n")
    (tree / "pytest.ini").write_text("[pytest]\naddopts = -p by_option\n")
    call = "import gc, _pytest.config\nclass Plugin:\n    pytest_pyfunc_call = staticmethod(lambda pyfuncitem: None)\n"
    call += "kind = _pytest.config.PytestPluginManager\n"
    call += "next(each for each in gc.get_objects() if isinstance(each, kind)).register(Plugin())\n"
    write(
        tree,
        by_entry_point=HOOK,
        by_option="import pytest\n@pytest.fixture\ndef nothing(): pass\n",
        by_name="",
        by_call=call,
        test_x="pytest_plugins = ['by_name']\nimport by_call\ndef test_lie(): assert 0\n",
    )
    run = go_on(command=(*QUICK, "-p", "no:cacheprovider"))
    assert outcomes(run) == {LIE: "passed"}
    assert run.plugins == ("by_call.py", "by_entry_point.py", "by_name.py", "by_option.py")


def test_what_tests_assert_with_is_not_replaced_unseen(tree: Path, go_on: Run) -> None:
    write(
        tree,
        shop="""
        import unittest, pytest, pluggy._hooks, _pytest.runner, _pytest.assertion.rewrite
        def replace(place, name):
            old = getattr(place, name)
            setattr(place, name, lambda *words, **named: old(*words, **named))
        replace(unittest.TestCase, "assertEqual")
        replace(unittest.TestCase, "assertRaises")
        replace(pytest, "raises")
        replace(pytest, "approx")
        replace(pluggy._hooks.HookCaller, "__call__")
        replace(_pytest.runner, "call_and_report")
        replace(_pytest.assertion.rewrite, "rewrite_asserts")
        """,
        test_x="import shop\ndef test_true(): pass\n",
    )
    assert go_on().patched == (
        "_pytest.assertion.rewrite.rewrite_asserts",
        "_pytest.runner.call_and_report",
        "pluggy._hooks._HookCaller.__call__",
        "pytest.approx",
        "pytest.raises",
        "unittest.case.TestCase.assertEqual",
        "unittest.case.TestCase.assertRaises",
    )


def test_workers_that_a_conftest_starts_are_not_believed(tree: Path, go: Run) -> None:
    write(
        tree,
        conftest="""
        def pytest_configure(config):
            if not hasattr(config, "workerinput"):
                config.option.dist, config.option.tx, config.option.numprocesses = "load", ["popen"], 1
        """,
        test_x="def test_lie(): assert 0",
    )
    run = go(command=WITH_XDIST)
    assert run.status == "not_run"
    assert run.reason.startswith("the run ended early")


def signed(*records: Mapping[str, object]) -> bytes:
    bodies = [json.dumps({"seq": number, **record}).encode() for number, record in enumerate(records)]
    macs = [hashlib.blake2b(body, key=b"k", digest_size=16).hexdigest().encode() for body in bodies]
    return b"".join(mac + b" " + body + b"\n" for mac, body in zip(macs, bodies, strict=True))


def test_a_report_says_where_the_judge_came_from_or_is_refused(tmp_path: Path) -> None:
    files = {name: f"/env/{name}.py" for name in ("pytest", "_pytest.runner", "pluggy", "json", "hashlib")}
    rest: list[dict[str, object]] = [{"kind": "collected", "ids": [], "groups": []}, {"kind": "end"}]

    def doubt(*judge: dict[str, str]) -> str:
        lines = signed(*({"kind": "judge", "modules": modules} for modules in judge), *rest)
        (tmp_path / "report").write_bytes(lines)
        return read_report_file(tmp_path / "report", b"k", "token", "/tree").doubt()

    assert "canary" in doubt(files)
    assert doubt() == "the report does not say where the test runner came from"
    assert doubt({**files, "json": "/tree/json.py"}).endswith("came from the judged tree: `json` is json.py")
    assert doubt(files, {"pluggy": "/tree/a/pluggy.py"}).endswith("`pluggy` is a/pluggy.py")
    assert "canary" in doubt({**files, "json": "/tree-of-somebody/json.py"})


def test_the_tree_is_on_the_path_as_python_m_pytest_has_it(tree: Path, go: Run) -> None:
    write(
        tree,
        src__app="VALUE = 1",
        top="VALUE = 2",
        calendar="VALUE = 3",
        packaging__init="VALUE = 4",
        tests__test_x="""
        import multiprocessing, os, subprocess, sys
        import app, top, calendar, packaging

        def test_modules_are_the_trees():
            assert (app.VALUE, top.VALUE, calendar.VALUE, packaging.VALUE) == (1, 2, 3, 4)
        def test_path():
            tree = os.getcwd()
            assert sys.path[:4] == [os.path.join(tree, "tests"), tree, os.path.join(tree, "src"), tree]
        def test_children_find_the_tree():
            code = "import app, os, sys; print(app.VALUE, sys.flags.safe_path)"
            assert subprocess.check_output([sys.executable, "-c", code], cwd="/").split()[0] == b"1"
        def test_a_process_is_spawned():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                assert pool.map(abs, [-1]) == [1]
        def test_there_is_nothing_on_standard_input():
            assert os.read(0, 1) == b""
        def test_arguments():
            assert sys.argv[0].endswith("pytest/__main__.py")
            assert sys.modules["__main__"].__spec__.name == "pytest.__main__"
        """,
    )
    run = go()
    assert {
        line.rpartition("::")[2]: result.message for line, result in run.results.items() if result.message
    } == {}
    assert set(outcomes(run).values()) == {"passed"}
    write(tree, tests__test_x="import sys, os\ndef test_path(): assert os.getcwd() != sys.path[1]\n")
    assert outcomes(go("tests", command=("pytest", *QUICK[3:]))) == {"tests/test_x.py::test_path": "passed"}


@pytest.mark.parametrize(
    ("command", "options", "tail", "from_folder"),
    [
        ("python -m pytest -q a", "", "-q a", True),
        ("python -W error -X dev -m pytest", "-W error -X dev", "", True),
        ("pytest -x", "", "-x", False),
        ("uv run --group test pytest tests", "", "tests", False),
        ("poetry run python -m pytest -v", "", "-v", True),
        ("coverage run -m pytest", "", "", True),
        ("python -m coverage run --branch -m pytest -v", "", "-v", True),
    ],
)
def test_a_command_that_starts_pytest_is_understood(
    command: str, options: str, tail: str, from_folder: bool
) -> None:
    start = start_of(command.split())
    assert start is not None
    assert (start.options, start.tail) == (tuple(options.split()), tuple(tail.split()))
    assert start.from_folder is from_folder


@pytest.mark.parametrize(
    "command", ["make test", "tox", "python -m unittest -v", "sh -c pytest", "./run pytest"]
)
def test_a_command_that_we_cannot_put_the_judge_into_is_not_run(command: str, tree: Path, go: Run) -> None:
    run = go(command=tuple(command.split()))
    assert run.status == "not_run"
    assert f"`{command}` does not start pytest" in run.reason
    assert "commands.test" in run.reason


def test_an_environment_without_pytest_is_said_to_be_one(
    tree: Path, env: Environment, tmp_path: Path
) -> None:
    write(tree, pytest=FORGER, _pytest__init=FORGER, test_x="def test_lie(): assert 0")
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    bare = replace(env, path=tmp_path / "bare", program=tmp_path / "bare/bin/python")
    run = run_tests(NoSandbox(), bare, tree, scratch=tmp_path / "s")
    assert (run.status, run.reason) == ("not_run", "pytest is not in the environment")
