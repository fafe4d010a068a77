"""What tests mean in a project, read from the project: one command for every run, and what it leaves out."""

from agentforge.languages.python import detect
from agentforge.languages.values import Plan
from tests.rows import every

TESTS = {"tests/test_a.py": "def test_a(): pass\n", "pkg/__init__.py": "", "pkg/a.py": ""}
PYTEST = ("{env}/bin/python", "-m", "pytest")


def plan_of(files: dict[str, str], settings: dict[str, object] | None = None) -> Plan:
    data = {path: text.encode() for path, text in files.items()}
    return detect.detect(data.get, tuple(data), settings)


def asked(files: dict[str, str]) -> str:
    """What the command says beyond pytest's name."""
    words = plan_of({**TESTS, **files}).tests
    assert words[:3] == PYTEST
    return " ".join(words[3:])


NOX = (
    "import nox\n@nox.session(python=['3.12'])\ndef tests(session):\n"
    "    session.run('coverage', 'run', '-m', 'pytest', '--doctest-modules', 'pkg', 'tests', "
    "*session.posargs)\n"
    "@nox.session\ndef integration(session):\n    session.run('pytest', 'tests/slow')\n"
)
TOX_TOML = (
    '[tool.tox.env_run_base]\ncommands = [["pytest", "--doctest-modules", "pkg", '
    '{ replace = "posargs", default = ["tests"], extend = true }]]\n'
)


@every(
    ("path", "text", "words"),
    [
        ("tox.ini", "[testenv]\ncommands =\n    pytest --cov=pkg -n auto {posargs}\n", ""),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest \\\n  --doctest-modules pkg {posargs:tests}\n",
            DOCTESTS := ("--doctest-modules pkg tests"),
        ),
        ("tox.ini", "[testenv]\ncommands = {envpython} -m pytest --cov tests --tb short\n", ""),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest --doctest-modules {envsitepackagesdir}/pkg {toxinidir}/tests\n",
            DOCTESTS,
        ),
        (
            "tox.ini",
            "[testenv]\ncommands =\n    py38: pytest tests\n    - pytest --doctest-modules pkg\n",
            ("--doctest-modules tests pkg"),
        ),
        (
            "setup.cfg",
            "[tox:tox]\nenvlist = py\n[testenv]\ncommands = pytest -W error tests\n",
            "-W error tests",
        ),
        ("pyproject.toml", TOX_TOML, DOCTESTS),
        (
            "pyproject.toml",
            '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands = pytest -m "not slow"\n"""\n',
            "-m not slow",
        ),
        ("noxfile.py", NOX, DOCTESTS),
        ("pyproject.toml", '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\n', "tests"),
        (
            "pyproject.toml",
            '[tool.poe.tasks]\ntest = {cmd = "pytest --import-mode=importlib"}\n',
            ("--import-mode=importlib"),
        ),
        (
            "Makefile",
            "PY ?= python3\ntest: lint\n\t@$(PY) -m pytest $(ARGS) -k 'not big' tests\n",
            "-k not big tests",
        ),
        (
            "Makefile",
            "FLAGS = --strict-markers\n.PHONY: test\ntest:\n\tuv run pytest $(FLAGS)\n",
            ("--strict-markers"),
        ),
        (
            ".github/workflows/ci.yml",
            "    steps:\n      - name: run pytest\n        run: python -m pytest --doctest-modules pkg tests -v ${{ x }}\n",
            DOCTESTS,
        ),
        (".gitlab-ci.yml", "test:\n  script:\n    - pip install .\n    - pytest tests/\n", "tests"),
        (".github/workflows/bench.yml", "    - run: pytest tests/test_a.py --codspeed\n", ""),
        ("README.md", "Run `pytest --doctest-modules`.\n", ""),
    ],
)
def test_the_projects_own_command_is_the_suite_wherever_it_stands(path: str, text: str, words: str) -> None:
    assert asked({path: text}) == words


