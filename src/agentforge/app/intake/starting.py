"""A request becomes a task on record: everything that can be wrong with it is said before anything is
written.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.activities.code import CodeReader
from agentforge.activities.task_permissions import check_walls, sandbox_name
from agentforge.app.checks.checking import refuse_bad_rules
from agentforge.app.drivers.view_writer import ViewWriter
from agentforge.app.intake.composing import from_task
from agentforge.app.intake.fixing import derived_from_violation
from agentforge.app.intake.importing import (
    CheckedInput,
    ExternalInput,
    checked,
    keep,
    read_specification,
    tree_place,
)
from agentforge.app.intake.importing_tests import read_tests
from agentforge.app.intake.preflight import check_models, check_projects
from agentforge.app.intake.suggestions import Suggestion
from agentforge.app.intake.watching import Watching
from agentforge.app.models.answering import TIERED, Answering
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import Settings, read_settings
from agentforge.catalog.debated import Debated
from agentforge.catalog.degraded import degraded_rule
from agentforge.catalog.ends import HANDED_IN_BY, Ends, reaches, required_from_outside
from agentforge.catalog.extending import with_targets
from agentforge.catalog.load import Catalog, ResolvedPipeline
from agentforge.catalog.modes import USUAL, Mode, mode_named
from agentforge.context.conventions import convention_files
from agentforge.context.named import tree_facts
from agentforge.context.tokens import measured
from agentforge.core.errors import UsageError
from agentforge.core.inputs import Create
from agentforge.core.pipeline import LANES, Part, Pipeline
from agentforge.core.reply import Json
from agentforge.core.spec import TaskSpec
from agentforge.core.values import VIOLATION, Delivery
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
    path: str | None = None
    """The file or directory that the request is about."""
    through: str | None = None
    """The stage to end at."""
    skip_to: str | None = None
    """The stage to begin at."""
    spec_file: str | None = None
    """A file with a specification."""
    from_tests: str | None = None
    """A directory or file with tests."""
    from_task: str | None = None
    """A task whose results this one builds on."""
    plan: Mapping[str, Json] | None = None
    """What is to be decided, and between which options."""
    debate: Debated = "named"
    """Whether a debate comes before the specification."""
    reworks: str | None = None
    """A task whose result this one corrects."""
    permissions: StartPermissions = StartPermissions()
    """What the person allows before the task asks."""
    at_terminal: bool = False
    """Whether a person sits there, who alone can take the walls away."""
    asked_by: str = ""
    """The command that names the pipeline, where it is no option."""
    watching: Watching = Watching()
    """Where the person wants to decide."""
    own_code: bool = False
    """Whether the repository is a sample of ours, so that nobody must be asked before its code runs."""
    engine: EngineName = "local"
    delivery: Delivery = "live"
    """`batch`: whatever is configured, calls go by batch where they can."""
    deadline_s: int = 0
    """How long a call may wait for its batch; 0: as long as it takes."""
    no_wait: bool = False
    """Ask a person at once where a provider's quota is used up."""


