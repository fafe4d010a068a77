"""A request becomes a task on record: everything that can be wrong with it is said before anything is
written.
"""

import json
import secrets
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace

from agentforge.activities.code import CodeReader
from agentforge.activities.task_permissions import check_walls, sandbox_name
from agentforge.app.answering import TIERED, Answering
from agentforge.app.settings import Settings, read_settings
from agentforge.app.tasks import OpenTask
from agentforge.app.view_writer import ViewWriter
from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.catalog.modes import USUAL, Mode, mode_named
from agentforge.context.assemble import measured
from agentforge.context.named import tree_facts
from agentforge.core.errors import UsageError
from agentforge.core.inputs import Create
from agentforge.core.spec import TaskSpec
from agentforge.core.values import Delivery
from agentforge.languages.facts import reading_note
from agentforge.languages.grammars.reader import is_installed
from agentforge.models.batch import WIRES
from agentforge.models.known.tiers import split
from agentforge.sandbox.walls.ladder import choose
from agentforge.sandbox.worktree import Workspace
from agentforge.sizing.goals import classify_goal
from agentforge.sizing.triage import Triage, triage
from agentforge.store.layout import RUN_STATE, new_task_id
from agentforge.store.site import Site
from agentforge.store.task import archive, artifacts
from agentforge.store.task.engine import EngineName
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.user.code_facts import KeptFacts
from agentforge.store.user.start_permissions import StartPermissions, permissions_file, write_permissions
from agentforge.system.files import claim_directory, make_own_directory
from agentforge.system.git.repository import Git
from agentforge.system.secrets.redact import redact

EMPTY = 'Say what you want: `agentforge start "Add a --version flag"`.'


LONGEST_REQUEST = 3000
"""Tokens: what the smallest stage can be shown whole, beside what it owes."""


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
    permissions: StartPermissions = StartPermissions()
    """What the person allows before the task asks."""
    at_terminal: bool = False
    """Whether a person sits there, who alone can take the walls away."""
    own_code: bool = False
    """Whether the repository is a sample of ours, so that nobody must be asked before its code runs."""
    engine: EngineName = "local"
    delivery: Delivery = "live"
    """`batch`: whatever is configured, calls go by batch where they can."""
    deadline_s: int = 0
    """How long a call may wait for its batch; 0: as long as it takes."""


def start(site: Site, options: StartOptions) -> OpenTask:
    """Records a task. It does not run yet: `drive` does that."""
    if not options.request.strip():
        raise UsageError("The request is empty.", EMPTY)
    options = replace(options, request=redact(options.request)[0])
    if (length := measured(options.request)) > LONGEST_REQUEST:
        raise UsageError(
            f"The request has about {length:,} tokens, and a step has room for {LONGEST_REQUEST:,}.",
            "Commit the details as a file, and name that file in a shorter request.",
        )
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
    resolved, reasons = choose_line(site, options, mode, settings, tree)
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
        # Whoever makes the directory has the name: others that start at the same moment take the next one.
        lambda name: name in archived or not claim_directory(site.project.task(name).root),
    )
    files = site.project.task(task_id)
    Workspace(git, site.home.trees(git.top, task_id).root, task_id).keep_base(base)
    exclude_run_state(git)
    pack = Pack(files.pack)
    # Not in canonical order: a role is shown contracts and tools as their files list them.
    catalogue = pack.put(json.dumps(resolved.to_json(), ensure_ascii=False, separators=(",", ":")).encode())
    pack.sync()
    spec = TaskSpec(
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
    unwalled = "none" if sandbox.name == "none" else "weak" if options.own_code else ""
    permissions = replace(options.permissions, sandbox=unwalled, marker=spec.marker)
    if settings.suggestion is not None:
        permissions = replace(permissions, suggested=settings.suggestion.digest)
    write_permissions(permissions_file(site.home, git.top, task_id), permissions)
    with Journal.create(files, Create(spec), site.clock) as journal:
        artifacts.write_inputs(files, spec, journal.times.created_at, options.engine)
        with closing(ViewWriter(site, journal, lambda _: None)) as views:
            views.show()
    return OpenTask(site, journal)


def exclude_run_state(git: Git) -> None:
    """Keeps what tasks write out of the user's commits; the rest of `.agentforge` is meant to be shared."""
    for name in RUN_STATE:
        git.exclude_locally(f".agentforge/{name}/")


def _check_batches(settings: Settings, specs: Iterable[str]) -> None:
    """At least one of the models can be asked by batch."""
    wires = {settings.providers[name].wire for name, _ in map(split, specs) if name in settings.providers}
    if not wires & WIRES:
        raise UsageError(
            f"Batches are not available from {', '.join(specs)}.",
            "Anthropic, OpenAI (as openai-responses), Mistral and Google have batches; leave --batch "
            "out, or name another --model.",
        )


def choose_line(
    site: Site, options: StartOptions, mode: Mode, settings: Settings, tree: str
) -> tuple[ResolvedPipeline, tuple[str, ...]]:
    """The pipeline and its lane: what a person said, else what the request and the tree say; with the
    reasons.
    """
    goal, why = classify_goal(options.request)
    name = options.pipeline or mode.pipeline or goal
    reasons = [
        f"chosen with --pipeline {name}"
        if options.pipeline
        else f"mode {mode.name}"
        if mode.pipeline
        else why
    ]
    catalog = Catalog.packaged().with_overrides(settings.overrides)
    if name not in catalog.names("pipelines"):
        known = ", ".join(sorted(catalog.names("pipelines")))
        raise UsageError(
            f"There is no pipeline {name}. Choose one of {known}.",
            "`agentforge pipelines list` says what each does.",
        )
    lanes = catalog.document("pipelines", name)["pipeline"].get("lanes", {})
    lane = options.lane
    if lane is not None:
        reasons.append("chosen with --lane")
    elif lanes:
        found = look(site, options.request, tree)
        reasons += found.reasons
        lane = found.lane if found.lane in lanes else None
    return catalog.resolve(name, lane, mode.name), tuple(reason for reason in reasons if reason)


def look(site: Site, request: str, tree: str) -> Triage:
    """The lane and the size of a request, computed from its words and the tree."""
    with KeptFacts(site.home.code_facts) as kept:
        index = CodeReader(site.git, kept).index(tree, request)
    found = triage(request, tree_facts(request, index))
    note = reading_note(index.files, installed=is_installed())
    return replace(found, reasons=(*found.reasons, note)) if note else found
