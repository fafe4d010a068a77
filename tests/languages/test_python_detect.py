"""How a project is set up and tested, found in its files."""

import pytest

from agentforge.core.errors import UsageError
from agentforge.languages.python import detect, layout
from agentforge.languages.python.project import open_project
from agentforge.languages.python.requirements import poetry_requirements
from agentforge.languages.values import ADDED, Plan
from tests.rows import every

BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'


def plan_of(files: dict[str, str], settings: dict[str, object] | None = None) -> Plan:
    data = {path: text.encode() for path, text in files.items()}
    return detect.detect(data.get, tuple(data), settings)


def installs(files: dict[str, str]) -> tuple[str, ...]:
    command = next(words for words in reversed(plan_of(files).setup) if words[0] != ADDED)
    assert command[: len(detect.INSTALL)] == detect.INSTALL
    return command[len(detect.INSTALL) :]


def test_extras_and_groups_for_tests_are_all_installed_with_the_project() -> None:
    pyproject = (
        BUILD
        + (
            '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = '
            '["sphinx"]\nDev = ["mypy"]\n'
        )
        + '[dependency-groups]\ntests = ["hypothesis"]\nlint = ["ruff"]\n'
    )
    assert installs({"pyproject.toml": pyproject, "x.py": ""}) == ("-e", ".[test,Dev]", "--group", "tests")


def test_a_group_that_includes_another_brings_what_that_one_brings() -> None:
    pyproject = BUILD + (
        '[dependency-groups]\ndev = [{include-group = "base"}]\nbase = ["pytest-cov>=4", '
        '{include-group = "dev"}]\n'
    )
    assert installs({"pyproject.toml": pyproject}) == ("-e", ".", "--group", "dev")


def test_pytest_is_added_when_nothing_brings_it_and_the_reason_says_so() -> None:
    plan = plan_of({"setup.py": "from setuptools import setup\nsetup(name='x')\n", "tests/test_x.py": ""})
    assert plan.setup[1:] == ((*detect.INSTALL, "-e", "."), (ADDED, "pytest"))
    assert plan.own_setup[-1] == ("pip", "install", "pytest"), "as a person would write it"
    assert any("pytest added" in reason for reason in plan.reasons)
    assert plan.tests == ("{env}/bin/python", "-m", "pytest")


def test_extras_of_setup_cfg_and_setup_py_are_read_without_running_them() -> None:
    cfg = "[metadata]\nname = x\n[options.extras_require]\ntesting =\n    pytest>=7  # why\n    mock\n"
    assert installs({"setup.cfg": cfg}) == ("-e", ".[testing]")
    script = (
        "import sys\nsys.exit('ran')\n"
        "EXTRAS = {'tests': ['pytest'], 'all': sum([], [])}\nsetup(extras_require=EXTRAS, "
        "tests_require=['nose2'])\n"
    )
    assert installs({"setup.py": script}) == ("-e", ".[tests]", "nose2")


def test_poetry_groups_are_said_in_common_words() -> None:
    pyproject = (
        '[tool.poetry]\nname = "x"\n[build-system]\nrequires = ["poetry-core"]\n'
        '[tool.poetry.group.dev.dependencies]\npytest = "^8.1"\npython = "^3.9"\nlocal = {path = '
        '"../local"}\n'
        '[tool.poetry.group.docs.dependencies]\nsphinx = "*"\n'
    )
    assert installs({"pyproject.toml": pyproject}) == ("-e", ".", "pytest>=8.1,<9")


@every(
    ("written", "meant"),
    [
        ("*", "p"),
        ("^1.2.3", "p>=1.2.3,<2"),
        ("^0.2.3", "p>=0.2.3,<0.3"),
        ("^0.0.3", "p>=0.0.3,<0.0.4"),
        ("^0", "p>=0,<1"),
        ("~1.2.3", "p>=1.2.3,<1.3"),
        ("~1", "p>=1,<2"),
        ("~=1.4", "p~=1.4"),
        ("1.2.*", "p==1.2.*"),
        ("1.2", "p==1.2"),
        (">=1, <3", "p>=1,<3"),
        (
            {"version": ">=2", "extras": ["a", "b"], "markers": "sys_platform == 'linux'"},
            "p[a,b]>=2; sys_platform == 'linux'",
        ),
        ({"version": "1", "python": "<3.12"}, 'p==1; python_version < "3.12"'),
    ],
)
def test_versions_of_poetry_are_translated(written: object, meant: str) -> None:
    assert list(poetry_requirements({"p": written})) == [meant]


@every(
    "path",
    [
        "requirements-test.txt",
        "test-requirements.txt",
        "requirements/tests.txt",
        "tests/requirements.txt",
        "requirements_dev.txt",
    ],
)
def test_requirement_files_for_tests_are_used_under_their_many_names(path: str) -> None:
    files = {"setup.py": "setup()", path: "pytest==8.0\n-c x.txt\n", "requirements-docs.txt": "sphinx"}
    assert installs(files) == ("-e", ".", "-r", path)
    assert path in plan_of(files).lock_files