def start(site: Site, options: StartOptions, notice: Callable[[str], None] = lambda _: None) -> OpenTask:
    """Records a task, and tells `notice` what a person should know. It does not run yet: `drive` does
    that.
    """
    options = replace(options, request=_worded(options))
    git = site.git
    if options.reworks:
        options = replace(options, reworks=site.find(options.reworks).task_id)
    base = git.resolve(options.base) if options.base else git.head()
    settings = read_settings(
        git, base, model=options.model, sandbox=options.sandbox, budget_usd=options.budget_usd
    )
    refuse_bad_rules(git, base, settings.project)
    mode = mode_named(options.mode or str(settings.project.get("mode") or USUAL))
    answering = _answering(site, options, settings, mode)
    check_walls(settings.sandbox, settings.own.sandbox, at_terminal=options.at_terminal)
    sandbox = choose(sandbox_name(settings.sandbox), settings.own.container)
    tree = git.tree_of(base)
    handed_in = read_handed_in(site, options, base)
    catalog = Catalog.packaged().with_overrides(settings.overrides)
    options = replace(
        options,
        request=_whole_request(site, tree, options, handed_in),
        watching=options.watching.named(catalog),
    )
    resolved, reasons, imports = choose_line(site, options, mode, catalog, tree, handed_in)
    iterates, approves = options.watching.iterates(resolved), options.watching.approves(resolved)
    check_projects(git, tree, resolved.pipeline(), options.request, settings.project)
    _refuse_unpriced(settings, answering)
    suggestion = settings.suggestion
    if settings.usual is not None:
        notice(settings.usual.sentence)
    check_models(answering, notice, suggestion.specs if suggestion else ())
    make_own_directory(site.home.path)
    task_id = _claim_name(site, options.request)
    files = site.project.task(task_id)
    space = Workspace(git, site.home.trees(git.top, task_id).root, task_id)
    space.keep_base(base)
    exclude_run_state(git)
    pack = Pack(files.pack)
    # Not in canonical order: a role is shown contracts and tools as their files list them.
    catalogue = pack.put(json.dumps(resolved.to_json(), ensure_ascii=False, separators=(",", ":")).encode())
    imported = tuple(keep(files, pack, each) for each in imports)
    pack.sync()
    given_tree = next((each.given.tree for each in imports if each.given.tree), "")
    if given_tree:
        space.keep(given_tree)
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
        given_tree=given_tree,
        deadline_s=options.deadline_s,
        max_wait_s=0 if options.no_wait else settings.own.max_wait_s,
        questions=settings.own.question_rule(resolved.pipeline().name),
        degraded=degraded_rule(),
        reworks=options.reworks or "",
        iterates=iterates,
        approves=approves,
        oversight=options.watching.oversight,
        asks_servers=settings.asks_servers,
    )
    _keep_permissions(site, options, spec, suggestion)
    with Journal.create(files, Create(spec, imported), site.clock) as journal:
        artifacts.write_inputs(files, spec, journal.times.created_at, options.engine)
        with closing(ViewWriter(site, journal, lambda _: None)) as views:
            views.show()
    return OpenTask(site, journal)


def _answering(site: Site, options: StartOptions, settings: Settings, mode: Mode) -> Answering:
    """Who answers the calls of the task, if they are set up, and can do it as it was asked for."""
    answering = Answering.of(site.home, settings, local_only=mode.local_only)
    answering.check()
    if options.delivery == "batch":
        _check_batches(settings, answering.tiers.specs)
    return answering


def _refuse_unpriced(settings: Settings, answering: Answering) -> None:
    """A cap in dollars needs prices."""
    if settings.budget.micro_usd is not None and (unpriced := answering.unpriced()):
        raise UsageError(
            f"The price of {', '.join(unpriced)} is not known, so a budget in dollars cannot be kept.",
            "Leave --budget out; calls and tokens are capped anyway.",
        )


def _claim_name(site: Site, request: str) -> str:
    """The name of the new task, which nobody else can take any more."""
    archived = set(archive.archived_tasks(site.git))
    return new_task_id(
        request,
        f"{site.clock():%Y%m%d}",
        # Whoever makes the directory has the name: others that start at the same moment take the next one.
        lambda name: name in archived or not claim_directory(site.project.task(name).root),
    )


def _keep_permissions(
    site: Site, options: StartOptions, spec: TaskSpec, suggestion: Suggestion | None
) -> None:
    """Always written: what was said about an earlier task of this name must not count."""
    unwalled = "none" if spec.sandbox == "none" else "weak" if options.own_code else ""
    permissions = replace(options.permissions, sandbox=unwalled, marker=spec.marker)
    if suggestion is not None:
        permissions = replace(permissions, suggested=suggestion.digest)
    write_permissions(permissions_file(site.home, site.git.top, spec.task_id), permissions)


