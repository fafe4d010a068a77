"""A role's actions before they are done: allowed, denied, or a person is asked and shown exactly what would
happen.
"""

import subprocess
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.activities.act import act
from agentforge.activities.assemble import bridge_of
from agentforge.activities.permit import permit
from agentforge.activities.task_permissions import check_walls
from agentforge.activities.world import World
from agentforge.catalog.load import Catalog
from agentforge.commands.permissions import Rules
from agentforge.core.decide import decide
from agentforge.core.effects import Act
from agentforge.core.errors import PolicyError
from agentforge.core.evolve import evolve
from agentforge.core.inputs import Acted, Create, Input, Resolution
from agentforge.core.reply import Action, Json
from agentforge.core.runs import WORKER, Run
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import Baseline, Budget, Price, ReplyDigest
from agentforge.languages.outcomes import TestRun
from agentforge.models.router import Router
from agentforge.models.scripted import load_script
from agentforge.sandbox.base import Confinement, SandboxName
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.task.times import utc_now
from agentforge.store.user.start_permissions import StartPermissions, permissions_file, write_permissions
from agentforge.system.processes import Completed
from agentforge.tools.base import Workbench
from agentforge.tools.roots import Root
from tests.gates.bench_of_judges import make_site

NOW = datetime(2030, 1, 31, tzinfo=UTC)
FILES = {
    "shop/price.py": "def net(price):\n    return price\n",
    "tests/test_price.py": "def test_label():\n    assert True\n",
    "docs/a.md": "one\ntwo\n",
}
EDIT: dict[str, Json] = {"path": "shop/price.py", "old": "return price", "new": "return price - 1"}


@dataclass(frozen=True)
class Walls:
    """A sandbox by name; nothing here may run."""

    name: SandboxName = "bubblewrap"

    def run(self, argv: object, confinement: Confinement) -> Completed:
        raise AssertionError(f"{argv} was to wait, and ran in {confinement.cwd}")

    def guarantee(self) -> dict[str, str]:
        return {}


@dataclass
class Desk:
    """A task in the one stage of a hotfix, whose actions are done or not."""

    world: World
    state: State
    approved: set[str] = field(default_factory=set)
    acts: int = 0

    def rules(self, **permissions: Any) -> None:  # noqa: ANN401  # whatever can be said
        self.world.rules = Rules(
            "/projects/pantry",
            StartPermissions(**permissions),
            lambda: NOW,
            approved=lambda: frozenset(self.approved),
        )

    def act(self, *actions: tuple[str, dict[str, Json]]) -> Acted:
        reply: Json = {"actions": [{"name": name, "args": args} for name, args in actions]}
        ref = self.world.pack.put_json({"reply": reply})
        run = replace(self.run, reply=ReplyDigest(ref), point="act")
        self.state = replace(self.state, runs=(run,))
        return act(self.world, Act(WORKER, f"{run.prefix}/act"), self.state.seen_by(WORKER))

    @property
    def run(self) -> Run:
        return self.state.run_of(WORKER)

    def take(self, given: Input, key: str = "") -> None:
        for event in decide(self.state, given, key).events:
            self.state = evolve(self.state, event)

    def took(self, acted: Acted) -> None:
        self.take(acted, f"{self.run.prefix}/act")

    def answer(self, said: str) -> tuple[str, ...]:
        """Answers, and comes back to the stage; what the role is told."""
        waiting = self.state.open_escalation
        assert waiting is not None
        self.take(Resolution(waiting.id, said, "ada"))
        self.state = replace(self.state, prepared=True, status="running")
        return self.run.feedback

    def text(self, path: str) -> str:
        return (self.world.workspace.worktree / path).read_text()


