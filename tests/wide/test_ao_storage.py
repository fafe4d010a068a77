"""AO's own code, of both lines of its storage: it shows our keys, keeps them, and finds its rules kept.

The program `ao` cannot be had from the registry; its session manager can. The older line is its released core with
its released worktree plugin, the newer one the core inside the released server. Only the newer one has a lock: in the older
an update can be lost, and is made again by the next sync.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any, Literal

import pytest

from agentforge.integrations.ao import WorkflowKeys, sync
from agentforge.integrations.ao_debates import ask_program, fetch_files, role_prompt, spawn_commands
from agentforge.integrations.ao_metadata import read_session, write_keys
from tests.integrations.test_ao import ROLES
from tests.wide.toolkits import npm, npm_packed

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(600), pytest.mark.xdist_group("ao")]
HERE = Path(__file__).parent
KEYS = WorkflowKeys(
    "design", "blocked", "plan", "Ünïcode = fine", "design-1", "pending", "main", "", "2.0.0", "a", "b"
)
PLUGINS = "@composio/ao-plugin-workspace-worktree@0.2.0"
Line = Literal["old", "new"]


class Orchestrator:
    """AO, as a process that takes orders."""

    def __init__(self, line: Line, place: Path) -> None:
        core = npm("ao-old", "@composio/ao-core@0.2.0", PLUGINS)
        folder = core if line == "old" else npm_packed("ao-new", "@aoagents/ao-web@0.9.5")
        self.line = line
        self.repository = repository(place)
        environment = {
            **os.environ,
            "HOME": str(place),
            "AO_WORKTREES": str(core),
            "FAKE_AGENT": f"exec {sys.executable} {HERE / 'ao_agent.py'}",
        }
        self.process = subprocess.Popen(
            ["node", HERE / "ao_driver.mjs", line, folder, self.repository],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.sessions = Path(self.order("where")["sessions"])

    def order(self, order: str, **more: object) -> Any:  # noqa: ANN401 - whatever AO answers
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"order": order, **more}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "AO has ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["done"]

    def metadata(self, session: str) -> dict[str, str]:
        """What AO itself shows of a session."""
        (found,) = [each for each in self.order("list") if each["id"] == session]
        return dict(found["metadata"])

    def environment(self, session: str) -> dict[str, str]:
        return {"AO_SESSION": session, "AO_DATA_DIR": str(self.sessions), "PATH": "/nowhere"}

    def file(self, session: str) -> Path:
        return self.sessions / (session if self.line == "old" else f"{session}.json")

    def spawned(self, prompt: str) -> str:
        return str(self.order("spawn", prompt=prompt)["id"])

    def end(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def repository(place: Path) -> Path:
    """One with a remote: AO's worktrees start from there."""
    top = place / "repo"
    top.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=top, check=True, capture_output=True)

    git("init", "--quiet")
    (top / "readme.txt").write_text("A project.\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "First")
    git("clone", "--quiet", "--bare", ".", str(place / "origin.git"))
    git("remote", "add", "origin", str(place / "origin.git"))
    git("fetch", "--quiet", "origin")
    return top


@pytest.fixture(params=["old", "new"])
def ao(request: pytest.FixtureRequest, home: Path) -> Iterator[Orchestrator]:
    made = Orchestrator(request.param, home)
    yield made
    made.end()


def until(true: Any, seconds: float = 30) -> Any:  # noqa: ANN401 - whatever is waited for
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)
    return found


def test_a_workflow_that_a_session_begins_is_in_aos_own_listing(ao: Orchestrator) -> None:
    name = ao.spawned("Begin a workflow")
    shown = until(lambda: found if (found := ao.metadata(name)).get("forge_phase") else None)
    assert (shown["forge_phase"], shown["forge_next"], shown["forge_version"]) == (
        "init",
        "brainstorm",
        "2.0",
    )
    ao.order("update", id=name, updates={"forge_phase": ""})
    until(lambda: ao.metadata(name).get("forge_phase"))


def test_what_ao_was_told_survives_its_updates(ao: Orchestrator) -> None:
    name = ao.spawned("Wait")
    assert sync(KEYS, ao.environment(name)).outcome == "written"
    assert sync(KEYS, ao.environment(name)).outcome == "unchanged"
    ao.order("update", id=name, updates={"summary": "of AO again"})
    assert sync(KEYS, ao.environment(name)).outcome == "unchanged", "AO keeps them as they are"
    shown = ao.metadata(name)
    wanted = {key: value for key, value in KEYS.flat().items() if value}
    assert {key: value for key, value in shown.items() if key.startswith("forge_")} == wanted
    assert shown["summary"] == "of AO again"
    assert shown["branch"] == f"session/{name}"
    if ao.line == "new":
        raw = json.loads(ao.file(name).read_text())
        assert "status" not in raw
        assert raw["lifecycle"]["version"] == 2, "still an object"
    assert [each["id"] for each in ao.order("list")] == [name], "nothing of ours is taken for a session"


