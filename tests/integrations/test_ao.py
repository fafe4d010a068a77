"""What AO is told of a workflow, in both formats of its session files, and what is done when it is busy, old or gone."""

import json
import os
import shlex
import subprocess
import threading
import time
from pathlib import Path

import pytest

from agentforge.catalog.debates import debate_rules
from agentforge.integrations.ao import WorkflowKeys, reported_state, session_of, sync
from agentforge.integrations.ao_debates import (
    AoProgram,
    DebateRole,
    ask_program,
    fetch_files,
    role_prompt,
    spawn_commands,
)
from agentforge.integrations.ao_metadata import read_session, write_keys

ROLES = tuple(
    DebateRole(name, file.name, comes_last=bool(file.after)) for name, file in debate_rules().roles.items()
)
KEYS = WorkflowKeys(
    phase="brainstorm",
    status="in_progress",
    next="research",
    summary="Exploring auth",
    debate_id="brainstorm-20260127-143022",
    debate_status="pending",
    branch="feat/auth",
    issue="OWN-1",
    version="2.0.0",
    started_at="2026-01-27T10:00:00Z",
    last_updated="2026-01-27T14:30:00Z",
)
NEW = {
    "worktree": "/w/one",
    "branch": "session/dm-1",
    "lifecycle": {"version": 2, "session": {"state": "working"}},
    "größe": 1,
}
OLD = "worktree=/w/one\nbranch=session/dm-1\n# a note\nstatus=working\n  odd = kept = as it is\nforge_phase=init\n"


def session(place: Path, text: str, *, name: str = "dm-1.json", **more: str) -> dict[str, str]:
    """A session's file, and the environment of a process in that session; no `ao` is on its path."""
    place.mkdir(exist_ok=True)
    (place / name).write_text(text, encoding="utf-8")
    return {"AO_SESSION": "dm-1", "AO_DATA_DIR": str(place), "PATH": "/nowhere", **more}


def newer(place: Path, **more: str) -> dict[str, str]:
    return session(place, json.dumps(NEW, indent=2) + "\n", **more)


def program(place: Path, text: str) -> str:
    """A folder with a program `ao` that is this shell script: no released one can be had from an index."""
    place.mkdir()
    (place / "ao").write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (place / "ao").chmod(0o755)
    return f"{place}:{os.environ['PATH']}"


def test_a_process_is_under_ao_only_with_both_variables() -> None:
    assert session_of({"AO_SESSION": "dm-1"}) is None
    assert session_of({"AO_DATA_DIR": "/x"}) is None
    assert session_of({"AO_SESSION": "", "AO_DATA_DIR": "/x"}) is None
    assert session_of({"AO_SESSION": "dm-1", "AO_DATA_DIR": "/x"}) is not None
    assert sync(KEYS, {}).outcome == "absent"


def test_the_eleven_keys_reach_the_newer_file_and_nothing_else_of_it_changes(tmp_path: Path) -> None:
    environment = newer(tmp_path / "s", AO_ISSUE_ID="PROJ-123")
    assert sync(KEYS, environment).outcome == "written"
    text = (tmp_path / "s/dm-1.json").read_text()
    found = json.loads(text)
    ours = {key: value for key, value in found.items() if key.startswith("forge_")}
    assert list(ours) == [
        f"forge_{name}"
        for name in (
            *("phase", "status", "next", "summary", "debate_id", "debate_status"),
            *("branch", "issue", "version", "started_at", "last_updated"),
        )
    ]
    assert ours["forge_issue"] == "PROJ-123", "the issue that AO was given"
    assert {key: found[key] for key in NEW} == NEW
    assert "status" not in found
    assert text == json.dumps(found, indent=2, ensure_ascii=False) + "\n", "as AO writes it"
    assert [each.name for each in (tmp_path / "s").iterdir()] == ["dm-1.json"], (
        "neither the lock nor a passing file stays"
    )


def test_the_older_file_keeps_every_line_of_others(tmp_path: Path) -> None:
    environment = session(tmp_path / "s", OLD, name="dm-1")
    assert sync(KEYS, environment).outcome == "written"
    lines = (tmp_path / "s/dm-1").read_text().splitlines()
    assert lines[:6] == [*OLD.splitlines()[:5], "forge_phase=brainstorm"]
    assert "forge_issue=OWN-1" in lines
    assert not (tmp_path / "s/dm-1.json").exists()


def test_a_file_without_a_suffix_may_be_of_the_newer_format(tmp_path: Path) -> None:
    environment = session(tmp_path / "s", json.dumps(NEW), name="dm-1")
    assert sync(KEYS, environment).outcome == "written"
    assert json.loads((tmp_path / "s/dm-1").read_text())["forge_phase"] == "brainstorm"


