"""Everything an effect may touch, wired once per task."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from agentforge.activities.batches import BatchOutbox
from agentforge.activities.code import CodeReader
from agentforge.activities.dependencies import Neighbours, NoNeighbours
from agentforge.activities.environments import built_environment, lock_hash
from agentforge.activities.server_desk import ServerDesk
from agentforge.activities.spending import Reservations
from agentforge.catalog.load import ResolvedPipeline
from agentforge.commands.permissions import Rules
from agentforge.context.code_index import CodeIndex
from agentforge.core.effects import Effect
from agentforge.core.inputs import Input
from agentforge.core.pipeline import PARTS, Part
from agentforge.core.reply import Json
from agentforge.core.runs import Run
from agentforge.core.state import RunView, State
from agentforge.core.values import ArtifactRef
from agentforge.gates.runs.pristine import PristineRunner, time_of_one
from agentforge.languages.imports import ImportGraph
from agentforge.languages.joined import joined_language
from agentforge.languages.outcomes import GOOD, TestRun
from agentforge.languages.port import Language
from agentforge.languages.reach import Reach, change_facts
from agentforge.languages.repository import (
    Project,
    asked_about,
    find_projects,
    joined_environment,
    joined_plan,
    restricted,
    touched,
)
from agentforge.languages.servers.told import NOTHING, ToldUses
from agentforge.languages.table import is_code
from agentforge.languages.values import CheckRun, Environment, Plan
from agentforge.models.router import Router
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import TaskFiles
from agentforge.store.task import artifacts
from agentforge.store.task.lines import readable
from agentforge.store.task.pack import Pack
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.git.repository import Change
from agentforge.system.signatures import SigningKey
from agentforge.tools.paths import PathLimits
from agentforge.tools.roots import Root

Document = dict[str, Json]
T = TypeVar("T")

MOST_KNOWN = 32
MAX_GRAPH = 3000
"""Files of code beyond which imports are not followed: the exit of a stage runs every test anyway."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """What a person is asked before a model is used that only the repository names."""

    text: str
    advice: str


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """The tests and the lint of the base commit, as they were measured before any work."""

    tests: TestRun
    flaky: frozenset[str]
    lint: CheckRun
    projects: tuple[str, ...] = ()
    """The projects that were measured, where the repository has several."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """The language servers that were found then, by language."""

    @property
    def not_passing(self) -> frozenset[str]:
        """What no change can be blamed for: tests that failed or were skipped already, or are flaky."""
        bad = (name for name, result in self.tests.results.items() if result.outcome not in GOOD)
        return self.flaky.union(bad)


@dataclass(slots=True)
class World:
    """What the effects of one task work with. Mutable only in what can be computed again."""

    files: TaskFiles
    pack: Pack
    workspace: Workspace
    sandbox: Sandbox
    models: Router
    catalogue: ResolvedPipeline
    settings: Mapping[str, Any]
    cache: Path
    """Where environments are kept."""
    created_at: str
    record: Callable[[str, Input], Sequence[Effect]]
    """Appends a decision to the journal and says what is owed then: for the intent line of a call."""
    head: Callable[[], str]
    """The journal's chain head."""
    answered_at: Callable[[str], str] = lambda _: ""
    """When a person answered a question, by its id."""
    timeout_s: float = 900
    progress: Callable[[str], None] = lambda _: None
    rules: Rules = Rules()
    """What decides about the calls of roles: grants, approvals and the person's policy."""
    roots: tuple[Root, ...] = ()
    """Directories beside the worktree that the user opened."""
    reservations: Reservations = Reservations("")
    """What calls may cost, beside the task's own budget."""
    batch_outbox: BatchOutbox | None = None
    """The way to batches; None: every call is live."""
    network: tuple[Destination, ...] = ()
    """Where set-up may go, beside the package indexes."""
    signer: SigningKey | None = None
    """What deliveries are signed with; None: integrity only, not signed."""
    index_passwords: bool = False
    """Whether set-up is told the passwords of package indexes."""
    kept_facts: KeptFacts | None = None
    """What is known of source files by their content; None: each is read again."""
    kept_readings: KeptFacts | None = None
    """What checks read in source files, likewise."""
    agreed: Callable[[str], bool] = lambda _: False
    """Whether a person has agreed to a command that a check of the project runs."""
    weak_allowed: Callable[[], bool] = lambda: False
    """Whether a person said that code may run behind weak walls."""
    model_question: Callable[[], ModelQuestion | None] = lambda: None
    """What a person must be asked before any model is; None if nothing."""
    now: Callable[[], float] = time.time
    """The time, in seconds since 1970."""
    neighbours: Neighbours = field(default_factory=NoNeighbours)
    """The other tasks of this user."""
    waits_here: bool = True
    """Whether this process may sit and wait for them."""
    desk: ServerDesk = field(default_factory=ServerDesk)
    """Where language servers are asked."""
    _projects: tuple[Project, ...] | None = field(default=None, init=False)
    _environments: dict[str, Environment] = field(default_factory=dict, init=False)
    _baseline_record: BaselineRecord | None = field(default=None, init=False)
    _code: dict[str, str] | None = field(default=None, init=False)
    _index: CodeIndex | None = field(default=None, init=False)
    _graph: ImportGraph | None = field(default=None, init=False)
    _known: dict[tuple[str, ...], tuple[Any]] = field(default_factory=dict, init=False)
    _knowing: threading.Lock = field(default_factory=threading.Lock, init=False)

    def keep(self, document: Document) -> str:
        """Puts a document into the pack, for good; the answer is its reference."""
        ref = self.pack.put_json(readable(document))
        self.pack.sync()
        return ref

    def reset_worktree(self, state: State) -> None:
        """Makes the worktree equal to the recorded tree. What a crash left there is saved first, and
        named.
        """
        reset = self.workspace.reset_to(state.tree, state.base_commit)
        if reset.salvage:
            self.progress(f"What differed in the worktree was saved as {reset.salvage}.")

    def projects(self, state: State) -> tuple[Project, ...]:
        """The projects of this repository, read from the base commit; the largest first."""
        if self._projects is None:
            self._projects = self._found(state.base_tree, self._paths(state), state.pipeline.works_on)
        return self._projects

    def _found(self, tree: str, paths: Sequence[str], works_on: str) -> tuple[Project, ...]:
        git = self.workspace.git
        found = find_projects(lambda path: git.read_blob(tree, path), paths, self.settings, works_on)
        roots = self.settings.get("import_roots")
        if not roots or works_on:
            return found
        return (replace(found[0], plan=replace(found[0].plan, import_roots=tuple(roots))), *found[1:])

    def scope(self, state: State, *paths: str) -> tuple[Project, ...]:
        """The projects that the work so far touches, and these paths; before it touches any, those that were
        measured at the start, or that the request is about.
        """
        every = self.projects(state)
        if len(every) == 1:
            return every
        changes = self.workspace.git.diff_names(state.base_tree, state.tree)
        changed = [change.path for change in changes]
        found = (*(touched(every, changed) or self._first(state, every)), *touched(every, paths))
        names = {each.name for each in found}
        return tuple(each for each in every if each.name in names)

    def _first(self, state: State, every: tuple[Project, ...]) -> tuple[Project, ...]:
        if state.baseline is None:
            return asked_about(every, state.request, self._paths(state))
        value: Any = self.pack.get_json(state.baseline.ref)
        return tuple(each for each in every if each.name in value.get("projects", [every[0].name]))

    def language(self, state: State) -> Language:
        """What answers for the projects of this repository, those that the work touches first."""
        scope = {each.name for each in self.scope(state)}
        return joined_language(sorted(self.projects(state), key=lambda each: each.name not in scope))

    def _paths(self, state: State) -> list[str]:
        return [entry.path for entry in self.workspace.git.ls_tree(state.base_tree) if entry.kind == "blob"]

    def plan(self, state: State) -> Plan:
        """How the projects of this repository are set up and tested, read from the base commit."""
        return joined_plan(self.projects(state))

    def environment(self, state: State) -> Environment:
        """The task's environment: from the cache, or built now."""
        return self.environment_of(state, state.base_tree)

    def environment_of(self, state: State, tree: str, ids: Sequence[str] = ()) -> Environment:
        """The environment that a tree and these tests ask for: of each project that the work touches, the
        base's, unless what that is built from differs.
        """
        scope = self.scope(state, *(identity.partition("::")[0] for identity in ids))
        changes = self.workspace.git.diff_names(state.base_tree, tree) if tree != state.base_tree else []
        parts = {each.name: self._environment_of(state, each, tree, changes) for each in scope}
        return joined_environment(parts, self.projects(state))

    def _environment_of(
        self, state: State, project: Project, tree: str, changes: Sequence[Change]
    ) -> Environment:
        locks = {project.whole(path) for path in project.plan.lock_files}
        if not any(change.status != "M" or change.path in locks for change in changes):
            return self._base_environment(state, project)
        return self.once(
            "environment", tree, project.name, make=lambda: self._changed_environment(state, project, tree)
        )

    def _base_environment(self, state: State, project: Project) -> Environment:
        if project.name not in self._environments:
            self._environments[project.name] = self._built(state, state.base_tree, project)
        return self._environments[project.name]

    def _changed_environment(self, state: State, project: Project, tree: str) -> Environment:
        paths = [entry.path for entry in self.workspace.git.ls_tree(tree) if entry.kind == "blob"]
        after = next(
            (each for each in self._found(tree, paths, state.pipeline.works_on) if each.name == project.name),
            project,
        )
        if self._lock_hash(project, state.base_tree) == self._lock_hash(after, tree):
            return self._base_environment(state, project)
        self.progress("building the environment that the change asks for")
        return replace(self._built(state, tree, after), own_bytecode=False)

    def _lock_hash(self, project: Project, tree: str) -> str:
        return lock_hash(self.workspace, project, tree)

    def _built(self, state: State, tree: str, project: Project) -> Environment:
        return built_environment(
            self.workspace,
            project,
            tree,
            state.base_commit,
            self.sandbox,
            cache=self.cache,
            network=self.network,
            index_passwords=self.index_passwords,
        )

    def pristine_runner(self, state: State, only: Project | None = None) -> PristineRunner:
        """A new runner of tests; the runs that it records belong to the gate that asks for it. With `only`,
        of that project alone.
        """
        scratch = self.workspace.root / "scratch"
        first = only or self.scope(state)[0]
        env = (
            joined_environment({only.name: self._base_environment(state, only)}, self.projects(state))
            if only is not None
            else self.environment(state)
        )
        return PristineRunner(
            self.workspace,
            self.sandbox,
            env,
            state.base_commit,
            first.plan.test_command,
            scratch,
            self.timeout_s,
            self.is_test(state),
            self.language(state),
            limit_s=time_of_one(self.baseline_record(state).tests, self.timeout_s) if state.baseline else 0,
            env_for=None if only is not None else lambda tree, ids: self.environment_of(state, tree, ids),
        )

    def test_globs(self, state: State) -> tuple[str, ...]:
        """What `{tests}` stands for in this repository: what its settings say, else its layout."""
        said = () if state.pipeline.works_on else tuple(self.settings.get("tests", ()))
        return said or joined_language(self.projects(state)).tests.test_globs(self.plan(state).test_paths)

    def is_test(self, state: State) -> Callable[[str], bool]:
        """Whether a path is a test's, by the repository's own layout."""
        limits = PathLimits.compile({"create_file": "{tests}"}, self.test_globs(state), ())
        return lambda path: limits.allows("create_file", path) is None

    def baseline_record(self, state: State) -> BaselineRecord:
        """What was measured on the base commit, read from the pack once; of the projects that the work
        touches.
        """
        if self._baseline_record is None:
            assert state.baseline is not None
            value: Any = self.pack.get_json(state.baseline.ref)
            findings = {(path, code): count for path, code, count, _ in value["lint"]["findings"]}
            samples = {(path, code): sample for path, code, _, sample in value["lint"]["findings"]}
            lint = CheckRun(
                value["lint"]["status"],
                value["lint"]["reason"],
                findings,
                samples,
                value["lint"].get("missing", {}),
            )
            self._baseline_record = BaselineRecord(
                TestRun.from_json(value["tests"]),
                frozenset(value["flaky"]),
                lint,
                tuple(value.get("projects", ())),
                dict(value.get("language_servers", {})),
            )
        record, every = self._baseline_record, self.projects(state)
        if len(every) == 1:
            return record
        return replace(record, tests=restricted(record.tests, every, self.scope(state)))

    def keep_version(self, contract: str, phase: str, version: int, value: Document) -> ArtifactRef:
        """A version for people to read, and its content in the pack, where nothing can change it."""
        ref = artifacts.write_version(self.files, contract, phase, version, value)
        self.pack.put_json(readable(value))
        return ref

    def keep_final(
        self,
        contract: str,
        phase: str,
        version: int,
        value: Document,
        handed_over: Sequence[ArtifactRef] = (),
    ) -> ArtifactRef:
        """A final of a stage for people to read, and its content in the pack, where nothing can change it.
        What was handed over before under its name stays beside it.
        """
        for old in handed_over:
            if (old.contract, old.phase) == (contract, phase):
                artifacts.keep_handed_over(self.files, old)
        ref = artifacts.write_final(self.files, contract, phase, version, value)
        self.pack.put_json(readable(value))
        return ref

    def documents(self, state: State) -> dict[str, Document]:
        """Every artifact that counts now: accepted ones, and over them the drafts and finals of the stage
        under way.
        """
        return {contract: self._document(ref) for contract, ref in document_refs(state).items()}

    def parts(self, state: State) -> dict[Part, Document]:
        """Every artifact that counts now by the part of the work that it is; others are left out."""
        return self.by_part(self.documents(state))

    def by_part(self, documents: Mapping[str, Document]) -> dict[Part, Document]:
        """Documents by contract, as documents by part."""
        found = {self.catalogue.part(contract): document for contract, document in documents.items()}
        return {part: document for part, document in found.items() if part is not None}

    def part_names(self, state: State) -> dict[Part, str]:
        """The contract of each part of the work in this pipeline."""
        return {part: name for part in PARTS if (name := state.pipeline.contract_for(part)) is not None}

    def records(self, state: State) -> dict[str, Document]:
        """The record of each gate that passed, the newest of each."""
        return {gate: self._document(ref) for gate, ref in record_refs(state).items()}

    def once(self, kind: str, *names: str, make: Callable[[], T]) -> T:
        """A value that depends on nothing but `names` (hashes, and names of the task's fixed catalogue), made
        once.

        What every step needs and few steps change costs nothing in all the others.
        """
        key = (kind, *names)
        known = self._known.get(key)
        found: T = make() if known is None else known[0]
        with self._knowing:
            # What was asked for last is kept longest: what every step needs outlives what each makes anew.
            self._known.pop(key, None)
            self._known[key] = (found,)
            if len(self._known) > MOST_KNOWN + 1:
                del self._known[next(iter(self._known))]
        return found

    def code_index(self, state: State) -> CodeIndex:
        """What the base defines and uses, computed once."""
        if self._index is None:
            self._index = CodeReader(self.workspace.git, self.kept_facts).index(
                state.base_tree, state.request
            )
        return self._index

    def told(self, ref: str) -> ToldUses:
        """What language servers said, as it was kept; nothing where there is no record."""
        if not ref:
            return NOTHING
        return self.once("told", ref, make=lambda: ToldUses.from_json(self._document(ref)))

    def import_graph(self, state: State) -> ImportGraph:
        """Who imports whom on the base, computed once."""
        if self._graph is None:
            self._graph = ImportGraph.build(self.code(state), self.plan(state).import_roots)
        return self._graph

    def code(self, state: State) -> dict[str, str]:
        """The base's code by path, read once; empty where there is too much of it to follow.

        Read from the worktree, which differs little and where a file costs no process; from the base itself
        where the worktree does not stand, as after a clean-up.
        """

        def read(path: str) -> str:
            place = self.workspace.worktree / path
            if place.is_symlink():
                return ""
            data = (
                place.read_bytes() if place.is_file() else self.workspace.git.read_blob(state.base_tree, path)
            )
            return (data or b"").decode("utf-8", "replace")

        if self._code is None:
            paths = [path for path in self._paths(state) if is_code(path)]
            self._code = {path: read(path) for path in paths} if len(paths) <= MAX_GRAPH else {}
        return self._code

    def reach(self, state: State, paths: Sequence[str]) -> Reach | None:
        """What files of the base define, import and are imported by, and the tests that reach them."""
        texts = self.code(state)
        asked = [path for path in dict.fromkeys(paths) if path in texts]
        if not asked:
            return None
        graph, is_test = self.import_graph(state), self.is_test(state)
        return self.once(
            "reach",
            state.base_tree,
            *asked,
            make=lambda: change_facts(graph, texts, asked, filter(is_test, texts)),
        )

    def locked(self, state: State) -> dict[str, str]:
        """Test files that RED has proved, with their blobs."""
        red = self.records(state).get("red", {}).get("locked", {})
        assert isinstance(red, dict)
        return {path: str(entry[1]) for path, entry in red.items() if isinstance(entry, list)}

    def _document(self, ref: str) -> Document:
        value = self.pack.get_json(ref)
        assert isinstance(value, dict)
        return value


def document_refs(state: State) -> dict[str, str]:
    """The hash of every artifact that counts now."""
    newest = {ref.contract: ref.hash for item in state.accepted for ref in item.finals}
    run = _run_of(state)
    if run is not None:
        newest |= {ref.contract: ref.hash for ref in (*run.drafts, *run.finals)}
    return newest


def record_refs(state: State) -> dict[str, str]:
    """The hash of the newest record of each gate that passed."""
    passed = [pair for item in state.accepted for pair in item.evidence]
    run = _run_of(state)
    passed += run.judged if run is not None else ()
    return dict(passed)


def _run_of(state: State) -> Run | None:
    """The run whose view this is; of a task as a whole, the worker's."""
    return state.run if isinstance(state, RunView) else state.worker
