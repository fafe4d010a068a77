"""The composition root: a repository, a task and its driver, put together from their parts. Nothing else
constructs them.
"""

import concurrent.futures.thread  # noqa: F401  # see below
import json

# Both hook into forks. Loaded in one thread while another starts a program, they let go of locks not taken.
import logging  # noqa: F401
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentforge.activities.batches import Desk, Pace
from agentforge.activities.commit import save
from agentforge.activities.perform import perform
from agentforge.activities.said import check_walls, rules_of, said, sandbox_name, walls_of
from agentforge.activities.spending import Purse
from agentforge.activities.verify import Finding, verify
from agentforge.activities.world import World
from agentforge.analysis.goals import classify_goal
from agentforge.analysis.triage import Triage, tree_facts, triage
from agentforge.app.answering import TIERED, Answering, NobodyAnswers
from agentforge.app.settings import Settings, read_settings
from agentforge.catalog.load import Catalog, Resolved
from agentforge.catalog.modes import USUAL, Mode, mode_named
from agentforge.core.errors import UsageError, UserError
from agentforge.core.events import Event, StepClosed
from agentforge.core.inputs import Abort, Create, Message
from agentforge.core.pipeline import PREDICATES, TIERS
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Delivery
from agentforge.engines.local import Ports, drive
from agentforge.gates.predicates import ARTIFACT_RULES, JUDGED
from agentforge.models.batch import WIRES
from agentforge.models.router import Router
from agentforge.models.tiers import Wish, split
from agentforge.sandbox.base import Confinement, Sandbox, SandboxName
from agentforge.sandbox.ladder import choose
from agentforge.sandbox.worktree import Workspace
from agentforge.store import archive, artifacts, inbox, index, views
from agentforge.store.engine import EngineName
from agentforge.store.journal import Journal
from agentforge.store.layout import TaskFiles, new_task_id
from agentforge.store.ledger import Ledger
from agentforge.store.lock import DriverLock
from agentforge.store.outbox import Outbox
from agentforge.store.pack import Pack
from agentforge.store.site import Site
from agentforge.store.wishes import Wishes, wishes_file, write_wishes
from agentforge.system import processes
from agentforge.system.files import make_own_directory
from agentforge.system.git import Git
from agentforge.system.processes import Completed
from agentforge.system.redact import redact

