"""What the project's own command runs is what a verdict runs, and what is left out is on the last screen."""

from pathlib import Path

import pytest

from tests.whole.checkouts import APPROVAL, EDITED, FIX, PROJECT, Person, make_repository, patch

pytestmark = pytest.mark.slow

TOX = (
    "[testenv]\ncommands = pytest --doctest-modules calc {posargs:tests}\n"
    "[testenv:integration]\ncommands = pytest integration\n"
)
DOCUMENTED = PROJECT[EDITED].replace(
    '"""Twice the number."""', '"""Twice the number.\n\n    >>> double(0)\n    0\n    """'
)
SILENT = {"name": "edit_file", "args": {"path": EDITED, "old": "    >>> double(0)\n    0\n", "new": ""}}
AGAIN = {
    "name": "edit_file",
    "args": {
        "path": EDITED,
        "old": "Twice the number.\n\n",
        "new": "Twice the number.\n\n    >>> double(0)\n    0\n",
    },
}
INTEGRATION = """\
from calc import double


def test_all() -> None:
    raise RuntimeError("no service here")


def test_halves() -> None:
    assert double(0.0) == 0
"""
# What the suite and the new test do not see, and the integration tests do.
WRONG = {"name": "edit_file", "args": {"path": EDITED, "old": "number * 2", "new": "number << 1"}}
RIGHT = {"name": "edit_file", "args": {"path": EDITED, "old": "number << 1", "new": "number * 2"}}


def test_doctests_that_tox_runs_are_kept_and_the_rest_is_named_as_not_checked(
    tmp_path: Path, agentforge_home: Path
) -> None:
    files = {
        **PROJECT,
        "tox.ini": TOX,
        EDITED: DOCUMENTED,
        "integration/test_all.py": INTEGRATION,
        "tests/test_odd.py": "import pytest\n\n\ndef test_odd() -> None:\n    pytest.importorskip('oddity')\n",
    }
    person = Person(make_repository(tmp_path / "checkout", files), tmp_path / "script.yaml")
    init = person.run("init")
    assert "pytest --doctest-modules calc tests" in init.out
    assert "tests of the tox environment integration, once the change is done: python -m pytest" in init.out
    refused = rf"weakened: {EDITED}::calc.double lost 1 example"
    person.scripted(
        patch(*FIX, SILENT),
        patch(AGAIN, WRONG, expects=(refused,)),
        patch(RIGHT, expects=(r"integration/test_all.py::test_halves passed before and is failed now",)),
        {"stage": "review", "reply": APPROVAL},
    )
    done = person.run(
        "start", "double must double", "--lane", "hotfix", "--model", f"scripted:{person.script}"
    )
    assert done.code == 0, done.said
    screen = " ".join(done.said.split())
    kind = "tests of the tox environment integration"
    assert f"integration: {kind}: 1 passed, none worse than on the base" in screen
    assert f"not checked: 1 of the {kind}: fail on the base, too: integration/test_all.py::test_all" in screen
    assert "not checked: tests/test_odd.py::test_odd: skipped: " in screen
    again = person.run("verify", person.only_task(), "--rerun")
    assert again.code == 0, again.said
    assert "integration again" in again.said
