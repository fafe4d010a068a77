"""An action that leaves the sandbox is on record before it is done; a crash in between repeats nothing, and the
role is told.
"""

import json
from pathlib import Path

import pytest

from tests.whole.full_plays import events
from tests.whole.plays import REQUEST, Play, ask, say

pytestmark = pytest.mark.slow

PROGRAM = "import sys, time; open(sys.argv[1], 'a').write('once'); time.sleep(60)"


def test_an_action_outside_that_a_crash_cut_off_is_not_repeated_and_the_role_is_told(
    play: Play, agentforge_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "opened" / "log"
    log.parent.mkdir()
    opened = {"roots": [{"path": str(log.parent), "write": True}]}
    (agentforge_home / "config.yaml").write_text(json.dumps(opened))
    publish = {"name": "run_command", "args": {"argv": ["python", "-c", PROGRAM, str(log)]}}
    play.person.scripted(
        say("patch", publish),
        say("patch", publish, expects=("A person allowed this call of run_command",)),
        ask("patch", expects=("nobody knows whether it was done, so it was not repeated",)),
    )
    words = ("--lane", "hotfix", "--model", f"scripted:{play.person.script}", "--json")
    done = play.person.run("start", REQUEST, *words)
    assert (done.code, done.data["escalation"]["kind"]) == (3, "permission"), done.said
    play.person.run_and_kill_at("leaves the sandbox", "resolve", "ESC-001", "--answer", "allow", "--json")
    left = [event for event in events(play.top) if event["type"] == "action_left"]
    assert [(event["number"], event["name"]) for event in left] == [(1, "run_command")]
    done = play.person.run("continue", "--json")
    assert (done.code, done.data["escalation"]["kind"]) == (3, "question"), done.said
    assert not log.exists() or log.read_text() == "once"
    told = [event for event in events(play.top) if event["type"] == "actions_performed"]
    assert [event["results"][0].get("mistake") for event in told[:2]] == ["asked", "outcome_unknown"]
    assert len([event for event in events(play.top) if event["type"] == "action_left"]) == 1