Listener = Callable[[dict[str, Json], tuple[Event, ...], State], None]
VIEW_SECONDS = 1.0
EXCLUDED = (".agentforge/tasks/", ".agentforge/escalations/", ".agentforge/violations/", ".agentforge/audit/")
"""Run state: kept out of git by `.git/info/exclude`; the rest of `.agentforge` is meant to be shared."""


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What a person says when starting a task."""

    request: str
    base: str | None = None
    lane: str | None = None
    model: str | None = None
    sandbox: str | None = None
    budget_usd: str | None = None
    pipeline: str | None = None
    mode: str | None = None
    wishes: Wishes = Wishes()
    """What is allowed beforehand."""
    at_terminal: bool = False
    """Whether a person sits there, who alone can take the walls away."""
    engine: EngineName = "local"
    delivery: Delivery = "live"
    """`batch`: whatever is configured, calls go by batch where they can."""
    deadline_s: int = 0
    """How long a call may wait for its batch; 0: as long as it takes."""


def start(site: Site, options: StartOptions) -> TaskFiles:
    """Records the task. Everything that can be wrong with a request is said before anything is written."""
    if not options.request.strip():
        raise UsageError(
            "The request is empty.", 'Say what you want: `agentforge start "Add a --version flag"`.'
        )
    options = replace(options, request=redact(options.request)[0])
    git = site.git
    base = git.resolve(options.base) if options.base else git.head()
    settings = read_settings(
        git, base, model=options.model, sandbox=options.sandbox, budget_usd=options.budget_usd
    )
    mode = mode_named(options.mode or str(settings.project.get("mode") or USUAL))
    answering = Answering.of(site.home, settings, local_only=mode.local_only)
    answering.check()
    if options.delivery == "batch":
        _check_batches(settings, answering.tiers.specs)
    check_walls(settings.sandbox, settings.own.sandbox, at_terminal=options.at_terminal)
    sandbox = choose(sandbox_name(settings.sandbox), settings.own.container)
    tree = git.tree_of(base)
    resolved, reasons = _choose_line(site, options, mode, settings, tree)
    if settings.budget.micro_usd is not None and (unpriced := answering.unpriced()):
        raise UsageError(
            f"The price of {', '.join(unpriced)} is not known, so a budget in dollars cannot be kept.",
            "Leave --budget out; calls and tokens are capped anyway.",
        )
    make_own_directory(site.home.path)
    archived = set(archive.archived_tasks(git))
    now = site.clock()
    task_id = new_task_id(
        options.request,
        f"{now:%Y%m%d}",
        lambda name: name in archived or site.project.task(name).root.exists(),
    )
    files = site.project.task(task_id)
    Workspace(git, site.home.trees(git.top, task_id).root, task_id).keep_base(base)
    for pattern in EXCLUDED:
        git.exclude_locally(pattern)
    pack = Pack(files.pack)
    # Not in canonical order: a role is shown contracts and tools as their files list them.
    catalogue = pack.put(json.dumps(resolved.to_json(), ensure_ascii=False, separators=(",", ":")).encode())
    pack.sync()
    create = Create(
        task_id,
        options.request,
        base,
        tree,
        answering.name,
        sandbox.name,
        catalogue,
        resolved.pipeline(),
        settings.budget,
        answering.price(answering.name) if answering.name != TIERED else None,
        reasons,
        resolved.higher(),
        answering.tier_prices() if answering.name == TIERED else (),
        marker=secrets.token_hex(8),
        delivery=options.delivery,
        deadline_s=options.deadline_s,
    )
    # Always written: what was said about an earlier task of this name must not count.
    wishes = replace(options.wishes, sandbox="none" if sandbox.name == "none" else "", marker=create.marker)
    write_wishes(wishes_file(site.home, git.top, task_id), wishes)
    with Journal.create(files, create, site.clock) as journal:
        artifacts.write_inputs(files, create, journal.times.created_at, options.engine)
        with closing(_Views(site, journal, lambda _: None)) as shown:
            shown.show()
    return files


def _check_batches(settings: Settings, specs: Iterable[str]) -> None:
    """At least one of the models can be asked by batch."""
    wires = {settings.providers[name].wire for name, _ in map(split, specs) if name in settings.providers}
    if not wires & WIRES:
        raise UsageError(
            f"Nothing of {', '.join(specs)} can be asked by batch.",
            "Anthropic, OpenAI (as openai-responses), Mistral and Google have batches; leave --batch "
            "out, or name another --model.",
        )


def _choose_line(
    site: Site, options: StartOptions, mode: Mode, settings: Settings, tree: str
) -> tuple[Resolved, tuple[str, ...]]:
    """The pipeline and its lane: what a person said, else what the request and the tree say; with the
    reasons.
    """
    goal, why = classify_goal(options.request)
    name = options.pipeline or mode.pipeline or goal
    reasons = [
        f"asked for with --pipeline {name}"
        if options.pipeline
        else f"mode {mode.name}"
        if mode.pipeline
        else why
    ]
    catalog = Catalog.packaged().with_overrides(settings.overrides)
    if name not in catalog.names("pipelines"):
        known = ", ".join(sorted(catalog.names("pipelines")))
        raise UsageError(
            f"There is no pipeline {name}; there are {known}.",
            "`agentforge pipelines list` says what each does.",
        )
    lanes = catalog.document("pipelines", name)["pipeline"].get("lanes", {})
    lane = options.lane
    if lane is not None:
        reasons.append("asked for with --lane")
    elif lanes:
        found = look(site, options.request, tree)
        reasons += found.reasons
        lane = found.lane if found.lane in lanes else None
    return catalog.resolve(name, lane, mode.name), tuple(reason for reason in reasons if reason)


def look(site: Site, request: str, tree: str) -> Triage:
    """The lane and the size of a request, computed from its words and the tree."""
    git = site.git
    paths = [entry.path for entry in git.ls_tree(tree) if entry.kind == "blob"]
    return triage(request, tree_facts(request, {path: partial(_text_of, git, tree, path) for path in paths}))


def _text_of(git: Git, tree: str, path: str) -> str:
    return (git.read_blob(tree, path) or b"").decode("utf-8", "replace")


@contextmanager
def driving(
    site: Site,
    files: TaskFiles,
    *,
    listener: Listener | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator["Driver"]:
    """A driver that holds the task's lock while the context is open."""
    with (
        DriverLock(files.lock, site.clock) as lock,
        Journal.open(files, site.clock, write=True) as journal,
        closing(_Views(site, journal, progress)) as shown,
        Ledger.of(site.home, progress) as ledger,
    ):
        journal.listeners.append(shown)
        if listener is not None:
            journal.listeners.append(listener)
        yield Driver(replace(site, git=site.git.holding(lock.fd)), journal, lock.fd, progress, ledger)
        shown.show()


