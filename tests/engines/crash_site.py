"""A small real task, run once to its end and kept, so that every crash test can start from any moment of it.

<shared>/crash-cache     environments, shared by all copies
<root>/finished/         the repository and the home after the whole run: refs, pack and worktree are ahead of
any prefix
<root>/moments/<key>/    both as they stood when the line with this key had just been written
"""

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import agentforge
from agentforge.core.events import Event
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Amount, ArtifactRef
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import Listener, read_lines
from agentforge.system.git.repository import Git
from tests.sharing import share_environments, start_as_before

LINES = 42
"""Decisions of the whole run, its creation included."""
REQUEST = "Let shout put an exclamation mark behind the text"
MOMENTS = ("prepare/1", "red/1/3/commit/1", "green/1/4/act", "review/1/5/ask/0/sent")
"""Where the site is kept as it stood. While one of these lines is written nothing else is in flight."""

PROJECT = {
    "shout.py": """
        def shout(text):
            return text.upper()
        """,
    "tests/test_shout.py": """
        from shout import shout


        def test_letters_are_large():
            assert shout("hey").startswith("HEY")
        """,
}
SCRIPT = Path(__file__).with_name("crash_script.yaml")
"""The model's words: one gate fails on the way."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the reference run does."""

    name: str
    lane: str
    script: Path
    moments: tuple[str, ...]
    project: Mapping[str, str] = field(default_factory=lambda: PROJECT)


SMALL = Plan("crash-site", "small", SCRIPT, MOMENTS)


@dataclass(frozen=True, slots=True)
class End:
    """What must be the same however often a run was killed."""

    status: str
    tree: str
    commit: str
    branches: tuple[tuple[str, str], ...]
    """Every branch of the task, whatever its name, and the commit that its seal is about."""
    finals: tuple[ArtifactRef, ...]
    documents: str
    """A hash over every file of an artifact, versions and finals."""
    spent: Amount


@dataclass(frozen=True, slots=True)
class Scene:
    """One copy of the site: a repository, a home, a task."""

    root: Path
    task_id: str

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def home(self) -> Home:
        return Home(self.root / "home")

    @property
    def files(self) -> TaskFiles:
        return ProjectFiles(self.repo).task(self.task_id)

    @property
    def trees(self) -> Path:
        return self.home.trees(self.repo, self.task_id).root

    def site(self) -> Site:
        git = Git.open(self.repo)
        return Site(git, ProjectFiles(git.top), self.home)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", "-C", str(self.repo), *words), check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def recorded(self) -> list[str]:
        return [line.key for line in read_lines(self.files.journal)]

    def drive(self, listener: Listener | None = None) -> State:
        """`agentforge continue`, here and now."""
        site = self.site()
        with agentforge.open_driver(
            agentforge.OpenTask.open(site, site.find(self.task_id)), listener=listener
        ) as driver:
            return driver.run()

    def end(self) -> End:
        site = self.site()
        state = site.read(self.files).state
        places = sorted((self.files.artifacts / "phases").rglob("*.yaml"))
        content = b"".join(
            f"{place.relative_to(self.files.root)}\n".encode() + place.read_bytes() for place in places
        )
        return End(
            state.status,
            state.tree,
            state.commit,
            tuple(sorted((name, _below(site.git, at)) for name, at in _branches(site.git))),
            tuple(ref for item in state.accepted for ref in item.finals),
            hashlib.sha256(content).hexdigest(),
            state.spent,
        )

    def unaccounted(self) -> Amount:
        return self.site().read(self.files).state.unaccounted

    def salvaged(self) -> list[str]:
        return list(Git.open(self.repo).refs(f"refs/agentforge/{self.task_id}/salvage").values())


