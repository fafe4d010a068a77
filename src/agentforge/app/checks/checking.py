"""`check`: the conformance checks on the files of a checkout, as a person asks for them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agentforge.activities.task_permissions import project_of, sandbox_name
from agentforge.app.checks.own_linters import COMPARED, LinterResult, run_linters
from agentforge.app.checks.violations import (
    check_violation,
    open_exemptions,
    read_baseline,
    record,
    write_baseline,
)
from agentforge.app.checks.working_files import (
    FileVersion,
    files_of_commit,
    listed_files,
    staged_files,
    working_files,
)
from agentforge.app.setup.settings import (
    SETTINGS_FILE,
    check_settings,
    read_own_settings,
    read_project_settings,
)
from agentforge.catalog.project_checks import CHECKS_FOLDER, ProjectCheck, read_project_checks
from agentforge.core.errors import UsageError
from agentforge.gates.conformance.confined import NO_CONSENT, confined_answer
from agentforge.gates.conformance.contents import copies_in, examined, readings_of, rules_in, tree_contents
from agentforge.gates.conformance.declared import ProjectRules, declared
from agentforge.gates.conformance.engine import CheckReport, CheckResult, CheckScope, examine
from agentforge.gates.conformance.exemptions import EXEMPTIONS_FILE, Exemption, read_exemptions
from agentforge.gates.conformance.findings import CodeFinding
from agentforge.gates.conformance.project_rules import CommandAnswer, RunCommand, Source, check_examples
from agentforge.gates.conformance.weighing import Weighed, weighed
from agentforge.languages.conformance import LANGUAGE_NAMES
from agentforge.languages.described import Read
from agentforge.languages.tests import looks_like_test
from agentforge.languages.toolchains import find_toolchains, needs_here, readable, with_toolchains
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import Site
from agentforge.store.user.code_facts import KeptFacts
from agentforge.store.user.consents import consent, consented
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.files import make_own_directory
from agentforge.system.git.repository import Git
from agentforge.system.globs import glob, matches_any


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is checked, and what it is compared with."""

    paths: tuple[Path, ...] = ()
    """Files and folders; none for the whole repository."""
    since: str = ""
    """A commit: only what is new or worse since then counts."""
    staged: bool = False
    """What is staged, compared with the last commit."""
    linters: bool = True
    """Whether the project's own linters run, too."""
    agree: bool = False
    """Whether the person agrees to the commands of the project's checks, as they are now."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check of files found, and what did not run."""

    results: tuple[CheckResult, ...]
    weighed: Weighed
    files: int
    compared_with: str
    """The commit; empty for none."""
    baseline: int | None
    """How many findings the baseline names; None where there is none."""
    exemptions: Mapping[str, Exemption]
    linters: tuple[LinterResult, ...] = ()
    """How the project's own linters ended; none where nobody asked."""
    unread: tuple[str, ...] = ()
    """Files that cannot be parsed."""

    @property
    def clean(self) -> bool:
        """Whether nothing that blocks was found."""
        return not self.weighed.blocking and all(each.status != "failed" for each in self.linters)


def check(site: Site, request: CheckRequest) -> CheckOutcome:
    """Runs every check that is configured, and keeps a record of each violation that it finds."""
    settings = _settings(site.project.top)
    rules = _rules(site, settings)
    check_examples(rules)
    if request.agree:
        _agree(site, rules)
    now = staged_files(site.git) if request.staged else working_files(site.git)
    base = _base(site, request)
    wanted = _wanted(site, request, now, base)
    is_test = tests_of(settings)
    with KeptFacts(site.home.check_readings) as kept:
        # Where somebody names files, copies are looked for among these alone.
        look = _Look(rules, is_test, kept, partial(_run, site), wanted if request.paths else None)
        after = look.report(now, wanted)
        before = None if base is None else look.report(base)
    baseline = read_baseline(site) if before is None else None
    exemptions = open_exemptions(site, site.clock())
    result = weighed(
        after,
        before=None if before is None else before.findings,
        baseline=baseline,
        exempted=[each.identity for each in after.findings if any(one.covers(each) for one in exemptions)],
        strict=rules.strict,
    )
    if not request.staged:
        record(site, result, wanted if before is None else frozenset(), after.findings)
    by_finding = {
        each.identity: next(one for one in exemptions if one.covers(each)) for each in result.exempt
    }
    return CheckOutcome(
        after.results,
        result,
        after.files,
        "" if base is None else _base_name(site, request),
        None if baseline is None else len(baseline),
        by_finding,
        _linters(site, request, wanted, compared=base is not None),
        after.unread,
    )


