"""`agentforge phase` as people and scripts meet it: files, words, exit codes, and what it never touches."""

import fcntl
import itertools
import multiprocessing
import multiprocessing.synchronize
import os
import re
import shutil
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentforge.app.workflow.log import append_line, read_logged
from agentforge.app.workflow.phasing import Checkout, continue_workflow
from agentforge.catalog.phases import PHASES, workflow
from agentforge.core.errors import PolicyError
from agentforge.phases.log import LOG, read_log
from agentforge.system.canon import digest
from tests.depth import telling
from tests.phases.desk import argue, decided_desk, fill
from tests.surfaces.scene import CODE, TEST, Scene, make_scene
from tests.surfaces.test_surfaces_audit import keep

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
    assert "docs/forge/phases/brainstorm.md has to be written, but it is not a file" in done.stderr
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


def _go_on(top: Path, start: "multiprocessing.synchronize.Barrier") -> None:
    """Go on with a workflow, at the same instant as somebody else; the exit code says how it ended."""
    checkout = replace(Checkout.open(top, command="race"), clock=lambda: datetime(2030, 1, 31, tzinfo=UTC))
    start.wait(120)
    try:
        continue_workflow(checkout)
    except PolicyError:
        os._exit(4)
    os._exit(0)


@pytest.mark.slow
def test_of_two_processes_that_race_one_wins_and_one_says_so_and_the_files_are_whole(scene: Scene) -> None:
    """Both begin at the same instant, again and again: what is left is what one of them would leave alone, or
    what both would leave in turn.
    """
    scene.run("phase", "start", "x")
    fresh = scene.top.parent / "fresh"
    shutil.copytree(scene.top, fresh)
    fork = multiprocessing.get_context("fork")

    def ends(together: int, rounds: int) -> tuple[list[int], dict[str, str]]:
        shutil.rmtree(scene.top)
        shutil.copytree(fresh, scene.top)
        codes = []
        for _ in range(rounds):
            start = fork.Barrier(together)
            both = [fork.Process(target=_go_on, args=(scene.top, start)) for _ in range(together)]
            for each in both:
                each.start()
            for each in both:
                each.join(120)
            codes += sorted(each.exitcode or 0 for each in both)
        assert read_logged(scene.top).log.broken == ""
        files = OnDisk(scene.top)
        return codes, {path: files[path] for path in files if path.startswith((".claude/", "docs/forge/"))}

    alone = [ends(1, rounds)[1] for rounds in (1, 2)]
    seen = []
    for _ in telling(range(60), 8):
        codes, left = ends(2, 1)
        seen.append(codes)
        assert codes in ([0, 0], [0, 4])
        assert left == alone[0] if codes == [0, 4] else left in alone
    assert [0, 4] in seen  # it was a race


def test_the_log_names_every_command_and_what_was_changed_beside_it(scene: Scene) -> None:
    assert scene.run("phase", "log").stdout == "Nothing is logged here yet.\n"
    files, log = OnDisk(scene.top), scene.top / LOG
    scene.run("phase", "start", "x")
    scene.run("phase", "brainstorm")
    assert scene.run("phase", "continue").returncode == 3  # the first time it writes what is missing
    time.sleep(1.1)  # a copy of the same second is the same file
    scene.run("phase", "save")
    found = scene.data("phase", "log")
    assert [(line["command"], line["did"]) for line in found["lines"]][:2] == [
        ("agentforge phase start", "started"),
        ("agentforge phase brainstorm", "entered"),
    ]
    assert found["lines"][-1]["why"] == "a copy was asked for"
    assert (found["broken"], found["changed"], found["gone"]) == (None, [], [])
    entered = {each["path"]: each for each in found["lines"][1]["files"]}
    started = {each["path"]: each["after"] for each in found["lines"][0]["files"]}
    assert entered[STATE]["before"] == started[STATE]
    assert entered["docs/forge/phases/brainstorm.md"]["before"] is None
    last = {each["path"]: each["after"] for line in found["lines"] for each in line["files"]}
    assert all(last[path] == digest(files[path]) for path in last)

    count = len(log.read_bytes().splitlines())
    scene.run("phase", "continue")
    scene.run("phase", "status")
    assert len(log.read_bytes().splitlines()) == count  # what changes nothing is not noted
    fill(files, "brainstorm")
    (scene.top / "docs/forge/knowledge/glossary.md").unlink()
    found = scene.data("phase", "log")
    assert "docs/forge/phases/brainstorm.md" in found["changed"]
    assert found["gone"] == ["docs/forge/knowledge/glossary.md"]