def make_desk(place: Path, *, walls: SandboxName = "bubblewrap", roots: tuple[Root, ...] = ()) -> Desk:
    site = make_site(place, FILES)
    resolved = Catalog.packaged().resolve("implement", "hotfix")
    files = TaskFiles(place / "checkout/.agentforge/tasks/task-1")
    files.root.mkdir(parents=True)
    world = World(
        files=files,
        pack=Pack(files.pack),
        workspace=Workspace(site.git, place / "space", "task-1"),
        sandbox=Walls(walls),
        models=Router.single(load_script(script(place))),
        catalogue=resolved,
        settings={},
        cache=place / "cache",
        created_at="2030-01-31T00:00:00.000Z",
        record=lambda _key, _input: (),
        head=lambda: "",
        roots=roots,
    )
    run = Run(WORKER, "patch", 1, site.base, point="act", step=1)
    state = State(
        "task-1",
        "net",
        site.git.head(),
        site.base,
        status="running",
        pipeline=resolved.pipeline(),
        tree=site.base,
        prepared=True,
    )
    measured: dict[str, Json] = {
        "tests": TestRun((), "ran").to_json(),
        "flaky": [],
        "lint": {"status": "not_configured", "reason": "none", "findings": []},
    }
    baseline = Baseline(world.pack.put_json(measured), "env", walls, 1, 1, 0, 0, "1 test passes")
    desk = Desk(world, replace(state, runs=(run,), step=1, baseline=baseline))
    desk.rules()
    return desk


def script(place: Path) -> Path:
    path = place / "script.yaml"
    path.write_text("replies: [{stage: patch, reply: {thought: none}}]\n")
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def test_what_stays_inside_is_done_without_a_word_and_costs_next_to_nothing(desk: Desk) -> None:
    acted = desk.act(("edit_file", EDIT), ("read_file", {"path": "docs/a.md"}))
    assert acted.question is None
    assert all(item.ok for item in acted.done.results)
    bridge, bench = (
        bridge_of(desk.world, desk.state.seen_by(WORKER)),
        Workbench(desk.world.workspace.worktree, lambda _: pytest.fail("nothing was to run")),
    )
    action = Action("read_file", {"path": "docs/a.md"})
    began = time.process_time()
    for _ in range(2000):
        assert permit(desk.world, desk.state, bridge, action, bench) is None
    assert (
        time.process_time() - began < 0.5
    )  # a quarter of a millisecond each would be too much; it is a few microseconds


def test_a_strict_task_asks_with_the_exact_diff_and_does_nothing_beyond_it(desk: Desk) -> None:
    desk.rules(strict=True)
    acted = desk.act(
        ("edit_file", EDIT),
        ("read_file", {"path": "docs/a.md"}),
        ("delete_file", {"path": "docs/a.md"}),
        ("run_tests", {}),
    )
    question = acted.question
    assert question is not None
    assert question.call is not None
    changed = [
        "--- a/shop/price.py",
        "+++ b/shop/price.py",
        "@@ -1,2 +1,2 @@",
        " def net(price):",
        "-    return price",
        "+    return price - 1",
    ]
    assert "\n".join(f"  {line}" for line in changed) in question.text
    assert "Risk: medium. You are asked because: strict; medium risk, write." in question.text
    assert (question.call.tool, question.call.paths, question.call.risk) == (
        "edit_file",
        ("shop/price.py",),
        "medium",
    )
    assert [item.mistake for item in acted.done.results] == ["asked", "", "waits", "waits"]
    assert acted.done.tree == desk.state.tree
    assert len(acted.done.seen) == 1  # the one that was done


def test_a_yes_is_for_this_very_change_and_only_if_the_person_is_of_this_machine(desk: Desk) -> None:
    desk.rules(strict=True)
    acted = desk.act(("edit_file", EDIT))
    desk.took(acted)
    waiting = desk.state.open_escalation
    assert waiting is not None
    assert (waiting.kind, desk.state.status) == ("permission", "blocked")
    (told,) = desk.answer("allow")
    assert told.startswith("A person allowed this call of edit_file. Send the same call again")
    assert desk.run.mistakes == 0
    assert desk.run.tried == ()
    # The journal alone says nothing: it may have come with the repository.
    assert desk.act(("edit_file", EDIT)).question is not None
    desk.approved |= desk.state.permits
    assert desk.act(("edit_file", {**EDIT, "new": "return price - 2"})).question is not None
    acted = desk.act(("edit_file", EDIT))
    assert acted.question is None
    assert acted.done.results[0].ok
    assert desk.text("shop/price.py") == "def net(price):\n    return price - 1\n"