def _linters(
    site: Site, request: CheckRequest, wanted: frozenset[str], *, compared: bool
) -> tuple[LinterResult, ...]:
    if not request.linters:
        return ()
    if compared:
        return (LinterResult("all", "not_run", COMPARED),)
    return run_linters(site, listed_files(site.git), wanted)


def refuse_bad_rules(git: Git, commit: str, settings: Mapping[str, Any]) -> None:
    """Refuses what a commit says about checks where it cannot be used: before a task costs anything."""
    tree = git.tree_of(commit)
    own = read_project_checks(rules_in(git, tree))
    declared(settings, own=own)
    data = git.read_blob(tree, EXEMPTIONS_FILE)
    read_exemptions((data or b"").decode("utf-8", "replace"))


def chosen_files(site: Site, request: CheckRequest) -> list[str]:
    """The files that a request is about, as they are on the disk."""
    now = working_files(site.git)
    return sorted(_wanted(site, request, now, _base(site, request)))


@dataclass(frozen=True, slots=True)
class ListedCheck:
    """A check as `check --list` shows it."""

    result: CheckResult
    by_language: Mapping[str, str]
    """What it is checked by, in each language; empty for what is not available."""


def list_checks(site: Site) -> list[ListedCheck]:
    """Every check with what it is checked by, and whether this project has declared what it needs."""
    rules = _rules(site, _settings(site.project.top))
    found = []
    for each in rules.checks.values():
        by = {name: each.checked_by.get("any", each.checked_by.get(name, "")) for name in LANGUAGE_NAMES}
        ready = rules.configured(each)
        reason = "" if ready else f"`conformance: {each.needs}` is not in {SETTINGS_FILE}"
        found.append(ListedCheck(CheckResult(each, "passed" if ready else "not_configured", reason), by))
    return found


def set_baseline(site: Site) -> int:
    """Takes all that is found now as known; says how many findings that is."""
    rules = _rules(site, settings := _settings(site.project.top))
    now = working_files(site.git)
    with KeptFacts(site.home.check_readings) as kept:
        report = _Look(rules, tests_of(settings), kept).report(now)
    return write_baseline(site, [each for each in report.findings if each.blocks != "never"])


def tests_of(settings: Mapping[str, Any]) -> Callable[[str], bool]:
    """Which files are tests, by a project's settings or else by their names."""
    said = tuple(glob(pattern) for pattern in settings.get("tests", ()))
    return (lambda path: matches_any(said, path) is not None) if said else looks_like_test


@dataclass(frozen=True, slots=True)
class _Look:
    """How one run of the checks reads files, and which it looks at."""

    rules: ProjectRules
    is_test: Callable[[str], bool]
    kept: KeptFacts
    run: RunCommand | None = None
    near: frozenset[str] | None = None
    """The files among which copies are looked for; None for all."""

    def report(self, files: FileVersion, wanted: frozenset[str] | None = None) -> CheckReport:
        """What the checks find in the wanted files of a version; in all of them, if none is named."""
        readings = readings_of(files.contents, files.load, self.kept)
        mine = frozenset(readings) if wanted is None else wanted & readings.keys()
        near = readings if self.near is None else self.near & readings.keys()
        scope = CheckScope(
            mine,
            is_test=self.is_test,
            copies=lambda: copies_in(near, files.contents, files.load, self.is_test, self.kept),
            source=Source(files.contents, files.load, self.kept, self.run if files.on_disk else None),
        )
        return examine(readings, self.rules, scope)


