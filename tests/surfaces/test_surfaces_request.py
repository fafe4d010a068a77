"""The ways to hand over a request, and what each says when it cannot be one."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from agentforge.surfaces.cli.request import request_of
from tests import forked
from tests.rows import every
from tests.surfaces.scene import CODE, COMMAND, PATCH, REVIEW, TEST, Scene, make_scene

FILES = {"greeting.py": CODE, "test_greeting.py": TEST}
ASKED = 'Greet the world.\n\nAn empty name is meant:\n\n    greet("")\n'


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, FILES)


def started(scene: Scene, *words: str, given: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """Runs the command with something on its standard input."""
    data = given.encode() if isinstance(given, str) else given
    with forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env=dict(scene.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as command:
        out, err = command.communicate(data)
    return subprocess.CompletedProcess(words, command.returncode, out, err)


WRONG = {
    "our own words": (("start", "…"), "The request has no words"),
    "what stands for words": (("start", "what you want"), "'what you want' stands for the request"),
    "unquoted": (
        ("start", "Greet", "the", "world"),
        'Put the request in quotes: `agentforge start "Greet the world"`.',
    ),
    "none": (("implement",), 'Say what you want: `agentforge implement "Add a --version flag"`.'),
    "both": (("start", "x", "--file", "y"), "Give either REQUEST or --file, not both."),
    "no file": (("start", "--file", "nope.md"), "The request cannot be read from `nope.md`: no such file"),
    "a directory": (("design", "--file", "."), "The request cannot be read from `.`: is a directory."),
}


@pytest.mark.slow
@every("case", WRONG)
def test_what_is_no_request_is_answered_with_one_that_works(scene: Scene, case: str) -> None:
    words, sentence = WRONG[case]
    ended = started(scene, *words)
    assert ended.returncode == 2
    assert ended.stderr.decode().startswith(f"error: {sentence}")


def test_colours_and_what_nobody_sees_are_no_part_of_a_request() -> None:
    pasted = "Greet \x1b[31mred\x1b[0m\x07 people\u202e,\r\nand in two lines\ttoo"
    assert request_of((pasted,), None, "start") == "Greet red people,\nand in two lines\ttoo"


@pytest.mark.slow
@every("given", (b" \n\n", b"\xff\xfe\x00", b"x" * 300_000, b"a\0b", b"one more word " * 9000))
def test_what_comes_by_a_pipe_must_be_a_text_that_says_something(scene: Scene, given: bytes) -> None:
    ended = started(scene, "start", "-", "--model", "openai:x", given=given)
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"error: ")
    assert not (scene.top / ".agentforge").exists()


@pytest.mark.slow
def test_a_request_of_several_paragraphs_comes_from_a_file_or_a_pipe_whole(scene: Scene) -> None:
    model = scene.script(("patch", PATCH), ("review", REVIEW))
    (scene.top.parent / "wanted.md").write_text(ASKED)
    for words, given in ((("--file", "../wanted.md"), ""), (("-",), ASKED)):
        ended = started(scene, "start", *words, "--lane", "hotfix", "--model", model, given=given)
        assert ended.returncode in (0, 1, 3), ended.stderr
        assert scene.data("status")[0]["request"] == ASKED.strip()


@pytest.mark.slow
def test_without_a_request_the_editor_of_the_person_opens(scene: Scene, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\nprintf "Greet nobody" | cat - "$1" > "{tmp_path}/draft" && cp "{tmp_path}/draft" "$1"\n'
    )
    editor.chmod(0o755)
    parent, child = pty.openpty()
    try:
        environ = {**scene.environ, "EDITOR": str(editor), "VISUAL": ""}
        forked.ForkedCommand(
            [COMMAND, "start", "--model", scene.script()],
            cwd=scene.top,
            env=environ,
            stdin=child,
            stdout=child,
            stderr=child,
        ).wait(60)
    finally:
        os.close(child)
        os.close(parent)
    assert scene.data("status")[0]["request"] == "Greet nobody"
    assert scene.run("status", "@1").stdout == scene.run("status", scene.task).stdout


@pytest.mark.slow
def test_tasks_of_the_same_words_that_start_at_the_same_moment_each_get_a_name_and_their_own_flags(
    scene: Scene,
) -> None:
    model = scene.script()
    flags = ("--yes", "--strict", "--non-interactive", "--allow-network")
    running = [
        forked.ForkedCommand(
            [COMMAND, "start", "Greet the world", "--model", model, flag],
            cwd=scene.top,
            env=dict(scene.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for flag in flags
    ]
    said = [child.communicate() for child in running]
    names = sorted(row["task_id"] for row in scene.data("status"))
    assert len(names) == len(flags), said
    assert [name.partition("world")[2] for name in names] == ["", "-2", "-3", "-4"]
    kept = [path.read_text() for path in (scene.top.parent / "home" / "wishes").rglob("*.yaml")]
    assert sum("strict: true" in text for text in kept) == 1, kept
    assert len({text.partition("marker")[0] for text in kept}) == len(flags), kept
