"""Repositories with links and tasks planted where AgentForge keeps its own files: refused, and what the links
aim at is never touched.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.whole.checkouts import Done
from tests.whole.plays import REQUEST, Play, ask, asked, frame

VICTIM = b"a journal of the user's own\n"
TASK = "task-20300101-planted"
COMMANDS: dict[str, tuple[str, ...]] = {
    "init": ("init", "--force", "--with-catalog"),
    "start": ("start", REQUEST, "--model", "scripted:{script}"),
    "status": ("status",),
    "status of one": ("status", TASK),
    "continue": ("continue", TASK),
    "abort": ("abort", TASK),
    "verify": ("verify", TASK),
}

Plant = Callable[[Path, Path], Path]


def at(place: str, aim: str = "") -> Plant:
    """A link at a place of the checkout, to the victim's directory or to a file in it."""

    def plant(top: Path, victim: Path) -> Path:
        link = top / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(victim / aim)
        return link

    return plant


LINKS: dict[str, Plant] = {
    "all": at(".agentforge"),
    "config": at(".agentforge/config"),
    "settings": at(".agentforge/config/settings.yaml", "lock"),
    "examples": at(".agentforge/agents"),
    "tasks": at(".agentforge/tasks"),
    "escalations": at(".agentforge/escalations"),
    "task": at(f".agentforge/tasks/{TASK}"),
    "lock": at(f".agentforge/tasks/{TASK}/lock", "lock"),
    "journal": at(f".agentforge/tasks/{TASK}/actions.yaml", "actions.yaml"),
    "pack": at(f".agentforge/tasks/{TASK}/steps.pack", "steps.pack"),
    "state": at(f".agentforge/tasks/{TASK}/state.yaml", "state.yaml"),
    "artifacts": at(f".agentforge/tasks/{TASK}/artifacts"),
    "snapshots": at(f".agentforge/tasks/{TASK}/artifacts/snapshots"),
    "inbox": at(f".agentforge/tasks/{TASK}/inbox"),
    "nowhere": at(f".agentforge/tasks/{TASK}/lock", "not-there"),
    "named-badly": at(".agentforge/tasks/\x1b[31m\n", "lock"),
}


def run(play: Play, name: str) -> Done:
    play.person.scripted(ask("frame"))
    return play.person.run(*(word.format(script=play.person.script) for word in COMMANDS[name]))


def picture(victim: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in victim.iterdir()
    }


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    place = tmp_path / "the user's own"
    place.mkdir()
    for name in ("lock", "actions.yaml", "steps.pack", "state.yaml", "settings.yaml"):
        (place / name).write_bytes(VICTIM)
    return place


@pytest.mark.parametrize("where", LINKS)
def test_a_link_in_our_directories_is_refused_and_never_followed(
    play: Play, victim: Path, where: str
) -> None:
    link = LINKS[where](play.top, victim)
    play.person.git("add", "--force", "--all")
    play.person.git("commit", "-q", "-m", "a link")
    before = picture(victim)
    for name in COMMANDS:
        done = run(play, name)
        assert done.code == 4, (name, done.said)
        shown = str(link).replace("\x1b", "\\x1b").replace("\n", "\\n")
        assert f"{shown} is a symbolic link, and AgentForge follows none" in done.err, name
        assert len(done.err.strip().splitlines()) <= 2, done.err
        assert "\x1b" not in done.said
        assert picture(victim) == before, name
    assert link.is_symlink()


def test_committed_tasks_are_refused_until_they_are_removed(play: Play) -> None:
    asked(play.start(frame(), ask("red")))
    made = play.person.only_task()
    play.person.git("add", "--force", ".agentforge/tasks")
    play.person.git("commit", "-q", "-m", "tasks")
    for name in COMMANDS:
        done = run(play, name)
        assert done.code == 4, (name, done.said)
        assert f"`.agentforge/tasks/{made}/" in done.err
        assert "git rm -r .agentforge/tasks" in done.err
    play.person.git("add", "--force", ".agentforge/escalations")
    play.person.git("commit", "-q", "-m", "escalations")
    (how,) = re.findall(r"Run `(git rm [^`]*)` and commit", run(play, "status").err)
    assert play.person.paste(how).code == 0, "it names all of them at once"
    play.person.git("commit", "-q", "-m", "no tasks")
    shown = play.person.run("status", made)
    assert shown.code == 0, shown.said
    assert made in shown.out


def test_without_a_link_the_same_commands_do_their_work(play: Play) -> None:
    play.person.write({".agentforge/agents/notes.txt": "nothing\n"})
    assert run(play, "init").code == 0
    (play.top / ".agentforge/agents/notes.txt").unlink()
    asked(play.start(ask("frame")))
    made = play.person.only_task()
    assert play.person.run("status").code == 0
    assert play.person.run("status", made).code == 0
    assert play.person.run("continue", made).code == 3
    assert play.person.run("verify", made).code in (1, 2)
    assert play.person.run("abort", made).code == 0


def test_the_users_own_directory_may_be_a_link(play: Play, home: Path, tmp_path: Path) -> None:
    (home / ".agentforge").rename(tmp_path / "elsewhere")
    (home / ".agentforge").symlink_to(tmp_path / "elsewhere")
    asked(play.start(ask("frame")))
    assert play.person.run("abort", play.person.only_task()).code == 0
    assert (tmp_path / "elsewhere/trees").is_dir()
