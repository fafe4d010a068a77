"""Repositories by name: registered, worked on from anywhere, moved, proposed by a project."""

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.repositories import read_repositories, repositories_file
from agentforge.system import strict_yaml
from tests import forked
from tests.rows import every
from tests.surfaces.scene import CODE, COMMAND, QUESTION, Scene, make_scene

ON_A_REPOSITORY: Mapping[str, tuple[str, ...]] = {
    "start": ("x",),
    "debate": ("x",),
    "phase start": ("x",),
    "phase brainstorm": (),
    "phase research": (),
    "phase design": (),
    "phase plan": (),
    "phase test": (),
    "phase build": (),
    "phase validate": (),
    "phase review": (),
    "phase learn": (),
    "phase continue": (),
    "phase save": (),
    "phase debate": (),
    "phase check": (),
    "phase log": (),
    "design": ("x",),
    "implement": ("x",),
    "test": ("x",),
    "review": ("src",),
    "document": ("src",),
    "research": ("x",),
    "write": ("x",),
    "analyse": ("x",),
    "curate": ("x",),
    "sources add": ("https://example.org",),
    "sources list": (),
    "fix": ("V-04b31cde217a",),
    "init": (),
    "status": (),
    "logs": (),
    "continue": (),
    "abort": ("task-1",),
    "approve": (),
    "reject": ("task-1",),
    "feedback": ("task-1", "words"),
    "artifacts list": (),
    "artifacts show": (),
    "artifacts export": ("task-1", "--to", "there"),
    "escalations list": (),
    "escalations show": ("ESC-001",),
    "resolve": ("ESC-001", "--abort"),
    "diff": (),
    "merge": ("task-1",),
    "discard": ("task-1",),
    "inspect": (),
    "context": (),
    "verify": (),
    "audit": (),
    "trace": (),
    "replay": (),
    "fork": (),
    "defect": ("@1", "--note", "x"),
    "compare": ("@1", "@1"),
    "report": (),
    "cost": (),
    "pipelines list": (),
    "pipelines show": ("implement",),
    "pipelines validate": ("x.yaml",),
    "permissions list": (),
    "permissions allow": ("run_command", "--command", "make"),
    "permissions explain": ("make",),
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, {"greeting.py": CODE})


def beside(scene: Scene, name: str, branch: str = "main") -> Scene:
    """One more repository of the same person; `branch` is what its commit is on, something else is checked
    out.
    """
    top = scene.top.parent / name
    top.mkdir()
    other = replace(scene, top=top)
    other.git("init", "--quiet", f"--initial-branch={branch}")
    (top / "schema.sql").write_text("create table events (id integer);\n", encoding="utf-8")
    other.git("add", "--all")
    other.git("commit", "--quiet", "--message", "First")
    other.git("switch", "--quiet", "--create", "somebodys-work")
    other.git("commit", "--quiet", "--allow-empty", "--message", "Not for tasks")
    return other


