"""Every command line of the specification, typed as it is written there (`command_lines.yaml`)."""

import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentforge.system import strict_yaml
from tests import forked
from tests.depth import SOAK
from tests.forked import COMMAND
from tests.whole.checkouts import git
from tests.whole.full_plays import SECURITY, analyze, approves, intake, newest, spec
from tests.whole.plays import FRAMED, TEST, Play, ask, finished, patch, review

HERE = Path(__file__).parent
ROWS: list[dict[str, Any]] = strict_yaml.load_settings(
    (HERE / "command_lines.yaml").read_text(encoding="utf-8"), "command_lines.yaml"
)  # type: ignore[assignment]  # a list of rows
STAGES = ("intake", "clarify", "analyze", "spec", "red", "green", "frame", "patch", "refactor")
SPEC = strict_yaml.dump({"specification": FRAMED["specification"]})
PIPELINE = HERE.parent / "catalog/specified/13_5_pipeline_design.yaml"

pytestmark = pytest.mark.slow


def prepared(play: Play) -> Play:
    """The shop, with everything that the lines name by path; its model asks wherever it is asked."""
    play.person.write(
        {
            "src/auth/__init__.py": "def login() -> None:\n    pass\n",
            "path/part.py": "PART = 1\n",
            "spec.yaml": SPEC,
            "custom.yaml": PIPELINE.read_text(encoding="utf-8"),
            "custom-pipeline.yaml": PIPELINE.read_text(encoding="utf-8"),
        }
    )
    play.person.commit_all()
    play.person.write(
        {"tests/test_net.py": TEST.replace("off() -> None:", 'off() -> None:\n    """REQ-001"""')}
    )
    play.person.variables["AGENTFORGE_MODEL"] = f"scripted:{play.person.script}"
    asks_at_once(play)
    return play


def asks_at_once(play: Play) -> None:
    play.person.scripted(*(ask(stage) for stage in STAGES for _ in range(2)))


# ------------------------------------------------------------------ moments


def _newest(play: Play) -> dict[str, str]:
    return {"task_id": newest(play.top).name}


def finished_task(play: Play) -> dict[str, str]:
    play.person.scripted(patch(), review())
    finished(
        play.person.run("start", "net must take the discount off the price", "--lane", "hotfix", "--json")
    )
    return {**_newest(play), "p": "patch", "n": "1"}


def designs(play: Play) -> None:
    titles = ("net takes the discount off", "net takes the discount off, and no more than the price")
    versions = [entry for title in titles for entry in (spec(title), approves("spec", SECURITY))]
    play.person.scripted(intake(), analyze(), *versions)


def designed_task(play: Play) -> dict[str, str]:
    designs(play)
    finished(play.person.run("design", "net must take the discount off the price", "--json"))
    return _newest(play)


def waiting_task(play: Play) -> dict[str, str]:
    asks_at_once(play)
    done = play.person.run("design", "net must take the discount off the price", "--json")
    assert done.code == 3, done.said
    return {**_newest(play), "escalation_id": str(done.data["escalation"]["id"])}


def registered(play: Play) -> dict[str, str]:
    """Three repositories beside the shop, each under its name."""
    for name in ("backend-service", "api-gateway", "data-layer"):
        place = play.top.parent / name
        git(play.top.parent, "clone", "-q", str(play.top), str(place))
        done = play.person.run("repo", "add", str(place), "--name", name)
        assert done.code == 0, done.said
    return {}


def presented_task(play: Play) -> dict[str, str]:
    """A specification that waits for somebody's word."""
    designs(play)
    done = play.person.run("design", "net must take the discount off the price", "--iterate", "--json")
    assert done.code == 3, done.said
    return _newest(play)


def violated(play: Play) -> dict[str, str]:
    """The name of something that a check has found."""
    swallows = "def part(shelf):\n    try:\n        return shelf[0]\n    except:\n        return 0\n"
    settings = "conformance:\n  checks:\n    error-handling: {blocks: always}\n"
    play.person.write({"path/part.py": swallows, ".agentforge/config/settings.yaml": settings})
    play.person.git("add", "path", ".agentforge/config")
    play.person.git("commit", "-q", "-m", "A violation")
    name = str(play.person.run("check", "path", "--json").data["violations"][0]["id"])
    return {"violation_id": name}