def test_a_log_that_was_changed_says_where_and_without_one_everything_goes_on(
    scene: Scene, tmp_path: Path
) -> None:
    log = scene.top / LOG
    scene.run("phase", "start", "x")
    scene.run("phase", "brainstorm")
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b'"did":"started"', b'"did":"entered"'))
    told = scene.run("phase", "log")
    assert told.returncode == 1
    assert "This log was changed: line 2 does not follow the line before it." in told.stdout
    log.write_bytes(whole.splitlines(keepends=True)[1])
    assert scene.data("phase", "log")["broken"] == "line 1 does not follow the line before it"
    line = read_log(whole).lines[0]
    for data in (whole[:-20], b"\xff\x00 nonsense", b"[" * 100_000, b"1\n{}\n"):  # a power cut, and worse
        log.write_bytes(data)
        append_line(scene.top, line)
        found = read_logged(scene.top).log
        assert found.lines[-1] == line
        assert "cannot be read" in found.broken
        assert log.read_bytes().startswith(data)
    log.unlink()
    fill(OnDisk(scene.top), "brainstorm")
    assert scene.run("phase", "continue").returncode == 3
    (again,) = scene.data("phase", "log")["lines"]
    assert (again["did"], again["why"]) == ("planned_debate", "this phase always has one")
    log.unlink()
    kept = tmp_path / "kept"
    kept.write_text("theirs", encoding="utf-8")
    log.symlink_to(kept)
    state = (scene.top / STATE).read_bytes()
    refused = scene.run("phase", "continue", "--no-debate")
    assert (refused.returncode, kept.read_text(encoding="utf-8")) == (4, "theirs")
    assert "log.jsonl is a link" in refused.stderr
    assert (scene.top / STATE).read_bytes() == state


def test_debates_are_planned_forced_skipped_and_written_again(scene: Scene) -> None:
    files = OnDisk(scene.top)
    scene.run("phase", "start", "x")
    assert scene.run("phase", "debate", "--plan").returncode == 2
    scene.run("phase", "brainstorm", "--debate")
    fill(files, "brainstorm")
    named = scene.run("phase", "debate", "--plan", "--id", "mine")
    assert named.returncode == 2
    assert "--id has no effect with `--plan`. A new debate gets its id" in " ".join(named.stderr.split())
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


def test_what_a_refusal_tells_to_type_leads_on_until_there_is_a_debate(scene: Scene) -> None:
    scene.run("phase", "start", "x")
    assert "`agentforge phase continue` enters the next one, brainstorm" in scene.run("phase", "plan").stderr
    typed: list[str] = []
    while (done := scene.run("phase", "debate", "--status")).returncode == 2:
        hint = re.search(r"`agentforge ([^`]+)`", done.stderr)
        assert hint is not None, done.stderr
        assert hint[1] not in typed, "the same again leads nowhere"
        typed.append(hint[1])
        assert scene.run(*hint[1].split()).returncode in (0, 3), typed
        fill(OnDisk(scene.top), "brainstorm")
    assert typed == ["phase continue", "phase debate --plan"]


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_test_a_check_and_a_metric_are_looked_at_and_each_that_comes_true_reopens_the_debate(
    tmp_path: Path,
) -> None:
    rule = (
        "check: no-sleep\nkind: regex\ndescription: nothing waits here\nfix_hint: Wait for an event.\n"
        "pattern: '\\bsleep\\('\nexamples: {failing: ['time.sleep(1)'], passing: ['wait(1)']}\n"
    )
    code = {"greeting.py": CODE, "tests/test_greeting.py": TEST, ".agentforge/checks/no-sleep.yaml": rule}
    scene = make_scene(tmp_path, code)
    files = OnDisk(scene.top)
    criteria = """\
- Greeting: it fails
  - Detection: test tests/test_greeting.py::test_it_greets
- Unknown: it fails
  - Detection: test tests/test_gone.py::test_nobody_wrote
- Sleep: somebody waits
  - Detection: check no-sleep
- Work: too many tasks
  - Detection: metric tasks over 1
"""
    desk = decided_desk(criteria)
    for path, text in desk.files.items():
        files[path] = text

    def looked() -> dict[str, str]:
        for folder in (scene.top / "docs/forge/debate").glob("research-*"):
            shutil.rmtree(folder)
        for path, text in desk.files.items():
            files[path] = text
        found = scene.data("phase", "check")
        ends = {each["condition"]: each["status"] for each in found["switches"]}
        state = scene.data("phase", "status")["state"]
        assert (state["phase_status"] == "blocked") is ("fired" in ends.values())
        if "fired" in ends.values():
            plan = files[f"docs/forge/debate/{state['debate_id']}/debate-plan.md"]
            came_true = "; ".join(name for name, end in ends.items() if end == "fired")
            assert f"Reconsider D1, since this came true: {came_true}" in plan
        told = {each["condition"]: each["detail"] for each in found["switches"]}
        assert told["Unknown"] == "tests/test_gone.py is not a file of the commit that is checked out"
        return ends

    calm = {"Greeting": "holds", "Unknown": "not_run", "Sleep": "holds", "Work": "holds"}
    files["greeting.py"] = CODE.replace("Hello ", "Goodbye ")  # not committed
    assert looked() == calm
    files["slow.py"] = "import time\n\ntime.sleep(1)\n"
    assert looked() == {**calm, "Sleep": "fired"}
    (scene.top / "slow.py").unlink()
    for name in ("v1-hotfix-revised", "v1-waiting-for-a-person"):
        keep(scene.top, f"task-{name}", name)
    scene.run("status")
    assert looked() == {**calm, "Work": "fired"}
    scene.git("commit", "-qam", "Another greeting")
    assert looked() == {**calm, "Work": "fired", "Greeting": "fired"}
    assert scene.git("for-each-ref", "refs/agentforge") == ""