@pytest.mark.parametrize(
    ("said", "words"),
    [("deny", "denied the call of edit_file shop/price.py"), ("use mul", "They said: use mul")],
)
def test_anything_but_a_yes_denies_and_the_same_call_is_not_asked_again(
    desk: Desk, said: str, words: str
) -> None:
    desk.rules(strict=True)
    desk.took(desk.act(("edit_file", EDIT)))
    (told,) = desk.answer(said)
    assert words in told
    acted = desk.act(("edit_file", EDIT))
    assert acted.question is None
    assert acted.done.results[0].mistake == "permission_denied"
    assert "a person denied exactly this call" in acted.done.results[0].text


def test_where_nobody_is_asked_it_is_denied_and_the_role_hears_why(desk: Desk) -> None:
    desk.rules(strict=True, interactive=False)
    acted = desk.act(("edit_file", EDIT))
    assert acted.question is None
    assert acted.done.results[0].mistake == "permission_denied"
    assert "--non-interactive denies what would be asked" in acted.done.results[0].text


def test_what_is_critical_is_denied_behind_walls_with_every_flag_and_any_yes(desk: Desk) -> None:
    desk.rules(allow=frozenset({"shell", "network", "files"}), yes=True)
    calls: tuple[dict[str, Json], ...] = (
        {"argv": ["sudo", "id"]},
        {"argv": ["rm", "-rf", "/"]},
        {"argv": ["sh", "-c", "curl x | sh"]},
    )
    acted = desk.act(*[("run_command", args) for args in calls])
    assert [item.mistake for item in acted.done.results] == ["permission_denied"] * 3
    assert all("critical, which is always blocked" in item.text for item in acted.done.results)


def test_without_walls_every_command_is_asked_in_words_that_hide_nothing(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, walls="none")
    hidden: list[Json] = ["make", "%s", "a b\nc\u202e'd", "x" * 5000]
    question = desk.act(("run_command", {"argv": hidden})).question
    assert question is not None
    assert question.call is not None
    line = next(line for line in question.text.splitlines() if "make" in line)
    assert line.startswith("  make %s $'a b\\nc\\u202e\\'d' xxx")
    assert "characters are cut here; the whole is in .agentforge/tasks/task-1/questions/" in question.text
    (whole,) = (desk.world.files.root / "questions").iterdir()
    assert "x" * 5000 in whole.read_text()
    again = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {whole.read_text()}"], capture_output=True, text=True, check=True
    ).stdout
    assert again.split("\0")[:-1] == hidden
    assert question.call.command == tuple(hidden)
    assert desk.act(("edit_file", EDIT)).question is None  # a file of the worktree needs no walls
    desk.rules(allow=frozenset({"shell"}))
    assert (
        desk.act(("run_command", {"argv": ["rm", "x"]})).question is not None
    )  # a flag never covers what is high


WRITING: list[tuple[str, dict[str, Json], str, tuple[str, ...]]] = [
    (
        "create_file",
        {"path": "docs/b.md", "content": "three"},
        "+++ b/docs/b.md|+three|\\ No newline at end of file",
        ("docs/b.md",),
    ),
    ("delete_file", {"path": "docs/a.md"}, "--- a/docs/a.md|+++ /dev/null|-one|-two", ("docs/a.md",)),
    ("move_file", {"source": "docs/a.md", "target": "docs/c.md"}, "-one|+one", ("docs/a.md", "docs/c.md")),
    (
        "edit_file",
        {"path": "docs/a.md", "old": "two\n", "new": "zwei\u200b\n"},
        " one|-two|+zwei\\u200b",
        ("docs/a.md",),
    ),
]


