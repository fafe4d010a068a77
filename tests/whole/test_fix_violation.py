"""Checks in a task: a violation that was found, from its name to a verified branch; a role that makes a new
one, and one that loosens what judges it.
"""

import json

import pytest

from tests.whole.checkouts import git
from tests.whole.plays import BUILT as DISCOUNTED
from tests.whole.plays import SOURCE, Play, create, edit, frame, green, red, review, say

pytestmark = pytest.mark.slow

SETTINGS = "conformance:\n  checks:\n    error-handling: {blocks: always}\n"
CODE = "shop/stock.py"
SWALLOWS = (
    "def amount(shelf, name):\n    '''How many there are.'''\n    try:\n        return int(shelf[name])\n"
    "    except:\n        return 0\n"
)
OLD = "    except:\n"
NEW = "    except (KeyError, ValueError):\n"
TEST = "from shop.stock import amount\n\n\ndef test_none() -> None:\n    assert amount({}, 'tea') == 0\n"
ANALYSIS = {"analysis": {"impacted_files": [{"path": CODE, "reason": "it swallows errors"}]}}
BUILT = {"implementation": {"summary": "the expected errors are named"}}


@pytest.fixture
def found(play: Play) -> str:
    """The name of the one violation of the shop."""
    play.person.write(
        {CODE: SWALLOWS, "tests/test_stock.py": TEST, ".agentforge/config/settings.yaml": SETTINGS}
    )
    play.person.commit_all()
    done = play.person.run("check", "--json")
    assert done.code == 1
    (violation,) = done.data["violations"]
    return str(violation["id"])


def test_a_planted_violation_ends_in_a_verified_branch(play: Play, found: str) -> None:
    play.person.scripted(
        say("analyze", artifacts=ANALYSIS, signal="success"),
        # The line looks otherwise, and is as bad as before.
        say("green", edit(CODE, OLD, "    except:  # noqa: S110\n"), artifacts=BUILT, signal="success"),
        say(
            "green",
            edit(CODE, "    except:  # noqa: S110\n", NEW),
            artifacts=BUILT,
            signal="success",
            expects=(f"{found} is still there", "error-handling"),
        ),
    )
    model = f"scripted:{play.person.script}"
    done = play.person.run("fix", found, "--model", model, "--json")
    assert done.code == 0, done.err
    branch = done.data["branch"]
    assert NEW in git(play.top, "show", f"{branch}:{CODE}")
    assert git(play.top, "diff", "--name-only", "HEAD", branch).split() == [CODE]
    evidence = play.person.run("verify", done.data["task_id"])
    assert evidence.code == 0, evidence.err
    play.person.run("merge", done.data["task_id"])
    gone = play.person.run("fix", found, "--model", model)
    assert (gone.code, f"{found} (error-handling in {CODE}) is not in the commit" in gone.err) == (2, True)


SWALLOWED = """\
    try:
        return price * (100 - percent) / 100
    except:
        return price
"""


def test_a_role_sees_the_rule_that_its_edit_breaks_and_cannot_switch_it_off(play: Play) -> None:
    """The rules are those of the base: what a role writes into the settings counts for later tasks only."""
    off = "conformance:\n  checks:\n    error-handling: {off: true}\n"
    right = "    return price * (100 - percent) / 100\n"
    source = (play.top / SOURCE).read_text(encoding="utf-8")
    assert "    return price\n" in source
    done = play.start(
        frame(),
        red(),
        say("green", edit(SOURCE, "    return price\n", SWALLOWED), artifacts=DISCOUNTED, signal="success"),
        say(
            "green",
            create(".agentforge/config/settings.yaml", off),
            artifacts=DISCOUNTED,
            signal="success",
            expects=(
                "check_id: error-handling",
                "phase_exit_ready: false",
                "settle error-handling in shop/price.py",
            ),
        ),
        green(edit(SOURCE, SWALLOWED, right), expects=("check_id: error-handling",)),
        review(),
    )
    assert done.code == 0, done.err
    evidence = (play.top / ".agentforge/tasks" / done.data["task_id"] / "evidence.json").read_text("utf-8")
    (judged,) = [row for row in json.loads(evidence)["rows"] if row["gate"] == "green"]
    assert judged["conformance_passing"] is True
    assert "error-handling" in judged["conformance"]["passed"]
    assert "layer-dependencies" in judged["conformance"]["not_configured"]
