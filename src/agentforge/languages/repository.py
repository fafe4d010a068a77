"""The projects of a repository: a language each, in a folder each. One alone at the top is most
repositories; several are answered for by one `Language`, which asks each about its own files.

A project sees its folder as if that were the repository: paths and ids are made relative on the way in, and
whole again on the way out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.languages.described import Read
from agentforge.languages.outcomes import TestRun
from agentforge.languages.plain.answers import is_of_others
from agentforge.languages.port import Language
from agentforge.languages.table import DEFAULT, FOUND, LANGUAGES, is_other_code, language_of, languages_of
from agentforge.languages.values import Environment, Plan
from agentforge.system.canon import digest

ANYWHERE = "."
_WORDS = re.compile(r"[\w./@+-]*[\w/@+-]")


@dataclass(frozen=True, slots=True)
class Project:
    """One project of a repository: its language, its folder, and how it is set up and tested."""

    language: Language
    root: str
    """Empty for the top."""
    plan: Plan
    """As the project sees itself."""

    @property
    def name(self) -> str:
        """The project's name, which tells it from the others of the repository."""
        return f"{self.language.name} in {self.root}" if self.root else self.language.name

    def whole(self, path: str) -> str:
        """A path or id of the project as the repository has it."""
        return path if not self.root else self.root if path == ANYWHERE else f"{self.root}/{path}"

    def own(self, path: str) -> str:
        """A path or id of the repository as the project has it; above its folder, all of it."""
        if not self.root or path == ANYWHERE:
            return path
        return path.removeprefix(f"{self.root}/") if path.startswith(f"{self.root}/") else ANYWHERE

    def place(self, tree: Path) -> Path:
        """Its folder in a checkout."""
        return tree / self.root if self.root else tree

    def read(self, read: Read) -> Read:
        """Reads its files by its own paths."""
        return (lambda path: read(f"{self.root}/{path}")) if self.root else read


def find_projects(
    read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None, works_on: str = ""
) -> tuple[Project, ...]:
    """The projects of a repository, the largest first. One without any is one of its main language at the
    top. What the settings say is said of the largest, or of what they declare; `projects` has a part for each
    other folder. Work that is on one language alone sees the repository as one project of that.
    """
    if works_on:
        only = next(language for language in LANGUAGES if language.name == works_on)
        return (_project(only, "", read, paths, {}),)
    found = [(language, root) for language in FOUND for root in language.projects.roots(read, paths)]
    declared = [
        (language, "") for language in LANGUAGES if language.declared and language.name in (settings or {})
    ]
    found += declared
    main = next(iter(languages_of(paths)), declared[0][0] if declared else DEFAULT)
    if not found or (main is DEFAULT and all(language is not main for language, _ in found)):
        found.append((main, ""))  # most of the code, and no file describes it

    def size(language: Language, root: str) -> int:
        own = (path for path in paths if is_in(path, root) and not is_of_others(path))
        return sum(path.endswith(language.suffixes) for path in own)

    ordered = sorted(found, key=lambda pair: -size(*pair))
    said = settings or {}
    folders = said.get("projects", {})
    projects = []
    for place, (language, root) in enumerate(ordered):
        own = folders.get(root or ANYWHERE) if isinstance(folders, Mapping) else None
        first = language.declared if declared else place == 0
        told = own if isinstance(own, Mapping) else said if first else {}
        projects.append(_project(language, root, read, paths, told))
    # What a person declares stands for a project at the same place whose runner nobody knows.
    unknown = [each for each in projects if declared and not each.root and not each.plan.tests]
    return tuple(each for each in projects if each not in unknown)


def _project(
    language: Language, root: str, read: Read, paths: Sequence[str], settings: Mapping[str, object]
) -> Project:
    empty = Project(language, root, Plan((), (), (), (), (), (), ()))
    inside = [empty.own(path) for path in paths if is_in(path, root)]
    plan = language.projects.detect(empty.read(read), inside, settings)
    return replace(empty, plan=replace(plan, not_run=(*plan.not_run, *language.gaps)))


def is_in(path: str, root: str) -> bool:
    """Whether a path is a folder, or in it."""
    return not root or path == root or path.startswith(f"{root}/")


def owners(projects: Sequence[Project], path: str) -> list[Project]:
    """The projects that a file is of: those of the innermost folder around it, there those of its language,
    and those that are built from it. Of a folder around projects, all of these.
    """
    if path == ANYWHERE:
        return [*projects]
    deepest = max((len(each.root) for each in projects if is_in(path, each.root)), default=-1)
    if deepest < 0:
        return [each for each in projects if each.root.startswith(f"{path}/")]
    near = [each for each in projects if is_in(path, each.root) and len(each.root) == deepest]
    language = language_of(path)
    own = [each for each in near if each.language is language or each.own(path) in each.plan.lock_files]
    known = language is not None and any(each.language is language for each in projects)
    return own if own or known else near