def test_requirement_files_are_left_alone_when_an_extra_already_brings_pytest() -> None:
    pyproject = BUILD + '[project.optional-dependencies]\ntest = ["pytest"]\n'
    assert installs({"pyproject.toml": pyproject, "requirements-dev.txt": "pytest==1"}) == ("-e", ".[test]")


def test_a_project_without_a_build_gets_its_requirements_alone() -> None:
    assert installs({"requirements.txt": "flask", "app.py": ""}) == ("-r", "requirements.txt")
    assert installs({"pyproject.toml": '[project]\nname = "x"\ndependencies = ["flask"]\n'}) == (
        "-r",
        "pyproject.toml",
    )
    assert installs({"Pipfile": '[packages]\nflask = "*"\n[dev-packages]\npytest = "==8.0"\n'}) == (
        "flask",
        "pytest==8.0",
    )
    assert plan_of({"x.py": ""}).setup == (detect.MAKE_ENVIRONMENT, (ADDED, "pytest"))


def test_hints_of_tox_are_followed_and_its_conditions_left_out() -> None:
    tox = (
        "[testenv]\nextras = cli\ndeps =\n    pytest\n    py27: mock\n    -r{toxinidir}/reqs.txt\n    "
        "{env:X}\n    attrs>=22  # why\n"
    )
    files = {
        "tox.ini": tox,
        "reqs.txt": "toml",
        "setup.cfg": "[metadata]\nname=x\n[options.extras_require]\ncli = click\n",
    }
    assert installs(files) == ("-e", ".[cli]", "-r", "reqs.txt", "pytest", "attrs>=22")


def test_hints_of_nox_are_followed() -> None:
    nox = (
        "import nox\n@nox.session\ndef tests(session):\n    session.install('-e', '.[fast]', 'pytest', "
        "f'x{1}')\n"
    )
    pyproject = BUILD + '[project.optional-dependencies]\nfast = ["orjson"]\n'
    assert installs({"noxfile.py": nox, "pyproject.toml": pyproject}) == ("-e", ".[fast]", "pytest")


def test_hints_of_hatch_are_followed() -> None:
    pyproject = BUILD + '[tool.hatch.envs.hatch-test]\nextra-dependencies = ["pytest-asyncio"]\n'
    assert installs({"pyproject.toml": pyproject}) == ("-e", ".", "pytest-asyncio")


def test_ruff_is_installed_where_it_is_configured_in_the_version_the_hooks_pin() -> None:
    plan = plan_of(
        {"ruff.toml": "", ".pre-commit-config.yaml": "repos:\n- repo: x/ruff-pre-commit\n  rev: v0.9.1\n"}
    )
    assert plan.linters == ("ruff",)
    assert plan.checkers == ((*detect.INSTALL, "ruff==0.9.1"),)
    assert not plan_of({"x.py": ""}).linters


@every(
    ("files", "roots"),
    [
        ({"src/pkg/__init__.py": ""}, ("src",)),
        ({"pkg/__init__.py": "", "src/main.c": ""}, (".",)),
        ({"module.py": "", "setup.py": "setup(py_modules=['module'])"}, (".",)),
        ({"lib/pkg/__init__.py": "", "setup.py": "setup(package_dir={'': 'lib'})"}, ("lib",)),
        ({"lib/pkg/__init__.py": "", "setup.py": "setup(packages=find_packages('lib'))"}, ("lib",)),
        ({"lib/pkg/__init__.py": "", "setup.cfg": "[options]\npackage_dir =\n    =lib\n"}, ("lib",)),
        (
            {"lib/pkg/__init__.py": "", "pyproject.toml": '[tool.setuptools.package-dir]\n"" = "lib"\n'},
            ("lib",),
        ),
        (
            {
                "lib/pkg/__init__.py": "",
                "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["lib"]\n',
            },
            ("lib",),
        ),
        (
            {
                "lib/pkg/__init__.py": "",
                "pyproject.toml": '[[tool.poetry.packages]]\ninclude = "pkg"\nfrom = "lib"\n',
            },
            ("lib",),
        ),
        (
            {
                "lib/pkg/__init__.py": "",
                "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["lib/pkg"]\n',
            },
            ("lib",),
        ),
        ({"src/__init__.py": "", "src/app.py": ""}, (".",)),
    ],
)
def test_modules_are_found_in_every_layout(files: dict[str, str], roots: tuple[str, ...]) -> None:
    assert plan_of(files).import_roots == roots


