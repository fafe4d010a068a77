"""Wrong usages: each ends with exit code 2, one sentence, and a next step that works when it is pasted."""

import io
import re
import shlex
from pathlib import Path

import pytest

from agentforge.surfaces.cli.main import main
from tests.project.test_hints import QUOTED, wrong_with
from tests.surfaces.scene import CODE, QUESTION, TEST, Scene, make_scene

USAGES = """
nonsense | There is no command 'nonsense'
stats | Did you mean 'status'?
stat | Did you mean 'status'?
insp | Did you mean 'inspect'?
watch | Did you mean 'status --watch'?
help nonsense | There is no command 'nonsense'
resolve 7 --answer x | There is no question 7 in your inbox
resolve abc --answer x | No task here is called 'abc'
resolve @1 --answer x --option 1 | Give one of --answer TEXT, --option N and --abort
resolve @1 --model openai:m | This question is not about the model
continue @1 --model openai | Add the name: `openai:NAME`
merge 1 | changes no file, so there is nothing to merge
status 12 | There is no task @12
escalations show 7 | There is no question 7 in your inbox
--nonsense | No such option '--nonsense'
--repo here status | what a command takes comes after its name
demo --keep /dev/null/x | /dev/null/x cannot be made: not a directory
artifacts show | has made no document yet
status --nonsense | No such option '--nonsense'
status @9 | There is no task @9
status task-none | No task here is called 'task-none'
status one two | unexpected extra argument
start Fix the bug | Put the request in quotes: `agentforge start "Fix the bug"`
start --file nowhere.md | cannot be read from `nowhere.md`
start 'Fix x' --lane quick | 'quick' is not one of 'hotfix', 'small', 'full'
start 'Fix x' --mode slow | 'slow' is not one of
start 'Fix x' --base nowhere | `nowhere` is not a commit
start 'Fix x' --budget lots | 'lots' is not an amount in dollars
start 'Fix x' --model gpt | 'gpt' is not a model
start 'Fix x' --model nobody:x | there is no provider 'nobody'
start '…' | The request has no words; say what you want: `agentforge start "Add a --version flag"`
start 'Fix x' --modle m | Did you mean '--mode' or '--model'?
start 'Fix x' --model '' | --model is empty; give it a value or leave it out
start 'Fix x' --base '' | --base is empty
start --file '' | --file is empty
start 'Fix x' --repo '' | --repo is empty
start 'Fix x' --repo . | `agentforge repo add .` registers one
start 'Fix x' --iterate-at '' | --iterate-at is empty
start 'Fix x' --model openai | Add the name: `openai:NAME`
start 'Fix x' --model openai: | Add the name: `openai:NAME`
start 'Fix x' --model claude-sonnet-5-5 | Write its provider as well: `anthropic:claude-sonnet-5-5`
start 'Fix x' --model OpenAI:gpt-6.1-sol | Did you mean `openai:gpt-6.1-sol`?
start 'Fix x' --model : | Write `PROVIDER:MODEL`
research '' | The request is empty; say what you want: `agentforge research "How long
debate '?' | The request has no words; say what you want: `agentforge debate "Where
analyse | Say what you want: `agentforge analyse "What does data
design '' | `agentforge design "Let the parser understand fractions"`
start 'Fix x' --sandbox jail | 'jail' is not one of
start 'Fix x' --engine cloud | 'cloud' is not one of
start 'Fix x' --deadline soon | 'soon' is not a duration
start 'Fix x' | No model is configured
start 'Fix x' --model scripted:nowhere.yaml | There is no script nowhere.yaml
start 'Fix x' --model openai:m | OPENAI_API_KEY is not set
start 'Fix x' --model scripted:s.yaml --detach | --detach needs --engine temporal or --batch
implement --lane | Option '--lane' requires an argument
continue nobody | No task here is called 'nobody'
continue @0 | There is no task @0
continue --engine temporal | runs on the engine local
abort | Missing argument 'TASK'
abort nobody | No task here is called 'nobody'
discard | Missing argument 'TASK'
discard @1 | is not the whole name
merge | Missing argument 'TASK'
escalations show | Missing argument 'ID'
escalations show ESC-999 | No task is waiting for an answer to ESC-999
escalations show ESC-001 --task nobody | No task here is called 'nobody'
resolve ESC-001 | Give one of --answer TEXT, --option N and --abort
resolve ESC-001 --answer '' | --answer is empty
resolve ESC-001 --option 0 | 0 is not a number from 1 on
resolve ESC-001 --option x | 'x' is not a number
resolve ESC-001 --answer x --abort | Give one of --answer TEXT, --option N and --abort
resolve ESC-999 --answer x | No task is waiting for an answer to ESC-999
diff nobody | No task here is called 'nobody'
inspect --step 0 | 0 is not a number from 1 on
inspect --step 99 | has no step 99; it has 1
inspect --show all | 'all' is not one of
context --step 77 | has no step 77; it has 1
context --lane full | --lane needs --dry-run
context @1 --dry-run 'Fix x' | A dry run is for a request that is not a task yet
verify nobody | No task here is called 'nobody'
verify --at HEAD | --at is for an envelope
report nobody | No task here is called 'nobody'
report | has delivered nothing
cost --by week | 'week' is not one of
pipelines show nope | There is no pipeline nope. Choose one of
pipelines show implement --lane nope | has no lane nope; its lanes are
pipelines validate nowhere.yaml | nowhere.yaml cannot be read
permissions allow | Missing argument 'TOOL'
permissions allow run_command | name it with --command
permissions allow run_command --command x --days 0 | 0 is not a number from 1
permissions revoke nope | There is no grant 'nope'
permissions explain --mode x -- ls | There is no mode 'x'
models explain nobody | There is no role 'nobody'
models test nobody:x | there is no provider 'nobody'
auth login nobody | 'nobody' is not a provider
auth login openai | this is not a terminal
keys show | You have no signing key
keys trust ada nokey | not a public ed25519 key
config nope | No such command 'nope'
completion | Missing argument
completion tcsh | 'tcsh' is not one of
sandbox run --network '*' -- true | '*' is not a place on the network
redact nowhere.txt | cannot be read
server dev --port x | 'x' is not a number
config shwo | Did you mean 'show'?
phase stauts | Did you mean 'status' or 'start'?
Status | Did you mean 'status'?
trees nope | No such command 'nope'
clean --what | No such option '--what'
demo --keep . | is not empty
init --what | No such option '--what'
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A repository with one task, which waits for an answer."""
    scene = make_scene(
        tmp_path_factory.mktemp("usage"), {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    )
    assert scene.run("design", "Greet", "--model", scene.script(("intake", QUESTION))).returncode == 3
    return scene


@pytest.fixture
def here(asked: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(asked.top)
    monkeypatch.setenv("AGENTFORGE_HOME", asked.environ["AGENTFORGE_HOME"])
    return asked


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a refusal says; its next step can be typed."""
    capsys.readouterr()
    assert main(words) == 2, words
    out, said = capsys.readouterr()
    assert out == "", words
    first, _, rest = said.partition("\n")
    assert re.fullmatch(r"error: .*[.?]", first), (words, said)
    assert rest.strip(), (words, "no next step", said)
    assert "Errno" not in said, (words, said)
    assert {line: wrong_with(line) for line in QUOTED.findall(said)} == dict.fromkeys(
        QUOTED.findall(said), ""
    )
    return said


@pytest.mark.slow
def test_a_task_that_has_delivered_nothing_has_no_proof_yet(
    here: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("verify",)) == 1
    said = capsys.readouterr().out
    assert (
        "has no proof yet: it has delivered nothing. It waits for you: `agentforge escalations show" in said
    )
    assert "does not hold" not in said
    assert "does not match" not in said


@pytest.mark.slow
def test_every_wrong_usage_is_one_sentence_with_a_next_step(
    here: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert here.top.is_dir()
    rows = [line.split(" | ") for line in USAGES.strip().splitlines()]
    assert len(rows) >= 60
    for line, fragment in rows:
        assert fragment in refused(capsys, *shlex.split(line)), line


SETTINGS = (
    ("setup: [make]", "setup: has no effect here", "settings.yaml"),
    ("modle: openai:x", "modle: unknown key; did you mean `model`? Allowed: ", "config edit"),
    ("limits: {cost: 1}", "limits.cost: unknown key; did you mean `cost_usd`?", "config edit"),
    ("keep: {checkouts: many}", "keep.checkouts", "such as `keep: {environments_mb: 2000, checkouts: 20}`"),
    ("- a list", "is not a mapping", "config edit"),
    ("model: [", "config.yaml", "config edit"),
)


def test_every_wrong_setting_is_named_with_its_place_and_what_to_write(
    here: Scene, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.top.is_dir()
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path))
    config = tmp_path / "config.yaml"
    for text, fragment, advice in SETTINGS:
        config.write_text(f"{text}\n", encoding="utf-8")
        config.chmod(0o600)
        said = refused(capsys, "start", "Fix x", "--model", "openai:m")
        assert str(config) in said, text
        assert fragment in said, (text, said)
        assert advice in said, (text, said)


@pytest.mark.slow
def test_a_home_that_cannot_be_used_is_a_usage_error_wherever_it_is_met(
    here: Scene, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.top.is_dir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "file"))
    for words in ("status", "start 'Fix x' --model openai:m", "config show", "models list", "clean", "cost"):
        assert "is no directory" in refused(capsys, *shlex.split(words)), words
    for given, said in (
        ("here", "Set it to an absolute path"),
        ("~nobody-of-this-name/x", "cannot be found"),
    ):
        monkeypatch.setenv("AGENTFORGE_HOME", given)
        for words in ("status", "config show", "clean"):
            assert said in refused(capsys, *words.split()), words
    monkeypatch.setenv("AGENTFORGE_HOME", "")
    monkeypatch.setenv("HOME", "")
    assert "HOME is empty" in refused(capsys, "config", "path"), "not the root directory"
    monkeypatch.setenv("AGENTFORGE_HOME", "/proc/nowhere")
    assert "Set AGENTFORGE_HOME" in refused(capsys, "keys", "init")


def test_an_editor_that_cannot_be_used_is_named_with_what_to_do_instead(
    here: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.top.is_dir()
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for editor, said in (
        ("no-such-editor", "The editor no-such-editor did not start: no such file or directory."),
        ("false", "The editor false failed."),
        ("", "An editor needs a terminal, and this is none."),
    ):
        monkeypatch.setenv("EDITOR", editor)
        assert said in refused(capsys, "config", "edit"), editor
