"""What was detected in a repository, and the settings file that a person can correct."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeAlias

from agentforge.app.intake.starting import exclude_run_state
from agentforge.app.setup.settings import NO_MODEL, SETTINGS_FILE, read_own_settings, read_settings
from agentforge.app.setup.settings_file import spell_command, spell_settings
from agentforge.catalog.check import examples
from agentforge.context.conventions import MAX_CHARS, convention_files
from agentforge.core.errors import PolicyError, UsageError
from agentforge.gates.runs.plan import PLAN
from agentforge.languages.described import Read, decode
from agentforge.languages.generic.suggested import SuggestedTests, suggest
from agentforge.languages.repository import Project, find_projects, is_unknown, joined_plan
from agentforge.languages.stated_rules import StatedRule, stated_rules
from agentforge.languages.table import DEFAULT, is_other_code, languages_of
from agentforge.languages.values import MarkedTests, Plan
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import Site, home_path
from agentforge.system.files import write_atomic
from agentforge.system.visible import brief

Facts: TypeAlias = list[tuple[str, list[str]]]
"""What was detected, by name."""


@dataclass(frozen=True, slots=True)
class Configured:
    """What `configure` found and wrote."""

    head: str
    """The commit that was looked at."""
    plan: Plan
    sandbox: Sandbox | None
    """None where no walls work here."""
    models: tuple[str, ...]
    facts: Facts
    """The same for people."""
    settings: str | None
    """The path of the settings; None where they were left as they are."""
    examples: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Examples that were not written because a file is there."""
    rules: list[StatedRule] = field(default_factory=list)
    """What the owner's conventions state and a check can hold, unless such a check is there."""
    accepted: bool = False
    """Whether they were written."""


def configure(
    site: Site, *, force: bool = False, with_catalog: bool = False, with_rules: bool = False
) -> Configured:
    """Detects what the project needs and writes its settings; `force` writes over those that are there,
    `with_catalog` adds commented examples, and `with_rules` the checks of what its conventions state. Nothing
    is committed.
    """
    head = site.git.head()
    found = _detect(site, head)
    plan = joined_plan(found.projects)
    settings = _write_settings(site, found, force=force, or_leave=with_catalog or with_rules)
    written, left = _write_examples(site) if with_catalog else ([], [])
    rules = _rules(site, head)
    for rule in rules if with_rules else ():
        write_atomic(site.git.top / rule.path, rule.text.encode())
    exclude_run_state(site.git)
    walls, told_walls = _sandbox()
    models, told_models = _models(site, head)
    facts = [*_guess(found), *_facts(found.projects, plan), ("sandbox", told_walls), ("model", [told_models])]
    return Configured(head, plan, walls, models, facts, settings, written, left, rules, with_rules)


@dataclass(frozen=True, slots=True)
class _Detected:
    """The projects of a commit; where none is of a language that we know, what its tests are likely to run
    with, and what it is instead.
    """

    projects: tuple[Project, ...]
    suggested: SuggestedTests | None
    without_code: str


def _detect(site: Site, head: str) -> _Detected:
    tree = site.git.tree_of(head)
    paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]

    def read(path: str) -> bytes | None:
        return site.git.read_blob(tree, path)

    is_known = bool(languages_of(paths)) and not is_unknown(read, paths) and _has_runner(read, paths)
    suggested = None if is_known else suggest(read, paths)
    projects = find_projects(read, paths, suggested.settings if suggested else None)
    return _Detected(projects, suggested, "" if is_known or suggested else _without_code(paths))


def _has_runner(read: Read, paths: Sequence[str]) -> bool:
    """Whether the largest project's tests are run by something that has a judge."""
    return bool(find_projects(read, paths)[0].plan.tests)


