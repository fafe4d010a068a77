"""`context --dry-run`: what the first step of a request would see, before there is a task."""

from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, TEST, Scene, make_scene

FILES = {"greeting.py": CODE, "tests/test_greeting.py": TEST}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, FILES)


def everything(top: Path) -> dict[str, bytes]:
    """Every file below a directory, git's own too."""
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.name != "index"  # git may refresh times in it
    }


def test_a_dry_run_shows_the_first_step_and_leaves_nothing_behind(scene: Scene) -> None:
    before = everything(scene.top)
    said = scene.data(
        "context", "--dry-run", "Fix greet in greeting.py", "--lane", "hotfix", "--mode", "fast"
    )
    assert everything(scene.top) == before
    assert not (scene.top / ".agentforge").exists()
    assert scene.git("for-each-ref", "refs/agentforge") == ""
    assert (said["task"], said["step"], said["stage"], said["lane"]) == (None, 1, "patch", "hotfix")
    opened = [block for block in said["blocks"] if block["name"].startswith("working_set: greeting.py")]
    assert opened
    assert opened[0]["why"].startswith("named by the request")
    assert said["reasons"]
    assert 0 < said["reusable_tokens"] < said["tokens"]


def test_a_dry_run_needs_no_model_and_is_plain_in_a_pipe(scene: Scene) -> None:
    done = scene.run("context", "--dry-run", "Fix greet in greeting.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "dry run, the first step" in done.stdout
    assert "the next step of the stage can reuse" in done.stdout


@pytest.mark.slow
def test_what_was_cut_is_said(scene: Scene) -> None:
    names = [f"large_{number}.py" for number in range(20)]
    for name in names:
        terms = " + ".join(f"weight_{number} * price_{number}" for number in range(40))
        lines = (f"    total += {number} * ({terms})  # {name}" for number in range(100))
        (scene.top / name).write_text("\n".join(("def total():", *lines)), encoding="utf-8")
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "--message", "Large")
    said = scene.data("context", "--dry-run", f"Fix total in {' and '.join(names)}")
    assert said["block_tokens"] <= said["cap"]
    assert any("tokens" in line for line in said["dropped"])


def test_a_repository_without_a_commit_or_code_is_a_sentence_or_a_context(tmp_path: Path) -> None:
    empty = make_scene(tmp_path / "empty")
    done = empty.run("context", "--dry-run", "Add a file")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    words = make_scene(tmp_path / "words", {"README.md": "Hello\n"})
    assert words.data("context", "--dry-run", "Fix the typo in README.md")["blocks"]


@pytest.mark.slow
def test_a_hostile_file_name_and_a_link_out_of_the_repository_are_shown_harmless(scene: Scene) -> None:
    (scene.top / "evil\x1b[31m.py").write_text("def evil(): ...\n", encoding="utf-8")
    (scene.top / "link.py").symlink_to("/etc/hostname")
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "--message", "Hostile")
    done = scene.run("context", "--dry-run", "Fix evil() in link.py", "--text")
    assert done.returncode == 0, done.stderr
    host = Path("/etc/hostname")
    assert not host.exists() or host.read_text(encoding="utf-8").strip() not in done.stdout
