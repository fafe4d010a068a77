"""What a project's tests need, in every dialect in which projects say it."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from agentforge.languages.described import Table, table
from agentforge.languages.python.project import PythonProject, lines, strings

# The names under which projects keep what their tests need; the first ones say it most plainly.
NAMES = ("test", "tests", "testing", "dev", "develop", "development")
HATCH_ENVIRONMENTS = ("hatch-test", "test", "tests", "default", "dev")
REQUIREMENT_FILE = re.compile(
    r"(?:requirements/|tests?/)?(?:requirements[-_.]?)?(?P<kind>tests?|testing|dev|develop|development)?[-_.]?(?:requirements)?\.txt"
)
REQUIREMENTS_TXT = re.compile(
    r"(?:requirements/[^/]+|[^/]*(?:requirements|constraints)[^/]*|tests?/requirements[^/]*)\.(?:txt|in)"
)


@dataclass(slots=True)
class Needs:
    """What set-up has to install for the tests, gathered source by source."""

    extras: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    requirements: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Every distribution named on the way, normalised."""

    @property
    def has_pytest(self) -> bool:
        """Whether something brings pytest: itself, or a plugin of it."""
        return any(name == "pytest" or name.startswith("pytest-") for name in self.names)

    def note(self, requirements: Iterable[str], reason: str) -> None:
        """Remember what a source names, and why it was used."""
        self.names.update(name_of(requirement) for requirement in requirements)
        if reason not in self.reasons:
            self.reasons.append(reason)


def gather(project: PythonProject) -> Needs:
    """Ask every source in turn. Hints of test runners are only followed as long as nothing has brought
    pytest.
    """
    needs = Needs()
    _extras(project, needs)
    _groups(project, needs)
    _tool_groups(project, needs)
    for source in (_requirement_files, _tox, _nox):
        if not needs.has_pytest:
            source(project, needs)
    return needs


