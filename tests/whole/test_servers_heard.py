"""A language server in a whole task: nobody waits for it, what it said is on record, and steps are shown that."""

import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.app.evidence.replaying import replay
from agentforge.app.record.contexts import ContextReport, recorded_context
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.state import State
from agentforge.store.site import Site
from agentforge.store.task.pack import Pack
from tests.languages.speakers import speaker
from tests.whole.checkouts import PINNED, Person, make_repository
from tests.whole.heard_driver import drive_heard
from tests.whole.plays import Entry, Play, create, edit, finished, read, review, say

REQUEST = "Cart.add must add the price to the total"
CART, TILL, NEW_TEST = "shop/cart.py", "shop/till.py", "tests/test_cart.py"
SHOP = {
    "pyproject.toml": f'[project]\nname = "shop"\nversion = "1.0"\n\n[dependency-groups]\ntest = [{PINNED}]\n',
    "shop/__init__.py": "",
    CART: "class Cart:\n    total = 0\n\n    def add(self, price):\n        self.total = price\n",
    "shop/log.py": "class Log:\n    def add(self, line):\n        return line\n",
    TILL: "\n\n".join(f"def {name}_till(mine):\n    mine.add(1)\n" for name in ("open", "fill", "close")),
    "tests/test_log.py": 'from shop.log import Log\n\n\ndef test_a_line():\n    assert Log().add("x") == "x"\n',
}
RIGHT = {f"{CART}:4": [*((TILL, line) for line in (2, 6, 10)), ("/etc/passwd", 1)]}
SEEN = f"Using Cart.add, in {TILL}:\n  1: def open_till(mine)"
TEST = "from shop.cart import Cart\n\n\ndef test_two_prices():\n    cart = Cart()\n    cart.add(1)\n    cart.add(2)\n    assert cart.total == 3\n"
FIX = edit(CART, "self.total = price", "self.total += price")


WHEEL = "tools/server-1.0-py3-none-any.whl"