def touched(projects: Sequence[Project], paths: Iterable[str]) -> tuple[Project, ...]:
    """The projects that these files are of, in order."""
    names = {each.name for path in paths for each in owners(projects, path)}
    return tuple(each for each in projects if each.name in names)


def asked_about(projects: Sequence[Project], request: str, paths: Iterable[str]) -> tuple[Project, ...]:
    """The projects that the words of a request name: by a path, by the name of a file or by their folder;
    else by their language; else the largest.
    """
    words = set(_WORDS.findall(request))
    named = [path for path in paths if path in words or path.rpartition("/")[2] in words]
    folders = [
        each.root for each in projects if each.root and each.root in {word.strip("/") for word in words}
    ]
    lower = {word.lower() for word in words}
    spoken = tuple(each for each in projects if each.language.name.lower() in lower)
    return touched(projects, [*named, *folders]) or spoken or tuple(projects[:1])


def restricted(run: TestRun, projects: Sequence[Project], scope: Sequence[Project]) -> TestRun:
    """A run without what is of other projects."""
    names = {each.name for each in scope}

    def is_kept(identity: str) -> bool:
        return any(each.name in names for each in owners(projects, _file(identity)))

    others = tuple(f"{each.name}: " for each in projects if each.name not in names)
    return replace(
        run,
        results={key: result for key, result in run.results.items() if is_kept(key)},
        collect_errors={key: text for key, text in run.collect_errors.items() if is_kept(key)},
        plugins=tuple(filter(is_kept, run.plugins)),
        told={what: said for what, said in run.told.items() if not what.startswith(others)},
        deselected=tuple(filter(is_kept, run.deselected)),
        rewired=tuple(filter(is_kept, run.rewired)),
    )


def joined_plan(projects: Sequence[Project]) -> Plan:
    """The plans of several projects as one, for what is asked of the repository as a whole."""
    first = projects[0]
    if is_alone(projects):
        return first.plan

    def all_of(name: str) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(each.whole(path) for each in projects for path in getattr(each.plan, name))
        )

    has_suite = any(each.plan.suite_paths for each in projects)
    return replace(
        first.plan,
        import_roots=all_of("import_roots"),
        test_paths=all_of("test_paths"),
        lock_files=all_of("lock_files"),
        suite_paths=tuple(
            each.whole(path) for each in projects for path in (each.plan.suite_paths or (ANYWHERE,))
        )
        if has_suite
        else (),
        linters=tuple(dict.fromkeys(name for each in projects for name in each.plan.linters)),
        type_checkers=tuple(dict.fromkeys(name for each in projects for name in each.plan.type_checkers)),
        not_run=tuple(
            (f"{each.name}: {name}" if each is not first else name, why)
            for each in projects
            for name, why in each.plan.not_run
        ),
        marked=tuple(
            replace(marked, name=f"{marked.name} in {each.root}" if each.root else marked.name)
            for each in projects
            for marked in each.plan.marked
        ),
        reasons=tuple(f"{each.name}: {why}" for each in projects for why in each.plan.reasons),
    )


def joined_environment(parts: Mapping[str, Environment], projects: Sequence[Project]) -> Environment:
    """The environments of some projects, by name, as one."""
    there = [each for each in projects if each.name in parts]
    first = parts[there[0].name]
    if is_alone(projects):
        return first
    return replace(
        first,
        import_roots=tuple(each.whole(root) for each in there for root in parts[each.name].import_roots),
        generated=tuple(each.whole(path) for each in there for path in parts[each.name].generated),
        key=digest("\n".join(f"{each.name} {parts[each.name].key}" for each in there))[:24],
        failed=tuple(why for each in there for why in parts[each.name].failed),
        added=tuple(dict.fromkeys(line for each in there for line in parts[each.name].added)),
        parts={each.name: (each.root, parts[each.name]) for each in there},
    )


def is_unknown(read: Read, paths: Sequence[str]) -> bool:
    """Whether most of the code of a repository is in languages that only its own settings could tell about,
    and nothing describes a project of another.
    """
    own = [path for path in paths if not is_of_others(path)]
    described = any(language.projects.roots(read, paths) for language in FOUND if language.runs_code)
    others = sum(is_other_code(path) for path in own)
    main = next(iter(languages_of(own)), None)
    return not described and others > sum(main is not None and path.endswith(main.suffixes) for path in own)


def is_alone(projects: Sequence[Project]) -> bool:
    """Whether a repository is one project, at its top."""
    return len(projects) == 1 and not projects[0].root


def _file(identity: str) -> str:
    return identity.partition("::")[0]
