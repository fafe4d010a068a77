"""Claims about the projects of a repository: which there are, whose a file is, and what several say as one."""

import re
from dataclasses import fields, replace

from agentforge.languages.joined import joined_language
from agentforge.languages.merged import joined_run, merged_checks
from agentforge.languages.outcomes import NO_TESTS, Reached, TestResult, TestRun
from agentforge.languages.python.language import PYTHON
from agentforge.languages.python.testreport import reached_in
from agentforge.languages.repository import (
    Project,
    asked_about,
    find_projects,
    joined_plan,
    owners,
    restricted,
    touched,
)
from agentforge.languages.values import CheckRun, Plan
from tests.rows import every

PLAN = Plan((), ("python", "-m", "pytest"), (".",), ("tests",), (), (), ("pyproject.toml",))
OTHER = replace(PYTHON, name="Other", suffixes=(".other",), declarations=())
API, WEB, TOP = Project(PYTHON, "api", PLAN), Project(OTHER, "web", PLAN), Project(PYTHON, "", PLAN)


def nothing(_path: str) -> bytes | None:
    return None


@every(
    ("paths", "names"),
    [
        (["a.py"], ["Python"]),
        (["README.md"], ["Python"]),
        (["pyproject.toml", "a.py", "tests/test_a.py"], ["Python"]),
        (["docs/requirements.txt", "a.py", "test_a.py"], ["Python"]),
        (
            ["api/pyproject.toml", "api/a.py", "jobs/setup.py", "jobs/b.py", "jobs/c.py"],
            ["Python in jobs", "Python in api"],
        ),
        (["api/pyproject.toml", "api/a.py", "tests/test_all.py"], ["Python"]),
        (["api/pyproject.toml", "api/a.py", "api/inner/pyproject.toml", "api/inner/b.py"], ["Python in api"]),
        (["api/pyproject.toml", "api/a.py", "api/tests/data/pyproject.toml"], ["Python in api"]),
        (["package.json", "index.js", "test/a.test.js"], ["JavaScript"]),
        (["package.json", "a.py", "b.py", "c.py", "index.js"], ["Python", "JavaScript"]),
        (["pyproject.toml", "a.py", "static/1.js", "static/2.js"], ["Python"]),
        (["pyproject.toml", "a.py", "package.json", "prettier.config.js"], ["Python"]),
        (
            ["api/pyproject.toml", "api/a.py", "web/package.json", "web/src/a.ts", "web/src/b.ts"],
            ["JavaScript in web", "Python in api"],
        ),
        (["package.json", "a.js", "b.js", "site/package.json", "site/c.js"], ["JavaScript"]),
        (
            ["package.json", "a.js", "b.js", "site/package.json", "site/yarn.lock", "site/c.js"],
            ["JavaScript", "JavaScript in site"],
        ),
        (["tests/fixtures/x/setup.py", "tests/fixtures/x/a.py"], ["Python"]),
        # What a folder needs makes it a project where it holds code and its tests, and nothing less does.
        (["api/requirements.txt", "api/a.py", "api/tests/test_a.py", "README.md"], ["Python in api"]),
        (
            ["api/pytest.ini", "api/src/a.py", "api/tests/test_a.py", "web/package.json", "web/b.js"],
            ["Python in api", "JavaScript in web"],
        ),
        (["docs/requirements.txt", "docs/conf.py", "calc/__init__.py"], ["Python"]),
        (["checks/pytest.ini", "checks/test_a.py", "calc/__init__.py"], ["Python"]),
        (["tests/requirements.txt", "tests/test_a.py", "tests/help.py", "calc.py"], ["Python"]),
        (["api/requirements.txt", "api/a.py", "api/test_a.py", "test_b.py"], ["Python"]),
        (
            ["api/setup.py", "api/a.py", "api/sub/requirements.txt", "api/sub/b.py", "api/sub/test_b.py"],
            ["Python in api"],
        ),
    ],
)
def test_a_repository_has_the_projects_that_its_files_describe(paths: list[str], names: list[str]) -> None:
    assert [each.name for each in find_projects(nothing, paths)] == names


@every(
    ("path", "names"),
    [
        ("api/a.py", ["Python in api"]),
        ("web/a.other", ["Other in web"]),
        ("web/style.css", ["Other in web"]),
        ("README.md", []),
        (".", ["Python in api", "Other in web"]),
        ("apis/a.py", []),
    ],
)
def test_a_file_is_of_the_project_around_it(path: str, names: list[str]) -> None:
    assert [each.name for each in owners((API, WEB), path)] == names


