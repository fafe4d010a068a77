"""Integration tests: by what a project marks them, and how they are run then; by language."""

import json

import pytest

from agentforge.core.errors import UsageError
from agentforge.languages.marked import is_integration, left_out_by
from agentforge.languages.repository import find_projects
from agentforge.languages.values import Plan
from tests.rows import every

PY = {"pkg/a.py": "", "tests/test_a.py": "def test_a(): pass\n", "tests/integration/test_b.py": ""}
INI = "[pytest]\naddopts = "
FLAG = "def pytest_addoption(parser):\n    parser.addoption('--run-integration', action='store_true')\n"
TAGGED = {"go.mod": "module a\n", "a.go": "package a\n", "b_test.go": "package a\n"}
POM = "<project><plugin><artifactId>maven-failsafe-plugin</artifactId></plugin></project>"


def plan_of(files: dict[str, str], settings: dict[str, object] | None = None) -> Plan:
    data = {path: text.encode() for path, text in files.items()}
    return find_projects(data.get, [*data], settings)[0].plan


def told(plan: Plan) -> list[str]:
    """Each kind as one line: its name, its command without pytest's own start, and its files."""
    return [
        f"{each.name}: {' '.join(each.command).removeprefix('python -m pytest ')} {' '.join(each.ids)}".strip()
        for each in plan.marked
    ]


def node(**scripts: str) -> dict[str, str]:
    files = ("a.js", "test/a.test.js", "test/integration/b.test.js", "test/integration/helper.js")
    return {"package.json": json.dumps({"scripts": scripts}), **dict.fromkeys(files, "")}


@every(
    ("files", "marked"),
    [
        (
            PY | {"pytest.ini": f"{INI}-ra -m 'not integration'\n"},
            ["tests marked integration: -m integration"],
        ),
        (
            PY | {"pytest.ini": f"{INI}-m 'not (e2e or integration or slow)'\n"},
            ["tests marked e2e or integration: -m e2e or integration"],
        ),
        (
            PY | {"tox.ini": "[testenv]\ncommands = pytest -W error -k 'not integration' tests\n"},
            ["tests named integration: -W error tests -k integration"],
        ),
        (
            PY | {"tox.ini": "[testenv]\ncommands = pytest tests/test_a.py\n[pytest]\ntestpaths = tests\n"},
            [],
        ),
        (
            PY
            | {
                "tox.ini": "[testenv]\ncommands = pytest tests/unit\n"
                "[testenv:e2e]\ncommands = pytest tests/integration\n",
                "tests/unit/test_c.py": "",
            },
            ["tests of the tox environment e2e: tests/integration"],
        ),
        (
            PY | {"tox.ini": "[testenv]\ncommands = pytest tests/unit\n", "tests/unit/test_c.py": ""},
            ["tests in tests/integration: tests/integration"],
        ),
        (
            PY
            | {
                "noxfile.py": "@nox.session\ndef integration(session):\n    session.run('pytest', 'tests/integration')\n"
            },
            ["tests of the nox session integration: tests/integration"],
        ),
        (
            PY | {"Makefile": "test:\n\tpytest\nintegration-test:\n\tpytest -m live tests\n"},
            ["tests of `make integration-test`: -m live tests"],
        ),
        (
            PY | {"pyproject.toml": '[tool.poe.tasks]\ntest = "pytest"\ne2e = "pytest tests/integration"\n'},
            ["tests of `e2e` of poe: tests/integration"],
        ),
        (PY | {"conftest.py": FLAG}, ["tests behind --run-integration: --run-integration"]),
        (
            PY | {"conftest.py": FLAG, "tests/test_c.py": "@pytest.mark.integration\ndef test_c(): pass\n"},
            ["tests behind --run-integration: --run-integration -m integration"],
        ),
        (
            PY | {"pytest.ini": f"{INI}-ra --ignore=tests/integration\n"},
            ["tests in tests/integration: -o addopts=-ra tests/integration"],
        ),
        (PY | {"pytest.ini": "[pytest]\nmarkers = integration: slow ones\n"}, []),
        (node(test="node --test"), []),
        (
            node(test="node --test", **{"test:integration": "node --test 'test/integration/**'"}),
            ["tests of the script `test:integration`: node --test test/integration/**"],
        ),
        (
            node(test="mocha", e2e="cross-env CI=1 mocha --recursive test/integration"),
            ["tests of the script `e2e`: mocha --recursive test/integration"],
        ),
        (
            node(test="vitest run", **{"test:e2e": "vitest run integration"}),
            ["tests of the script `test:e2e`: vitest run test/integration/b.test.js"],
        ),
        (
            TAGGED | {"db_test.go": "//go:build integration && linux\n\npackage a\n"},
            ["tests behind the build tag integration: go test -tags=integration ./... db_test.go"],
        ),
        (TAGGED | {"db_test.go": "//go:build !integration\n\npackage a\n"}, []),
        (
            {
                "pom.xml": POM,
                "src/main/java/A.java": "",
                "src/test/java/AIT.java": "",
                "src/test/java/ATest.java": "",
            },
            ["integration tests of Failsafe: mvn test src/test/java/AIT.java"],
        ),
        ({"pom.xml": "<project/>", "src/main/java/A.java": "", "src/test/java/AIT.java": ""}, []),
    ],
)
def test_what_a_project_marks_says_how_it_is_run(files: dict[str, str], marked: list[str]) -> None:
    assert told(plan_of(files)) == marked