def test_environments_for_versions_and_single_files_do_not_narrow_the_suite() -> None:
    tox = (
        "[testenv:py3{9,10}-tests]\ncommands = coverage run -m pytest -n auto\n"
        "[testenv:pypy3-tests]\ncommands = pytest tests/test_a.py\n"
    )
    plan = plan_of({**TESTS, "tox.ini": tox})
    assert plan.tests == PYTEST
    assert plan.not_run == (
        ("`pytest tests/test_a.py`", "not run: the tox environment pypy3-tests runs it beside the suite"),
    )


def test_the_members_of_a_uv_workspace_are_tested_together() -> None:
    member = '[project]\nname = "x"\n[dependency-groups]\ntest = ["attrs"]\n'
    build = '[build-system]\nrequires = ["hatchling"]\n'
    plan = plan_of(
        {
            "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n',
            "packages/a/pyproject.toml": member,
            "packages/b/pyproject.toml": build + '[project.optional-dependencies]\ntest = ["pytest"]\n',
            "packages/old/pyproject.toml": build,
            **{f"packages/{name}/src/{name}/__init__.py": "" for name in ("a", "b", "old")},
            **{f"packages/{name}/tests/test_it.py": "" for name in ("a", "b")},
        }
    )
    assert plan.import_roots == ("packages/a/src", "packages/b/src")
    assert plan.test_paths == ("packages/a/tests", "packages/b/tests")
    assert plan.tests == (*PYTEST, "--import-mode=importlib"), "two files have the same name"
    assert "packages/b/pyproject.toml" in plan.lock_files
    installed = " ".join(plan.setup[-1][len(detect.INSTALL) :])
    assert "-e ./packages/b[test]" in installed
    assert "--group packages/a/pyproject.toml:test" in installed
    assert "old" not in installed


@every(
    ("command", "words"),
    [
        ("python -m unittest", "-o python_files=test*.py"),
        ("python -m unittest discover -s tests -v", "-o python_files=test*.py tests"),
        ("python -m unittest discover tests '*_check.py'", "-o python_files=*_check.py tests"),
        ("coverage run -m unittest tests", "-o python_files=test*.py tests"),
        ("python setup.py test", "-o python_files=test*.py"),
        ("python -m doctest README.md", "--doctest-glob=README.md tests README.md"),
        ("nosetests tests", ""),
    ],
)
def test_other_runners_are_translated_where_pytest_can_run_the_same(command: str, words: str) -> None:
    files = {"tox.ini": f"[testenv]\ncommands = {command}\n", "README.md": ">>> 1\n1\n"}
    assert asked(files) == words
    named = [name for name, _ in plan_of({**TESTS, **files}).not_run]
    assert named == (["`nosetests tests`"] if "nose" in command else [])


def test_a_test_folder_that_is_a_package_is_importable_as_unittest_has_it() -> None:
    files = {"Makefile": "test:\n\tpython -m unittest discover -s tests\n", "tests/__init__.py": ""}
    assert asked(files) == "-o python_files=test*.py -o pythonpath=tests tests"


def test_unittest_is_known_by_its_tests_where_nothing_says_how_to_run_them() -> None:
    case = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    plan = plan_of({"pkg/tests.py": case, "pkg/__init__.py": ""})
    assert plan.tests[3:] == ("-o", "python_files=test*.py *_test.py")
    assert any("unittest" in reason for reason in plan.reasons)
    assert plan_of({"tests/test_a.py": "import pytest\nimport unittest\n"}).tests == PYTEST


MANAGE = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_of.settings")\n'
ADDED_DJANGO = ("{added}", "pytest-django")


def test_djangos_own_runner_is_translated_and_what_the_project_says_of_pytest_stays() -> None:
    files = {**TESTS, "manage.py": MANAGE, "requirements.txt": "django\n"}
    plan = plan_of(files)
    assert plan.tests == (*PYTEST, "--ds=site_of.settings", "-o", "python_files=test*.py")
    assert ADDED_DJANGO in plan.setup
    assert ("{added}", "pytest") not in plan.setup
    for more in ({"requirements-dev.txt": "pytest-django\n"}, {"manage.py": "import os\n"}):
        plan = plan_of({**files, **more})
        assert ADDED_DJANGO not in plan.setup
        assert not [word for word in plan.tests if "--ds" in word]