@dataclass(frozen=True, slots=True)
class Reference:
    """The run that all others are held against."""

    root: Path
    task_id: str

    @property
    def finished(self) -> Scene:
        return Scene(self.root / "finished", self.task_id)

    def copy(self, place: Path, *, moment: str | None = None, trees: bool = True) -> Scene:
        """The site at its end, or as it stood at a moment, at a new place; without `trees` all checkouts are
        gone.
        """
        origin = (
            self.finished if moment is None else Scene(self.root / "moments" / slug(moment), self.task_id)
        )
        scene = Scene(place, self.task_id)
        copy_scene(origin, scene, trees=trees)
        share_cache(self.root.parent, scene)
        start_as_before(scene.site(), scene.files)
        return scene

    def cut(self, place: Path, lines: int, *, trees: bool) -> Scene:
        """The site at its end, with only the first lines of the journal: everything else is ahead of it."""
        scene = self.copy(place, trees=trees)
        text = scene.files.journal.read_bytes().splitlines(keepends=True)
        header = len(text) - len(self.finished.recorded())
        scene.files.journal.write_bytes(b"".join(text[: header + lines]))
        return scene


def _branches(git: Git) -> list[tuple[str, str]]:
    return list(git.refs("refs/heads/agentforge").items())


def _below(git: Git, commit: str) -> str:
    """The commit below a seal: a seal names the journal's head, and times differ from run to run."""
    assert git.tree_of(commit) == git.tree_of(f"{commit}^")
    return git.resolve(f"{commit}^")


def slug(key: str) -> str:
    return key.replace("/", "-")


def copy_scene(origin: Scene, scene: Scene, *, trees: bool) -> None:
    """A copy at another path. The name of the checkouts' directory follows from the repository's path."""
    scene.root.mkdir(parents=True, exist_ok=True)
    subprocess.run(("cp", "-a", str(origin.repo), str(scene.repo)), check=True)
    (scene.root / "home").mkdir(exist_ok=True)
    if trees and origin.trees.exists():
        scene.trees.parent.mkdir(parents=True)
        subprocess.run(("cp", "-a", str(origin.trees), str(scene.trees)), check=True)


def share_cache(shared: Path, scene: Scene) -> None:
    """Environments are built once for all copies."""
    (shared / "crash-cache").mkdir(exist_ok=True)
    scene.home.path.mkdir(parents=True, exist_ok=True)
    scene.home.cache.symlink_to(shared / "crash-cache")
    share_environments(scene.home.path, scene.repo)


def reference(shared: Path, plan: Plan = SMALL) -> Reference:
    """The reference run, made by whoever comes first."""
    return reference_of(shared, plan.name, lambda root: _make(root, plan))


def reference_of(shared: Path, name: str, make: Callable[[Path], str]) -> Reference:
    """A run that others are held against, made by whoever comes first; `make` says the name of its task."""
    root = shared / name
    with (shared / "crash-site.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root / "done.json"
        if not done.exists():
            shutil.rmtree(root, ignore_errors=True)
            done.write_text(json.dumps(make(root)), encoding="utf-8")
        return Reference(root, json.loads(done.read_text(encoding="utf-8")))


def _make(root: Path, plan: Plan) -> str:
    scene = found(root / "finished", plan.project)
    share_cache(root.parent, scene)
    site = scene.site()
    task_id = agentforge.start(
        site, agentforge.StartOptions(REQUEST, lane=plan.lane, model=f"scripted:{plan.script}")
    ).task_id
    scene = Scene(scene.root, task_id)
    copy_scene(scene, Scene(root / "moments" / "create", task_id), trees=True)

    def keep(line: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        if line["key"] in plan.moments:
            copy_scene(scene, Scene(root / "moments" / slug(str(line["key"])), task_id), trees=True)

    state = scene.drive(keep)
    assert state.status == "completed", (state.status, state.failure, state.open_escalation)
    return task_id


def found(root: Path, files: Mapping[str, str]) -> Scene:
    """A new repository."""
    scene = Scene(root, "")
    for path, text in files.items():
        place = scene.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(text).lstrip(), encoding="utf-8")
    subprocess.run(("git", "init", "-q", "-b", "main", str(scene.repo)), check=True)
    scene.git("add", "-A")
    scene.git("commit", "-qm", "The project")
    return scene