def _without_code(paths: Sequence[str]) -> str:
    """What a repository is in which nothing can be tested yet."""
    if others := sorted({PurePosixPath(path).suffix for path in paths if is_other_code(path)}):
        return (
            f"code in {', '.join(others[:5])} files, and nothing says how its tests run: declare `generic:`"
        )
    if any(path.endswith(".ipynb") for path in paths):
        return "notebooks, which nothing here runs: what is to be proved belongs into a module beside them"
    return (
        f"no code; what is made first is taken for {DEFAULT.name}, and `agentforge write` or `research` work "
        "on texts"
    )


def _write_settings(site: Site, found: _Detected, *, force: bool, or_leave: bool) -> str | None:
    """The path of the settings, if they were written; what is there already is somebody's."""
    path = site.git.top / SETTINGS_FILE
    if path.exists() and not force:
        if or_leave:
            return None
        raise UsageError(
            f"{SETTINGS_FILE} already exists.",
            "Edit it, or overwrite it with `agentforge init --force`.",
        )
    write_atomic(path, spell_settings(found.projects, found.suggested).encode())
    return SETTINGS_FILE


def _rules(site: Site, head: str) -> list[StatedRule]:
    """What the conventions of a commit state, and nothing that a check is there for."""
    tree = site.git.tree_of(head)
    paths = [entry.path for entry in site.git.ls_tree(tree) if entry.kind == "blob"]
    texts = {path: decode(site.git.read_blob(tree, path)) for path in convention_files(paths)}
    found = stated_rules({path: text[:MAX_CHARS] for path, text in texts.items()})
    return [rule for rule in found if not (site.git.top / rule.path).exists()]


def _write_examples(site: Site) -> tuple[list[str], list[str]]:
    """Which examples were written, and which were left because a file is there. None is ever written over."""
    written, left = [], []
    for name, text in examples().items():
        path = site.git.top / name
        if path.exists() or path.is_symlink():
            left.append(name)
            continue
        write_atomic(path, text.encode())
        written.append(name)
    return written, left


def _guess(found: _Detected) -> Facts:
    suggested = found.suggested
    if suggested is None:
        return [("looks like", [found.without_code])] if found.without_code else []
    told = [f"{suggested.name}, by {suggested.because}: a guess; correct what is written if it is wrong"]
    if suggested.hosts:
        hosts = ", ".join(suggested.hosts)
        told.append(f"set-up reaches {hosts} only if you allow it: `network` in docs/settings.md")
    return [("looks like", told)]


def _facts(projects: Sequence[Project], plan: Plan) -> Facts:
    return [
        *([("projects", [each.name for each in projects])] if len(projects) > 1 else []),
        ("setup", [brief(spell_command(words), 400) for words in plan.setup]),
        ("tests", [spell_command(plan.tests)]),
        ("test paths", list(plan.test_paths)),
        *([("integration", [*map(_integration, plan.marked)])] if plan.marked else []),
        *([("not checked", [f"{name}: {brief(why)}" for name, why in plan.not_run])] if plan.not_run else []),
        ("runs", [*PLAN]),
        ("import roots", [root or "." for root in plan.import_roots]),
        ("lint", list(plan.linters) or ["not configured"]),
        ("types", list(plan.type_checkers) or ["not configured"]),
        ("because", [brief(reason) for reason in plan.reasons]),
    ]


def _integration(marked: MarkedTests) -> str:
    return f"{marked.name}, once the change is done: {brief(spell_command(marked.command), 200)}"


def _sandbox() -> tuple[Sandbox | None, list[str]]:
    try:
        found = choose("auto", read_own_settings(home_path() / "config.yaml")[1].container)
    except PolicyError as error:
        return None, [error.sentence, error.next_step]
    return found, [f"{found.name}; `agentforge doctor --detail` shows what it promises"]


def _models(site: Site, head: str) -> tuple[tuple[str, ...], str]:
    try:
        specs = read_settings(site.git, head, model=None, sandbox=None, budget_usd=None).tiers.specs
    except UsageError as error:  # the committed settings are wrong, which is a reason to be here
        return (), f"not known: {error.sentence}"
    return specs, ", ".join(specs) or f"not configured. {NO_MODEL}"