@pytest.mark.parametrize("name", ["dm-1.json", "dm-1"])
def test_what_is_known_already_is_not_written_again(tmp_path: Path, name: str) -> None:
    environment = session(tmp_path / "s", json.dumps(NEW) if name.endswith("json") else OLD, name=name)
    sync(KEYS, environment)
    os.utime(tmp_path / "s" / name, (1, 1))
    assert sync(KEYS, environment).outcome == "unchanged"
    assert (tmp_path / "s" / name).stat().st_mtime == 1, "AO takes the time of change for a sign of life"


@pytest.mark.parametrize("name", ["dm-1.json", "dm-1"])
def test_a_key_that_another_program_dropped_or_changed_is_asserted_again(tmp_path: Path, name: str) -> None:
    environment = session(tmp_path / "s", json.dumps(NEW) if name.endswith("json") else OLD, name=name)
    sync(KEYS, environment)
    write_keys(tmp_path / "s", "dm-1", {"forge_phase": "", "forge_status": "odd"})
    assert "forge_phase" not in read_session(tmp_path / "s", "dm-1")
    assert sync(KEYS, environment).outcome == "written"
    assert read_session(tmp_path / "s", "dm-1")["forge_phase"] == "brainstorm"


@pytest.mark.parametrize("text", ["", "  \n"])
@pytest.mark.parametrize("name", ["dm-1.json", "dm-1"])
def test_an_empty_file_is_a_session_that_is_not_ready(tmp_path: Path, name: str, text: str) -> None:
    environment = session(tmp_path / "s", text, name=name)
    assert sync(KEYS, environment).outcome == "not_ready"
    assert (tmp_path / "s" / name).read_text() == text


def test_a_missing_file_or_folder_is_a_session_that_is_not_ready(tmp_path: Path) -> None:
    assert sync(KEYS, {"AO_SESSION": "dm-1", "AO_DATA_DIR": str(tmp_path)}).outcome == "not_ready"
    assert sync(KEYS, {"AO_SESSION": "dm-1", "AO_DATA_DIR": str(tmp_path / "gone")}).outcome == "not_ready"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[1]", "null", "key=value"])
def test_a_broken_file_is_set_aside_as_ao_does_it(tmp_path: Path, text: str) -> None:
    done = sync(KEYS, session(tmp_path / "s", text))
    assert done.outcome == "written"
    (aside,) = (tmp_path / "s").glob("dm-1.json.corrupt-*")
    assert aside.name in done.detail
    assert aside.read_text() == text
    assert json.loads((tmp_path / "s/dm-1.json").read_text()) == {
        key: value for key, value in KEYS.flat().items() if value
    }


def test_a_lock_that_is_held_is_waited_for_and_never_broken(tmp_path: Path) -> None:
    environment = newer(tmp_path / "s")
    lock = tmp_path / "s/dm-1.json.lock"
    lock.touch()
    before = (tmp_path / "s/dm-1.json").read_bytes()
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(0.3 if len(pauses) == 4 else 0)  # however slow this machine is, four come before the end

    done = write_keys(tmp_path / "s", "dm-1", {"forge_phase": "x"}, wait_s=0.3, pause=pause)
    assert done.outcome == "locked"
    assert pauses[:4] == [0.01, 0.02, 0.04, 0.08]
    assert lock.exists()
    assert (tmp_path / "s/dm-1.json").read_bytes() == before
    threading.Timer(0.1, lock.unlink).start()
    assert sync(KEYS, environment).outcome == "written"
    assert not lock.exists()


def test_a_lock_that_nobody_has_touched_for_half_a_minute_is_taken_over(tmp_path: Path) -> None:
    environment = newer(tmp_path / "s")
    lock = tmp_path / "s/dm-1.json.lock"
    lock.touch()
    os.utime(lock, (time.time() - 31, time.time() - 31))
    assert sync(KEYS, environment).outcome == "written"
    assert not lock.exists()


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    newer(tmp_path / "s")
    many = [
        threading.Thread(
            target=write_keys, args=(tmp_path / "s", "dm-1", {f"forge_{number}": "x"}), kwargs={"wait_s": 20}
        )
        for number in range(12)
    ]
    for each in many:
        each.start()
    for each in many:
        each.join()
    assert {f"forge_{number}" for number in range(12)} <= set(read_session(tmp_path / "s", "dm-1"))