MOMENTS: dict[str, Callable[[Play], dict[str, str]]] = {
    "nothing": lambda _: {},
    "finished": finished_task,
    "designed": designed_task,
    "waiting": waiting_task,
    "registered": registered,
    "designed_anew": designed_task,
    "presented": presented_task,
    "violated": violated,
}
GROUPS = {"pipelines", "escalations", "config", "repo"}
AFRESH = {"waiting", "designed_anew", "presented"}
"""Moments that a line changes: each line has its own."""


# ------------------------------------------------------------------ lines


def words_of(line: str, known: dict[str, str]) -> list[str]:
    """The words after `agentforge`, with what a reader would have in the place of what stands for it."""
    task = known.get("task_id", "")
    line = re.sub(r"\{task_id\}|task-123(?:-[\w-]+)?|task-2025[\w-]+", task, line)
    for name, value in known.items():
        line = line.replace(f"{{{name}}}", value)
    line = re.sub(r"V-[0-9a-f]{12}", known.get("violation_id", ""), line)
    line = re.sub(r"--step 23\b", "--step 1", line)
    return shlex.split(line)[1:]


def unlike(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that have a command, an option or a moment that none before them has."""
    seen: set[str] = set()
    found = []
    for row in rows:
        words = re.sub(r'"[^"]*"', "…", str(row["line"])).split()[1:]
        commands = [" ".join(words[:2]) if words[0] in GROUPS else words[0]]
        shown = {*commands, *(word for word in words if word.startswith("--")), f"given {row.get('given')}"}
        if not shown <= seen:
            found.append(row)
            seen |= shown
    return found


def test_every_line_does_what_it_says(play: Play) -> None:
    prepared(play)
    known: dict[str, dict[str, str]] = {}
    for row in ROWS if SOAK else unlike(ROWS):
        if row.get("follows"):
            continue
        given = str(row.get("given", "nothing"))
        if given not in known or given in AFRESH:
            known[given] = MOMENTS[given](play)
        (designs if row.get("model") == "designs" else asks_at_once)(play)
        _run(play, row, {**known[given], "path": str(play.top), "name": "design"})


def _run(play: Play, row: dict[str, Any], known: dict[str, str]) -> None:
    words = words_of(str(row["line"]), known)
    done = play.person.run(*words)
    expected = row.get("exit", 3 if "task" in row else 0)
    assert done.code == expected, f"{row['line']}\n{done.said}"
    for text in row.get("says", ()):
        assert str(text) in done.out, f"{row['line']}\n{done.said}"
    for text in row.get("says_err", ()):
        assert str(text) in done.err, f"{row['line']}\n{done.said}"
    if "status" in row:
        found = play.person.run("status", known.get("task_id") or newest(play.top).name, "--json").data
        assert found["state"] == row["status"], f"{row['line']}\n{found}"
    if "task" in row:
        top = play.top.parent / words[words.index("--repo") + 1] if "--repo" in words else play.top
        state: Any = strict_yaml.load((newest(top) / "state.yaml").read_text(), "state.yaml")
        found = state["pipeline"]
        names = {"pipeline": "template", "entry": "entry_stage", "exit": "exit_stage"}
        for key, value in row["task"].items():
            assert found[names[key]] == value, f"{row['line']}: {key} is {found[names[key]]}"


def test_the_installed_command_takes_them_too_and_follows_until_it_is_told_to_stop(play: Play) -> None:
    prepared(play)
    for line in ('agentforge start "request" --exit-after analyze', "agentforge pipelines show design"):
        words = words_of(line, {})
        done = subprocess.run(
            [COMMAND, *words], cwd=play.top, env=play.person.environment(), capture_output=True, check=False
        )
        assert done.returncode == (3 if words[0] == "start" else 0), done.stderr
    (row,) = [row for row in ROWS if row.get("follows")]
    with forked.ForkedCommand(
        [COMMAND, *words_of(str(row["line"]), {})],
        cwd=play.top,
        env=play.person.environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        assert any("request" in line for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        watching.stdout.read()
    assert watching.returncode in (0, 130)
