"""The installed command on throw-away repositories: help, usage, empty states, and what `init` writes."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.app.setup.settings import check_settings
from agentforge.surfaces.cli.command_list import COMMANDS
from agentforge.system import strict_yaml
from tests import forked
from tests.surfaces.scene import CODE, COMMAND, TEST, Scene, make_scene

BREAKS_WIRING = """
import sys


class Broken:
    def find_spec(self, name, *_):
        if name == "agentforge.store.site":
            raise ZeroDivisionError("boom")


sys.meta_path.insert(0, Broken())
"""
NAMES = [name for name in COMMANDS if name not in ("resume", "ui")]  # other names of the same
HEAVY = ("rich", "yaml", "jsonschema_rs", "asyncio", "pydantic", "agentforge.app.drivers.driver")
EACH_HELP = f"""
import os, sys
from agentforge.surfaces.cli.main import main

for name in sys.argv[2:]:
    if os.fork() == 0:  # so that none has what another loaded
        sys.argv[:] = [sys.argv[1], name, "--help"]
        code = main()
        sys.stdout.write(f"\\0{{code}} {{[each for each in {HEAVY} if each in sys.modules]}}\\0")
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """For commands that leave nothing behind."""
    return make_scene(
        tmp_path_factory.mktemp("untouched"), {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})


