"""A project's own tools and plain commands through the installed command: used by a role, asked about once,
and held to its limits.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentforge.store.layout import Home
from agentforge.store.user.consents import consent, consented
from agentforge.system import strict_yaml
from agentforge.tools.run.declared import declared_from_json
from tests.whole.plays import FIX, OLD_TEST, SOURCE, Play, finished, frame, green, red, review, say

COUNT = """\
tool:
  name: count_lines
  description: Counts the lines of files of the shop.
  argv: [wc, -l, --, "{paths}"]
  input: {type: object, properties: {paths: {type: array, items: {type: string}}}, required: [paths]}
  effect: read
  risk: low
  timeout_s: 20
"""
STAMP = """\
tool:
  name: stamp
  description: Writes a mark into a file of the shop.
  argv: [python, -m, shop.stamp, "{file}"]
  input: {type: object, properties: {file: {type: string, maxLength: 100}}, required: [file]}
  effect: write
  risk: medium
  timeout_s: 20
"""
FILES = {
    ".agentforge/tools/count_lines.yaml": COUNT,
    ".agentforge/tools/stamp.yaml": STAMP,
    ".agentforge/agents/software_developer.yaml": 'extends: "agentforge:software_developer"\n'
    "capabilities: {tools: {+allowed: [count_lines, stamp, run_command]}}\n",
    "shop/stamp.py": (
        "import pathlib, sys\n\npathlib.Path(sys.argv[1]).write_text('# "
        "stamped\\n')\nprint('stamped', sys.argv[1])\n"
    ),
}


def call(name: str, **args: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
    return {"name": name, "args": args}


def digest_of(text: str) -> str:
    document: Any = strict_yaml.load(text, "tool.yaml")
    return declared_from_json(document["tool"]).digest


@pytest.mark.slow
def test_a_declared_tool_runs_after_one_consent_and_every_program_is_held_to_the_roles_limits(
    play: Play, agentforge_home: Path
) -> None:
    person, home, project = play.person, Home(agentforge_home), str(play.top.resolve())
    person.write(FILES)
    person.commit_all()
    consent(home, project, digest_of(COUNT), datetime(2030, 1, 1, tzinfo=UTC))
    stopped = play.start(
        frame(),
        red(),
        say(
            "green",
            call("count_lines", paths=[SOURCE]),
            expects=("count_lines", "Counts the lines of files of the shop"),
        ),
        say("green", call("stamp", file="--help"), expects=(rf"\b7 {SOURCE}", "exit code 0")),
        say("green", call("stamp", file=OLD_TEST), expects=("may not begin with a dash",)),
        say("green", call("stamp", file=OLD_TEST)),
        say(
            "green",
            call(
                "run_command",
                argv=["sh", "-c", "yes 'a long line' | head -n 2000; echo x >.pre-commit-config.yaml"],
            ),
            expects=("Everything it changed was undone", OLD_TEST, f"stamped {OLD_TEST}"),
        ),
        green(
            FIX, expects=("people find the whole in outputs/", r"Removed again.*\.pre-commit-config\.yaml")
        ),
        review(),
    )
    assert stopped.code == 3, stopped.said
    assert stopped.data["escalation"]["kind"] == "permission"
    assert f"python -m shop.stamp {OLD_TEST}" in stopped.data["escalation"]["question"]["text"]
    assert not consented(home, project, digest_of(STAMP))
    data = finished(play.answer(stopped, "allow"))
    assert consented(home, project, digest_of(STAMP))
    changed = person.git("diff", "--name-only", data["base"], data["branch"]).splitlines()
    assert sorted(changed) == [SOURCE, "tests/test_net.py"]
    (task,) = (play.top / ".agentforge/tasks").iterdir()
    (kept,) = (task / "outputs").glob("*.txt")
    assert kept.read_text() == "a long line\n" * 2000
