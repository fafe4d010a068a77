"""A repository of several projects: a change is judged by the ones that it touches, and only these are set up
and run.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.whole.checkouts import ADDED, EDITED, FIX, PAPERS, PROJECT, Person, make_repository, review
from tests.whole.javascript import REQUEST, WITH_NODE

CALC = {f"calc/{name}": text for name, text in PROJECT.items()}
SLEEPY = {
    "sleepy/pyproject.toml": '[project]\nname = "sleepy"\nversion = "1.0"\n\n'
    "[dependency-groups]\n"
    'test = ["a-package-that-is-nowhere"]\n',
    "sleepy/nap.py": "def nap() -> str:\n    return 'z'\n",
    "sleepy/tests/test_nap.py": "from nap import nap\n\n\ndef test_nap() -> None:\n    assert nap() == 'z'\n",
}
APART = {
    "calc/pytest.ini": "[pytest]\naddopts = -m 'not integration'\nmarkers = integration: apart\n",
    "calc/tests/test_apart.py": "import pytest\nfrom calc import double\n\n\n@pytest.mark.integration\n"
    "def test_apart() -> None:\n    assert double(0) == 0\n",
}
TEST = "calc/tests/test_double.py"
# The same papers and edits as of the one project, a folder deeper.
INSIDE = {path: f"calc/{path}" for path in (EDITED, ADDED)}


def deeper(value: object) -> object:
    text = json.dumps(value)
    for path, inside in INSIDE.items():
        text = text.replace(f'"{path}"', f'"{inside}"')
    found: object = json.loads(text)
    return found


@pytest.mark.slow
def test_only_the_project_that_a_change_touches_is_set_up_and_run(tmp_path: Path) -> None:
    person = Person(
        make_repository(tmp_path / "repo", {**CALC, **APART, **SLEEPY, "README.md": "Two of them.\n"}),
        tmp_path / "script.json",
    )
    person.scripted(
        {
            "stage": "patch",
            "reply": {"actions": deeper(FIX), "artifacts": deeper(PAPERS), "signal": "success"},
        },
        review(),
    )
    done = person.run(
        "start",
        "double in calc must double",
        "--lane",
        "hotfix",
        "--model",
        f"scripted:{person.script}",
        "--json",
    )
    assert done.code == 0, done.said
    evidence = json.loads(
        (person.checkout / ".agentforge/tasks" / person.only_task() / "evidence.json").read_text()
    )
    assert evidence["integration"] == [
        "integration: tests marked integration in calc: 1 passed, none worse than on the base"
    ]
    ran = {name for row in evidence["rows"] for run in row.get("runs", []) for name in run["outcomes"]}
    assert ran == {"calc/tests/test_calc.py::test_zero", f"{TEST}::test_two_becomes_four"}
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_change_in_javascript_beside_python_runs_only_its_own_tests_in_its_own_folder(
    tmp_path: Path,
) -> None:
    web = {f"web/{name}": text for name, text in WITH_NODE.files.items()}
    shop = replace(WITH_NODE, source=f"web/{WITH_NODE.source}", new_test=f"web/{WITH_NODE.new_test}")
    # Python comes first, because there is more of it, and cannot be set up.
    person = Person(make_repository(tmp_path / "repo", {**SLEEPY, **web}), tmp_path / "script.json")
    person.scripted(shop.patch(), shop.approve())
    done = person.run(
        "start",
        f"in {shop.source} {REQUEST}",
        *("--lane", "hotfix", "--model", f"scripted:{person.script}", "--json"),
    )
    assert done.code == 0, done.said
    evidence = json.loads(
        (person.checkout / ".agentforge/tasks" / person.only_task() / "evidence.json").read_text()
    )
    ran = {name for row in evidence["rows"] for run in row.get("runs", []) for name in run["outcomes"]}
    assert {name.partition("::")[0] for name in ran} == {"web/test/price.test.js", "web/test/net.test.js"}
