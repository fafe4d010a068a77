"""The one `Language` that answers for several projects of a repository: each is asked about its own files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.languages.described import Read
from agentforge.languages.merged import joined_checks, joined_run, worst
from agentforge.languages.outcomes import RunElsewhere, SeenCall, TestRun, Watch
from agentforge.languages.plain.answers import PlainProjects, PlainRuns, PlainTests
from agentforge.languages.port import Language
from agentforge.languages.repository import Project, is_alone, is_in, owners
from agentforge.languages.table import DEFAULT, language_of
from agentforge.languages.values import (
    CheckRun,
    CoverageRun,
    Environment,
    Liveness,
    Manifest,
    Sections,
    Shadow,
    Stranger,
)
from agentforge.sandbox.base import Sandbox
from agentforge.system.canon import digest


def joined_language(projects: Sequence[Project]) -> Language:
    """What answers for these projects, the first one first: the language itself where one alone is at the
    top. An environment says which of them are set up, and so run.
    """
    first = projects[0]
    if is_alone(projects):
        return first.language
    languages = tuple(dict.fromkeys(each.language.name for each in projects))
    return replace(
        first.language,
        name=" and ".join(languages),
        suffixes=tuple(suffix for each in projects for suffix in each.language.suffixes),
        projects=_JoinedProjects(first.language.name, tuple(projects)),
        tests=_JoinedTests(first.language.name, tuple(projects)),
        runs=_JoinedRuns(first.language.name, tuple(projects)),
        runs_code=any(each.language.runs_code for each in projects),
    )


class _JoinedProjects(PlainProjects):
    """What is asked of projects once they are found; each is detected and built by itself."""

    detect = staticmethod(DEFAULT.projects.detect)
    build = staticmethod(DEFAULT.projects.build)

    def __init__(self, language: str, projects: tuple[Project, ...]) -> None:
        super().__init__(language)
        self._projects = projects

    def run_env(self, environment: Environment, tree: Path, /) -> dict[str, str]:
        """The variables of all of them; of what several set, the paths are joined and the first counts."""
        found: dict[str, str] = {}
        for each in reversed(self._projects):
            if each.name in environment.parts:
                own = each.language.projects.run_env(environment.parts[each.name][1], each.place(tree))
                path = ":".join(dict.fromkeys((own.get("PATH", ""), *found.get("PATH", "").split(":"))))
                found |= {**own, "PATH": path.strip(":")}
        return found

    def strangers(self, environment: Environment, /) -> tuple[Stranger, ...]:
        """Those of all of them."""
        return tuple(
            found
            for each in self._projects
            if each.name in environment.parts
            for found in each.language.projects.strangers(environment.parts[each.name][1])
        )

    def describe(self, read: Read, paths: Sequence[str], /) -> Manifest:
        """What all of them declare; the version and the build are those of the first."""
        found = [
            each.language.projects.describe(
                each.read(read), [each.own(path) for path in paths if is_in(path, each.root)]
            )
            for each in self._projects
        ]
        return replace(
            found[0],
            paths=frozenset(paths),
            import_roots=tuple(
                each.whole(root)
                for each, manifest in zip(self._projects, found, strict=True)
                for root in manifest.import_roots
            ),
            requirements=tuple(
                (each.whole(place), wanted)
                for each, manifest in zip(self._projects, found, strict=True)
                for place, wanted in manifest.requirements
            ),
            names=frozenset().union(*(manifest.names for manifest in found)),
            fragments=next((manifest.fragments for manifest in found if manifest.fragments), None),
        )


class _JoinedTests(PlainTests):
    """Which files are about tests in several projects. What is asked of one file is asked of its language."""

    def __init__(self, language: str, projects: tuple[Project, ...]) -> None:
        super().__init__(language)
        self._projects = projects
        parts = [each.language.tests for each in projects]
        self.RUNNER = " and ".join(dict.fromkeys(part.RUNNER for part in parts))
        self.SETTINGS = frozenset().union(*(part.SETTINGS for part in parts))
        self.FIXTURES = frozenset().union(*(part.FIXTURES for part in parts))
        self.MISCALLED = frozenset().union(*(part.MISCALLED for part in parts))
        self.HELD_OUT, self.CALLABLE = parts[0].HELD_OUT, parts[0].CALLABLE
        self.SECTIONS: Sections = {
            each.whole(path): read for each in projects for path, read in each.language.tests.SECTIONS.items()
        }

    def test_globs(self, test_paths: Sequence[str], /) -> tuple[str, ...]:
        """Of each project, from its own places; `test_paths` are all of them."""
        return tuple(
            each.whole(glob)
            for each in self._projects
            for glob in each.language.tests.test_globs(each.plan.test_paths)
        )

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """By the language of the file."""
        language = language_of(path)
        return language.tests.test_ids_in_source(text, path) if language else []

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """By the language of the file."""
        language = language_of(identity.partition("::")[0])
        return language.tests.liveness(text, identity) if language else Liveness()

    def examples_of(self, text: str, identity: str, /) -> tuple[str, ...] | None:
        """By the language of the file."""
        language = language_of(identity.partition("::")[0])
        return language.tests.examples_of(text, identity) if language else None

    def shadows(
        self, written: Sequence[str], before: frozenset[str], after: frozenset[str], env: Environment, /
    ) -> list[Shadow]:
        """Of each project that is set up, among its own files."""
        found: list[Shadow] = []
        for each in self._projects:
            if each.name not in env.parts:
                continue
            own, old, new = (
                [each.own(path) for path in paths if is_in(path, each.root)]
                for paths in (written, sorted(before), sorted(after))
            )
            part = env.parts[each.name][1]
            found += (
                shadow._replace(path=each.whole(shadow.path))
                for shadow in each.language.tests.shadows(own, frozenset(old), frozenset(new), part)
            )
        return found


class _JoinedRuns(PlainRuns):
    """Runs of several projects: each in its own environment and folder, as far as that is set up."""

    def __init__(self, language: str, projects: tuple[Project, ...]) -> None:
        super().__init__(language)
        self._projects = projects

    def _there(self, env: Environment, tree: Path) -> list[tuple[Project, Environment, Path]]:
        return [
            (each, replace(env.parts[each.name][1], around=tree), each.place(tree))
            for each in self._projects
            if each.name in env.parts
        ]

    def run_tests(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        /,
        *,
        watch: Watch | None = None,
        limit_s: float = 0,
        timeout_s: float,
        scratch: Path,
        base_command: tuple[str, ...],
        ids: Sequence[str] = (),
    ) -> TestRun:
        """Of each project that is set up and asked for; what one of them did not run, was not run."""
        runs: list[tuple[Project, TestRun]] = []
        for each, part, place in self._there(env, tree):
            own = [
                each.own(identity)
                for identity in ids
                if each in owners(self._projects, identity.partition("::")[0])
            ]
            if ids and not own:
                continue
            seen = (
                None
                if watch is None
                else replace(
                    watch,
                    files=tuple(each.own(path) for path in watch.files if is_in(path, each.root)),
                    data=tuple(each.own(path) for path in watch.data if is_in(path, each.root)),
                )
            )
            run = each.language.runs.run_tests(
                sandbox,
                part,
                place,
                ids=own,
                base_command=each.plan.test_command,
                scratch=scratch,
                timeout_s=timeout_s,
                watch=seen,
                limit_s=limit_s,
            )
            runs.append((each, run))
        return joined_run(runs, ids)

    def judge_hash(self) -> str:
        """A digest of all of them."""
        return digest("\n".join(each.language.runs.judge_hash() for each in self._projects))

    def foreign(
        self, run: TestRun, tree: Path, env: Environment, changed_paths: Sequence[str], /
    ) -> list[str]:
        """Of each project, among its own files."""
        return [
            each.whole(path)
            for each, part, place in self._there(env, tree)
            for path in each.language.runs.foreign(
                run, place, part, [each.own(path) for path in changed_paths if is_in(path, each.root)]
            )
        ]

    def lint(self, sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], /) -> CheckRun:
        """Of each project, in its own files."""
        return joined_checks(
            (each, each.language.runs.lint(sandbox, part, place, own))
            for each, part, place in self._there(env, tree)
            if (own := self._own(each, paths)) or not paths
        )

    def formatted(
        self, sandbox: Sandbox, env: Environment, tree: Path, texts: Mapping[str, str], /
    ) -> dict[str, str]:
        """Of each project, in its own files."""
        return {
            each.whole(path): text
            for each, part, place in self._there(env, tree)
            if (
                own := {each.own(path): texts[path] for path in texts if each in owners(self._projects, path)}
            )
            for path, text in each.language.runs.formatted(sandbox, part, place, own).items()
        }

    def typecheck(
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        paths: Sequence[str],
        /,
        *,
        cache: Path | None = None,
    ) -> CheckRun:
        """Of each project, in its own files."""

        def own_cache(project: Project) -> Path | None:
            return cache / digest(project.name)[:16] if cache is not None else None

        return joined_checks(
            (each, each.language.runs.typecheck(sandbox, part, place, own, cache=own_cache(each)))
            for each, part, place in self._there(env, tree)
            if (own := self._own(each, paths)) or not paths
        )

    def _own(self, project: Project, paths: Sequence[str]) -> list[str]:
        return [project.own(path) for path in paths if project in owners(self._projects, path)]

    def call_tests(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        path: str,
        names: Sequence[str],
        /,
        *,
        timeout_s: float,
        scratch: Path,
        like: TestRun,
    ) -> TestRun | None:
        """By the project of the file."""
        for each, part, place in self._there(env, tree):
            if each in owners(self._projects, path):
                run = each.language.runs.call_tests(
                    sandbox,
                    part,
                    place,
                    each.own(path),
                    names,
                    like=like,
                    scratch=scratch,
                    timeout_s=timeout_s,
                )
                return run if run is None else joined_run([(each, run)])
        return None

    def call_functions(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        calls: Sequence[SeenCall],
        old: Mapping[str, str | None],
        /,
        *,
        scratch: Path,
        like: TestRun,
    ) -> RunElsewhere | None:
        """By the project that has all of the files; calls of several are not made again."""
        for each, part, place in self._there(env, tree):
            if all(each in owners(self._projects, call.file) for call in calls):
                own = [replace(call, file=each.own(call.file)) for call in calls]
                texts = {
                    each.own(path): text for path, text in old.items() if each in owners(self._projects, path)
                }
                return each.language.runs.call_functions(
                    sandbox, part, place, own, texts, like=like, scratch=scratch
                )
        return None

    def measure(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        paths: Sequence[str],
        /,
        *,
        timeout_s: float,
        scratch: Path,
        command: tuple[str, ...],
        tests: Sequence[str] = (),
    ) -> CoverageRun:
        """Of each project with such files; where one of them cannot be measured, the others count."""
        found: list[tuple[Project, CoverageRun]] = []
        for each, part, place in self._there(env, tree):
            if not (own := self._own(each, paths)):
                continue
            run = each.language.runs.measure(
                sandbox,
                part,
                place,
                own,
                tests=self._own(each, tests),
                command=each.plan.test_command,
                scratch=scratch,
                timeout_s=timeout_s,
            )
            found.append((each, run))
        status = worst([run.status for _, run in found])
        return CoverageRun(
            status,
            "; ".join(dict.fromkeys(run.reason for _, run in found if run.status == status and run.reason)),
            {each.whole(path): lines for each, run in found for path, lines in run.executed.items()},
            {each.whole(path): lines for each, run in found for path, lines in run.missing.items()},
        )
