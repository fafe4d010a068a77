"""Input that cannot be used: one clear sentence, the right exit code, nothing lost and nothing half done."""

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.store.site import Site
from tests import forked
from tests.whole.checkouts import COMMAND, Done, differences, photograph
from tests.whole.plays import (
    HIDDEN_TEST,
    OLD_TEST,
    Play,
    ask,
    asked,
    finished,
    frame,
    patch,
    read,
    red,
    review,
    say,
)

SETTINGS = ".agentforge/config/settings.yaml"
SPECIFICATION = "extends: agentforge:specification\nschema:\n  title:\n"
ROLE = "extends: {}\nagent:\n  display_name: {}\n"


def refused(done: Done, *sentences: str) -> None:
    """Exit code 2, and the sentences; no task was made."""
    assert done.code == 2, done.said
    for sentence in sentences:
        assert sentence in done.err, done.err


# ------------------------------------------------------------------ files of a project


@pytest.mark.parametrize(
    ("files", "sentences"),
    [
        ({SETTINGS: "setup: [unclosed\n"}, (f"{SETTINGS}:2:1: did not find expected ',' or ']'",)),
        ({SETTINGS: "python: a\npython: b\n"}, (f"{SETTINGS}:2:1", "python")),
        (
            {SETTINGS: "sandbox: auto\npython: /usr/bin/python3\n"},
            (
                f"{SETTINGS}:2: python: '/usr/bin/python3' is not a version.",
                'Write one, such as `python: "3.12"`; only ',
                "/.agentforge/config.yaml can name a program by its path.",
            ),
        ),
        ({SETTINGS: 'python: "python3\\e[31m"\n'}, (f"{SETTINGS}:1: python: 'python3\\\\x1b[31m' is not",)),
        ({SETTINGS: "sandbocks: auto\n"}, (SETTINGS, "sandbocks")),
        ({SETTINGS: "sandbox: none\n"}, (SETTINGS, "sandbox")),
        ({SETTINGS: "- a\n- list\n"}, (SETTINGS,)),
        (
            {
                ".agentforge/agents/software_developer.yaml": ROLE.format("other", "A"),
                ".agentforge/agents/other.yaml": ROLE.format("software_developer", "B"),
            },
            (".yaml:1: ", "circular", "software_developer -> other -> software_developer"),
        ),
        (
            {".agentforge/agents/reviewer.yaml": ROLE.format("nobody", "A")},
            ("there is no agents file `nobody`",),
        ),
        (
            {
                ".agentforge/contracts/specification.yaml": "extends: agentforge:specification\nvalidation: []\n"
            },
            (".agentforge/contracts/specification.yaml:2: ", "drops the rule"),
        ),
        (
            {
                ".agentforge/contracts/specification.yaml": "extends: agentforge:specification\n+validation: [be_brilliant]\n"
            },
            ("'be_brilliant', which is no predicate",),
        ),
        (
            {".agentforge/contracts/specification.yaml": f"{SPECIFICATION}    max_length: 0\n"},
            ("specification.yaml:3: schema.title allows nothing: min_length 1 is over max_length 0",),
        ),
    ],
    ids=[
        "corrupt",
        "twice",
        "path-of-python",
        "name-of-python",
        "unknown-key",
        "no-walls",
        "list",
        "circular",
        "nowhere",
        "drops",
        "unknown-rule",
        "allows-nothing",
    ],
)
def test_a_bad_file_of_the_project_is_named_before_anything_is_written(
    play: Play, files: dict[str, str], sentences: tuple[str, ...]
) -> None:
    play.person.write(files)
    play.person.commit_all()
    before = photograph(play.top)
    refused(play.start(frame()), *sentences)
    assert differences(before, photograph(play.top)) == []
    assert not (play.top / ".agentforge/tasks").exists()