def normal(name: str) -> str:
    """A name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    """The distribution a requirement asks for."""
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement.strip())
    return normal(found.group()) if found else ""


def extras_of(project: PythonProject) -> dict[str, tuple[str, ...]]:
    """Every extra the project declares, with its requirements."""
    found = {
        name: strings(value)
        for name, value in table(project.pyproject, "project", "optional-dependencies").items()
    }
    found |= {name: strings(value) for name, value in project.tool("poetry", "extras").items()}
    found |= {
        name: strings(value) for name, value in project.tool("flit", "metadata", "requires-extra").items()
    }
    if project.setup_cfg.has_section("options.extras_require"):
        found |= {name: lines(value) for name, value in project.setup_cfg["options.extras_require"].items()}
    return found | {name: strings(value) for name, value in table(project.setup_py, "extras_require").items()}


def _extras(project: PythonProject, needs: Needs) -> None:
    for name, requirements in extras_of(project).items():
        if normal(name) in NAMES:
            needs.extras.append(name)
            needs.note(requirements, f"extra `{name}`")
    for value in (
        project.setup_py.get("tests_require"),
        project.setup_cfg.get("options", "tests_require", fallback=""),
    ):
        old_style = lines(value) if isinstance(value, str) else strings(value)
        if old_style:
            needs.requirements += old_style
            needs.note(old_style, "`tests_require`")


def _groups(project: PythonProject, needs: Needs) -> None:
    groups = table(project.pyproject, "dependency-groups")
    for name in groups:
        if normal(name) in NAMES:
            needs.groups.append(name)
            needs.note(_group(groups, name, set()), f"dependency group `{name}`")


def group_requirements(groups: Table, name: str) -> Iterator[str]:
    """The requirements of a PEP 735 group and of those it includes."""
    return _group(groups, name, set())


def _group(groups: Table, name: str, seen: set[str]) -> Iterator[str]:
    entries = next((value for key, value in groups.items() if normal(key) == normal(name)), ())
    if normal(name) in seen or not isinstance(entries, list):
        return
    for entry in cast("list[object]", entries):
        if isinstance(entry, str):
            yield entry
        elif isinstance(included := table(entry).get("include-group"), str):
            yield from _group(groups, included, seen | {normal(name)})


def _tool_groups(project: PythonProject, needs: Needs) -> None:
    """Groups that only one tool knows: their requirements are taken over one by one."""
    poetry = {name: table(value, "dependencies") for name, value in project.tool("poetry", "group").items()}
    poetry["dev"] = poetry.get("dev", {}) | project.tool("poetry", "dev-dependencies")
    _take(needs, "poetry group", {name: tuple(poetry_requirements(group)) for name, group in poetry.items()})
    _take(
        needs,
        "pdm group",
        {name: strings(value) for name, value in project.tool("pdm", "dev-dependencies").items()},
    )
    _take(needs, "uv group", {"dev": strings(project.tool("uv").get("dev-dependencies"))})
    for name in HATCH_ENVIRONMENTS:
        environment = project.tool("hatch", "envs", name)
        wanted = (*strings(environment.get("dependencies")), *strings(environment.get("extra-dependencies")))
        if any("pytest" in requirement or "coverage" in requirement for requirement in wanted):
            needs.requirements += (requirement for requirement in wanted if "{" not in requirement)
            needs.extras += (
                extra for extra in strings(environment.get("features")) if extra not in needs.extras
            )
            needs.note(wanted, f"hatch environment `{name}`")


def _take(needs: Needs, kind: str, groups: dict[str, tuple[str, ...]]) -> None:
    for name, requirements in groups.items():
        if normal(name) in NAMES and requirements:
            # Editable neighbours and paths belong to the tool that wrote them.
            plain = [
                requirement for requirement in requirements if not requirement.startswith(("-", ".", "/"))
            ]
            needs.requirements += plain
            needs.note(plain, f"{kind} `{name}`")


def _requirement_files(project: PythonProject, needs: Needs) -> None:
    kinds = {
        path: found.group("kind")
        for path in sorted(project.paths)
        if (found := REQUIREMENT_FILE.fullmatch(path))
    }
    for_tests = [
        path for path, kind in kinds.items() if (kind or "").startswith("test") or path.startswith("test")
    ]
    for_development = [path for path, kind in kinds.items() if (kind or "").startswith("dev")]
    for path in for_tests or for_development:
        needs.files.append(path)
        needs.note(lines(project.text(path)), f"`{path}`")


def _tox(project: PythonProject, needs: Needs) -> None:
    sections = (
        project.tox_ini["testenv"] if project.tox_ini.has_section("testenv") else {},
        project.tool("tox", "env_run_base"),
    )
    for section in sections:
        deps = section.get("deps", "")
        wanted = lines(deps) if isinstance(deps, str) else strings(deps)
        for line in wanted:
            _tox_line(project, needs, line.replace("{toxinidir}/", "").replace("{tox_root}/", ""))
        known = extras_of(project)
        needs.extras += (
            name for name in strings(section.get("extras", "")) if name in known and name not in needs.extras
        )
        groups = table(project.pyproject, "dependency-groups")
        needs.groups += (
            name
            for name in strings(section.get("dependency_groups", ""))
            if name in groups and name not in needs.groups
        )
        if wanted:
            needs.reasons.append("`deps` of tox")


def _tox_line(project: PythonProject, needs: Needs, line: str) -> None:
    """One line of `deps`. A line for some environments only, or with a variable, is left out."""
    if "{" in line or re.match(r"[\w!,.-]+\s*:\s", line):
        return
    if line.startswith("-r"):
        path = line[2:].strip()
        if path in project.paths and path not in needs.files:
            needs.files.append(path)
            needs.names.update(name_of(requirement) for requirement in lines(project.text(path)))
    elif not line.startswith(("-", ".", "/")):
        needs.requirements.append(line)
        needs.names.add(name_of(line))


def _nox(project: PythonProject, needs: Needs) -> None:
    """Literal arguments of `session.install(...)` in the test sessions of a noxfile."""
    try:
        tree = ast.parse(project.text("noxfile.py"))
    except (SyntaxError, ValueError):
        return
    sessions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and "test" in node.name]
    calls = (node for session in sessions for node in ast.walk(session) if isinstance(node, ast.Call))
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "install":
            words = [
                argument.value
                for argument in call.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            _nox_words(project, needs, words)


def _nox_words(project: PythonProject, needs: Needs, words: list[str]) -> None:
    after_r = {second for first, second in pairwise(words) if first in {"-r", "--requirement"}}
    known = extras_of(project)
    for word in words:
        if word in after_r and word in project.paths:
            needs.files.append(word)
            needs.note(lines(project.text(word)), "`session.install` of nox")
        elif found := re.fullmatch(r"(?:-e)?\.\[(.+)\]", word):
            needs.extras += (
                name for name in found.group(1).split(",") if name in known and name not in needs.extras
            )
        elif not word.startswith(("-", ".", "/")) and word not in after_r:
            needs.requirements.append(word)
            needs.note([word], "`session.install` of nox")


def poetry_requirements(dependencies: Table) -> Iterator[str]:
    """Poetry's and Pipenv's own dialect, in the words of PEP 508. What is not on an index is left out."""
    for name, value in dependencies.items():
        for choice in value if isinstance(value, list) else [value]:
            version = choice if isinstance(choice, str) else table(choice).get("version")
            if name == "python" or not isinstance(version, str):
                continue
            details = table(choice)
            extras = f"[{','.join(names)}]" if (names := strings(details.get("extras"))) else ""
            markers = [str(details["markers"])] if "markers" in details else []
            if isinstance(python := details.get("python"), str):
                markers += (f"python_version {bound}" for bound in _quoted(_bounds(python)))
            suffix = f"; {' and '.join(markers)}" if markers else ""
            yield f"{name}{extras}{_bounds(version)}{suffix}"


def _quoted(bounds: str) -> Iterator[str]:
    for bound in filter(None, bounds.split(",")):
        found = re.fullmatch(r"([<>=!~]+)(.+)", bound)
        if found:
            yield f'{found.group(1)} "{found.group(2)}"'


def _bounds(version: str) -> str:
    """`^1.2` is `>=1.2,<2`; `~1.2.3` is `>=1.2.3,<1.3`; a bare number is exact; `*` is anything."""
    bounds = []
    for part in version.rpartition("||")[2].replace(" ", "").split(","):
        sign, number = part[:1], part.lstrip("^~=")
        if part in {"", "*"}:
            continue
        if sign in {"^", "~"} and not part.startswith("~="):
            bounds += [f">={number}", f"<{_next(number, caret=sign == '^')}"]
        else:
            bounds.append(part if sign in "<>=!~" else f"=={part}")
    return ",".join(bounds)


def _next(number: str, *, caret: bool) -> str:
    """The first version that a caret or tilde bound leaves out."""
    parts = [int(part) for part in re.findall(r"\d+", number)][:3]
    last = len(parts) - 1
    place = next((index for index, part in enumerate(parts) if part), last) if caret else min(1, last)
    return ".".join(str(part) for part in [*parts[:place], parts[place] + 1])