def test_help_lists_every_command_with_a_line_and_loads_nothing_heavy(untouched: Scene) -> None:
    done = untouched.run("--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    for name in NAMES:
        assert re.search(rf"^  {name}  +\S", done.stdout, re.MULTILINE), name
    loaded = {
        line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")
    }
    assert loaded & {*HEAVY} == set()


@pytest.mark.slow
def test_every_command_shows_examples_and_loads_nothing_heavy(untouched: Scene) -> None:
    words = [sys.executable, "-c", EACH_HELP, COMMAND, *NAMES]
    done = subprocess.run(
        words, cwd=untouched.top, env=dict(untouched.environ), capture_output=True, text=True, check=True
    )
    said = done.stdout.split("\0")[:-1]
    assert len(said) == 2 * len(NAMES)
    for name, page, end in zip(NAMES, said[::2], said[1::2], strict=True):
        assert f"agentforge {name}" in page.partition("Examples:")[2], name
        assert end == "0 []", name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["strat"], "There is no command 'strat'. Did you mean 'start'?"),
        (["start"], "Say what you want: `agentforge"),
        (["start", "x", "--lane", "wide"], "'wide' is not one of 'hotfix', 'small', 'full'."),
        (["start", "x", "--mode", "slow"], "'slow' is not one of 'fast', 'balanced',"),
        (["design"], "Say what you want: `agentforge"),
        (["status", "--nope"], "No such option"),
        (["resolve", "ESC-001"], "Give one of --answer TEXT, --option N and --abort."),
        (["resolve", "ESC-001", "--answer", " "], "--answer is empty; give it a value or leave it out."),
        (["resolve", "ESC-001", "--answer", "yes"], "No task is waiting for an answer to ESC-001."),
        (["start", " ", "--model", "openai:x"], "The request is empty; say what you want: "),
        (["start", "x"], "No model is configured."),
        (["start", "x", "--model", "gpt"], "'gpt' is not a model."),
        (["start", "x", "--model", "scripted:nowhere.yaml"], "There is no script nowhere.yaml."),
        (["start", "x", "--base", "nowhere"], "`nowhere` is not a commit"),
        (["continue"], "No tasks in this repository yet."),
        (["continue", "task-1"], "No task here is called 'task-1'."),
        (["abort", "task-1"], "No task here is called 'task-1'."),
        (["verify", "agentforge/task-1"], "No task here is called 'task-1'."),
        (["inspect", "../x"], "No task here is called '../x'."),
        (["context"], "No tasks in this repository yet."),
        (["context", "task-1"], "No task here is called 'task-1'."),
        (["context", "--dry-run", " "], "--dry-run is empty; give it a value or leave it out."),
        (["context", "--dry-run", "x", "--base", "nowhere"], "`nowhere` is not a commit"),
        (["context", "--dry-run", "x", "--pipeline", "nowhere"], "There is no pipeline nowhere"),
        (["context", "--dry-run", "x", "--step", "2"], "so there is no task or step to show."),
        (["context", "task-1", "--lane", "full"], "--lane needs --dry-run"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(untouched: Scene, words: list[str], sentence: str) -> None:
    done = untouched.run(*words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert sentence in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_name_alone_shows_where_to_begin_and_exits_2(untouched: Scene) -> None:
    done = untouched.run()
    assert (done.returncode, done.stdout) == (2, "")
    first = done.stderr.partition("Start here:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in first.splitlines()] == ["demo", "setup", "start", "status", "merge"]
    assert len(done.stderr.splitlines()) < 20, "it fits any terminal"
    assert done.stderr.endswith("`agentforge --help` lists all commands.\n")
    assert "Commands:" in untouched.run("repo").stderr, "a group lists its own"
    assert untouched.run("help", "repo", "add").stdout == untouched.run("repo", "add", "--help").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status"], "No tasks in this repository yet."),
        (["escalations", "list"], "No open questions."),
    ],
)
def test_an_empty_repository_is_an_honest_sentence(untouched: Scene, words: list[str], said: str) -> None:
    done = untouched.run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(said)
    assert untouched.data(*words) == []


def test_what_tasks_leave_behind_goes_by_either_name(untouched: Scene) -> None:
    flags = ("--dry-run", "--all", "--json")
    assert untouched.run("trees", "clean", *flags).stdout == untouched.run("clean", *flags).stdout


def test_outside_of_a_repository_and_before_the_first_commit_are_sentences(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    assert "has no commits yet" in scene.run("init").stderr
    done = subprocess.run(
        [COMMAND, "status"],
        cwd=tmp_path,
        env=dict(scene.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is not in a git repository" in done.stderr


def test_init_says_what_it_detected_and_writes_valid_settings(scene: Scene) -> None:
    done = scene.run("init")
    assert done.returncode == 0, done.stderr
    for word in ("setup", "pytest", "import roots", "sandbox", "model", "not configured", "agentforge start"):
        assert word in done.stdout
    path = scene.top / ".agentforge" / "config" / "settings.yaml"
    text = path.read_text(encoding="utf-8")
    assert check_settings(strict_yaml.load(text, "settings"), "settings") == {"sandbox": "auto"}
    assert scene.git("status", "--porcelain").strip() == "?? .agentforge/"
    assert ".agentforge/tasks/" in (scene.top / ".git" / "info" / "exclude").read_text(encoding="utf-8")
    assert scene.git("rev-list", "--count", "HEAD").strip() == "1"


def test_every_commented_setting_is_valid_once_it_is_uncommented(scene: Scene) -> None:
    scene.run("init")
    text = (scene.top / ".agentforge" / "config" / "settings.yaml").read_text(encoding="utf-8")
    bare = re.sub(r"^# (?=(?:[a-z_]+:| {2}(?:- |[a-z_]+: )))", "", text, flags=re.MULTILINE)
    value = check_settings(strict_yaml.load_settings(bare, "settings"), "settings")
    assert {
        "model",
        "sandbox",
        "python",
        "setup",
        "commands",
        "tests",
        "docs",
        "import_roots",
        "limits",
    } == set(value)
    assert value["setup"] == ["pip install pytest"]


def test_init_refuses_to_overwrite_without_force(scene: Scene) -> None:
    scene.run("init")
    path = scene.top / ".agentforge" / "config" / "settings.yaml"
    path.write_text("sandbox: landlock\n", encoding="utf-8")
    refused = scene.run("init")
    assert refused.returncode == 2
    assert "already exists" in refused.stderr
    assert path.read_text(encoding="utf-8") == "sandbox: landlock\n"
    assert scene.run("init", "--force").returncode == 0
    assert "sandbox: auto" in path.read_text(encoding="utf-8")


def test_what_init_detected_is_data_too(scene: Scene) -> None:
    assert scene.data("init")["tests"] == "{env}/bin/python -m pytest"


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(scene: Scene) -> None:
    command = forked.ForkedCommand(
        [COMMAND, "init"],
        cwd=scene.top,
        env=dict(scene.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.close()
    said = command.stderr.read()
    command.stderr.close()
    assert (command.wait(60), said) == (0, b"")


@pytest.mark.slow
def test_an_internal_error_is_one_line_and_a_traceback_only_on_request(scene: Scene) -> None:
    broken = {"PYTHONPATH": str(scene.top.parent), "PYTHONSAFEPATH": "1"}
    (scene.top.parent / "sitecustomize.py").write_text(BREAKS_WIRING, encoding="utf-8")
    done = scene.run("status", **broken)
    assert done.returncode == 1
    assert done.stderr.startswith("internal error: ZeroDivisionError: boom\n")
    assert "AGENTFORGE_DEBUG=1" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in scene.run("status", AGENTFORGE_DEBUG="1", **broken).stderr


@pytest.mark.slow
def test_a_directory_that_is_gone_is_said_to_be_gone(scene: Scene, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd "{gone}" && rmdir "{gone}" && exec "{COMMAND}" dashboard --port 0'
    done = subprocess.run(
        ["sh", "-c", line], env=dict(scene.environ), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: The directory you are in is gone.\n")


def test_a_refusal_by_policy_is_exit_4(scene: Scene) -> None:
    done = scene.run(
        "start", "x", "--model", scene.script(), "--sandbox", "bubblewrap", PATH=_path_without("bwrap", scene)
    )
    assert done.returncode == 4
    assert "bubblewrap" in done.stderr
    assert not (scene.top / ".agentforge" / "tasks").exists()


def _path_without(program: str, scene: Scene) -> str:
    """A PATH with git and no `program`."""
    place = scene.top.parent / "bin"
    place.mkdir()
    for directory in scene.environ["PATH"].split(os.pathsep):
        for tool in Path(directory).glob("*") if os.path.isdir(directory) else ():  # noqa: PTH112  # it may be hidden from us
            if tool.name != program and not (place / tool.name).exists():
                (place / tool.name).symlink_to(tool)
    return str(place)


def test_a_budget_in_dollars_must_be_one(untouched: Scene) -> None:
    done = untouched.run("start", "x", "--model", untouched.script(), "--budget", "lots")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'lots' is not an amount in dollars" in done.stderr


def test_a_character_the_terminal_cannot_show_does_not_crash(untouched: Scene) -> None:
    done = untouched.run("status", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "No tasks" in done.stdout


def on_terminal(scene: Scene, *words: str) -> tuple[int, str]:
    """The command with a terminal as its output."""
    ours, theirs = pty.openpty()
    child = forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env={**scene.environ, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        said += chunk
    os.close(ours)
    return child.wait(60), said.decode(errors="replace")


@pytest.mark.slow
def test_on_a_terminal_progress_has_colour_and_in_a_pipe_it_has_none(scene: Scene) -> None:
    model = scene.script()
    code, said = on_terminal(scene, "start", "greet the world", "--pipeline", "design", "--model", model)
    assert code == 1
    assert "\x1b[" in said
    assert "out of replies" in said
    done = scene.run("start", "greet the world", "--pipeline", "design", "--model", model)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