def test_values_are_single_lines_without_secrets(tmp_path: Path) -> None:
    keys = WorkflowKeys(
        "build", "in_progress", summary="one\ntwo=2\x1b[31m ghp_" + "a1B2" * 9 + " " + "x" * 500
    )
    for text, name in ((json.dumps(NEW), "dm-1.json"), (OLD, "dm-1")):
        sync(keys, session(tmp_path / name, text, name=name))
        found = read_session(tmp_path / name, "dm-1")
        assert "ghp_" not in found["forge_summary"]
        assert found["forge_summary"].startswith("one two=2")
        assert len(found["forge_summary"]) <= 200
        assert "\x1b" not in found["forge_summary"]
        assert "forge_next" not in found, "no value, no key"


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".", "a.b", "a\n"])
def test_a_session_that_ao_would_never_name_writes_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "up.json").write_text("{}")
    done = sync(KEYS, {"AO_SESSION": name, "AO_DATA_DIR": str(tmp_path / "s")})
    assert done.outcome in ("failed", "absent")
    assert (tmp_path / "up.json").read_text() == "{}"


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"mine": 1}')
    (tmp_path / "s").mkdir()
    (tmp_path / "s/dm-1.json").symlink_to(tmp_path / "mine.json")
    done = sync(KEYS, {"AO_SESSION": "dm-1", "AO_DATA_DIR": str(tmp_path / "s")})
    assert done.outcome == "failed"
    assert "symbolic link" in done.detail
    assert (tmp_path / "mine.json").read_text() == '{"mine": 1}'


def test_a_new_state_is_reported_once_in_the_words_of_ao(tmp_path: Path) -> None:
    said = tmp_path / "said"
    path = program(tmp_path / "bin", f'echo "$@" >> {said}')
    environment = newer(tmp_path / "s", PATH=path)
    blocked = WorkflowKeys("brainstorm", "blocked", debate_id="b-1", debate_status="pending")
    sync(blocked, environment)
    later = WorkflowKeys("brainstorm", "blocked", debate_id="b-1", debate_status="running")
    sync(later, environment)  # AO's word for it is the same
    sync(WorkflowKeys("learn", "completed"), environment)
    assert said.read_text().splitlines() == [
        "report waiting -s dm-1 --note forge: brainstorm blocked",
        "report completed -s dm-1 --note forge: learn completed",
    ]


def test_an_ao_without_reports_changes_nothing_about_the_keys(tmp_path: Path) -> None:
    said = tmp_path / "said"
    path = program(
        tmp_path / "bin", f'echo "$@" >> {said}; echo "error: unknown command \'report\'" >&2; exit 1'
    )
    done = sync(KEYS, newer(tmp_path / "s", PATH=path))
    assert (done.outcome, done.detail) == ("written", "")
    orchestrator = newer(tmp_path / "o", PATH=path, AO_CALLER_TYPE="orchestrator")
    assert sync(KEYS, orchestrator).outcome == "written"
    assert len(said.read_text().splitlines()) == 1, "AO refuses reports of its orchestrators, so none is made"


def test_each_state_of_a_workflow_has_a_word_of_ao() -> None:
    def word(status: str, debate: str = "", following: str = "") -> str:
        return reported_state(
            {"forge_status": status, "forge_debate_status": debate, "forge_next": following}
        )

    assert word("blocked", "pending") == word("blocked", "running") == "waiting"
    assert word("blocked") == "needs-input"
    assert word("in_progress") == word("completed", following="plan") == word("pending") == "working"
    assert word("completed") == "completed"
    assert reported_state({}) == ""


def test_the_installed_ao_is_asked_what_it_accepts(tmp_path: Path) -> None:
    new = program(
        tmp_path / "new",
        'case "$*" in --version) echo 0.9.5;; "spawn --help") echo "--prompt <text>";; *) exit 1;; esac',
    )
    old = program(
        tmp_path / "old",
        'case "$*" in --version) echo v0.2.2;; "spawn --help") echo "spawn [issue]";; *) exit 1;; esac',
    )
    broken = program(tmp_path / "broken", "exit 3")
    assert ask_program({"PATH": new}) == AoProgram("prompt", "0.9.5", is_asked=True)
    assert ask_program({"PATH": old}) == AoProgram("send", "0.2.2", is_asked=True)
    assert ask_program({"PATH": broken}) == AoProgram("prompt")
    assert ask_program({"PATH": "/nowhere"}) == AoProgram("prompt"), (
        "the newest form known, and not called tested"
    )