def exclude_run_state(git: Git) -> None:
    """Keeps what tasks write out of the user's commits; the rest of `.agentforge` is meant to be shared."""
    git.exclude_locally(*(f".agentforge/{name}/" for name in RUN_STATE))


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
    site: Site,
    options: StartOptions,
    mode: Mode,
    catalog: Catalog,
    tree: str,
    handed_in: Sequence[ExternalInput] = (),
) -> tuple[ResolvedPipeline, tuple[str, ...], tuple[CheckedInput, ...]]:
    """The pipeline and its lane: what a person said, else what the request and the tree say; with the
    reasons, and with what is handed in once its contract has passed.
    """
    parts: frozenset[Part] = frozenset(each.part for each in handed_in)
    goal, why = classify_goal(options.request, parts)
    name = options.pipeline or mode.pipeline or goal
    reasons = [
        f"chosen with {options.asked_by or f'--pipeline {name}'}"
        if options.pipeline
        else f"mode {mode.name}"
        if mode.pipeline
        else why
    ]
    if name not in catalog.names("pipelines"):
        known = ", ".join(sorted(catalog.names("pipelines")))
        raise UsageError(
            f"There is no pipeline {name}. Choose one of {known}.",
            "`agentforge pipelines list` says what each does.",
        )
    imports = tuple(
        checked(catalog, name, each, handed_in, tree_place(site, each.tree or tree, options.request))
        for each in handed_in
    )
    given = frozenset(each.contract for each in imports)
    ends = Ends(options.skip_to or "", options.through or "", given)
    template = catalog.document("pipelines", name)["pipeline"]
    if missing := [each for each in required_from_outside(template) if each not in given]:
        raise UsageError(
            f"The pipeline {name} needs a {missing[0]} to begin with.", _how_to_hand_in(catalog, missing[0])
        )
    lane = options.lane
    if lane is not None:
        reasons.append("chosen with --lane")
    elif template.get("lanes"):
        found = look(site, options.request, tree)
        reasons += found.reasons
        lane = _lane_with(catalog, template, found.lane, ends, options.watching)
        if lane != found.lane:
            reasons.append(f"the lane {found.lane} does not have what you asked for")
    resolved = with_targets(catalog.resolve(name, lane, mode.name, ends, options.debate), catalog)
    reasons += debate_reasons(resolved.pipeline(), options.debate)
    return resolved, tuple(reason for reason in reasons if reason), imports


def debate_reasons(pipeline: Pipeline, wanted: Debated) -> list[str]:
    """Whether a debate was asked for, or left out although the pipeline wants one: on record either way."""
    if wanted == "always":
        return ["a debate was asked for with --debate"]
    left = [stage.name for stage in pipeline.stages if stage.undebated]
    return [f"the debate before {left[0]} was left out with --no-debate"] if left else []


def _lane_with(
    catalog: Catalog, template: Mapping[str, Any], wanted: str, ends: Ends, watching: Watching
) -> str:
    """The lane that the request fits, or the next higher one that a task can enter, leave and be iterated at
    where it should. If none is like that it is the highest, which can name the most.
    """
    lanes: list[str] = [*template["lanes"]]
    higher = [name for name in LANES[LANES.index(wanted) :] if name in lanes] if wanted in LANES else []
    first = lanes.index(higher[0]) if higher else len(lanes) - 1
    for lane in (*lanes[first:], *reversed(lanes[:first])):
        stages = catalog.stages_of(template, lane)
        if reaches(template, ends, stages) and watching.finds(stages):
            return lane
    return lanes[-1]


def _how_to_hand_in(catalog: Catalog, contract: str) -> str:
    part = catalog.contract(contract).part
    return f"Hand it in with {HANDED_IN_BY[part]}." if part and part in HANDED_IN_BY else ""


