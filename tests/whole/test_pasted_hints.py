"""Every command that a sentence or a line under *Next:* tells a person to type is pasted by somebody in the shop
(`hints.yaml`): it finds what it is about, and ends as it says.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentforge.system import strict_yaml
from tests.depth import SOAK
from tests.whole import test_command_lines as lines
from tests.whole.checkouts import patch as calc_patch
from tests.whole.full_plays import newest
from tests.whole.plays import Play, ask

HINTS: list[dict[str, Any]] = strict_yaml.load_settings(
    Path(__file__).with_name("hints.yaml").read_text(encoding="utf-8"), "hints.yaml"
)  # type: ignore[assignment]  # a list of rows
PASTED = sorted(
    (row for row in HINTS if "shown_by" not in row),
    key=lambda row: (
        row.get("given") != "finished",
        str(row["hint"]).startswith(("agentforge start", "agentforge merge")),
        str(row["hint"]) == "agentforge merge {}",
    ),
)
"""First what is about the newest task and a checkout in which nothing lies about; what changes that comes last."""

pytestmark = pytest.mark.slow


CHEAP = ("granted", "nothing", "phased", "presented", "twice", "unset", "waiting")


def stuck_task(play: Play) -> dict[str, str]:
    """One whose model says the same again and again, and a model that does not."""
    play.person.scripted(calc_patch(done=False), calc_patch(done=False))
    done = play.person.run("start", "net must take the discount off", "--lane", "hotfix", "--json")
    assert done.code == 3, done.said
    other = play.person.script.with_name("other.yaml")
    play.person.scripted(*(ask("patch") for _ in range(6)))
    other.write_bytes(play.person.script.read_bytes())
    return {"task_id": newest(play.top).name, "model": f"scripted:{other}"}


def finished_task(play: Play) -> dict[str, str]:
    """A finished task whose files nobody has in the way."""
    (play.top / "tests/test_net.py").unlink()
    return lines.finished_task(play)


def without_workflow(play: Play) -> dict[str, str]:
    (play.top / ".claude/forge/active-workflow.md").unlink(missing_ok=True)
    return {}


def two_tasks(play: Play) -> dict[str, str]:
    lines.asks_at_once(play)
    for _ in range(2):
        assert play.person.run("design", "net must take the discount off", "--json").code == 3
    return {}


def without_settings(play: Play) -> dict[str, str]:
    for path in (play.top / ".agentforge/config").glob("*"):
        path.unlink()
    return {}


def granted(play: Play) -> dict[str, str]:
    done = play.person.run("permissions", "allow", "run_command", "--command", "make docs", "--json")
    assert done.code == 0, done.said
    return {"grant": str(done.data["id"])}


def in_a_workflow(play: Play) -> dict[str, str]:
    play.person.run("phase", "start", "Take discounts off")
    return {}


MOMENTS: dict[str, Callable[[Play], dict[str, str]]] = {
    **lines.MOMENTS,
    "finished": finished_task,
    "granted": granted,
    "phased": in_a_workflow,
    "stuck": stuck_task,
    "twice": two_tasks,
    "unset": without_settings,
    "without_workflow": without_workflow,
}
AFRESH = {"designed_anew", "granted", "presented", "stuck", "unset", "waiting", "without_workflow"}
"""Moments that a line changes: each line has its own."""


def test_every_hint_does_what_it_says(play: Play) -> None:
    """In a soak all of them; else one of each cheap moment."""
    lines.prepared(play)
    known: dict[str, dict[str, str]] = {}
    wrong = []
    for row in PASTED if SOAK else first_of_each_moment():
        given = str(row.get("given", "nothing"))
        if given not in known or given in AFRESH:
            known[given] = MOMENTS[given](play)
        lines.asks_at_once(play)
        names = {"model": f"scripted:{play.person.script}", "escalation_id": "ESC-001", **known[given]}
        done = play.person.run(*lines.words_of(str(row.get("line", row["hint"])), names))
        ends = row.get("exit", 0)
        if done.code not in (ends if isinstance(ends, list) else [ends]):
            wrong.append(f"{row['hint']}: exit {done.code}\n{done.said.strip()[-600:]}")
    assert not wrong, "\n".join(wrong)


def first_of_each_moment() -> list[dict[str, Any]]:
    """Of the moments that take no environment of the project to get to."""
    seen: dict[str, dict[str, Any]] = {}
    for row in PASTED:
        if (given := str(row.get("given", "nothing"))) in CHEAP:
            seen.setdefault(given, row)
    return [*seen.values()]