def test_doctests_that_load_tests_adds_by_name_are_part_of_the_suite() -> None:
    loader = "from doctest import DocTestSuite\ndef load_tests(loader, tests, ignore):\n"
    files = {
        "tests/test_b.py": loader + "    tests.addTests(DocTestSuite('pkg.a'))\n",
        "Makefile": "test:\n\tpython -m unittest\n",
    }
    assert asked(files) == "-o python_files=test*.py --doctest-modules tests pkg/a.py"
    plan = plan_of(
        {**TESTS, "tests/test_b.py": "def load_tests(loader, tests, pattern):\n    return tests\n"}
    )
    assert dict(plan.not_run) == {"load_tests of tests/test_b.py": "not run: only unittest itself calls it"}


def test_what_the_project_means_and_is_not_run_is_named_with_its_reason() -> None:
    tox = (
        "[tox]\nenvlist = py3{11,12}, lint\n[testenv]\ncommands =\n    pytest --run-slow --odd=1 tests/unit\n"
        "    pytest -m big\n[testenv:integration]\ncommands = pytest tests/integration\n"
        "[testenv:docs]\ncommands = sphinx-build -b doctest docs out\n"
    )
    plan = plan_of(
        {
            "tox.ini": tox,
            "conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--run-slow')\n",
            "tests/unit/test_a.py": "",
            "tests/integration/test_b.py": "",
            "ui/package.json": '{"scripts": {"test": "vitest"}}',
        }
    )
    assert plan.tests[3:] == ("--run-slow", "tests/unit")
    assert plan.suite_paths == ("tests/unit",)
    assert dict(plan.not_run) == {
        "`pytest -m big`": "not run: tox runs it beside the suite",
        "option --odd=1": "not taken over from tox: it belongs to no known plugin",
        "doctests of the documentation": "not run: they need the documentation's own build",
        "other versions of Python": "not run: tox has py311, py312, a task has one",
        "npm tests of ui/package.json": "not run: only the Python tests are",
    }
    assert [marked.name for marked in plan.marked] == ["tests of the tox environment integration"]


def test_options_of_pytests_own_settings_are_named_and_not_repeated() -> None:
    ini = "[tool.pytest.ini_options]\naddopts = \"--doctest-modules -m 'not network'\"\n"
    plan = plan_of({**TESTS, "pyproject.toml": ini})
    assert plan.tests == PYTEST
    assert "doctests are part of the suite" in plan.reasons
    assert [name for name, _ in plan.not_run] == ["tests that `-m 'not network'` leaves out"]


def test_options_of_a_plugin_that_nobody_brings_are_left_out_with_the_reason() -> None:
    settings = '[tool.pytest.ini_options]\naddopts = "--cov=pkg --cov-report term -n 4 -nauto -q --doctest-modules"\n'
    plan = plan_of({**TESTS, "pyproject.toml": settings})
    assert plan.tests == (*PYTEST, "-o", "addopts=-q --doctest-modules")
    assert "options of pytest-cov, pytest-xdist are left out: no requirement brings it" in plan.reasons
    group = '[dependency-groups]\ntest = ["pytest-cov", "pytest-xdist"]\n'
    assert plan_of({**TESTS, "pyproject.toml": settings + group}).tests == PYTEST


def test_a_command_in_the_settings_replaces_all_of_it() -> None:
    files = {**TESTS, "tox.ini": "[testenv]\ncommands = pytest --doctest-modules -m 'not slow' pkg\n"}
    told = plan_of(files, {"commands": {"test": "pytest -q tests"}})
    assert (told.tests, told.not_run, told.suite_paths) == (("pytest", "-q", "tests"), (), ())
    translated = plan_of(files, {"commands": {"test": "python -m unittest discover -s tests"}})
    assert translated.tests == (*PYTEST, "-o", "python_files=test*.py", "tests")