def read_handed_in(site: Site, options: StartOptions, base: str) -> tuple[ExternalInput, ...]:
    """What a person hands in beside the request, not trusted yet."""
    if options.spec_file and options.from_task:
        raise UsageError("--spec and --from-task both hand in a specification; leave one out.")
    found: list[ExternalInput] = []
    if options.plan is not None:
        return (ExternalInput("options", dict(options.plan), "user_provided", "What was asked"),)
    if not (options.spec_file or options.from_task or options.from_tests) and (named := _violation(options)):
        return derived_from_violation(site, base, named)
    if options.spec_file:
        found.append(read_specification(options.spec_file))
    if options.from_task:
        found += from_task(site, options.from_task, base)
    if options.from_tests:
        if any(each.part == "tests" for each in found):
            raise UsageError(f"--from-tests and {options.from_task} both hand in tests; leave one out.")
        found.append(read_tests(site, options.from_tests, base))
    return tuple(found)


def _violation(options: StartOptions) -> str:
    """The violation that a request to fix one names."""
    named = VIOLATION.search(options.request)
    goal = options.pipeline or classify_goal(options.request)[0]
    return named[0] if named and goal == "fix" else ""


def _worded(options: StartOptions) -> str:
    """The request without its secrets, if it can be one: not empty, and short enough for a step."""
    options.watching.check(can_ask=options.permissions.interactive)
    request = redact(options.request)[0]
    if not (request.strip() or options.path or options.spec_file or options.from_task):
        raise UsageError("The request is empty.", EMPTY)
    if (length := measured(request)) > LONGEST_REQUEST:
        raise UsageError(
            f"The request has about {length:,} tokens, and a step has room for {LONGEST_REQUEST:,}.",
            "Commit the details as a file, and name that file in a shorter request.",
        )
    return request


def _whole_request(site: Site, tree: str, options: StartOptions, handed_in: Sequence[ExternalInput]) -> str:
    """The request as it is put on record: a path that is named and what is handed in say a part of it."""
    request = options.request if options.path is None else _about(site, tree, options.path, options)
    request = request.strip() or request_for(handed_in, options.pipeline)
    if not request:
        raise UsageError("The request is empty.", EMPTY)
    return request


def _about(site: Site, tree: str, path: str, options: StartOptions) -> str:
    """The request of somebody who names a path: it must be in the tree that the task starts from."""
    top = site.git.top.resolve()
    place = Path(path).absolute()
    whole = place.parent.resolve() / place.name if place.name != ".." else place.resolve()
    if not whole.is_relative_to(top):
        raise UsageError(f"{path} is outside of the repository {top}.")
    name = whole.relative_to(top).as_posix()
    inside = [entry.path for entry in site.git.ls_tree(tree)]
    if name != "." and not any(each == name or each.startswith(f"{name}/") for each in inside):
        raise UsageError(
            f"{path} is not in the commit that the task starts from.",
            "Commit it, or name a path that `git ls-files` shows.",
        )
    verb = (options.pipeline or "review").capitalize()
    about = "the whole repository" if name == "." else name if name in inside else f"{name}/"
    words = options.request.strip()
    return f"{verb} {about}: {words}" if words else f"{verb} {about}"


def request_for(handed_in: Sequence[ExternalInput], pipeline: str | None) -> str:
    """The request of somebody who only hands in a specification: what its title says."""
    titles = [str(each.document.get("title") or "") for each in handed_in if each.part == "requirements"]
    if not titles or not titles[0]:
        return ""
    verb = "Write tests for" if pipeline == "test" else "Implement"
    return f"{verb} the specification “{redact(titles[0])[0]}”"


def read_conventions(site: Site, tree: str) -> tuple[str, ...]:
    """The files of a tree that tell roles what the owner asks of them."""
    paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]
    return tuple(convention_files(paths))


def look(site: Site, request: str, tree: str) -> Triage:
    """The lane and the size of a request, computed from its words and the tree."""
    with KeptFacts(site.home.code_facts) as kept:
        index = CodeReader(site.git, kept).index(tree, request)
    found = triage(request, tree_facts(request, index))
    note = reading_note(index.files, installed=is_installed())
    return replace(found, reasons=(*found.reasons, note)) if note else found