@pytest.mark.parametrize("ao", ["new"], indirect=True)
def test_writers_of_both_sides_at_once_lose_nothing(ao: Orchestrator) -> None:
    name = ao.spawned("Wait")
    for number in range(60):
        assert ao.process.stdin is not None
        ao.process.stdin.write(
            json.dumps({"order": "update", "id": name, "updates": {f"ao_{number}": "x"}}) + "\n"
        )
        ao.process.stdin.flush()
        assert write_keys(ao.sessions, name, {f"forge_{number}": "x"}, wait_s=20).outcome == "written"
    assert ao.process.stdout is not None
    assert [json.loads(ao.process.stdout.readline()) for _ in range(60)] == [{"done": {}}] * 60
    found = ao.metadata(name)
    assert all(found[f"{whose}_{number}"] == "x" for whose in ("ao", "forge") for number in range(60))


@pytest.mark.parametrize("ao", ["new"], indirect=True)
def test_the_lock_is_aos_own(ao: Orchestrator) -> None:
    name = ao.spawned("Wait")
    lock = ao.file(name).with_suffix(".json.lock")
    lock.touch()
    assert sync(KEYS, ao.environment(name)).outcome == "locked"
    with pytest.raises(RuntimeError, match="Timed out waiting for file lock"):
        ao.order("update", id=name, updates={"summary": "x"})
    os.utime(lock, (time.time() - 60, time.time() - 60))
    assert sync(KEYS, ao.environment(name)).outcome == "written"
    assert not lock.exists()
    ao.order("update", id=name, updates={"summary": "x"})


def test_a_broken_or_empty_file_is_treated_as_ao_treats_it(ao: Orchestrator) -> None:
    name = ao.spawned("Wait")
    ao.file(name).write_text("")
    assert sync(KEYS, ao.environment(name)).outcome == "not_ready"
    ao.order("update", id=name, updates={"summary": "AO writes it first", "worktree": "/gone"})
    assert sync(KEYS, ao.environment(name)).outcome == "written"
    assert read_session(ao.sessions, name)["summary"] == "AO writes it first"
    if ao.line == "old":
        return
    for breaker in ("ours", "theirs"):
        ao.file(name).write_text("{broken")
        if breaker == "ours":
            assert sync(KEYS, ao.environment(name)).outcome == "written"
        else:
            ao.order("update", id=name, updates={"summary": "x"})
            assert sync(KEYS, ao.environment(name)).outcome == "written", "asserted again"
        assert read_session(ao.sessions, name)["forge_phase"] == "design"
        ao.order("list")
    aside = sorted(ao.sessions.glob(f"{name}.json.corrupt-*"))
    assert [path.read_text() for path in aside] == ["{broken"] * 2, "under the same name, whoever found it"


def test_files_of_roles_come_home_although_each_session_has_its_own_worktree(ao: Orchestrator) -> None:
    parent = ao.spawned("Wait")
    top = Path(next(each["workspace"] for each in ao.order("list") if each["id"] == parent))
    assert top != ao.repository
    folder = top / "docs/forge/debate/brainstorm-20260127-143022"
    folder.mkdir(parents=True)
    (folder / "debate-plan.md").write_text("The plan.\n")
    names = {role.name: ao.spawned(role_prompt(folder, role)) for role in ROLES if not role.comes_last}
    workspaces = {each["id"]: Path(each["workspace"]) for each in ao.order("list")}
    inside = "docs/forge/debate/brainstorm-20260127-143022"
    until((folder / "advocate.md").exists)
    until((workspaces[names["skeptic"]] / inside / "skeptic.md").exists)
    operator = f"session/{names['operator']}:{inside}/operator.md"
    until(
        lambda: (
            subprocess.run(
                ["git", "cat-file", "-e", operator], cwd=ao.repository, check=False, capture_output=True
            ).returncode
            == 0
        )
    )
    ao.order("kill", id=names["operator"])
    fetched = fetch_files(folder, ao.environment(parent), ROLES)
    found = sorted(path.name for path in folder.iterdir())
    assert found == ["advocate.md", "debate-plan.md", "operator.md", "skeptic.md"]
    assert {each.name for each in fetched} == {
        each for each in found if each not in ("advocate.md", "debate-plan.md")
    }
    assert (folder / "skeptic.md").read_text().startswith("# skeptic\n")
    ao.order("kill", id=names["skeptic"])
    assert not workspaces[names["skeptic"]].exists()
    assert (folder / "skeptic.md").exists(), "gathered before its worktree was removed"


def test_an_installed_ao_says_what_it_accepts() -> None:
    if which("ao") is None:
        pytest.skip("there is no program `ao`; no registry has one")
    program = ask_program(os.environ)
    assert program.is_asked
    assert program.version
    line = spawn_commands(Path.cwd(), program, {}, ROLES[:1])[0].line
    said = subprocess.run(["ao", "spawn", "--help"], capture_output=True, text=True, check=True).stdout
    assert all(word in said for word in re.findall(r" (--\w+) ", line))