def test_a_contract_that_nobody_can_meet_ends_in_a_question_that_names_it(play: Play) -> None:
    play.person.write({".agentforge/contracts/specification.yaml": f"{SPECIFICATION}    pattern: '^$'\n"})
    play.person.commit_all()
    done = play.start(*[frame() for _ in range(12)])
    assert done.code == 3, done.said
    assert done.data["escalation"]["kind"] == "exhausted"
    asked = done.data["escalation"]["question"]["text"]
    assert "the same reply twice" in asked
    assert "specification is refused" in asked
    assert "title" in asked


# ------------------------------------------------------------------ the command line


def test_without_a_model_start_says_the_ways_to_get_one(play: Play) -> None:
    done = play.person.run("start", "do it")
    refused(done, "No model is configured.", "--model PROVIDER:NAME", "AGENTFORGE_MODEL", "agentforge demo")
    assert not (play.top / ".agentforge").exists()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("scripted:nowhere.yaml", "There is no script nowhere.yaml."),
        ("openai:any", "OPENAI_API_KEY is not set."),
        ("clever:any", "there is no provider 'clever'."),
        ("clever", "'clever' is not a model."),
    ],
)
def test_a_model_that_cannot_be_is_refused(play: Play, model: str, sentence: str) -> None:
    refused(play.with_model(model), sentence)


def test_a_bad_script_names_its_place(play: Play) -> None:
    play.person.script.write_text("replies:\n  - stage: frame\n    repyl: {}\n")
    refused(
        play.with_model(f"scripted:{play.person.script}"),
        f"{play.person.script}:3: reply 1: unknown key 'repyl'",
    )


def test_places_that_are_no_repository_are_refused(play: Play, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    play.person.scripted(frame())
    outside = Play(type(play.person)(tmp_path / "elsewhere", play.person.script))
    refused(outside.with_model(f"scripted:{play.person.script}"), "is not in a git repository", "git init")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "elsewhere", check=True)
    refused(outside.with_model(f"scripted:{play.person.script}"), "no commit")
    refused(play.start(frame(), words=("--base", "no-such-branch")), "no-such-branch")


@pytest.mark.slow
def test_an_ambiguous_task_names_the_candidates_and_an_unknown_one_says_so(play: Play) -> None:
    play.person.scripted(ask("frame"))
    for _ in range(2):
        agentforge.start(
            Site.open(play.top),
            agentforge.StartOptions("do it", lane="small", model=f"scripted:{play.person.script}"),
        )
    first, second = sorted(path.name for path in (play.top / ".agentforge/tasks").iterdir())
    done = play.person.run("status", "task-")
    refused(done, "task-", first, second)
    refused(play.person.run("status", "task-nothing"), "task-nothing")
    assert play.person.run("status", first).code == 0, "a whole name is no prefix"
    assert play.person.run("status", second).code == 0


# ------------------------------------------------------------------ repositories


@pytest.mark.slow
def test_a_repository_without_tests_works_says_so_and_verifies_again(play: Play) -> None:
    for path in (OLD_TEST, HIDDEN_TEST):
        play.person.git("rm", "-q", path)
    play.person.git("commit", "-q", "-m", "no tests")
    done = play.start(
        patch(expects=("the base has no tests", "Tests are in: nowhere yet")), review(), lane="hotfix"
    )
    finished(done)
    evidence = play.file("evidence.json")
    assert '"existing tests"' in evidence
    assert "existing tests" in play.file("artifacts/phases/deliver/delivery_report_final.yaml")
    again = play.person.run("verify", done.data["branch"], "--rerun")
    assert (again.code, "the proof holds" in again.out) == (0, True), again.said


def test_a_suite_that_cannot_be_run_is_one_question_with_the_next_step(play: Play) -> None:
    play.person.write({"tests/conftest.py": "import not_installed_anywhere\n"})
    play.person.commit_all()
    done = play.start(frame(), red())
    assert done.code == 3, done.said
    assert done.data["escalation"]["kind"] == "environment"
    text = done.data["escalation"]["question"]["text"]
    assert "The tests could not be run on the base" in text
    assert "not_installed_anywhere" in text


# ------------------------------------------------------------------ the disk