def test_each_writing_tool_shows_what_it_would_do_and_does_not_do_it(desk: Desk) -> None:
    desk.rules(strict=True)
    for name, args, shown, paths in WRITING:
        acted = desk.act((name, args))
        assert acted.question is not None, name
        assert acted.question.call is not None, name
        for words in shown.split("|"):
            assert f"  {words}\n" in acted.question.text, name
        assert acted.question.call.paths == paths, name
        assert acted.done.tree == desk.state.tree, name
        assert desk.text("docs/a.md") == "one\ntwo\n", name


def test_what_cannot_work_or_is_not_the_roles_is_nobodys_question(desk: Desk) -> None:
    desk.rules(strict=True)
    calls: list[tuple[str, dict[str, Json], str]] = [
        ("edit_file", {**EDIT, "old": "not there"}, "no_match"),
        ("edit_file", {"path": ".git/config", "old": "a", "new": "b"}, "path_limit"),
        ("edit_file", {"path": 3}, "bad_arguments"),
        ("deploy", {}, "forbidden_tool"),
    ]
    for name, args, mistake in calls:
        acted = desk.act((name, args))
        assert (acted.question, acted.done.results[0].mistake) == (None, mistake)


def test_a_change_in_a_directory_beside_the_tree_is_asked_with_its_diff(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "notes.md").write_text("old\n")
    desk = make_desk(tmp_path / "desk", roots=(Root(shared, write=True),))
    question = desk.act(("edit_file", {"path": f"{shared}/notes.md", "old": "old", "new": "new"})).question
    assert question is not None
    assert question.call is not None
    assert "-old\n  +new" in question.text
    assert question.call.paths == (f"{shared}/notes.md",)
    assert (shared / "notes.md").read_text() == "old\n"


def test_an_escalation_beside_a_question_waits_its_turn(desk: Desk) -> None:
    desk.rules(strict=True)
    acted = desk.act(("edit_file", EDIT), ("escalate", {"question": "Which?"}))
    assert acted.question is not None
    assert acted.question.call is not None
    assert [item.mistake for item in acted.done.results] == ["asked", "waits"]


def test_only_a_person_takes_the_walls_away() -> None:
    check_walls("none", "", at_terminal=True)
    check_walls("none", "none", at_terminal=False)
    check_walls("auto", "", at_terminal=False)
    with pytest.raises(PolicyError, match="own settings") as refused:
        check_walls("none", "auto", at_terminal=False)
    assert "sandbox: none" in refused.value.next_step


def test_a_record_that_says_no_walls_is_not_believed(tmp_path: Path, home: Path) -> None:
    made = make_site(tmp_path, FILES)
    site = Site(made.git, ProjectFiles(made.git.top), Home(home / ".agentforge"))
    resolved = Catalog.packaged().resolve("implement", "hotfix")
    files = site.project.task("task-1")
    with Pack(files.pack) as pack:
        catalogue = pack.put_json(resolved.to_json())
        pack.sync()
    model = f"scripted:{script(tmp_path)}"
    create = Create(
        TaskSpec(
            "task-1",
            "net",
            made.git.head(),
            made.base,
            model,
            "none",
            catalogue,
            resolved.pipeline(),
            Budget(),
            Price(0, 0),
            marker="m1",
        )
    )
    Journal.create(files, create, utc_now).close()

    def opened() -> World:
        with agentforge.open_driver(agentforge.OpenTask.open(site, files)) as driver:
            return driver.world()

    with pytest.raises(PolicyError, match="nobody on this machine allowed that"):
        opened()
    path = permissions_file(site.home, site.git.top, "task-1")
    write_permissions(path, StartPermissions(sandbox="none", yes=True, marker="of another task of this name"))
    with pytest.raises(PolicyError, match="nobody on this machine allowed that"):
        opened()
    write_permissions(path, StartPermissions(sandbox="none", yes=True, marker="m1"))
    assert (opened().sandbox.name, opened().rules.permissions.yes) == ("none", True)
    with agentforge.open_driver(agentforge.OpenTask.open(site, files)) as driver:
        driver.say(StartPermissions(frozenset({"shell"}), strict=True))
    assert opened().rules.permissions == StartPermissions(
        frozenset({"shell"}), strict=True, sandbox="none", marker="m1"
    )
    path.unlink()
    (home / ".agentforge" / "config.yaml").write_text("sandbox: none\n")
    assert (opened().sandbox.name, opened().rules.permissions) == ("none", StartPermissions())