@every(
    ("files", "name", "why"),
    [
        (
            PY | {"Makefile": "test:\n\tpytest\nintegration:\n\tdocker compose up\n"},
            "`docker compose up`",
            "not run: `make integration` starts no test runner that is known",
        ),
        (
            PY | {"pytest.ini": f"{INI}-m 'not slow and not integration'\n"},
            "tests that `-m 'not slow and not integration'` leaves out",
            "not run: the project's own options say so",
        ),
        (
            node(test="node --test", e2e="playwright test"),
            "tests of the script `e2e`",
            "not run: it starts no test runner that is known",
        ),
        (
            node(test="vitest run", e2e="vitest run --config vitest.e2e.ts"),
            "tests of the script `e2e`",
            "not run: vitest is given settings of its own there",
        ),
        (
            {
                "build.gradle": "",
                "src/main/java/A.java": "",
                "src/integrationTest/java/BTest.java": "",
            },
            "tests in src/integrationTest",
            "not run: only the task `test` is",
        ),
    ],
)
def test_what_is_marked_and_cannot_be_run_is_named(files: dict[str, str], name: str, why: str) -> None:
    assert dict(plan_of(files).not_run)[name] == why


def test_what_is_run_when_the_change_is_done_is_not_named_as_left_out() -> None:
    plan = plan_of(PY | {"pytest.ini": f"{INI}-m 'not integration'\n"})
    assert not [name for name, _ in plan.not_run if "integration" in name]


def test_the_settings_say_it_instead_or_that_there_are_none() -> None:
    marked = PY | {"pytest.ini": f"{INI}-m 'not integration'\n"}
    assert told(plan_of(marked, {"commands": {"integration": ""}})) == []
    assert told(plan_of(marked, {"commands": {"integration": "pytest -m live"}})) == [
        "tests of `pytest -m live`: pytest -m live"
    ]
    assert told(plan_of(node(test="jest"), {"commands": {"integration": "jest"}})) == [
        "tests of `jest`: jest"
    ]
    generic: dict[str, object] = {
        "generic": {"report": "tap"},
        "commands": {"test": "make check", "integration": "make e2e"},
    }
    (found,) = plan_of({"a.c": "", "tests/a.c": ""}, generic).marked
    assert "make e2e" in found.command
    assert "make check" not in found.command
    for files, line in ((node(test="jest"), "make e2e"), (TAGGED, "make e2e")):
        with pytest.raises(UsageError):
            plan_of(files, {"commands": {"integration": line}})


@every(
    ("expression", "names"),
    [
        ("not integration", ("integration",)),
        ("not slow", ()),
        ("integration", ()),
        ("not (a or e2e) and not integration_tests", ("e2e", "integration_tests")),
        ("not integration or fast", ("integration",)),
        ("not (", ()),
        ("", ()),
    ],
)
def test_an_expression_leaves_out_what_it_is_false_for(expression: str, names: tuple[str, ...]) -> None:
    assert left_out_by(expression)[0] == names


@every(
    ("name", "is_one"),
    [
        *(
            (name, True)
            for name in ("integration", "test:e2e", "tests/integration", "end-to-end", "IntegrationTests")
        ),
        *((name, False) for name in ("unit", "disintegration", "systems", "fe2er", "")),
    ],
)
def test_names_of_integration_tests(name: str, is_one: bool) -> None:
    assert is_integration(name) is is_one
