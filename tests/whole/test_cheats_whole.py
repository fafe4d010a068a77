"""Cheats by the installed command, in every lane: the model hears the refusal in the words of the mechanism, or
the flag stands on the last screen and in the evidence. Reviewers approve everything.
"""

from typing import Any

import pytest

from tests.cheats.on_new_tests import NEW_TESTS
from tests.cheats.on_old_tests import OLD_TESTS
from tests.cheats.on_the_judge import JUDGE
from tests.cheats.on_the_rest import REST
from tests.cheats.stage import Cheat, Files, Lane
from tests.depth import SOAK
from tests.whole.full_plays import analyze, approves, clarify, deliver, evidence, intake, refactor, spec
from tests.whole.full_plays import READER, SECURITY
from tests.whole.plays import BUILT, SHOP, WHOLE, Entry, Play, ask, asked, create, edit, finished, frame, review, say

pytestmark = pytest.mark.slow

BY_NAME = {cheat.name: cheat for cheat in (*JUDGE, *OLD_TESTS, *NEW_TESTS, *REST)}
PLAYED: list[tuple[Lane, str]] = [
    ("hotfix", "a new test module that repairs the subject while it is imported"),
    ("hotfix", "a pluggy of one's own"),
    ("hotfix", "only that it can be imported"),
    ("small", "a conftest that swaps the function of one test"),
    ("small", "data of old tests changed"),
    ("small", "what nobody asked for is given up"),
    ("small", "in a loop over nothing"),
    ("small", "the report is written into"),
]
QUICK = (0, 3)
"""Those that every run of the tests plays: one for each lane that these are about."""


def writes(files: Files, there: dict[str, str]) -> list[dict[str, Any]]:
    """The tool calls that write these files."""
    return [
        {"name": "delete_file", "args": {"path": path}}
        if text is None
        else edit(path, there[path], text)
        if path in there
        else create(path, text)
        for path, text in files.items()
    ]


def script(cheat: Cheat, lane: Lane, last: tuple[str, ...]) -> list[Entry]:
    """What the model says until it is refused, and then it gives up with a question."""
    there = {path: text for path, text in {**SHOP, **cheat.base}.items() if text is not None}
    papers = {"test_suite": cheat.suite}
    red, green = writes(cheat.red, there), writes(cheat.green, there)
    if lane == "hotfix":
        whole = {**WHOLE, **papers}
        return [say("patch", *red, *green, artifacts=whole, signal="success"), ask("patch", expects=last)]
    written = say("red", *red, artifacts=papers, signal="success")
    built = say("green", *green, artifacts=BUILT, signal="success")
    return [frame(), written, built, ask("green", expects=last)]


@pytest.mark.parametrize(("lane", "name"), PLAYED if SOAK else [PLAYED[place] for place in QUICK])
def test_a_refused_cheat_is_not_delivered(play: Play, lane: Lane, name: str) -> None:
    cheat = BY_NAME[name]
    play.person.write({path: text for path, text in cheat.base.items() if text is not None})
    if cheat.base:
        play.person.commit_all()
    asked(play.start(*script(cheat, lane, (cheat.caught_by,)), lane=lane))
    assert not play.person.git("branch", "--list", "agentforge/*")