def _wheel(program: str, text: str) -> bytes:
    """A package whose one program is the server: the project depends on it, as on any other."""
    info = "server-1.0.dist-info"
    files = {
        f"server-1.0.data/scripts/{program}": text,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: server\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def papers() -> dict[str, Any]:
    return {
        "intake_record": {"extracted_intent": {"action": "fix", "target": "Cart.add", "scope": "file"}},
        "clarification": {"questions": []},
        "analysis": {"impacted_files": [{"path": CART, "reason": "it is there"}]},
        "specification": {
            "title": "Cart.add adds",
            "description": "The price is added.",
            "requirements": [
                {"id": "REQ-001", "description": "adds", "acceptance_criteria": ["1 and 2 are 3"]}
            ],
            "files_to_modify": [CART],
        },
        "test_suite": {
            "test_files": [
                {"path": NEW_TEST, "tests": [{"name": "test_two_prices", "requirement_ref": "REQ-001"}]}
            ]
        },
        "implementation": {"summary": "the price is added"},
    }


def replies() -> tuple[Entry, ...]:
    """A look around, then the change."""
    done = say("patch", create(NEW_TEST, TEST), FIX, artifacts=papers(), signal="success")
    return (say("patch", read(TILL)), say("patch", read("shop/log.py")), done, review())


def shop(place: Path, server: str, program: str, settings: str = "") -> Play:
    """The shop, whose environment has a language server of this text."""
    described = SHOP["pyproject.toml"].replace("test = [", 'test = ["server", ')
    files: dict[str, str | bytes] = {
        **SHOP,
        "pyproject.toml": f'{described}\n[tool.uv.sources]\nserver = {{ path = "{WHEEL}" }}\n# {program}\n',
        WHEEL: _wheel(program, server),
        ".agentforge/config/settings.yaml": settings,
    }
    return Play(Person(make_repository(place / "checkout", files), place / "script.yaml"))


def begun(play: Play, monkeypatch: pytest.MonkeyPatch) -> OpenTask:
    play.person.scripted(*replies())
    for name, value in play.person.environment().items():
        monkeypatch.setenv(name, value)
    options = agentforge.StartOptions(REQUEST, lane="hotfix", model=f"scripted:{play.person.script}")
    return agentforge.start(Site.open(play.top), options)


def context(task: OpenTask, step: int) -> ContextReport:
    return recorded_context(task.files, step)


def relations(shown: ContextReport) -> str:
    return "".join(block.text for block in shown.blocks if block.name == "relations")


def record(task: OpenTask, state: State) -> dict[str, Any]:
    assert state.told is not None
    with Pack(task.files.pack) as pack:
        found = pack.get_json(state.told.ref)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_steps_after_the_answer_are_shown_it_and_a_replay_without_the_server_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = shop(tmp_path, speaker(RIGHT), "ty")
    task = begun(play, monkeypatch)
    state = drive_heard(task)
    assert state.status == "completed", state.open_escalation
    assert state.told is not None
    assert state.told.since == 2
    first, second = context(task, 1), context(task, 2)
    assert TILL not in relations(first)
    assert SEEN in relations(second)
    assert SEEN in relations(context(task, 3))
    (why,) = [block.why for block in second.blocks if block.name == "relations"]
    assert why.endswith("who uses it: told by ty")
    kept = record(task, state)
    assert kept["tree"] == state.base_tree
    assert kept["uses"] == {f"{CART}::Cart.add": {TILL: [2, 6, 10]}}, "what lies outside is not kept"
    verified = play.person.run("verify", task.task_id, "--json")
    assert verified.code == 0, verified.said
    for program in (Path(os.environ["AGENTFORGE_HOME"]) / "cache").resolve().rglob("bin/ty"):
        program.unlink()
    again = replay(task)
    assert (again.divergence, again.other_contexts, again.contexts) == (None, (), again.contexts)
    assert again.state.told == state.told


@pytest.mark.slow
def test_killed_between_the_answer_and_its_record_it_is_asked_again_and_no_context_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = shop(tmp_path, speaker(RIGHT), "pyrefly")
    task = begun(play, monkeypatch)
    task.journal.close()
    child = [sys.executable, "-m", "tests.whole.heard_driver", str(play.top), task.task_id]
    done = subprocess.run(child, cwd=Path(__file__).parents[2], capture_output=True, check=False, timeout=250)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    task = OpenTask.open(Site.open(play.top), Site.open(play.top).find(task.task_id))
    assert task.state.told is None
    assert task.state.step == 1
    before = context(task, 1)
    state = drive_heard(task)
    assert state.status == "completed"
    assert state.told is not None
    assert context(task, 1).blocks == before.blocks
    for step in range(1, state.step):
        shown = context(task, step)
        if shown.stage == "patch":
            assert (SEEN in relations(shown)) == (step >= state.told.since), step


@pytest.mark.slow
def test_one_that_hangs_holds_up_neither_a_step_nor_the_end_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    mark = "agentforge-hangs-for-ever"
    play = shop(tmp_path, speaker(RIGHT, f"def answer(message):\n    time.sleep(600)  # {mark}"), "pylsp")
    play.person.scripted(*replies())
    began = time.monotonic()
    words = ("start", REQUEST, "--lane", "hotfix", "--model", f"scripted:{play.person.script}", "--json")
    data = finished(play.person.run(*words))
    took = time.monotonic() - began
    files = Site.open(play.top).find(data["task_id"])
    assert Site.open(play.top).read(files).state.told is None
    assert took < 250
    commands = [place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline") if place.exists()]
    assert not [each for each in commands if b"bin/pylsp" in each and str(tmp_path).encode() in each]


@pytest.mark.slow
def test_one_that_dies_is_named_where_a_context_is_looked_at_and_one_that_is_off_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = speaker(RIGHT, "def answer(message):\n    os._exit(1)")
    task = begun(shop(tmp_path / "dies", dying, "jedi-language-server"), monkeypatch)
    state = drive_heard(task)
    assert state.status == "completed"
    said = "language server jedi-language-server: ended before it had answered"
    assert said in context(task, 2).dropped
    assert said not in context(task, 1).dropped
    assert relations(context(task, 2)) == relations(context(task, 1))
    off = begun(shop(tmp_path / "off", dying, "jedi-language-server", "language_server: off\n"), monkeypatch)
    assert not off.state.asks_servers
    quiet = drive_heard(off)
    assert (quiet.status, quiet.told) == ("completed", None)
    assert not [line for line in context(off, 2).dropped if "server" in line]
    with Pack(off.files.pack) as pack:
        assert off.state.baseline is not None
        base: Any = pack.get_json(off.state.baseline.ref)
    assert "language_servers" not in base, "nobody even looked for one"