def test_spawn_lines_are_what_a_shell_and_ao_take(tmp_path: Path) -> None:
    folder = tmp_path / "it's here/docs/forge/debate/brainstorm-20260127-143022"
    folder.mkdir(parents=True)
    environment = {"AO_PROJECT_ID": "demo", "AO_PORT": "4123"}
    made = spawn_commands(folder, AoProgram("prompt"), environment, ROLES)
    assert [(each.role, each.comes_last) for each in made] == [
        ("advocate", False),
        ("skeptic", False),
        ("operator", False),
        ("synthesizer", True),
    ]
    for each, role in zip(made, ROLES, strict=True):
        words = shlex.split(each.line)
        assert words[:4] == ["AO_PROJECT_ID=demo", "ao", "spawn", "--prompt"]
        assert len(words) == 5, "one argument, and never an issue"
        assert f"{folder.resolve()}/{role.file}" in words[4], "a worktree of its own does not have the folder"
        assert "\n" not in words[4]
        assert len(words[4]) <= 4096
        request = shlex.split(each.request)
        assert "http://localhost:4123/api/spawn" in request
        assert json.loads(request[-1]) == {"projectId": "demo", "prompt": words[4]}


def test_an_ao_without_prompts_gets_them_by_a_message(tmp_path: Path) -> None:
    said = tmp_path / "said"
    path = program(
        tmp_path / "bin", f'echo "$AO_PROJECT_ID:$*" >> {said}; [ "$1" = spawn ] && echo SESSION=dm-7; exit 0'
    )
    line = spawn_commands(tmp_path, AoProgram("send"), {"AO_PROJECT_ID": "demo"}, ROLES)[0].line
    subprocess.run(["sh", "-c", line], env={"PATH": path}, check=True)
    assert said.read_text().splitlines() == ["demo:spawn", f":send dm-7 {role_prompt(tmp_path, ROLES[0])}"]


def worktree(place: Path, debate: str, **files: str) -> Path:
    folder = place / "docs/forge/debate" / debate
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def test_files_that_roles_left_in_their_own_worktrees_come_home(tmp_path: Path) -> None:
    home = worktree(tmp_path / "home", "b-1", operator="mine\n", skeptic="one, ")
    worktree(tmp_path / "a", "b-1", advocate="for it\n", operator="another\n")
    worktree(tmp_path / "b", "b-1", skeptic="one, two\n")
    worktree(tmp_path / "c", "other", synthesis="of another debate\n")
    environment = newer(tmp_path / "s")
    for name in "abc":
        (tmp_path / f"s/dm-{name}.json").write_text(json.dumps({"worktree": str(tmp_path / name)}))
    (tmp_path / "s/dm-old").write_text(f"worktree={tmp_path / 'home'}\n")
    fetched = fetch_files(home, environment, ROLES)
    assert [(each.name, each.session) for each in fetched] == [
        ("advocate.md", "dm-a"),
        ("skeptic.md", "dm-b"),
    ]
    assert (home / "advocate.md").read_text() == "for it\n"
    assert (home / "skeptic.md").read_text() == "one, two\n", "a role that was still writing"
    assert (home / "operator.md").read_text() == "mine\n", "what is there stays"
    assert not (home / "synthesis.md").exists()
    assert fetch_files(home, environment, ROLES) == ()
    assert fetch_files(home, {}, ROLES) == ()


def test_what_an_ended_session_had_committed_comes_home_from_its_branch(tmp_path: Path) -> None:
    top = tmp_path / "home"
    home = worktree(top, "b-1")

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=top, check=True, capture_output=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "First")
    git("checkout", "-q", "-b", "session/dm-2")
    (home / "advocate.md").write_text("for it\n")
    git("add", ".")
    git("commit", "-q", "-m", "Advocate")
    git("checkout", "-q", "main")
    home.mkdir(parents=True, exist_ok=True)
    environment = newer(tmp_path / "s")
    (tmp_path / "s/dm-2.json").write_text(
        json.dumps({"worktree": str(tmp_path / "gone"), "branch": "session/dm-2"})
    )
    (tmp_path / "s/archive").mkdir()
    for number in range(60):
        (tmp_path / f"s/archive/dm-{number}_2026").write_text(f"worktree=/gone\nbranch=no such/{number}\n")
    (tmp_path / "s/dm-3.json").write_text(json.dumps({"branch": "--help\nHEAD:readme"}))
    assert [each.name for each in fetch_files(home, environment, ROLES)] == ["advocate.md"]
    assert (home / "advocate.md").read_text() == "for it\n"


def test_a_link_that_a_role_left_is_not_followed(tmp_path: Path) -> None:
    home = worktree(tmp_path / "home", "b-1")
    (tmp_path / "secret").write_text("of the user\n")
    (worktree(tmp_path / "a", "b-1") / "advocate.md").symlink_to(tmp_path / "secret")
    environment = newer(tmp_path / "s")
    (tmp_path / "s/dm-a.json").write_text(json.dumps({"worktree": str(tmp_path / "a")}))
    assert fetch_files(home, environment, ROLES) == ()
    assert list(home.iterdir()) == []
