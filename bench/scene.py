"""What is measured on: a throw-away repository, and a task on it with one very long stage.

Everything is real but the model and the project's environment: git, the worktree, the journal, the pack, the
views, the index, the engine. The catalogue never allows this many steps in a stage; the rules do not mind.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import agentforge
from agentforge.activities.perform import perform
from agentforge.activities.world import World
from agentforge.app.drivers.world import make_world
from agentforge.app.setup.settings import read_settings
from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.core.effects import Assemble, Effect, TakeBaseline
from agentforge.core.errors import UserError
from agentforge.core.inputs import BaselineReady, Create, Outcome
from agentforge.core.pipeline import Pipeline
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import Baseline, Budget, Price
from agentforge.engines.local import Ports, drive
from agentforge.models.router import Router
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task import artifacts, inbox
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.task.times import utc_now
from agentforge.system.canon import canonical
from bench.model import FUNCTIONS, MODULES, PlainModel, module_path
from bench.timed import TimedGit

STAGE = "green"
MANY = 1_000_000_000
TASK = "task-20260101-round"
REQUEST = "Round every total to two places"
BASELINE = Baseline(
    "", "none", "none", MODULES, MODULES, 0, 0, f"{MODULES} of {MODULES} tests pass on the base"
)


class WindowOver(UserError):
    """The step that was wanted is reached: the engine stops as it does when the world fails."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A task that is being driven, its lock held."""

    journal: Journal
    world: World
    model: PlainModel
    git: TimedGit

    def drive_to(
        self,
        step: int,
        watch: Callable[[State], None] = lambda _: None,
        make: Callable[[Effect, State], Outcome] | None = None,
    ) -> None:
        """Real steps, through the real engine, until `step` has begun. `watch` is told when each begins, the
        last one too. With `make` nothing is performed: the engine is alone.
        """

        def make_real(effect: Effect, state: State) -> Outcome:
            if isinstance(effect, TakeBaseline):
                return BaselineReady(BASELINE)
            if isinstance(effect, Assemble):
                watch(state)
                if state.step >= step:
                    raise WindowOver("The window is over.")
            return perform(self.world, effect, state) if make is None else make(effect, state)

        files = self.journal.files
        ports = Ports(
            make_real, lambda: inbox.receive(files, self.journal.known, print), lambda _, error: print(error)
        )
        try:
            state = drive(self.journal, ports)
        except WindowOver:
            return
        raise AssertionError(f"the task ended before step {step}: {state.status}, {state.open_escalation}")


def make_repository(place: Path) -> None:
    """Modules of functions, each with its test, in one commit."""
    for number in range(MODULES):
        body = "\n\n".join(
            f'def total_of_{number:02d}_{at:02d}(count: int) -> float:\n    """The total of a kind."""\n'
            f"    price = {at + 1}.5 if count > {at} else {number + 1}\n    return count * price\n"
            for at in range(FUNCTIONS)
        )
        _write(place / module_path(number), f'"""Part {number} of the shop."""\n\n\n{body}')
        _write(
            place / f"tests/test_part_{number:02d}.py",
            f"def test_part_{number:02d}():\n    assert {number} >= 0\n",
        )
    _write(place / "src/shop/__init__.py", "")
    _write(place / "pyproject.toml", '[project]\nname = "shop"\nversion = "1"\n')
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "The shop")):
        subprocess.run(
            ["git", "-c", "user.name=Bench", "-c", "user.email=bench@localhost", *words],
            cwd=place,
            check=True,
        )


@contextmanager
def long_task(place: Path) -> Iterator[Scene]:
    """A repository and a task on it, framed, at the first step of a stage that does not end."""
    make_repository(place / "repository")
    git = TimedGit.open(place / "repository")
    site = Site(git, ProjectFiles(git.top), Home(place / "home"))
    with agentforge.open_driver(agentforge.OpenTask.open(site, begin(site))) as driver:
        model = PlainModel()
        settings = read_settings(
            git,
            driver.journal.state.base_commit,
            model="scripted:plain",
            sandbox=None,
            budget_usd=None,
            environ={},
        )
        driven = driver.site.git
        assert isinstance(driven, TimedGit)
        world = make_world(
            driver.site, driver.journal, settings, Router.single(model), NoSandbox(), lambda _: None
        )
        scene = Scene(driver.journal, world, model, driven)
        scene.drive_to(2)
        yield scene


def begin(site: Site) -> TaskFiles:
    """The task's first line; what `start` does, but for the bounds."""
    resolved = Catalog.packaged().resolve("implement", "small")
    files = site.project.task(TASK)
    with Pack(files.pack) as pack:
        catalogue = pack.put(canonical(resolved.to_json()))
        pack.sync()
    head = site.git.head()
    tree = site.git.tree_of(head)
    create = Create(
        TaskSpec(
            TASK,
            REQUEST,
            head,
            tree,
            "plain",
            "none",
            catalogue,
            _pipeline(resolved),
            Budget(MANY, MANY),
            Price(0, 0),
        )
    )
    with Journal.create(files, create, utc_now) as journal:
        artifacts.write_inputs(files, create.spec, journal.times.created_at, "local")
    return files


def _pipeline(resolved: ResolvedPipeline) -> Pipeline:
    stages = {stage.name: stage for stage in resolved.pipeline().stages}
    endless = replace(
        stages[STAGE],
        requires=("specification",),
        checks=(),
        needs_environment=False,
        max_steps=MANY,
        mistakes=MANY,
        feedback_rounds=MANY,
    )
    return Pipeline("implement", "small", (stages["frame"], endless))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
