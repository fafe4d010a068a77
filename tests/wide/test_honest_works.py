"""Honest requests to released projects, as people word them and in the lane that fits, through the installed command:
each is delivered as the kind of change that it is, and nobody is asked.
"""

from pathlib import Path

import pytest

from tests.whole.checkouts import Person, make_repository
from tests.wide.honest_works import WORKS, HonestWork

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_an_honest_request_to_a_released_project_is_delivered_as_what_it_is(
    work: HonestWork, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert request.config.cache is not None
    files = work.files(request.config.cache.mkdir("distributions"))
    person = Person(make_repository(tmp_path / "repo", files), tmp_path / "script.json")
    person.scripted(*work.replies())
    done = person.run("start", work.request, "--model", f"scripted:{person.script}", "--json")
    assert done.code == 0, done.said
    assert (done.data["status"], done.data["proved_as"]["kind"]) == ("completed", work.kind)
