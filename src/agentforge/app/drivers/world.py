"""What effects touch, put together for one task."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agentforge.activities.task_permissions import permissions_of, project_of, rules_of, weak_allowed
from agentforge.activities.world import ModelQuestion, World
from agentforge.app.drivers.neighbours import OtherTasks
from agentforge.app.intake.suggestions import Suggestion, suggestion_of
from agentforge.app.models.answering import TIERED
from agentforge.app.setup.settings import Settings, read_settings, with_tier
from agentforge.catalog.load import ResolvedPipeline
from agentforge.core.state import State
from agentforge.models.known.tiers import from_project
from agentforge.models.router import Router
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.worktree import Workspace
from agentforge.store.site import Site
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.user.code_facts import KeptFacts
from agentforge.store.user.consents import consented
from agentforge.store.user.keys import KeyStore


def settings_of(site: Site, state: State) -> Settings:
    """What is configured now, for a task on record: with its own model and sandbox, and with the repository's
    settings of its base.
    """
    model = None if state.model == TIERED else state.model
    found = read_settings(site.git, state.base_commit, model=model, sandbox=state.sandbox, budget_usd=None)
    for tier, spec in state.tier_models:
        found = with_tier(found, tier, spec)
    return replace(found, suggestion=suggested_for(site, state, found))


def suggested_for(site: Site, state: State, settings: Settings) -> Suggestion | None:
    """The models that nobody on this machine named: the project's, and those that only the record names."""
    named, own = from_project(settings.tiers), settings.own_tiers.specs
    said = permissions_of(site, state).permissions
    if said.marker != state.marker or not state.marker or said.suggested:
        named = (*named, *(spec for spec in settings.tiers.specs if spec not in own))
    return suggestion_of(named, settings.providers)


def _model_question(site: Site, suggestion: Suggestion | None) -> ModelQuestion | None:
    """What to ask before the first call, unless a person said yes to these very models in this repository."""
    if suggestion is None or consented(site.home, project_of(site), suggestion.digest):
        return None
    return ModelQuestion(suggestion.question, suggestion.advice)


def make_world(
    site: Site,
    journal: Journal,
    settings: Settings,
    models: Router,
    sandbox: Sandbox,
    progress: Callable[[str], None],
) -> World:
    """Puts together what the effects of one task work with: files, sandbox, models, settings and rules."""
    KeyStore.of(site.home, os.environ).remember_all(keychain=True)
    state, files = journal.state, journal.files
    pack = Pack(files.pack)
    value: Any = pack.get_json(state.catalogue)
    stored = permissions_of(site, state)
    if stored.problem:
        progress(stored.problem)
    return World(
        files=files,
        pack=pack,
        workspace=Workspace(site.git, site.home.trees(site.git.top, state.task_id).root, state.task_id),
        sandbox=sandbox,
        models=models,
        catalogue=ResolvedPipeline.from_json(value),
        settings={**settings.project, **({"python": settings.own.python} if settings.own.python else {})},
        cache=site.home.environments(site.git.top),
        kept_facts=KeptFacts(site.home.code_facts),
        kept_readings=KeptFacts(site.home.check_readings),
        agreed=partial(consented, site.home, project_of(site)),
        created_at=journal.times.created_at,
        answered_at=lambda identity: dict(journal.times.answered).get(identity, ""),
        record=journal.advance,
        head=lambda: journal.head,
        timeout_s=settings.test_timeout_s,
        progress=progress,
        rules=rules_of(site, state, stored.permissions),
        roots=settings.own.roots,
        network=settings.own.network,
        index_passwords=settings.own.index_passwords,
        weak_allowed=partial(weak_allowed, site, state, own=settings.own.weak),
        model_question=partial(_model_question, site, settings.suggestion),
        neighbours=OtherTasks(site.home, site.git.top.resolve()),
    )