def violation_in(site: Site, commit: str, name: str) -> CodeFinding:
    """A violation on record as a commit has it; refuses one that the commit does not have."""
    fields = check_violation(site, name)
    git = site.git
    rules = declared(settings := read_project_settings(git, commit), lambda path: git.read_blob(commit, path))
    contents = tree_contents(git, git.tree_of(commit))
    with KeptFacts(site.home.check_readings) as kept:
        report = examined(git, contents, rules, tests_of(settings), kept)
    found = next((each for each in report.findings if each.identity == name), None)
    if found is None:
        raise UsageError(
            f"{name} ({fields['check_id']} in {fields['file']}) is not in the commit {commit[:12]}.",
            "`agentforge check` says whether it is still there; commit what it is about first.",
        )
    return found


def _base(site: Site, request: CheckRequest) -> FileVersion | None:
    if not request.staged and not request.since:
        return None
    return files_of_commit(site.git, _base_name(site, request))


def _base_name(site: Site, request: CheckRequest) -> str:
    return site.git.resolve(request.since) if request.since else site.git.head()


def _wanted(site: Site, request: CheckRequest, now: FileVersion, base: FileVersion | None) -> frozenset[str]:
    """The files that findings are wanted of: those that are named, of them those that differ from a base."""
    paths = frozenset(now.contents)
    if request.paths:
        places = [_place(site, path) for path in request.paths]
        paths = frozenset(
            path for path in paths if any(not at or path == at or path.startswith(f"{at}/") for at in places)
        )
    if base is not None:
        paths = frozenset(path for path in paths if base.contents.get(path) != now.contents[path])
    return paths


def _place(site: Site, path: Path) -> str:
    """A path that a person typed, as the repository has it."""
    top = site.project.top.resolve()
    real = Path(os.path.abspath(path))  # noqa: PTH100 - a link inside is named as it is
    real = path.resolve() if not real.is_relative_to(top) else real
    if not real.is_relative_to(top):
        raise UsageError(f"{path} is not in the repository at {top}.", "Name a path inside it.")
    if not real.exists():
        raise UsageError(f"There is no {path}.", "Name a file or a folder that is there.")
    found = real.relative_to(top).as_posix()
    return "" if found == "." else found


def _rules(site: Site, settings: Mapping[str, Any]) -> ProjectRules:
    """What holds here, by the files on the disk."""
    folder, texts = site.project.top / CHECKS_FOLDER, {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            data = read_bounded(path, SETTINGS_BYTES, follow=False)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(f"{CHECKS_FOLDER}{path.name} cannot be read: {why}.") from None
        texts[f"{CHECKS_FOLDER}{path.name}"] = data.decode("utf-8", "replace")
    return declared(settings, _reader(site), read_project_checks(texts))


def _agree(site: Site, rules: ProjectRules) -> None:
    """Remembers that this person agreed to each command, as it is: one that changes is asked about again."""
    make_own_directory(site.home.path)
    for rule in rules.own.values():
        if rule.kind == "command":
            consent(site.home, project_of(site), rule.digest, site.clock())


def _run(site: Site, rule: ProjectCheck) -> CommandAnswer:
    """A command of the project on the checkout as it is, which it can only read."""
    if not consented(site.home, project_of(site), rule.digest):
        return "", NO_CONSENT
    _, own = read_own_settings(site.home.path / "config.yaml")
    walls = choose(sandbox_name(own.sandbox or "auto"), own.container)
    top = site.project.top
    chains = find_toolchains(needs_here(top), os.environ, Path.home())
    env = with_toolchains({"PATH": "/usr/local/bin:/usr/bin:/bin"}, chains)
    return confined_answer(walls, rule, top, readable(chains), env)


def _reader(site: Site) -> Read:
    """What reads the settings of tools at the top of the checkout."""

    def read(name: str) -> bytes | None:
        try:
            return read_bounded(site.project.top / name, SETTINGS_BYTES)
        except OSError:
            return None

    return read


def _settings(top: Path) -> dict[str, Any]:
    """The settings as they are on the disk: a person tries what they write before they commit it."""
    try:
        text = read_bounded(top / SETTINGS_FILE, SETTINGS_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    return check_settings(strict_yaml.load_settings(text, SETTINGS_FILE), SETTINGS_FILE, text)