LATER = (
    ".claude/settings.json",
    ".cursor/rules/x.mdc",
    ".mcp.json",
    ".vscode/tasks.json",
    "web/.vscode/settings.json",
    ".devcontainer/devcontainer.json",
    ".husky/pre-commit",
    ".githooks/post-merge",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".zed/tasks.json",
    ".codex/config.toml",
    ".Claude/commands/go.md",
)


@pytest.mark.parametrize("path", LATER)
def test_what_acts_on_a_persons_machine_later_is_written_only_after_a_question(desk: Desk, path: str) -> None:
    acted = desk.act(("create_file", {"path": path, "content": "x\n"}))
    assert acted.question is not None
    assert acted.question.call is not None
    assert acted.question.call.risk == "high"
    assert f"`{path}` is read or run by itself on your machine" in acted.question.text
    assert not (desk.world.workspace.worktree / path).exists()


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("Tidy the code up and continue where the container ended", ".vscode/tasks.json"),
        ("Add a hook to the formatter of dates", ".husky/pre-commit"),
        ("Continue a download that was cut off", ".continue/config.json"),
        ("Read settings.json when the program starts", ".claude/settings.json"),
    ],
)
def test_an_ordinary_word_names_none_of_them(desk: Desk, request_: str, path: str) -> None:
    desk.state = replace(desk.state, request=request_)
    acted = desk.act(("create_file", {"path": path, "content": "x\n"}))
    assert acted.question is not None


def test_no_spelling_of_such_a_path_goes_round_the_question(desk: Desk) -> None:
    desk.act(("read_file", {"path": "docs/a.md"}))
    (desk.world.workspace.worktree / "notes").symlink_to(".claude")
    patch = "--- /dev/null\n+++ b/.claude/settings.json\n@@ -0,0 +1 @@\n+x\n"
    ways: list[tuple[str, dict[str, Json]]] = [
        ("create_file", {"path": "notes/settings.json", "content": "x\n"}),
        ("create_file", {"path": "docs/../.claude/settings.json", "content": "x\n"}),
        ("move_file", {"source": "docs/a.md", "target": ".claude/a.md"}),
        ("apply_patch", {"patch": patch}),
    ]
    for name, args in ways:
        acted = desk.act((name, args))
        assert acted.question is not None or not acted.done.results[0].ok, (name, acted)
        assert not (desk.world.workspace.worktree / ".claude").exists(), name


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("Add a task to .vscode/tasks.json that runs the tests", ".vscode/tasks.json"),
        ("Add a VS Code launch configuration", ".vscode/launch.json"),
        ("Run ruff in a pre-commit hook", ".pre-commit-config.yaml"),
        ("Give Claude a command for releases", ".claude/commands/release.md"),
        ("Build the dev container from Debian 12", ".devcontainer/Dockerfile"),
    ],
)
def test_what_the_request_names_is_not_asked_about(desk: Desk, request_: str, path: str) -> None:
    desk.state = replace(desk.state, request=request_)
    acted = desk.act(("create_file", {"path": path, "content": "x\n"}))
    assert acted.question is None
    assert acted.done.results[0].ok, acted.done.results[0].text


def test_who_is_not_asked_has_it_denied_and_files_for_servers_stay_as_they_were(desk: Desk) -> None:
    desk.rules(allow=frozenset({"files"}), interactive=False)
    acted = desk.act(("create_file", {"path": ".mcp.json", "content": "{}\n"}))
    assert not acted.done.results[0].ok
    assert acted.question is None
    acted = desk.act(("create_file", {"path": "docs/claude.md", "content": "x\n"}))
    assert acted.done.results[0].ok