@dataclass(frozen=True, slots=True)
class Driver:
    """A task, its lock held."""

    site: Site
    journal: Journal
    lock_fd: int
    progress: Callable[[str], None]
    ledger: Ledger

    def tell(self, key: str, message: Message) -> None:
        """Puts a person's word on record at once; raises `StateInvalid` where it makes no sense."""
        state = self.journal.state
        if isinstance(message, Abort) and state.prepared and not state.halted:
            # What a killed driver left is not a person's work either, and from here on a difference would
            # count as theirs.
            self._workspace().stand(state.tree, state.base_commit)
        self.journal.advance(key, message)

    def say(self, wishes: Wishes) -> None:
        """Replaces what was said when the task was started; which walls it has stays as it was."""
        state = self.journal.state
        before = said(self.site, state).wishes
        path = wishes_file(self.site.home, self.site.git.top, state.task_id)
        write_wishes(path, replace(wishes, sandbox=before.sandbox, marker=state.marker))

    def run(self, *, detach: bool = False) -> State:
        """Drives until the task is over or waits for a person; with `detach` also where it only waits for a
        batch.
        """
        world = self._world(detach=detach)
        drive(
            self.journal, replace(self.ports(world), withdraw=partial(_withdraw, world, processes.kill_all))
        )
        return self.settle(world)

    def ports(self, world: World) -> Ports:
        """What an engine is given."""
        files = self.journal.files

        def report(sentence: str) -> None:
            self.progress(sentence)

        def messages() -> Iterable[tuple[str, Message]]:
            return inbox.receive(files, self.journal.known, report)

        def refused(key: str, error: UserError) -> None:
            inbox.refuse(files, key)
            self.progress(f"a message was refused: {error}")

        withdraw = partial(_withdraw, world, partial(processes.kill_holding, self.lock_fd))
        return Ports(partial(perform, world), messages, refused, withdraw)

    def settle(self, world: World) -> State:
        """Nothing runs any more: saves the task, and puts its files back to what is on record."""
        state = self.journal.state
        self.ledger.catch_up(self.site.git.top, self.journal.files)
        if world.desk is not None:
            world.desk.tidy(state)
        if state.prepared:
            save(world, state)
            # What a withdrawn effect left is not a person's work: they find the recorded tree.
            world.workspace.stand(state.tree, state.base_commit)
        return state

    def world(self) -> World:
        """What effects touch, for commands that look at a task as an effect would."""
        return self._world()

    def _workspace(self) -> Workspace:
        site, task_id = self.site, self.journal.state.task_id
        return Workspace(site.git, site.home.trees(site.git.top, task_id).root, task_id)

    def _world(self, *, detach: bool = False) -> World:
        site, state = self.site, self.journal.state
        settings = _settings_of(site, state)
        walls = _Holding(walls_of(site, state, settings.own.sandbox, settings.own.container), self.lock_fd)
        answering = Answering.of(site.home, settings, local_only=mode_named(state.pipeline.mode).local_only)
        answering.check()
        self.ledger.catch_up(site.git.top, self.journal.files)
        world = make_world(
            site, self.journal, settings, answering.router(self.progress, self.ledger), walls, self.progress
        )
        desk = _desk(site, settings, state, detach=detach)
        desk.tidy(state)
        return replace(world, purse=Purse(str(site.git.top), self.ledger, settings.own.day_cap), desk=desk)