def mounted(play: Play, mount: str, *words: str) -> Done:
    """The command in a mount namespace of its own, where `.agentforge` is what `mount` makes of it."""
    (play.top / ".agentforge").mkdir(exist_ok=True)
    line = f'{mount} "$0/.agentforge" && shift 0 && exec "$@"'
    full = ["unshare", "--mount", "sh", "-c", line, str(play.top), str(COMMAND), *words]
    done = subprocess.run(
        full, cwd=play.top, env=play.person.environment(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def may_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    line = "mount -t tmpfs -o size=64k tmpfs /mnt"
    return (
        subprocess.run(["unshare", "--mount", "sh", "-c", line], capture_output=True, check=False).returncode
        == 0
    )


needs_mounts = pytest.mark.skipif(not may_mount(), reason="only root may mount, and not in every container")


@needs_mounts
def test_a_read_only_place_for_records_stops_before_anything_happens(play: Play) -> None:
    play.person.scripted(frame())
    words = ("start", "do it", "--lane", "small", "--model", f"scripted:{play.person.script}")
    done = mounted(play, "mount -t tmpfs -o ro tmpfs", *words)
    assert done.code == 1, done.said
    assert "ead-only" in done.err
    assert play.person.git("branch", "--list", "agentforge/*") == ""


@needs_mounts
@pytest.mark.slow
def test_a_full_disk_stops_the_driver_and_the_task_goes_on_when_there_is_room(play: Play) -> None:
    # Too much for what is left, even when it is packed.
    thought = "".join(
        hashlib.sha256(bytes([number % 256, number // 256])).hexdigest() for number in range(2500)
    )
    play.person.scripted(say("patch", read(OLD_TEST), thought=thought), ask("patch"))
    words = ("start", "do it", "--lane", "hotfix", "--model", f"scripted:{play.person.script}")
    # What was written before the disk was full is carried over, as if somebody had made room.
    keep = 'cp -a "$0/.agentforge" "$0/kept"; exit $code'
    line = f'mount -t tmpfs -o size=100k tmpfs "$0/.agentforge" && "$@"; code=$?; {keep}'
    (play.top / ".agentforge").mkdir()
    full = ["unshare", "--mount", "sh", "-c", line, str(play.top), str(COMMAND), *words]
    done = subprocess.run(
        full, cwd=play.top, env=play.person.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "No space left on device" in done.stderr or "disk is full" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    shutil.rmtree(play.top / ".agentforge")
    (play.top / "kept").rename(play.top / ".agentforge")
    asked(play.person.run("continue", "--json"))


# ------------------------------------------------------------------ two at once


@pytest.mark.slow
def test_a_second_driver_is_refused_and_an_interrupted_one_makes_room(play: Play) -> None:
    play.person.write(
        {"tests/test_slow.py": "import time\n\n\ndef test_slow() -> None:\n    time.sleep(60)\n"}
    )
    play.person.commit_all()
    play.person.scripted(patch(), review())
    with driver(
        play, "start", "do it", "--lane", "hotfix", "--model", f"scripted:{play.person.script}"
    ) as first:
        refused_driver = play.person.run("continue")
        assert refused_driver.code == 4, refused_driver.said
        assert "Another driver works on task-" in refused_driver.err
        assert f"process {first.pid}" in refused_driver.err
        said = interrupted(first)
        assert "Interrupted. `agentforge continue task-" in said
    with driver(play, "continue") as second:
        interrupted(second)
    assert '"running"' in play.person.run("status", "--json").out


@contextmanager
def driver(play: Play, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that is left running at the moment when the slow tests have begun."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with forked.ForkedCommand(
        [COMMAND, *words], cwd=play.top, env=play.person.environment(), start_new_session=True, **pipes
    ) as process:
        try:
            assert process.stdout is not None
            assert any("running the tests on the base" in line for line in process.stdout)
            yield process
        finally:
            process.kill()


def interrupted(process: "subprocess.Popen[str]") -> str:
    """Ctrl-C: it ends at once, with the code for it."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    return said
