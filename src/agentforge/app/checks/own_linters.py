"""The project's own linters as a part of `check`: those that it has settings of, with the programs of the
checkout, behind the walls. Each ends in one of the five ways of a check.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentforge.activities.task_permissions import sandbox_name
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import PolicyError, UserError
from agentforge.core.reply import Json
from agentforge.gates.conformance.engine import CheckEnd
from agentforge.languages.conformance import checkout_environment, lints_in_place
from agentforge.languages.repository import Project, find_projects, is_in
from agentforge.languages.values import CheckRun
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.walls.ladder import choose
from agentforge.store.site import Site
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded

COMPARED = "compared with a commit only our own checks run; run it without --since and --staged"
_ABSENT = ("but its environment has none", "is not among the installed packages")


@dataclass(frozen=True, slots=True)
class LinterFinding:
    """What a linter says of a file, and how often."""

    path: str
    code: str
    count: int
    sample: str
    """The first place, as `line: message`."""


@dataclass(frozen=True, slots=True)
class LinterResult:
    """How the linters of one project of the repository ended."""

    project: str
    status: CheckEnd
    reason: str = ""
    findings: tuple[LinterFinding, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As `--json` prints it."""
        return {
            "project": self.project,
            "status": self.status,
            "reason": self.reason,
            "findings": [
                {"file": each.path, "code": each.code, "count": each.count, "sample": each.sample}
                for each in self.findings
            ],
        }


def run_linters(site: Site, listed: Sequence[str], wanted: frozenset[str]) -> tuple[LinterResult, ...]:
    """What the linters of each project find in the wanted ones of all files that are listed."""
    top = site.project.top.resolve()
    projects = find_projects(lambda path: _read(top / path), listed)
    found = [each for each in projects if each.language.runs_code and each.plan.linters]
    if not found:
        return (
            LinterResult("all", "not_configured", "the project has no settings of a linter that is known"),
        )
    try:
        _, own = read_own_settings(site.home.path / "config.yaml")
        walls = choose(sandbox_name(own.sandbox or "auto"), own.container)
    except PolicyError as error:
        return tuple(LinterResult(each.name, "not_run", error.sentence) for each in found)
    return tuple(_one(walls, each, top, listed, wanted) for each in found)


def _one(
    walls: Sandbox, project: Project, top: Path, listed: Sequence[str], wanted: frozenset[str]
) -> LinterResult:
    mine = sorted(project.own(path) for path in wanted if is_in(path, project.root))
    env = checkout_environment(project.language, project.place(top), project.plan)
    if env is None:
        names = ", ".join(project.plan.linters)
        return LinterResult(project.name, "not_available", f"nothing that runs {names} is installed here")
    try:
        with _place(project, top, listed) as place:
            run = project.language.runs.lint(walls, env, place, mine)
    except UserError as error:  # the walls do not show what a link leads to, or there is no room
        return LinterResult(project.name, "not_run", error.sentence.rstrip("."))
    return _ended(project, run)


def _ended(project: Project, run: CheckRun) -> LinterResult:
    findings = tuple(
        LinterFinding(project.whole(path), code, count, run.samples.get((path, code), ""))
        for (path, code), count in sorted(run.findings.items())
    )
    missing = "; ".join(run.missing.values()) or run.reason
    if findings:
        return LinterResult(project.name, "failed", missing, findings)
    if run.status == "not_configured":
        return LinterResult(project.name, "not_configured", run.reason)
    if run.status == "ran" and not run.missing:
        return LinterResult(project.name, "passed")
    absent = all(any(words in why for words in _ABSENT) for why in (run.missing or {"": missing}).values())
    return LinterResult(project.name, "not_available" if absent else "not_run", missing)


@contextmanager
def _place(project: Project, top: Path, listed: Sequence[str]) -> Iterator[Path]:
    """The checkout itself where a linter only reads it; else a copy of its files, without what is ignored."""
    if lints_in_place(project.language):
        yield project.place(top)
        return
    with tempfile.TemporaryDirectory(prefix="agentforge-lint-") as name:
        copy = Path(name).resolve() / "copy"
        for path in listed:
            if is_in(path, project.root) and (data := _read(top / path)) is not None:
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                (copy / path).write_bytes(data)
        yield project.place(copy)


def _read(path: Path) -> bytes | None:
    try:
        return read_bounded(path, SETTINGS_BYTES, follow=False)
    except OSError:
        return None
