"""The installed command: pipelines listed, drawn and checked, and examples written."""

import os
import pty
from pathlib import Path

import pytest

from agentforge.catalog.check import examples
from tests import forked
from tests.depth import telling
from tests.surfaces.scene import CODE, COMMAND, TEST, Scene, make_scene

SMALL = """\
extends: "agentforge:implement"
pipeline:
  lanes:
    small:
      insert_after:
        green: {name: refactor, skip_if: trivial_change}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})


def write(scene: Scene, path: str, text: str, *, commit: bool = True) -> None:
    (scene.top / path).parent.mkdir(parents=True, exist_ok=True)
    (scene.top / path).write_text(text, encoding="utf-8")
    if commit:
        scene.git("add", "--force", path)
        scene.git("commit", "--quiet", "--message", path)


def uncommented(text: str) -> str:
    return "".join(f"{line[2:]}\n" if line.startswith("# ") else "\n" for line in text.splitlines())


@pytest.mark.slow
def test_pipelines_are_listed_with_their_lanes_and_where_they_are_from(scene: Scene) -> None:
    rows = {row["name"]: row for row in scene.data("pipelines", "list")}
    assert rows["implement"]["lanes"] == ["hotfix", "small", "full"]
    assert {row["from"] for row in rows.values()} == {"packaged"}
    assert {name: row["goal_type"] for name, row in rows.items()} == {
        name: name
        for name in (
            *("analyse", "curate", "debate", "design", "document", "fix", "implement", "research", "review"),
            "test",
            "write",
        )
    }
    write(scene, ".agentforge/pipelines/implement.yaml", SMALL)
    write(scene, ".agentforge/pipelines/broken.yaml", "pipeline:\n  nonsense: 1\n")
    done = scene.run("pipelines", "list")
    assert done.returncode == 2
    assert any(line.split()[0] == "implement" and "project" in line for line in done.stdout.splitlines())
    assert ".agentforge/pipelines/broken.yaml:1: pipeline.name: is missing" in done.stdout


def test_outside_of_a_repository_the_packaged_ones_are_shown(tmp_path: Path, scene: Scene) -> None:
    done = forked.run(("pipelines", "show", "design"), tmp_path, scene.environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert "┌─ spec ─" in done.stdout


def test_a_lane_is_drawn_with_roles_artifacts_gates_and_the_way_back(scene: Scene) -> None:
    done = scene.run("pipelines", "show", "implement", "--lane", "small")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for words in (
        "role      test_engineer",
        "makes     test_suite",
        "gates     red → contracts",
        "none: computed by the engine",
    ):
        assert words in done.stdout
    back, start = (
        next(at for at, line in enumerate(lines) if mark in line)
        for mark in ("◀──┐", "───┘ blocked, at most 3 times")
    )
    assert "software_developer" in lines[back]
    assert "reviewer" in lines[start]
    assert all(line.endswith("│") for line in lines[back + 1 : start])
    assert (
        "rises to full: more than 3 changed files or 200 changed lines, tests aside, or 2 blocking reviews"
        in done.stdout
    )
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in lines[4:-1]) <= 100


def test_a_panel_is_drawn_with_its_mode_its_arbiter_and_what_is_skipped(scene: Scene) -> None:
    write(
        scene,
        ".agentforge/orchestration/stage_config.yaml",
        "stages:\n  red: {reviewers: [reviewer], review_mode: advisory}\n",
    )
    text = scene.run("pipelines", "show", "implement", "--lane", "full").stdout
    for words in (
        "read by   security_architect + reviewer",
        "↺ blocked: back to this stage, at most 3 times",
        "arbiter   reviewer, if they disagree",
        "skipped   if nothing_worse OR trivial_change OR only_tests",
        "advisory: findings are kept, nothing is blocked",
        "files of the project: .agentforge/orchestration/stage_config.yaml",
    ):
        assert words in text


def test_a_drawing_is_data_too_and_names_of_nothing_are_refused(scene: Scene) -> None:
    shown = scene.data("pipelines", "show", "implement")
    assert [lane["lane"] for lane in shown["lanes"]] == ["hotfix", "small", "full"]
    assert shown["lanes"][2]["stages"][3]["reviewers"][0]["role"] == "security_architect"
    assert (
        "There is no pipeline dance. Choose one of analyse" in scene.run("pipelines", "show", "dance").stderr
    )
    refused = scene.run("pipelines", "show", "implement", "--lane", "wide")
    assert refused.returncode == 2
    assert "has no lane wide; its lanes are hotfix, small, full" in refused.stderr


@pytest.mark.slow
def test_a_terminal_gets_colour(scene: Scene) -> None:
    above, below = pty.openpty()
    environ = {**scene.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    with forked.ForkedCommand(
        [COMMAND, "pipelines", "show", "design"], cwd=scene.top, env=environ, stdout=below, stderr=below
    ) as done:
        os.close(below)
        said = b""
        try:
            while part := os.read(above, 65536):
                said += part
        except OSError:  # the terminal of a process that ended
            pass
    os.close(above)
    assert done.returncode == 0
    assert b"\x1b[1m" in said


def test_what_is_not_committed_is_named_and_not_drawn(scene: Scene) -> None:
    write(scene, ".agentforge/pipelines/implement.yaml", SMALL, commit=False)
    before = scene.run("pipelines", "show", "implement", "--lane", "small")
    assert before.stderr == "not committed, so not used: .agentforge/pipelines/implement.yaml\n"
    assert "┌─ refactor ─" not in before.stdout
    write(scene, ".agentforge/pipelines/implement.yaml", SMALL)
    after = scene.run("pipelines", "show", "implement", "--lane", "small")
    assert after.stderr == ""
    assert "┌─ refactor ─" in after.stdout


WRONG = [
    ("agents/reviewer.yaml", 'extends: "agentforge:reviewer"\nnonsense: 1\n', ":2: nonsense: unknown key"),
    ("stages/red.yaml", 'extends: "agentforge:red"\ngates: [contracts]\n', ":2: gates: drops the gate red"),
    (
        "contracts/review.yaml",
        'extends: "agentforge:review"\nvalidation: []\n',
        ":2: validation: drops the rule",
    ),
    (
        "pipelines/implement.yaml",
        SMALL.replace("green:", "dance:"),
        ":6: pipeline.lanes.small.insert_after.dance: there is no stage",
    ),
    (
        "orchestration/stage_config.yaml",
        "stages:\n  spec: {review_mode: advisory}\n",
        ":2: stages.spec.review_mode: makes a blocking",
    ),
    ("agents/reviewer.yaml", "agent: [\n", ":2:1: "),
]


def test_a_wrong_file_is_refused_with_file_line_and_key(scene: Scene) -> None:
    for path, text, said in WRONG:
        name = f".agentforge/{path}"
        write(scene, name, text, commit=False)
        done = scene.run("pipelines", "validate", name)
        assert done.returncode == 2
        assert done.stdout.startswith(f"{name}{said}")
        (scene.top / name).unlink()


def test_a_wrong_file_is_data_too_and_no_task_starts_with_one(scene: Scene) -> None:
    for path, text, said in telling(WRONG, 2):
        name = f".agentforge/{path}"
        write(scene, name, text)
        assert scene.data("pipelines", "validate", name)["valid"] is False
        started = scene.run("start", "Greet the world", "--lane", "small", "--model", scene.script())
        assert started.returncode == 2
        assert f"error: {name}{said}" in started.stderr
        scene.git("rm", "--quiet", name)
        scene.git("commit", "--quiet", "--message", "Taken back")


def test_one_file_is_judged_and_another_broken_one_is_named_apart(scene: Scene) -> None:
    good, broken = ".agentforge/agents/software_developer.yaml", ".agentforge/agents/test_engineer.yaml"
    write(scene, good, 'extends: "agentforge:software_developer"\n', commit=False)
    write(scene, broken, 'extends: "agentforge:test_engineer"\nnonsense: 1\n', commit=False)
    done = scene.run("pipelines", "validate", good)
    first, other = done.stdout.splitlines()
    assert (done.returncode, first) == (0, f"{good}: valid as {good}.")
    assert other.startswith(f"another file: {broken}:2: nonsense: unknown key")
    assert scene.run("pipelines", "validate", broken).returncode == 2
    (fault,) = scene.data("pipelines", "validate", good)["elsewhere"]
    assert fault.startswith(broken)


def test_a_file_elsewhere_is_checked_as_what_it_says_it_is(scene: Scene) -> None:
    write(scene, "drafts/mine.yaml", 'extends: "agentforge:reviewer"\nidentity: {mood: 1}\n', commit=False)
    done = scene.run("pipelines", "validate", "drafts/mine.yaml")
    assert done.stdout.startswith("drafts/mine.yaml:2: identity.mood: unknown key")
    missing = scene.run("pipelines", "validate", "drafts/none.yaml")
    assert missing.returncode == 2
    assert missing.stderr.startswith(
        "error: drafts/none.yaml cannot be read: No such file or directory.\nName "
    )


def test_a_valid_file_is_warned_of_what_has_no_effect(scene: Scene) -> None:
    path = ".agentforge/agents/software_developer.yaml"
    text = 'extends: "agentforge:software_developer"\norchestration:\n  reviews: [software_developer]\n'
    write(scene, path, text, commit=False)
    (warning,) = scene.data("pipelines", "validate", path)["warnings"]
    assert warning.startswith(f"{path}:3: orchestration.reviews: software_developer: no stage")
    warnings = [warning]
    done = scene.run("pipelines", "validate", path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{path}: valid as {path}.",
        *(f"warning: {line}" for line in warnings),
    ]
    assert scene.data("pipelines", "validate", path)["warnings"] == warnings


def test_a_stage_that_breaks_a_lane_is_told_beside_the_files_around_it(scene: Scene) -> None:
    write(
        scene,
        ".agentforge/stages/own.yaml",
        'extends: "agentforge:green"\nname: own\n+requires: [review]\n',
        commit=False,
    )
    write(
        scene,
        ".agentforge/pipelines/implement.yaml",
        SMALL.replace("name: refactor, skip_if: trivial_change", "name: own"),
        commit=False,
    )
    done = scene.run("pipelines", "validate", ".agentforge/stages/own.yaml")
    assert done.returncode == 2
    assert (
        "implement.yaml:6: pipeline.lanes.small.insert_after.green.name: lane small: own requires "
        "review, which no earlier" in done.stdout
    )


def test_init_writes_examples_that_change_nothing_and_never_overwrites(scene: Scene) -> None:
    write(scene, ".agentforge/stages/green.yaml", "# mine\n", commit=False)
    done = scene.run("init", "--with-catalog")
    assert done.returncode == 0, done.stderr
    for path, text in examples().items():
        assert path in done.stdout
        kept = (scene.top / path).read_text(encoding="utf-8")
        assert kept == ("# mine\n" if path.endswith("green.yaml") else text)
    assert "Not changed: .agentforge/stages/green.yaml." in done.stdout
    scene.git("add", ".agentforge")
    scene.git("commit", "--quiet", "--message", "Examples")
    listed = scene.run("pipelines", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "project" not in listed.stdout
    again = scene.data("init", "--with-catalog", "--force")
    assert again["examples"] == []
    assert sorted(again["left"]) == sorted(examples())
    assert scene.run("init", "--with-catalog").returncode == 0
    assert scene.run("init").returncode == 2


@pytest.mark.slow
def test_every_example_is_valid_once_uncommented(scene: Scene) -> None:
    scene.run("init", "--with-catalog")
    first = next(iter(examples()))
    assert "empty so far" in scene.run("pipelines", "validate", first).stdout
    for path, text in examples().items():
        write(scene, path, uncommented(text), commit=False)
        done = scene.run("pipelines", "validate", path)
        assert (done.returncode, done.stdout) == (0, f"{path}: valid as {path}.\n")


def test_init_offers_the_rules_that_conventions_state_and_writes_them_when_told(tmp_path: Path) -> None:
    conventions = "# Habits\n\n- No print statements.\n- Functions about 40 lines.\n"
    scene = make_scene(tmp_path, {"greeting.py": "print('hello')\n", "AGENTS.md": conventions})
    offered = scene.run("init")
    assert "+++ b/.agentforge/checks/stated-no-print.yaml" in offered.stdout
    assert "agentforge init --with-rules" in offered.stdout
    assert not (scene.top / ".agentforge/checks").exists()
    assert scene.run("init", "--with-rules", "--json").returncode == 0
    found = scene.run("check", "--no-linters")
    assert (found.returncode, "stated-no-print" in found.stdout) == (1, True)
    assert "stated-no-print" not in scene.run("init", "--force").stdout
