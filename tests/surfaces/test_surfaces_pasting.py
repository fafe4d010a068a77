"""A command in a sentence works in the shell that shows the sentence, whatever that shell has."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.surfaces.cli.pasting import pasteable, reads_elsewhere
from agentforge.system.installation import STARTED_BY, STARTED_FOR
from agentforge.system.visible import harmless
from tests.rows import every
from tests.surfaces.scene import Scene, make_scene

SCRIPT = Path(sys.executable).with_name("agentforge")
SENTENCE = (
    "ESC-001 waits: `agentforge resolve ESC-001 --answer …`, or `git switch main`.\n  agentforge status"
)
NOT_OURS = "agentforge start is a command, agentforge/task-1 a branch, and `agentforge-pipeline` a name"


def test_with_the_command_on_the_path_nothing_is_changed() -> None:
    assert pasteable(SENTENCE) == SENTENCE
    assert pasteable(NOT_OURS) == NOT_OURS


def test_without_it_on_the_path_its_own_path_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    shown = pasteable(SENTENCE)
    assert shown == SENTENCE.replace("agentforge ", f"{SCRIPT} ")
    assert pasteable(shown) == shown
    assert pasteable(NOT_OURS) == NOT_OURS


def test_another_copy_on_the_path_is_not_taken_for_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "agentforge"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"`{SCRIPT} continue`" in pasteable("`agentforge continue` resumes it.")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that was named, and that the shell is not in."""
    for name in (STARTED_FOR, "_AGENTFORGE_REPO"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    top = tmp_path / "a shop"
    reads_elsewhere("shop", top)
    return top


@every(
    ("said", "shown"),
    [
        ("`agentforge continue T-1`", "`agentforge continue --repo shop T-1`"),
        ("`agentforge escalations list --all`", "`agentforge escalations list --repo shop --all`"),
        ("`agentforge start --repo other x`", "`agentforge start --repo other x`"),
        ("`agentforge setup`", "`agentforge setup`"),
    ],
)
def test_the_repository_that_was_named_is_named_again(elsewhere: Path, said: str, shown: str) -> None:
    assert elsewhere.name == "a shop"
    assert pasteable(said) == shown
    assert pasteable(shown) == shown


def test_git_is_told_the_repository_too(elsewhere: Path) -> None:
    shown = pasteable("  git diff a..b\n`git config --global x y`")
    assert shown == f"  git -C {shlex.quote(str(elsewhere))} diff a..b\n`git config --global x y`"
    assert pasteable(shown) == shown


@every(
    "name",
    [
        "task-1;touch canary",
        "task-1$(touch${IFS}canary)",
        "task-1|sh<x",
        "task-1&&touch canary",
        r"task-1\;touch",
    ],
)
def test_a_name_that_somebody_planted_starts_nothing_in_a_shell(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    for program in ("agentforge", "git"):
        (programs / program).write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word" >> words; done\n')
        (programs / program).chmod(0o755)
    monkeypatch.setenv(STARTED_BY, "agentforge")
    for said in (
        f"The end. `agentforge continue {name}` resumes it.",
        f"  git branch {name} abc   brings it back",
    ):
        command = pasteable(said).partition("`")[2].partition("`")[0] or pasteable(said).strip()
        path = f"{programs}:/usr/bin:/bin"
        subprocess.run(["sh", "-c", command], cwd=tmp_path, env={"PATH": path}, check=True, timeout=30)
        assert pasteable(pasteable(said)) == pasteable(said)
    assert {each.name for each in tmp_path.iterdir()} == {"programs", "words"}
    assert (tmp_path / "words").read_text().split()[0:1] == ["continue"]


def test_the_place_of_a_repository_is_one_word_whatever_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "it's \x1b[31m `a` $(touch canary)"
    monkeypatch.setenv(STARTED_FOR, str(top))
    shown = harmless(pasteable("  git status"))
    told = subprocess.run(
        ["bash", "-c", f'git() {{ printf %s "$2"; }}; {shown}'], capture_output=True, check=True, cwd=tmp_path
    )
    assert told.stdout.decode() == str(top)


def test_whoever_is_in_that_repository_needs_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reads_elsewhere("shop", tmp_path)
    assert pasteable("`agentforge continue T-1`") == "`agentforge continue T-1`"


def test_a_program_that_was_made_to_start_this_copy_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STARTED_BY, "sh '/tmp/the demo/agentforge'")
    assert pasteable("`agentforge continue`") == "`sh '/tmp/the demo/agentforge' continue`"


@pytest.mark.slow
def test_what_is_said_of_a_named_repository_works_from_where_it_was_said(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"x.txt": "x"})
    assert scene.run("repo", "add", ".", "--name", "shop").returncode == 0
    away = Scene(tmp_path, scene.environ)
    told = away.run("diff", "nope", "--repo", "shop").stderr
    assert "`agentforge status --repo shop` lists the tasks." in told
    assert away.run("status", "--repo", "shop").returncode == 0


@pytest.mark.slow
def test_what_our_sentences_write_for_a_persons_words_is_no_answer(tmp_path: Path) -> None:
    done = make_scene(tmp_path, {"x.txt": "x"}).run("resolve", "ESC-001", "--answer", "…")
    assert done.returncode == 2
    assert "'…' stands for the answer: write your own words in its place." in done.stderr