@every(
    ("files", "paths"),
    [
        (
            {
                "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["checks", "gone"]\n',
                "checks/test_a.py": "",
            },
            ("checks",),
        ),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = a b\n", "a/x.py": "", "b/x.py": ""}, ("a", "b")),
        ({"pytest.ini": "[pytest]\ntestpaths = t\n", "t/x.py": "", "tests/test_x.py": ""}, ("t",)),
        ({"tests/test_a.py": "", "pkg/tests/test_b.py": ""}, ("tests",)),
        ({"test/a.py": ""}, ("test",)),
        (
            {"pkg/tests/test_a.py": "", "pkg/sub/tests/unit/tests/test_b.py": ""},
            ("pkg/sub/tests", "pkg/tests"),
        ),
        (
            {"x.py": "", "test_x.py": "", "deep/y_test.py": "", "contest.py": ""},
            ("deep/y_test.py", "test_x.py"),
        ),
        ({"x.py": ""}, ()),
    ],
)
def test_tests_are_found_in_every_layout(files: dict[str, str], paths: tuple[str, ...]) -> None:
    assert plan_of(files).test_paths == paths


def test_a_directory_of_tests_belongs_to_them_whole_and_another_only_by_name() -> None:
    assert layout.test_globs(("tests", "pkg/tests")) == ("tests/**", "pkg/tests/**")
    assert layout.test_globs(("test_x.py",)) == ("test_x.py", "test_*.py", "*_test.py", "conftest.py")
    assert layout.test_globs(("src",)) == ("src/**/test_*.py", "src/**/*_test.py", "src/**/conftest.py")
    assert layout.test_globs((".",)) == layout.TEST_FILE_GLOBS
    assert layout.test_globs(()) == ("tests/**", *layout.TEST_FILE_GLOBS)


def test_settings_replace_what_was_found_and_no_shell_reads_them() -> None:
    settings: dict[str, object] = {
        "setup": ["pip install -e '.[a b]'", "make; rm -rf /"],
        "commands": {"test": "python -m pytest -v"},
        "python": "3.12",
    }
    plan = plan_of({"setup.py": "setup()"}, settings)
    assert plan.setup == (
        detect.MAKE_ENVIRONMENT,
        (ADDED, "pip"),
        ("pip", "install", "-e", ".[a b]"),
        ("make;", "rm", "-rf", "/"),
    )
    assert plan.tests == ("python", "-m", "pytest", "-v")
    assert plan.version == "3.12"


@every(
    "settings",
    [{"setup": "make"}, {"setup": [1]}, {"setup": ["'"]}, {"commands": []}, {"commands": {"test": ""}}],
)
def test_settings_that_are_no_commands_are_named(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"settings\.yaml"):
        plan_of({"setup.py": ""}, settings)


@every(("path", "text"), [("pyproject.toml", "[x"), ("setup.cfg", "no section"), ("tox.ini", "[a\n")])
def test_a_file_that_cannot_be_read_is_named(path: str, text: str) -> None:
    with pytest.raises(UsageError, match=path.replace(".", r"\.")):
        plan_of({path: text})


def test_a_setup_script_that_does_not_parse_says_nothing() -> None:
    assert open_project({"setup.py": b"print 'old'"}.get, ("setup.py",)).setup_py == {}


def test_versions_from_tags_are_noticed() -> None:
    assert plan_of(
        {"pyproject.toml": '[build-system]\nrequires = ["setuptools", "setuptools_scm[toml]>=8"]\n'}
    ).version_from_tags
    assert plan_of({"setup.py": "setup(use_scm_version=True)"}).version_from_tags
    assert not plan_of({"pyproject.toml": BUILD}).version_from_tags


@every(
    ("text", "version"),
    [
        ("Metadata-Version: 2.1\nName: greet\nVersion: 4.13.0rc1\n\nWords.\n", "4.13.0rc1"),
        ("Name: greet\r\nVersion: 2.0\r\n", "2.0"),
        ("Name: greet\n\nVersion: 9.9\n", ""),  # of the words below, not of the metadata
        ("Version: $(id)\n", ""),
        ("", ""),
    ],
)
def test_a_released_archive_says_its_version_where_no_tag_does(text: str, version: str) -> None:
    assert (
        plan_of({"setup.py": "setup(use_scm_version=True)", "PKG-INFO": text}).version_without_tags == version
    )


def test_the_hash_changes_with_build_files_and_native_sources_and_with_nothing_else() -> None:
    files = {"setup.py": b"setup()", "pkg/fast.c": b"1", "pkg/slow.py": b"1"}
    plan = detect.detect(files.get, tuple(files))
    first = detect.lock_hash(plan, files.get)
    assert detect.lock_hash(plan, (files | {"pkg/slow.py": b"2"}).get) == first
    assert detect.lock_hash(plan, (files | {"pkg/fast.c": b"2"}).get) != first
    assert detect.lock_hash(plan, (files | {"setup.py": b"2"}).get) != first
