"""Looked at before a task is on record and anything is spent: can anything be proved here, and do the models
that were chosen exist?

A provider is asked for its list of models, once and for a few seconds. One that has no list gets one small
call. Where nothing answers, that is said, and the first call of the task finds out.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from agentforge.app.models.answering import Answering
from agentforge.app.models.trial import send_one_call
from agentforge.app.setup.setting_up import LOOK_S, unknown_model
from agentforge.core.errors import UsageError, UserError
from agentforge.core.pipeline import TIERS, Pipeline
from agentforge.languages.generic.suggested import SuggestedTests, suggest
from agentforge.languages.repository import asked_about, find_projects, is_unknown
from agentforge.languages.table import NAMES, is_other_code
from agentforge.languages.values import SETTINGS_FILE
from agentforge.models.known.local import InstalledModels, choose, installed_all, lists
from agentforge.models.known.providers import Provider
from agentforge.models.known.published import published_models
from agentforge.models.known.tiers import split
from agentforge.models.probe import ProviderProbe, has_model, probe_all
from agentforge.system.git.repository import Git

TRIAL_S = 10
"""So long a model may take for the small call; a slower one is not waited for."""
_BESIDE = frozenset({".sh"})
"""Code that most repositories have beside what they are about; alone it is asked about if it has tests."""


def check_projects(git: Git, tree: str, line: Pipeline, request: str, settings: Mapping[str, object]) -> None:
    """Refuses a repository of which nothing can be proved, or that lacks what its tests run with, if the line
    would change it. One without any code is fine: a request may be for its first file.
    """
    if not any(stage.needs_environment for stage in line.stages):
        return
    paths = [entry.path for entry in git.ls_tree(tree) if entry.kind == "blob"]
    others = {PurePosixPath(path).suffix for path in paths if is_other_code(path)}

    def read(path: str) -> bytes | None:
        return git.read_blob(tree, path)

    projects = find_projects(read, paths, settings, line.works_on)
    if (
        not line.works_on
        and is_unknown(read, paths)
        and not any(project.language.declared for project in projects)
        and ((suggested := suggest(read, paths)) is not None or others - _BESIDE)
    ):
        raise _unknown_language(sorted(others - _BESIDE or others), suggested)
    for project in asked_about(projects, request, paths):
        if missing := project.language.projects.missing(project.plan):
            next_step = "Install it, or declare another way, and start again; nothing was spent."
            if not project.plan.tests:
                next_step = _declare(suggest(read, paths))
            raise UsageError(missing, next_step)


def _unknown_language(suffixes: Sequence[str], suggested: SuggestedTests | None) -> UsageError:
    found = (
        f"Changes are proved in {NAMES}, or in what the settings declare, and this repository has "
        f"neither; its code is in {', '.join(suffixes[:5])} files."
    )
    if suggested is not None:
        found += f" It looks like {suggested.name}, by {suggested.because}."
    return UsageError(found, _declare(suggested))


def _declare(suggested: SuggestedTests | None) -> str:
    """How a runner that nobody here knows becomes one that can be judged."""
    if suggested is not None:
        return (
            f"`agentforge init` writes settings for {suggested.name} to `{SETTINGS_FILE}`: correct them, "
            "commit them, and start again."
        )
    return (
        f"Declare under `generic:` in `{SETTINGS_FILE}` how its tests run; `agentforge design` and "
        "`--mode audit` read any language and change nothing."
    )


def check_models(
    answering: Answering, notice: Callable[[str], None], suggested: Collection[str] = ()
) -> None:
    """At least one model of every tier exists and takes the key, as far as its provider says so. Nobody is
    asked for a model that only the project suggests.
    """
    specs = [
        spec for spec in answering.tiers.specs if _can_be_asked(answering, spec) and spec not in suggested
    ]
    providers = {name: answering.providers[name] for name in dict.fromkeys(split(spec)[0] for spec in specs)}
    own = [provider for provider in providers.values() if lists(provider)]
    hosted = [provider for provider in providers.values() if not lists(provider)]
    listed = installed_all(own, answering.key) if own else {}
    probes = {probe.provider.name: probe for probe in probe_all(hosted, answering.key, LOOK_S)}
    for name, reason in _unchecked(listed, probes):
        notice(f"{name} could not be checked: {reason}. The first call will tell.")
    trial = _Trial(answering, notice)
    troubles: dict[str, UserError] = {}
    for spec in specs:
        name, model = split(spec)
        trouble = (
            _own_trouble(providers[name], listed[name], model)
            if name in listed
            else _hosted_trouble(probes[name], model, answering.key(providers[name]), trial)
        )
        if trouble is not None:
            troubles[spec] = trouble
    for usable in {answering.tiers.models[tier] for tier in TIERS}:
        if all(spec in troubles for spec in usable):
            raise troubles[usable[0]]
    for spec, trouble in troubles.items():
        notice(f"{spec} is skipped: {trouble.sentence}")


def _can_be_asked(answering: Answering, spec: str) -> bool:
    """Whether it is a provider's model that nothing here stands in the way of."""
    asks_nobody = answering.replays or split(spec)[0] not in answering.providers
    return not asks_nobody and answering.trouble(spec) is None


def _unchecked(
    listed: dict[str, InstalledModels], probes: dict[str, ProviderProbe]
) -> Iterable[tuple[str, str]]:
    for name, seen in listed.items():
        if seen.trouble:
            yield name, seen.trouble
    for name, probe in probes.items():
        if not _answers(probe) and probe.state != "wrong_key":
            yield name, probe.detail


def _own_trouble(provider: Provider, seen: InstalledModels, model: str) -> UserError | None:
    """Of a server on this machine, where an installed model may stand in for the wanted one."""
    choice = choose(provider, seen, model, "generation")
    if choice.model is not None or choice.down:
        return None
    return UsageError(
        f"{choice.why}.", "Name another one with `--model`; `agentforge models list` shows all."
    )


def _answers(probe: ProviderProbe) -> bool:
    return probe.ok or probe.state == "may_not_list"


@dataclass(frozen=True, slots=True)
class _Trial:
    """One small call to a model whose provider has no list to look into."""

    answering: Answering
    notice: Callable[[str], None]

    def trouble(self, provider: Provider, model: str) -> UserError | None:
        spec = f"{provider.name}:{model}"
        tried = send_one_call(replace(self.answering, timeout_s=TRIAL_S), spec)
        used = (
            f" ({tried.input_tokens:,} tokens in, {tried.output_tokens:,} out)" if tried.input_tokens else ""
        )
        self.notice(f"{provider.name} has no list of models, so {spec} was tried with one small call{used}.")
        match tried.trouble:
            case "no_model":
                return unknown_model(provider, model, published_models(provider))
            case "auth":
                return UsageError(tried.sentence, f"Renew the key: `agentforge auth login {provider.name}`.")
            case _:
                return None


def _hosted_trouble(probe: ProviderProbe, model: str, key: str | None, trial: _Trial) -> UserError | None:
    provider = probe.provider
    if probe.state == "wrong_key":
        return UsageError(f"{provider.name}: {probe.detail}.", probe.next_step)
    if _answers(probe) and not probe.models:
        return trial.trouble(provider, model)
    if not probe.whole or model in probe.models or has_model(provider, key, model, LOOK_S) is not False:
        return None
    return unknown_model(provider, model, probe.models)
