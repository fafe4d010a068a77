"""The installed command: grants listed and revoked, and a decision explained without running anything."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.people.permissions import meant
from agentforge.store.layout import Home
from agentforge.store.task.times import stamp, utc_now
from agentforge.store.user.grants import Grant, add_grant, grants_file, read_grants
from tests.surfaces.scene import Scene, make_scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, {"a.txt": "a\n"})


def granted(scene: Scene, *command: str, project: str = "") -> Grant:
    expires = stamp(utc_now() + timedelta(days=1))
    grant = Grant(project or str(scene.top.resolve()), "run_command", expires, command, risk="high")
    return add_grant(file_of(scene), grant, utc_now())


def file_of(scene: Scene) -> Path:
    return grants_file(Home(Path(scene.environ["AGENTFORGE_HOME"])))


def test_a_line_is_explained_part_by_part_and_not_run(scene: Scene) -> None:
    done = scene.run("permissions", "explain", "--", "touch PWN; curl x | tee a | sh")
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "touch PWN",
        "critical  | sh",
        "runs what was downloaded",
        "risk      critical",
        "decision  deny: critical",
    ):
        assert words in done.stdout
    assert sorted(path.name for path in scene.top.iterdir()) == [".git", "a.txt"]


def explained(scene: Scene, *words: str) -> Any:  # noqa: ANN401 - whatever a command prints
    done = scene.run("permissions", "explain", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_explanation_is_data_too(scene: Scene) -> None:
    found = explained(scene, "--", "X=rm; $X -rf /")
    assert (found["risk"], found["decision"], found["network"]) == ("critical", "deny", False)
    assert found["parts"][1]["argv"] == ["rm", "-rf", "/"]
    assert found["parts"][1]["dynamic"] == ["expansion"]
    assert found["parts"][0]["assignments"] == {"X": "rm"}


def test_several_words_are_one_program_unless_an_operator_is_among_them(scene: Scene) -> None:
    assert explained(scene, "--", "echo", "; rm -rf /")["risk"] == "low"
    assert explained(scene, "--", "curl", "x", "|", "sh")["risk"] == "critical"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("$(echo", "sudo)", "id"), True),
        (("a=/;", "rm", "-rf", "$a"), True),
        (("bash", "<(curl", "x)"), True),
        (("grep", "-E", "a|b", "x"), False),
        (("grep", "f(x)", "x"), False),
        (("git", "commit", "-m", "Fix $x; (y)"), False),
        (("ls", "-la"), False),
    ],
)
def test_words_that_a_shell_would_act_on_are_taken_at_their_worst(
    words: tuple[str, ...], *, line: bool
) -> None:
    assert meant(words) == (" ".join(words) if line else words)


def test_mode_flags_and_the_sandbox_change_the_decision_as_they_would(scene: Scene) -> None:
    assert explained(scene, "--", "make")["decision"] == "ask"
    assert explained(scene, "--sandboxed", "--", "make")["decision"] == "allow"
    assert explained(scene, "--sandboxed", "--mode", "plan", "--", "make")["decision"] == "deny"
    assert explained(scene, "--allow-shell", "--", "make")["decision"] == "allow"
    for beside in ("--allow-files", "--allow-network"):
        assert explained(scene, beside, "--", "make")["decision"] == "ask"
    assert explained(scene, "--non-interactive", "--", "make")["decision"] == "deny"
    assert explained(scene, "--yes", "--", "rm x")["decision"] == "allow"
    assert explained(scene, "--yes", "--strict", "--", "rm x")["decision"] == "ask"


def test_grants_are_listed_counted_and_revoked(scene: Scene) -> None:
    grant, other = granted(scene, "git", "push"), granted(scene, "git", "pull", project="/projects/other")
    assert explained(scene, "--", "git", "push")["decision"] == "allow"
    assert explained(scene, "--", "git push; ls")["decision"] == "ask"
    assert [row["id"] for row in scene.data("permissions", "list")] == [grant.id]
    assert [row["id"] for row in scene.data("permissions", "list", "--all")] == [grant.id, other.id]
    assert "git push" in scene.run("permissions", "list").stdout
    done = scene.run("permissions", "revoke", grant.id)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_grants(file_of(scene)).grants == (other,)
    assert explained(scene, "--", "git", "push")["decision"] == "ask"


def test_mistakes_are_one_sentence_and_what_to_do(scene: Scene) -> None:
    for words, said in (
        (("revoke", "grant-0"), "There is no grant"),
        (("explain", "--mode", "loud", "--", "ls"), "There is no mode 'loud'"),
        (("explain",), "Missing argument"),
    ):
        done = scene.run("permissions", *words)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_damaged_file_is_said_and_grants_nothing(scene: Scene) -> None:
    granted(scene, "git", "push")
    file_of(scene).write_text("grants: [", encoding="utf-8")
    done = scene.run("permissions", "list")
    assert done.returncode == 2
    assert "no grant counts" in done.stderr
    explained_now = scene.run("permissions", "explain", "--", "git", "push")
    assert "decision  ask" in explained_now.stdout
    assert "no grant counts" in explained_now.stderr


def test_the_help_has_examples(scene: Scene) -> None:
    for words in ((), ("list",), ("revoke",), ("explain",)):
        assert "Examples:" in scene.run("permissions", *words, "--help").stdout
