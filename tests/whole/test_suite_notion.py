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


def test_doctests_that_tox_runs_are_kept_and_the_rest_is_named_as_not_checked(
    tmp_path: Path, agentforge_home: Path
) -> None:
    files = {
        **PROJECT,
        "tox.ini": TOX,
        EDITED: DOCUMENTED,
        "integration/test_all.py": "import pytest\n\n\ndef test_all() -> None:\n    raise RuntimeError\n",
        "tests/test_odd.py": "import pytest\n\n\ndef test_odd() -> None:\n    pytest.importorskip('oddity')\n",
    }
    person = Person(make_repository(tmp_path / "checkout", files), tmp_path / "script.yaml")
    init = person.run("init")
    assert "pytest --doctest-modules calc tests" in init.out
    assert "`pytest integration`: not run: the tox environment integration" in init.out
    refused = rf"weakened: {EDITED}::calc.double lost 1 example"
    person.scripted(
        patch(*FIX, SILENT),
        patch(AGAIN, expects=(refused,)),
        {"stage": "review", "reply": APPROVAL},
    )
    done = person.run(
        "start", "double must double", "--lane", "hotfix", "--model", f"scripted:{person.script}"
    )
    assert done.code == 0, done.said
    screen = " ".join(done.said.split())
    assert "not checked: `pytest integration`: not run: the tox environment integration runs it" in screen
    assert "not checked: tests/test_odd.py::test_odd: skipped: " in screen
