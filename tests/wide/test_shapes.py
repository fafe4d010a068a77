"""Repositories of shapes that nobody planned for, through the installed command: `init` says what it found, and a
request ends in a verified branch or in one sentence before anything is spent.
"""

from pathlib import Path

import pytest

from tests.wide.shapes import SHAPES
from tests.wide.shapes_elsewhere import ELSEWHERE
from tests.wide.shapes_of_tools import COMPOSED, PACKAGED
from tests.wide.test_compiled_languages import delivered, person_with, start

ALL = {**SHAPES, **ELSEWHERE, **PACKAGED, **COMPOSED}
pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("name", ALL)
def test_a_request_ends_in_a_verified_branch_or_in_one_sentence(name: str, tmp_path: Path) -> None:
    shape = ALL[name]
    person = person_with(shape.work, tmp_path, shape.work.replies())
    assert person.run("init").code in (0, 2)
    done = person.run(*start(person, "double must double its argument"))
    if shape.says:
        assert done.code != 0
        assert shape.says in done.said
        journals = (person.checkout / ".agentforge/tasks").glob("*/actions.yaml")
        paid = [each for each in journals if '"ask_sent"' in each.read_text()]
        assert not paid, "a call was paid"
    else:
        proof = delivered(done, person)
        ran = [run for row in proof["rows"] for run in row.get("runs", ())]
        assert "passed" in {
            end for run in ran for test, end in run["outcomes"].items() if "four" in test.lower()
        }