def _desk(site: Site, settings: Settings, state: State, *, detach: bool) -> Desk:
    """The way to batches, as the task and its tiers want them."""
    wishes: dict[str, Wish] = {
        tier: "batch" if state.delivery == "batch" else settings.tiers.delivery[tier] for tier in TIERS
    }
    pace = Pace.of(os.environ, settings.own.batch_window_s)
    return Desk(Outbox(site.home.batches), wishes, state.deadline_s or None, detach, pace)


def _withdraw(world: World, kill: Callable[[], object]) -> None:
    """The task is over: nobody waits for a batch, a pause or a turn, and no child goes on."""
    if world.desk is not None:
        world.desk.off.set()
    world.models.call_off()
    kill()


def _settings_of(site: Site, state: State) -> Settings:
    """As they are now for a task that was started: its model where it has one, its walls, and the
    repository's own of its base.
    """
    model = None if state.model == TIERED else state.model
    return read_settings(site.git, state.base_commit, model=model, sandbox=state.sandbox, budget_usd=None)


def make_world(
    site: Site,
    journal: Journal,
    settings: Settings,
    models: Router,
    sandbox: Sandbox,
    progress: Callable[[str], None],
) -> World:
    """The surroundings of one task."""
    state, files = journal.state, journal.files
    pack = Pack(files.pack)
    value: Any = pack.get_json(state.catalogue)
    heard = said(site, state)
    if heard.problem:
        progress(heard.problem)
    return World(
        files=files,
        pack=pack,
        workspace=Workspace(site.git, site.home.trees(site.git.top, state.task_id).root, state.task_id),
        sandbox=sandbox,
        models=models,
        catalogue=Resolved.from_json(value),
        settings=settings.project,
        cache=site.home.cache / "environments",
        created_at=journal.times.created_at,
        record=journal.advance,
        head=lambda: journal.head,
        timeout_s=settings.test_timeout_s,
        progress=progress,
        rules=rules_of(site, state, heard.wishes),
        roots=settings.own.roots,
        network=settings.own.network,
    )


def verify_task(
    site: Site, files: TaskFiles, *, rerun: bool, progress: Callable[[str], None] = lambda _: None
) -> list[Finding]:
    """Holds a task's evidence against everything it speaks of."""
    journal = site.read(files)
    state = journal.state
    settings = _settings_of(site, state)
    # Nothing runs unless it is asked for, so only then it matters who said that there are no walls.
    walls = walls_of(site, state, settings.own.sandbox if rerun else "none", settings.own.container)
    world = make_world(site, journal, settings, Router.single(NobodyAnswers()), walls, progress)
    return verify(world, state, rerun=rerun)


def check_registry() -> None:
    """Every named predicate has an implementation, or the program does not start."""
    from agentforge.catalog.rules import CATALOG_RULES

    if missing := set(PREDICATES) - set(ARTIFACT_RULES) - set(CATALOG_RULES) - JUDGED:
        raise AssertionError(f"predicates without an implementation: {sorted(missing)}")


@dataclass(frozen=True, slots=True)
class _Holding:
    """A sandbox whose children hold the driver's lock: a new driver starts only when they are gone."""

    inner: Sandbox
    fd: int

    @property
    def name(self) -> SandboxName:
        return self.inner.name

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        return self.inner.run(argv, replace(confinement, pass_fds=(*confinement.pass_fds, self.fd)))

    def guarantee(self) -> dict[str, str]:
        return self.inner.guarantee()


class _Views:
    """Writes the views at most once per step and second, and whenever the task changes hands."""

    def __init__(self, site: Site, journal: Journal, progress: Callable[[str], None]) -> None:
        self._site, self._journal, self._status = site, journal, journal.state.status
        self._written = 0.0
        self._index = index.Index(site.home.index, progress)

    def __call__(self, _: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        moved = state.status != self._status
        due = time.monotonic() - self._written >= VIEW_SECONDS and any(
            isinstance(event, StepClosed) for event in events
        )
        if moved or due:
            self.show()

    def show(self) -> None:
        """Writes them now."""
        self._written = time.monotonic()
        journal = self._journal
        self._status = journal.state.status
        views.write_views(journal.files, journal.state, journal.head, journal.length, journal.times)
        self._index.update(self._site.git.top, journal)

    def close(self) -> None:
        self._index.close()