def test_of_two_projects_in_one_folder_a_file_is_of_its_language_and_of_what_is_built_from_it() -> None:
    both = (TOP, replace(WEB, root="", plan=replace(PLAN, lock_files=("native.other", "ext.py"))))
    assert [each.name for each in owners(both, "a.py")] == ["Python"]
    assert [each.name for each in owners(both, "ext.py")] == ["Python", "Other"]
    assert [each.name for each in owners(both, "data.json")] == ["Python", "Other"]


@every(
    ("request_text", "names"),
    [
        ("fix web/a.other", ["Other in web"]),
        ("fix a.other.", ["Other in web"]),
        ("the api folder is slow: mend `api/`", ["Python in api"]),
        ("mend what Other does", ["Other in web"]),
        ("mend it", ["Python in api"]),
    ],
)
def test_a_request_is_about_the_projects_that_it_names_else_the_largest(
    request_text: str, names: list[str]
) -> None:
    found = asked_about((API, WEB), request_text, ["api/b.py", "web/a.other"])
    assert [each.name for each in found] == names


def run(*ids: str, status: str = "ran", reason: str = "") -> TestRun:
    results = {key: TestResult(key, "passed", file=key.partition("::")[0]) for key in ids}
    return TestRun(
        ("run",), "ran" if status == "ran" else "not_run", reason, results=results, told={"plugin x": "1"}
    )


def test_runs_of_several_projects_are_one_with_whole_ids() -> None:
    found = joined_run([(API, run("tests/test_a.py::test_a")), (WEB, run("tests/b.other::b"))])
    assert found.status == "ran"
    assert sorted(found.results) == ["api/tests/test_a.py::test_a", "web/tests/b.other::b"]
    assert found.results["web/tests/b.other::b"].file == "web/tests/b.other"
    assert sorted(restricted(found, (API, WEB), (API,)).results) == ["api/tests/test_a.py::test_a"]
    assert [*restricted(found, (API, WEB), (API,)).told] == ["Python in api: plugin x"]


def test_what_one_project_did_not_run_was_not_run_but_for_a_project_without_tests() -> None:
    broken, empty = run(status="not_run", reason="it broke"), run(status="not_run", reason=NO_TESTS)
    fine = run("test_a.py::test_a")
    assert joined_run([(API, fine), (WEB, broken)]).reason == "it broke (Other in web)"
    assert joined_run([(API, fine), (WEB, empty)]).status == "ran"
    assert joined_run([(WEB, empty)]).reason == NO_TESTS
    assert joined_run([]).status == "not_run"


def test_a_checker_that_cannot_run_is_missing_beside_those_that_ran() -> None:
    found = merged_checks(
        [("a", CheckRun("ran")), ("b", CheckRun("not_run", "gone")), ("c", CheckRun("not_configured"))]
    )
    assert (found.status, dict(found.missing)) == ("ran", {"b": "gone"})
    assert merged_checks([("b", CheckRun("not_run", "gone"))]).status == "not_run"
    assert merged_checks([]).status == "not_configured"


def test_one_project_at_the_top_is_its_language_and_its_plan() -> None:
    assert joined_language([TOP]) is PYTHON
    assert joined_plan([TOP]) is PLAN
    joined = joined_plan([API, WEB])
    assert joined.test_paths == ("api/tests", "web/tests")
    assert joined.lock_files == ("api/pyproject.toml", "web/pyproject.toml")
    assert joined_language([API, WEB]).tests.test_globs(())[0].startswith("api/")


def test_a_change_touches_the_projects_of_its_files() -> None:
    assert [each.name for each in touched((API, WEB), ["web/a.other", "README.md"])] == ["Other in web"]


def test_nothing_that_a_watch_saw_is_lost_or_moved_on_the_way_to_one_run() -> None:
    lines = {"a.py": frozenset({1})}
    test = "t.py::test_a"
    names, paths = frozenset({"a.py::f"}), frozenset({"a.csv"})
    seen = Reached(
        {test: lines},
        lines,
        {test: lines},
        frozenset({test}),
        paths,
        frozenset({test}),
        loading=lines,
        read={test: paths},
        replaced={test: names},
    )
    found = joined_run([(API, TestRun(("x",), "ran", reached=seen))]).reached
    for each in fields(Reached):
        told = str(getattr(seen, each.name))
        assert str(getattr(found, each.name)) == re.sub(r"'(?=\w)", "'api/", told), each.name
    record: dict[str, dict[str, object]] = {each.name: {} for each in fields(Reached)}
    assert reached_in({**record, "replaced": {test: ["a.py::f"]}}) == Reached(
        {}, {}, {}, frozenset(), frozenset(), frozenset(), replaced={test: names}
    )