@pytest.mark.slow
def test_tasks_run_in_several_repositories_at_once_from_any_directory(scene: Scene) -> None:
    data, gateway = beside(scene, "data", "develop"), beside(scene, "gateway")
    elsewhere = replace(scene, top=scene.top.parent)
    named = ("--name", "data-layer", "--default-branch", "develop")
    added = elsewhere.data("repo", "add", "data", *named, "--contracts-path", "contracts/")
    assert added["change"] == "added"
    assert elsewhere.run("repo", "add", "gateway").returncode == 0
    assert "is registered already" in elsewhere.run("repo", "add", "gateway").stdout
    file = repositories_file(Home(Path(scene.environ["AGENTFORGE_HOME"])))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert strict_yaml.load_file(file) == {
        "repositories": [
            {
                "name": "data-layer",
                "path": str(data.top),
                "default_branch": "develop",
                "contracts_path": "contracts/",
            },
            {"name": "gateway", "path": str(gateway.top), "default_branch": "main"},
        ]
    }
    model = scene.script(*[("intake", QUESTION)] * 2)
    started = [
        forked.ForkedCommand(
            [COMMAND, "design", f"Plan for {name}", "--repo", name, "--model", model],
            cwd=elsewhere.top,
            env=dict(scene.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in ("data-layer", "gateway")
    ]
    said = [each.communicate()[0] for each in started]
    assert [each.returncode for each in started] == [3, 3], said
    shown = elsewhere.run("status", "--all").stdout.splitlines()
    assert sorted(line.split()[0] for line in shown) == ["data-layer:", "gateway:"], shown
    assert all(" @1 " in line for line in shown), "as commands in each of them call it"
    assert elsewhere.data("status", data.task, "--repo", "data-layer")["repo"] == "data-layer"
    for other, branch in ((data, "develop"), (gateway, "main")):
        (base,) = other.git("rev-parse", branch).split()
        assert base in next((other.top / ".agentforge/tasks").glob("*/task.yaml")).read_text()
    rows = {row["name"]: row for row in elsewhere.data("repo", "list")}
    assert (rows["data-layer"]["state"], rows["data-layer"]["open_tasks"]) == ("ready", 1)
    assert "ESC-001" in elsewhere.run("escalations", "list", "--repo", "gateway").stdout
    aborted = elsewhere.run("abort", gateway.task, "--repo", "gateway")
    assert aborted.returncode == 0, aborted.stderr
    assert elsewhere.data("repo", "remove", "gateway")["name"] == "gateway"
    assert (gateway.top / ".agentforge/tasks").is_dir()
    assert elsewhere.run("status", "--repo", "gateway").returncode == 2


@pytest.mark.slow
def test_a_repository_that_moved_is_one_sentence_and_found_again_where_it_is_now(scene: Scene) -> None:
    data = beside(scene, "data")
    elsewhere = replace(scene, top=scene.top.parent)
    assert elsewhere.run("repo", "add", "data").returncode == 0
    model = scene.script(*[("intake", QUESTION)] * 2)
    assert elsewhere.run("design", "Plan it", "--repo", "data", "--model", model).returncode == 3
    data.top.rename(scene.top.parent / "moved")
    done = elsewhere.run("start", "Plan more", "--repo", "data", "--model", model)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: data is registered at {data.top}, where there is no repository.",
        "If it moved, run `agentforge repo add NEW-PATH --name data`.",
    ]
    assert "no repository" in elsewhere.run("status", "--all").stderr
    assert elsewhere.data("repo", "list")[0]["state"] == "missing"
    assert elsewhere.data("repo", "add", "moved", "--name", "data")["change"] == "changed"
    assert "ESC-001" in elsewhere.run("escalations", "list", "--repo", "data").stdout
    answered = elsewhere.run("resolve", "ESC-001", "--repo", "data", "--answer", "world")
    assert answered.returncode == 3, answered.stderr  # it goes on there, and asks once more
    assert "ESC-002" in elsewhere.run("escalations", "list", "--repo", "data").stdout
    assert not elsewhere.run("status", "--all").stderr


def test_what_a_project_proposes_is_listed_and_not_opened_before_the_person_registers_it(
    scene: Scene,
) -> None:
    beside(scene, "data")
    proposal = "repositories:\n  - name: data-layer\n    path: ../data\n    default_branch: main\n"
    place = scene.top / ".agentforge/config/repos.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(proposal, encoding="utf-8")
    assert scene.data("repo", "list") == []  # only what is committed says anything
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "--message", "Name a neighbour")
    assert [row["state"] for row in scene.data("repo", "list")] == ["proposed"]
    done = scene.run("status", "--repo", "data-layer")
    assert done.returncode == 2
    assert "you have not registered it" in done.stderr
    assert "agentforge repo add" in done.stderr
    assert scene.run("repo", "add", "../data", "--name", "data-layer").returncode == 0
    assert scene.run("status", "--repo", "data-layer").returncode == 0


@pytest.mark.slow
@every(("command", "more"), ON_A_REPOSITORY.items())
def test_every_command_on_a_repository_takes_its_name(command: str, more: tuple[str, ...]) -> None:
    place = Path(os.environ["AGENTFORGE_HOME"]).parent
    place.mkdir(parents=True, exist_ok=True)
    nowhere = Scene(place, {**os.environ, "GIT_CEILING_DIRECTORIES": str(place.parent)})
    done = nowhere.run(*command.split(), "--repo", "nowhere", *more)
    assert done.returncode == 2, command
    assert done.stderr.startswith("error: No repository is registered as 'nowhere'"), (command, done.stderr)


WRONG = {
    "repositories: 7": "`repositories` is a list",
    "repos: []": "with one key, `repositories`",
    "repositories: [{name: a}]": "`path` is missing",
    "repositories: [{name: a, path: /x, branch: main}]": "unknown key `branch`",
    "repositories: [{name: a, path: x}]": "does not begin with `/` or `~`",
    "repositories: [{name: a b, path: /x}]": "cannot be the name",
    "repositories: [{name: a, path: /x}, {name: A, path: /y}]": "two repositories are called a",
    "repositories: [{name: a, path: /x, contracts_path: ../y}]": "names a folder of the repository",
}


@every(("text", "words"), WRONG.items())
def test_a_list_that_cannot_be_used_is_one_sentence_with_its_file(text: str, words: str) -> None:
    home = Home(Path(os.environ["AGENTFORGE_HOME"]))
    home.path.mkdir(parents=True, exist_ok=True)
    file = repositories_file(home)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(UsageError) as caught:
        read_repositories(home)
    assert words in caught.value.sentence
    assert str(file) in caught.value.sentence
    file.unlink()
