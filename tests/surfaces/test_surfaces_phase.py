"""`agentforge phase` as people and scripts meet it: files, words, exit codes, and what it never touches."""

import fcntl
import itertools
import os
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentforge.catalog.phases import PHASES, workflow
from tests.phases.desk import argue, fill
from tests.surfaces.scene import Scene, make_scene

STATE = ".claude/forge/active-workflow.md"
DEBATE = ("--debate", "-d", "--no-debate", "-D")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(
        tmp_path, {"lib/shop.rb": "def total(prices) = prices.sum\n", "docs/guide.md": "# Shop\n"}
    )


@dataclass
class OnDisk(MutableMapping[str, str]):
    """The files of a checkout, as the people at its desk see them."""

    top: Path

    def __getitem__(self, path: str) -> str:
        return (self.top / path).read_text(encoding="utf-8")

    def __setitem__(self, path: str, text: str) -> None:
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).write_text(text, encoding="utf-8")

    def __delitem__(self, path: str) -> None:
        (self.top / path).unlink()

    def __iter__(self) -> Iterator[str]:
        return (path.relative_to(self.top).as_posix() for path in self.top.rglob("*") if path.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _elsewhere(files: OnDisk) -> dict[str, str]:
    """What no workflow may touch."""
    ours = (".claude/forge/", "docs/forge/", "workflows/", ".agentforge/")
    kept = [path for path in files if not path.startswith(ours) and not path.startswith(".git/")]
    return {path: files[path] for path in kept}


@pytest.mark.slow
def test_ten_phases_with_a_debate_by_hand_through_the_command(scene: Scene) -> None:
    files = OnDisk(scene.top)
    before, head = _elsewhere(files), scene.git("rev-parse", "HEAD")
    assert scene.data("phase", "start", "Let users log in", "--issue", "PROJ-1")["action"] == "started"
    for phase in PHASES[1:]:
        command = phase if phase not in ("build", "validate") else "continue"  # no model here
        entered = scene.data("phase", command)
        assert entered["action"] == "entered", phase
        waiting = scene.run("phase", "continue")
        assert waiting.returncode == 3, waiting.stdout
        assert "Missing:" in waiting.stdout
        assert scene.run("phase", "status").returncode == 1
        fill(files, phase)
        done = scene.data("phase", "continue")
        if done["action"] == "planned_debate":
            assert phase == "brainstorm"
            name = done["state"]["debate_id"]
            assert scene.run("phase", "status").returncode == 2
            told = scene.run("phase", "debate", "--status", "--id", name)
            assert told.returncode == 3
            assert "INCOMPLETE, 1/5 files, gate BLOCKED" in told.stdout
            assert "missing: advocate.md" in told.stdout
            argue(files, name)
            assert scene.data("phase", "debate", "--status")["complete"] is True
            done = scene.data("phase", "continue")
        assert done["action"] == "completed", (phase, done["waiting"])
    status = scene.run("phase", "status")
    assert status.returncode == 0, status.stdout
    assert scene.data("phase", "status")["status"] == "complete"
    assert "is complete" in scene.run("phase", "continue").stdout
    for one, other in itertools.pairwise(PHASES):
        assert f"docs/forge/handoffs/{one}-to-{other}.md" in files
    for each in workflow().phases.values():
        assert not each.artifact or f"docs/forge/{each.artifact}" in files
    assert any(path.startswith(".claude/forge/archive/workflow-forge-") for path in files)
    assert _elsewhere(files) == before
    assert scene.git("rev-parse", "HEAD") == head
    assert "issue: PROJ-1\n" in files[STATE]


def test_status_has_the_exit_codes_that_scripts_read_and_64_for_its_own_mistakes(scene: Scene) -> None:
    none = scene.run("phase", "status")
    assert none.returncode == 3
    assert none.stdout.startswith("There is no workflow here")
    assert scene.run("phase", "status", "--nonsense").returncode == 64
    assert scene.run("phase", "status", "--repo", "nowhere").returncode == 64
    assert scene.run("phase", "start", "x").returncode == 0
    files = OnDisk(scene.top)
    files[STATE] = files[STATE].replace("phase: init", "phase: [init")
    broken = scene.run("phase", "status")
    assert broken.returncode == 3
    assert "--repair" in broken.stdout
    refused = scene.run("phase", "continue")
    assert refused.returncode == 2
    assert "agentforge phase continue --repair" in refused.stderr
    mended = scene.run("phase", "continue", "--repair")
    assert mended.returncode == 0
    assert "Fixed:" in mended.stdout
    assert scene.run("phase", "status").returncode == 1


def test_a_missing_file_is_named_and_a_file_that_is_no_text_too(scene: Scene) -> None:
    scene.run("phase", "start", "x")
    (scene.top / "docs/forge/handoffs/init-to-brainstorm.md").unlink()
    done = scene.run("phase", "brainstorm")
    assert done.returncode == 2
    assert "docs/forge/handoffs/init-to-brainstorm.md is missing" in done.stderr
    (scene.top / "docs/forge/notes.md").write_bytes(b"\xff\xfe")
    assert "docs/forge/notes.md is not text in UTF-8" in scene.run("phase", "continue").stderr


def test_links_are_refused_and_what_they_point_to_stays(scene: Scene, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (scene.top / "docs").mkdir(exist_ok=True)
    (scene.top / "docs/forge").symlink_to(outside)
    done = scene.run("phase", "start", "x")
    assert done.returncode == 4
    assert "docs/forge is a link" in done.stderr
    assert list(outside.iterdir()) == []
    (scene.top / "docs/forge").unlink()
    assert scene.run("phase", "start", "x").returncode == 0
    kept = outside / "kept.md"
    kept.write_text("theirs", encoding="utf-8")
    (scene.top / "docs/forge/phases").mkdir()
    (scene.top / "docs/forge/phases/brainstorm.md").symlink_to(kept)
    done = scene.run("phase", "brainstorm")
    assert done.returncode == 4
    assert "docs/forge/phases/brainstorm.md is a link" in done.stderr
    assert kept.read_text(encoding="utf-8") == "theirs"
    (scene.top / "docs/forge/phases/brainstorm.md").unlink()
    (scene.top / "docs/forge/phases/brainstorm.md").mkdir()
    done = scene.run("phase", "brainstorm")
    assert done.returncode == 4
    assert "docs/forge/phases/brainstorm.md is to be written, and is no file" in done.stderr
    state = scene.top / STATE
    state.unlink()
    state.symlink_to(kept)
    assert scene.run("phase", "status").returncode == 3
    assert scene.run("phase", "start", "y").returncode == 4
    assert kept.read_text(encoding="utf-8") == "theirs"


def test_of_two_that_continue_at_once_one_says_so(scene: Scene) -> None:
    scene.run("phase", "start", "x")
    fd = os.open(scene.top / ".claude/forge", os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        done = scene.run("phase", "continue")
        assert done.returncode == 4
        assert "Another command is working on this workflow." in done.stderr
        assert scene.run("phase", "status").returncode == 1  # whoever only looks is not held up
    finally:
        os.close(fd)
    assert scene.run("phase", "continue").returncode == 0


def test_debates_are_planned_forced_skipped_and_written_again(scene: Scene) -> None:
    files = OnDisk(scene.top)
    scene.run("phase", "start", "x")
    assert scene.run("phase", "debate", "--plan").returncode == 2
    scene.run("phase", "brainstorm", "--debate")
    fill(files, "brainstorm")
    planned = scene.data("phase", "debate", "--plan", "--topic", "Which way?")
    plan = f"docs/forge/debate/{planned['state']['debate_id']}/debate-plan.md"
    assert "## Objective\n\nWhich way?\n" in files[plan]
    for role in ("advocate", "skeptic", "operator", "synthesizer"):
        assert f"### {role}" in files[plan]
    files[plan] += "\nA remark of ours.\n"
    options = files["docs/forge/brainstorm-options.md"]
    files["docs/forge/brainstorm-options.md"] = options.replace("Server sessions", "Sessions in a table")
    assert scene.run("phase", "debate", "--regenerate", "--topic", "Which way now?").returncode == 3
    assert "**Sessions in a table**" in files[plan]
    assert "Which way now?" in files[plan]
    assert files[plan].endswith("\nA remark of ours.\n")
    skipped = scene.run("phase", "brainstorm", "-D")
    assert skipped.returncode == 0, skipped.stdout
    assert re.search(
        r"override +brainstorm: the debate \S+ was given up", scene.run("phase", "status").stdout
    )
    unknown = scene.run("phase", "debate", "--status", "--id", "brainstorm-1")
    assert unknown.returncode == 2
    assert "There is no debate brainstorm-1." in unknown.stderr


def test_every_phase_takes_the_flags_of_debates(scene: Scene) -> None:
    scene.run("phase", "start", "x")
    for phase in ("research", "design", "plan", "test", "build", "validate", "review", "learn"):
        done = scene.run("phase", phase, *DEBATE, "--json")
        assert done.returncode == 2, phase
        assert f"{phase} cannot begin" in done.stderr
    assert scene.data("phase", "continue", "-d", "--debate", "--no-debate")["action"] == "entered"


def test_saving_keeps_a_copy_of_the_state(scene: Scene) -> None:
    assert scene.run("phase", "save").returncode == 2
    scene.run("phase", "start", "x")
    path = scene.data("phase", "save")["snapshot"]
    files = OnDisk(scene.top)
    assert files[path] == files[STATE]


def test_criteria_to_abort_are_watched_and_one_that_comes_true_reopens_its_debate(scene: Scene) -> None:
    files = OnDisk(scene.top)
    scene.run("phase", "start", "x")
    scene.run("phase", "brainstorm")
    fill(files, "brainstorm")
    name = scene.data("phase", "continue")["state"]["debate_id"]
    argue(files, name)
    synthesis = f"docs/forge/debate/{name}/synthesis.md"
    start, end = files[synthesis].index("- Login latency"), files[synthesis].index("## Fallback Plan")
    criteria = """\
- Latency: p95 over 200 ms
  - Detection: dashboard
- Contract: unsigned
  - Detection: date 2999-01-31
- Marker: somebody gave up
  - Detection: file GIVE-UP
  - Fallback: Server sessions
- Rework: too much of it
  - Detection: metric rework_rate over 0.5
- Old test: red
  - Detection: test tests/test_x.py::test_y
- Licence: missing
  - Detection: command `test -f LICENCE.txt`

"""
    files[synthesis] = files[synthesis][:start] + criteria + files[synthesis][end:]
    assert scene.run("phase", "continue").returncode == 0

    looked = scene.data("phase", "check")
    assert {each["condition"]: each["status"] for each in looked["switches"]} == {
        "Latency": "person",
        "Contract": "holds",
        "Marker": "holds",
        "Rework": "not_run",
        "Old test": "not_run",
        "Licence": "not_run",
    }
    assert "--allow-commands" in looked["switches"][-1]["detail"]
    (scene.top / "GIVE-UP").write_text("", encoding="utf-8")
    fired = scene.run("phase", "check", "--allow-commands")
    assert fired.returncode == 3
    assert "CAME TRUE" in fired.stdout
    assert "for a person" in fired.stdout
    assert "Fallback of “Marker”: Server sessions" in fired.stdout
    state = scene.data("phase", "status")["state"]
    assert (state["phase_status"], state["debate_status"]) == ("blocked", "pending")
    assert "Reconsider D1" in files[f"docs/forge/debate/{state['debate_id']}/debate-plan.md"]
    again = scene.data("phase", "check")
    assert again["reopened"] == state["debate_id"]  # not another one
    licence = again["switches"][-1]
    assert licence["status"] in ("fired", "not_run")  # it ran, or there is no sandbox here
    if licence["status"] == "fired":
        assert licence["detail"] == "it ended with 1"
